"""``torch.export``: ``Dim`` with bounds, and derived dimensions for steps and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.contracts.targets.lines import line_of, lines_of
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from symbcast.answers.contracts.targets.lines import Line
    from symbcast.answers.contracts.targets.request import Axis, Request


def dynamic_shapes(request: Request) -> str:
    """Return Python source: the dimensions, and ``dynamic_shapes`` by the names of inputs.

    A derived dimension is a multiple of one other, plus a number; raises `TargetError` for other expressions.
    """
    box = request.box("export once for each box")
    lines = lines_of(request, box)
    dims = {name: dict(_dims(request, name, shape, lines)) for name, shape in request.axes(box).items()}
    used = {free for shape in dims.values() for line in shape.values() for free in line.factors}
    free = [line for line in lines.values() if line.free in used]
    named = [f'{line.free} = Dim("{line.free}", min={line.low}, max={line.high})' for line in free]
    shapes = {name: ", ".join(f"{n}: {line.expression}" for n, line in shape.items()) for name, shape in dims.items()}
    written = [f"    {name!r}: {{{text}}}," for name, text in shapes.items()]
    return "\n".join(["from torch.export import Dim", "", *named, "", "dynamic_shapes = {", *written, "}"])


def _dims(request: Request, name: str, axes: tuple[Axis, ...], lines: Mapping[str, Line]) -> Iterator[tuple[int, Line]]:
    """Yield the position and the dimension of each axis that is not fixed."""
    shape = request.tensors[name].shape
    assert shape is not None
    for position, (dim, axis) in enumerate(zip(shape.dims, axes, strict=True)):
        line = line_of(request, dim, lines)
        if len(line.factors) > 1 or any(factor < 1 for factor in line.factors.values()):
            problem = f"it derives a size from one other, as a multiple and a number, and not {axis.text}"
            if request.derived:
                raise request.refused(problem, "take form='steps'", "steps")
            raise TargetError(request.target, problem, "name it: it is a size")
        if line.factors:
            yield position, line
