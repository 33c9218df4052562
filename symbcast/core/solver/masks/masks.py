"""Tier F1 for one broadcast of names and integers by NumPy's rule, without assumptions: exact, on bit masks.

Each name has a bit, in order of first appearance; an axis is a mask of names and at most one integer other than 1.
Every name may be 1 at once. So the broadcast is impossible exactly if two different integers other than 1 meet on one
axis; otherwise all sizes 1 is the smallest witness. `symbcast.core.solver.masks.mask_clauses` proves that the
conditions are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.solver.masks.mask_clauses import Held, Name, bits, conjuncts, formula, smallest_break
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

    ``names`` are the symbols in order of first appearance.

    >>> question = Masks((("N", 3), ("M", 1)))
    >>> question.verdict, question.clauses(), question.output()
    (<Verdict.SOMETIMES: 'sometimes'>, [Compatible(('N', 'M'))], (('N', 'M'), 3))
    """

    __slots__ = ("_held", "_masks", "_numbers", "names", "shapes", "verdict")

    def __init__(self, shapes: Sequence[tuple[Size, ...]]) -> None:
        rank = 0
        for shape in shapes:
            if len(shape) > rank:  # noqa: PLR1730 - as a call it takes three times as long
                rank = len(shape)
        masks, numbers = [0] * rank, [1] * rank
        names: list[Name] = []
        # Compare by identity: hashing a symbol may be slow, and the shapes keep every symbol alive meanwhile.
        bit_of: dict[int, int] = {}
        clash = False
        for shape in shapes:
            axis = rank - len(shape)
            for size in shape:
                if type(size) is int:
                    if size != 1:
                        if numbers[axis] == 1:
                            numbers[axis] = size
                        elif numbers[axis] != size:
                            clash = True
                else:
                    key = id(size)
                    if key in bit_of:
                        masks[axis] |= bit_of[key]
                    else:
                        bit_of[key] = bit = 1 << len(names)
                        names.append(size)
                        masks[axis] |= bit
                axis += 1
        self.shapes = shapes
        self.names = names
        self._masks = masks
        self._numbers = numbers
        self._held: Held | None = None
        self.verdict = _NEVER if clash else _verdict(masks, numbers)

    def clauses(self) -> list[Formula]:
        """Return the conjuncts of the condition, irredundant; only `FALSE` if no sizes broadcast.

        Connected names are grouped in the order of their first names; each group lists the facts about single names,
        then the joins, long ones first. The members of a join are in the order of the operands.
        """
        if self.verdict is not _SOMETIMES:
            return [] if self.verdict is _ALWAYS else [FALSE]
        held = self._facts()
        axis_of: dict[int, int] = {}
        known = ~held.ones
        for axis, (number, given) in enumerate(zip(self._numbers, self._masks, strict=True)):
            mask = given & known
            if number == 1 and mask & (mask - 1) and mask not in axis_of:
                axis_of[mask] = axis
        found: list[Formula] = []
        for mask, number in conjuncts(axis_of, held):
            members = self._members(axis_of[mask], mask) if mask in axis_of else (self.names[mask.bit_length() - 1],)
            found.append(formula(members, number))
        return found

    def output(self) -> tuple[OutputDim, ...] | None:
        """Return the output shape wherever the condition holds, joins in the order of the names; None for never."""
        if self.verdict is _NEVER:
            return None
        known = ~self._facts().ones
        names = self.names
        found: list[OutputDim] = []
        for number, given in zip(self._numbers, self._masks, strict=True):
            mask = given & known
            if number != 1 or not mask:
                found.append(number)
            elif mask & (mask - 1):
                found.append(tuple([names[n] for n in bits(mask)]))
            else:
                found.append(names[mask.bit_length() - 1])
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
            joins = [mask for mask, number in zip(self._masks, self._numbers, strict=True) if number == 1]
            for position, size in smallest_break(joins, self._facts()).items():
                sizes[self.names[position]] = size
        return sizes

    @property
    def conflict(self) -> Conflict | None:
        """The first two operands that clash on the first axis with a clash; None unless the verdict is never."""
        return first_conflict(self.shapes) if self.verdict is _NEVER else None

    def _facts(self) -> Held:
        if self._held is None:
            self._held = held = Held()
            for number, mask in zip(self._numbers, self._masks, strict=True):
                if number != 1 and mask:
                    held.add(number, mask)
        return self._held

    def _members(self, axis: int, mask: int) -> tuple[Name, ...]:
        """Return the names of a mask in the order in which they appear in the operands on an axis."""
        back = len(self._masks) - axis
        column = [shape[-back] for shape in self.shapes if len(shape) >= back]
        if not self._held:
            return tuple({id(size): size for size in column if type(size) is not int}.values())
        wanted = {id(self.names[n]) for n in bits(mask)}
        return tuple({id(size): size for size in column if id(size) in wanted}.values())


def joint_verdict(joins: Iterable[Sequence[Size]]) -> Verdict:
    """Return the verdict of some joins of names and integers together.

    >>> joint_verdict([("N", 1), (3, 1, 3)]), joint_verdict([("N", 3)]), joint_verdict([("N", "M"), (3, 4)])
    (<Verdict.ALWAYS: 'always'>, <Verdict.SOMETIMES: 'sometimes'>, <Verdict.NEVER: 'never'>)
    """
    found = [{size for size in sizes if size != 1} for sizes in joins]
    if any(sum(type(size) is int for size in sizes) > 1 for sizes in found):
        return _NEVER
    return _SOMETIMES if any(len(sizes) > 1 for sizes in found) else _ALWAYS


def _verdict(masks: list[int], numbers: list[int]) -> Verdict:
    """Return whether any axis has a requirement, given that no integers clash: two names, or a name and an integer."""
    for mask, number in zip(masks, numbers):  # noqa: B905 - equally long, and strict costs
        if mask and (number != 1 or mask & (mask - 1)):
            return _SOMETIMES
    return _ALWAYS


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
