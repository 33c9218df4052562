"""Operators that give the same elements another shape or order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.onnx.differences import SQUEEZE_NO_AXES
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.operators.constants import asked_shape
from symbcast.onnx.operators.expected_shapes import expect_line
from symbcast.onnx.registry import operator
from symbcast.onnx.values.contents import Content, Element, Elements, Ramp, Stack, as_ramp, listed
from symbcast.onnx.values.value import Dims, Value
from symbcast.operators.layout import (
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
    from symbcast.core.algebra.terms import Dim


@operator("Unsqueeze")
def unsqueeze_(call: NodeCall) -> Value:
    """Axes of size 1 put in."""
    data, dims = call.value(0), call.shape(0)
    if call.version >= 13 and len(call.value(1).shape or ()) > 1:
        call.refuse("axes must have one axis at most")
    axes = call.axes("axes", 1, 13) or []
    places = new_axes(call, len(dims), axes)
    return Value(unsqueeze(call, dims, axes), data.dtype, with_axes(data.content, places, len(dims)))


def with_axes(content: Content | None, places: Sequence[int], rank: int) -> Content | None:
    """Return the content of a tensor with axes of size 1 put in."""
    if isinstance(content, Ramp):
        return _ramp_with_axes(content, places)
    if isinstance(content, Stack) and all(place < rank for place in places):
        return Stack(tuple(_ramp_with_axes(part, places) for part in content.parts))
    return content if isinstance(content, Elements) else None


def _ramp_with_axes(ramp: Ramp, places: Sequence[int]) -> Ramp:
    strides = list(ramp.strides)
    for place in places:
        strides.insert(place, 0)
    return Ramp(ramp.start, tuple(strides))


@operator("Squeeze")
def squeeze_(call: NodeCall) -> Value:
    """Axes of size 1 taken out."""
    data = call.value(0)
    dims = call.shape(0)
    if call.version >= 13:
        expect_line(call, 1)
    axes = call.axes("axes", 1, 13)
    # ONNX Runtime takes no axes for none given.
    if axes is None or (call.does(SQUEEZE_NO_AXES) and not axes):
        open_axes = [n for n, d in enumerate(dims) if not isinstance(d, int) and not call.bounds.is_at_least(d, 2)]
        if open_axes:
            call.give_up(f"whether axis {open_axes[0]} is 1, and so taken out, depends on the sizes")
        axes = [n for n, d in enumerate(dims) if d == 1]
    shape = squeeze(call, dims, axes)
    return Value(shape, data.dtype, without_axes(data.content, {call.axis(a, len(dims)) for a in axes}))


def without_axes(content: Content | None, places: Collection[int]) -> Content | None:
    """Return the content of a tensor with axes of size 1 taken out."""
    if isinstance(content, Ramp):
        return Ramp(content.start, tuple(s for n, s in enumerate(content.strides) if n not in places))
    return content if isinstance(content, Elements) else None


@operator("Transpose")
def transpose_(call: NodeCall) -> Value:
    """The axes in another order."""
    data = call.value(0)
    dims = call.shape(0)
    order = call.integers("perm")
    shape = transpose(call, dims, order)
    return Value(shape, data.dtype, transposed(data.content, dims, range(len(dims))[::-1] if order is None else order))


def transposed(content: Content | None, dims: Dims, order: Sequence[int]) -> Content | None:
    """Return the content of a tensor of some sizes with its axes in another order."""
    if isinstance(content, Ramp):
        return Ramp(content.start, tuple(content.strides[n] for n in order))
    if len(dims) < 2:
        return content
    items, sizes = listed(content, dims), numbers_of(dims)
    return None if items is None or sizes is None else Elements(_reordered(items, sizes, order))


def _reordered(items: Sequence[Element], sizes: Sequence[int], order: Sequence[int]) -> tuple[Element, ...]:
    strides = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    indices = combinations(*(range(sizes[n]) for n in order))
    return tuple(items[sum(i * strides[n] for i, n in zip(index, order, strict=True))] for index in indices)


@operator("Expand")
def expand_(call: NodeCall) -> Value:
    """The data and a shape, broadcast together both ways."""
    data = call.value(0)
    shape = expand(call, call.shape(0), asked_shape(call, 1), both_ways=True)
    return Value(shape, data.dtype, stretched(data, shape))


def stretched(data: Value, shape: Dims) -> Content | None:
    """Return the content of a value that is broadcast to a shape."""
    if data.content is None or data.shape is None:
        return None
    if data.shape == shape:
        return data.content
    ramp = as_ramp(data.content, data.shape)
    if ramp is None:
        return None
    strides: list[Dim] = [0] * (len(shape) - len(data.shape))
    for size, stride, wanted in zip(data.shape, ramp.strides, shape[len(strides) :], strict=True):
        if size not in (wanted, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return Ramp(ramp.start, tuple(strides))


@operator("Tile")
def tile_(call: NodeCall) -> Value:
    """The data repeated along each axis."""
    dims = call.shape(0)
    if call.version < 6:
        counts, axes = call.sizes(1), call.numbers(2)
        if counts is None or axes is None:
            call.give_up("how often it repeats the data is not known")
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
