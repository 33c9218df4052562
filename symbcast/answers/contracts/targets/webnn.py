"""WebNN: descriptors of inputs with bounded dynamic dimensions.

The draft (webmachinelearning/webnn, issue 883) gives a dynamic dimension a name and its greatest size; Chromium's
prototype also has a least size, 1 by default. Dimensions with one name have one size in each dispatch, so a size that
equals another one has its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, BoundedAxis, Request, TargetRule
from symbcast.core.structs import NamedTuple

# The element types of ``MLOperandDataType`` that have a name in NumPy too.
ELEMENT_TYPES = ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8")


_MOST = (1 << 31) - 1


class WebNnShapes(NamedTuple):
    """The axes of the inputs, and their element types."""

    axes: BoundedAxes
    kinds: Mapping[str, str]

    @property
    def sizes(self) -> Iterator[tuple[str, BoundedAxis]]:
        """All axes, with the names of their inputs."""
        return ((name, axis) for name, shape in self.axes.items() for axis in shape)


RULES: tuple[TargetRule[WebNnShapes], ...] = (
    TargetRule(
        "an input has a name",
        "WebNN: MLGraphBuilder.input()",
        lambda draft: declaration.first_refused("one has none" for name in draft.axes if not name),
        "name it in the model",
    ),
    TargetRule(
        f"an element type is one of {', '.join(ELEMENT_TYPES)}",
        "WebNN: MLOperandDataType",
        lambda draft: declaration.first_refused(
            f"it has no element type {kind}, which {name} has"
            for name, kind in draft.kinds.items()
            if kind not in ELEMENT_TYPES
        ),
        f"cast it to {ELEMENT_TYPES[0]} in front of the model",
    ),
    TargetRule(
        f"a size is from 1 to {_MOST}",
        "WebNN: valid dimension; webmachinelearning/webnn issue 883",
        lambda draft: declaration.first_refused(
            f"{a.text} can be {a.sizes[0] if a.sizes[0] < 1 else a.sizes[-1]}"
            for _, a in draft.sizes
            if not 1 <= a.sizes[0] <= a.sizes[-1] <= _MOST
        ),
        "want sizes in this range",
    ),
    TargetRule(
        "dimensions of one name have one size",
        "webmachinelearning/webnn issue 883: MLDynamicDimension",
        lambda draft: declaration.first_refused(
            f"{a.text} is {a.sizes[0]}..{a.sizes[-1]} and {b.sizes[0]}..{b.sizes[-1]}"
            for _, a in draft.sizes
            for _, b in draft.sizes
            if a.text == b.text and a.sizes != b.sizes
        ),
        "rename one of them",
    ),
)


@declaration.target("webnn", "box, list of one", "WebNN descriptors of inputs with bounded dimensions", RULES, place=8)
def descriptors(request: Request) -> str:
    """Return JSON: an ``MLInputOperandDescriptor`` for each input by name."""
    axes = request.intervals(request.box("build a graph for each box"), may_be_equal=True)
    draft = WebNnShapes(axes, {name: request.tensors[name].element_type or "float32" for name in axes})
    declaration.verify_draft(request, RULES, draft)
    described = {n: {"dataType": draft.kinds[n], "shape": list(map(_dimension, shape))} for n, shape in axes.items()}
    return json.dumps(described, indent=2)


def _dimension(axis: BoundedAxis) -> Any:
    if axis.is_fixed:
        return axis.sizes[0]
    least = {"minSize": axis.sizes[0]} if axis.sizes[0] > 1 else {}
    return {"name": axis.text, **least, "maxSize": axis.sizes[-1]}
