"""Reshape and Flatten: the same elements in the same order, in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.graphs.operators.expected_shapes import expect_line
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.operators.reshaping import Wanted, content_reshaped, reshaped
from symbcast.graphs.values.contents import Element
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import RESHAPE_BESIDE_ZERO
from symbcast.onnx.runtime.reshape import infer_size_beside_zero
from symbcast.operators.rearranging.reshape import flatten

if TYPE_CHECKING:
    pass


@operator("Reshape")
def reshape_(call: NodeCall) -> Value:
    """The same elements in another shape; a 0 keeps the size of its axis, and one -1 is inferred."""
    if call.version < 5:
        wanted: Sequence[Element] = call.integers("shape") or []
    else:
        expect_line(call, 1)
        held = call.elements(1)
        if held is None:
            return _reshape_to_data(call)
        wanted = held
    inferred = None
    if call.does(RESHAPE_BESIDE_ZERO) and call.integer("allowzero"):
        inferred = partial(infer_size_beside_zero, call)
    return reshaped(call, call.value(0), Wanted(wanted, not call.integer("allowzero"), inferred))


def _reshape_to_data(call: NodeCall) -> Value:
    """A reshape to a shape that data decide: new sizes whose product is the number of elements."""
    shape = asked_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
    if call.value(0).shape is not None:
        call.note("the requested shape is data: positions of 0 and -1 in it were not followed")
    return Value(shape, call.dtype())


@operator("Flatten")
def flatten_(call: NodeCall) -> Value:
    """A matrix: the axes before ``axis`` form the rows, the others the columns."""
    data = call.value(0)
    axis = call.integer("axis", 1)
    if data.shape is None:
        name = call.input_name(0)
        call.note(f"not checked: the axis {axis} must be at most the rank of {name}, which is not known")
        sizes = (call.fresh(f"size_{n}", f"{what} of {name}") for n, what in enumerate(("rows", "columns")))
        return Value(tuple(sizes), data.dtype)
    dims = data.shape
    if not -len(dims) <= axis <= len(dims):
        call.refuse(f"axis {axis} must be at most the rank {len(dims)}")
    place = axis + len(dims) if axis < 0 else axis
    shape = flatten(flatten(dims, place, len(dims)), 0, place)
    return Value(shape, data.dtype, content_reshaped(data, shape))
