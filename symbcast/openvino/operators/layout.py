"""Operators that reshape, reorder, repeat, split or join tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.graphs.operators.axes import stretched, transposed, with_axes, without_axes
from symbcast.graphs.operators.joining import contents_joined
from symbcast.graphs.values.contents import Content, Elements
from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator
from symbcast.operators.rearranging.joins import concat, split_as, split_evenly
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
    from symbcast.core.algebra.terms import Dim


@operator("Unsqueeze")
def unsqueeze_(call: OpenVinoCall) -> Value:
    """Axes of size 1 inserted; an axis given twice is inserted once."""
    data, dims = call.value(0), call.shape(0)
    given = call.input_numbers(1, "the axes")
    rank = len(dims) + len(given)
    axes = list(dict.fromkeys(call.axis(a, rank) for a in given))
    places = new_axes(call, len(dims), axes)
    return call.made(unsqueeze(call, dims, axes), with_axes(data.content, places, len(dims)))


@operator("Squeeze")
def squeeze_(call: OpenVinoCall) -> Value:
    """Axes of size 1 removed: the given ones, or all of them."""
    data, dims = call.value(0), call.shape(0)
    axes = call.axes_of(dims, call.input_numbers(1, "the axes")) if call.has(1) else []
    skips = call.flag("allow_axis_skip")
    if not axes or skips:
        looked_at = axes or range(len(dims))
        undecided = [n for n in looked_at if not isinstance(dims[n], int) and not call.bounds.is_at_least(dims[n], 2)]
        if undecided:
            call.give_up(f"whether axis {undecided[0]} is 1, and so removed, depends on the sizes")
        axes = [n for n in looked_at if dims[n] == 1]
    shape = squeeze(call, dims, axes)
    return call.made(shape, without_axes(data.content, set(axes)))


@operator("Transpose")
def transpose_(call: OpenVinoCall) -> Value:
    """The axes in a new order; reversed if no order is given."""
    data, dims = call.value(0), call.shape(0)
    order = call.input_numbers(1, "the order of the axes") or list(range(len(dims)))[::-1]
    shape = transpose(call, dims, order)
    return call.made(shape, transposed(data.content, dims, order))


@operator("Concat")
def concat_(call: OpenVinoCall) -> Value:
    """Tensors concatenated along ``axis``; their other sizes must be equal."""
    values = [call.value(n) for n in range(len(call.inputs))]
    shapes = [call.shape(n) for n in range(len(call.inputs))]
    axis = call.integer("axis")
    shape = concat(call, shapes, axis)
    return call.made(shape, contents_joined(values, call.axis(axis, len(shape)), shape))


@operator("Split")
def split(call: OpenVinoCall) -> Sequence[Value]:
    """A tensor split along an axis into parts of equal size."""
    (axis,) = call.input_axes(1, len(call.shape(0)))
    return _parts(call, axis, split_evenly(call, call.shape(0)[axis], call.integer("num_splits")))


@operator("VariadicSplit")
def variadic_split(call: OpenVinoCall) -> Sequence[Value]:
    """A tensor split along an axis into parts of given sizes; one may be -1, which takes the remainder."""
    dims = call.shape(0)
    (axis,) = call.input_axes(1, len(dims))
    size, count = dims[axis], len(call.node.outputs)
    given = call.sizes(2)
    if given is None:
        parts: list[Dim] = [call.fresh(f"part_{n}", f"part {n} of {call.input_name(2)}", by=[2]) for n in range(count)]
        call.equal(add(*parts), size, "the parts must add up to the size")
        return _parts(call, axis, parts)
    if len(given) != count:
        call.refuse(f"the node has {count} outputs for {len(given)} parts")
    left_over = [n for n, part in enumerate(given) if part == -1]
    if len(left_over) > 1:
        call.refuse("at most one part may be -1")
    parts = list(given)
    for n in left_over:
        parts[n] = subtract(size, add(0, *(part for k, part in enumerate(given) if k != n)))
    return _parts(call, axis, split_as(call, size, parts))


def _parts(call: OpenVinoCall, axis: int, parts: Sequence[Dim]) -> list[Value]:
    """Return the parts of the first input along an axis; parts of a vector keep their known elements."""
    dims = call.shape(0)
    items = call.elements(0) if len(dims) == 1 else None
    values = []
    start: Dim = 0
    for n, part in enumerate(parts):
        content: Content | None = None
        if items is not None and isinstance(part, int) and isinstance(start, int):
            content = Elements(tuple(items[start : start + part]))
        values.append(call.made((*dims[:axis], part, *dims[axis + 1 :]), content, n))
        start = add(start, part)
    return values


@operator("Tile")
def tile_(call: OpenVinoCall) -> Value:
    """The data repeated along each axis; the shorter of data shape and repeats is padded with 1 in front."""
    data, dims = call.value(0), call.shape(0)
    repeats = call.input_sizes(1)
    rank = max(len(dims), len(repeats))
    dims, repeats = (1,) * (rank - len(dims)) + dims, (1,) * (rank - len(repeats)) + repeats
    shape = tile(call, dims, repeats)
    is_stretched = all(r == 1 or d == 1 for d, r in zip(dims, repeats, strict=True))
    return call.made(shape, stretched(data, shape) if is_stretched else None)


@operator("Broadcast")
def broadcast(call: OpenVinoCall) -> Value:
    """The data broadcast to a shape, in one of four modes: see `symbcast.core.broadcasting.openvino`."""
    data, dims = call.value(0), call.shape(0)
    target = call.input_sizes(1)
    match call.text("mode", "numpy"):
        case "bidirectional":
            shape = expand(call, dims, target, both_ways=True)
        case "explicit" | "none":
            axes = tuple(call.input_numbers(2, "the axes of the target"))
            call.broadcast(dims, target, rule="explicit", axes=axes, flavour="openvino")
            return call.made(target)
        case "pdpd":
            axis = call.integer("mode.auto_broadcast_axis", call.integer("axis", -1))
            call.broadcast(target, dims, rule="pdpd", axis=axis, flavour="openvino")
            return call.made(target)
        case _:
            shape = expand(call, dims, target)
    return call.made(shape, stretched(data, shape))


@operator("DepthToSpace")
def depth_to_space_(call: OpenVinoCall) -> Value:
    """Blocks of channels moved into the spatial axes."""
    dims = call.rank(0, (4,), "data")
    return call.made(depth_to_space(call, dims, call.integer("block_size", 1)))


@operator("SpaceToDepth")
def space_to_depth_(call: OpenVinoCall) -> Value:
    """Spatial blocks moved into the channels."""
    dims = call.rank(0, (4,), "data")
    return call.made(space_to_depth(call, dims, call.integer("block_size", 1)))
