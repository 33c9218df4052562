"""The walk through a model of OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import Value
from symbcast.graphs.walk import Walk
from symbcast.graphs.walker import GraphScope
from symbcast.openvino.constant import Held
from symbcast.openvino.deciding import decider_of_output
from symbcast.openvino.node_call import OpenVinoCall

if TYPE_CHECKING:
    from symbcast.graphs.front_end import FrontEnd
    from symbcast.graphs.graph import Node
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.openvino.reader import OpenVinoModel


class OpenVinoWalk(Walk):
    """A walk through one model; see `symbcast.graphs.walk` for what it keeps."""

    def __init__(self, model: OpenVinoModel, front_end: FrontEnd, asker: Asker) -> None:
        super().__init__(front_end, asker, model.inner)

    def node(self, node: Node, scope: GraphScope) -> None:
        """Work out the outputs of a node and put them into the scope."""
        if node.op_type == "Constant":
            scope.values[node.outputs[0]] = Held(node.raw)
            return
        super().node(node, scope)

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of the output at a position, which are not known exactly."""
        return decider_of_output(node.op_type, inputs, position)

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return outputs of the element types that OpenVINO itself says."""
        found = super().unknown(call, reason)
        made = cast("OpenVinoCall", call).made
        return found or [made(None, output=n) for n in range(len(call.node.outputs))]
