"""The smallest sizes that satisfy something: fewest zeros, then least sum, then first in the order of the symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

BUDGET = 4000
"""How many sizes are tried for each number of zeros before the search is given up."""


class GivenUpError(Exception):
    """The search ended without finding sizes or showing that there are none."""


Level: TypeAlias = list[frozenset[int]]
"""The choices of positions that are 0, all of one weight."""


def smallest(
    symbols: Sequence[Symbol],
    domains: Mapping[Symbol, SizeSet],
    predicate: Callable[..., bool],
    weights: Mapping[Symbol, int],
) -> tuple[int, ...] | None:
    """Return the smallest sizes from the domains that satisfy ``predicate``, or None where there are none.

    ``weights`` says how many sizes a symbol stands for. Raises `GivenUpError` when the budget is spent.
    """
    for level in levels(symbols, domains, weights):
        found = smallest_at(level, symbols, domains, predicate, weights)
        if found is not None:
            return found
    return None


def levels(symbols: Sequence[Symbol], domains: Mapping[Symbol, SizeSet], weights: Mapping[Symbol, int]) -> list[Level]:
    """Return the choices of symbols that are 0, those of one weight together, lightest first.

    Where there are too many, those with most zeros are left out.
    """
    sets = [domains.get(s, ALL) for s in symbols]
    needed = frozenset(n for n, s in enumerate(sets) if s.least(1) is None)
    free = [n for n, s in enumerate(sets) if 0 in s and n not in needed]
    choices = (combinations(free, size) for size in range(len(free) + 1))
    by_weight: dict[int, Level] = {}
    for chosen in islice(chain.from_iterable(choices), BUDGET):
        positions = needed | frozenset(chosen)
        by_weight.setdefault(sum(weights[symbols[n]] for n in positions), []).append(positions)
    return [by_weight[weight] for weight in sorted(by_weight)]


def smallest_at(
    level: Level,
    symbols: Sequence[Symbol],
    domains: Mapping[Symbol, SizeSet],
    predicate: Callable[..., bool],
    weights: Mapping[Symbol, int],
) -> tuple[int, ...] | None:
    """Return the smallest sizes that are 0 at one of the choices of a level, or None where there are none.

    Raises `GivenUpError` when the budget is spent.
    """
    sets = [domains.get(s, ALL) for s in symbols]
    return _least_sum(sets, [weights[s] for s in symbols], level, predicate)


_Entry: TypeAlias = tuple[int, tuple[int, ...], int, tuple[int, ...]]
"""The weighted sum, the sizes, the first position that may still move, and each size's step on its ladder."""


def _least_sum(
    sets: Sequence[SizeSet], counts: Sequence[int], zeros: Level, predicate: Callable[..., bool]
) -> tuple[int, ...] | None:
    """Return the satisfying sizes of least weighted sum, 0 exactly at one of the choices of positions.

    Best first: sizes are taken from a heap by sum and order, and each hands on those with one size a step larger.
    Every one is handed on by exactly one of lesser sum, so none is missed and none comes too late.
    """
    ladders = [_Ladder(s) for s in sets]
    heap: list[_Entry] = []

    def push(steps: tuple[int, ...], moved: int) -> None:
        """Put sizes on the heap if every step is on its ladder; step -1 is the size 0."""
        sizes = [0 if step < 0 else ladder.rung(step) for ladder, step in zip(ladders, steps, strict=True)]
        if None not in sizes:
            found = tuple(size or 0 for size in sizes)
            total = sum(count * size for count, size in zip(counts, found, strict=True))
            heappush(heap, (total, found, moved, steps))

    for chosen in zeros:
        push(tuple(-1 if n in chosen else 0 for n in range(len(sets))), 0)
    tried = 0
    while heap:
        _, sizes, moved, steps = heappop(heap)
        if predicate(*sizes):
            return sizes
        tried += 1
        if tried > BUDGET:
            raise GivenUpError
        for n in range(moved, len(sets)):
            if steps[n] >= 0:
                push((*steps[:n], steps[n] + 1, *steps[n + 1 :]), n)
    return None


class _Ladder:
    """The members of a set other than 0, by their number."""

    def __init__(self, sizes: SizeSet) -> None:
        self._rest = sizes.members(1)
        self._known: list[int] = []

    def rung(self, number: int) -> int | None:
        """Return the member with a number, None past the end."""
        while len(self._known) <= number:
            following = next(self._rest, None)
            if following is None:
                return None
            self._known.append(following)
        return self._known[number]
