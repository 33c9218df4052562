"""Aligned operands with the output below them and a mark below each axis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from symbcast.answers.explanation.alignment import Alignment, Mark
from symbcast.answers.explanation.evidence import clashing_pair
from symbcast.answers.show.document import Part, Pieces, Row, Span, Table, Tone
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import cut
from symbcast.core.verdicts import Verdict

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
_TONES = {mark: Tone[mark.name] for mark in Mark}
_MARKS = {mark: Span(mark.value, tone=_TONES[mark]) for mark in Mark}
_GAP = Span("...", True, math=Pieces(("...",)))
TONES = {
    Verdict.ALWAYS: Tone.FINE,
    Verdict.SOMETIMES: Tone.CONDITIONAL,
    Verdict.NEVER: Tone.IMPOSSIBLE,
    Verdict.UNKNOWN: Tone.UNDECIDED,
}


def operand_table(aligned: Alignment, cells_width: int = 84) -> Table:
    """Return the aligned operands, with the axes above, and the output, marks and a legend below.

    The middle operands and axes are left out if there are many.
    """
    made = _Operands(aligned, MAX_OPERANDS, cells_width)
    if not made.axes:
        return Table("the operands, aligned", tuple(made.scalars()))
    rows = (*made.header(), *made.operands(), *made.output(), made.marks())
    return Table("the operands, aligned", rows, made.legend())


def brief_table(aligned: Alignment, most: int) -> Table:
    """Return only some operands and the marks, without axes or legend; no rows for operands without axes."""
    made = _Operands(aligned, most, 84)
    return Table("the operands, aligned", (*made.operands(), made.marks()) if made.axes else ())


class _Operands:
    """Builds the rows; ``axes`` are the shown ones, with None for a gap."""

    def __init__(self, aligned: Alignment, max_operands: int, cells_width: int) -> None:
        self._aligned = aligned
        self._namer = aligned.namer
        self._max_operands = max_operands
        self.axes = _chosen_axes(aligned)
        self._cell_width = max(7, min(WIDEST_CELL, cells_width // max(1, len(self.axes)) - 2))
        self._marks = {a: aligned.mark(a) for a in self.axes if a is not None}
        self._tones = {a: _TONES[mark] for a, mark in self._marks.items()}

    def header(self) -> Iterator[Row]:
        """Yield the axes, counted from the front and from the end."""
        rank, sequence = self._aligned.places.rank, self._aligned.sequence
        fronts = ["..." if a is None else a if 0 <= a < rank else "over" for a in self.axes]
        backs = [a - rank if a is not None and 0 <= a < rank else "" for a in self.axes]
        if sequence is not None:
            fronts = ["" if a is not None and a > sequence else t for a, t in zip(self.axes, fronts, strict=True)]
            backs = ["" if a is not None and a < sequence else t for a, t in zip(self.axes, backs, strict=True)]
            place = self.axes.index(sequence)
            fronts[place] = backs[place] = "each"
        for label, places in (("axis", fronts), ("from end", backs)):
            if sequence is None or not {"", "each"}.issuperset(places):
                yield Row(label, tuple(map(_head, places)), Part.HEAD)

    def operands(self) -> Iterator[Row]:
        """Yield a row for each operand that is shown."""
        for operand, label in self._chosen():
            yield Row(label, tuple([self._cell(operand, axis) for axis in self.axes]))

    def output(self) -> Iterator[Row]:
        """Yield the row of the output shape, if there is one."""
        shape = self._aligned.result.laid_output
        if shape is not None:
            found = [[shape[a]] if a is not None and 0 <= a < len(shape) else [] for a in self.axes]
            cells = zip(self.axes, found, strict=True)
            yield Row("output", tuple([self._of(a, dims, is_bounded=False) for a, dims in cells]), Part.RESULT)

    def scalars(self) -> Iterator[Row]:
        """Yield the rows of operands without axes."""
        result = self._aligned.result
        cell = Span("()", True, TONES[result.verdict], Pieces(("()",)))
        for _, label in self._chosen():
            yield Row(label, (cell,))
        if result.shape is not None:
            yield Row("output", (cell,), Part.RESULT)

    def marks(self) -> Row:
        """Return the status of each axis."""
        cells = [_MARKS[self._marks[a]] if a is not None else Span("") for a in self.axes]
        return Row("fits", tuple(cells), Part.MARKS)

    def legend(self) -> tuple[tuple[Span, str], ...]:
        """Return the marks in use, with their meanings."""
        used = self._marks.values()
        return tuple([(_MARKS[mark], meaning) for mark, meaning in MEANINGS.items() if mark in used])

    def _cell(self, operand: int | None, axis: int | None) -> Span:
        if operand is None:
            return Span("", True, None if axis is None else self._tones[axis])
        dims = [] if axis is None else self._aligned.sizes(operand, axis)
        return self._of(axis, dims, is_bounded=True)

    def _of(self, axis: int | None, dims: list[Dim], is_bounded: bool) -> Span:
        """Return a cell of the dimensions on an axis: usually one, or none if the operand does not reach it."""
        if axis is None:
            return _GAP
        namer = self._namer
        texts: list[str] = []
        pieces: list[Dim | str] = []
        for dim in dims:
            text = namer.bounded(dim) if is_bounded else namer.dim(dim)
            texts.append(text)
            # An unknown with bounds has no mathematics, and stays text.
            pieces.append(text if is_bounded and isinstance(dim, Unknown) else namer.renamed(dim))
        text = texts[0] if len(texts) == 1 else " & ".join(texts)
        return Span(cut(text, self._cell_width), True, self._tones[axis], Pieces(tuple(pieces)))

    def _chosen(self) -> list[tuple[int | None, str]]:
        """Return the shown operands with their names; an entry for None says how many are left out."""
        names = self._aligned.names
        if len(names) <= self._max_operands:
            return [(n, cut(name, LABEL_WIDTH)) for n, name in enumerate(names)]
        chosen = self._chosen_operands(len(names))
        left_out = f"... {len(names) - len(chosen) + 1} more"
        return [(n, left_out if n is None else cut(names[n], LABEL_WIDTH)) for n in chosen]

    def _chosen_operands(self, count: int) -> list[int | None]:
        """Return the operands to show: the first and last ones and those that clash; None represents the others."""
        half = self._max_operands // 2
        kept = {*range(half), *range(count - half, count)}
        for axis in self._aligned.clashing[:1]:
            kept.update(n for n, _ in self._differing(axis))
        # Show one gap, where the first operand is missing, so that the rows keep the order of the call.
        gap = next((n for n in range(count) if n not in kept), None)
        return [None if n == gap else n for n in range(count) if n in kept or n == gap]

    def _differing(self, axis: int) -> list[tuple[int, Dim]]:
        cells = self._aligned.cells(axis)
        return list(clashing_pair(cells)) if len(cells) > 1 else cells


@lru_cache(maxsize=256)
def _head(place: int | str) -> Span:
    return Span(str(place), math=Pieces((place,)) if isinstance(place, int) else None)


def _chosen_axes(aligned: Alignment) -> list[int | None]:
    axes = aligned.all_axes
    if len(axes) <= MAX_AXES:
        return list(axes)
    half = MAX_AXES // 2 - 1
    kept = {*axes[:half], *axes[len(axes) - half :], *aligned.clashing[:2]}
    found: list[int | None] = []
    for axis in axes:
        if axis in kept:
            found.append(axis)
        elif found[-1] is not None:
            found.append(None)
    return found
