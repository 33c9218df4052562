"""The longest line in a small group of two sizes: the points at which one size is ``p`` times the other, plus ``q``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.masks import longest_progression
from symbcast.core.effort import charge
from symbcast.core.solver.sets.congruences import bits

if TYPE_CHECKING:
    from typing import TypeAlias

    from symbcast.answers.contracts.search.grids import Grid
    from symbcast.core.algebra.symbols import Symbol

    Line: TypeAlias = tuple[Symbol, Symbol, int, int, range]
    """A free size, the size that it determines, the factor and the offset, and the range of the free size."""

MOST_POINTS = 1 << 13
"""The most points of a group in which every line is tried."""
_POINTS = 4
"""Points that are placed on lines for one unit of effort."""


def longest_line(grid: Grid, at_least: int) -> Line | None:
    """Return the line with the most points; None if none has more than ``at_least``."""
    assert isinstance(grid.table, list)
    best: Line | None = None
    width = grid.axes[1].mask.bit_length()
    points = [(x, y) for x, row in enumerate(grid.table) if isinstance(row, int) and row for y in bits(row)]
    turned = [(y, x) for x, y in points]
    for free, spots, counts in ((0, points, (len(grid.table), width)), (1, turned, (width, len(grid.table)))):
        found = _longest(spots, counts, at_least)
        if found is not None:
            factor, offset, sizes = found
            at_least = len(sizes)
            low, other = grid.axes[free].low, grid.axes[1 - free].low
            moved = range(sizes[0] + low, sizes[-1] + low + 1, sizes.step)
            best = grid.symbols[free], grid.symbols[1 - free], factor, offset + other - factor * low, moved
    return best


def _longest(points: list[tuple[int, int]], counts: tuple[int, int], at_least: int) -> tuple[int, int, range] | None:
    """Return the factor, the offset and the positions of the longest line in the second coordinate over the first.

    A line with a factor ``p`` and more than ``at_least`` points is at least ``p * at_least`` high.
    """
    best: tuple[int, int, range] | None = None
    for size in range(1, counts[1]):
        if size * max(1, at_least) >= counts[1]:
            break
        for factor in (size, -size):
            charge(1 + len(points) // _POINTS)
            lines: dict[int, int] = {}
            for x, y in points:
                lines[y - factor * x] = lines.get(y - factor * x, 0) | 1 << x
            for offset, mask in lines.items():
                if mask.bit_count() <= at_least:
                    continue
                position, length, step = longest_progression(mask, at_least=at_least + 1)
                if length > at_least:
                    at_least = length
                    best = factor, offset, range(position, position + (length - 1) * step + 1, step)
    return best
