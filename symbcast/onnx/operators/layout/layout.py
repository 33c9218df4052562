"""Operators that change the shape or order of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.operators.axes import stretched, transposed, with_axes, without_axes
from symbcast.graphs.operators.expected_shapes import expect_line
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import SQUEEZE_NO_AXES
from symbcast.operators.rearranging.layout import (
    depth_to_space,
    expand,
    new_axes,
    space_to_depth,
    squeeze,
    tile,
    transpose,
    unsqueeze,
)

if TYPE_CHECKING:
    pass


@operator("Unsqueeze")
def unsqueeze_(call: NodeCall) -> Value:
    """Insert axes of size 1."""
    data, dims = call.value(0), call.shape(0)
    if call.version >= 13 and len(call.value(1).shape or ()) > 1:
        call.refuse("axes must have at most one axis")
    axes = call.axes("axes", 1, 13) or []
    places = new_axes(call, len(dims), axes)
    return Value(unsqueeze(call, dims, axes), data.dtype, with_axes(data.content, places, len(dims)))


@operator("Squeeze")
def squeeze_(call: NodeCall) -> Value:
    """Remove axes of size 1."""
    data = call.value(0)
    dims = call.shape(0)
    if call.version >= 13:
        expect_line(call, 1)
    axes = call.axes("axes", 1, 13)
    # ONNX Runtime treats an empty list of axes as none given.
    if axes is None or (call.does(SQUEEZE_NO_AXES) and not axes):
        open_axes = [n for n, d in enumerate(dims) if not isinstance(d, int) and not call.bounds.is_at_least(d, 2)]
        if open_axes:
            call.give_up(f"whether axis {open_axes[0]} is 1, and therefore removed, depends on the sizes")
        axes = [n for n, d in enumerate(dims) if d == 1]
    shape = squeeze(call, dims, axes)
    return Value(shape, data.dtype, without_axes(data.content, {call.axis(a, len(dims)) for a in axes}))


@operator("Transpose")
def transpose_(call: NodeCall) -> Value:
    """The axes in another order."""
    data = call.value(0)
    dims = call.shape(0)
    order = call.integers("perm")
    shape = transpose(call, dims, order)
    return Value(shape, data.dtype, transposed(data.content, dims, range(len(dims))[::-1] if order is None else order))


@operator("Expand")
def expand_(call: NodeCall) -> Value:
    """The data and a shape, broadcast together both ways."""
    data = call.value(0)
    shape = expand(call, call.shape(0), asked_shape(call, 1), both_ways=True)
    return Value(shape, data.dtype, stretched(data, shape))


@operator("Tile")
def tile_(call: NodeCall) -> Value:
    """The data repeated along each axis."""
    dims = call.shape(0)
    if call.version < 6:
        counts, axes = call.sizes(1), call.numbers(2)
        if counts is None or axes is None:
            call.give_up("the number of repetitions is not known")
        place = call.axis(axes[0], len(dims))
        return Value((*dims[:place], multiply(dims[place], counts[0]), *dims[place + 1 :]), call.dtype())
    expect_line(call, 1)
    repeats = asked_shape(call, 1)
    data, shape = call.value(0), tile(call, dims, repeats)
    return Value(
        shape,
        data.dtype,
        stretched(data, shape) if all(r == 1 or d == 1 for d, r in zip(dims, repeats, strict=True)) else None,
    )


@operator("DepthToSpace")
def depth_to_space_(call: NodeCall) -> Value:
    """Blocks of the channels laid out in space."""
    dims = call.rank(0, (4,), "the input")
    return Value(depth_to_space(call, dims, call.integer("blocksize", 1)), call.dtype())


@operator("SpaceToDepth")
def space_to_depth_(call: NodeCall) -> Value:
    """Blocks of space put into channels."""
    dims = call.rank(0, (4,), "the input")
    return Value(space_to_depth(call, dims, call.integer("blocksize", 1)), call.dtype())
