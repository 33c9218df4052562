"""The element types of the values of a model, as onnx infers them."""

from __future__ import annotations

from typing import Any

from symbcast.onnx.report.graphs import graphs_of

_TENSOR = "tensor_type"
_LARGE = 1024
"""Constants in nodes with at least this many elements are weights."""


def element_types(model: Any) -> dict[str, int]:
    """Return the element types of tensors by name; weights are not copied for it."""
    from onnx import checker, shape_inference

    try:
        inferred = shape_inference.infer_shapes(_without_weights(model))
    except (RuntimeError, ValueError, shape_inference.InferenceError, checker.ValidationError):
        return {}  # an operator or a version that onnx does not know, or a function that calls itself
    declared = (v for g in graphs_of(inferred.graph) for v in (*g.value_info, *g.output))
    return {v.name: v.type.tensor_type.elem_type for v in declared if v.type.WhichOneof("value") == _TENSOR}


def _without_weights(model: Any) -> Any:
    """Return a model with the same nodes whose weights are replaced by typed inputs."""
    made = type(model)()
    made.ir_version = model.ir_version
    made.opset_import.extend(model.opset_import)
    made.functions.extend(model.functions)
    graph = model.graph
    made.graph.name = graph.name
    made.graph.input.extend(graph.input)
    given = {i.name for i in graph.input}
    for output in graph.output:
        made.graph.output.add().name = output.name
    for tensor in graph.initializer:
        if tensor.name not in given:
            _declare(made.graph, tensor.name, tensor)
    for node in graph.node:
        weight = next((a.t for a in node.attribute if a.name == "value" and _is_large(a.t)), None)
        if node.op_type == "Constant" and weight is not None:
            _declare(made.graph, node.output[0], weight)
        else:
            made.graph.node.add().CopyFrom(node)
    return made


def _is_large(tensor: Any) -> bool:
    size = 1
    for d in tensor.dims:
        size *= d
    return size >= _LARGE


def _declare(graph: Any, name: str, tensor: Any) -> None:
    declared = graph.input.add()
    declared.name = name
    declared.type.tensor_type.elem_type = tensor.data_type
    declared.type.tensor_type.shape.SetInParent()
    for size in tensor.dims:
        declared.type.tensor_type.shape.dim.add().dim_value = size
