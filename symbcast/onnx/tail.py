"""Operators that have no shape function here.

The standard defines some as functions of other operators. The walk goes through these operators, so the shapes and
requirements are exact. For the rest, onnx infers the shapes, one node at a time. onnx computes only with numbers, so
symbolic dimensions are passed as tokens: a token in the result stands for its dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, cast

from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.values.contents import sizes_of
from symbcast.graphs.values.value import NEVER, UNKNOWN, Constant, OpenValue, Value
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.onnx.protobuf.functions import definition_of, with_defaults

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.walking.walker import GraphScope

DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
"""The domains whose operators onnx knows."""

_ASK_NOTHING = frozenset({"ImageDecoder"})
"""Operators that accept inputs of any size."""

_MAX_HANDED = 1024
"""The largest constant passed to onnx, in elements; longer ones are weights."""

_INTEGERS = (6, 7)


class FunctionWalk(Protocol):
    """A walk that can go through the body of a function."""

    def function(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Return the outputs of a ``FunctionProto`` that a ``NodeProto`` calls."""


def infer(call: NodeCall) -> Sequence[Value]:
    """Return the outputs of a node, by the standard's definition of its operator or by onnx's inference."""
    if call.node.domain not in DOMAINS:
        call.give_up(f"unknown operator of domain {call.node.domain}")
    schema = _schema(call.node.op_type, call.version, call.node.domain)
    if schema is None:
        call.give_up(f"the operator is not in version {call.version} of {call.node.domain or 'ONNX'}")
    body = definition_of(schema, call.node.raw, call.version, [_type_of(v, {}) for v in call.inputs])
    if body is not None:
        outputs = cast("FunctionWalk", call.walk).function(
            body, with_defaults(call.node.raw, schema), call.inputs, call.scope
        )
        return _completed(call, schema, outputs)
    if call.node.op_type not in _ASK_NOTHING:
        call.note("not checked: the operator's requirements; its shape is inferred by onnx")
    return _inferred(call, schema)


def _completed(call: NodeCall, schema: Any, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a definition, with onnx's inferred shapes where the definition gives none."""
    open_ones = [v for v in outputs if type(v) in (Value, OpenValue) and v.shape is None and v is not NEVER]
    if not open_ones:
        return outputs
    try:
        inferred = _inferred(call, schema)
    except UnknownShapeError:
        return outputs
    # A definition has all outputs of the operator; a node may have fewer.
    return [b if a in open_ones else a for a, b in zip(outputs, inferred, strict=False)]


@lru_cache(maxsize=1024)
def _schema(op_type: str, version: int, domain: str) -> Any:
    """Return onnx's schema of an operator; None if it has none."""
    from onnx import defs

    try:
        return defs.get_schema(op_type, version, "" if domain == "ai.onnx" else domain)
    except defs.SchemaError:
        return None


def _inferred(call: NodeCall, schema: Any) -> Sequence[Value]:
    from onnx import helper, shape_inference

    tokens: dict[Dim, str] = {}
    types = {n: _type_of(v, tokens) for n, v in zip(call.node.inputs, call.inputs, strict=True) if n}
    held = {n: t for n, v in zip(call.node.inputs, call.inputs, strict=True) if n and (t := _tensor_of(v)) is not None}
    imports = [helper.make_opsetid(call.node.domain, call.version)]
    try:
        found = shape_inference.infer_node_outputs(schema, call.node.raw, types, held, opset_imports=imports)
    except Exception as error:  # onnx raises its own RuntimeError, or any error of its bindings
        raise UnknownShapeError(f"onnx could not infer its shape: {str(error).splitlines()[0]}") from None
    dims = {token: dim for dim, token in tokens.items()}
    return [_value(call, name, found.get(name), dims) for name in call.node.outputs]


def _type_of(value: Value | None, tokens: dict[Dim, str]) -> Any:
    """Return the type of a value in onnx's form, with a token for each dimension that is not a number."""
    from onnx import TypeProto

    made = TypeProto()
    if value is None:
        return made
    made.tensor_type.elem_type = value.dtype
    if value.shape is not None:
        made.tensor_type.shape.SetInParent()
        for size in value.shape:
            dim = made.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            else:
                dim.dim_param = tokens.setdefault(size, f"d{len(tokens)}")
    return made


def _tensor_of(value: Value | None) -> Any:
    """Return a small tensor with known elements in onnx's form."""
    from onnx import helper

    shape = None if value is None else numbers_of(value.shape)
    if value is None or shape is None or prod(shape) > _MAX_HANDED:
        return None
    if isinstance(value, Constant):
        return value.raw
    items = numbers_of(sizes_of(value.content, shape)) if value.dtype in _INTEGERS else None
    return None if items is None else helper.make_tensor("", value.dtype, shape, items)


def _value(call: NodeCall, name: str, found: Any, dims: dict[str, Dim]) -> Value:
    if found is None or found.WhichOneof("value") not in ("tensor_type", "sparse_tensor_type"):
        return UNKNOWN
    tensor = getattr(found, found.WhichOneof("value"))
    if not tensor.HasField("shape"):
        return Value(None, tensor.elem_type)
    shape: list[Dim] = []
    for axis, dim in enumerate(tensor.shape.dim):
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
            shape.append(int(dim.dim_value))
        elif dim.dim_param in dims:
            shape.append(dims[dim.dim_param])
        else:
            shape.append(call.fresh(f"size_{axis}", f"axis {axis} of {name}, which onnx does not infer"))
    return Value(tuple(shape), tensor.elem_type)
