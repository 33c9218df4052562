"""The largest boxes in a small group of sizes: every point is known, so the boxes are exactly the largest.

The points are nested lists of masks, one level for each size but the last. The search goes through the first sizes of a
box and intersects the rows below them one by one, as the search for the largest rectangle in a histogram does.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.search.masks import longest_run, mask_within
from symbcast.answers.contracts.search.progressions import StepSearch
from symbcast.answers.contracts.search.tables import Score, Table, is_any, is_within, meet, without
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import all_of
from symbcast.core.solver.budget import share
from symbcast.core.solver.evaluation.evaluation import may_be_undefined, predicate
from symbcast.core.solver.groups.normal_form import put_in
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.univariate import solve

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.space import Axis, Group
    from symbcast.core.algebra.symbols import Symbol

    Box: TypeAlias = tuple[tuple[int, int], ...]
    """The first position and the length on each axis."""

MOST_POINTS = 1 << 16
MOST_ROWS = 1 << 11
LISTED = 200_000
"""Units of effort for all points of a group: half of what a group has, so that boxes can be grown without them."""


class Grid:
    """All points of a group. The last symbol is the one with the most sizes."""

    def __init__(self, group: Group) -> None:
        self.symbols: list[Symbol] = sorted(group.axes, key=lambda s: group.axes[s].mask.bit_length())
        self.axes: list[Axis] = [group.axes[s] for s in self.symbols]
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
        return [self._nothing(depth + 1)] * self.axes[depth].mask.bit_length()

    def _row(self, point: tuple[int, ...], axis: Axis) -> int:
        if self._is_by_rows:
            sizes = dict(zip(self.symbols, point, strict=False))
            return axis.mask & mask_within(solve(put_in(self._formula, sizes)), axis.low, axis.high)
        count = axis.mask.bit_length()
        charge(1 + count // 4)
        holds = predicate(self._formula, tuple(self.symbols))
        text = "".join("1" if holds(*point, axis.low + k) else "0" for k in reversed(range(count)))
        return int(text, 2) & axis.mask

    def largest(self) -> tuple[Box | None, bool]:
        """Return the box with the best score, None if there are no points, and whether the search was completed."""
        search = _Search([axis.typical for axis in self.axes])
        try:
            search.best(self.table, 0)
        except EffortSpentError:
            return search.found[1] or None, False
        return search.found[1] or None, True

    def largest_in_steps(self, at_least: Score) -> tuple[dict[Symbol, range] | None, bool]:
        """Return the best box whose sizes may advance in steps; None if none has a better score than ``at_least``.

        The second value says whether the search was completed.
        """
        search, is_complete = StepSearch([axis.typical for axis in self.axes], at_least), True
        try:
            search.best(self.table, 0)
        except EffortSpentError:
            is_complete = False
        box = search.found[1]
        sides = zip(self.symbols, self.axes, box, strict=True) if box else ()
        return {s: axis.sizes(*part) for s, axis, part in sides} or None, is_complete

    def remove(self, box: Box) -> None:
        """Remove the points of a box."""
        self.table = without(self.table, box)

    def ranges(self, box: Box) -> dict[Symbol, range]:
        """Return the sizes of a box."""
        return {s: a.sizes(*part) for s, a, part in zip(self.symbols, self.axes, box, strict=True)}


def fits(group: Group, most: int) -> bool:
    """Return whether a group has at most ``most`` points."""
    return prod(axis.mask.bit_length() for axis in group.axes.values()) <= most


def has_rows(group: Group) -> bool:
    """Return whether a group can be solved row by row: few rows, and terms that are defined everywhere."""
    counts = sorted(axis.mask.bit_length() for axis in group.axes.values())
    return prod(counts[:-1]) <= MOST_ROWS and not any(map(may_be_undefined, group.clauses))


def grid_of(group: Group) -> Grid | None:
    """Return the points of a group; None if there are too many, or if they take too much effort to list."""
    if not fits(group, MOST_POINTS) and not has_rows(group):
        return None
    try:
        with share(LISTED):
            return Grid(group)
    except (NotPeriodicError, EffortSpentError):
        return None


class _Search:
    """A search for the best box of a table, by the masks of the typical sizes on each axis."""

    def __init__(self, typical: list[int]) -> None:
        self._typical = typical
        self.found: tuple[Score, Box] = ((0, 0), ())

    def best(self, table: Table, depth: int) -> tuple[Score, Box]:
        """Return the best box and its score; a box of no points if there are none."""
        if isinstance(table, int):
            position, length = longest_run(table, self._typical[depth])
            row = (self._held(depth, position, length), length), ((position, length),)
            self.found = row if depth == 0 and length else self.found
            return row
        found: tuple[Score, Box] = ((0, 0), ())
        for first, rows in enumerate(table):
            if first and is_within(rows, table[first - 1]):
                continue  # a box that begins here can be extended by the table before
            common, last = rows, first
            while common and is_any(common):
                while last + 1 < len(table) and is_within(common, table[last + 1]):
                    last += 1
                score, box = self.best(common, depth + 1)
                length = last - first + 1
                held = self._held(depth, first, length)
                made = (score[0] + held, score[1] * length)
                if score[1] and made > found[0]:
                    found = made, ((first, length), *box)
                    self.found = found if depth == 0 else self.found
                if last + 1 == len(table) or not self._can_beat(found[0], score, first, len(table), depth):
                    break
                last += 1
                common = meet(common, table[last])
        return found

    def _can_beat(self, best: Score, score: Score, first: int, count: int, depth: int) -> bool:
        """Return whether more rows could still improve on the best box; their boxes have at most ``score`` points."""
        if any(self._typical):
            return True
        return score[1] * (count - first) > best[1]

    def _held(self, depth: int, position: int, length: int) -> int:
        return (self._typical[depth] >> position & ((1 << length) - 1)).bit_count()
