"""Grids of sizes on which orders of names are decided: a combination that is not on the grid occurs nowhere.

Atoms that compare a name with an integer, or two names with each other, depend only on the order of the sizes and those
integers. So between two neighbouring integers it suffices to have as many sizes as names, and a finite grid shows every
combination of truth values (the small model property of linear orders).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import Formula
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.simplification.difference_constraints import Bound, Differences

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

MOST_POINTS = 1 << 20


class Grid:
    """The sizes of each symbol, in order; the points are their product, with the last symbol changing fastest."""

    def __init__(self, axes: Sequence[Sequence[int]]) -> None:
        self.axes = axes
        self.count = prod(map(len, axes))
        self._equal = [self._positions(n) for n in range(len(axes))]

    def points(self) -> Iterable[tuple[int, ...]]:
        """Return the points in order."""
        return product(*self.axes)

    def _positions(self, place: int) -> list[int]:
        """Return, for each size of a symbol, a mask of the points at which it has that size (first point lowest)."""
        inner = prod(map(len, self.axes[place + 1 :]))
        size = len(self.axes[place])
        run = (1 << inner) - 1
        blocks = self.count // (inner * size)
        # 1 + 2**p + 2**2p + ... repeats a pattern every p bits.
        repeat = ((1 << (inner * size * blocks)) - 1) // ((1 << (inner * size)) - 1)
        return [(run << (inner * n)) * repeat for n in range(size)]

    def mask(self, bounds: Iterable[Bound]) -> int:
        """Return the points at which some bounds on the symbols' sizes hold."""
        found = (1 << self.count) - 1
        for bound in bounds:
            found &= self._mask(bound)
        return found

    def _mask(self, bound: Bound) -> int:
        left, right, most, differs = bound
        found = 0
        lefts = self._sizes(left)
        for value, here in self._sizes(right):
            row = 0
            for size, mask in lefts:
                if size - value != most if differs else size - value <= most:
                    row |= mask
            found |= row & here
        return found

    def _sizes(self, place: int) -> list[tuple[int, int]]:
        if not place:
            return [(0, (1 << self.count) - 1)]
        return list(zip(self.axes[place - 1], self._equal[place - 1], strict=True))


def complete_axes(
    symbols: Sequence[Symbol],
    domains: Mapping[Symbol, SizeSet],
    differences: Differences,
    literals: Iterable[Formula],
) -> list[list[int]] | None:
    """Return sizes of each symbol whose product shows every possible combination of the literals.

    None if a literal or a domain is of another kind, or if there are too many points.
    """
    count = len(symbols)
    cuts: list[set[int]] = [{0} for _ in range(count + 1)]
    groups = list(range(count + 1))
    for literal in literals:
        bounds = differences.bounds(literal)
        if bounds is None:
            return None
        for left, right, most, differs in bounds:
            if left and right:
                if most not in ((0,) if differs else (0, -1)):
                    return None
                groups = [groups[left] if g == groups[right] else g for g in groups]
            else:
                cuts[left or right].update(n for n in ((most if left else -most),) if n >= 0)
    for place, symbol in enumerate(symbols, start=1):
        for segment in domains[symbol].segments:
            if segment.period != 1:
                return None
            cuts[place].update((segment.low, segment.low if segment.high is None else segment.high))
    total = 1
    axes: list[list[int]] = []
    for place, symbol in enumerate(symbols, start=1):
        group = [n for n in range(1, count + 1) if groups[n] == groups[place]]
        axis = _between(sorted(set().union(*(cuts[n] for n in group))), len(group))
        axes.append([size for size in axis if size in domains[symbol]])
        total *= max(1, len(axes[-1]))
        if total > MOST_POINTS:
            return None
    return axes if all(axes) else None


def _between(cuts: Sequence[int], count: int) -> list[int]:
    """Return ascending integers: ``count`` sizes, or all there are, between each two and above the last."""
    found: list[int] = []
    for low, high in zip(cuts, [*cuts[1:], None], strict=True):
        end = low + count + 1 if high is None else min(high, low + count + 1)
        found += range(low, end)
    return found
