"""Sizes that ONNX Runtime needs as numbers when it opens a model, and those that it does not take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.onnx.opening.types import ValueType
    from symbcast.onnx.protobuf.graph import OnnxNode

_EMBEDDINGS = ("EmbedLayerNormalization", "QEmbedLayerNormalization")
_FLOATS = "tensor(float)"
_BLOCKED_POOLS = ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")


def problem_of_numbers(node: OnnxNode, types: Sequence[ValueType | None]) -> str | None:
    """Return why ONNX Runtime refuses the sizes that it knows of a node's inputs; None if it takes them."""
    sizes = [None if found is None else found.sizes for found in types]
    if node.op_type in _EMBEDDINGS and node.domain == "com.microsoft":
        for known, name in zip(sizes[2:7], node.inputs[2:7], strict=False):
            if known and not known[-1]:
                return f"the last size of {name!r} must be a number in the model, and not 0"
    # Of 4 axes, ONNX Runtime moves channels into blocks if their number is a multiple of the block, as 0 is.
    if node.op_type in _BLOCKED_POOLS and not node.domain and sizes and len([o for o in node.outputs if o]) == 1:
        known, found = sizes[0], types[0]
        if found is not None and known is not None and len(known) == 4 and known[1] == 0 and found.text == _FLOATS:
            return "it cannot move 0 channels into blocks"
    return None
