"""One binding evaluated axis by axis: the sizes that meet, and the output size or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.explanation.alignment import Alignment, Mark
from symbcast.answers.explanation.evidence import at_sizes, failure_at, refusal
from symbcast.answers.explanation.names import Namer, operand_names
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
    names = tuple(operand_names(result))
    try:
        concrete = at_sizes(result, sizes)
    except BindingError as error:
        if not _all_given(result, sizes):
            raise
        return Working(names, (), None, error.problem)
    if concrete is None:
        return Working(names, (), None, failure_at(result, sizes))
    if concrete.shape is not None:
        return Working(names, _steps(result, concrete), sizes_of(concrete.shape))
    return Working(names, _steps(result, concrete), None, _refusals(concrete))


def _all_given(result: Call, sizes: Mapping[str, int]) -> bool:
    names = result.scope.names.values() if result.scope is not None else ()
    return set(sizes) == set(names)


def _refusals(concrete: Call) -> str:
    """Return why the shapes' ranks do not fit: a failure that belongs to no axis."""
    alignment = Alignment(concrete)
    failing = (c for c in concrete.constraints if not holds(c.requirement) and not alignment.axes_of(c))
    return "; ".join(dict.fromkeys(refusal(c, concrete) for c in failing))


def _steps(result: Call, concrete: Call) -> tuple[Step, ...]:
    alignment, namer = Alignment(concrete), Namer(result)
    symbolic = Alignment(result)
    rank = alignment.places.rank
    broken: dict[int, dict[str, None]] = {}
    for constraint in concrete.constraints:
        if not holds(constraint.requirement):
            for axis in alignment.axes_of(constraint):
                broken.setdefault(axis, {})[constraint.reason] = None
    steps = []
    for axis in alignment.all_axes:
        cells = tuple(_cell(n, axis, symbolic, alignment, namer) for n in range(len(result.operands)))
        mark = Mark.IMPOSSIBLE if axis in broken else Mark.FINE
        output = "" if axis in broken or not 0 <= axis < rank else _output(concrete, axis)
        name = str(axis) if 0 <= axis < rank else "over"
        steps.append(Step(name, cells, mark, output, "; ".join(broken.get(axis, ()))))
    return tuple(steps)


def _cell(operand: int, axis: int, symbolic: Alignment, concrete: Alignment, namer: Namer) -> str:
    """Return an operand's dimension and size on an axis, or only the size if the dimension is a number."""
    dims = [d for n, d in symbolic.cells(axis) if n == operand]
    sizes = [d for n, d in concrete.cells(axis) if n == operand]
    texts = (str(s) if isinstance(d, int) else f"{namer.dim(d)} = {s}" for d, s in zip(dims, sizes, strict=True))
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
