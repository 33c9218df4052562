"""Windows that slide along axes: convolutions, pooling, image resizing, and short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symbcast.core.algebra.arithmetic import add, floor_divide, minimum, modulo, multiply, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.reshaping import read_scale, scaled
from symbcast.operators import convolution
from symbcast.operators.convolution import SlidingWindow
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.resizing import DOUBLE, affine_grid, grid_sample, resize
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, element_of, operator

# A convolution of a batch of 1 is left to MKLDNN if its input has more elements than this.
_MKLDNN_ELEMENTS = 20480
_BICUBIC = 2
_AXES = {"1d": 1, "2d": 2, "3d": 3}


def _spread(values: Sequence[int] | None, count: int, default: int) -> list[int]:
    """Return one number per axis: the given numbers, a single given number repeated, or the default."""
    numbers = list(values or [default])
    return numbers * count if len(numbers) == 1 else numbers


def _batched(dims: Dims, count: int) -> tuple[Dims, bool]:
    """Return a shape with a batch axis, which is added if missing, and whether it was missing."""
    return (dims, False) if len(dims) == count + 2 else ((1, *dims), True)


@operator("conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def convolved(call: TorchCall) -> Value:
    """A convolution of data (N, C, ...) with weights (M, C / groups, ...); the batch axis is optional."""
    weights, groups = call.dims("weight"), call.size("groups", 1)
    if groups is None:
        call.give_up("data decide the groups")
    count = len(weights) - 2
    dims, is_single = _batched(call.dims("input"), count)
    call.refuse_if(count < 1 or len(dims) != count + 2, f"the input must have {count + 1} or {count + 2} axes")
    convolution.groups_of(call, groups)
    is_transposed = call.flag("transposed") or "transpose" in call.node.op_type
    strides, dilations = (_spread(call.numbers_of(n), count, 1) for n in ("stride", "dilation"))
    _at_least(call, 1, *strides, *dilations, reason="strides and dilations must be 1 or more")
    ends = _ends(call, weights, dilations)
    _at_least(call, 0, *(n for pair in ends for n in pair), reason="the padding must not be negative")
    windows = [SlidingWindow(k, s, d, *e) for k, s, d, e in zip(weights[2:], strides, dilations, ends, strict=True)]
    call.filled(weights[:2] if is_transposed else weights[:1], "the weights must not be empty")
    for size in weights[2:]:
        _filled(call, size, _no_channels(weights, is_transposed), "the weights must not be empty")
    output = (_transposed if is_transposed else _slid)(call, dims, weights, windows, groups)
    bias = call.maybe_dims("bias")
    if bias is not None:
        call.refuse_if(len(bias) != 1, "the bias must have one axis")
        call.equal(bias[0], output[1], "the bias must have one number for each output channel")
    return Value(output[1:] if is_single else output)


def _at_least(call: TorchCall, least: int, *numbers: Dim, reason: str) -> None:
    """Require each number to be at least ``least``."""
    for number in numbers:
        call.at_most(least, number, reason)


def _ends(call: TorchCall, weights: Dims, dilations: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and after each axis."""
    padding, count = call.argument("padding"), len(weights) - 2
    if padding == "valid" or padding is None:
        return [(0, 0)] * count
    if padding == "same":
        call.refuse_if(any(s != 1 for s in call.numbers_of("stride") or ()), "padding='same' needs strides of 1")
        totals = [d * (k - 1) for d, k in zip(dilations, weights[2:], strict=True) if isinstance(k, int)]
        return [(t // 2, t - t // 2) for t in totals]
    return [(p, p) for p in _spread(call.numbers_of("padding"), count, 0)]


def _slid(call: TorchCall, dims: Dims, weights: Dims, windows: Sequence[SlidingWindow], groups: Dim) -> Dims:
    convolution.convolved_channels(call, dims, weights, groups)
    for size in dims[2:]:
        _filled(call, size, any_of([equal(dims[0], 0), _no_channels(weights)]), _NOT_EMPTY)
    output = convolution.conv(call, dims, weights, windows)
    if call.bounds.is_at_least(weights[1], 1):
        return output
    return (output[0], minimum([output[1], multiply(output[1], weights[1])]), *output[2:])  # none in, none out


_NOT_EMPTY = "the input must have elements, unless its batch is 0"


def _filled(call: TorchCall, size: Dim, unless: Formula, reason: str) -> None:
    """Require a size of at least 1, unless a formula holds."""
    if not call.bounds.is_at_least(size, 1):
        call.require(any_of([unless, at_most(1, size)]), reason)


def _no_channels(weights: Dims, is_transposed: bool = False) -> Formula:
    """Return where a convolution along one axis has no channels."""
    # Torch then looks at no lengths.
    return equal(weights[1], 0) if len(weights) == 3 and not is_transposed else FALSE


def _transposed(call: TorchCall, dims: Dims, weights: Dims, windows: Sequence[SlidingWindow], groups: Dim) -> Dims:
    channels = convolution.transposed_channels(call, dims, weights, groups)
    extra = _spread(call.numbers_of("output_padding"), len(windows), 0)
    sizes = [convolution.transposed_length(d, w, e) for d, w, e in zip(dims[2:], windows, extra, strict=True)]
    no_batch = equal(dims[0], 0)
    for size in dims[2:]:
        _filled(call, size, no_batch, _NOT_EMPTY)
    if any(e >= max(w.stride, w.dilation) for e, w in zip(extra, windows, strict=True)):
        call.require(no_batch, "the padding of the output must be smaller than the stride or the dilation")
    may_be_empty = any_of([no_batch, *_runs_in_mkldnn(call, dims, windows, groups)])
    for size in sizes:
        call.at_most(0, size, "the size of the output must not be negative")
        if not call.bounds.is_at_least(size, 1):
            call.require(any_of([at_most(1, size), may_be_empty]), "the output must not be empty")
    return (dims[0], channels, *sizes)


def _runs_in_mkldnn(call: TorchCall, dims: Dims, windows: Sequence[SlidingWindow], groups: Dim) -> Iterator[Formula]:
    """Yield where torch leaves a transposed convolution to MKLDNN, which allows empty outputs."""
    # This follows `use_mkldnn` in aten/src/ATen/native/Convolution.cpp, for several threads.
    if call.dtype_of("input") == "float32" and len(windows) < 3:
        # A batch of 2 or more, or groups: for both of at least 1, their product is then at least 2.
        yield TRUE if call.bounds.is_at_least(groups, 2) else at_most(2, multiply(dims[0], groups))
        yield at_most(_MKLDNN_ELEMENTS + 1, multiply(*dims))


@operator(*(f"{kind}_pool{n}" for kind in ("max", "avg") for n in _AXES), *(f"max_pool{n}_with_indices" for n in _AXES))
def pooled(call: TorchCall) -> list[Value]:
    """Pooling of data (N, C, ...); the batch axis is optional, and the window must fit at least once."""
    count = next(n for name, n in _AXES.items() if name in call.node.op_type)
    dims, is_single = _batched(call.dims("self"), count)
    call.refuse_if(len(dims) != count + 2, f"the input must have {count + 1} or {count + 2} axes")
    windows = _windows(call, count)
    _at_least(call, 0, *(w.before for w in windows), reason="the padding must not be negative")
    if any(isinstance(w.span, int) and w.before > w.span // 2 for w in windows):
        call.refuse("the padding must be at most half of the window")
    _at_least(call, 1, *dims[1:], reason="the input must have elements; only its batch may be 0")
    # This kernel alone refuses a window that only fits with its padding.
    if call.node.op_type == "aten.avg_pool3d":
        for size, window in zip(dims[2:], windows, strict=True):
            call.at_most(window.kernel, size, "the input must not be smaller than the window")
    output = convolution.pool(
        call, dims, windows, convolution.fitting_rounded_up if call.flag("ceil_mode") else convolution.fitting
    )
    return [Value(output[1:] if is_single else output)] * len(call.node.outputs)


@operator(
    *(f"adaptive_{kind}_pool{n}" for kind in ("max", "avg") for n in _AXES), *(f"_adaptive_avg_pool{n}" for n in _AXES)
)
def adapted(call: TorchCall) -> list[Value]:
    """Adaptive pooling to given output sizes; no input size may be 0, except the batch."""
    kind = call.node.op_type.removeprefix("aten.")
    count = next(n for name, n in _AXES.items() if name in kind)
    dims, requested = call.dims("self"), call.sizes_of("output_size")
    if len(dims) not in (count + 1, count + 2) or len(requested) != count:
        call.refuse(f"the input must have {count + 1} or {count + 2} axes, and the output {count} sizes")
    pooled_dims = dims[len(dims) - count :]
    sizes = tuple(k if w is None else w for k, w in zip(pooled_dims, requested, strict=True))
    call.are_sizes(sizes, "a size must not be negative")
    # An average of all elements is a mean, which is also defined for no elements.
    is_mean = all_of(equal(size, 1) for size in sizes) if kind.startswith("adaptive_avg") else FALSE
    looks_at_channels = "max" in kind or count == 3  # torch skips the first axis, whatever the rank
    for size in dims[1:] if looks_at_channels else pooled_dims:
        if not call.bounds.is_at_least(size, 1):
            call.require(any_of([is_mean, at_most(1, size)]), "the axes to pool must not be empty")
    return [Value((*dims[: len(dims) - count], *sizes))] * len(call.node.outputs)


@operator(
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
    "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", *(f"upsample_nearest{n}" for n in _AXES),
    *(f"_upsample_nearest_exact{n}" for n in _AXES),
)  # fmt: skip
def resized(call: TorchCall) -> Value:
    """Axes resized to given sizes, or by factors with the result rounded down."""
    dims = call.dims("self" if call.argument("self") is not None else "input")
    count = next(n for name, n in _AXES.items() if name in call.node.op_type)
    call.refuse_if(len(dims) != count + 2, f"the input must have {count + 2} axes")
    factors = call.argument("scale_factors")
    if call.argument("output_size") is not None:
        sizes: list[Dim] = call.known_sizes("output_size")
    elif factors is not None:
        scales = [read_scale(f if isinstance(f, float) else element_of(f), DOUBLE) for f in factors]
        sizes = [scaled(call, dims[n], scale, n) for n, scale in zip(range(2, count + 2), scales, strict=False)]
    else:
        call.give_up("neither sizes nor factors are given")
    output = resize(call, dims, range(2, count + 2), sizes)
    call.filled((*dims[1:], *sizes), "neither the input nor the output may be empty")
    return Value(output)


@operator("im2col")
def columns(call: TorchCall) -> Value:
    """The elements under a window as columns, one for each position."""
    dims, is_single = _batched(call.dims("self"), 2)
    call.refuse_if(len(dims) != 4, "the input must have 3 or 4 axes")
    windows = _windows(call, 2)
    _at_least(call, 1, *dims[1:], reason="the input must have elements; only its batch may be 0")
    positions = [convolution.fitting(call, d, w) for d, w in zip(dims[2:], windows, strict=True)]
    output = (dims[0], multiply(dims[1], *(w.kernel for w in windows)), multiply(*positions))
    return Value(output[1:] if is_single else output)


@operator("col2im")
def from_columns(call: TorchCall) -> Value:
    """The inverse of `columns`: an image from columns of window elements."""
    dims = call.dims("self")
    is_single = len(dims) == 2
    batch = (1, *dims) if is_single else dims
    call.refuse_if(len(batch) != 3, "the input must have 2 or 3 axes")
    call.at_most(1, batch[1], "there must be channels")
    windows, sizes = _windows(call, 2), call.known_sizes("output_size")
    block = multiply(*(w.kernel for w in windows))
    call.require(equal(modulo(batch[1], block), 0), f"the channels must be a multiple of the {block} of the window")
    positions = multiply(*(convolution.fitting(call, d, w) for d, w in zip(sizes, windows, strict=True)))
    call.equal(batch[2], positions, "there must be a column for each position of the window")
    output = (batch[0], floor_divide(batch[1], block), *sizes)
    return Value(output[1:] if is_single else output)


def _windows(call: TorchCall, count: int) -> list[SlidingWindow]:
    """Return the windows of a node by axis; without strides, they lie side by side."""
    names = (("kernel_size", 1), ("stride", 0), ("dilation", 1), ("padding", 0))
    kernel, strides, dilations, padding = (_spread(call.numbers_of(n), count, d) for n, d in names)
    strides = strides if call.argument("stride") else kernel
    _at_least(call, 1, *kernel, *strides, *dilations, reason="window, stride and dilation must be 1 or more")
    return [SlidingWindow(k, s, d, p, p) for k, s, d, p in zip(kernel, strides, dilations, padding, strict=True)]


@operator("conv_tbc")
def convolved_over_time(call: TorchCall) -> Value:
    """A convolution of sequences (T, N, C) with weights (K, C, M)."""
    dims, weights, bias, padding = call.dims("self"), call.dims("weight"), call.dims("bias"), call.number("pad", 0)
    if (len(dims), len(weights), len(bias)) != (3, 3, 1):
        call.refuse("the sequences and the weights must have three axes, and the bias one")
    call.equal(dims[2], weights[1], "the sequences must have the channels of the weights")
    call.equal(bias[0], weights[2], "the bias must have one number for each output channel")
    length = add(subtract(dims[0], weights[0]), 1 + 2 * padding)
    call.at_most(0, length, "the window must not be longer than the padded sequence")
    return Value((length, dims[1], weights[2]))


@operator("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def sampled(call: TorchCall) -> Value:
    """Elements sampled at grid coordinates; the image must not be empty."""
    dims, grid = call.dims("input"), call.dims("grid")
    ranks = {"aten.grid_sampler_2d": (4,), "aten.grid_sampler_3d": (5,)}.get(call.node.op_type, (4, 5))
    if call.argument("interpolation_mode") == _BICUBIC:
        ranks = (4,)
    return Value(grid_sample(call, dims, grid, ranks=ranks, is_filled=True))


@operator("affine_grid_generator")
def gridded(call: TorchCall) -> Value:
    """A grid of coordinates for an output."""
    size = tuple(call.known_sizes("size"))
    grid = affine_grid(call, call.dims("theta"), size)
    call.filled((size[0], *size[2:]), "the output must not be empty")
    return Value(grid)


# Fourier transforms, and the short-time transform of signals.


_POINTS = "there must be at least one data point along the axis"


def _half(size: Dim) -> Dim:
    """Return how many frequencies a real signal has: n//2 + 1."""
    return add(floor_divide(size, 2), 1)


@operator("fft_fft", "fft_ifft", "fft_rfft", "fft_ihfft", "fft_irfft", "fft_hfft")
def transformed(call: TorchCall) -> Value:
    """A transform along one axis; from or to real numbers, the frequencies are half as many, plus one."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.fft_")
    call.refuse_if(not dims, "the tensor must have an axis")
    place = call.axis(call.number("dim", -1), len(dims))
    _fill(call, dims, [place])
    return Value(_along(call, dims, place, call.size("n"), kind))


def _fill(call: TorchCall, dims: Dims, places: Sequence[int]) -> None:
    """Require that there is something to transform: no other axis is empty."""
    for n, size in enumerate(dims):
        if n not in places and places:
            call.at_most(1, size, "the axes that are not transformed must not be empty")


def _along(call: TorchCall, dims: Dims, place: int, requested: Dim | None, kind: str) -> Dims:
    """Return a shape with the transformed axis; ``requested`` is the length that the caller asks for."""
    is_to_real = kind.startswith(("irfft", "hfft"))
    # A real signal of even length n has n//2 + 1 frequencies; without a length, torch assumes an even one.
    length = multiply(2, subtract(dims[place], 1)) if is_to_real else dims[place]
    length = length if requested is None else requested
    call.at_most(1, length, _POINTS)
    frequencies = _half(length) if kind.startswith(("rfft", "ihfft")) else length
    return (*dims[:place], frequencies, *dims[place + 1 :])


@operator(*(f"fft_{kind}{n}" for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft") for n in "2n"))
def transformed_along_several(call: TorchCall) -> Value:
    """A transform along several axes; only the last of them has half of the frequencies."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.fft_")
    sizes = call.sizes_of("s") if call.argument("s") is not None else None
    axes = call.numbers_of("dim")
    if axes is None and kind.endswith("2"):
        axes = [-2, -1]
    if axes is None:
        count = len(dims) if sizes is None else len(sizes)
        axes = list(range(len(dims) - count, len(dims)))
        call.refuse_if(axes and axes[0] < 0, "there must be an axis for each length")
    places = call.distinct_axes(axes, max(len(dims), 1), TWICE)
    call.refuse_if(not dims and places, "the tensor must have an axis")
    call.refuse_if(sizes is not None and len(sizes) != len(places), "there must be one length for each axis")
    call.refuse_if(not places and kind not in ("fftn", "ifftn", "fft2", "ifft2"), "there must be an axis to transform")
    _fill(call, dims, places)
    for n, place in enumerate(places):
        length = None if sizes is None or sizes[n] == -1 else sizes[n]
        is_last = n == len(places) - 1
        # Only the last axis has half of the frequencies.
        dims = _along(call, dims, place, length, kind if is_last else "fft")
    return Value(dims)


@operator("_fft_c2c", "_fft_r2c", "_fft_c2r")
def transformed_by_kernel(call: TorchCall) -> Value:
    """The kernel behind the transforms: between complex numbers, or from or to real ones along the last axis given."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten._fft_")
    axes = call.numbers_of("dim") or []
    if not axes and kind == "c2c":
        return Value(dims)
    # Torch does not check axes here: it reads out of bounds at one below 0 or out of range.
    if not axes or not all(0 <= a < len(dims) for a in axes) or len(set(axes)) < len(axes):
        call.refuse("there must be axes to transform, each named once and counted from the front")
    call.filled(dims, "there must be elements to transform")
    last, output = axes[-1], list(dims)
    if kind == "r2c" and call.flag("onesided"):
        output[last] = _half(dims[last])
    if kind == "c2r":
        output[last] = _real_length(call, dims[last])
    return Value(tuple(output))


def _real_length(call: TorchCall, frequencies: Dim) -> Dim:
    """Return how many real numbers are computed."""
    length = call.size("last_dim_size")
    if length is None:
        call.give_up("data decide last_dim_size")
    call.at_most(1, length, _POINTS)
    # Torch reads other numbers of frequencies out of bounds.
    call.one_of(frequencies, [_half(length), length], "there must be n//2 + 1 frequencies for n real numbers")
    return length


@operator("fft_fftshift", "fft_ifftshift")
def shifted(call: TorchCall) -> Value:
    """The frequencies in another order."""
    dims = call.dims("self")
    call.refuse_if(not dims, "the tensor must have an axis")
    for axis in call.numbers_of("dim") or ():
        call.axis(axis, len(dims))
    return Value(dims)


@operator("stft")
def short_time(call: TorchCall) -> Value:
    """The spectra (batch, frequencies, frames) of overlapping frames of signals (batch, time)."""
    dims, length = call.dims("self"), call.number("n_fft")
    call.refuse_if(len(dims) not in (1, 2), "signals must have one or two axes")
    call.filled(dims[:-1], "there must be a signal")
    time, hop = dims[-1], call.number("hop_length", length // 4)
    width = call.number("win_length", length)
    if length < 1 or hop < 1 or not 1 <= width <= length:
        call.refuse("the hop and the window must be positive, and the window at most as long as a frame")
    if call.flag("center"):  # one overload has no such argument, and does not pad
        if call.argument("pad_mode") in (None, "reflect"):
            call.at_most(length // 2 + 1, time, "the signal must be longer than what is reflected at its ends")
        time = add(time, 2 * (length // 2))
    call.at_most(length, time, "the signal must hold a frame")
    call.same_shape_if_given("window", (width,), "the window must have win_length numbers")
    is_one_sided = call.flag("onesided", not call.dtype_of("self").startswith("complex"))
    frequencies = length // 2 + 1 if is_one_sided else length
    frames = add(floor_divide(subtract(time, length), hop), 1)
    pair = () if call.flag("return_complex") else (2,)
    return Value((*dims[:-1], frequencies, frames, *pair))


@operator("istft")
def from_short_time(call: TorchCall) -> Value:
    """The signals (batch, time) of spectra (batch, frequencies, frames)."""
    dims, length = call.dims("self"), call.number("n_fft")
    call.refuse_if(len(dims) not in (2, 3), "spectra must have two or three axes")
    call.filled(dims, "there must be spectra")
    hop = call.number("hop_length", length // 4)
    width = call.number("win_length", length)
    if length < 1 or not 1 <= hop <= width <= length:
        call.refuse("the hop must be at most the window, and the window at most a frame")
    sided = call.argument("onesided")
    allowed = [n for n, is_half in ((length // 2 + 1, True), (length, False)) if sided in (None, is_half)]
    call.one_of(dims[-2], allowed, "there must be a row for each frequency of a frame")
    call.same_shape_if_given("window", (width,), "the window must have win_length numbers")
    whole = add(length, multiply(hop, subtract(dims[-1], 1)))
    cut = length // 2 if call.flag("center", True) else 0
    requested = call.size("length")
    time = subtract(whole, 2 * cut) if requested is None else requested
    call.at_most(1, time, "the signal must not be empty")
    if cut == 0 or hop * 2 > width:
        call.note("not checked: at each sample, some window must not be 0", is_about_data=True)
    return Value((*dims[:-2], time))
