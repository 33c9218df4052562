"""The largest box whose sizes advance in steps, where all points of a group are known.

Every arithmetic progression on each axis but the last is tried, and the rows below its members are intersected. A
progression is left as soon as no continuation of it can have more points than the best box so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from symbcast.answers.contracts.search.masks import longest_progression
from symbcast.answers.contracts.search.tables import Score, Table, is_any, is_within, meet, weight

Box: TypeAlias = tuple[tuple[int, int, int], ...]
"""The first position, the length and the step on each axis."""


class StepSearch:
    """A search for the best box of a table, by the masks of the typical sizes on each axis.

    ``found`` is the best box so far: one of no parts, until a box is better than ``at_least``.
    """

    def __init__(self, typical: Sequence[int], at_least: Score = (0, 0)) -> None:
        self._typical = typical
        self.found: tuple[Score, Box] = at_least, ()

    def best(self, table: Table, depth: int, at_least: Score = (0, 0)) -> tuple[Score, Box]:
        """Return the best box with a better score than another one; one of no parts if there is none."""
        if isinstance(table, int):
            return self._row(table, depth, at_least)
        found: tuple[Score, Box] = (self.found[0] if depth == 0 else at_least), ()
        weights = [weight(rows) for rows in table]
        for step in range(1, max(2, len(table))):
            if not self._can_beat(found[0], max(weights) * _room(table, 0, step), depth):
                break
            for first in range(len(table)):
                extends = first >= step and is_within(table[first], table[first - step])
                if weights[first] and not extends:
                    found = self._from(table, depth, (first, step), found)
        return found

    def _from(
        self, table: Sequence[Table], depth: int, start: tuple[int, int], found: tuple[Score, Box]
    ) -> tuple[Score, Box]:
        """Return the best box whose first axis begins at a position and advances in a step, or one found before."""
        (first, step), length = start, 1
        common, room = table[first], _room(table, first, step)
        while True:
            while length < room and is_within(common, table[first + length * step]):
                length += 1
            points = weight(common)
            if (length > 1 or step == 1) and self._can_beat(found[0], points * length, depth):
                found = self._better(common, depth, (first, length, step), found)
            if length == room or not self._can_beat(found[0], points * room, depth):
                return found
            common = meet(common, table[first + length * step])
            length += 1
            if not is_any(common):
                return found

    def _better(
        self, common: Table, depth: int, part: tuple[int, int, int], found: tuple[Score, Box]
    ) -> tuple[Score, Box]:
        position, length, step = part
        held = sum(self._typical[depth] >> position + k * step & 1 for k in range(length)) if any(self._typical) else 0
        least = (0, 0) if any(self._typical) else (0, found[0][1] // length)
        score, box = self.best(common, depth + 1, least)
        made = score[0] + held, score[1] * length
        if box and made > found[0]:
            found = made, (part, *box)
            self.found = found if depth == 0 else self.found
        return found

    def _row(self, mask: int, depth: int, at_least: Score) -> tuple[Score, Box]:
        typical = self._typical[depth]
        position, length, step = longest_progression(mask, typical, at_least[1] + 1)
        held = sum(typical >> position + k * step & 1 for k in range(length)) if typical else 0
        row = (held, length), ((position, length, step),)
        self.found = row if depth == 0 and row[0] > self.found[0] else self.found
        return row if row[0] > at_least else (at_least, ())

    def _can_beat(self, best: Score, points: int, depth: int) -> bool:
        """Return whether a box of so many points could be better than the best one."""
        return points > best[1] or best[0] < sum(typical.bit_count() for typical in self._typical[depth:])


def _room(table: Sequence[Table], first: int, step: int) -> int:
    """Return how many members a progression has at most."""
    return (len(table) - 1 - first) // step + 1
