"""Tier F1 for one broadcast of names and integers by NumPy's rule, without assumptions: exact, in linear time.

Every name may be 1 at once. So the broadcast is impossible exactly if two different integers other than 1 meet on one
axis; otherwise all sizes 1 is the smallest witness. `symbcast.core.solver.masks.mask_clauses` proves that the
conditions are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.solver.masks.mask_clauses import Members, Name, conjuncts, formula, smallest_break
from symbcast.core.verdicts import Verdict

Size: TypeAlias = "int | Name"
OutputDim: TypeAlias = "int | Name | tuple[Name, ...]"
"""An integer, one name, or the members of a join."""

_ALWAYS, _SOMETIMES, _NEVER = Verdict.ALWAYS, Verdict.SOMETIMES, Verdict.NEVER


class Conflict(NamedTuple):
    """Two operands, by position, whose sizes on one of ``rank`` aligned axes are different integers other than 1."""

    axis: int
    rank: int
    left: int
    right: int


class Masks:
    """The answer about one broadcast: the verdict is computed at once, the rest on demand.

    >>> question = Masks((("N", 3), ("M", 1)))
    >>> question.verdict, question.clauses(), question.output()
    (<Verdict.SOMETIMES: 'sometimes'>, [Compatible(('N', 'M'))], (('N', 'M'), 3))
    """

    __slots__ = ("_held", "_laid", "_numbers", "_placed", "shapes", "verdict")

    def __init__(self, shapes: Sequence[tuple[Size, ...]]) -> None:
        rank = 0
        for shape in shapes:
            if len(shape) > rank:  # noqa: PLR1730 - as a call it takes three times as long
                rank = len(shape)
        numbers: list[int] = [1] * rank
        names: list[Name] = [None] * rank
        clash = meet = False
        for shape in shapes:
            axis = rank - len(shape)
            for size in shape:
                if type(size) is int:
                    if size != 1:
                        if numbers[axis] == 1:
                            numbers[axis] = size
                        elif numbers[axis] != size:
                            clash = True
                # Compare by identity: the equality of symbols may be slow.
                elif names[axis] is None:
                    names[axis] = size
                elif names[axis] is not size:
                    meet = True
                axis += 1
        self.shapes = shapes
        self._numbers = numbers
        self._placed: tuple[list[Name], dict[int, int]] | None = None
        self._held: dict[int, int] | None = None
        self._laid: list[dict[int, Name]] | None = None
        self.verdict = _NEVER if clash else _SOMETIMES if meet or _meet_number(names, numbers) else _ALWAYS

    @property
    def names(self) -> list[Name]:
        """The symbols, in order of first appearance."""
        return self._names_and_places()[0]

    def verdict_at(self, axis: int) -> Verdict:
        """Return the verdict on the sizes of one axis.

        >>> question = Masks((("N", 3, 4), ("M", 1, 5)))
        >>> [question.verdict_at(axis).value for axis in range(3)]
        ['sometimes', 'always', 'never']
        """
        back = len(self._numbers) - axis
        met = {shape[-back] for shape in self.shapes if len(shape) >= back} - {1}
        if sum([type(size) is int for size in met]) > 1:
            return _NEVER
        return _SOMETIMES if len(met) > 1 else _ALWAYS

    def clauses(self) -> list[Formula]:
        """Return the conjuncts of the condition, irredundant; only `FALSE` if no sizes broadcast.

        Connected names are grouped in the order of their first names; each group lists the facts about single names,
        then the joins, long ones first. The members of a join are in the order of the operands.
        """
        if self.verdict is not _SOMETIMES:
            return [] if self.verdict is _ALWAYS else [FALSE]
        held = self._facts()
        column_of: dict[Members, tuple[Name, ...]] = {}
        for number, column in zip(self._numbers, self._columns(held), strict=True):
            if number == 1 and len(column) > 1:
                column_of.setdefault(tuple(sorted(column)), tuple(column.values()))
        found: list[Formula] = []
        names = self.names if held else []
        for members, number in conjuncts(column_of, held):
            found.append(formula(column_of[members] if len(members) > 1 else (names[members[0]],), number))
        return found

    def output(self) -> tuple[OutputDim, ...] | None:
        """Return the output shape wherever the condition holds, joins in the order of the names; None for never."""
        if self.verdict is _NEVER:
            return None
        found: list[OutputDim] = []
        for number, column in zip(self._numbers, self._columns(self._facts()), strict=True):
            if number != 1 or not column:
                found.append(number)
            else:
                names = tuple([column[place] for place in sorted(column)])
                found.append(names if len(names) > 1 else names[0])
        return tuple(found)

    def witness(self) -> dict[Name, int] | None:
        """Return the smallest sizes at which the shapes broadcast; None if there are none."""
        return None if self.verdict is _NEVER else dict.fromkeys(self.names, 1)

    def counterexample(self) -> dict[Name, int] | None:
        """Return the smallest sizes at which the shapes do not broadcast; None if they always do."""
        if self.verdict is _ALWAYS:
            return None
        sizes = dict.fromkeys(self.names, 1)
        if self.verdict is _SOMETIMES:
            names = [*sizes]
            columns = zip(self._numbers, self._columns({}), strict=True)
            joins = [tuple(sorted(column)) for number, column in columns if number == 1]
            for position, size in smallest_break(joins, self._facts()).items():
                sizes[names[position]] = size
        return sizes

    @property
    def conflict(self) -> Conflict | None:
        """The first two operands that clash on the first axis with a clash; None unless the verdict is never."""
        return first_conflict(self.shapes) if self.verdict is _NEVER else None

    def _names_and_places(self) -> tuple[list[Name], dict[int, int]]:
        """Return the names, and their positions by identity: their hashes may be slow; the shapes keep them alive."""
        if self._placed is None:
            names: list[Name] = []
            places: dict[int, int] = {}
            for shape in self.shapes:
                for size in shape:
                    if type(size) is not int and id(size) not in places:
                        places[id(size)] = len(names)
                        names.append(size)
            self._placed = names, places
        return self._placed

    def _facts(self) -> dict[int, int]:
        """Return the integer that each name which meets one is unless it is 1; 1 for a name that meets two."""
        if self._held is None:
            held: dict[int, int] = {}
            if any(number != 1 for number in self._numbers):
                for number, column in zip(self._numbers, self._columns({}), strict=True):
                    if number != 1:
                        for place in column:
                            held[place] = number if held.get(place, number) == number else 1
            self._held = held
        return self._held

    def _columns(self, held: Mapping[int, int]) -> list[dict[int, Name]]:
        """Return the names of each axis by position, in the order of the operands, without those that are 1."""
        found = self._laid
        if found is None:
            _, places = self._names_and_places()
            found = self._laid = [{} for _ in self._numbers]
            for shape in self.shapes:
                axis = len(found) - len(shape)
                for size in shape:
                    if type(size) is not int:
                        found[axis][places[id(size)]] = size
                    axis += 1
        if 1 in held.values():
            return [{place: name for place, name in column.items() if held.get(place) != 1} for column in found]
        return found


def _meet_number(names: list[Name], numbers: list[int]) -> bool:
    """Return whether a name meets an integer other than 1 on any axis."""
    return any(number != 1 and name is not None for name, number in zip(names, numbers))  # noqa: B905 - it costs


def first_conflict(shapes: Sequence[Sequence[Any]]) -> Conflict | None:
    """Return the first pair of operands, on the first axis, with different integers other than 1."""
    rank = max(map(len, shapes), default=0)
    for axis in range(rank):
        first = -1
        for position, shape in enumerate(shapes):
            back = rank - axis
            size = shape[-back] if len(shape) >= back else 1
            if type(size) is not int or size < 0 or size == 1:
                continue
            if first < 0:
                first = position
            elif shapes[first][-back] != size:
                return Conflict(axis, rank, first, position)
    return None
