"""The walk through a model of OpenVINO: node after node, each answered for by its operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.errors import DimensionError
from symbcast.onnx.node_call import RefusedError, UnknownShapeError
from symbcast.onnx.values.value import NEVER, Value
from symbcast.onnx.walk import Walk
from symbcast.onnx.walker import GraphScope
from symbcast.openvino.constant import Held
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.operators.families import OPERATORS
from symbcast.openvino.tail import infer


class OpenVinoWalk(Walk):
    """A walk through one model; see `symbcast.onnx.walk` for what it keeps."""

    def node(self, node: Any, scope: GraphScope) -> None:
        """Work out the outputs of a node and put them into the scope."""
        if node.op_type == "Constant":
            scope.values[node.output[0]] = Held(node.op)
            return
        super().node(node, scope)

    def _outputs(self, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        place = self._place(node, inputs)
        if self.asker.foreknown:
            self.asker.restate(place)
        if NEVER in inputs:
            return [NEVER] * len(node.output)
        call = OpenVinoCall(place, self, scope)
        operator = OPERATORS.get(node.op_type) if not node.domain else None
        try:
            found = infer(call) if operator is None else operator(call)
            return self.asker.written((found,) if isinstance(found, Value) else found)
        except RefusedError:
            return [NEVER] * len(node.output)
        except UnknownShapeError as error:
            self.leave(place, str(error) or "the shape of an input is not known")
        except (ArithmeticError, LookupError, TypeError, ValueError, DimensionError) as error:
            self.leave(place, f"could not be followed: {error}")
        return [call.made(None, output=n) for n in range(len(node.output))]
