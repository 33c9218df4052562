"""Core ML: flexible input shapes for ``coremltools.convert``, as ``RangeDim`` or ``EnumeratedShapes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Axes, Axis, Request

ELEMENT_TYPES = {"float32": "float32", "float16": "float16", "int32": "int32", "int64": "int32"}
"""The element types of inputs: Core ML has no integers of 64 bits, and coremltools makes them 32 bits wide."""
MOST_SHAPES = 128
"""The number of shapes that Core ML enumerates at most."""


def inputs(request: Request) -> str:
    """Return Python source: a list of ``coremltools.TensorType``, in the order of the inputs."""
    if len(request.boxes) > 1:
        shapes = _enumerated(request)
    else:
        box = request.boxes[0]
        request.require_free()
        if any(sizes.step > 1 for sizes in box.values()):
            raise request.refused(
                "its ranges have no steps", "enumerate sizes with form='list', up to 128", "list", MOST_SHAPES
            )
        shapes = {name: _shape(axes) for name, axes in request.intervals(box).items()}
    lines = ["import coremltools as ct", "import numpy as np", "", "inputs = ["]
    for name, shape in shapes.items():
        kind = request.tensors[name].element_type
        if kind and kind not in ELEMENT_TYPES:
            raise TargetError(request.target, f"it has no inputs of the element type {kind}", f"cast {name} to float32")
        told = f", dtype=np.{ELEMENT_TYPES[kind]}" if kind else ""
        lines.append(f"    ct.TensorType(name={name!r}, shape={shape}{told}),")
    return "\n".join([*lines, "]"])


def _shape(axes: tuple[Axis, ...]) -> str:
    if all(axis.is_fixed for axis in axes):
        return str(tuple(axis.sizes[0] for axis in axes))
    dims = (
        str(a.sizes[0]) if a.is_fixed else f"ct.RangeDim({a.sizes[0]}, {a.sizes[-1]}, default={a.best})" for a in axes
    )
    return f"ct.Shape(shape=({', '.join(dims)},))"


def _enumerated(request: Request) -> dict[str, str]:
    """Return the enumerated shapes of each input; raise `TargetError` if combinations would be wrong."""
    every: list[Axes] = []
    for box in request.boxes:
        if any(len(sizes) > 1 for sizes in box.values()):
            raise request.refused("it enumerates single shapes, not several ranges", "take form='list'", "list", 128)
        every.append(request.axes(box))
    shapes = {
        name: list(dict.fromkeys(tuple(axis.sizes[0] for axis in axes[name]) for axes in every)) for name in every[0]
    }
    flexible = [name for name, known in shapes.items() if len(known) > 1]
    if len(flexible) > 1:
        raise request.refused(
            f"it combines the shapes of {' and '.join(flexible)} freely, and only some combinations are valid",
            "give one of them a fixed shape, or take form='box'",
            "box",
        )
    if any(len(known) > MOST_SHAPES for known in shapes.values()):
        raise request.refused(f"it enumerates at most {MOST_SHAPES} shapes", "take most=128", "list", MOST_SHAPES)
    return {
        name: f"ct.EnumeratedShapes(shapes={known}, default={known[-1]})" if len(known) > 1 else str(known[0])
        for name, known in shapes.items()
    }
