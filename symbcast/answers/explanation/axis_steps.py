"""One binding evaluated axis by axis: the sizes that meet, and the output size or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.explanation.alignment import Alignment, Mark
from symbcast.answers.explanation.evidence import at_sizes, failure_at, refusal
from symbcast.answers.explanation.names import Namer
from symbcast.core.broadcasting.outputs import members_of
from symbcast.core.logic.formulas import holds
from symbcast.core.shapes import sizes_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError

if TYPE_CHECKING:
    from symbcast.core.program.calls.call import Call


class Step(NamedTuple):
    """One axis at some sizes: each operand's size there ("" for none), and the output size or why there is none."""

    axis: str
    cells: tuple[str, ...]
    mark: Mark
    output: str
    reason: str


class Working(NamedTuple):
    """A broadcast evaluated at some sizes.

    ``shape`` is the output, None if the rule refuses; ``problem`` is a failure that belongs to no axis: a dimension is
    not a size there, the assumptions exclude the sizes, or the rule refuses a rank.
    """

    operands: tuple[str, ...]
    steps: tuple[Step, ...]
    shape: tuple[int, ...] | None
    problem: str = ""


def worked_out(result: Call, sizes: Mapping[str, int]) -> Working:
    """Return a result evaluated at the given sizes, by name.

    Raises `BindingError` for missing or unknown sizes; if the assumptions exclude the sizes, ``problem`` says so.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> for step in worked_out(call_of(broadcast("N, 3", "M, 1")), {"N": 2, "M": 4}).steps:
    ...     print(step.axis, step.cells, step.output or step.reason)
    0 ('N = 2', 'M = 4') sizes must be equal or 1
    1 ('3', '1') 3
    """
    symbolic = Alignment(result)
    names = tuple(symbolic.names)
    try:
        concrete = at_sizes(result, sizes)
    except BindingError as error:
        if not _all_given(result, sizes):
            raise
        return Working(names, (), None, error.problem)
    if concrete is None:
        return Working(names, (), None, failure_at(symbolic, sizes))
    aligned = Alignment(concrete)
    steps = _steps(symbolic, aligned)
    if concrete.shape is not None:
        return Working(names, steps, sizes_of(concrete.shape))
    return Working(names, steps, None, _refusals(aligned))


def _all_given(result: Call, sizes: Mapping[str, int]) -> bool:
    return set(sizes) == set(result.shown.values())


def _refusals(aligned: Alignment) -> str:
    """Return why the shapes' ranks do not fit: a failure that belongs to no axis."""
    failing = (c for c in aligned.result.constraints if not holds(c.requirement) and not aligned.axes_of(c))
    return "; ".join(dict.fromkeys(refusal(c, aligned) for c in failing))


def _steps(symbolic: Alignment, aligned: Alignment) -> tuple[Step, ...]:
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
        mark = Mark.IMPOSSIBLE if axis in broken else Mark.FINE
        output = "" if axis in broken or not 0 <= axis < rank else _output(concrete, axis)
        name = str(axis) if 0 <= axis < rank else "over"
        steps.append(Step(name, cells, mark, output, "; ".join(broken.get(axis, ()))))
    return tuple(steps)


def _cell(operand: int, axis: int, symbolic: Alignment, concrete: Alignment, namer: Namer) -> str:
    """Return an operand's dimension and size on an axis, or only the size if the dimension is a number."""
    cells = zip(symbolic.sizes(operand, axis), concrete.sizes(operand, axis), strict=True)
    texts = (str(size) if isinstance(dim, int) else f"{namer.dim(dim)} = {size}" for dim, size in cells)
    return " & ".join(texts)


def _output(concrete: Call, axis: int) -> str:
    """Return the output size of an axis that does not fail."""
    if concrete.verdict is Verdict.ALWAYS:
        assert concrete.shape is not None
        return str(concrete.shape[axis])
    output = concrete.emission.output
    if axis >= len(output):
        return ""
    members = members_of(output[axis])
    return str(next((m for m in members if m != 1), 1))
