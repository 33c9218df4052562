"""Operators that take elements out of a tensor, or put them in, by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.formulas import TRUE, all_of, any_of, at_most, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.contents import Content, Elements, Numbers, Ramp, Stack, as_ramp, is_size, listed
from symbcast.onnx.knowing.sizes import add, ceil_divide, multiply, product, subtract
from symbcast.onnx.knowing.values import Dims, Value
from symbcast.onnx.operators.expecting import expect_line, expect_numbers
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.dims import Dim

INT64, BOOL = 7, 9
_IN_RANGE = "indices must be within the axis that they index"


@operator("Gather")
def gather(call: Call) -> Value:
    """Slices of the data along ``axis``, as the indices say."""
    data, indices = call.shape(0), call.shape(1)
    axis = call.axis(call.integer("axis"), len(data))
    shape = (*data[:axis], *indices, *data[axis + 1 :])
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype(), _gathered(call, axis))


def _gathered(call: Call, axis: int) -> Content | None:
    data = call.value(0)
    if data.content is None:
        return None
    places = call.numbers(1)
    if places is None or data.shape is None:
        return _gathered_ramp(call, axis)
    if len(data.shape) == 1:
        items = listed(data.content, data.shape)
        if items is not None:
            inside = all(-len(items) <= n < len(items) for n in places)
            return Elements(tuple(items[n] for n in places)) if inside else None
    if isinstance(data.content, Ramp) and call.shape(1) == ():
        strides = data.content.strides
        size = data.shape[axis]
        place = add(size, places[0]) if places[0] < 0 else places[0]
        start = add(data.content.start, multiply(strides[axis], place))
        return Ramp(start, (*strides[:axis], *strides[axis + 1 :]))
    items = listed(data.content, data.shape)
    return None if items is None else _gathered_listed(items, data.shape, places, axis)


def _gathered_listed(items: Sequence[object], shape: Dims, places: Sequence[int], axis: int) -> Content | None:
    import numpy as np

    array = np.empty(len(items), dtype=object)
    array[:] = items
    sizes = [int(d) for d in shape]
    if not all(-sizes[axis] <= n < sizes[axis] for n in places):
        return None
    return Elements(tuple(np.take(array.reshape(sizes), places, axis=axis).ravel()))


def _gathered_ramp(call: Call, axis: int) -> Content | None:
    """Return a ramp indexed by a ramp that is never negative: a ramp again."""
    data, indices = call.value(0), call.value(1)
    inner = as_ramp(indices.content, indices.shape)
    if not isinstance(data.content, Ramp) or inner is None:
        return None
    if not _is_never_negative(call, inner):
        return None
    stride = data.content.strides[axis]
    middle = tuple(multiply(stride, s) for s in inner.strides)
    strides = (*data.content.strides[:axis], *middle, *data.content.strides[axis + 1 :])
    return Ramp(add(data.content.start, multiply(stride, inner.start)), strides)


def _is_never_negative(call: Call, ramp: Ramp) -> bool:
    return all(call.bounds.is_at_least(d, 0) for d in (ramp.start, *ramp.strides))


def _check_indices(call: Call, position: int, indices: Value, size: Dim) -> None:
    """Ask that indices which are known lie within an axis; say so of those that are not."""
    content, shape = indices.content, indices.shape
    if isinstance(content, Elements) and all(map(is_size, content.items)):
        for item in dict.fromkeys(content.items):
            if is_size(item):
                _check_range(call, item, item, size, ())
        return
    if isinstance(content, Numbers) and content.array.size:
        _check_range(call, int(content.array.min()), int(content.array.max()), size, ())
        return
    if isinstance(content, Ramp) and shape is not None:
        _check_range(call, *extent(call, content, shape), size, shape)
        return
    reason = f"that the indices in {call.input_name(position)}, which are data, are within the axis was not looked at"
    call.note(reason, is_about_data=True)


def extent(call: Call, ramp: Ramp, shape: Dims) -> tuple[Dim, Dim]:
    """Return the least and the greatest element of a ramp over a shape of no empty axis."""
    low, high = ramp.start, ramp.start
    for size, stride in zip(shape, ramp.strides, strict=True):
        if stride == 0 or size == 1:
            continue
        reach = multiply(stride, subtract(size, 1))
        if call.bounds.is_at_least(stride, 0):
            high = add(high, reach)
        elif call.bounds.is_at_most(stride, 0):
            low = add(low, reach)
        else:
            low, high = add(low, call.bounds.smaller(reach, 0)), add(high, call.bounds.larger(reach, 0))
    return low, high


def _check_range(call: Call, low: Dim, high: Dim, size: Dim, shape: Dims) -> None:
    """Ask that ``-size <= low`` and ``high < size``, unless there is no index at all."""
    empty = [equal(d, 0) for d in shape if not call.bounds.is_at_least(d, 1)]
    below = at_most(multiply(-1, size), low)
    above = at_most(add(high, 1), size)
    if not call.bounds.is_at_most(multiply(-1, size), low):
        call.require(any_of([*empty, below]), _IN_RANGE)
    if not call.bounds.is_at_most(add(high, 1), size):
        call.require(any_of([*empty, above]), _IN_RANGE)


@operator("GatherElements")
def gather_elements(call: Call) -> Value:
    """One element of the data for each index."""
    data, indices = call.shape(0), call.shape(1)
    if len(data) != len(indices):
        call.refuse(f"data and indices must have one rank, and have {len(data)} and {len(indices)}")
    axis = call.axis(call.integer("axis"), len(data))
    for n, (size, taken) in enumerate(zip(data, indices, strict=True)):
        if n != axis:
            call.at_most(taken, size, "off the axis, indices must not go beyond the data")
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(indices, call.dtype())


@operator("GatherND")
def gather_nd(call: Call) -> Value:
    """Slices of the data, each at the index that a line of the indices holds."""
    data, indices = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims")
    if not indices or not data or batch >= min(len(data), len(indices)):
        call.refuse("data and indices must have more axes than batch_dims")
    for n in range(batch):
        call.equal(data[n], indices[n], f"the first {batch} sizes, of the batch, must be equal")
    length = indices[-1]
    if not isinstance(length, int):
        call.give_up("how many axes it indexes depends on the sizes")
    if length > len(data) - batch:
        call.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    rest = data[batch + length :]
    # ONNX Runtime (seen with 1.31) does not look at indices of slices that hold nothing.
    is_looked_at = all_of(at_most(1, d) for d in rest) if call.is_onnxruntime else TRUE
    if call.asker.is_known(is_looked_at) is not False:
        with call.asker.under(is_looked_at):
            _check_columns(call, length, data[batch:])
    return Value((*indices[:-1], *rest), call.dtype())


def _check_columns(call: Call, length: int, sizes: Sequence[Dim]) -> None:
    """Ask that each number in the lines of the indices is within the axis that it is for."""
    content, shape = call.value(1).content, call.shape(1)
    items = call.sizes(1)
    for n in range(length):
        column: Content | None = None
        if isinstance(content, Stack):
            column = content.parts[n]
        elif isinstance(content, Ramp):
            column = Ramp(add(content.start, multiply(content.strides[-1], n)), content.strides[:-1])
        elif items is not None:
            column = Elements(items[n::length])
        _check_indices(call, 1, Value(shape[:-1], INT64, column), sizes[n])


@operator("ScatterElements", "Scatter")
def scatter_elements(call: Call) -> Value:
    """The data with some elements exchanged."""
    data, indices, updates = call.shape(0), call.shape(1), call.shape(2)
    if not len(data) == len(indices) == len(updates):
        call.refuse("data, indices and updates must have one rank")
    axis = call.axis(call.integer("axis"), len(data))
    for n, (size, taken, put) in enumerate(zip(data, indices, updates, strict=True)):
        call.equal(taken, put, "indices and updates must have one shape")
        if n != axis:
            call.at_most(taken, size, "off the axis, indices must not go beyond the data")
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(data, call.dtype())


@operator("ScatterND")
def scatter_nd(call: Call) -> Value:
    """The data with some slices exchanged."""
    data, indices = call.shape(0), call.shape(1)
    updates = call.shape(2)
    length = indices[-1] if indices else 0
    if not isinstance(length, int):
        call.give_up("how many axes it indexes depends on the sizes")
    if not indices or length > len(data):
        call.refuse(f"indices of {length} numbers are too long for data of rank {len(data)}")
    wanted = (*indices[:-1], *data[length:])
    if len(updates) != len(wanted):
        call.refuse(f"updates must have rank {len(wanted)}, and have {len(updates)}")
    for found, size in zip(updates, wanted, strict=True):
        call.equal(found, size, "updates must have the shape of what the indices select")
    _check_columns(call, length, data)
    return Value(data, call.dtype())


@operator("TensorScatter")
def tensor_scatter(call: Call) -> Value:
    """A cache with some lines exchanged."""
    call.note("that the update fits the cache was not looked at")
    return Value(call.shape(0), call.dtype())


@operator("Slice")
def slice_(call: Call) -> Value:
    """A part of the data: from a start to an end, in steps, on some axes."""
    data = call.value(0)
    dims = list(call.shape(0))
    if call.version < 10:
        starts: Sequence[Dim | None] | None = call.integers("starts")
        ends: Sequence[Dim | None] | None = call.integers("ends")
        axes, steps = call.integers("axes"), None
    else:
        expect_line(call, 1, 2, 3, 4)
        starts, ends = _bounds_given(call, 1), _bounds_given(call, 2)
        axes = call.numbers(3)
        steps = call.numbers(4)
        if (call.has(3) and axes is None) or (call.has(4) and steps is None):
            call.give_up("which axes it cuts, or in which steps, is not known")
    if starts is None or ends is None:
        call.give_up("where it cuts is not known")
    axes = list(range(len(starts))) if axes is None else [call.axis(a, len(dims)) for a in axes]
    if len(set(axes)) < len(axes):
        call.refuse("no axis may be cut twice")
    steps = steps or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        call.refuse("starts, ends, axes and steps must be as many")
    content: Content | None = data.content
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0:
            call.refuse("no step may be 0")
        size = dims[axis]
        first, count = _cut(call, size, start, end, step)
        if count is None:
            count = call.fresh(f"length_{axis}", f"how long axis {axis} is after the cut")
            call.at_most(count, size, "a part is not longer than the whole")
            first = None
        content = _cut_content(content, tuple(dims), axis, first, count, step)
        dims[axis] = count
    return Value(tuple(dims), data.dtype, content)


def _bounds_given(call: Call, position: int) -> list[Dim | None] | None:
    items = call.elements(position)
    if items is None:
        lengths = call.shape(position)
        return [None] * lengths[0] if len(lengths) == 1 and isinstance(lengths[0], int) else None
    return [item if is_size(item) else None for item in items]


def _cut(call: Call, size: Dim, start: Dim | None, end: Dim | None, step: int) -> tuple[Dim | None, Dim | None]:
    """Return where a part begins and how long it is; None where that is not known.

    Starts and ends are clamped, as in Python: see the ONNX document of Slice.
    """
    if start is None or end is None:
        return None, None
    low, high = (0, size) if step > 0 else (-1, subtract(size, 1))
    first = _clamped(call, size, start, 0, high)
    last = _clamped(call, size, end, low, high if step < 0 else size)
    if first is None or last is None:
        return None, None
    distance = subtract(last, first) if step > 0 else subtract(first, last)
    count = ceil_divide(distance, abs(step))
    return first, call.bounds.larger(count, 0)


_END = 1 << 30


def _clamped(call: Call, size: Dim, place: Dim, low: Dim, high: Dim) -> Dim | None:
    """Return a start or an end counted from the front and clamped to what is allowed."""
    if isinstance(place, int) and abs(place) >= _END and not isinstance(size, int):
        return high if place > 0 else low  # written for "to the end"
    if call.bounds.is_at_least(place, 0):
        inside = place
    elif call.bounds.is_at_most(place, -1):
        inside = add(place, size)
    else:
        return None
    return call.bounds.smaller(call.bounds.larger(inside, low), high)


def _cut_content(  # noqa: PLR0913, PLR0917 - a tensor, and a cut
    content: Content | None, dims: Dims, axis: int, first: Dim | None, count: Dim, step: int
) -> Content | None:
    if content is None or first is None:
        return None
    if isinstance(content, Ramp):
        strides = list(content.strides)
        start = add(content.start, multiply(strides[axis], first))
        strides[axis] = multiply(strides[axis], step)
        return Ramp(start, tuple(strides))
    items = listed(content, dims)
    if items is None or not isinstance(first, int) or not isinstance(count, int):
        ramp = as_ramp(content, dims)
        return None if ramp is None else _cut_content(ramp, dims, axis, first, count, step)
    places = [first + n * step for n in range(count)]
    return Elements(tuple(items[n] for n in places)) if len(dims) == 1 else _gathered_listed(items, dims, places, axis)


@operator("NonZero")
def non_zero(call: Call) -> Value:
    """The indices of the elements that are not 0: how many is data's to say."""
    dims = call.shape(0)
    count = call.fresh("count", f"how many elements of {call.input_name(0)} are not 0")
    return Value((len(dims), count), INT64)


@operator("Compress")
def compress(call: Call) -> Value:
    """The slices that a condition selects: how many is data's to say."""
    dims = call.shape(0)
    count = call.fresh("count", f"how many {call.input_name(1)} selects")
    axis = call.attribute("axis")
    if axis is None:
        return Value((count,), call.dtype())
    place = call.axis(int(axis.i), len(dims))
    return Value((*dims[:place], count, *dims[place + 1 :]), call.dtype())


@operator("Unique")
def unique(call: Call) -> Sequence[Value]:
    """The different elements, or slices: how many is data's to say."""
    dims = call.shape(0)
    count = call.fresh("count", f"how many different ones {call.input_name(0)} holds")
    axis = call.attribute("axis")
    whole = len(dims) if axis is None else call.axis(int(axis.i), len(dims))
    shape = (count,) if axis is None else (*dims[:whole], count, *dims[whole + 1 :])
    length = product(dims) if axis is None else dims[whole]
    one = Value((count,), INT64)
    return Value(shape, call.dtype()), one, Value((length,), INT64), one


@operator("OneHot")
def one_hot(call: Call) -> Value:
    """A new axis for the classes."""
    dims = call.shape(0)
    expect_numbers(call, 1)
    depth = (call.elements(1) or (None,))[0]
    if not is_size(depth):
        depth = call.fresh("depth", f"what {call.input_name(1)} holds")
    if call.is_onnxruntime:
        call.at_most(1, depth, "there must be one class at least")
    else:
        call.asker.is_size(call.place, depth, "how many classes there are must not be negative")
    axis = call.axis(call.integer("axis", -1), len(dims) + 1)
    return Value((*dims[:axis], depth, *dims[axis:]), call.dtype(2))


@operator("TopK")
def top_k(call: Call) -> Sequence[Value]:
    """The k greatest along an axis, which must have as many."""
    dims = call.shape(0)
    axis = call.axis(call.integer("axis", -1), len(dims))
    if call.version >= 10:
        expect_line(call, 1)
        expect_numbers(call, 1)
    count: object = call.integer("k") if call.version < 10 else (call.elements(1) or (None,))[0]
    if not is_size(count):
        count = call.fresh("k", f"what {call.input_name(1)} holds")
    call.at_most(count, dims[axis], f"k must be at most the size of axis {axis}")
    call.asker.is_size(call.place, count, "k must not be negative")
    shape = (*dims[:axis], count, *dims[axis + 1 :])
    return Value(shape, call.dtype()), Value(shape, INT64)


@operator("ReverseSequence")
def reverse_sequence(call: Call) -> Value:
    """Each line of a batch turned around for a length of its own."""
    dims = call.shape(0)
    lengths = call.rank(1, (1,), "sequence_lens")
    batch = call.axis(call.integer("batch_axis", 1), len(dims))
    call.equal(lengths[0], dims[batch], "sequence_lens must have one number for each of the batch")
    return Value(dims, call.dtype())


@operator("Trilu")
def trilu(call: Call) -> Value:
    """A triangle of the last two axes."""
    dims = call.shape(0)
    if len(dims) < 2:
        call.refuse("the input must have two axes or more")
    expect_numbers(call, 1)
    return Value(dims, call.dtype())
