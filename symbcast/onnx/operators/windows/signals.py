"""Fourier transforms, and the matrix of the mel scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.operators.expected_shapes import real_number
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import DFT_EMPTY, DFT_HALF, MEL_EDGES, STFT_FRAME, STFT_REAL
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

FLOAT = 1


@operator("DFT")
def transform(call: NodeCall) -> Value:
    """The frequencies along an axis; the last axis holds real parts, or real and imaginary parts."""
    dims = call.shape(0)
    rank = len(dims)
    if rank < 2:
        call.refuse("the input must have an axis for the signal, and one for its real and imaginary parts")
    axis = _axis(call)
    place = None if axis is None else call.axis(axis, rank)
    if place == rank - 1:
        call.refuse("the last axis holds real and imaginary parts: it is not one to transform")
    is_half, is_inverse = bool(call.integer("onesided")), bool(call.integer("inverse"))
    if is_inverse and is_half:
        call.equal(dims[-1], 2, "a transform back from half the frequencies needs complex numbers")
    elif is_half and not call.does(DFT_HALF):
        call.equal(dims[-1], 1, "half the frequencies are enough for a real signal alone")
    else:
        call.require(any_of([equal(dims[-1], 1), equal(dims[-1], 2)]), "the last size must be 1 or 2")
    length = _number(call, 1, "length")
    parts = 1 if is_half and is_inverse else 2
    if place is None:
        return Value((*_along_any(call, dims[:-1], is_half or length is not None), parts), call.dtype())
    if length is None:
        length = multiply(2, subtract(dims[place], 1)) if is_half and is_inverse else dims[place]
    least = 0 if call.does(DFT_EMPTY) and not call.has(1) else 1
    call.at_most(least, length, "the length of a transform must be positive")
    found = add(floor_divide(length, 2), 1) if is_half and not is_inverse else length
    shape = (*dims[:place], found, *dims[place + 1 : -1], parts)
    if call.does(DFT_EMPTY):
        needs = any_of([call.empty(shape), at_most(1, dims[place])])
        call.require(needs, "the signal must not be empty, unless the output is")
    return Value(shape, call.dtype())


def _along_any(call: NodeCall, dims: Dims, is_other: bool) -> Dims:
    """Return the sizes of a transform that changes the length of an unknown axis."""
    call.note("not checked: the axis must be one of the signal's and not empty", is_about_data=True, by=[2])
    if not is_other:
        return dims
    what = f"axis {{}} of the transform along the axis that {call.input_name(2)} holds"
    return tuple(call.fresh(f"dim_{n}", what.format(n)) for n in range(len(dims)))


def _axis(call: NodeCall) -> int | None:
    """Return the axis as given; None if it is data."""
    if call.version < 20:
        return call.integer("axis", 1)
    if not call.has(2):
        return -2
    found = call.numbers(2)
    return found[0] if found is not None and len(found) == 1 else None


def _number(call: NodeCall, position: int, label: str) -> Dim | None:
    """Return the number in an input, a new size if it is unknown; None without the input."""
    if not call.has(position):
        return None
    items = call.elements(position)
    if items and is_size(items[0]):
        return items[0]
    return call.fresh(label, f"what {call.input_name(position)} holds", least=1, by=[position])


@operator("STFT")
def short_transform(call: NodeCall) -> Value:
    """The frequencies of each frame."""
    # ONNX Runtime accepts real signals without a last axis of size 1.
    batch, whole, *parts = call.rank(0, (2, 3) if call.does(STFT_REAL) else (3,), "the signal")
    if parts:
        call.require(any_of([equal(parts[0], 1), equal(parts[0], 2)]), "the last size must be 1 or 2")
    step = _number(call, 1, "step")
    if step is None:
        call.refuse("frame_step must be given")
    if not isinstance(step, int):
        call.give_up("the step between frames is not known")
    call.at_most(1, step, "frame_step must be positive")
    window = call.rank(2, range(1, 9) if call.does(STFT_REAL) else (1,), "the window")[0] if call.has(2) else None
    given = _number(call, 3, "frame_length")
    if given is None and window is None and call.does(STFT_FRAME):
        call.refuse("a window or frame_length must be given")
    length = given if given is not None else window if window is not None else whole
    if window is not None and given is not None:
        call.equal(window, given, "the window must be as long as a frame")
    call.at_most(length, whole, "a frame must not be longer than the signal")
    crashes(call, any_of([call.empty((batch,)), at_most(1, length)]), "a frame has no elements")
    frames = add(floor_divide(subtract(whole, length), step), 1)
    bins = add(floor_divide(length, 2), 1) if call.integer("onesided", 1) else length
    return Value((batch, frames, bins, 2), call.dtype())


@operator("MelWeightMatrix")
def mel_matrix(call: NodeCall) -> Value:
    """A row for each frequency, a column for each band."""
    bands = _number(call, 0, "bands")
    length = _number(call, 1, "length")
    if bands is None or length is None:
        call.refuse("the number of bands and the length must be given")
    call.at_most(0, bands, "the number of bands must not be negative")
    call.at_most(0, length, "the length must not be negative")
    if call.does(MEL_EDGES):
        _check_edges(call, length)
    return Value((add(floor_divide(length, 2), 1), bands), call.integer("output_datatype", FLOAT))


def _check_edges(call: NodeCall, length: Dim) -> None:
    """Refuse edges that are not frequencies of the spectrum; ONNX Runtime computes their bins in 32-bit floats."""
    import numpy as np

    rate, edges = call.numbers(2), [real_number(call, n) for n in (3, 4)]
    if not isinstance(length, int) or rate is None or None in edges:
        call.note("not checked: the edges must be among the frequencies, but not all inputs are known")
        return
    with np.errstate(all="ignore"):
        places = [np.floor(np.float32(length + 1) * np.float32(edge) / np.float32(rate[0])) for edge in edges]
    if not all(0 <= place <= length // 2 for place in places):
        call.refuse("both edges must be from 0 to below half the sample rate")
