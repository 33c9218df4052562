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

    Sets are tried by size, so that the first found is smallest: for a few constraints that is quick, and plain sizes
    need no solver. Past `SUBSETS_TRIED`, `smallest_clash` goes on.
    """
    tried = 0
    for size in range(1, len(constraints) + 1):
        for chosen in combinations(constraints, size):
            if Decision(knowledge, [c.requirement for c in chosen]).verdict is Verdict.NEVER:
                return chosen
            tried += 1
            if tried >= SUBSETS_TRIED:
                from symbcast.deciding.clashes import smallest_clash

                found = smallest_clash([[c.requirement] for c in constraints], knowledge)
                return tuple(constraints[n] for n in found) or tuple(constraints)
    return tuple(constraints)
