"""Reshape, reorder, repeat, join, split, slice, pad and crop tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking import reshaping
from symbcast.graphs.walking.gathering_and_slicing import SliceBounds, slice_positions, slice_value
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.reshaping import TargetShape
from symbcast.graphs.walking.unknown_ranks import reaches_of_joined, reaches_ranks, required_numbers
from symbcast.onnx.operators import declarations
from symbcast.onnx.operators.declarations import RuntimeDifference, operator
from symbcast.operators import joining_and_slicing
from symbcast.operators.joining_and_slicing import MODES, NOT_BELOW, Joined, Padding
from symbcast.operators.operator import Context, Dims
from symbcast.operators.reach import Reach, reach_beside_new, reach_of
from symbcast.operators.reshaping import (
    SAME_NUMBER,
    depth_to_space,
    flatten,
    infer_size,
    space_to_depth,
    whole_quotient,
)
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import Element, is_size
from symbcast.operators.values.intervals import Estimate, some_of
from symbcast.operators.values.value import Value


def _required_axes(call: NodeCall) -> list[int]:
    axes = call.axes("axes", 1, 13)
    if not axes:  # without a list of axes, the shape depends on all axes
        raise UnknownShapeError
    return axes


def _unsqueeze_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axes = call.axes("axes", 1, 13) or []
    return intervals.with_axes(call.value(0), axes, len(outputs[position].shape or ()), call.bounds)


@operator(
    "Unsqueeze", reaches=lambda call, shapes: [reach_beside_new(_required_axes(call))], interval=_unsqueeze_interval
)
def unsqueeze_(call: NodeCall) -> Value:
    """Insert axes of size 1."""
    call.shape(0)  # if it is unknown, nothing else is checked
    call.refuse_if(call.version >= 13 and len(call.value(1).shape or ()) > 1, "axes must have at most one axis")
    return reshaping.unsqueezed(call, call.axes("axes", 1, 13) or [])


# (1, 3, 1) with an empty list of axes becomes (3,), as without a list.
SQUEEZE_NO_AXES = RuntimeDifference("Squeeze", "treats an empty list of axes as none given", "no axis is removed")


@operator(
    "Squeeze",
    reaches=lambda call, shapes: [reach_of(_required_axes(call))],
    interval=lambda call, outputs, n: intervals.without_axes(
        call.value(0), call.axes("axes", 1, 13) or [], call.bounds
    ),
)
def squeeze_(call: NodeCall) -> Value:
    """Remove axes of size 1."""
    rank = len(call.shape(0))
    if call.version >= 13:
        reshaping.expect_line(call, 1)
    axes = call.axes("axes", 1, 13)
    # ONNX Runtime treats an empty list of axes as none given.
    if axes is None or (call.does(SQUEEZE_NO_AXES) and not axes):
        axes = reshaping.axes_of_size_1(call, range(rank))
    return reshaping.squeezed(call, axes)


def _transpose_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    order = call.integers("perm")
    return [] if order is None else [Reach(rank=len(order))]


def _transpose_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    order = call.integers("perm") or range(len(call.shape(0)))[::-1]
    return intervals.transposed(call.value(0), order, call.bounds)


@operator("Transpose", reaches=_transpose_reach, interval=_transpose_interval)
def transpose_(call: NodeCall) -> Value:
    """The axes in another order."""
    return reshaping.reordered(call, call.integers("perm"))


@operator("Expand", reaches=declarations.reaches_broadcast, interval=declarations.interval_of_first)
def expand_(call: NodeCall) -> Value:
    """The data and a shape, broadcast together both ways."""
    return reshaping.expanded(call, reshaping.requested_shape(call, 1), both_ways=True)


def _reach_by_length(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reach of an operator whose rank is the length of an input, unless it lists axes."""
    shape = shapes[1] if len(shapes) > 1 else None
    if shape is None or len(shape) != 1 or not isinstance(shape[0], int) or call.integers("axes") or call.has(3):
        raise UnknownShapeError
    return [Reach(rank=shape[0] // (2 if call.node.op_type == "Pad" else 1))]


@operator("Tile", reaches=_reach_by_length, interval=declarations.interval_of_first)
def tile_(call: NodeCall) -> Value:
    """The data repeated along each axis."""
    dims = call.shape(0)
    # Before opset 6 Tile repeats along one axis, by one number.
    if call.version < 6:
        counts, axes = call.sizes(1), call.numbers(2)
        if counts is None or axes is None:
            call.give_up("the number of repetitions is not known")
        place = call.axis(axes[0], len(dims))
        return Value((*dims[:place], multiply(dims[place], counts[0]), *dims[place + 1 :]), call.dtype())
    reshaping.expect_line(call, 1)
    return reshaping.tiled(call, dims, reshaping.requested_shape(call, 1))


@operator("DepthToSpace", reaches=reaches_ranks(4))
def depth_to_space_(call: NodeCall) -> Value:
    """Blocks of the channels laid out in space."""
    return call.output(depth_to_space(call, call.rank(0, (4,), "the input"), call.integer("blocksize", 1)))


@operator("SpaceToDepth", reaches=reaches_ranks(4))
def space_to_depth_(call: NodeCall) -> Value:
    """Blocks of space put into channels."""
    return call.output(space_to_depth(call, call.rank(0, (4,), "the input"), call.integer("blocksize", 1)))


# Infer a -1 together with sizes of 0 as ONNX Runtime does (seen with 1.31).


def infer_size_beside_zero(call: NodeCall, context: Context, data: Dims, target: Sequence[Dim]) -> Dim:
    """Return the size at a -1 if others may be 0: the runtime leaves sizes of 0 out of both products."""
    empty = call.empty(target)
    if call.is_known(empty) is False:
        return infer_size(context, data, target)
    filled = [call.bounds.larger(d, 1) for d in target]
    with call.asker.under(empty):
        call.require(any_of(equal(d, 0) for d in data), SAME_NUMBER)
        beside_zero = whole_quotient(call, [call.bounds.larger(d, 1) for d in data], filled)
    if call.is_known(empty):
        return beside_zero
    with call.asker.under(negate(empty)):
        beside_others = whole_quotient(call, data, filled)
    if beside_zero == beside_others:
        return beside_zero
    name, text = f"{call.place.name}_worked_out", "the size for -1, which depends on whether another size is 0"
    return call.asker.by_cases(name, text, empty, beside_zero, beside_others)


RESHAPE_BESIDE_ZERO = RuntimeDifference(
    "Reshape",
    "leaves sizes of 0 out of both products to work out a -1, with allowzero",
    "a -1 together with a 0 is an error",
)


@operator("Reshape", interval=declarations.interval_of_first)
def reshape_(call: NodeCall) -> Value:
    """The same elements in another shape; a 0 keeps the size of its axis, and one -1 is inferred."""
    if call.version < 5:
        target: Sequence[Element] = call.integers("shape") or []
    else:
        reshaping.expect_line(call, 1)
        elements = call.elements(1)
        if elements is None:
            return _reshape_to_data(call)
        target = elements
    inferred = None
    if call.does(RESHAPE_BESIDE_ZERO) and call.integer("allowzero"):
        inferred = partial(infer_size_beside_zero, call)
    return reshaping.reshaped(call, call.value(0), TargetShape(target, not call.integer("allowzero"), inferred))


def _reshape_to_data(call: NodeCall) -> Value:
    """A reshape to a shape that data decide: new sizes whose product is the number of elements."""
    shape = reshaping.requested_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
    if call.value(0).shape is not None:
        call.note("the requested shape is data: positions of 0 and -1 in it were not followed")
    return Value(shape, call.dtype())


@operator("Flatten", interval=declarations.interval_of_first)
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
    call.refuse_if(not -len(dims) <= axis <= len(dims), f"axis {axis} must be at most the rank {len(dims)}")
    place = axis + len(dims) if axis < 0 else axis
    shape = flatten(flatten(dims, place, len(dims)), 0, place)
    return Value(shape, data.dtype, reshaping.content_reshaped(data, shape))


# How ONNX Runtime concatenates tensors if some are empty (seen with 1.31).


def join_skipping_empty(call: NodeCall, _: Context, shapes: Sequence[Dims], axis: int) -> list[Dim]:
    """Return the sizes that all tensors share except on one axis."""
    # The runtime ignores empty tensors; if all are empty, it takes the sizes of the first one. So two tensors need the
    # same size only where neither is empty, and a tensor that never is decides the sizes of the output.
    empty = [call.empty(s) for s in shapes]
    chosen = next((n for n, e in enumerate(empty) if e == FALSE), len(shapes) - 1)
    dims = list(shapes[chosen])
    for n in range(len(dims)):
        if n == axis:
            continue
        for m, other in enumerate(shapes):
            for k in range(m) if empty[chosen] != FALSE else (chosen,):
                if other[n] != shapes[k][n]:
                    reason = joining_and_slicing.off_axis_reason(n, axis, len(dims))
                    call.require(any_of([empty[m], empty[k], equal(other[n], shapes[k][n])]), reason)
        if empty[chosen] == FALSE:
            known = [s[n] for s, e in zip(shapes, empty, strict=True) if e == FALSE and isinstance(s[n], int)]
            dims[n] = known[0] if known else dims[n]
            continue
        dims[n] = _by_emptiness(call, [s[n] for s in shapes], empty, n)
    return dims


def _by_emptiness(call: NodeCall, sizes: Sequence[Dim], empty: Sequence[Formula], axis: int) -> Dim:
    """Return the size of the first nonempty tensor, or else of the first one."""
    what = f"axis {axis}, of the first of them that holds something"
    name = f"{call.place.name}_dim_{axis}"
    if len(set(sizes)) == 1:
        return sizes[0]
    if len(sizes) == 2 and not any(d in call.asker.cases for d in sizes):
        return call.asker.by_cases(
            name,
            what,
            negate(empty[0]),
            sizes[0],
            call.asker.by_cases(name, what, negate(empty[1]), sizes[1], sizes[0]),
        )
    return call.asker.symbol(name, what, is_undecided=True)


# Operators that concatenate or split tensors along an axis.


def _concat_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axis = call.integer("axis") % len(call.shape(0))
    return intervals.joined(call.values(), axis, call.bounds)


@operator("Concat", reaches=reaches_of_joined, interval=_concat_interval)
def concat_(call: NodeCall) -> Value:
    """Tensors concatenated along ``axis``; their other sizes are equal."""
    return reshaping.concatenated(call, *joining(call))


# (0, 0) and (2, 3) joined along axis 0 are (2, 3).
CONCAT_EMPTY = RuntimeDifference(
    "Concat ConcatFromSequence", "ignores empty tensors", "their sizes on the other axes must be equal too"
)


def joining(call: NodeCall) -> tuple[int, Joined | None]:
    """Return the attribute ``axis``, along which tensors are concatenated, and how their other sizes are joined."""
    # Before opset 4 the axis may be left out, and is 1 then.
    axis = call.integer("axis", 1 if call.version < 4 else 0)
    return axis, partial(join_skipping_empty, call) if call.does(CONCAT_EMPTY) else None


def _split_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axis = call.integer("axis") % len(call.shape(0))
    sizes = numbers_of([o.shape[axis] for o in outputs if o.shape])
    is_known = sizes is not None and len(sizes) == len(outputs)
    part = slice(sum(sizes[:position]), sum(sizes[: position + 1])) if sizes is not None and is_known else None
    return intervals.cut(call.value(0), axis, part, call.bounds)


@operator("Split", reaches=declarations.reaches_axis(0), interval=_split_interval)
def split(call: NodeCall) -> Sequence[Value]:
    """A tensor split along ``axis`` into parts of given sizes, or of equal size with a smaller last part."""
    dims = call.shape(0)
    axis = call.axis(call.integer("axis"), len(dims))
    return reshaping.parted(call, axis, _part_sizes(call, dims[axis], len(call.node.outputs)))


# An empty list of parts splits 2 elements into equal ones.
SPLIT_EMPTY = RuntimeDifference(
    "Split", "treats an empty list of sizes as absent, and splits evenly", "there is a size for each part"
)


def _open_parts(call: NodeCall, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of parts that an input holds, which must be as many as there are outputs."""
    parts: list[Dim] = [call.fresh(f"part_{n}", f"part {n} of {call.input_name(1)}", by=[1]) for n in range(count)]
    call.equal(add(*parts), size, "the parts must add up to the size")
    (length,) = reshaping.known_shape(call, 1, "the sizes of the parts") or (count,)
    if call.does(SPLIT_EMPTY):
        even = all_of([equal(length, 0), *(equal(multiply(part, count), size) for part in parts)])
        call.require(any_of([equal(length, count), even]), f"there must be {count} sizes of parts, or none")
    else:
        call.equal(length, count, f"there must be {count} sizes of parts")
    return parts


def _part_sizes(call: NodeCall, size: Dim, count: int) -> list[Dim]:
    if call.version >= 13:
        reshaping.expect_line(call, 1)
    if call.version >= 18 and call.has(1) and call.attribute("num_outputs") is not None:
        call.refuse("either the sizes of the parts or num_outputs may be given, not both")
    parts: Sequence[Dim] | None = call.integers("split") if call.version < 13 else call.sizes(1)
    if call.version >= 13 and call.has(1) and parts is None:
        return _open_parts(call, size, count)
    if parts is not None and (parts or not call.does(SPLIT_EMPTY)):
        call.refuse_if(len(parts) != count, f"{len(parts)} parts are requested, but {count} taken")
        return joining_and_slicing.split_as(call, size, parts)
    # Before opset 18 the parts are equal; with num_outputs, the last one may be smaller.
    if call.version < 18 or call.attribute("num_outputs") is None:
        return joining_and_slicing.split_evenly(call, size, count)
    if call.integer("num_outputs") != count:
        call.refuse(f"{call.integer('num_outputs')} parts are requested, but {count} taken")
    return joining_and_slicing.split_rounded_up(call, size, count)


# From -1 backwards to 2**63 - 1 all elements are taken, none by the documents.
SLICE_GREATEST_END = RuntimeDifference(
    "Slice",
    "treats the greatest integer of 32 or 64 bits as the end of the whole axis, even for negative steps",
    "for negative steps the least integer does so; the greatest is the last element, which leaves nothing",
)


def _slice_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    if call.version < 10:
        starts: Sequence[object] = call.integers("starts") or []
        axes = call.integers("axes")
    else:
        starts, axes = call.elements(1) or (), required_numbers(call, 3) if call.has(3) else None
    return [reach_of(range(len(starts)) if axes is None else axes)] if starts or axes else []


def _slice_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    starts, ends, axes = (call.numbers(n) for n in (1, 2, 3)) if call.version >= 10 else (None, None, None)
    steps = call.numbers(4) if call.has(4) else [1]
    if not (starts and ends and steps and axes and len(axes) == 1):
        return some_of(declarations.input_interval(call, 0))
    return intervals.cut(call.value(0), axes[0], slice(starts[0], ends[0], steps[0]), call.bounds)


@operator("Slice", reaches=_slice_reach, interval=_slice_interval)
def slice_(call: NodeCall) -> Value:
    """A part of the data: from a start to an end, in steps, on some axes."""
    if call.version < 10:
        starts: Sequence[Dim | None] | None = call.integers("starts")
        ends: Sequence[Dim | None] | None = call.integers("ends")
        axes, steps = call.integers("axes"), None
    else:
        reshaping.expect_line(call, 1, 2, 3, 4)
        starts, ends = slice_positions(call, 1), slice_positions(call, 2)
        axes = call.numbers(3)
        steps = call.numbers(4)
        if (call.has(3) and axes is None) or (call.has(4) and steps is None):
            call.give_up("the axes or steps of the slices are not known")
    if starts is None or ends is None:
        call.give_up("the starts or ends of the slices are not known")
    backwards = _GREATEST if call.does(SLICE_GREATEST_END) else ()
    return slice_value(call, call.value(0), SliceBounds(starts, ends, axes, steps), backwards)


# Values that mean the end of an axis, for steps in either direction.
_GREATEST = (2**31 - 1, 2**63 - 1)


# ONNX Runtime's requirements on padded axes (seen with 1.31).


def pad_in_runtime(context: Context, paddings: Sequence[Padding], mode: str) -> Dims:
    """Return the padded sizes."""
    # The runtime lets padding remove more elements than an axis has if as many are added at its other end.
    for padding in paddings:
        context.at_most(0, padding.padded, NOT_BELOW)
    if mode != "constant":
        _require_elements(context, mode, paddings)
    return tuple(p.padded for p in paddings)


def _require_elements(context: Context, mode: str, paddings: Sequence[Padding]) -> None:
    # To repeat elements, the runtime requires every axis, padded or not, to have some; except in wrap mode, it also
    # accepts an empty tensor whose empty axes stay empty.
    empty = [equal(p.size, 0) for p in paddings if not context.bounds.is_at_least(p.size, 1) and mode != "wrap"]
    for padding in paddings:
        joining_and_slicing.require_elements(
            context, any_of([*empty, joining_and_slicing.has_elements(context, mode, padding)]), mode
        )
        if empty and padding.padded != padding.size:
            stays_empty = any_of([at_most(1, padding.size), equal(padding.padded, 0)])
            joining_and_slicing.require_elements(context, stays_empty, mode)


# Operators that pad or crop the borders of a tensor.


_IS_DATA = "not checked: the pads, which are data, must be possible"


PAD_NUMBER = RuntimeDifference("Pad", "refuses a number without an axis", "there is nothing to pad then")
# Of 2 elements 3 are cut off, and one is added: the output has 0.
PAD_ELEMENTS = RuntimeDifference(
    "Pad",
    "requires elements even on unpadded axes, and removes more than there is if as much is added",
    "requires that of padded axes only",
)


@operator("Pad", reaches=_reach_by_length)
def pad_(call: NodeCall) -> Value:
    """Padding at the ends of axes: a constant, or elements reflected, repeated from the edge or wrapped around."""
    dims = call.shape(0)
    mode = call.text("mode", "constant")
    call.refuse_if(mode not in MODES, f"mode must not be {mode!r}")
    call.refuse_if(call.does(PAD_NUMBER) and not dims, "the input must have an axis")
    if call.version >= 11:
        for size in reshaping.known_rank(call, 2, (0, 1), "the number to pad with") or ():
            call.equal(size, 1, "there must be one number to pad with")
    axes = _axes(call, len(dims))
    amounts = _amounts(call, 2 * len(axes))
    if amounts is None:
        return _padded_by_data(call, dims, axes)
    by_axis = {axis: Padding(dims[axis], amounts[n], amounts[n + len(axes)]) for n, axis in enumerate(axes)}
    paddings = [by_axis.get(axis, Padding(size, 0, 0)) for axis, size in enumerate(dims)]
    shape = (
        pad_in_runtime(call, paddings, mode)
        if call.does(PAD_ELEMENTS)
        else joining_and_slicing.pad(call, paddings, mode)
    )
    return Value(shape, call.dtype())


def _axes(call: NodeCall, rank: int) -> list[int]:
    axes = call.axes("axes", 3, 18) if call.version >= 18 else None
    if axes is None:
        return list(range(rank))
    return call.distinct_axes(axes, rank, "no axis may be padded twice")


def _amounts(call: NodeCall, count: int) -> list[Dim] | None:
    """Return the padding before each axis, then after each; None where data decide."""
    if call.version < 11:
        pads = call.integers("pads" if call.version > 1 else "paddings") or []
        call.refuse_if(len(pads) != count, f"pads must be {count} numbers")
        return [*pads]
    (length,) = call.rank(1, (1,), "pads")
    call.equal(length, count, f"pads must be {count} numbers")
    items = call.elements(1)
    # If no number is known, the padded axes get new sizes; if some are, only the other numbers are new.
    if items is None or len(items) != count or (items and not any(map(is_size, items))):
        return None
    if not all(map(is_size, items)):
        call.note(_IS_DATA)
    return [i if is_size(i) else call.fresh(f"pad_{n}", f"element {n} of pads", by=[1]) for n, i in enumerate(items)]


def _padded_by_data(call: NodeCall, dims: Dims, axes: Sequence[int]) -> Value:
    call.note(_IS_DATA)
    shape = [call.fresh(f"size_{n}", f"axis {n} padded", by=[1]) if n in axes else d for n, d in enumerate(dims)]
    return Value(tuple(shape), call.dtype())


# A size of -1 gives an empty axis.
CENTER_CROP_SIZES = RuntimeDifference("CenterCropPad", "treats a negative size as 0", "a size is not negative")


@operator("CenterCropPad")
def center_crop_pad(call: NodeCall) -> Value:
    """Axes cut, or padded, to a size at both ends."""
    dims = call.shape(0)
    attribute = call.integers("axes")
    axes = call.distinct_axes(
        range(len(dims)) if attribute is None else attribute, len(dims), "no axis may be sliced twice"
    )
    known = call.sizes(1) if call.does(CENTER_CROP_SIZES) else None
    # The runtime treats a negative size as 0.
    sizes = (
        reshaping.requested_shape(call, 1) if known is None else tuple(call.bounds.larger(size, 0) for size in known)
    )
    call.refuse_if(len(sizes) != len(axes), f"the shape must be {len(axes)} numbers")
    target = dict(zip(axes, sizes, strict=True))
    return Value(tuple(target.get(n, d) for n, d in enumerate(dims)), call.dtype())
