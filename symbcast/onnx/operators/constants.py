"""Operators that make a tensor out of nothing, or out of a shape: constants, ranges, shapes as tensors."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from symbcast.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.algebra.bounds import numbers_of
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.operators.expected_shapes import expect_numbers
from symbcast.onnx.registry import operator
from symbcast.onnx.values.contents import MAX_ELEMENTS, Content, Elements, Ramp, from_array, is_size
from symbcast.onnx.values.numbers import BOOL
from symbcast.onnx.values.value import Constant, Dims, Value

FLOAT, INT64, STRING = 1, 7, 8


@operator("Constant")
def constant(call: NodeCall) -> Value:
    """A tensor, or numbers, that the node holds."""
    for name, dtype in (("value_int", INT64), ("value_ints", INT64), ("value_float", FLOAT), ("value_floats", FLOAT)):
        found = call.attribute(name)
        if found is not None:
            import numpy as np

            held = {
                "value_int": found.i,
                "value_ints": found.ints,
                "value_float": found.f,
                "value_floats": found.floats,
            }
            array = np.asarray(held[name], dtype=np.int64 if dtype == INT64 else np.float32)
            return Value(tuple(array.shape), dtype, from_array(array))
    if call.attribute("value_string") is not None:
        return Value((), STRING)
    if call.attribute("value_strings") is not None:
        return Value((len(call.attribute("value_strings").strings),), STRING)
    if call.attribute("sparse_value") is not None:
        sparse = call.attribute("sparse_value").sparse_tensor
        return Value(tuple(sparse.dims), sparse.values.data_type)
    found = call.attribute("value")
    if found is None:
        call.give_up("the node holds no value")
    return Constant(found.t)


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
    held = Constant(found.t)
    content = held.content
    number = content.items[0] if isinstance(content, Elements) and len(content.items) == 1 else None
    return Value(dims, held.dtype, filled(number, dims) if held.dtype != BOOL or number is not None else None)


def filled(element: object, dims: Dims) -> Content | None:
    """Return the content of a tensor that holds one element everywhere."""
    if not is_size(element):
        return None
    sizes = numbers_of(dims)
    if sizes is not None and 0 <= prod(sizes) <= _LISTED:
        return Elements((element,) * prod(sizes))
    return Ramp(element, (0,) * len(dims))


_LISTED = 64


def asked_shape(call: NodeCall, position: int, ignored: Collection[int] = ()) -> Dims:
    """Return the shape that an input holds, each of its elements a size; unknown ones are sizes of their own.

    Of those at the positions ``ignored`` nothing is asked.
    """
    items = call.elements(position)
    if items is None:
        lengths = call.shape(position)
        if len(lengths) != 1 or not isinstance(lengths[0], int):
            call.give_up(f"the shape is what {call.input_name(position)} holds, which is not known")
        if lengths[0] > MAX_ELEMENTS:
            call.give_up(
                f"the shape has {lengths[0]} axes, and more than {MAX_ELEMENTS} that data decide are not followed"
            )
        items = (None,) * int(lengths[0])
    dims = []
    for axis, item in enumerate(items):
        if is_size(item):
            if axis not in ignored:
                call.is_size(item, "a size must not be negative")
            dims.append(item)
            continue
        name = call.input_name(position)
        dims.append(call.fresh(f"size_{axis}", f"element {axis} of {name}"))
        if axis not in ignored:
            call.note(
                f"that element {axis} of {name}, which is data, is not negative was not looked at", is_about_data=True
            )
    return tuple(dims)


@operator("Range")
def range_(call: NodeCall) -> Value:
    """Numbers from ``start`` on, before ``limit``, in steps of ``delta``."""
    expect_numbers(call, 0, 1, 2)
    items = [(call.elements(n) or (None,))[0] for n in range(3)]
    start, limit, delta = items
    if not (is_size(start) and is_size(limit) and isinstance(delta, int)) or delta == 0:
        if delta == 0:
            call.refuse("the step of a range must not be 0")
        length = call.fresh("length", "how many numbers the range holds")
        return Value((length,), call.dtype())
    distance = subtract(limit, start) if delta > 0 else subtract(start, limit)
    count = floor_divide(add(distance, abs(delta) - 1), abs(delta))
    count = call.bounds.larger(count, 0)
    content: Content = Ramp(start, (delta,))
    if isinstance(count, int) and count <= _LISTED:
        content = Elements(tuple(add(start, multiply(delta, n)) for n in range(count)))
    return Value((count,), call.dtype(), content)


@operator("RandomNormal", "RandomUniform")
def random(call: NodeCall) -> Value:
    """Numbers in a shape that the node holds."""
    return Value(tuple(call.integers("shape") or ()), call.integer("dtype", FLOAT))


@operator("Multinomial")
def multinomial(call: NodeCall) -> Value:
    """Samples for each line of the input."""
    rows = call.rank(0, (2,), "the input")[0]
    return Value((rows, call.integer("sample_size", 1)), call.integer("dtype", 6))


@operator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(call: NodeCall) -> Value:
    """A window as long as the input says."""
    sizes = call.sizes(0)
    length = sizes[0] if sizes else call.fresh("length", f"what {call.input_name(0)} holds")
    return Value((length,), call.integer("output_datatype", FLOAT))
