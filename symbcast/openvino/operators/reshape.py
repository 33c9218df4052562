"""Reshape, Slice and StridedSlice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add
from symbcast.graphs.operators.axes import with_axes, without_axes
from symbcast.graphs.operators.cutting import Cuts, cut_out, places_given
from symbcast.graphs.operators.expected_shapes import expect_line
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.operators.reshaping import Wanted, reshaped
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.contents import Element

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1


@operator("Reshape")
def reshape(call: OpenVinoCall) -> Value:
    """The same elements in a new shape; one -1 is inferred, and with ``special_zero`` a 0 keeps its axis."""
    expect_line(call, 1)
    wanted, keeps_zero = call.elements(1), call.flag("special_zero")
    if wanted is None:
        shape = asked_shape(call, 1) if call.value(1).shape is not None else call.give_up("the shape is data")
        if call.value(0).shape is not None:
            call.note("not followed: the output shape is data, and may contain 0 or -1")
        return call.made(shape)
    found = reshaped(call, call.value(0), Wanted(wanted, keeps_zero))
    return call.made(found.shape, found.content)


@operator("Slice")
def slice_(call: OpenVinoCall) -> Value:
    """A slice of the data on some axes, given by start, end and step."""
    expect_line(call, 1, 2, 3, 4)
    starts, ends = places_given(call, 1), places_given(call, 2)
    steps, axes = call.numbers(3), call.numbers(4)
    if steps is None or (call.has(4) and axes is None):
        call.give_up("the axes or steps of the slice are not known")
    if starts is None or ends is None:
        call.give_up("the start or end of the slice is not known")
    found = cut_out(call, call.value(0), Cuts(starts, ends, axes, steps))
    return call.made(found.shape, found.content)


# StridedSlice.


class _Masks(NamedTuple):
    """The masks of a StridedSlice, each as the set of positions whose bit is 1."""

    begin: frozenset[int]
    end: frozenset[int]
    new_axis: frozenset[int]
    shrink: frozenset[int]
    ellipsis: frozenset[int]


class _Cut(NamedTuple):
    """A slice of one axis: axis, start, end and step."""

    axis: int
    start: Element
    end: Element
    step: int


@operator("StridedSlice")
def strided_slice(call: OpenVinoCall) -> Value:
    """A slice like Python's ``x[a:b:c, None, ..., d]``; masks say which given positions are ignored."""
    data, dims = call.value(0), call.shape(0)
    begin, end = (_places(call, n) for n in (1, 2))
    steps = call.input_numbers(3, "the steps") if call.has(3) else [1] * len(begin)
    if not len(begin) == len(end) == len(steps):
        call.refuse("begin, end and strides must have the same length")
    masks = _Masks(*(_set(call, name) for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")))
    cuts, new, gone = _laid_out(call, len(dims), masks, list(zip(begin, end, steps, strict=True)))
    found = data
    if cuts:
        starts, ends = [_known(c.start) for c in cuts], [_known(c.end) for c in cuts]
        found = cut_out(call, data, Cuts(starts, ends, [c.axis for c in cuts], [c.step for c in cuts]))
    content = without_axes(found.content, gone)
    shape = tuple(d for n, d in enumerate(found.shape or ()) if n not in gone)
    content = with_axes(content, new, len(shape))
    for place in new:
        shape = (*shape[:place], 1, *shape[place:])
    return call.made(shape, content)


def _known(place: Element) -> Dim | None:
    return place if is_size(place) else None


def _places(call: OpenVinoCall, position: int) -> Sequence[Element]:
    """Return the starts or ends in an input; None for each unknown one."""
    items = call.elements(position)
    if items is not None:
        return items
    lengths = call.shape(position)
    if len(lengths) != 1 or not isinstance(lengths[0], int):
        call.give_up("the start or end of the slice is not known")
    return [None] * int(lengths[0])


def _set(call: OpenVinoCall, name: str) -> frozenset[int]:
    return frozenset(n for n, bit in enumerate(call.integers(f"{name}_mask") or []) if bit)


def _laid_out(
    call: OpenVinoCall, rank: int, masks: _Masks, parts: Sequence[tuple[Element, Element, int]]
) -> tuple[list[_Cut], list[int], set[int]]:
    """Return the slices, the positions of axes inserted afterwards, and the data axes that are removed first."""
    cuts: list[_Cut] = []
    new: list[int] = []
    gone: set[int] = set()
    axis = place = 0
    for n, (start, end, step) in enumerate(parts):
        if n in masks.ellipsis:
            hidden = rank - sum(k not in masks.new_axis and k != n for k in range(len(parts)))
            axis, place = axis + hidden, place + hidden
        elif n in masks.new_axis:
            new.append(place)
            place += 1
        else:
            if axis >= rank:
                call.refuse(f"the data must have an axis for each of the {len(parts)} positions")
            if n in masks.shrink:
                gone.add(axis)
                cuts.append(_Cut(axis, *_one_element(start), 1))
            else:
                first = (0 if step > 0 else _LAST) if n in masks.begin else start
                last = (_LAST if step > 0 else _FIRST) if n in masks.end else end
                cuts.append(_Cut(axis, first, last, step))
                place += 1
            axis += 1
    return cuts, new, gone


def _one_element(start: Element) -> tuple[Element, Element]:
    """Return the start and end of a slice of one element; if unknown, of an empty slice, as the axis is removed."""
    if not is_size(start):
        return 0, 0
    return start, _LAST if start == -1 else add(start, 1)
