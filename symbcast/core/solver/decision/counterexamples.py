"""The smallest sizes at which one conjunct of a condition fails, while the others hold if possible."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    from symbcast.core.solver.groups.components import Part


class Breaks:
    """Where the conjuncts of a condition fail, given all of them; each is asked for the cost of what it touches."""

    def __init__(self, decision: Decision, conjuncts: Iterable[Formula]) -> None:
        self.decision = decision
        self._conjuncts: dict[int, list[Formula]] = {}
        for clause in conjuncts:
            part = part_of(decision, clause)
            if part is not None and all(decision.part_of.get(s) is part for s in symbols_in(clause)):
                self._conjuncts.setdefault(id(part), []).append(clause)
        self._beside: dict[int, _Beside] = {}

    def at(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a conjunct.

        The others hold there, unless it can fail only together with some of them; then they are ignored. None if there
        are no such sizes, or none were found. If there is a witness, the result is a `ChainMap` of the sizes that
        differ from it, and the witness.
        """
        part = part_of(self.decision, clause)
        if part is None:
            return None
        beside = self._beside.get(id(part))
        if beside is None:
            conjuncts = self._conjuncts.get(id(part), [])
            beside = self._beside[id(part)] = _Beside(self.decision.knowledge, part, conjuncts)
        found = beside.broken(clause)
        if found is None:
            return None
        rest = self.decision.witness()
        if rest is not None:
            return ChainMap(self.decision.with_values(beside.differing(found, rest)), rest)
        parts = self.decision.parts
        return self.decision.whole([p.witness() or p.base() if p is not part else found for p in parts])


def part_of(decision: Decision, clause: Formula) -> Part | None:
    """Return the first part that decides sizes of a formula; None if it has none, or all have known values."""
    parts = {id(part): part for s in symbols_in(clause) if (part := decision.part_of.get(s)) is not None}
    if len(parts) < 2:
        return next(iter(parts.values()), None)
    return next(part for part in decision.parts if id(part) in parts)


class _Beside:
    """The conjuncts and assumptions about the sizes of one part, and which of them hold where all sizes are least."""

    def __init__(self, knowledge: Knowledge, part: Part, conjuncts: Sequence[Formula]) -> None:
        self._knowledge = knowledge
        self._symbols = tuple(part.symbols)
        self._places = {s: n for n, s in enumerate(self._symbols)}
        self._least = {s: least_size(knowledge.domains[s]) or 0 for s in self._symbols}
        self._least_beyond: dict[Symbol, int] | None = None
        self._conjuncts = conjuncts
        tied = [f for f in knowledge.others if symbols_in(f).keys() <= self._places.keys()]
        self._facts = [*conjuncts, *tied]
        self._touching: dict[Symbol, list[int]] = {}
        for number, fact in enumerate(self._facts):
            for symbol in symbols_in(fact):
                self._touching.setdefault(symbol, []).append(number)
        self._failing = [n for n, fact in enumerate(self._facts) if not holds_at(fact, self._least)]

    def broken(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes of the part that break a conjunct; a `ChainMap` if all but its own are least."""
        found: Mapping[Symbol, int] | None = self._alone(clause)
        if found is None:
            others = [c for c in self._conjuncts if c != clause]
            for beside in ([],) if _is_needed(clause, others) else (others, []):
                found = found or _smallest(self._knowledge, self._symbols, [*beside, negate(clause)])
        return found

    def differing(self, sizes: Mapping[Symbol, int], witness: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return those of some sizes, which `broken` returned, that differ from the witness."""
        if not isinstance(sizes, ChainMap):
            return {s: size for s, size in sizes.items() if witness[s] != size}
        if self._least_beyond is None:
            self._least_beyond = {s: size for s, size in self._least.items() if witness[s] != size}
        return {**self._least_beyond, **sizes.maps[0]}

    def _alone(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes of a clause's own symbols that break it, if all other sizes can then be least."""
        # Among equal sums, the smallest sizes come first in order of appearance; the clause may use a different order.
        own = sorted((s for s in symbols_in(clause) if s in self._places), key=self._places.__getitem__)
        broken = _smallest(self._knowledge, own, [negate(clause)])
        if broken is None:
            return None
        sizes = ChainMap(broken, self._least)
        near = {n for s in own for n in self._touching.get(s, ())}
        facts = self._facts
        if any(facts[n] != clause for n in self._failing if n not in near):
            return None
        if not all(holds_at(facts[n], sizes) for n in near if facts[n] != clause or n >= len(self._conjuncts)):
            return None
        return sizes


def _is_needed(clause: Formula, others: Iterable[Formula]) -> bool:
    """Return whether a term of another conjunct has no value where a clause fails, so that it cannot fail alone."""
    needs = {need for other in others for formula in clauses(with_values(other)) for need in _spelled_out(formula)}
    return needs.issuperset(_spelled_out(clause))


def _spelled_out(formula: Formula) -> Iterator[Formula]:
    return map(normal, clauses(expand(formula) if isinstance(formula, Compatible) else formula))


def _smallest(knowledge: Knowledge, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> dict[Symbol, int] | None:
    """Return the smallest sizes of some symbols at which formulas hold, with the assumptions about these alone."""
    assumed = [f for f in knowledge.others if symbols_in(f).keys() <= set(symbols)]
    try:
        with share(evidence_units(len(symbols)) + SAMPLED):
            questions = Questions(symbols, knowledge.domains, assumed, formulas)
            return Evidence(questions, knowledge.weights).satisfying(formulas)
    except EffortSpentError:
        return None
