"""The calls that LiteRT's operators see, and the table of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from symbcast.graphs.check import Offered, OperatorTable
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.litert.reader import LiteRtNode, LiteRtTensor
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import FLOAT, INT8, Content
from symbcast.operators.values.value import ElementSource, Value


class LiteRtCall(NodeCall):
    """An operator with its inputs; its outputs have the element types of the file."""

    def output(self, shape: Dims | None, content: Content | None = None, position: int = 0) -> Value:
        """Return an output with the element type of its tensor."""
        tensor = self.tensor(position)
        return Value(shape, 0 if tensor is None else tensor.dtype, content)

    def tensor(self, position: int = 0) -> LiteRtTensor | None:
        """Return an output as the file has it; None if it is not used."""
        tensors = cast("LiteRtNode", self.node).tensors
        return tensors[position] if position < len(tensors) else None

    @property
    def channels(self) -> int | None:
        """The last size of the first input in the file, if XNNPACK computes with elements of its type."""
        first = cast("LiteRtNode", self.node).first
        is_computed = first is not None and first.shape and first.dtype in (FLOAT, INT8)
        return first.shape[-1] if first is not None and is_computed else None

    @property
    def is_fused(self) -> bool:
        """Whether an activation is applied to what the operator computes."""
        return self.integer("fused_activation_function") != 0


OPERATORS: OperatorTable[LiteRtCall] = OperatorTable()
# The sources of the elements of outputs, by the name of an operator.
ELEMENTS: dict[str, ElementSource] = {}


def operator(*names: str, elements: ElementSource | None = None) -> Callable[[Offered], Offered]:
    """Make the decorated function answer for operators; ``elements`` says what decides the elements of outputs."""
    if elements is not None:
        ELEMENTS.update(dict.fromkeys(names, elements))
    return OPERATORS.offer(*names)
