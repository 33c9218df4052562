"""The smallest sizes that satisfy something: fewest zeros, then least sum, then first in the order of the symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, TypeAlias

from symbcast.deciding.sets import ALL, SizeSet

if TYPE_CHECKING:
    import sympy

BUDGET = 4000
"""How many sizes are tried for each number of zeros before the search is given up."""


class GivenUpError(Exception):
    """The search ended without finding sizes or showing that there are none."""


Level: TypeAlias = list[frozenset[int]]
"""The choices of positions that are 0, all of one weight."""


def smallest(
    symbols: Sequence[sympy.Symbol],
    domains: Mapping[sympy.Symbol, SizeSet],
    predicate: Callable[..., bool],
    weights: Mapping[sympy.Symbol, int],
) -> tuple[int, ...] | None:
    """Return the smallest sizes from the domains that satisfy ``predicate``, or None where there are none.

    ``weights`` says how many sizes a symbol stands for. Raises `GivenUpError` when the budget is spent.
    """
    for level in levels(symbols, domains, weights):
        found = smallest_at(level, symbols, domains, predicate, weights)
        if found is not None:
            return found
    return None


def levels(
    symbols: Sequence[sympy.Symbol], domains: Mapping[sympy.Symbol, SizeSet], weights: Mapping[sympy.Symbol, int]
) -> list[Level]:
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
    symbols: Sequence[sympy.Symbol],
    domains: Mapping[sympy.Symbol, SizeSet],
    predicate: Callable[..., bool],
    weights: Mapping[sympy.Symbol, int],
) -> tuple[int, ...] | None:
    """Return the smallest sizes that are 0 at one of the choices of a level, or None where there are none.

    Raises `GivenUpError` when the budget is spent.
    """
    sets = [domains.get(s, ALL) for s in symbols]
    return _least_sum(sets, [weights[s] for s in symbols], level, predicate)


def _least_sum(
    sets: Sequence[SizeSet], counts: Sequence[int], zeros: list[frozenset[int]], predicate: Callable[..., bool]
) -> tuple[int, ...] | None:
    """Return the satisfying sizes of least weighted sum, 0 exactly at one of the choices of positions."""
    least = [s.least(1) or 0 for s in sets]
    floors = [sum(c * v for n, (c, v) in enumerate(zip(counts, least, strict=True)) if n not in z) for z in zeros]
    greatest = [s.greatest for s in sets]
    ceiling = None if None in greatest else sum(c * (g or 0) for c, g in zip(counts, greatest, strict=True))
    total = min(floors)
    tried = 0
    while ceiling is None or total <= ceiling:
        hits = []
        for chosen, floor in zip(zeros, floors, strict=True):
            if floor > total:
                continue
            for sizes in _with_sum(sets, counts, least, chosen, total):
                tried += 1
                if predicate(*sizes):
                    hits.append(sizes)
                    break
                if tried > BUDGET:
                    raise GivenUpError
        if hits:
            return min(hits)
        if not any(n not in z for z in zeros for n in range(len(sets))):
            return None
        total += 1
        tried += 1
        if tried > BUDGET:
            raise GivenUpError
    return None


def _with_sum(
    sets: Sequence[SizeSet], counts: Sequence[int], least: Sequence[int], zeros: frozenset[int], total: int
) -> Iterator[tuple[int, ...]]:
    """Yield sizes of the given weighted sum in lexicographic order, 0 exactly at ``zeros``."""
    floors: list[int] = [0] * (len(sets) + 1)
    ceilings: list[int | None] = [0] * (len(sets) + 1)
    for n in reversed(range(len(sets))):
        floors[n] = floors[n + 1] + (0 if n in zeros else counts[n] * least[n])
        greatest, above = (0 if n in zeros else sets[n].greatest), ceilings[n + 1]
        ceilings[n] = None if greatest is None or above is None else above + counts[n] * greatest

    def extend(position: int, left: int, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if position == len(sets):
            if left == 0:
                yield chosen
            return
        if position in zeros:
            yield from extend(position + 1, left, (*chosen, 0))
            return
        # What the later sizes can take together bounds this one from both sides.
        weight, most = counts[position], ceilings[position + 1]
        low = 1 if most is None else max(1, -((most - left) // weight))
        for value in sets[position].members(low):
            if weight * value > left - floors[position + 1]:
                return
            yield from extend(position + 1, left - weight * value, (*chosen, value))

    yield from extend(0, total, ())
