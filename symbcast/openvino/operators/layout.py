"""Reshape, reorder, repeat, slice, split, join, pad and resize tensors."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.algebra.formulas import all_of, at_most
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking import gathering_and_slicing, reshaping
from symbcast.graphs.walking.gathering_and_slicing import SLICE_MASKS, SliceBounds
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import TargetShape
from symbcast.graphs.walking.unknown_ranks import reaches_of_joined, reaches_ranks, required_numbers
from symbcast.openvino.graph import OpenVinoCall, OpenVinoConstant, may_be_number, operator
from symbcast.operators.joining_and_slicing import Padding, pad, split_as, split_evenly
from symbcast.operators.operator import Dims
from symbcast.operators.reach import Reach, reach_beside_new, reach_of
from symbcast.operators.reshaping import aligned_at_right, depth_to_space, space_to_depth
from symbcast.operators.resizing import SINGLE_NUDGED, resize
from symbcast.operators.values.contents import Element
from symbcast.operators.values.value import EVERY, FIRST, Value


@operator("Unsqueeze", reaches=lambda call, shapes: [reach_beside_new(required_numbers(call, 1))], elements=FIRST)
def unsqueeze_(call: OpenVinoCall) -> Value:
    """Axes of size 1 inserted; an axis given twice is inserted once."""
    rank, numbers = len(call.shape(0)), call.input_numbers(1, "the axes")
    return reshaping.unsqueezed(call, list(dict.fromkeys(call.axis(a, rank + len(numbers)) for a in numbers)))


def _squeeze_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axes = required_numbers(call, 1)
    if not axes or call.integer("allow_axis_skip"):
        return []
    reach = reach_of(axes)
    # OpenVINO takes the axis 0 or -1 of a scalar for one of size 1.
    return [reach._replace(least=0) if reach.last == 1 and may_be_number(shapes) else reach]


@operator("Squeeze", reaches=_squeeze_reach, elements=FIRST)
def squeeze_(call: OpenVinoCall) -> Value:
    """Axes of size 1 removed: the given ones, or all of them."""
    dims = call.shape(0)
    axes = call.axes_of(dims, call.input_numbers(1, "the axes")) if call.has(1) else []
    if not axes or call.flag("allow_axis_skip"):
        axes = reshaping.axes_of_size_1(call, axes or range(len(dims)))
    return reshaping.squeezed(call, axes)


def _transpose_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    order = required_numbers(call, 1)
    return [Reach(rank=len(order))] if order else []


@operator("Transpose", reaches=_transpose_reach, elements=FIRST)
def transpose_(call: OpenVinoCall) -> Value:
    """The axes in a new order; reversed if no order is given."""
    call.shape(0)  # if it is unknown, the order does not matter
    return reshaping.reordered(call, call.input_numbers(1, "the order of the axes") or None)


@operator("Concat", reaches=reaches_of_joined, elements=EVERY)
def concat_(call: OpenVinoCall) -> Value:
    """Tensors concatenated along ``axis``; their other sizes must be equal."""
    return reshaping.concatenated(call, call.integer("axis"))


@operator("Split", elements=FIRST)
def split(call: OpenVinoCall) -> Sequence[Value]:
    """A tensor split along an axis into parts of equal size."""
    (axis,) = call.input_axes(1, len(call.shape(0)))
    return reshaping.parted(call, axis, split_evenly(call, call.shape(0)[axis], call.integer("num_splits")))


@operator("VariadicSplit", elements=FIRST)
def variadic_split(call: OpenVinoCall) -> Sequence[Value]:
    """A tensor split along an axis into parts of given sizes; one may be -1, which takes the remainder."""
    dims = call.shape(0)
    (axis,) = call.input_axes(1, len(dims))
    size, count = dims[axis], len(call.node.outputs)
    lengths = call.sizes(2)
    if lengths is None:
        parts: list[Dim] = [call.fresh(f"part_{n}", f"part {n} of {call.input_name(2)}", by=[2]) for n in range(count)]
        call.equal(add(*parts), size, "the parts must add up to the size")
        return reshaping.parted(call, axis, parts)
    call.refuse_if(len(lengths) != count, f"the node has {count} outputs for {len(lengths)} parts")
    left_over = [n for n, part in enumerate(lengths) if part == -1]
    call.refuse_if(len(left_over) > 1, "at most one part may be -1")
    parts = list(lengths)
    for n in left_over:
        parts[n] = subtract(size, add(0, *(part for k, part in enumerate(lengths) if k != n)))
    return reshaping.parted(call, axis, split_as(call, size, parts))


@operator("Tile", elements=FIRST)
def tile_(call: OpenVinoCall) -> Value:
    """The data repeated along each axis; the shorter of data shape and repeats is padded with 1 in front."""
    return reshaping.tiled(call, *aligned_at_right(call.shape(0), call.input_sizes(1)))


@operator("Broadcast", elements=FIRST)
def broadcast(call: OpenVinoCall) -> Value:
    """The data broadcast to a shape, in one of four modes: see `symbcast.core.rules.openvino`."""
    dims, target = call.shape(0), call.input_sizes(1)
    match call.text("mode", "numpy"):
        case "bidirectional":
            return reshaping.expanded(call, target, both_ways=True)
        case "explicit" | "none":
            axes = tuple(call.input_numbers(2, "the axes of the target"))
            call.broadcast(dims, target, rule="explicit", axes=axes, flavour="openvino")
            return call.output(target)
        case "pdpd":
            axis = call.integer("mode.auto_broadcast_axis", call.integer("axis", -1))
            call.broadcast(target, dims, rule="pdpd", axis=axis, flavour="openvino")
            return call.output(target)
        case _:
            return reshaping.expanded(call, target)


@operator("DepthToSpace", reaches=reaches_ranks(4), elements=FIRST)
def depth_to_space_(call: OpenVinoCall) -> Value:
    """Blocks of channels moved into the spatial axes."""
    return call.output(depth_to_space(call, call.rank(0, (4,), "data"), call.integer("block_size", 1)))


@operator("SpaceToDepth", reaches=reaches_ranks(4), elements=FIRST)
def space_to_depth_(call: OpenVinoCall) -> Value:
    """Spatial blocks moved into the channels."""
    return call.output(space_to_depth(call, call.rank(0, (4,), "data"), call.integer("block_size", 1)))


# Reshape, Slice and StridedSlice.


@operator("Reshape", elements=FIRST)
def reshape(call: OpenVinoCall) -> Value:
    """The same elements in a new shape; one -1 is inferred, and with ``special_zero`` a 0 keeps its axis."""
    reshaping.expect_line(call, 1)
    target, keeps_zero = call.elements(1), call.flag("special_zero")
    if target is None:
        shape = (
            reshaping.requested_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
        )
        if call.value(0).shape is not None:
            call.note("not followed: the output shape is data, and may contain 0 or -1")
        return call.output(shape)
    value = reshaping.reshaped(call, call.value(0), TargetShape(target, keeps_zero))
    return call.output(value.shape, value.content)


@operator("Slice", elements=FIRST)
def slice_(call: OpenVinoCall) -> Value:
    """A slice of the data on some axes, given by start, end and step."""
    reshaping.expect_line(call, 1, 2, 3, 4)
    starts, ends = gathering_and_slicing.slice_positions(call, 1), gathering_and_slicing.slice_positions(call, 2)
    steps, axes = call.numbers(3), call.numbers(4)
    if steps is None or (call.has(4) and axes is None):
        call.give_up("the axes or steps of the slice are not known")
    if starts is None or ends is None:
        call.give_up("the start or end of the slice is not known")
    value = gathering_and_slicing.slice_value(call, call.value(0), SliceBounds(starts, ends, axes, steps))
    return call.output(value.shape, value.content)


@operator("StridedSlice", elements=FIRST)
def strided_slice(call: OpenVinoCall) -> Value:
    """A slice like Python's ``x[a:b:c, None, ..., d]``; masks say which given positions are ignored."""
    begin, end = (_places(call, n) for n in (1, 2))
    steps = call.input_numbers(3, "the steps") if call.has(3) else [1] * len(begin)
    masks = {name: {n for n, bit in enumerate(call.integers(f"{name}_mask") or []) if bit} for name in SLICE_MASKS}
    value = gathering_and_slicing.strided(call, masks, begin, end, steps)
    return call.output(value.shape, value.content)


def _places(call: OpenVinoCall, position: int) -> Sequence[Element]:
    """Return the starts or ends in an input; None for each unknown one."""
    items = call.elements(position)
    if items is not None:
        return items
    lengths = call.shape(position)
    if len(lengths) != 1 or not isinstance(lengths[0], int):
        call.give_up("the start or end of the slice is not known")
    return [None] * int(lengths[0])


# Pad and Interpolate: axes resized by padding, to a size, or by a scale.


@operator("Pad", elements=(0, 3))
def pad_(call: OpenVinoCall) -> Value:
    """Padding with a constant, with the edge repeated, or by reflection with or without the edge."""
    dims, mode = call.shape(0), call.text("pad_mode", "constant")
    before, after = (call.input_sizes(n, least=-1) for n in (1, 2))
    call.refuse_if(not len(before) == len(after) == len(dims), f"pads_begin and pads_end must be {len(dims)} numbers")
    paddings = [Padding(*all_) for all_ in zip(dims, before, after, strict=True)]
    if mode == "symmetric":
        for padding in paddings:
            # "SYMMETRIC padding mode requires that 'pads_begin[D]' and 'pads_end[D]' must be not greater than
            # 'data_shape[D]'": 3 elements may have 3 more, not 4.
            fits = all_of(at_most(n, padding.size) for n in (padding.before, padding.after))
            call.require(fits, "an axis must be at least as long as its padding, which mirrors it")
        return call.output(tuple(p.padded for p in paddings))
    return call.output(pad(call, paddings, mode))


@operator("Interpolate")
def interpolate(call: OpenVinoCall) -> Value:
    """Some axes padded and then resized, to sizes or by scales."""
    dims = _padded(call, call.shape(0))
    axes = _axes(call, len(dims))
    if call.version >= 4 and call.text("shape_calculation_mode") == "scales":
        scales = _scales(call, 2 if call.version < 11 else 1, len(axes))
        sizes = [
            reshaping.scaled(call, dims[a], reshaping.read_scale(s, SINGLE_NUDGED), a)
            for a, s in zip(axes, scales, strict=False)
        ]
    else:
        sizes = list(call.input_sizes(1)[: len(axes)])
    return call.output(resize(call, dims, axes, sizes))


def _padded(call: OpenVinoCall, dims: Dims) -> Dims:
    """Return the sizes with the padding from the attributes; in version 0 padding does not change the shape."""
    if call.version < 4:
        return dims
    pads = [(call.integers(name) or [])[: len(dims)] for name in ("pads_begin", "pads_end")]
    before, after = (numbers + [0] * (len(dims) - len(numbers)) for numbers in pads)
    return tuple(add(d, a, b) for d, a, b in zip(dims, before, after, strict=True))


def _axes(call: OpenVinoCall, rank: int) -> list[int]:
    if call.version < 4:
        return [call.axis(a, rank) for a in call.integers("axes") or ()]
    position = 3 if call.version < 11 else 2
    return call.input_axes(position, rank) if call.has(position) else list(range(rank))


def _scales(call: OpenVinoCall, position: int, count: int) -> Sequence[Element | float]:
    """Return the scales in an input, None for each unknown one."""
    value = call.value(position)
    if isinstance(value, OpenVinoConstant):
        scales: list[float] = value.array.ravel().tolist()
        return scales
    return call.elements(position) or [None] * count
