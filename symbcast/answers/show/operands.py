"""Aligned operands with the output below them and a mark below each axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.answers.explanation.alignment import Alignment, Mark
from symbcast.answers.explanation.evidence import clashing_pair
from symbcast.answers.explanation.names import Namer, operand_names
from symbcast.answers.show.document import Part, Pieces, Row, Span, Table, Tone
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import cut
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.program.calls.call import Call

MAX_AXES = 12
MAX_OPERANDS = 9
WIDEST_CELL = 40
LABEL_WIDTH = 24
MEANINGS = {
    Mark.FINE: "fine",
    Mark.CONDITIONAL: "depends on the sizes",
    Mark.IMPOSSIBLE: "impossible",
    Mark.UNDECIDED: "not decided",
}
"""The meaning of each mark on an axis."""
TONES = {
    Verdict.ALWAYS: Tone.FINE,
    Verdict.SOMETIMES: Tone.CONDITIONAL,
    Verdict.NEVER: Tone.IMPOSSIBLE,
    Verdict.UNKNOWN: Tone.UNDECIDED,
}


def operand_table(result: Call, cells_width: int = 84) -> Table:
    """Return the aligned operands, with the axes above, and the output, marks and a legend below.

    The middle operands and axes are left out if there are many.
    """
    made = _Operands(result, MAX_OPERANDS, cells_width)
    if not made.axes:
        return Table("the operands, aligned", tuple(made.scalars()))
    rows = (*made.header(), *made.operands(), *made.output(), made.marks())
    return Table("the operands, aligned", rows, made.legend())


def brief_table(result: Call, most: int) -> Table:
    """Return only some operands and the marks, without axes or legend; no rows for operands without axes."""
    made = _Operands(result, most, 84)
    return Table("the operands, aligned", (*made.operands(), made.marks()) if made.axes else ())


class _Operands:
    """Builds the rows; ``axes`` are the shown ones, with None for a gap."""

    def __init__(self, result: Call, max_operands: int, cells_width: int) -> None:
        self._result = result
        self._alignment = Alignment(result)
        self._namer = Namer(result)
        self._max_operands = max_operands
        self.axes = _chosen_axes(self._alignment)
        self._cell_width = max(7, min(WIDEST_CELL, cells_width // max(1, len(self.axes)) - 2))
        self._marks = {a: self._alignment.mark(a) for a in self.axes if a is not None}

    def header(self) -> Iterator[Row]:
        """Yield the axes, counted from the front and from the end."""
        rank, sequence = self._alignment.places.rank, self._alignment.sequence
        inside = {a: 0 <= a < rank for a in self.axes if a is not None}
        fronts = ["..." if a is None else str(a) if inside[a] else "over" for a in self.axes]
        backs = ["" if a is None else str(a - rank) if inside[a] else "" for a in self.axes]
        if sequence is not None:
            fronts = ["" if a is not None and a > sequence else t for a, t in zip(self.axes, fronts, strict=True)]
            backs = ["" if a is not None and a < sequence else t for a, t in zip(self.axes, backs, strict=True)]
            place = self.axes.index(sequence)
            fronts[place] = backs[place] = "each"
        for label, texts in (("axis", fronts), ("from end", backs)):
            if sequence is not None and not any(t for t in texts if t != "each"):
                continue
            yield Row(label, tuple(Span(t, math=_number(t)) for t in texts), Part.HEAD)

    def operands(self) -> Iterator[Row]:
        """Yield a row for each operand that is shown."""
        for operand, label in self._chosen():
            yield Row(label, tuple(self._cell(operand, axis) for axis in self.axes))

    def output(self) -> Iterator[Row]:
        """Yield the row of the output shape, if there is one."""
        shape = self._result.laid_output
        if shape is not None:
            found = [[shape[a]] if a is not None and 0 <= a < len(shape) else [] for a in self.axes]
            cells = zip(self.axes, found, strict=True)
            yield Row("output", tuple(self._of(a, dims, is_bounded=False) for a, dims in cells), Part.RESULT)

    def scalars(self) -> Iterator[Row]:
        """Yield the rows of operands without axes."""
        cell = Span("()", True, TONES[self._result.verdict], Pieces(("()",)))
        for _, label in self._chosen():
            yield Row(label, (cell,))
        if self._result.shape is not None:
            yield Row("output", (cell,), Part.RESULT)

    def marks(self) -> Row:
        """Return the status of each axis."""
        cells = (Span("" if a is None else self._marks[a].value, tone=self._tone(a)) for a in self.axes)
        return Row("fits", tuple(cells), Part.MARKS)

    def legend(self) -> tuple[tuple[Span, str], ...]:
        """Return the marks in use, with their meanings."""
        used = [mark for mark in MEANINGS if mark in self._marks.values()]
        return tuple((Span(mark.value, tone=Tone[mark.name]), MEANINGS[mark]) for mark in used)

    def _tone(self, axis: int | None) -> Tone | None:
        return None if axis is None else Tone[self._marks[axis].name]

    def _cell(self, operand: int | None, axis: int | None) -> Span:
        if operand is None:
            return Span("", True, self._tone(axis))
        dims = [] if axis is None else [d for n, d in self._alignment.cells(axis) if n == operand]
        return self._of(axis, dims, is_bounded=True)

    def _of(self, axis: int | None, dims: list[Dim], is_bounded: bool) -> Span:
        """Return a cell of the dimensions on an axis: usually one, or none if the operand does not reach it."""
        if axis is None:
            return Span("...", True, math=Pieces(("...",)))
        write = self._namer.bounded if is_bounded else self._namer.dim
        text = cut(" & ".join(map(write, dims)), self._cell_width)
        return Span(text, True, self._tone(axis), Pieces(tuple(self._piece(d, is_bounded) for d in dims)))

    def _piece(self, dim: Dim, is_bounded: bool) -> Dim | str:
        """Return a dimension to typeset as mathematics; an unknown with bounds stays text."""
        if isinstance(dim, int):
            return dim
        return self._namer.bounded(dim) if is_bounded and isinstance(dim, Unknown) else self._namer.renamed(dim)

    def _chosen(self) -> list[tuple[int | None, str]]:
        """Return the shown operands with their names; an entry for None says how many are left out."""
        names = operand_names(self._result)
        chosen = self._chosen_operands(len(names))
        left_out = f"... {len(names) - len(chosen) + 1} more"
        return [(n, left_out if n is None else cut(names[n], LABEL_WIDTH)) for n in chosen]

    def _chosen_operands(self, count: int) -> list[int | None]:
        """Return the operands to show: the first and last ones and those that clash; None represents the others."""
        if count <= self._max_operands:
            return list(range(count))
        half = self._max_operands // 2
        kept = {*range(half), *range(count - half, count)}
        for axis in self._alignment.clashing[:1]:
            kept.update(n for n, _ in self._differing(axis))
        # Show one gap, where the first operand is missing, so that the rows keep the order of the call.
        gap = next(n for n in range(count) if n not in kept)
        return [None if n == gap else n for n in range(count) if n in kept or n == gap]

    def _differing(self, axis: int) -> list[tuple[int, Dim]]:
        cells = self._alignment.cells(axis)
        return list(clashing_pair(cells)) if len(cells) > 1 else cells


def _number(text: str) -> Pieces | None:
    return Pieces((int(text),)) if text.removeprefix("-").isdecimal() else None


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
