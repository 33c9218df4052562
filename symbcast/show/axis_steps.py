"""One binding worked out axis by axis, as a document."""

from __future__ import annotations

from symbcast.explanation.alignment import Mark
from symbcast.explanation.axis_steps import Step, Working
from symbcast.show.document import Document, Line, Lines, Part, Row, Span, Table, Tone

_TONES = {Mark.FINE: Tone.FINE, Mark.IMPOSSIBLE: Tone.IMPOSSIBLE}


def document(working: Working) -> Document:
    """Return a row for each axis: the sizes that meet there, a mark, and what comes out or why nothing does."""
    if working.shape is None:
        why = working.problem or "the shapes do not broadcast at these sizes"
        outcome: Line = (_mark(Mark.IMPOSSIBLE), Span(f" {why}"))
    else:
        outcome = (_mark(Mark.FINE), Span(" output "), Span(str(working.shape), True))
    return Document((), None, (*([_table(working)] if working.steps else []), Lines((outcome,))))


def _table(working: Working) -> Table:
    heads = tuple(map(Span, (*working.operands, "", "output")))
    return Table(
        "the axes at these sizes", (Row("axis", heads, Part.HEAD), *map(_row, working.steps)), (), "l" * len(heads)
    )


def _row(step: Step) -> Row:
    cells = (Span(text, True) for text in step.cells)
    return Row(step.axis, (*cells, _mark(step.mark), Span(step.output or step.reason)))


def _mark(mark: Mark) -> Span:
    return Span(mark.value, tone=_TONES[mark])
