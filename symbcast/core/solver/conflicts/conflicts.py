"""The fewest groups of formulas that cannot hold together, in a call or in a program."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import Formula
from symbcast.core.solver.budget import CONFLICT, share
from symbcast.core.solver.decision.decision import Decision

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.decision.knowledge import Knowledge

_SUBSETS_TRIED = 300
_FEW = 24
"""Of more groups no subsets are tried: hardly any would be reached."""


def smallest_conflict(
    groups: Sequence[Sequence[Formula]],
    knowledge: Knowledge,
    required: Collection[int] = (),
    sizes: Mapping[Symbol, int] | None = None,
) -> tuple[int, ...]:
    """Return the positions of the fewest groups that cannot hold together; empty if no conflict is proved.

    Among equally small conflicts, the first in order is returned. ``required`` are positions known to be in every
    conflict, and ``sizes`` are sizes at which most groups hold, if known: both only save time. Subsets are first tried
    by size, which is quick for a few groups and needs no solver for plain sizes; then `smallest_clash` takes over. If
    the effort does not suffice, all groups are returned: the caller knows that they cannot hold together.
    """
    try:
        with share(CONFLICT):
            return _smallest(groups, knowledge, required, sizes)
    except EffortSpentError:
        return tuple(range(len(groups)))


def _smallest(
    groups: Sequence[Sequence[Formula]],
    knowledge: Knowledge,
    required: Collection[int],
    sizes: Mapping[Symbol, int] | None,
) -> tuple[int, ...]:
    if len(groups) <= _FEW:
        subsets = _subsets(len(groups), frozenset(required))
        for chosen in islice(subsets, _SUBSETS_TRIED):
            if Decision(knowledge, [f for n in chosen for f in groups[n]]).impossible:
                return chosen
        if next(subsets, None) is None:
            return ()
    from symbcast.core.solver.conflicts.mus import smallest_clash

    return smallest_clash(groups, knowledge, required, sizes)


def _subsets(count: int, required: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Yield the choices of positions that contain all required ones, by size and then in order."""
    others = [n for n in range(count) if n not in required]
    for size in range(max(1, len(required)), count + 1):
        yield from sorted(tuple(sorted({*required, *more})) for more in combinations(others, size - len(required)))
