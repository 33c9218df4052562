"""Operators that create tensors: constants, ranges, shapes as tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.operators.expected_shapes import known_shape
from symbcast.graphs.operators.making import asked_shape, counted, filled
from symbcast.graphs.values.contents import (
    Elements,
    from_array,
)
from symbcast.graphs.values.numbers import BOOL
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.protobuf.constant import TensorConstant
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import MULTINOMIAL_EMPTY

if TYPE_CHECKING:
    pass

FLOAT, INT64, STRING = 1, 7, 8


@operator("Constant")
def constant(call: NodeCall) -> Value:
    """A tensor, or numbers, that the node holds."""
    for name, dtype in (("value_int", INT64), ("value_ints", INT64), ("value_float", FLOAT), ("value_floats", FLOAT)):
        found = call.attribute(name)
        if found is not None:
            import numpy as np

            array = np.asarray(found, dtype=np.int64 if dtype == INT64 else np.float32)
            return Value(tuple(array.shape), dtype, from_array(array))
    if call.attribute("value_string") is not None:
        return Value((), STRING)
    if call.attribute("value_strings") is not None:
        return Value((len(call.attribute("value_strings")),), STRING)
    if call.attribute("sparse_value") is not None:
        sparse = call.attribute("sparse_value")
        return Value(tuple(sparse.dims), sparse.values.data_type)
    found = call.attribute("value")
    if found is None:
        call.give_up("the node holds no value")
    return TensorConstant(found)


@operator("Shape")
def shape(call: NodeCall) -> Value:
    """The sizes of the axes from ``start`` to ``end``."""
    if call.value(0).shape is None and not call.integer("start") and call.attribute("end") is None:
        return Value((call.rank_of(0),), INT64)
    dims = call.shape(0)
    rank = len(dims)
    start, end = call.integer("start"), call.integer("end", rank)
    low, high = (min(max(n + rank if n < 0 else n, 0), rank) for n in (start, end))
    taken = dims[low : max(low, high)]
    return Value((len(taken),), INT64, Elements(taken))


@operator("Size")
def size(call: NodeCall) -> Value:
    """The number of elements."""
    dims = call.value(0).shape
    return Value((), INT64, None if dims is None else Elements((multiply(*dims),)))


@operator("ConstantOfShape")
def constant_of_shape(call: NodeCall) -> Value:
    """One number, everywhere."""
    if call.value(0).shape == ():
        call.refuse(f"{call.input_name(0)} must have an axis")
    dims = asked_shape(call, 0)
    found = call.attribute("value")
    if found is None:
        return Value(dims, FLOAT, filled(0, dims))
    held = TensorConstant(found)
    content = held.content
    number = content.items[0] if isinstance(content, Elements) and len(content.items) == 1 else None
    return Value(dims, held.dtype, filled(number, dims) if held.dtype != BOOL or number is not None else None)


@operator("Range")
def range_(call: NodeCall) -> Value:
    """Numbers from ``start`` on, before ``limit``, in steps of ``delta``."""
    return counted(call)


@operator("RandomNormal", "RandomUniform")
def random(call: NodeCall) -> Value:
    """Numbers in a shape that the node holds."""
    return Value(tuple(call.integers("shape") or ()), call.integer("dtype", FLOAT))


@operator("Multinomial")
def multinomial(call: NodeCall) -> Value:
    """Samples for each line of the input."""
    rows, classes = call.rank(0, (2,), "the input")
    count = call.integer("sample_size", 1)
    if call.does(MULTINOMIAL_EMPTY):
        for size, what in ((rows, "a line"), (classes, "a class"), (count, "a sample")):
            call.at_most(1, size, f"there must be {what}")
    return Value((rows, count), call.integer("dtype", 6))


@operator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(call: NodeCall) -> Value:
    """A window as long as the input says."""
    held = known_shape(call, 0, call.input_name(0))
    if held is not None:
        call.equal(multiply(*held), 1, "the length must be one number")
    sizes = call.sizes(0)
    length = sizes[0] if sizes else call.fresh("length", f"what {call.input_name(0)} holds", by=[0])
    return Value((length,), call.integer("output_datatype", FLOAT))
