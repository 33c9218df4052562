"""Cases as ONNX models, and texts of models as entries of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from conformance.runner import Case
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper, parser

OPSET = 17
_KINDS = {TensorProto.FLOAT: "float32", TensorProto.INT64: "int64", TensorProto.BOOL: "bool"}
_HEAD = f'<ir_version: 8, opset_import: ["" : {OPSET}]> graph '


def model_of(case: Case) -> ModelProto:
    """Return a case as a model whose outputs declare only their type."""
    kinds = {name: kind for kind, name in _KINDS.items()}
    graph = helper.make_graph(
        [
            helper.make_node(n.op, list(n.inputs), list(n.outputs), name=f"n{i}", **n.attributes)
            for i, n in enumerate(case.nodes)
        ],
        "graph",
        [helper.make_tensor_value_info(name, kinds[kind], shape) for name, (kind, shape) in case.inputs.items()],
        [helper.make_tensor_value_info(name, kinds[kind], None) for name, kind in case.outputs.items()],
        [
            numpy_helper.from_array(np.array(values, kind).reshape(shape), name)
            for name, (kind, shape, values) in case.constants.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def entry_of(name: str, kind: str, text: str) -> dict[str, Any]:
    """Return an entry of the suite, without runs, for a graph in ONNX's text format."""
    graph = parser.parse_model(_HEAD + text).graph
    inputs = [{"name": i.name, "type": _kind(i), "shape": _shape(i)} for i in graph.input]
    return {
        "name": name,
        "kind": kind,
        "names": sorted({d for i in inputs for d in i["shape"] if isinstance(d, str)}),
        "inputs": inputs,
        "constants": [_constant(t) for t in graph.initializer],
        "nodes": [_node(n) for n in graph.node],
        "outputs": [{"name": o.name, "type": _kind(o)} for o in graph.output],
    }


def broadcast_entry(name: str, shapes: list[str]) -> dict[str, Any]:
    """Return an entry of the suite for shapes that are added."""
    inputs = ", ".join(f"float[{shape}] x{n}" for n, shape in enumerate(shapes))
    op = "Add" if len(shapes) == 2 else "Sum"
    operands = ", ".join(f"x{n}" for n in range(len(shapes)))
    return entry_of(name, "broadcast", f"({inputs}) => (float z) {{ z = {op}({operands}) }}")


def _kind(value: ValueInfoProto) -> str:
    return _KINDS[value.type.tensor_type.elem_type]


def _shape(value: ValueInfoProto) -> list[int | str]:
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def _constant(tensor: TensorProto) -> dict[str, Any]:
    values = numpy_helper.to_array(tensor)
    return {
        "name": tensor.name,
        "type": _KINDS[tensor.data_type],
        "shape": list(values.shape),
        "values": values.ravel().tolist(),
    }


def _node(node: Any) -> dict[str, Any]:
    attributes: Mapping[str, Any] = {a.name: _plain(helper.get_attribute_value(a)) for a in node.attribute}
    found: dict[str, Any] = {"op": node.op_type, "inputs": list(node.input), "outputs": list(node.output)}
    return {**found, "attributes": attributes} if attributes else found


def _plain(value: Any) -> Any:
    return (
        value.decode()
        if isinstance(value, bytes)
        else list(value)
        if isinstance(value, (tuple, list)) or (hasattr(value, "__iter__") and not isinstance(value, str))
        else value
    )
