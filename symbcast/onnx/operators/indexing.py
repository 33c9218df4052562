"""Operators that take elements out of a tensor, or put them in, by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.formulas import TRUE, all_of, any_of, at_most, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.contents import Content, Elements, Numbers, Ramp, Stack, as_ramp, is_size, listed
from symbcast.onnx.knowing.sizes import numbers_of
from symbcast.onnx.knowing.values import Dims, Value
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

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
    return None if items is None else gathered_listed(items, data.shape, places, axis)


def gathered_listed(items: Sequence[object], shape: Dims, places: Sequence[int], axis: int) -> Content | None:
    """Return what a gather takes of elements that are listed; None where a place is out of range."""
    import numpy as np

    array = np.empty(len(items), dtype=object)
    array[:] = items
    sizes = numbers_of(shape)
    if sizes is None or not all(-sizes[axis] <= n < sizes[axis] for n in places):
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
