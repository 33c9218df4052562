"""Gather slices and elements by index: compute their contents, and check that indices are within their axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.logic.formulas import FALSE, Formula, all_of, any_of, at_most, equal
from symbcast.core.text.printing import dim_text
from symbcast.graphs.values.contents import (
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
    sizes_of,
)
from symbcast.graphs.values.intervals import interval_of, some_of
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Dims
from symbcast.operators.selecting.indexing import meet, within

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Dim


_INT64 = 7


def gathered(data: Value, indices: Value, axis: int, bounds: Bounds) -> Content | None:
    """Return the content of the slices that indices select along an axis."""
    if data.content is None:
        return None
    places = numbers_of(sizes_of(indices.content, indices.shape))
    if places is None or data.shape is None:
        return _gathered_ramp(data, indices, axis, bounds)
    if len(data.shape) == 1:
        items = listed(data.content, data.shape)
        if items is not None:
            inside = all(-len(items) <= n < len(items) for n in places)
            return Elements(tuple(items[n] for n in places)) if inside else None
    if isinstance(data.content, Ramp) and indices.shape == ():
        strides = data.content.strides
        size = data.shape[axis]
        place = add(size, places[0]) if places[0] < 0 else places[0]
        start = add(data.content.start, multiply(strides[axis], place))
        return Ramp(start, (*strides[:axis], *strides[axis + 1 :]))
    items = listed(data.content, data.shape)
    return None if items is None else gathered_listed(items, data.shape, places, axis)


def gathered_listed(items: Sequence[object], shape: Dims, places: Sequence[int], axis: int) -> Content | None:
    """Gather from listed elements; None if an index is out of range, or if there are too many results."""
    import numpy as np

    array = np.empty(len(items), dtype=object)
    array[:] = items
    sizes = numbers_of(shape)
    if sizes is None or not all(-sizes[axis] <= n < sizes[axis] for n in places):
        return None
    if prod(sizes[:axis]) * len(places) * prod(sizes[axis + 1 :]) > MAX_ELEMENTS:
        return None
    return Elements(tuple(np.take(array.reshape(sizes), places, axis=axis).ravel()))


def _gathered_ramp(data: Value, indices: Value, axis: int, bounds: Bounds) -> Content | None:
    """Index a ramp by a ramp of nonnegative indices; the result is again a ramp."""
    inner = as_ramp(indices.content, indices.shape)
    if not isinstance(data.content, Ramp) or inner is None:
        return None
    if not all(bounds.is_at_least(d, 0) for d in (inner.start, *inner.strides)):
        return None
    stride = data.content.strides[axis]
    middle = tuple(multiply(stride, s) for s in inner.strides)
    strides = (*data.content.strides[:axis], *middle, *data.content.strides[axis + 1 :])
    return Ramp(add(data.content.start, multiply(stride, inner.start)), strides)


def index_length(call: NodeCall, indices: Dims) -> int:
    """Return the number of axes that each row of the indices indexes."""
    length = indices[-1] if indices else 0
    if not isinstance(length, int):
        call.give_up("the number of indexed axes depends on the sizes")
    return length


def check_indices(call: NodeCall, position: int, indices: Value, size: Dim) -> None:
    """Require that indices lie within an axis, as far as their bounds are known; note that data are unchecked."""
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
        enough = _enough(call, found, size, shape)
        call.note(_data_reason(call, position, found), is_about_data=True, by=[position], enough=enough)


def _enough(call: NodeCall, interval: Interval, size: Dim, shape: Dims | None) -> Formula:
    """Return a condition on sizes at which all indices of an interval lie within an axis; False if unknown."""
    if interval.low is None or interval.high is None:
        return FALSE
    inside = all_of([at_most(multiply(-1, size), interval.low), at_most(add(interval.high, 1), size)])
    empty = [equal(d, 0) for d in shape or () if not call.bounds.is_at_least(d, 1)]
    return any_of([*empty, inside])


def _is_within(call: NodeCall, interval: Interval, size: Dim) -> bool:
    """Return whether all indices of an interval are known to lie within an axis."""
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
    return f"not checked: the indices in {name}, which are data, {ends}must be within the axis"


def check_rows(call: NodeCall, position: int, size: Dim, what: str) -> None:
    """Require that ids be rows of a table, none counted from its end; note it where they are data."""
    ids = call.value(position)
    found = interval_of(ids, call.bounds)
    name, empty = call.input_name(position), call.empty(ids.shape or ())
    needs = []
    if found.low is not None and found.high is not None:
        pairs = ((0, found.low), (add(found.high, 1), size))
        needs = [at_most(least, most) for least, most in pairs if not call.bounds.is_at_most(least, most)]
        if not needs:
            return
    if not found.is_attained:
        call.require(any_of([empty, at_most(1, size)]), f"{name} must be row indices of {what}, which has none")
        call.note(
            f"not checked: the numbers in {name}, which are data, must be row indices of {what}",
            is_about_data=True,
            by=[position],
        )
    elif needs:
        call.require(any_of([empty, all_of(needs)]), f"{name} must be row indices of {what}")


def check_columns(call: NodeCall, length: int, sizes: Sequence[Dim]) -> None:
    """Require that each number in an index vector be within its axis."""
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
        check_indices(call, 1, Value(shape[:-1], _INT64, column), sizes[n])
