"""Reshape, Slice and StridedSlice: the same elements in another shape, or a part of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add
from symbcast.onnx.operators.layout.layout import with_axes, without_axes
from symbcast.onnx.operators.layout.reshape import reshape_ as reshaped
from symbcast.onnx.operators.layout.slices import slice_ as sliced
from symbcast.onnx.values.contents import is_size
from symbcast.onnx.values.value import Value
from symbcast.openvino.as_onnx import AsOnnx, listing
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator

if TYPE_CHECKING:
    from symbcast.onnx.values.contents import Element

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1


@operator("Reshape")
def reshape(call: OpenVinoCall) -> Value:
    """The elements in another shape of as many; one -1 is worked out, and with ``special_zero`` a 0 keeps its axis."""
    found = one(reshaped(AsOnnx(call, allowzero=int(not call.flag("special_zero")))))
    return call.made(found.shape, found.content)


@operator("Slice")
def slice_(call: OpenVinoCall) -> Value:
    """A part of the data: from a start to an end, in steps, on some axes."""
    data, start, stop, step = (call.value(n) for n in range(4))
    inputs = [data, start, stop, call.value(4) if call.has(4) else None, step]
    found = one(sliced(AsOnnx(call, inputs)))
    return call.made(found.shape, found.content)


def one(found: Value | Sequence[Value]) -> Value:
    """Return the one output of an operator."""
    return found if isinstance(found, Value) else found[0]


# StridedSlice.


class _Masks(NamedTuple):
    """What the bits of a StridedSlice say, each as the positions that are set."""

    begin: frozenset[int]
    end: frozenset[int]
    new_axis: frozenset[int]
    shrink: frozenset[int]
    ellipsis: frozenset[int]


class _Cut(NamedTuple):
    """One axis that is cut: which, from where to where and in which steps."""

    axis: int
    start: Element
    end: Element
    step: int


@operator("StridedSlice")
def strided_slice(call: OpenVinoCall) -> Value:
    """A part of the data as Python's ``x[a:b:c, None, ..., d]``: masks say what of the numbers is left out."""
    data, dims = call.value(0), call.shape(0)
    begin, end = (_places(call, n) for n in (1, 2))
    steps = call.input_numbers(3, "the steps") if call.has(3) else [1] * len(begin)
    if not len(begin) == len(end) == len(steps):
        call.refuse("begin, end and strides must be as many")
    masks = _Masks(*(_set(call, name) for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")))
    cuts, new, gone = _laid_out(call, len(dims), masks, list(zip(begin, end, steps, strict=True)))
    found = data
    if cuts:
        starts, ends, axes, strides = zip(*((c.start, c.end, c.axis, c.step) for c in cuts), strict=True)
        bounds = [listing(starts, call.value(1)), listing(ends, call.value(2)), listing(axes), listing(strides)]
        found = one(sliced(AsOnnx(call, [data, *bounds])))
    content = without_axes(found.content, gone)
    shape = tuple(d for n, d in enumerate(found.shape or ()) if n not in gone)
    content = with_axes(content, new, len(shape))
    for place in new:
        shape = (*shape[:place], 1, *shape[place:])
    return call.made(shape, content)


def _places(call: OpenVinoCall, position: int) -> Sequence[Element]:
    """Return the starts or ends that an input holds; None for each that is not known."""
    items = call.elements(position)
    if items is not None:
        return items
    lengths = call.shape(position)
    if len(lengths) != 1 or not isinstance(lengths[0], int):
        call.give_up("where it cuts is not known")
    return [None] * int(lengths[0])


def _set(call: OpenVinoCall, name: str) -> frozenset[int]:
    return frozenset(n for n, bit in enumerate(call.integers(f"{name}_mask") or []) if bit)


def _laid_out(
    call: OpenVinoCall, rank: int, masks: _Masks, parts: Sequence[tuple[Element, Element, int]]
) -> tuple[list[_Cut], list[int], set[int]]:
    """Return the axes that are cut, where axes are put in afterwards, and which axes of the data go before that."""
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
                call.refuse(f"the data must have an axis for each of {len(parts)} places")
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
    """Return the start and the end of a part of one element; where it is not known, of none: the axis goes anyway."""
    if not is_size(start):
        return 0, 0
    return start, _LAST if start == -1 else add(start, 1)
