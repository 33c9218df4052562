"""A node of OpenVINO as one of ONNX, where the two ask and give the same.

What follows the elements of tensors through a Reshape, a Slice or a Range is in the operators of `symbcast.onnx`; a
node that means the same is handed to them, with the attributes and the order of inputs that ONNX has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.onnx.values.contents import Elements
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.value import Value
from symbcast.openvino.element_types import INT64
from symbcast.openvino.node_call import OpenVinoCall

LATEST = 1 << 16
"""A version of the operator set that is after all others: attributes that became inputs are inputs."""


class AsOnnx(OpenVinoCall):
    """A node with its inputs as ONNX has them."""

    def __init__(
        self, call: OpenVinoCall, inputs: Sequence[Value | None] | None = None, **attributes: int | str | list[int]
    ) -> None:
        super().__init__(call.place, call.walk, call.scope)
        self.version = LATEST
        self.inputs = call.inputs if inputs is None else inputs
        self._attributes_given = attributes

    def attribute(self, name: str) -> Any:
        """Return an attribute as it was given, or None."""
        return self._attributes_given.get(name)

    def input_name(self, position: int) -> str:
        """Return the name of an input."""
        value = self.inputs[position] if position < len(self.inputs) else None
        pairs = zip(self.node.input, self.place.inputs, strict=True)
        return next((str(name) for name, given in pairs if given is value), f"input {position}")


def listing(numbers: Sequence[Any], origin: Value | None = None) -> Value:
    """Return a list of integers as a value; those that are not known are from ``origin``."""
    made = Value((len(numbers),), INT64, Elements(tuple(numbers)))
    made.decided_by = Decider.NUMBERS if origin is None else origin.decided_by
    return made
