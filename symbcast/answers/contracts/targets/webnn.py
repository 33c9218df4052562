"""WebNN: descriptors of inputs with bounded dynamic dimensions.

The draft (webmachinelearning/webnn, issue 883) gives a dynamic dimension a name and its greatest size; Chromium's
prototype also has a least size, 1 by default. Dimensions with one name have one size in each dispatch, so a size that
equals another one has its name.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from symbcast.errors import TargetError

if TYPE_CHECKING:
    from symbcast.answers.contracts.targets.request import Axis, Request

ELEMENT_TYPES = ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8")
"""The element types of ``MLOperandDataType`` that have a name in NumPy too."""


def descriptors(request: Request) -> str:
    """Return JSON: an ``MLInputOperandDescriptor`` for each input by name."""
    every = request.intervals(request.box("build a graph for each box"), may_be_equal=True)
    found = {}
    for name, axes in every.items():
        kind = request.tensors[name].element_type or "float32"
        if kind not in ELEMENT_TYPES:
            raise TargetError(request.target, f"it has no element type {kind}", f"cast {name} to {ELEMENT_TYPES[0]}")
        found[name] = {"dataType": kind, "shape": [_dimension(request, axis) for axis in axes]}
    return json.dumps(found, indent=2)


def _dimension(request: Request, axis: Axis) -> Any:
    if axis.sizes[0] < 1:
        raise TargetError(
            request.target, f"it takes every size to be at least 1, and {axis.text} can be 0", "want sizes from 1 on"
        )
    if axis.is_fixed:
        return axis.sizes[0]
    least = {"minSize": axis.sizes[0]} if axis.sizes[0] > 1 else {}
    return {"name": axis.text, **least, "maxSize": axis.sizes[-1]}
