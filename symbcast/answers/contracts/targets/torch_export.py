"""``torch.export``: ``Dim`` with bounds, and derived dimensions for steps and relations."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping, Sequence

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxis, Request, SteppedSize, TargetRule
from symbcast.core.structs import NamedTuple
from symbcast.errors import TargetError

# Names that a variable of the text cannot have.
_RESERVED = {*keyword.kwlist, "Dim", "dynamic_shapes"}
_DIM = "torch: torch/export/dynamic_shapes.py, Dim"


class TorchDims(NamedTuple):
    """The free dimensions, and the axes of each input that are not fixed."""

    free: Sequence[SteppedSize]
    shapes: Mapping[str, Mapping[int, SteppedSize]]


RULES: tuple[TargetRule[TorchDims], ...] = (
    TargetRule(
        "a Dim has an identifier as its name",
        _DIM,
        lambda draft: declaration.first_refused(
            f"there is {line.free!r}" for line in draft.free if not line.free.isidentifier()
        ),
        "rename the size",
    ),
    TargetRule(
        "a Dim has 0 <= min < max",
        _DIM,
        lambda draft: declaration.first_refused(
            f"{line.free} has {line.low} and {line.high}" for line in draft.free if not 0 <= line.low < line.high
        ),
        "fix the size",
    ),
    TargetRule(
        "a Dim has a size above 1 in its range",
        "torch: sizes of 0 and 1 are specialised (torch/fx/experimental/symbolic_shapes.py)",
        lambda draft: declaration.first_refused(
            f"the greatest {line.free} is {line.high}" for line in draft.free if line.high < 2
        ),
        "want a greater size, or fix it",
    ),
    TargetRule(
        "a derived dimension is a positive multiple of one Dim, plus a number",
        "torch: torch/export/dynamic_shapes.py, _DerivedDim",
        lambda draft: declaration.first_refused(
            f"there is {line.expression}"
            for shape in draft.shapes.values()
            for line in shape.values()
            if len(line.factors) != 1 or min(line.factors.values()) < 1
        ),
        "name it: it is a size",
    ),
)


@declaration.target(
    "torch", "box, steps, derived, list of one", "dynamic_shapes of torch.export", RULES, place=9, also=("pytorch",)
)
def dynamic_shapes(request: Request) -> str:
    """Return Python source: the dimensions, and ``dynamic_shapes`` by the names of inputs.

    A derived dimension is a multiple of one other, plus a number; raises `TargetError` for other expressions.
    """
    box = request.box("export once for each box")
    lines = declaration.lines_of(request, box, _RESERVED)
    dims = {name: dict(_dims(request, name, shape, lines)) for name, shape in request.axes(box).items()}
    used = {free for shape in dims.values() for line in shape.values() for free in line.factors}
    draft = TorchDims([line for line in lines.values() if line.free in used], dims)
    declaration.verify_draft(request, RULES, draft)
    named = [f'{line.free} = Dim("{line.free}", min={line.low}, max={line.high})' for line in draft.free]
    shapes = {name: ", ".join(f"{n}: {line.expression}" for n, line in shape.items()) for name, shape in dims.items()}
    written = [f"    {name!r}: {{{text}}}," for name, text in shapes.items()]
    return "\n".join(["from torch.export import Dim", "", *named, "", "dynamic_shapes = {", *written, "}"])


def _dims(
    request: Request, name: str, axes: tuple[BoundedAxis, ...], lines: Mapping[str, SteppedSize]
) -> Iterator[tuple[int, SteppedSize]]:
    """Yield the position and the dimension of each axis that is not fixed."""
    shape = request.tensors[name].shape
    assert shape is not None
    for position, (dim, axis) in enumerate(zip(shape.dims, axes, strict=True)):
        line = declaration.line_of(request, dim, lines)
        if len(line.factors) > 1 or any(factor < 1 for factor in line.factors.values()):
            problem = f"it derives a size from one other, as a multiple and a number, and not {axis.text}"
            if request.derived:
                raise request.refused(problem, "take form='steps'", "steps")
            raise TargetError(request.target, problem, "name it: it is a size")
        if line.factors:
            yield position, line
