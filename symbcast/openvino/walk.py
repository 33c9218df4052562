"""The walk through an OpenVINO model, and whether data or sizes decide the elements that its nodes compute.

OpenVINO's schemas do not separate inputs that supply elements from inputs that describe layout; the tables here do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.deciding import decider_of_made, joined
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.walk import Walk
from symbcast.openvino.constant import Held
from symbcast.openvino.node_call import OpenVinoCall

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node


class OpenVinoWalk(Walk):
    """A walk through one model; see `symbcast.graphs.walking.walk` for what it keeps."""

    def constant(self, node: Node) -> Value | None:
        """Return what a node holds."""
        if node.op_type != "Constant":
            return None
        found = Held(node.raw)
        self._repeats.number(found)
        return found

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        return decider_of_output(node.op_type, inputs, position)

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return outputs with OpenVINO's element types."""
        found = super().unknown(call, reason)
        made = cast("OpenVinoCall", call).made
        return found or [made(None, output=n) for n in range(len(call.node.outputs))]


_SHAPES_ONLY = frozenset({"ShapeOf"})
_RANDOM = frozenset({"Multinomial", "RandomUniform"})
_OF_FIRST = (
    "BatchToSpace", "Broadcast", "Clamp", "DepthToSpace", "ExtractImagePatches", "Gather", "GatherElements", "GatherND",
    "Identity", "ReduceMax", "ReduceMin", "Reshape", "Reverse", "ReverseSequence", "Roll", "ShuffleChannels", "Slice",
    "SpaceToBatch", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose", "Unsqueeze",
    "VariadicSplit",
)  # fmt: skip
_MOVED: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(_OF_FIRST, (0,)),
    "Maximum": (0, 1),
    "Minimum": (0, 1),
    "OneHot": (2, 3),
    "Pad": (0, 3),
    "ScatterElementsUpdate": (0, 2),
    "ScatterNDUpdate": (0, 2),
    "ScatterUpdate": (0, 2),
    "Select": (1, 2),
}
"""Operators that copy elements, and the inputs that they copy from."""
_COMPUTED: Mapping[str, tuple[int, ...]] = {"ConvertLike": (0,), "TopK": (0,)}
"""Operators that compute with only some of their inputs."""


def decider_of_output(op_type: str, inputs: Sequence[Value | None], position: int) -> Decider:
    """Return what decides the unknown elements of the output at a position."""
    if op_type in _SHAPES_ONLY:
        return Decider.SIZES
    if op_type in _RANDOM:
        return Decider.DATA
    if op_type == "Concat" or (op_type == "TopK" and position == 0):
        return decider_of_made(inputs[:1] if op_type == "TopK" else inputs, is_moving=True)
    places = _MOVED.get(op_type)
    if places is not None:
        taken = [inputs[n] for n in places if n < len(inputs)]
        if joined(taken):
            return decider_of_made(taken, is_moving=True)
        return decider_of_made(inputs, is_moving=True)
    computed = _COMPUTED.get(op_type)
    return decider_of_made(inputs if computed is None else [inputs[n] for n in computed], is_moving=False)
