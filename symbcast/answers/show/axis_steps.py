"""One binding evaluated axis by axis: the sizes that meet, the output size or why there is none; as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.evidence import Alignment, AxisMark, at_sizes, failure_at, refusal_reason
from symbcast.answers.explanation.words import Namer
from symbcast.answers.show.document import Document, Line, Lines, Part, Row, Span, Table, Tone
from symbcast.core.algebra.formulas import holds
from symbcast.core.characters import prose_list
from symbcast.core.rules.broadcast_rule import members_of
from symbcast.core.shapes import sizes_of
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError

if TYPE_CHECKING:
    from symbcast.core.programs.broadcast_call import BroadcastCall


# One binding evaluated axis by axis: the sizes that meet, and the output size or why there is none.


class AxisStep(NamedTuple):
    """One axis at some sizes: each operand's size there ("" for none), and the output size or why there is none."""

    axis: str
    cells: tuple[str, ...]
    mark: AxisMark
    output: str
    reason: str


class AxisSteps(NamedTuple):
    """A broadcast evaluated at some sizes.

    ``shape`` is the output, None if the rule refuses; ``problem`` is a failure that belongs to no axis: a dimension is
    not a size there, the assumptions exclude the sizes, or the rule refuses a rank.
    """

    operands: tuple[str, ...]
    steps: tuple[AxisStep, ...]
    shape: tuple[int, ...] | None
    problem: str = ""


def axis_steps_at(result: BroadcastCall, sizes: Mapping[str, int]) -> AxisSteps:
    """Return a result evaluated at the given sizes, by name.

    Raises `BindingError` for missing or unknown sizes; if the assumptions exclude the sizes, ``problem`` says so.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> for step in axis_steps_at(call_of(broadcast("N, 3", "M, 1")), {"N": 2, "M": 4}).steps:
    ...     print(step.axis, step.cells, step.output or step.reason)
    0 ('N = 2', 'M = 4') sizes must be equal or 1
    1 ('3', '1') 3
    """
    symbolic = Alignment(result)
    names = tuple(symbolic.names)
    try:
        concrete = at_sizes(result, sizes)
    except BindingError as error:
        if set(sizes) != set(result.shown.values()):
            raise
        return AxisSteps(names, (), None, error.problem)
    if concrete is None:
        return AxisSteps(names, (), None, failure_at(symbolic, sizes))
    aligned = Alignment(concrete)
    steps = _steps(symbolic, aligned)
    if concrete.shape is not None:
        return AxisSteps(names, steps, sizes_of(concrete.shape))
    return AxisSteps(names, steps, None, _refusals(aligned))


def _refusals(aligned: Alignment) -> str:
    """Return why the shapes' ranks do not fit: a failure that belongs to no axis."""
    failing = (c for c in aligned.result.constraints if not holds(c.requirement) and not aligned.axes_of(c))
    return "; ".join(dict.fromkeys(refusal_reason(c, aligned) for c in failing))


def _steps(symbolic: Alignment, aligned: Alignment) -> tuple[AxisStep, ...]:
    """Return the axes of a broadcast at some sizes, given how it is aligned without and with them."""
    concrete, namer = aligned.result, symbolic.namer
    rank = aligned.places.rank
    broken: dict[int, dict[str, None]] = {}
    for constraint in concrete.constraints:
        if not holds(constraint.requirement):
            for axis in aligned.axes_of(constraint):
                broken.setdefault(axis, {})[constraint.reason] = None
    steps = []
    for axis in aligned.all_axes:
        cells = tuple(_cell(n, axis, symbolic, aligned, namer) for n in range(len(aligned.names)))
        mark = AxisMark.IMPOSSIBLE if axis in broken else AxisMark.FINE
        output = "" if axis in broken or not 0 <= axis < rank else _output(concrete, axis)
        name = str(axis) if 0 <= axis < rank else "over"
        steps.append(AxisStep(name, cells, mark, output, "; ".join(broken.get(axis, ()))))
    return tuple(steps)


def _cell(operand: int, axis: int, symbolic: Alignment, concrete: Alignment, namer: Namer) -> str:
    """Return an operand's dimension and size on an axis, or only the size if the dimension is a number."""
    cells = zip(symbolic.sizes(operand, axis), concrete.sizes(operand, axis), strict=True)
    texts = (str(size) if isinstance(dim, int) else f"{namer.dim(dim)} = {size}" for dim, size in cells)
    return " & ".join(texts)


def _output(concrete: BroadcastCall, axis: int) -> str:
    """Return the output size of an axis that does not fail."""
    if concrete.verdict is Verdict.ALWAYS:
        assert concrete.shape is not None
        return str(concrete.shape[axis])
    output = concrete.emission.output
    if axis >= len(output):
        return ""
    members = members_of(output[axis])
    return str(next((m for m in members if m != 1), 1))


# One binding evaluated axis by axis, as a document.


# Up to this many operands get a column each.
MOST_COLUMNS = 4
_TONES = {AxisMark.FINE: Tone.FINE, AxisMark.IMPOSSIBLE: Tone.IMPOSSIBLE}


def axis_steps_document(working: AxisSteps) -> Document:
    """Return the sizes that meet on each axis with a mark and the output size, or why there is none."""
    return Document((), None, (*([_table(working)] if working.steps else []), Lines(tuple(_outcome(working)))))


def _outcome(working: AxisSteps) -> Iterator[Line]:
    """Yield the output, or why there is none: the axes that fail, grouped by reason."""
    if working.shape is not None:
        yield _mark(AxisMark.FINE), Span(" output "), Span(str(working.shape), True)
        return
    reasons: dict[str, list[str]] = {}
    for step in working.steps:
        if step.reason:
            reasons.setdefault(step.reason, []).append(step.axis)
    refusals = [f"{_axes(axes)}: {reason}" for reason, axes in reasons.items()]
    for why in filter(None, (working.problem, *refusals)) if working.problem or refusals else [_REFUSED]:
        yield _mark(AxisMark.IMPOSSIBLE), Span(f" {why}")


_REFUSED = "the shapes do not broadcast at these sizes"


def _axes(axes: Sequence[str]) -> str:
    """Return axes by number; axes outside the output have none."""
    numbers = [axis for axis in axes if axis != "over"]
    named = [f"{'axis' if len(numbers) == 1 else 'axes'} {prose_list(numbers)}"] if numbers else []
    return prose_list([*named, *(["axes outside the output"] if len(numbers) < len(axes) else [])])


def _table(working: AxisSteps) -> Table:
    """Return a row for each axis; if there are many operands, a row for each operand, with a column for each axis."""
    if len(working.operands) > MOST_COLUMNS:
        return _operands(working)
    heads = tuple(map(Span, (*working.operands, "", "output")))
    return Table(
        "the axes at these sizes", (Row("axis", heads, Part.HEAD), *map(_row, working.steps)), (), "l" * len(heads)
    )


def _row(step: AxisStep) -> Row:
    cells = (Span(text, True) for text in step.cells)
    return Row(step.axis, (*cells, _mark(step.mark), Span(step.output, True)))


def _operands(working: AxisSteps) -> Table:
    steps = working.steps
    rows = [Row("axis", tuple(Span(step.axis) for step in steps), Part.HEAD)]
    for n, name in enumerate(working.operands):
        rows.append(Row(name, tuple(Span(step.cells[n], True) for step in steps)))
    rows.append(Row("output", tuple(Span(step.output, True) for step in steps), Part.RESULT))
    rows.append(Row("fits", tuple(_mark(step.mark) for step in steps), Part.MARKS))
    return Table("the axes at these sizes", tuple(rows))


def _mark(mark: AxisMark) -> Span:
    return Span(mark.value, tone=_TONES[mark])
