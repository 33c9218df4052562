"""``jax.export``: symbolic shapes in a scope with constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.contracts.targets.lines import line_of, lines_of
from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Request


def shapes(request: Request) -> str:
    """Return Python source: a scope with the bounds of all sizes, and the shapes of the inputs in it, if known."""
    box = request.box("export once for each box")
    lines = lines_of(request, box)
    constraints = []
    for name, line in lines.items():
        if line.free:
            if box[name][0] < 1:
                raise TargetError(
                    request.target,
                    f"it takes every size to be at least 1, and {name} can be {box[name][0]}",
                    "want sizes from 1 on",
                )
            constraints += [f"{line.free} >= {line.low}", f"{line.free} <= {line.high}"]
    source = ["from jax import export", "", f"scope = export.SymbolicScope({constraints!r})"]
    if request.tensors:
        request.axes(box)  # raises the error of an unknown rank
        source.append("shapes = {")
        for name, tensor in request.tensors.items():
            assert tensor.shape is not None
            text = ", ".join(line_of(request, dim, lines).expression for dim in tensor.shape.dims)
            comma = "," if len(tensor.shape.dims) == 1 else ""
            source.append(f'    {name!r}: export.symbolic_shape("({text}{comma})", scope=scope),')
        source.append("}")
    return "\n".join(source)
