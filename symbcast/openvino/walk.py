"""The walk through a model of OpenVINO: node after node, each answered for by its operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.requirements.recorder import Place
from symbcast.onnx.unknown_ranks import Operators, outputs_of_given_rank, outputs_of_unknown_rank
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.value import Value
from symbcast.onnx.walk import Walk
from symbcast.onnx.walker import GraphScope
from symbcast.openvino.constant import Held
from symbcast.openvino.deciding import decider_of_output
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.operators.families import OPERATORS
from symbcast.openvino.reaches import reaches_of
from symbcast.openvino.tail import infer


class OpenVinoWalk(Walk):
    """A walk through one model; see `symbcast.onnx.walk` for what it keeps."""

    def node(self, node: Any, scope: GraphScope) -> None:
        """Work out the outputs of a node and put them into the scope."""
        if node.op_type == "Constant":
            scope.values[node.output[0]] = Held(node.op)
            return
        super().node(node, scope)

    def _decider_of_output(
        self, node: Any, inputs: Sequence[Value | None], position: int, scope: GraphScope
    ) -> Decider:
        """Return what decides the elements of an output, which are not known exactly."""
        return decider_of_output(node.op_type, inputs, position)

    def _answered(self, place: Place, scope: GraphScope) -> Sequence[Value]:
        call = OpenVinoCall(place, self, scope)
        if self.asker.sequences:
            opened = outputs_of_given_rank(call, _OPERATORS)
            if opened is not None:
                return self.asker.written(opened)
        operator = OPERATORS.get(place.op_type) if not place.node.domain else None
        found = infer(call) if operator is None else operator(call)
        return self.asker.written((found,) if isinstance(found, Value) else found)

    def _unknown(self, place: Place, scope: GraphScope, reason: str) -> Sequence[Value]:
        """Return outputs of the element types that OpenVINO itself says."""
        call = OpenVinoCall(place, self, self.top)
        found = outputs_of_unknown_rank(call, _OPERATORS, reason)
        return found or [call.made(None, output=n) for n in range(len(place.node.output))]


def _answer(call: NodeCall) -> Value | Sequence[Value]:
    assert isinstance(call, OpenVinoCall)
    return OPERATORS[call.node.op_type](call)


_OPERATORS = Operators(reaches_of, _answer)
