"""The fewest constraints that cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from symbcast.deciding.decide import Decision
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.deciding.knowledge import Knowledge

SUBSETS_TRIED = 300


def smallest_conflict(constraints: Sequence[Constraint], knowledge: Knowledge) -> tuple[Constraint, ...]:
    """Return a smallest set of constraints that no sizes satisfy under what is known.

    Sets are tried by size, so that the first found is smallest; past `SUBSETS_TRIED` a set is shrunk until every
    constraint in it is needed.
    """
    tried = 0
    for size in range(1, len(constraints) + 1):
        for chosen in combinations(constraints, size):
            if _clash(knowledge, chosen):
                return chosen
            tried += 1
            if tried >= SUBSETS_TRIED:
                return _shrunk(knowledge, constraints)
    return tuple(constraints)


def _clash(knowledge: Knowledge, chosen: Sequence[Constraint]) -> bool:
    return Decision(knowledge, [c.requirement for c in chosen]).verdict is Verdict.NEVER


def _shrunk(knowledge: Knowledge, constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    kept = list(constraints)
    for constraint in constraints:
        fewer = [c for c in kept if c is not constraint]
        if _clash(knowledge, fewer):
            kept = fewer
    return tuple(kept)
