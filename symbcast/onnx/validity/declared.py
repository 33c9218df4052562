"""ONNX Runtime's checks of declared values, before it infers anything."""

from __future__ import annotations

from typing import Any

from symbcast.onnx.protobuf.constant import Initializers
from symbcast.onnx.validity.faults import Source, quoted

_TENSOR = "tensor_type"


def check_unused(graph: Any, source: Source) -> None:
    """Raise `ModelError` for an unused constant that is not an input, before version 4 of the IR."""
    known = {v.name for v in (*graph.input, *graph.output)} | {name for node in graph.node for name in node.input}
    for tensor in graph.initializer:
        if tensor.name not in known:
            raise source.fault(f"the initializer {quoted(tensor.name)} must also be an input in this version of the IR")


def check_declared(graph: Any, tensors: Initializers, source: Source) -> None:
    """Raise `ModelError` for tensors declared without an element type, or constants unlike their declaration."""
    declared = {v.name: v.type.tensor_type for v in (*graph.value_info, *graph.output) if _is_tensor(v)}
    given = {v.name for v in graph.input}
    for name, kind in declared.items():
        if not kind.elem_type and name not in given:
            raise source.fault(f"{quoted(name)} is declared as a tensor without an element type")
    declared.update((v.name, v.type.tensor_type) for v in graph.input if _is_tensor(v))
    if declared.keys().isdisjoint(tensors.names):
        return
    for name, tensor in zip(tensors.names, tensors.tensors, strict=True):
        kind = declared.get(name)
        if kind is None:
            continue
        if kind.elem_type != tensor.dtype:
            raise source.fault(f"the initializer {quoted(name)} has a different element type than its declaration")
        if kind.HasField("shape") and not _fits(tensor.shape, kind.shape):
            raise source.fault(f"the initializer {quoted(name)} has a different shape than its declaration")


def _is_tensor(value: Any) -> bool:
    return bool(value.type.WhichOneof("value") == _TENSOR)


def _fits(dims: Any, shape: Any) -> bool:
    """Return whether sizes match the declared ones; names and negative numbers match any size."""
    return len(dims) == len(shape.dim) and all(
        d.WhichOneof("value") != "dim_value" or d.dim_value < 0 or d.dim_value == n
        for n, d in zip(dims, shape.dim, strict=True)
    )
