"""One binding evaluated axis by axis, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symbcast.answers.explanation.alignment import Mark
from symbcast.answers.explanation.axis_steps import Step, Working
from symbcast.answers.show.document import Document, Line, Lines, Part, Row, Span, Table, Tone
from symbcast.core.characters import listed

MOST_COLUMNS = 4
"""Up to this many operands get a column each."""
_TONES = {Mark.FINE: Tone.FINE, Mark.IMPOSSIBLE: Tone.IMPOSSIBLE}


def document(working: Working) -> Document:
    """Return the sizes that meet on each axis with a mark and the output size, or why there is none."""
    return Document((), None, (*([_table(working)] if working.steps else []), Lines(tuple(_outcome(working)))))


def _outcome(working: Working) -> Iterator[Line]:
    """Yield the output, or why there is none: the axes that fail, grouped by reason."""
    if working.shape is not None:
        yield _mark(Mark.FINE), Span(" output "), Span(str(working.shape), True)
        return
    reasons: dict[str, list[str]] = {}
    for step in working.steps:
        if step.reason:
            reasons.setdefault(step.reason, []).append(step.axis)
    found = [f"{_axes(axes)}: {reason}" for reason, axes in reasons.items()]
    for why in filter(None, (working.problem, *found)) if working.problem or found else [_REFUSED]:
        yield _mark(Mark.IMPOSSIBLE), Span(f" {why}")


_REFUSED = "the shapes do not broadcast at these sizes"


def _axes(axes: Sequence[str]) -> str:
    """Return axes by number; axes outside the output have none."""
    numbers = [axis for axis in axes if axis != "over"]
    named = [f"{'axis' if len(numbers) == 1 else 'axes'} {listed(numbers)}"] if numbers else []
    return listed([*named, *(["axes outside the output"] if len(numbers) < len(axes) else [])])


def _table(working: Working) -> Table:
    """Return a row for each axis; if there are many operands, a row for each operand, with a column for each axis."""
    if len(working.operands) > MOST_COLUMNS:
        return _operands(working)
    heads = tuple(map(Span, (*working.operands, "", "output")))
    return Table(
        "the axes at these sizes", (Row("axis", heads, Part.HEAD), *map(_row, working.steps)), (), "l" * len(heads)
    )


def _row(step: Step) -> Row:
    cells = (Span(text, True) for text in step.cells)
    return Row(step.axis, (*cells, _mark(step.mark), Span(step.output, True)))


def _operands(working: Working) -> Table:
    steps = working.steps
    rows = [Row("axis", tuple(Span(step.axis) for step in steps), Part.HEAD)]
    for n, name in enumerate(working.operands):
        rows.append(Row(name, tuple(Span(step.cells[n], True) for step in steps)))
    rows.append(Row("output", tuple(Span(step.output, True) for step in steps), Part.RESULT))
    rows.append(Row("fits", tuple(_mark(step.mark) for step in steps), Part.MARKS))
    return Table("the axes at these sizes", tuple(rows))


def _mark(mark: Mark) -> Span:
    return Span(mark.value, tone=_TONES[mark])
