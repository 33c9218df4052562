"""The smallest sizes at which one conjunct of a condition fails, while the others hold if possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.definedness import with_values
from symbcast.core.logic.formulas import Compatible, Formula, clauses, expand, negate
from symbcast.core.solver.budget import SAMPLED, evidence_units, share
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import normal, symbols_in
from symbcast.core.solver.satisfiability.evidence import Evidence
from symbcast.core.solver.satisfiability.satisfiability import Questions
from symbcast.core.solver.sets.smallest import least_size

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.decision.decision import Decision
    from symbcast.core.solver.decision.knowledge import Knowledge


def breaking(decision: Decision, clause: Formula, others: Iterable[Formula]) -> dict[Symbol, int] | None:
    """Return the smallest sizes that satisfy the assumptions and break a conjunct of the condition.

    The ``others`` hold there, unless it can fail only together with some of them; then they are ignored. None if
    there are no such sizes, or none were found.
    """
    own = symbols_in(clause)
    part = next((p for p in decision.parts if not own.keys().isdisjoint(p.symbols)), None)
    if part is None:
        return None
    others = [c for c in others if symbols_in(c).keys() <= set(part.symbols)]
    knowledge = decision.knowledge
    found = _alone(knowledge, clause, others, part.symbols)
    for beside in ([],) if _is_needed(clause, others) else (others, []):
        found = found or _smallest(knowledge, part.symbols, [*beside, negate(clause)])
    if found is None:
        return None
    rest = decision.witness()
    if rest is not None:
        return decision.whole([rest, found])
    return decision.whole([p.witness() or p.base() if p is not part else found for p in decision.parts])


def _is_needed(clause: Formula, others: Iterable[Formula]) -> bool:
    """Return whether a term of another conjunct has no value where a clause fails, so that it cannot fail alone."""
    needs = {need for other in others for formula in clauses(with_values(other)) for need in _spelled_out(formula)}
    return needs.issuperset(_spelled_out(clause))


def _spelled_out(formula: Formula) -> Iterator[Formula]:
    return map(normal, clauses(expand(formula) if isinstance(formula, Compatible) else formula))


def _alone(
    knowledge: Knowledge, clause: Formula, others: Iterable[Formula], symbols: Sequence[Symbol]
) -> dict[Symbol, int] | None:
    """Return the smallest sizes of a clause's own symbols that break it, if all other symbols can then be minimal."""
    own = symbols_in(clause)
    # Among equal sums, the smallest sizes come first in order of appearance; the clause may use a different order.
    broken = _smallest(knowledge, [s for s in symbols if s in own], [negate(clause)])
    if broken is None:
        return None
    sizes = {s: broken[s] if s in broken else least_size(knowledge.domains[s]) or 0 for s in symbols}
    tied = (f for f in knowledge.others if symbols_in(f).keys() <= sizes.keys())
    return sizes if all(holds_at(f, sizes) for f in (*others, *tied)) else None


def _smallest(knowledge: Knowledge, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    """Return the smallest sizes of some symbols at which formulas hold, with the assumptions about these alone."""
    assumed = [f for f in knowledge.others if symbols_in(f).keys() <= set(symbols)]
    try:
        with share(evidence_units(len(symbols)) + SAMPLED):
            questions = Questions(symbols, knowledge.domains, assumed, formulas)
            return Evidence(questions, knowledge.weights).satisfying(formulas)
    except EffortSpentError:
        return None
