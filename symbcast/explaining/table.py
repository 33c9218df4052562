"""The operands under each other, the output under them, and a mark under each axis."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.display.text import Row
from symbcast.explaining.alignment import Alignment, Mark
from symbcast.explaining.evidence import clashing_pair
from symbcast.explaining.naming import Namer, cut, operand_names

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

MAX_AXES = 12
MAX_OPERANDS = 9
CELLS_WIDTH = 84
WIDEST_CELL = 40
LABEL_WIDTH = 24
MEANINGS = {
    Mark.FINE: "fine",
    Mark.CONDITIONAL: "depends on the sizes",
    Mark.IMPOSSIBLE: "impossible",
    Mark.UNDECIDED: "not decided",
}
"""What each mark says of an axis."""


class OperandTable:
    """The rows that show an alignment: the middle operands and axes are left out where there are many.

    ``header`` and ``marks`` are the rows above and below; ``legend`` says what the marks in use mean. ``axes`` are
    those that are shown, None for some that are left out; ``mark_of`` tells how each of them fares.
    """

    def __init__(self, alignment: Alignment, max_operands: int = MAX_OPERANDS, cells_width: int = CELLS_WIDTH) -> None:
        self._alignment = alignment
        self._namer = Namer(alignment.result)
        self._max_operands = max_operands
        self.axes = _chosen_axes(alignment)
        self._cell_width = max(7, min(WIDEST_CELL, cells_width // max(1, len(self.axes)) - 2))
        self.mark_of = {a: alignment.mark(a) for a in self.axes if a is not None}

    @property
    def header(self) -> list[Row]:
        """The axes, counted from the front and from the end."""
        rank = self._alignment.places.rank
        inside = {a: 0 <= a < rank for a in self.axes if a is not None}
        return [
            Row("axis", tuple("..." if a is None else str(a) if inside[a] else "over" for a in self.axes)),
            Row("from end", tuple("" if a is None else str(a - rank) if inside[a] else "" for a in self.axes)),
        ]

    @property
    def operands(self) -> list[Row]:
        """A row for each operand that is shown."""
        return [Row(label, tuple(self._cell(n, a) for a in self.axes)) for n, label in self.chosen]

    @cached_property
    def chosen(self) -> list[tuple[int | None, str]]:
        """The operands that are shown, with what they are called; one of None says how many are not."""
        names = operand_names(self._alignment.result)
        chosen = self._chosen_operands(len(names))
        left_out = f"... {len(names) - len(chosen) + 1} more"
        return [(n, left_out if n is None else cut(names[n], LABEL_WIDTH)) for n in chosen]

    def dims(self, operand: int, axis: int) -> list[Dim]:
        """Return the dimensions that an operand has on an axis: mostly one, none where it does not reach."""
        return [d for n, d in self._alignment.cells(axis) if n == operand]

    @property
    def output(self) -> Row | None:
        """The row of the output shape."""
        shape = self._alignment.result.shape
        if shape is None:
            return None
        inside = range(len(shape))
        cells = (
            "..." if a is None else self._cut(self._namer.dim(shape.dims[a])) if a in inside else "" for a in self.axes
        )
        return Row("output", tuple(cells))

    @property
    def marks(self) -> Row:
        """How each axis fares."""
        return Row("", tuple("" if a is None else self.mark_of[a].value for a in self.axes))

    @property
    def used_marks(self) -> list[Mark]:
        """The marks in use, each once."""
        return [mark for mark in MEANINGS if mark in self.mark_of.values()]

    @property
    def legend(self) -> str:
        """What the marks in use mean."""
        return ", ".join(f"{mark.value} {MEANINGS[mark]}" for mark in self.used_marks)

    def _cell(self, operand: int | None, axis: int | None) -> str:
        if operand is None:
            return ""
        return "..." if axis is None else self._cut(" & ".join(map(self._namer.bounded, self.dims(operand, axis))))

    def _cut(self, text: str) -> str:
        return cut(text, self._cell_width)

    def _chosen_operands(self, count: int) -> list[int | None]:
        """Return the operands to show: the first and last ones and those that clash; None stands for the others."""
        if count <= self._max_operands:
            return list(range(count))
        half = self._max_operands // 2
        kept = {*range(half), *range(count - half, count)}
        for axis in self._alignment.clashing[:1]:
            kept.update(n for n, _ in self._differing(axis))
        # One gap is shown, so that the rows stay in order of the call: where the first operand is missing.
        gap = next(n for n in range(count) if n not in kept)
        return [None if n == gap else n for n in range(count) if n in kept or n == gap]

    def _differing(self, axis: int) -> list[tuple[int, Dim]]:
        cells = self._alignment.cells(axis)
        return list(clashing_pair(cells)) if len(cells) > 1 else cells


def _chosen_axes(alignment: Alignment) -> list[int | None]:
    axes = alignment.all_axes
    if len(axes) <= MAX_AXES:
        return list(axes)
    half = MAX_AXES // 2 - 1
    kept = {*axes[:half], *axes[len(axes) - half :], *alignment.clashing[:2]}
    found: list[int | None] = []
    for axis in axes:
        if axis in kept:
            found.append(axis)
        elif found[-1] is not None:
            found.append(None)
    return found
