"""Slice values: from a start to an end, in steps, along some axes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.graphs.operators.gathering import gathered_listed
from symbcast.graphs.values.contents import Content, Elements, Ramp, as_ramp, is_size, listed
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.context import Dims
from symbcast.operators.rearranging.slices import cut, from_front

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Cuts(NamedTuple):
    """The starts, ends and steps of a slice; unknown starts and ends are None.

    If ``axes`` is None, the first axes are sliced; if ``steps`` is None, all steps are 1.
    """

    starts: Sequence[Dim | None]
    ends: Sequence[Dim | None]
    axes: Sequence[int] | None = None
    steps: Sequence[int] | None = None


def cut_out(call: NodeCall, data: Value, cuts: Cuts, backwards: Collection[int] = ()) -> Value:
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
        if step == 0:
            call.refuse("no step may be 0")
        size = dims[axis]
        first, count = _cut(call, size, start, end, step, backwards)
        if count is None:
            count = call.fresh(f"length_{axis}", f"the length of axis {axis} after slicing", by=[1, 2], most=size)
            first = None
        content = _cut_content(content, tuple(dims), axis, first, count, step)
        dims[axis] = count
    return Value(tuple(dims), data.dtype, content)


def places_given(call: NodeCall, position: int) -> list[Dim | None] | None:
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
    return Elements(tuple(items[n] for n in places)) if len(dims) == 1 else gathered_listed(items, dims, places, axis)
