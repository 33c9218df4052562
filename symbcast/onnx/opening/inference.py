"""onnx's inference of one node, from types and tensors as bytes.

onnx turns messages into bytes for it, and the bytes that it gives into messages, which takes longer than the inference
itself. Here they stay bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

Written: TypeAlias = "Mapping[str, bytes]"
Inference: TypeAlias = "Callable[[Any, Any, Written, Written, Mapping[str, int]], Written]"
"""Returns the types of a node's outputs, from a schema, the node, its inputs' types, constants among them, and the
versions of operator sets; raises onnx's errors."""


@cache
def inference() -> Inference:
    """Return the inference of the installed onnx."""
    try:
        is_right = _by_bytes(*_example()) == _by_messages(*_example())
    except Exception:  # bindings raise any kind: this onnx has no such function, or takes other arguments
        is_right = False
    return _by_bytes if is_right else _by_messages


def _by_bytes(schema: Any, node: Any, types: Written, held: Written, versions: Mapping[str, int]) -> Written:
    from onnx import IR_VERSION

    found: Written = schema._infer_node_outputs(node.SerializeToString(), types, held, {}, versions, IR_VERSION)
    return found


def _by_messages(schema: Any, node: Any, types: Written, held: Written, versions: Mapping[str, int]) -> Written:
    from onnx import TensorProto, TypeProto, helper, shape_inference

    found = shape_inference.infer_node_outputs(
        schema,
        node,
        {name: TypeProto.FromString(written) for name, written in types.items()},
        {name: TensorProto.FromString(written) for name, written in held.items()},
        opset_imports=[helper.make_opsetid(*version) for version in versions.items()],
    )
    return {name: made.SerializeToString(deterministic=True) for name, made in found.items()}


def _example() -> tuple[Any, Any, Written, Written, Mapping[str, int]]:
    """Return a node whose shape depends on a type and on a constant."""
    from onnx import TensorProto, defs, helper

    types = {
        "x": helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 2]),
        "s": helper.make_tensor_type_proto(TensorProto.INT64, [2]),
    }
    held = {"s": helper.make_tensor("s", TensorProto.INT64, [2], [0, -1])}
    return (
        defs.get_schema("Reshape", 18, ""),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
        {name: kind.SerializeToString() for name, kind in types.items()},
        {name: tensor.SerializeToString() for name, tensor in held.items()},
        {"": 18},
    )
