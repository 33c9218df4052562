"""Short conditions for regions of runs: conjuncts that share sizes are simplified together, each group once."""

from __future__ import annotations

from symbcast.core.effort import Kept, worked_out
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, clauses, negate
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.groups.connectivity import Ties
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.core.solver.simplification.difference_constraints import Differences
from symbcast.core.solver.simplification.simplification import simplified, size

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
            return formula
        known = self._known.get(formula)
        if known is not None and known.pay():
            return known.value
        found, is_kept = worked_out(lambda: self._shorter(formula))
        if is_kept:
            self._known[formula] = found
        return found.value

    def _shorter(self, formula: Formula) -> Formula:
        chain = None if self.knowledge.others else _of_differences(formula, self.knowledge)
        return chain or simplified(formula, self.knowledge)


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
