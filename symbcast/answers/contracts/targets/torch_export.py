"""``torch.export``: ``Dim`` with bounds, and derived dimensions for steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.contracts.targets.lines import dim_expression, lines_of
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Request


def dynamic_shapes(request: Request) -> str:
    """Return Python source: the dimensions, and ``dynamic_shapes`` by the names of inputs."""
    box = request.box("export once for each box")
    lines = lines_of(box)
    axes = request.axes(box)
    used = {a.name for shape in axes.values() for a in shape if a.name}
    source = ["from torch.export import Dim", ""]
    for name, line in lines.items():
        if line.free and name in used:
            source.append(f'{line.free} = Dim("{line.free}", min={line.low}, max={line.high})')
    source += ["", "dynamic_shapes = {"]
    for name, tensor in request.tensors.items():
        assert tensor.shape is not None
        dims = {}
        for position, (dim, axis) in enumerate(zip(tensor.shape.dims, axes[name], strict=True)):
            if not axis.is_fixed:
                if not isinstance(dim, int) and len(dim.symbols()) > 1:
                    raise TargetError(request.target, f"it derives a size from one other, and not {dim}", "name it")
                dims[position] = dim_expression(request, dim, lines)
        source.append(f"    {name!r}: {{{', '.join(f'{n}: {text}' for n, text in dims.items())}}},")
    return "\n".join([*source, "}"])
