"""Short conditions for regions of runs: conjuncts that share sizes are simplified together, each group once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from operator import itemgetter
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import join_members
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.effort import Kept, worked_out
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Compatible, Formula, all_of, clauses, negate
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.groups.connectivity import Ties
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.core.solver.simplification.difference_constraints import Differences
from symbcast.core.solver.simplification.simplification import simplified, size
from symbcast.core.solver.simplification.staircases import without_staircases

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

MAX_SIMPLIFIED = 32
"""Larger groups of literals are not simplified: they stay exact but may not be the shortest."""


class Conditions:
    """Simplifies formulas under the assumptions; results are cached, because cases share many conjuncts."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._known: dict[Formula, Kept[Formula]] = {}

    def short(self, formula: Formula) -> Formula:
        """Return an equivalent formula with little redundancy."""
        known = flattened([put_in(formula, self.knowledge.values) if self.knowledge.values else formula])
        if FALSE in known:
            return FALSE
        ties = Ties(self.knowledge.domains)
        ties.tie(known)
        ties.tie(self.knowledge.others)
        return all_of(self._group(all_of(group)) for group in ties.sorted(known).values())

    def _group(self, formula: Formula) -> Formula:
        if formula in (TRUE, FALSE) or size(formula) > MAX_SIMPLIFIED:
            return without_staircases(formula)
        known = self._known.get(formula)
        if known is not None and known.pay():
            return known.value
        found, is_kept = worked_out(lambda: without_staircases(self._shorter(formula)))
        if is_kept:
            self._known[formula] = found
        return found.value

    def _shorter(self, formula: Formula) -> Formula:
        """Shorten a group without the definitions in it, which make nothing else redundant."""
        parts = clauses(formula)
        held = _definitions(parts, self.knowledge)
        rest = [part for part in parts if part not in held]
        if not held or not rest:
            return self._shortened(formula)
        short = map(self._in_order, clauses(self._shortened(all_of(rest))))
        places = {part: n for n, part in enumerate(parts)}
        found = [
            *((places[part], part) for part in held),
            *((_place(clause, rest, places), clause) for clause in short),
        ]
        return all_of(clause for _, clause in sorted(found, key=itemgetter(0)))

    def _in_order(self, clause: Formula) -> Formula:
        """Return a clause with the members of a join in the order of the run's sizes."""
        if not isinstance(clause, Compatible):
            return clause
        places: dict[Dim, int] = {s: n for n, s in enumerate(self.knowledge.domains)}
        return Compatible(tuple(sorted(clause.dims, key=lambda d: places.get(d, len(places)))))

    def _shortened(self, formula: Formula) -> Formula:
        chain = None if self.knowledge.others else _of_differences(formula, self.knowledge)
        return chain or simplified(formula, self.knowledge)


def _place(clause: Formula, parts: Sequence[Formula], places: Mapping[Formula, int]) -> int:
    """Return the place of the first part that a clause may come from, by their symbols."""
    own = symbols_in(clause).keys()
    return next((places[p] for p in parts if own <= symbols_in(p).keys() or symbols_in(p).keys() <= own), len(places))


def _definitions(parts: Sequence[Formula], knowledge: Knowledge) -> set[Formula]:
    """Return the clauses that give the size of a symbol, which occurs in no other clause, as a symbol or a join.

    In ``R and s == t``, where R is not about s, and s may have every value of t, the second clause is never redundant,
    and R is as short as it is alone: for sizes at which R holds, the definition can hold too. Definitions are taken
    away one after another, so that a definition may use the symbol of a later one.
    """
    tied = {s for f in knowledge.others for s in symbols_in(f)}
    uses = Counter(s for part in parts for s in symbols_in(part))
    found: set[Formula] = set()
    pending = list(reversed(parts))
    while pending:
        taken = [p for p in pending if _is_definition(p, uses, tied, knowledge)]
        if not taken:
            break
        found.add(taken[0])
        uses.subtract(list(symbols_in(taken[0])))
        pending.remove(taken[0])
    return found


def _is_definition(part: Formula, uses: Mapping[Symbol, int], tied: Set[Symbol], knowledge: Knowledge) -> bool:
    if not isinstance(part, Comparison) or part.operator != "==":
        return False
    for defined, value in ((part.right, part.left), (part.left, part.right)):
        members = join_members(value)
        if isinstance(defined, Symbol) and uses[defined] == 1 and defined not in tied and defined not in members:
            domains = knowledge.domains
            if all(isinstance(m, Symbol) and domains[m] == domains[defined] for m in members):
                return True
    return False


def _of_differences(formula: Formula, knowledge: Knowledge) -> Formula | None:
    """Return a conjunction of comparisons of two sizes without redundant comparisons.

    Returns None for any other formula, and if several comparisons together bound a difference more tightly than each
    one does: they need rewriting.
    """
    if len(symbols_in(formula)) < 2:
        return None
    given = clauses(formula)
    differences = Differences(list(symbols_in(formula)), knowledge.domains)
    bounds = [differences.bounds(literal) for literal in given]
    pairs = [frozenset(b[0][:2]) for b in bounds if b]
    if len(set(pairs)) < len(given):
        return None
    region = differences.region(given)
    if region is None or region.equalities() > sum(len(b) == 2 for b in bounds if b):
        return None
    kept = list(given)
    for literal in reversed(given):
        others = [k for k in kept if k is not literal]
        if differences.region([*others, negate(literal)]) is None:
            kept = others
    return all_of(kept)
