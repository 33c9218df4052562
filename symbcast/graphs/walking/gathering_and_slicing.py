"""Gather elements by index and slice tensors: contents, and checks that indices are within their axes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from math import prod
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.bounds import Bounds, numbers_of
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.indexing import meet, within
from symbcast.operators.joining_and_slicing import cut, from_front
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import (
    INT64,
    MAX_ELEMENTS,
    Bands,
    Content,
    Element,
    Elements,
    IndexRamp,
    Interval,
    RampStack,
    as_ramp,
    is_size,
    listed,
    sizes_of,
)
from symbcast.operators.values.intervals import interval_of, some_of
from symbcast.operators.values.tensors import with_axes, without_axes
from symbcast.operators.values.value import Value

# Gather slices and elements by index: compute their contents, and check that indices are within their axes.


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
    if isinstance(data.content, IndexRamp) and indices.shape == ():
        strides = data.content.strides
        size = data.shape[axis]
        place = add(size, places[0]) if places[0] < 0 else places[0]
        start = add(data.content.start, multiply(strides[axis], place))
        return IndexRamp(start, (*strides[:axis], *strides[axis + 1 :]))
    items = listed(data.content, data.shape)
    return None if items is None else gathered_listed(items, data.shape, places, axis)


def gathered_listed(items: Sequence[object], shape: Dims, places: Sequence[int], axis: int) -> Content | None:
    """Gather from listed elements; None if an index is out of range, or if there are too many results."""
    import numpy as np

    # `np.array` would take a `SizeRatio`, which is a tuple, for a row.
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
    if not isinstance(data.content, IndexRamp) or inner is None:
        return None
    # An index below 0 counts from the end, so indices on both sides of 0 jump.
    if not all(bounds.is_at_least(d, 0) for d in (inner.start, *inner.strides)):
        return None
    stride = data.content.strides[axis]
    middle = tuple(multiply(stride, s) for s in inner.strides)
    strides = (*data.content.strides[:axis], *middle, *data.content.strides[axis + 1 :])
    return IndexRamp(add(data.content.start, multiply(stride, inner.start)), strides)


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
    bounds = interval_of(indices, call.bounds)
    if shape is not None and bounds.is_attained and bounds.low is not None and bounds.high is not None:
        within(call, bounds.low, bounds.high, size, shape)
    elif not _is_within(call, bounds, size):
        meet(call, bounds.low, bounds.high, size, shape)
        enough = _enough(call, bounds, size, shape)
        call.note(_data_reason(call, position, bounds), is_about_data=True, by=[position], enough=enough)


def _enough(call: NodeCall, interval: Interval, size: Dim, shape: Dims | None) -> Formula:
    """Return a condition on sizes at which all indices of an interval lie within an axis; False if unknown."""
    if interval.low is None or interval.high is None:
        return FALSE
    inside = all_of([at_most(multiply(-1, size), interval.low), at_most(add(interval.high, 1), size)])
    # Without indices, none is out of range.
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
    bounds = interval_of(ids, call.bounds)
    name, empty = call.input_name(position), call.empty(ids.shape or ())
    needs = []
    if bounds.low is not None and bounds.high is not None:
        pairs = ((0, bounds.low), (add(bounds.high, 1), size))
        needs = [at_most(least, most) for least, most in pairs if not call.bounds.is_at_most(least, most)]
        if not needs:
            return
    if not bounds.is_attained:
        call.require(any_of([empty, at_most(1, size)]), f"{name} must be row indices of {what}, which has none")
        call.note_data(f"the numbers in {name}, which are data, must be row indices of {what}", position)
    elif needs:
        call.require(any_of([empty, all_of(needs)]), f"{name} must be row indices of {what}")


def check_columns(call: NodeCall, length: int, sizes: Sequence[Dim]) -> None:
    """Require that each number in an index vector be within its axis."""
    content, shape = call.value(1).content, call.shape(1)
    items = call.sizes(1)
    for n in range(length):
        column: Content | None = None
        if isinstance(content, RampStack):
            column = content.parts[n]
        elif isinstance(content, Bands):
            column = content.parts[n] if content.axis == len(shape) - 1 else interval_of(call.value(1), call.bounds)
        elif isinstance(content, Interval):
            column = some_of(content)
        elif isinstance(content, IndexRamp):
            column = IndexRamp(add(content.start, multiply(content.strides[-1], n)), content.strides[:-1])
        elif items is not None:
            column = Elements(items[n::length])
        check_indices(call, 1, Value(shape[:-1], INT64, column), sizes[n])


# Slice values: from a start to an end, in steps, along some axes.


class SliceBounds(NamedTuple):
    """The starts, ends and steps of a slice; unknown starts and ends are None.

    If ``axes`` is None, the first axes are sliced; if ``steps`` is None, all steps are 1.
    """

    starts: Sequence[Dim | None]
    ends: Sequence[Dim | None]
    axes: Sequence[int] | None = None
    steps: Sequence[int] | None = None


def slice_value(call: NodeCall, data: Value, cuts: SliceBounds, backwards: Collection[int] = ()) -> Value:
    """Return a slice of a value; with a negative step, an end in ``backwards`` means the front of the axis."""
    starts, ends, axes, steps = cuts
    dims = list(data.shape or call.shape(0))
    cut_twice = "no axis may be sliced twice"
    axes = list(range(len(starts))) if axes is None else call.distinct_axes(axes, len(dims), cut_twice)
    steps = steps or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        call.refuse("starts, ends, axes and steps must have the same length")
    content: Content | None = data.content
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        call.refuse_if(step == 0, "no step may be 0")
        size = dims[axis]
        first, count = _cut(call, size, start, end, step, backwards)
        if count is None:
            count = call.fresh(f"length_{axis}", f"the length of axis {axis} after slicing", by=[1, 2], most=size)
            first = None
        content = _cut_content(content, tuple(dims), axis, first, count, step)
        dims[axis] = count
    return Value(tuple(dims), data.dtype, content)


def slice_positions(call: NodeCall, position: int) -> list[Dim | None] | None:
    """Return the starts or ends that an input holds, None for unknown ones; None if their number is unknown."""
    items = call.elements(position)
    if items is None:
        lengths = call.shape(position)
        return [None] * lengths[0] if len(lengths) == 1 and isinstance(lengths[0], int) else None
    return [item if is_size(item) else None for item in items]


def _cut(  # noqa: PLR0913, PLR0917 - an axis, and where it is cut
    call: NodeCall, size: Dim, start: Dim | None, end: Dim | None, step: int, backwards: Collection[int]
) -> tuple[Dim | None, Dim | None]:
    """Return the start and the length of a slice; None for each that is unknown.

    Starts and ends are clamped, as in Python: see the ONNX documentation of Slice.
    """
    if start is None or end is None:
        return None, None
    first, last = _from_front(call, size, start), _from_front(call, size, end)
    if step < 0 and end in backwards:
        last = -1
    return cut(call, size, (first, last, step), starts_within=True)


# Exporters write 2**31 - 1, 2**63 - 1 or their opposites for an end of the axis, whatever its size.
_END = 1 << 30


def _from_front(call: NodeCall, size: Dim, place: Dim) -> Dim:
    """Return a start or an end counted from the front; a huge one means "to the end"."""
    if isinstance(place, int) and abs(place) >= _END and not isinstance(size, int):
        return size if place > 0 else -1
    return from_front(call, size, place)


def _cut_content(  # noqa: PLR0913, PLR0917 - a tensor, and a cut
    content: Content | None, dims: Dims, axis: int, first: Dim | None, count: Dim, step: int
) -> Content | None:
    if content is None or first is None:
        return None
    if isinstance(content, IndexRamp):
        strides = list(content.strides)
        start = add(content.start, multiply(strides[axis], first))
        strides[axis] = multiply(strides[axis], step)
        return IndexRamp(start, tuple(strides))
    items = listed(content, dims)
    if items is None or not isinstance(first, int) or not isinstance(count, int):
        ramp = as_ramp(content, dims)
        return None if ramp is None else _cut_content(ramp, dims, axis, first, count, step)
    places = [first + n * step for n in range(count)]
    return Elements(tuple(items[n] for n in places)) if len(dims) == 1 else gathered_listed(items, dims, places, axis)


# Slices with masks, as TensorFlow, OpenVINO and LiteRT write Python's ``x[a:b:c, None, ..., d]``.


SLICE_MASKS = ("begin", "end", "new_axis", "shrink_axis", "ellipsis")
# Positions beyond any axis, which slices clamp.
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_Cut: TypeAlias = "tuple[int, Element, Element, int]"
"""A slice of one axis: axis, start, end and step."""


def strided(
    call: NodeCall,
    masks: Mapping[str, Set[int]],
    begin: Sequence[Element],
    end: Sequence[Element],
    steps: Sequence[int],
) -> Value:
    """Return a slice of the first input; each of `SLICE_MASKS` has the positions whose begin or end is ignored.

    Unknown starts and ends are None.
    """
    data, dims = call.value(0), call.shape(0)
    call.refuse_if(not len(begin) == len(end) == len(steps), "begin, end and strides must have the same length")
    cuts, new, gone = _axis_slices(call, len(dims), masks, list(zip(begin, end, steps, strict=True)))
    value = data
    if cuts:
        axes, starts, ends, strides = zip(*cuts, strict=True)
        low, high = ([place if is_size(place) else None for place in places] for places in (starts, ends))
        value = slice_value(call, data, SliceBounds(low, high, axes, strides))
    content = without_axes(value.content, gone)
    shape = tuple(d for n, d in enumerate(value.shape or ()) if n not in gone)
    content = with_axes(content, new, len(shape))
    for place in new:
        shape = (*shape[:place], 1, *shape[place:])
    return Value(shape, data.dtype, content)


def _axis_slices(
    call: NodeCall, rank: int, masks: Mapping[str, Set[int]], parts: Sequence[tuple[Element, Element, int]]
) -> tuple[list[_Cut], list[int], set[int]]:
    """Return the slices, the positions of axes inserted afterwards, and the data axes that are removed first."""
    cuts: list[_Cut] = []
    new: list[int] = []
    gone: set[int] = set()
    axis = place = 0
    for n, (start, end, step) in enumerate(parts):
        if n in masks["ellipsis"]:
            hidden = rank - sum(k not in masks["new_axis"] and k != n for k in range(len(parts)))
            axis, place = axis + hidden, place + hidden
        elif n in masks["new_axis"]:
            new.append(place)
            place += 1
        else:
            call.refuse_if(axis >= rank, f"the data must have an axis for each of the {len(parts)} positions")
            if n in masks["shrink_axis"]:
                gone.add(axis)
                cuts.append((axis, *_one_element(start), 1))
            else:
                first = (0 if step > 0 else _LAST) if n in masks["begin"] else start
                last = (_LAST if step > 0 else _FIRST) if n in masks["end"] else end
                cuts.append((axis, first, last, step))
                place += 1
            axis += 1
    return cuts, new, gone


def _one_element(start: Element) -> tuple[Element, Element]:
    """Return the start and end of a slice of one element; if unknown, of an empty slice, as the axis is removed."""
    if not is_size(start):
        return 0, 0
    return start, _LAST if start == -1 else add(start, 1)
