"""Enumerations of sizes: all that work if they are few, else some of them, spread evenly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from symbcast.answers.contracts.search.grids import MOST_POINTS, fits, grid_of
from symbcast.core.effort import charge
from symbcast.core.solver.sets.congruences import bits

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.space import Group
    from symbcast.answers.contracts.search.tables import Table
    from symbcast.core.algebra.symbols import Symbol

    Point: TypeAlias = dict[Symbol, int]

T = TypeVar("T")

_MOST_SIZES = 1 << 14
"""How many sizes of one symbol are tried for lists, if a list may not have more."""
_BITS = 64
"""Sizes of a mask that are listed for one unit of effort."""


def listed(groups: Sequence[Group], points: Sequence[Sequence[Point]], most: int) -> list[Point]:
    """Return products of points of each group, in order: ``most``, or all if they are fewer.

    Typical sizes come first; the others are spread evenly, and include the least and the greatest.
    """
    if not all(points):
        return []
    counts = _counts([len(p) for p in points], most)
    chosen = [_chosen(g, p, n) for g, p, n in zip(groups, points, counts, strict=True)]
    found = [{s: n for point in parts for s, n in point.items()} for parts in product(*chosen)]
    found = _filled(found, points, most)
    order = [s for group in groups for s in group.axes]
    return sorted(found, key=lambda point: [point[s] for s in order])


def _filled(found: list[Point], points: Sequence[Sequence[Point]], most: int) -> list[Point]:
    """Return some products of points, and others that are spread evenly over all of them, up to ``most``.

    Of ``most`` positions that are spread evenly, at most as many are taken already as there are products.
    """
    known = {tuple(point.items()) for point in found}
    last = prod(map(len, points)) - 1
    for n in range(most):
        if len(known) == most or len(known) > last:
            break
        rest = n * last // (most - 1)  # with one position, there is a point already
        point: Point = {}
        for own in reversed(points):
            rest, place = divmod(rest, len(own))
            point = {**own[place], **point}
        known.add(tuple(point.items()))
    return [dict(point) for point in known]


def points_of(group: Group, most: int) -> list[Point] | None:
    """Return the points of a group in order; None if there are too many.

    Each symbol keeps all its typical sizes and at least ``most`` sizes, evenly spread; all of them if it has fewer.
    """
    if len(group.axes) == 1 and not group.clauses:
        ((symbol, axis),) = group.axes.items()
        charge(axis.mask.bit_count() // _BITS)
        positions = bits(axis.mask) if axis.mask else []
        count = max(_MOST_SIZES, most)
        if len(positions) > count:
            typical = bits(axis.typical) if axis.typical else []
            positions = sorted({*_spread(positions, count), *typical})
        return [{symbol: axis.low + k} for k in positions]
    grid = grid_of(group) if fits(group, MOST_POINTS) else None
    if grid is None:
        return None
    sides = list(zip(grid.symbols, grid.axes, strict=True))
    return [{s: a.low + k for (s, a), k in zip(sides, at, strict=True)} for at in _members(grid.table)]


def sampled(boxes: Iterable[Mapping[Symbol, range]], most: int) -> list[Point]:
    """Return points of boxes, spread evenly over each."""
    found: list[Point] = []
    for box in boxes:
        counts = _counts([len(sizes) for sizes in box.values()], most)
        sizes = [_spread(r, n) for r, n in zip(box.values(), counts, strict=True)]
        some = [dict(zip(box, point, strict=True)) for point in product(*sizes)]
        found += _filled(some, [[{s: n} for n in r] for s, r in box.items()], most)
    return found


def _chosen(group: Group, points: Sequence[Point], count: int) -> list[Point]:
    """Return some points of a group: those with typical sizes, then others."""
    typical = {
        s: {axis.low + k for k in bits(axis.typical)} if axis.typical else set() for s, axis in group.axes.items()
    }
    held = [sum(n in typical[s] for s, n in point.items()) for point in points]
    ranked = sorted(range(len(points)), key=lambda n: -held[n])
    first = [n for n in ranked if held[n]][:count]
    rest = [n for n in range(len(points)) if not held[n]]
    return [points[n] for n in (*first, *(_spread(rest, count - len(first)) if len(first) < count else ()))]


def _members(table: Table) -> Iterator[tuple[int, ...]]:
    if isinstance(table, int):
        charge(table.bit_count() // 8)
        yield from ((k,) for k in bits(table)) if table else ()
        return
    for n, rows in enumerate(table):
        yield from ((n, *rest) for rest in _members(rows))


def _counts(available: Sequence[int], most: int) -> list[int]:
    """Return how many points to take of each group, as evenly as possible, so that the product is at most ``most``."""
    counts = [1] * len(available)
    while True:
        growing = [n for n, count in enumerate(counts) if count < available[n]]
        total = 1
        for count in counts:
            total *= count
        growing = [n for n in growing if total // counts[n] * (counts[n] + 1) <= most]
        if not growing:
            return counts
        least = min(growing, key=lambda n: (counts[n], -available[n]))
        counts[least] += 1


def _spread(points: Sequence[T], count: int) -> list[T]:
    if count >= len(points):
        return list(points)
    if count == 1:
        return [points[-1]]  # smaller requests can be padded to it
    return [points[n * (len(points) - 1) // (count - 1)] for n in range(count)]
