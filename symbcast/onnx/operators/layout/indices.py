"""Operators that take elements out of a tensor, or put them in, by index."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.logic.formulas import TRUE, all_of, at_most
from symbcast.core.text.printing import dim_text
from symbcast.onnx.differences import GATHER_ND_BATCHES, GATHER_ND_EMPTY
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.gather_nd import divided_batches
from symbcast.onnx.values.contents import (
    MAX_ELEMENTS,
    Bands,
    Content,
    Elements,
    Interval,
    Ramp,
    Stack,
    as_ramp,
    is_size,
    listed,
)
from symbcast.onnx.values.intervals import interval_of, some_of
from symbcast.onnx.values.value import Dims, Value
from symbcast.operators.indexing import (
    gather,
    gather_elements,
    gather_nd,
    meet,
    same_batches,
    scatter_elements,
    scatter_nd,
    within,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

INT64, BOOL = 7, 9


@operator("Gather")
def gather_(call: NodeCall) -> Value:
    """Slices of the data along ``axis``, as the indices say."""
    data, indices = call.shape(0), call.shape(1)
    axis = call.axis(call.integer("axis"), len(data))
    shape = gather(call, data, indices, axis)
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype(), gathered(call, axis))


def gathered(call: NodeCall, axis: int) -> Content | None:
    """Return the content of slices of the first input along an axis, as the second one says."""
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
    """Return what a gather takes of elements that are listed; None where a place is out of range, or they are many."""
    import numpy as np

    array = np.empty(len(items), dtype=object)
    array[:] = items
    sizes = numbers_of(shape)
    if sizes is None or not all(-sizes[axis] <= n < sizes[axis] for n in places):
        return None
    if prod(sizes[:axis]) * len(places) * prod(sizes[axis + 1 :]) > MAX_ELEMENTS:
        return None
    return Elements(tuple(np.take(array.reshape(sizes), places, axis=axis).ravel()))


def _gathered_ramp(call: NodeCall, axis: int) -> Content | None:
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


def _is_never_negative(call: NodeCall, ramp: Ramp) -> bool:
    return all(call.bounds.is_at_least(d, 0) for d in (ramp.start, *ramp.strides))


def _check_indices(call: NodeCall, position: int, indices: Value, size: Dim) -> None:
    """Ask that indices lie within an axis, as far as is known of them where they are; say so of those that are data."""
    content, shape = indices.content, indices.shape
    if isinstance(content, Elements) and all(map(is_size, content.items)):
        for item in dict.fromkeys(content.items):
            if is_size(item):
                within(call, item, item, size, ())
        return
    found = interval_of(indices, call.bounds)
    if shape is not None and found.is_attained and found.low is not None and found.high is not None:
        within(call, found.low, found.high, size, shape)
    elif not _is_within(call, found, size):
        meet(call, found.low, found.high, size, shape)
        call.note(_data_reason(call, position, found), is_about_data=True, by=[position])


def _is_within(call: NodeCall, interval: Interval, size: Dim) -> bool:
    """Return whether all indices of an interval are known to lie within an axis, wherever in the interval they are."""
    if interval.low is None or interval.high is None:
        return False
    return call.bounds.is_at_most(multiply(-1, size), interval.low) and call.bounds.is_at_most(
        add(interval.high, 1), size
    )


def _data_reason(call: NodeCall, position: int, interval: Interval) -> str:
    ends = "" if interval.high is None else f"at most {dim_text(interval.high)}, "
    if interval.low is not None:
        ends = f"at least {dim_text(interval.low)} and {ends}" if ends else f"at least {dim_text(interval.low)}, "
    name = call.input_name(position)
    return f"that the indices in {name}, which are data, {ends}are within the axis was not looked at"


@operator("GatherElements")
def gather_elements_(call: NodeCall) -> Value:
    """One element of the data for each index."""
    data, indices, axis = call.shape(0), call.shape(1), call.integer("axis")
    shape = gather_elements(call, data, indices, axis)
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


@operator("GatherND")
def gather_nd_(call: NodeCall) -> Value:
    """Slices of the data, each at the index that a line of the indices holds."""
    data, indices = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims")
    if batch < 0 and call.does(GATHER_ND_BATCHES):
        call.give_up("what comes of batch_dims below 0 is not known")
    length = _length(call, indices)
    batches = divided_batches if call.does(GATHER_ND_BATCHES) else same_batches
    shape = gather_nd(call, data, indices, length, batch, batches)
    # ONNX Runtime (seen with 1.31) does not look at indices of slices that hold nothing.
    rest = data[batch + length :]
    is_looked_at = all_of(at_most(1, d) for d in rest) if call.does(GATHER_ND_EMPTY) else TRUE
    if call.is_known(is_looked_at) is not False:
        with call.asker.under(is_looked_at):
            _check_columns(call, length, data[batch:])
    return Value(shape, call.dtype())


def _length(call: NodeCall, indices: Dims) -> int:
    """Return how many axes each line of the indices is for."""
    length = indices[-1] if indices else 0
    if not isinstance(length, int):
        call.give_up("how many axes it indexes depends on the sizes")
    return length


def _check_columns(call: NodeCall, length: int, sizes: Sequence[Dim]) -> None:
    """Ask that each number in the lines of the indices is within the axis that it is for."""
    content, shape = call.value(1).content, call.shape(1)
    items = call.sizes(1)
    for n in range(length):
        column: Content | None = None
        if isinstance(content, Stack):
            column = content.parts[n]
        elif isinstance(content, Bands):
            column = content.parts[n] if content.axis == len(shape) - 1 else interval_of(call.value(1), call.bounds)
        elif isinstance(content, Interval):
            column = some_of(content)
        elif isinstance(content, Ramp):
            column = Ramp(add(content.start, multiply(content.strides[-1], n)), content.strides[:-1])
        elif items is not None:
            column = Elements(items[n::length])
        _check_indices(call, 1, Value(shape[:-1], INT64, column), sizes[n])


@operator("ScatterElements", "Scatter")
def scatter_elements_(call: NodeCall) -> Value:
    """The data with some elements exchanged."""
    data, indices, updates, axis = call.shape(0), call.shape(1), call.shape(2), call.integer("axis")
    shape = scatter_elements(call, data, indices, updates, axis)
    _check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


@operator("ScatterND")
def scatter_nd_(call: NodeCall) -> Value:
    """The data with some slices exchanged."""
    data, indices, updates = call.shape(0), call.shape(1), call.shape(2)
    length = _length(call, indices)
    shape = scatter_nd(call, data, indices, updates, length)
    _check_columns(call, length, data)
    return Value(shape, call.dtype())
