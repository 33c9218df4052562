"""Fourier transforms, and the short-time transform of signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall

_POINTS = "there must be at least one data point along the axis"


def _half(size: Dim) -> Dim:
    """Return how many frequencies a real signal has: n//2 + 1."""
    return add(floor_divide(size, 2), 1)


@operator("fft_fft", "fft_ifft", "fft_rfft", "fft_ihfft", "fft_irfft", "fft_hfft")
def transformed(call: TorchCall) -> Value:
    """A transform along one axis; from or to real numbers, the frequencies are half as many, plus one."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.fft_")
    if not dims:
        call.refuse("the tensor must have an axis")
    place = call.axis(call.number("dim", -1), len(dims))
    _fill(call, dims, [place])
    return Value(_along(call, dims, place, call.size("n"), kind))


def _fill(call: TorchCall, dims: Dims, places: Sequence[int]) -> None:
    """Require that there is something to transform: no other axis is empty."""
    for n, size in enumerate(dims):
        if n not in places and places:
            call.at_most(1, size, "the axes that are not transformed must not be empty")


def _along(call: TorchCall, dims: Dims, place: int, given: Dim | None, kind: str) -> Dims:
    """Return a shape with the transformed axis; ``given`` is the length that the caller asks for."""
    is_to_real = kind.startswith(("irfft", "hfft"))
    length = given
    if length is None:
        length = multiply(2, subtract(dims[place], 1)) if is_to_real else dims[place]
    call.at_most(1, length, _POINTS)
    made = _half(length) if kind.startswith(("rfft", "ihfft")) else length
    return (*dims[:place], made, *dims[place + 1 :])


@operator(*(f"fft_{kind}{n}" for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for n in "2n"))
def transformed_along_several(call: TorchCall) -> Value:
    """A transform along several axes; only the last of them has half of the frequencies."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.fft_")
    sizes = call.sizes_of("s") if call.given("s") is not None else None
    axes = call.numbers_of("dim")
    if axes is None and kind.endswith("2"):
        axes = [-2, -1]
    if axes is None:
        count = len(dims) if sizes is None else len(sizes)
        axes = list(range(len(dims) - count, len(dims)))
        if axes and axes[0] < 0:
            call.refuse("there must be an axis for each length")
    places = call.distinct_axes(axes, max(len(dims), 1), TWICE)
    if not dims and places:
        call.refuse("the tensor must have an axis")
    if sizes is not None and len(sizes) != len(places):
        call.refuse("there must be one length for each axis")
    if not places and kind not in ("fftn", "ifftn", "fft2", "ifft2"):
        call.refuse("there must be an axis to transform")
    _fill(call, dims, places)
    for n, place in enumerate(places):
        length = None if sizes is None or sizes[n] == -1 else sizes[n]
        is_last = n == len(places) - 1
        dims = _along(call, dims, place, length, kind if is_last else "fft")
    return Value(dims)


@operator("_fft_c2c", "_fft_r2c", "_fft_c2r")
def transformed_by_kernel(call: TorchCall) -> Value:
    """The kernel behind the transforms: between complex numbers, or from or to real ones along the last axis given.

    Torch reads out of bounds at an axis below 0 or out of range, so that is refused here.
    """
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten._fft_")
    axes = call.numbers_of("dim") or []
    if not axes and kind == "c2c":
        return Value(dims)
    if not axes or not all(0 <= a < len(dims) for a in axes) or len(set(axes)) < len(axes):
        call.refuse("there must be axes to transform, each named once and counted from the front")
    for size in dims:
        call.at_most(1, size, "there must be elements to transform")
    last, made = axes[-1], list(dims)
    if kind == "r2c" and call.flag("onesided"):
        made[last] = _half(dims[last])
    if kind == "c2r":
        made[last] = _real_length(call, dims[last])
    return Value(tuple(made))


def _real_length(call: TorchCall, frequencies: Dim) -> Dim:
    """Return how many real numbers are computed; other numbers of frequencies are read out of bounds."""
    length = call.size("last_dim_size")
    if length is None:
        call.give_up("data decide last_dim_size")
    call.at_most(1, length, _POINTS)
    call.one_of(frequencies, [_half(length), length], "there must be n//2 + 1 frequencies for n real numbers")
    return length


@operator("fft_fftshift", "fft_ifftshift")
def shifted(call: TorchCall) -> Value:
    """The frequencies in another order."""
    dims = call.dims("self")
    if not dims:
        call.refuse("the tensor must have an axis")
    for axis in call.numbers_of("dim") or ():
        call.axis(axis, len(dims))
    return Value(dims)


@operator("stft")
def short_time(call: TorchCall) -> Value:
    """The spectra (batch, frequencies, frames) of overlapping frames of signals (batch, time)."""
    dims, length = call.dims("self"), call.number("n_fft")
    if len(dims) not in (1, 2):
        call.refuse("signals must have one or two axes")
    for size in dims[:-1]:
        call.at_most(1, size, "there must be a signal")
    time, hop = dims[-1], call.number("hop_length", length // 4)
    width = call.number("win_length", length)
    if length < 1 or hop < 1 or not 1 <= width <= length:
        call.refuse("the hop and the window must be positive, and the window at most as long as a frame")
    if call.flag("center"):  # one overload has no such argument, and does not pad
        if call.given("pad_mode") in (None, "reflect"):
            call.at_most(length // 2 + 1, time, "the signal must be longer than what is reflected at its ends")
        time = add(time, 2 * (length // 2))
    call.at_most(length, time, "the signal must hold a frame")
    window = call.maybe_dims("window")
    if window is not None:
        call.same_shape(window, (width,), "the window must have win_length numbers")
    is_one_sided = call.flag("onesided", not call.dtype_of("self").startswith("complex"))
    frequencies = length // 2 + 1 if is_one_sided else length
    frames = add(floor_divide(subtract(time, length), hop), 1)
    pair = () if call.flag("return_complex") else (2,)
    return Value((*dims[:-1], frequencies, frames, *pair))


@operator("istft")
def from_short_time(call: TorchCall) -> Value:
    """The signals (batch, time) of spectra (batch, frequencies, frames)."""
    dims, length = call.dims("self"), call.number("n_fft")
    if len(dims) not in (2, 3):
        call.refuse("spectra must have two or three axes")
    for size in dims:
        call.at_most(1, size, "there must be spectra")
    hop = call.number("hop_length", length // 4)
    width = call.number("win_length", length)
    if length < 1 or not 1 <= hop <= width <= length:
        call.refuse("the hop must be at most the window, and the window at most a frame")
    sided = call.given("onesided")
    allowed = [n for n, is_half in ((length // 2 + 1, True), (length, False)) if sided in (None, is_half)]
    call.one_of(dims[-2], allowed, "there must be a row for each frequency of a frame")
    window = call.maybe_dims("window")
    if window is not None:
        call.same_shape(window, (width,), "the window must have win_length numbers")
    whole = add(length, multiply(hop, subtract(dims[-1], 1)))
    cut = length // 2 if call.flag("center", True) else 0
    given = call.size("length")
    made = subtract(whole, 2 * cut) if given is None else given
    call.at_most(1, made, "the signal must not be empty")
    if cut == 0 or hop * 2 > width:
        call.note("not checked: the windows must not be 0 everywhere on a sample", is_about_data=True)
    return Value((*dims[:-2], made))
