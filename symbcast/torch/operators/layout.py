"""Reshape, reorder, join, split, repeat and pad tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.reshaping import content_reshaped
from symbcast.operators import joining_and_slicing, reshaping
from symbcast.operators.joining_and_slicing import Padding, pad
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.reshaping import flatten, new_axes, reshape
from symbcast.operators.values import intervals, tensors
from symbcast.operators.values.contents import Content, DistinctPlaces, Elements
from symbcast.operators.values.intervals import interval_of, with_estimate
from symbcast.operators.values.tensors import contents_joined, stretched, with_axes
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator, shape_of_value, size_of
from symbcast.torch.contents import estimated, translation
from symbcast.torch.library import load_torch


@operator(
    "view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias", "_reshape_copy", "view_as", "reshape_as"
)  # fmt: skip
def viewed(call: TorchCall) -> Value:
    """The elements in the shape ``size``, where one -1 is inferred, or in that of another tensor."""
    if call.argument("other") is not None:
        return Value(reshape(call, call.dims("self"), list(call.dims("other"))))
    if call.argument("size", "shape") is None:  # view.dtype
        return Value(_retyped(call, call.dims("self")))
    target = call.known_sizes("size" if call.argument("size") is not None else "shape")
    return Value(reshaped(call, call.dims("self"), target))


@translation(
    "view", "reshape", "_unsafe_view", "view_as", "reshape_as", "flatten", "unflatten", "squeeze", "_reshape_copy",
    "clone", "contiguous", "alias", "detach", "detach_", "lift_fresh", "lift_fresh_copy",
    "view_copy", "squeeze_copy",
)  # fmt: skip
def view_contents(call: TorchCall, output: Value) -> Content | None:
    value, shape = call.value_of("self"), output.shape or ()
    if value.shape == shape:
        return value.content
    return estimated(output, content_reshaped(value, shape), lambda: interval_of(value, call.bounds))


def _retyped(call: TorchCall, dims: Dims) -> Dims:
    """Return the shape of the same memory read as elements of another type."""
    torch = load_torch()
    old, new = (getattr(torch, call.dtype_of("self"), None), call.argument("dtype"))
    if old is None or not hasattr(new, "itemsize"):
        call.give_up("its element types are not known")
    if old.itemsize == new.itemsize:
        return dims
    call.refuse_if(not dims, "a scalar cannot be read as elements of another length")
    if old.itemsize > new.itemsize:
        return (*dims[:-1], multiply(dims[-1], old.itemsize // new.itemsize))
    each = new.itemsize // old.itemsize
    return (*dims[:-1], call.divide(dims[-1], each, f"the last axis must be a multiple of {each}"))


def reshaped(call: TorchCall, dims: Dims, target: list[Dim]) -> Dims:
    """Return a target shape with the same number of elements, where one -1 is inferred."""
    for size in target:
        if size != -1:
            call.is_size(size, "a size must not be negative")
    return reshape(call, dims, [None if d == -1 else d for d in target])


@operator("flatten")
def flattened(call: TorchCall) -> Value:
    """Several axes merged into one."""
    dims = call.dims("self")
    if not dims:
        for name in ("start_dim", "end_dim"):
            call.axis_of(call.number(name), 0)
        return Value((1,))
    first, last = (call.axis(call.number(n), len(dims)) for n in ("start_dim", "end_dim"))
    call.refuse_if(first > last, "the first axis to join must not come after the last one")
    return Value(flatten(dims, first, last + 1))


@operator("unflatten")
def unflattened(call: TorchCall) -> Value:
    """One axis split into several."""
    dims = call.dims("self")
    place = call.axis(call.number("dim"), len(dims))
    sizes = call.known_sizes("sizes")
    call.refuse_if(not sizes, "there must be at least one size to split the axis into")
    split_sizes = reshaped(call, (dims[place],), sizes)
    return Value((*dims[:place], *split_sizes, *dims[place + 1 :]))


@operator("permute", "permute_copy")
def permuted(call: TorchCall) -> Value:
    """The axes in a new order."""
    dims = call.dims("self")
    order = [call.axis(a, len(dims)) for a in call.numbers_of("dims") or ()]
    return Value(reshaping.transpose(call, dims, order))


@translation("permute", "transpose", "t", "permute_copy", "transpose_copy")
def permute_contents(call: TorchCall, output: Value) -> Content | None:
    value, rank = call.value_of("self"), len(output.shape or ())
    axes = call.numbers_of("dims")
    order = list(range(rank)) if axes is None else [axis % rank for axis in axes]
    if axes is None:
        first, second = (call.number(n) % rank for n in ("dim0", "dim1")) if rank != 2 else (0, 1)
        order[first], order[second] = second, first
    exact = tensors.transposed(value.content, shape_of_value(value), order)
    return estimated(output, exact, partial(intervals.transposed, value, order, call.bounds))


@operator("transpose", "transpose_", "transpose_copy", "swapaxes", "swapaxes_", "swapdims", "swapdims_")
def transposed(call: TorchCall) -> Value:
    """Two axes swapped."""
    dims = list(call.dims("self"))
    if dims:
        names = ("dim0", "dim1") if call.argument("dim0") is not None else ("axis0", "axis1")
        first, second = (call.axis(call.number(n), len(dims)) for n in names)
        dims[first], dims[second] = dims[second], dims[first]
    return Value(tuple(dims))


@operator("t", "t_", "t_copy", "numpy_T", "mT", "adjoint", "matrix_H")
def turned(call: TorchCall) -> Value:
    """The transpose of a matrix; in stacks, the last two axes are swapped, except by ``numpy_T``."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.")
    if (kind in ("mT", "adjoint") and len(dims) == 1) or (kind == "matrix_H" and len(dims) not in (0, 2)):
        call.refuse("a matrix must have two axes")
    call.refuse_if(kind in ("t", "t_", "t_copy") and len(dims) > 2, "there must be at most two axes")
    if kind == "numpy_T" or len(dims) < 2:
        return Value(dims[::-1])
    return Value((*dims[:-2], dims[-1], dims[-2]))


@operator("movedim", "moveaxis")
def moved(call: TorchCall) -> Value:
    """Axes moved to new positions; the others keep their order."""
    dims = call.dims("self")
    sources, targets = (
        call.distinct_axes(call.numbers_of(n) or (), max(len(dims), 1), TWICE) for n in ("source", "destination")
    )
    call.refuse_if(len(sources) != len(targets), "there must be one position for each moved axis")
    if not dims:
        return Value(())
    placed = dict(zip(targets, sources, strict=True))
    others = iter(n for n in range(len(dims)) if n not in sources)
    return Value(tuple(dims[placed[n] if n in placed else next(others)] for n in range(len(dims))))


@operator("unsqueeze", "unsqueeze_", "unsqueeze_copy")
def unsqueezed(call: TorchCall) -> Value:
    """An axis of size 1 inserted."""
    return Value(reshaping.unsqueeze(call, call.dims("self"), [call.number("dim")]))


@translation("unsqueeze", "unsqueeze_copy")
def unsqueeze_contents(call: TorchCall, output: Value) -> Content | None:
    return _with_axis(call, call.value_of("self"), call.number("dim")).content


@operator("squeeze", "squeeze_", "squeeze_copy")
def squeezed(call: TorchCall) -> Value:
    """Axes of size 1 removed."""
    dims = call.dims("self")
    named = call.numbers_of("dim")
    axes = set(range(len(dims)))
    if named is not None:
        axes &= set(call.distinct_axes(named, max(len(dims), 1), TWICE))
    # The graph has one rank: axes that it removed must be 1, and those that it kept must not be.
    recorded_rank = len(call.node.raw.meta["val"].shape) if "val" in call.node.raw.meta else None
    unsure = [n for n in sorted(axes) if not isinstance(dims[n], int)]
    sure = {n for n in axes if dims[n] == 1}
    gone = len(dims) - recorded_rank - len(sure) if recorded_rank is not None else 0
    for n in unsure:
        if gone == len(unsure):
            call.equal(dims[n], 1, "the exported graph removes the axis, which is 1 there")
        elif gone == 0:
            call.require(Comparison("!=", dims[n], 1), "the exported graph keeps the axis, which is not 1 there")
    # Some of the open axes are 1 in the export, and the recorded rank does not say which.
    if gone not in (0, len(unsure)):
        return next(iter(call.unchecked("not checked: which axes have size 1")))
    out = sure | (set(unsure) if gone else set())
    return Value(tuple(d for n, d in enumerate(dims) if n not in out))


@operator("expand", "expand_copy", "broadcast_to", "expand_as")
def expanded(call: TorchCall) -> Value:
    """Axes of size 1 repeated, and axes added in front; -1 keeps a size."""
    dims = call.dims("self")
    if call.argument("other") is not None:
        return Value(reshaping.expand(call, dims, call.dims("other")))
    target = call.known_sizes("size")
    new = len(target) - len(dims)
    call.refuse_if(new < 0, f"a tensor of {len(dims)} axes cannot be expanded to {len(target)}")
    sizes = tuple(dims[n - new] if d == -1 and n >= new else d for n, d in enumerate(target))
    call.are_sizes(sizes, "a size must not be negative, except -1, which keeps the old size")
    return Value(reshaping.expand(call, dims, sizes))


def _with_axis(call: TorchCall, value: Value, axis: int) -> Value:
    dims = shape_of_value(value)
    (place,) = new_axes(call, len(dims), [axis])
    extended = Value((*dims[:place], 1, *dims[place:]), value.dtype, with_axes(value.content, [place], len(dims)))
    return with_estimate(extended, partial(intervals.with_axes, value, [place], len(dims) + 1, call.bounds))


@translation("expand", "expand_as", "broadcast_to", "expand_copy")
def expand_contents(call: TorchCall, output: Value) -> Content | None:
    value = call.value_of("self")
    return estimated(output, stretched(value, output.shape or ()), lambda: interval_of(value, call.bounds))


@operator("repeat")
def repeated(call: TorchCall) -> Value:
    """Each axis repeated a given number of times, with axes added in front."""
    dims, repeats = call.dims("self"), call.known_sizes("repeats")
    call.refuse_if(len(repeats) < len(dims), f"there must be a number for each of the {len(dims)} axes")
    return Value(_tiled(call, dims, repeats))


@translation("repeat")
def repeat_contents(call: TorchCall, output: Value) -> Content | None:
    value, repeats = call.value_of("self"), call.known_sizes("repeats")
    aligned = reshaping.aligned_at_right(shape_of_value(value), tuple(repeats))
    is_stretched = all(1 in (size, times) for size, times in zip(*aligned, strict=True))
    exact = stretched(value, output.shape or ()) if is_stretched else None
    return estimated(output, exact, lambda: interval_of(value, call.bounds))


def _tiled(call: TorchCall, dims: Dims, repeats: list[Dim]) -> Dims:
    output = reshaping.tile(call, *reshaping.aligned_at_right(dims, tuple(repeats)))
    call.are_sizes(output, "an axis must not be repeated a negative number of times")
    return output


@operator("tile")
def tiled(call: TorchCall) -> Value:
    """Each axis repeated a given number of times; the shorter of shape and repeats is padded in front."""
    return Value(_tiled(call, call.dims("self"), call.known_sizes("dims")))


@operator("repeat_interleave")
def interleaved(call: TorchCall) -> Value:
    """Each element along an axis repeated a given number of times."""
    if call.argument("self") is None:
        call.refuse_if(len(call.dims("repeats")) != 1, "the numbers must be a vector")
        return Value((_total_of_repeats(call),))
    shape, times = call.dims("self"), call.size("repeats")
    if call.argument("dim") is None:
        shape, place = (multiply(*shape),), 0
    else:
        place = call.axis(call.number("dim"), len(shape))
    if isinstance(call.argument("repeats"), Value) and _is_tensor(call.argument("repeats"), call):
        counts = call.dims("repeats")
        call.refuse_if(len(counts) > 1, "the numbers must be a vector or one number")
        call.broadcast(counts or (1,), (shape[place],), rule="unidirectional")
        length = _total_of_repeats(call)
    elif times is None:
        call.note("not checked: the number must not be negative", is_about_data=call.is_data_in("repeats"))
        length = call.count()
    else:
        call.is_size(times, "an element must not be repeated a negative number of times")
        length = multiply(shape[place], times)
    return Value((*shape[:place], length, *shape[place + 1 :]))


@translation("flip", "roll", "repeat_interleave", "tile")
def moved_contents(call: TorchCall, output: Value) -> Content:
    value = call.value_of("self")
    is_whole = call.node.op_type in ("aten.flip", "aten.roll") and isinstance(value.content, DistinctPlaces)
    return value.content if is_whole and value.content is not None else interval_of(value, call.bounds)


def _is_tensor(value: Value, call: TorchCall) -> bool:
    """Return whether the argument ``repeats`` is a tensor rather than an integer that the graph computes."""
    return bool(value.shape) or "Tensor" in str(getattr(call.node.raw.target, "_overloadname", ""))


def _total_of_repeats(call: TorchCall) -> Dim:
    """Return the number of elements after each is repeated as often as a tensor says, or as ``output_size`` says."""
    known = call.size("output_size")
    problem = "not checked: the numbers must not be negative"
    problem += "" if call.argument("output_size") is None else ", and their sum must be output_size"
    call.note(problem, is_about_data=call.is_data_in("repeats"))
    return call.count() if known is None else known


@operator("cat", "concat", "concatenate")
def concatenated(call: TorchCall) -> Value:
    """Tensors concatenated."""
    return Value(joined(call, call.tensors("tensors"), call.number("dim", 0)))


def _contents_along(call: TorchCall, output: Value, parts: Sequence[Value]) -> Content | None:
    """Return the elements of tensors concatenated along an axis."""
    shape = output.shape or ()
    axis = call.number("dim", 0) % len(shape)
    return estimated(output, contents_joined(parts, axis, shape), partial(intervals.joined, parts, axis, call.bounds))


@translation("cat", "concat", "concatenate")
def cat_contents(call: TorchCall, output: Value) -> Content | None:
    parts = [v for v in call.argument("tensors") if isinstance(v, Value) and v.shape != (0,)]
    return _contents_along(call, output, parts)


def joined(call: TorchCall, shapes: Sequence[Dims], axis: int) -> Dims:
    """Return the shape of concatenated tensors."""
    call.refuse_if(not shapes, "there must be a tensor to concatenate")
    if all(len(s) == 1 for s in shapes):
        if axis in (0, -1):
            return joining_and_slicing.concat(call, shapes, axis)
        _are_nothing(call, shapes)
        return (0,)
    # Torch ignores tensors of shape (0,) whatever the rank of the others.
    taken = [s for s in shapes if len(s) != 1]
    _are_nothing(call, [s for s in shapes if len(s) == 1])
    return joining_and_slicing.concat(call, taken, axis)


def _are_nothing(call: TorchCall, shapes: Sequence[Dims]) -> None:
    for (size,) in shapes:
        call.equal(size, 0, "a tensor with one axis must be empty to be concatenated with tensors of another rank")


@operator("stack")
def stacked(call: TorchCall) -> Value:
    """Tensors of the same shape along a new axis."""
    return Value(joining_and_slicing.stack(call, call.tensors("tensors"), call.number("dim", 0)))


@translation("stack")
def stack_contents(call: TorchCall, output: Value) -> Content | None:
    return _contents_along(call, output, [_with_axis(call, v, call.number("dim", 0)) for v in call.argument("tensors")])


@operator("split", "split_with_sizes", "split_copy", "split_with_sizes_copy", "unsafe_split", "unsafe_split_with_sizes")
def split(call: TorchCall) -> list[Value]:
    """An axis split into parts of given sizes, or into parts of one size with the remainder last."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", 0), len(dims))
    requested = call.argument("split_sizes", "split_size")
    if isinstance(requested, list):
        parts = call.known_sizes("split_sizes" if call.argument("split_sizes") is not None else "split_size")
        return along(dims, place, joining_and_slicing.split_as(call, dims[place], parts))
    each, count = size_of(requested), len(call.node.outputs)
    if each is None:
        return list(call.unchecked(f"not checked: the parts must be {count}", is_about_data=call.is_data()))
    # The number of parts is fixed in the graph: the last one has what is left.
    last = subtract(dims[place], multiply(each, count - 1))
    reason = f"the exported graph splits the axis into {count} parts"
    call.at_most(0 if count == 1 else 1, last, reason)
    call.at_most(last, each, reason)
    return along(dims, place, [*[each] * (count - 1), last])


@operator("chunk", "unsafe_chunk")
def chunked(call: TorchCall) -> list[Value]:
    """An axis split into equal parts with the remainder last; fewer than requested if there are too few elements."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", 0), len(dims))
    size, requested, count = dims[place], call.number("chunks"), len(call.node.outputs)
    call.at_most(1, requested, "there must be at least one part")
    each = ceil_divide(size, requested)
    last = subtract(size, multiply(each, count - 1))
    reason = f"the exported graph splits the axis into {count} parts"
    if count == requested and not call.bounds.is_at_least(last, 1):  # an empty axis gives as many parts as requested
        call.require(any_of([equal(size, 0), at_most(1, last)]), reason)
    if count < requested:
        call.at_most(1, last, reason)
        call.at_most(last, each, reason)
    return along(dims, place, [*[each] * (count - 1), last])


def along(dims: Dims, place: int, sizes: list[Dim]) -> list[Value]:
    """Return tensors that differ in their size along one axis."""
    return [Value((*dims[:place], d, *dims[place + 1 :])) for d in sizes]


@operator("unbind", "unbind_copy")
def unbound(call: TorchCall) -> list[Value]:
    """Each element along an axis as a separate tensor."""
    dims, count = call.dims("self"), len(call.node.outputs)
    place = call.axis(call.number("dim", 0), len(dims))
    call.equal(dims[place], count, f"the exported graph splits the axis into {count} elements")
    return [Value((*dims[:place], *dims[place + 1 :]))] * count


@operator("pixel_shuffle", "pixel_unshuffle")
def shuffled(call: TorchCall) -> Value:
    """Blocks of channels moved into the spatial axes, or back."""
    dims, is_back = call.dims("self"), "un" in call.node.op_type
    block = call.number("downscale_factor" if is_back else "upscale_factor")
    call.at_most(1, block, "the factor must be 1 or more")
    call.refuse_if(len(dims) < 3, "there must be channels and two spatial axes")
    move = reshaping.space_to_depth if is_back else reshaping.depth_to_space
    output = (*dims[:-3], *move(call, (1, *dims[-3:]), block)[1:])
    # Torch returns an empty tensor as it is, if it moves pixels into the channels.
    return Value(call.unless(call.empty(dims), dims, lambda: output) if is_back else output)


@operator("channel_shuffle", "native_channel_shuffle")
def channels_shuffled(call: TorchCall) -> Value:
    """Channels reordered across equal groups."""
    dims, groups = call.dims("self"), call.number("groups")
    call.at_most(1, groups, "there must be at least one group")
    call.refuse_if(len(dims) < 3, "there must be a batch, channels and a spatial axis")
    call.require(equal(modulo(dims[1], groups), 0), f"the channels must be a multiple of the {groups} groups")
    return Value(dims)


@operator("unfold")
def unfolded(call: TorchCall) -> Value:
    """The windows along an axis, with their elements on a new axis; a scalar is one window."""
    return Value(unfolded_shape(call, call.dims("self"), call.number("dimension")))


def unfolded_shape(call: TorchCall, dims: Dims, axis: int) -> Dims:
    """Return the shape of the windows along an axis."""
    place = call.axis_of(axis, len(dims))
    size, step = call.number("size"), call.number("step")
    call.at_most(0, size, "the window must not be negative")
    call.at_most(1, step, "the step must be 1 or more")
    call.at_most(size, dims[place] if dims else 1, "the window must fit into the axis")
    if not dims:
        return (size,)
    count = add(floor_divide(subtract(dims[place], size), step), 1)
    return (*dims[:place], count, *dims[place + 1 :], size)


@operator("view_as_complex")
def as_complex(call: TorchCall) -> Value:
    """Pairs of real numbers as complex numbers."""
    dims = call.dims("self")
    call.equal(dims[-1], 2, "the last axis must have a real and an imaginary part")
    return Value(dims[:-1])


@operator("view_as_real")
def as_real(call: TorchCall) -> Value:
    """Complex numbers as pairs of real numbers."""
    return Value((*call.dims("self"), 2))


# Padding of axes with a constant, or by reflection, edge repetition or wrapping.


@operator("pad", "constant_pad_nd", *(f"{way}_pad{n}d" for way in ("reflection", "replication") for n in "123"))
def padded(call: TorchCall) -> Value:
    """Padding of the last axes in one of four modes, starting from the last axis."""
    mode = str(call.argument("mode") or call.node.op_type.removeprefix("aten."))
    ways = {"reflect": _reflected, "replicat": _repeated, "circular": _wrapped}
    return Value(next((ways[w] for w in ways if mode.startswith(w)), _constant)(call, *_paddings(call)))


@translation("pad", "constant_pad_nd", "pad_sequence")
def pad_contents(call: TorchCall, output: Value) -> Content:
    """The elements of the tensors and, unless others are repeated, the padding value."""
    parts = call.argument("sequences") or [call.value_of("self")]
    if call.argument("mode") in (None, "constant"):
        # Torch casts it to the elements' type.
        number = call.argument("value", "padding_value") or 0
        parts = [*parts, Value((), output.dtype, Elements((int(number),)))]
    return intervals.fitted(intervals.chosen(parts, call.bounds), output.dtype, call.bounds)


def _paddings(call: TorchCall) -> tuple[Dims, list[Padding]]:
    """Return the sizes of the unpadded axes, and the padding of the other axes."""
    dims, widths = call.dims("self"), call.known_sizes("pad" if call.argument("pad") is not None else "padding")
    count = len(widths) // 2
    if len(widths) % 2 or count > len(dims):
        call.refuse(f"there must be two numbers per axis, for at most {len(dims)} axes")
    # Torch lists the last axis first.
    ends = [(widths[2 * n], widths[2 * n + 1]) for n in reversed(range(count))]
    first = len(dims) - count
    return dims[:first], [Padding(d, *e) for d, e in zip(dims[first:], ends, strict=True)]


def _constant(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    return (*others, *pad(call, paddings, "constant"))


def _reflected(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    for size, *ends in paddings:
        for end in ends:
            call.at_most(end + 1, size, "an axis must be longer than its padding, which reflects it")
    # What repetition of the edge requires holds for reflection too.
    return _repeated(call, others, paddings)


def _repeated(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    if len(others) not in (1, 2) or not 1 <= len(paddings) <= 3:
        call.refuse("there must be channels, an optional batch, and one to three padded axes")
    for size in (*others[-1:], *(p.size for p in paddings)):  # the batch may be empty
        call.at_most(1, size, "there must be elements to pad with")
    output = tuple(p.padded for p in paddings)
    for size in output:
        call.at_most(0, size, "negative padding must not remove more elements than the axis has")
    if not any(call.bounds.is_at_least(size, 1) for size in output):
        call.require(any_of(at_most(1, size) for size in output), "an axis must be left")
    return (*others, *output)


def _wrapped(call: TorchCall, others: Dims, paddings: list[Padding]) -> Dims:
    call.refuse_if(len(others) not in (1, 2), "there must be channels, and optionally a batch")
    too_short = "an axis must be at least as long as its padding, which wraps it at most once"
    for padding in paddings:
        ends = padding.before, padding.after
        for end in ends:
            call.at_most(end, padding.size, too_short)
            # Where one end alone removes more elements than there are, torch slices with negative places.
            if call.is_known(enough := at_most(multiply(-1, end), padding.size)) is not True:
                call.note("not checked: negative padding at one end of more elements than there are", enough=enough)
        call.at_most(0, padding.padded, "negative padding must not remove more elements than the axis has")
    return (*others, *(p.padded for p in paddings))
