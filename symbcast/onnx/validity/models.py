"""Check a whole model before the walk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from symbcast.onnx.protobuf.constant import Initializers
from symbcast.onnx.validity.faults import DAMAGED, Source, quoted
from symbcast.onnx.validity.graphs import Graphs, Read, UnsortedError
from symbcast.onnx.validity.opsets import Key, Runtime, functions_of, versions
from symbcast.onnx.validity.order import in_order


class Examined(NamedTuple):
    """A model that was found to be well formed.

    Attributes:
        model: the model itself, or a copy with its nodes sorted.
        versions: the versions of its operator sets.
        functions: its functions by domain, name and overload.
        inner: the number of nodes in its functions and nested graphs.
        nodes, tensors: the nodes and initializers of its main graph, as they were read.
    """

    model: Any
    versions: dict[str, int]
    functions: dict[Key, Any]
    inner: int
    nodes: Sequence[Any]
    tensors: Initializers


def examined(name: str, model: Any, runtime: Runtime, read: Read) -> Examined:
    """Return a model after checking it; raises `ModelError` if it is malformed. ``read`` reads nodes.

    With ``runtime="onnxruntime"``, everything that ONNX Runtime accepts is valid: it sorts the nodes, and imports the
    operator sets that it knows.
    """
    source = Source(name)
    if model.ir_version > _newest_ir():
        raise source.fault(
            f"the model has IR version {model.ir_version}, but the installed onnx knows only up to {_newest_ir()}",
            "install a newer onnx, or export the model for an older version",
        )
    imported = versions(model.opset_import, source, runtime, model.ir_version)
    _check_inputs(model.graph, source)
    functions = functions_of(model, source)
    graphs = Graphs(source, model, functions, read, of_runtime=runtime == "onnxruntime")
    for function in model.functions:
        source.function = quoted(function.name)
        graphs.check_function(function, versions(function.opset_import, source, "spec"))
    source.function = ""
    try:
        graphs.check(imported)
    except UnsortedError as error:
        found = in_order(model, source)
        if runtime != "onnxruntime":
            raise source.fault(error.problem, "sort the nodes, or export it again") from None
        return examined(name, found, runtime, read)
    return Examined(model, imported, functions, graphs.count, graphs.nodes, graphs.tensors)


def _newest_ir() -> int:
    import onnx

    return int(onnx.IR_VERSION)


def _check_inputs(graph: Any, source: Source) -> None:
    """Raise `ModelError` if an input has no type or an unknown one."""
    for given in graph.input:
        kind = given.type.WhichOneof("value")
        if kind is None:
            if all(t.name != given.name for t in graph.initializer):
                raise source.fault(f"the input {quoted(given.name)} has no type")
        elif kind == "tensor_type":
            tensor = given.type.tensor_type
            if tensor.elem_type not in _element_types():
                raise source.fault(f"the input {quoted(given.name)} has the unknown element type {tensor.elem_type}")
            if any(isinstance(d.dim_param, bytes) for d in tensor.shape.dim):
                raise source.fault(*DAMAGED)


@cache
def _element_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset(TensorProto.DataType.values()) - {0}
