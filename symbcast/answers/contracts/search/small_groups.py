"""Boxes, lines and lists in a small group of sizes: every point is known, so they are exactly the largest.

The points are nested lists of masks, one level for each size but the last. The search goes through the first sizes of a
box and intersects the rows below them one by one, as the search for the largest rectangle in a histogram does.

Every arithmetic progression on each axis but the last is tried, and the rows below its members are intersected. A
progression is left as soon as no continuation of it can have more points than the best box so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from symbcast.answers.contracts.search import space
from symbcast.answers.contracts.search.space import Score, SearchAxis, SizeGroup, Table
from symbcast.core.algebra.formulas import all_of, is_total
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import EffortSpentError, budget_share, charge
from symbcast.core.solver.evaluation import predicate, replace_in_formula
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.residues import mask_residues

if TYPE_CHECKING:
    RunBox: TypeAlias = tuple[tuple[int, int], ...]
    """The first position and the length on each axis."""
    Line: TypeAlias = tuple[Symbol, Symbol, int, int, range]
    """A free size, the size that it determines, the factor and the offset, and the range of the free size."""
    Point: TypeAlias = dict[Symbol, int]


StepBox: TypeAlias = tuple[tuple[int, int, int], ...]
"""The first position, the length and the step on each axis."""


class StepSearch:
    """A search for the best box of a table, by the masks of the typical sizes on each axis.

    ``incumbent`` is the best box so far: one of no parts, until a box is better than ``at_least``.
    """

    def __init__(self, typical: Sequence[int], at_least: Score = (0, 0)) -> None:
        self._typical = typical
        self.incumbent: tuple[Score, StepBox] = at_least, ()

    def best(self, table: Table, depth: int, at_least: Score = (0, 0)) -> tuple[Score, StepBox]:
        """Return the best box with a better score than another one; one of no parts if there is none."""
        if isinstance(table, int):
            return self._row(table, depth, at_least)
        best_box: tuple[Score, StepBox] = (self.incumbent[0] if depth == 0 else at_least), ()
        weights = [space.table_weight(rows) for rows in table]
        for step in range(1, max(2, len(table))):
            # The larger the step, the fewer members: no later step can do better either.
            if not self._can_beat(best_box[0], max(weights) * _room(table, 0, step), depth):
                break
            for first in range(len(table)):
                # A progression that begins here could begin one step earlier and lose nothing.
                extends = first >= step and space.is_within(table[first], table[first - step])
                if weights[first] and not extends:
                    best_box = self._from(table, depth, (first, step), best_box)
        return best_box

    def _from(
        self, table: Sequence[Table], depth: int, start: tuple[int, int], best_box: tuple[Score, StepBox]
    ) -> tuple[Score, StepBox]:
        """Return the best box whose first axis begins at a position and advances in a step, or one found before."""
        (first, step), length = start, 1
        common, room = table[first], _room(table, first, step)
        while True:
            while length < room and space.is_within(common, table[first + length * step]):
                length += 1
            points = space.table_weight(common)
            # A single member is a progression of every step: it is tried for step 1 only.
            if (length > 1 or step == 1) and self._can_beat(best_box[0], points * length, depth):
                best_box = self._better(common, depth, (first, length, step), best_box)
            if length == room or not self._can_beat(best_box[0], points * room, depth):
                return best_box
            common = space.meet_tables(common, table[first + length * step])
            length += 1
            if not space.is_any(common):
                return best_box

    def _better(
        self, common: Table, depth: int, part: tuple[int, int, int], best_box: tuple[Score, StepBox]
    ) -> tuple[Score, StepBox]:
        position, length, step = part
        typical = (
            sum(self._typical[depth] >> position + k * step & 1 for k in range(length)) if any(self._typical) else 0
        )
        # Without typical sizes, only a box with more points on the other axes makes a larger product.
        least = (0, 0) if any(self._typical) else (0, best_box[0][1] // length)
        score, box = self.best(common, depth + 1, least)
        better = score[0] + typical, score[1] * length
        if box and better > best_box[0]:
            best_box = better, (part, *box)
            self.incumbent = best_box if depth == 0 else self.incumbent
        return best_box

    def _row(self, mask: int, depth: int, at_least: Score) -> tuple[Score, StepBox]:
        typical = self._typical[depth]
        position, length, step = space.longest_progression(mask, typical, at_least[1] + 1)
        typical_inside = sum(typical >> position + k * step & 1 for k in range(length)) if typical else 0
        row = (typical_inside, length), ((position, length, step),)
        self.incumbent = row if depth == 0 and row[0] > self.incumbent[0] else self.incumbent
        return row if row[0] > at_least else (at_least, ())

    def _can_beat(self, best: Score, points: int, depth: int) -> bool:
        """Return whether a box of so many points could be better than the best one."""
        return points > best[1] or best[0] < sum(typical.bit_count() for typical in self._typical[depth:])


def _room(table: Sequence[Table], first: int, step: int) -> int:
    """Return how many members a progression has at most."""
    return (len(table) - 1 - first) // step + 1


MOST_POINTS = 1 << 16
MOST_ROWS = 1 << 11
# Units of effort for all points of a group: half of what a group has, so that boxes can be grown without them.
LISTED = 200_000


class PointGrid:
    """All points of a group. The last symbol is the one with the most sizes."""

    def __init__(self, group: SizeGroup) -> None:
        self.symbols: list[Symbol] = sorted(group.axes, key=lambda s: group.axes[s].mask.bit_length())
        self.axes: list[SearchAxis] = [group.axes[s] for s in self.symbols]
        self._formula = all_of(group.clauses)
        self._is_by_rows = not fits(group, MOST_POINTS)
        self.table = self._table((), 0)

    def _table(self, point: tuple[int, ...], depth: int) -> Table:
        axis = self.axes[depth]
        if depth == len(self.axes) - 1:
            return self._row(point, axis)
        count = axis.mask.bit_length()
        return [
            self._table((*point, axis.low + k), depth + 1) if axis.mask >> k & 1 else self._nothing(depth + 1)
            for k in range(count)
        ]

    def _nothing(self, depth: int) -> Table:
        if depth == len(self.axes) - 1:
            return 0
        # One row for all: tables are never changed in place.
        return [self._nothing(depth + 1)] * self.axes[depth].mask.bit_length()

    def _row(self, point: tuple[int, ...], axis: SearchAxis) -> int:
        if self._is_by_rows:
            sizes = dict(zip(self.symbols, point, strict=False))
            return axis.mask & space.mask_within(
                solution_set(replace_in_formula(self._formula, sizes)), axis.low, axis.high
            )
        count = axis.mask.bit_length()
        charge(1 + count // 4)
        holds = predicate(self._formula, tuple(self.symbols))
        # The greatest size is the highest bit, so it comes first in the text.
        text = "".join("1" if holds(*point, axis.low + k) else "0" for k in reversed(range(count)))
        return int(text, 2) & axis.mask

    def largest(self) -> tuple[RunBox | None, bool]:
        """Return the box with the best score, None if there are no points, and whether the search was completed."""
        search = _BoxSearch([axis.typical for axis in self.axes])
        try:
            search.best(self.table, 0)
        except EffortSpentError:
            return search.incumbent[1] or None, False
        return search.incumbent[1] or None, True

    def largest_in_steps(self, at_least: Score) -> tuple[dict[Symbol, range] | None, bool]:
        """Return the best box whose sizes may advance in steps; None if none has a better score than ``at_least``.

        The second value says whether the search was completed.
        """
        search, is_complete = StepSearch([axis.typical for axis in self.axes], at_least), True
        try:
            search.best(self.table, 0)
        except EffortSpentError:
            is_complete = False
        box = search.incumbent[1]
        sides = zip(self.symbols, self.axes, box, strict=True) if box else ()
        return {s: axis.sizes(*part) for s, axis, part in sides} or None, is_complete

    def remove(self, box: RunBox) -> None:
        """Remove the points of a box."""
        self.table = space.table_without(self.table, box)

    def ranges(self, box: RunBox) -> dict[Symbol, range]:
        """Return the sizes of a box."""
        return {s: a.sizes(*part) for s, a, part in zip(self.symbols, self.axes, box, strict=True)}


def fits(group: SizeGroup, most: int) -> bool:
    """Return whether a group has at most ``most`` points."""
    return prod(axis.mask.bit_length() for axis in group.axes.values()) <= most


def has_rows(group: SizeGroup) -> bool:
    """Return whether a group can be solved row by row: few rows, and terms that are defined everywhere."""
    counts = sorted(axis.mask.bit_length() for axis in group.axes.values())
    return prod(counts[:-1]) <= MOST_ROWS and all(map(is_total, group.clauses))


def grid_of(group: SizeGroup) -> PointGrid | None:
    """Return the points of a group; None if there are too many, or if they take too much effort to list."""
    if not fits(group, MOST_POINTS) and not has_rows(group):
        return None
    try:
        with budget_share(LISTED):
            return PointGrid(group)
    except (NotPeriodicError, EffortSpentError):
        return None


class _BoxSearch:
    """A search for the best box of a table, by the masks of the typical sizes on each axis."""

    def __init__(self, typical: list[int]) -> None:
        self._typical = typical
        self.incumbent: tuple[Score, RunBox] = ((0, 0), ())

    def best(self, table: Table, depth: int) -> tuple[Score, RunBox]:
        """Return the best box and its score; a box of no points if there are none."""
        if isinstance(table, int):
            position, length = space.longest_run(table, self._typical[depth])
            row = (self._held(depth, position, length), length), ((position, length),)
            self.incumbent = row if depth == 0 and length else self.incumbent
            return row
        best_box: tuple[Score, RunBox] = ((0, 0), ())
        for first, rows in enumerate(table):
            if first and space.is_within(rows, table[first - 1]):
                continue  # a box that begins here can be extended by the table before
            common, last = rows, first
            while common and space.is_any(common):
                while last + 1 < len(table) and space.is_within(common, table[last + 1]):
                    last += 1
                score, box = self.best(common, depth + 1)
                length = last - first + 1
                better = (score[0] + self._held(depth, first, length), score[1] * length)
                if score[1] and better > best_box[0]:
                    best_box = better, ((first, length), *box)
                    self.incumbent = best_box if depth == 0 else self.incumbent
                if last + 1 == len(table) or not self._can_beat(best_box[0], score, first, len(table)):
                    break
                last += 1
                common = space.meet_tables(common, table[last])
        return best_box

    def _can_beat(self, best: Score, score: Score, first: int, count: int) -> bool:
        """Return whether more rows could still improve on the best box; their boxes have at most ``score`` points."""
        # More rows have fewer points in each, but may contain typical sizes, which count before points.
        return any(self._typical) or score[1] * (count - first) > best[1]

    def _held(self, depth: int, position: int, length: int) -> int:
        return (self._typical[depth] >> position & ((1 << length) - 1)).bit_count()


# The longest line in a small group of two sizes: the points at which one size is ``p`` times the other, plus ``q``.


# The most points of a group in which every line is tried.
MOST_LINE_POINTS = 1 << 13
# Points that are placed on lines for one unit of effort.
_POINTS = 4


def longest_line(grid: PointGrid, at_least: int) -> Line | None:
    """Return the line with the most points; None if none has more than ``at_least``."""
    assert isinstance(grid.table, list)
    best: Line | None = None
    width = grid.axes[1].mask.bit_length()
    points = [(x, y) for x, row in enumerate(grid.table) if isinstance(row, int) and row for y in mask_residues(row)]
    turned = [(y, x) for x, y in points]
    # Over either size: a factor is an integer, and `x = 2*y` has none over x.
    for free, spots, counts in ((0, points, (len(grid.table), width)), (1, turned, (width, len(grid.table)))):
        line = _longest(spots, counts, at_least)
        if line is not None:
            factor, offset, sizes = line
            at_least = len(sizes)
            low, other = grid.axes[free].low, grid.axes[1 - free].low
            moved = range(sizes[0] + low, sizes[-1] + low + 1, sizes.step)
            best = grid.symbols[free], grid.symbols[1 - free], factor, offset + other - factor * low, moved
    return best


def _longest(points: list[tuple[int, int]], counts: tuple[int, int], at_least: int) -> tuple[int, int, range] | None:
    """Return the factor, the offset and the positions of the longest line in the second coordinate over the first."""
    best: tuple[int, int, range] | None = None
    for size in range(1, counts[1]):
        # A line with a factor ``p`` and more than ``at_least`` points is at least ``p * at_least`` high.
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
                position, length, step = space.longest_progression(mask, at_least=at_least + 1)
                if length > at_least:
                    at_least = length
                    best = factor, offset, range(position, position + (length - 1) * step + 1, step)
    return best


# Enumerations of sizes: all that work if they are few, else some of them, spread evenly.


T = TypeVar("T")

# How many sizes of one symbol are tried for lists, if a list may not have more.
_MOST_SIZES = 1 << 14
# Sizes of a mask that are listed for one unit of effort.
_BITS = 64


def list_points(groups: Sequence[SizeGroup], points: Sequence[Sequence[Point]], most: int) -> list[Point]:
    """Return products of points of each group, in order: ``most``, or all if they are fewer.

    Typical sizes come first; the others are spread evenly, and include the least and the greatest.
    """
    if not all(points):
        return []
    counts = _counts([len(p) for p in points], most)
    chosen = [_chosen(g, p, n) for g, p, n in zip(groups, points, counts, strict=True)]
    points_listed = [{s: n for point in parts for s, n in point.items()} for parts in product(*chosen)]
    points_listed = _filled(points_listed, points, most)
    order = [s for group in groups for s in group.axes]
    return sorted(points_listed, key=lambda point: [point[s] for s in order])


def _filled(points_listed: list[Point], points: Sequence[Sequence[Point]], most: int) -> list[Point]:
    """Return some products of points, and others that are spread evenly over all of them, up to ``most``."""
    known = {tuple(point.items()) for point in points_listed}
    last = prod(map(len, points)) - 1
    # Of ``most`` positions that are spread evenly, at most as many are taken already as there are products.
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


def points_of(group: SizeGroup, most: int) -> list[Point] | None:
    """Return the points of a group in order; None if there are too many.

    Each symbol keeps all its typical sizes and at least ``most`` sizes, evenly spread; all of them if it has fewer.
    """
    if len(group.axes) == 1 and not group.clauses:
        ((symbol, axis),) = group.axes.items()
        charge(axis.mask.bit_count() // _BITS)
        positions = mask_residues(axis.mask) if axis.mask else []
        count = max(_MOST_SIZES, most)
        if len(positions) > count:
            typical = mask_residues(axis.typical) if axis.typical else []
            positions = sorted({*_spread(positions, count), *typical})
        return [{symbol: axis.low + k} for k in positions]
    grid = grid_of(group) if fits(group, MOST_POINTS) else None
    if grid is None:
        return None
    sides = list(zip(grid.symbols, grid.axes, strict=True))
    return [{s: a.low + k for (s, a), k in zip(sides, at, strict=True)} for at in _members(grid.table)]


def sample_points(boxes: Iterable[Mapping[Symbol, range]], most: int) -> list[Point]:
    """Return points of boxes, spread evenly over each."""
    points: list[Point] = []
    for box in boxes:
        counts = _counts([len(sizes) for sizes in box.values()], most)
        sizes = [_spread(r, n) for r, n in zip(box.values(), counts, strict=True)]
        some = [dict(zip(box, point, strict=True)) for point in product(*sizes)]
        points += _filled(some, [[{s: n} for n in r] for s, r in box.items()], most)
    return points


def _chosen(group: SizeGroup, points: Sequence[Point], count: int) -> list[Point]:
    """Return some points of a group: those with typical sizes, then others."""
    typical = {
        s: {axis.low + k for k in mask_residues(axis.typical)} if axis.typical else set()
        for s, axis in group.axes.items()
    }
    typical_counts = [sum(n in typical[s] for s, n in point.items()) for point in points]
    ranked = sorted(range(len(points)), key=lambda n: -typical_counts[n])
    first = [n for n in ranked if typical_counts[n]][:count]
    rest = [n for n in range(len(points)) if not typical_counts[n]]
    return [points[n] for n in (*first, *(_spread(rest, count - len(first)) if len(first) < count else ()))]


def _members(table: Table) -> Iterator[tuple[int, ...]]:
    if isinstance(table, int):
        charge(table.bit_count() // 8)
        yield from ((k,) for k in mask_residues(table)) if table else ()
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
        counts[min(growing, key=lambda n: (counts[n], -available[n]))] += 1


def _spread(points: Sequence[T], count: int) -> list[T]:
    if count >= len(points):
        return list(points)
    if count == 1:
        return [points[-1]]  # smaller requests can be padded to it
    return [points[n * (len(points) - 1) // (count - 1)] for n in range(count)]
