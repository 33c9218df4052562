"""Images and signals: tensors resampled to another size or at the points of a grid, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import floor

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import read_scale, real_number, requested_shape, scaled
from symbcast.onnx.operators.declarations import RuntimeDifference, crashes, operator
from symbcast.operators.operator import Dims
from symbcast.operators.resizing import DOCUMENT, SINGLE, Scale, affine_grid, grid_sample
from symbcast.operators.values.contents import FLOAT, Element, is_size
from symbcast.operators.values.value import Constant, Value


class ResizedAxis(NamedTuple):
    """A resized axis: its new size, and the formulas for scale = 1 and scale >= 1; None if not known."""

    size: Dim
    stays: Formula | None
    grows: Formula | None


@operator("Resize")
def resize(call: NodeCall) -> Value:
    """A new size for each axis, given directly or by a scale."""
    dims = call.shape(0)
    axes = _axes(call, len(dims))
    scaled_by = 1 if call.version < 11 else 2
    has_sizes = call.version >= 11 and _has_elements(call, 3)
    # Exactly one of both is given; an empty tensor means none.
    call.refuse_if(has_sizes == _has_elements(call, scaled_by), "either scales or sizes must be given")
    _require_region(call, len(axes))
    resized = _to_sizes(call, dims, axes) if has_sizes else _by_scales(call, dims, axes, scaled_by)
    return _resized(call, dims, resized)


@operator("Upsample")
def upsample(call: NodeCall) -> Value:
    """Each size multiplied by a scale of 1 or more."""
    dims = call.shape(0)
    if call.version < 9:
        factors = _counted(call, call.attribute("scales"), len(dims))
    else:
        # Since version 9 the scales are an input.
        factors = _counted(call, _scales(call, 1), len(dims))
    for factor in factors:
        if factor is not None:
            call.require(factor.is_one_or_more, "scales must not be below 1")
    return _resized(call, dims, {n: _scaled(call, dims[n], f, n) for n, f in enumerate(factors)})


RESIZE_MODES = RuntimeDifference(
    "Resize Upsample", "has kernels for some modes and ranks only", "requires nothing of the rank"
)


def _resized(call: NodeCall, dims: Dims, resized: Mapping[int, ResizedAxis]) -> Value:
    every = [resized.get(n, ResizedAxis(d, TRUE, TRUE)) for n, d in enumerate(dims)]
    if call.does(RESIZE_MODES):
        _require_mode_axes(call, every)
    return Value(tuple(r.size for r in every), call.dtype())


def _has_elements(call: NodeCall, position: int) -> bool:
    """Return whether scales or sizes are given; an empty tensor means neither."""
    return call.has(position) and call.value(position).shape != (0,)


def _axes(call: NodeCall, rank: int) -> list[int]:
    attribute = call.integers("axes") if call.version >= 18 else None
    if attribute is None:
        return list(range(rank))
    axes = [call.axis(a, rank) for a in attribute]
    call.refuse_if(len(set(axes)) != len(axes), "no axis may be resized twice")
    return axes


def _is_crop(call: NodeCall) -> bool:
    return call.text("coordinate_transformation_mode") == "tf_crop_and_resize"


def _require_region(call: NodeCall, count: int) -> None:
    """Require that a region have two numbers for each axis."""
    if _is_crop(call) and _has_elements(call, 1) and call.value(1).shape is not None:
        (length,) = call.rank(1, (1,), "roi")
        call.equal(length, 2 * count, f"roi must be {2 * count} numbers")


# By scales.


RESIZE_CROP = RuntimeDifference(
    "Resize", "multiplies the whole axis by its scale, where a region is cut out", "multiplies the region"
)


def _by_scales(call: NodeCall, dims: Dims, axes: Sequence[int], position: int) -> dict[int, ResizedAxis]:
    call.refuse_if(_keeps_ratio(call), "the aspect ratio can be kept only with sizes, not scales")
    factors = _counted(call, _scales(call, position), len(axes))
    for factor in factors:
        if factor is not None:
            call.at_most(1, factor.above, "scales must be positive")
    # A region from 0 to half of 4 elements by a scale of 2 has 8 elements in 1.32, not 4.
    if _is_crop(call) and not call.does(RESIZE_CROP):
        return {a: ResizedAxis(call.fresh(f"size_{a}", f"axis {a} of a region"), None, None) for a in axes}
    return {a: _scaled(call, dims[a], f, a) for a, f in zip(axes, factors, strict=True)}


def _scales(call: NodeCall, position: int) -> Sequence[Element | float] | None:
    """Return the scales in an input; None if they are not individually known."""
    value = call.value(position)
    if isinstance(value, Constant) and value.array is not None:
        scales: list[float] = value.array.ravel().tolist()
        return scales
    return call.elements(position)


FLOAT_SCALES = RuntimeDifference(
    "Resize Upsample", "multiplies by scales that are rounded to 32 bits", "by the numbers as they are written"
)


def _counted(call: NodeCall, numbers: Sequence[Element | float] | None, count: int) -> list[Scale | None]:
    # 90 elements by 0.7 are 63 in 32 bits, where 0.7 is rounded down but the product up; exactly they are 62.99.
    rounding = SINGLE if call.does(FLOAT_SCALES) else DOCUMENT
    scales = [read_scale(n, rounding) for n in ([None] * count if numbers is None else numbers)]
    call.refuse_if(len(scales) != count, f"there must be {count} scales")
    if None in scales:
        call.note("not checked: scales, which are data, must be possible")
    return scales


def _scaled(call: NodeCall, size: Dim, factor: Scale | None, axis: int) -> ResizedAxis:
    length = scaled(call, size, factor, axis)
    return (
        ResizedAxis(length, None, None) if factor is None else ResizedAxis(length, factor.is_one, factor.is_one_or_more)
    )


# To sizes.


def _to_sizes(call: NodeCall, dims: Dims, axes: Sequence[int]) -> dict[int, ResizedAxis]:
    (length,) = call.rank(3, (1,), "sizes")
    call.equal(length, len(axes), f"there must be {len(axes)} sizes")
    items = call.elements(3) or (None,) * len(axes)
    call.refuse_if(len(items) != len(axes), f"there must be {len(axes)} sizes")
    requested = [
        i if is_size(i) else call.fresh(f"size_{a}", f"what sizes hold for axis {a}")
        for a, i in zip(axes, items, strict=True)
    ]
    old = [dims[a] for a in axes]
    if _keeps_ratio(call):
        resized = _keeping_ratio(call, old, requested)
    else:
        resized = [_resized_to(call, d, w) for d, w in zip(old, requested, strict=True)]
    return dict(zip(axes, resized, strict=True))


_POLICY = "keep_aspect_ratio_policy"


def _keeps_ratio(call: NodeCall) -> bool:
    policy = call.text(_POLICY, "stretch")
    call.refuse_if(policy not in ("stretch", "not_larger", "not_smaller"), f"{_POLICY} must not be {policy!r}")
    return policy != "stretch"


RESIZE_SIZES = RuntimeDifference("Resize", "refuses a size of 0 for an axis that has elements", "a size may be 0")


def _resized_to(call: NodeCall, size: Dim, requested: Dim) -> ResizedAxis:
    if not call.does(RESIZE_SIZES):
        call.is_size(requested, "a size must not be negative")
    elif call.bounds.is_at_least(size, 1):
        call.at_most(1, requested, "a requested size must be positive")
    else:
        both = all_of([at_most(1, size), at_most(1, requested)]), all_of([equal(size, 0), equal(requested, 0)])
        call.require(any_of(both), "an empty axis must stay empty, and another must not become so")
    return ResizedAxis(requested, equal(requested, size), at_most(size, requested))


# 6 by 27 into 7 by 90 is 7 by 31 in 32 bits, and 7 by 32 exactly.
FLOAT_RATIO = RuntimeDifference(
    "Resize", "computes the kept aspect ratio and the resulting sizes in 32-bit floats", "the ratio is exact"
)


def _keeping_ratio(call: NodeCall, old: Sequence[Dim], requested: Sequence[Dim]) -> list[ResizedAxis]:
    """Return axes resized by one scale: the smallest or the largest that any axis needs."""
    call.filled(old, _NONE_EMPTY)
    if not call.does(FLOAT_RATIO):
        return [ResizedAxis(_in_ratio(call, size, old, requested), None, None) for size in old]
    call.filled(requested, _NONE_EMPTY)
    before, after = numbers_of(old), numbers_of(requested)
    if before is None or after is None or min((*before, *after), default=1) < 1:
        return [
            ResizedAxis(call.fresh(f"size_{n}", f"axis {n} with its ratio kept"), None, None) for n in range(len(old))
        ]
    import numpy as np

    choose = min if call.text(_POLICY) == "not_larger" else max
    # Each step rounds to 32 bits, as in the runtime: the exact ratio gives other sizes.
    factor = choose(np.float32(w) / np.float32(d) for w, d in zip(after, before, strict=True))
    sizes = [floor(float(factor * np.float32(d)) + 0.5) for d in before]
    stays, grows = (TRUE if is_so else FALSE for is_so in (factor == 1, factor >= 1))
    return [ResizedAxis(size, stays, grows) for size in sizes]


_NONE_EMPTY = "no axis may be empty when the aspect ratio is kept"


def _in_ratio(call: NodeCall, size: Dim, old: Sequence[Dim], requested: Sequence[Dim]) -> Dim:
    """Return a size times the least or greatest of some ratios, rounded half up."""
    # Rounding is monotonic, so the least of the rounded products is that of the least ratio.
    choose = call.bounds.smaller if call.text(_POLICY) == "not_larger" else call.bounds.larger
    rounded = (
        after if before == size else floor_divide(add(multiply(2, after, size), before), multiply(2, before))
        for before, after in zip(old, requested, strict=True)
    )
    return reduce(choose, rounded)


# Cases for which the runtime has kernels.


def _require_mode_axes(call: NodeCall, axes: Sequence[ResizedAxis]) -> None:
    """Require axes that the runtime can interpolate: two or three, without batch and channels."""
    mode = call.text("mode", "nearest")
    if mode not in ("linear", "cubic"):
        return
    allowed: list[list[Formula | None]] = {"linear": _linear, "cubic": _cubic}[mode](call, axes)
    call.refuse_if(not allowed, f"mode {mode} does not support {len(axes)} axes")
    if any(None in parts and FALSE not in parts for parts in allowed):
        call.note(f"not checked: the scales, which are data, must suit mode {mode}")
        return
    call.require(any_of(all_of(f for f in parts if f is not None) for parts in allowed), f"mode {mode} {_ONLY}")


_ONLY = "resizes the last axes only, or all but the last; batch and channels must stay"


def _linear(call: NodeCall, axes: Sequence[ResizedAxis]) -> list[list[Formula | None]]:
    stays = [a.stays for a in axes]
    match len(axes):
        # "4-D inputs with the corresponding outermost 2 scale values being 1 or the corresponding outermost and
        # innermost scale values being 1", says 1.32 of other scales, and of one axis or six.
        case 2 | 3:
            return [[]]
        case 4:
            return [[stays[0], stays[1]], [stays[0], stays[3]]]
        case 5:
            return [[stays[0], stays[1]]]
    return []


def _cubic(call: NodeCall, axes: Sequence[ResizedAxis]) -> list[list[Formula | None]]:
    stays = [a.stays for a in axes]
    grows = [] if call.integer("antialias") else [a.grows for a in axes[1:3]]
    match len(axes):
        case 2:
            return [[]]
        case 4:
            return [[stays[0], stays[1]], [stays[0], stays[3], *grows]]
    return []


# Grids.


# "Only 4-D or 5-D tensor is supported".
GRID_SAMPLE_RANKS = RuntimeDifference(
    "GridSample", "samples images and volumes that are not empty", "requires nothing of the rank"
)


@operator("GridSample")
def grid_sample_(call: NodeCall) -> Value:
    """Sample the input at each place of a grid."""
    dims, grid = call.shape(0), call.shape(1)
    is_limited = call.does(GRID_SAMPLE_RANKS)
    ranks = range(3, len(dims) + 1) if not is_limited else (4,) if "cubic" in call.text("mode") else (4, 5)
    return Value(grid_sample(call, dims, grid, ranks=ranks, is_filled=is_limited), call.dtype())


# A size of (2, 3, 0, 5) is refused, where the grid would have no point.
AFFINE_GRID_EMPTY = RuntimeDifference("AffineGrid", "refuses an empty grid", "a grid may be empty")


@operator("AffineGrid")
def affine_grid_(call: NodeCall) -> Value:
    """A grid for a tensor of some size, transformed by an affine matrix."""
    theta = call.rank(0, (3,), "theta")
    size = requested_shape(call, 1, ignored={1})  # a grid has no channels
    if call.does(AFFINE_GRID_EMPTY):
        call.filled(size[2:], "the grid must not be empty")
    return Value(affine_grid(call, theta, size), call.dtype())


# Fourier transforms, and the matrix of the mel scale.


DFT_EMPTY = RuntimeDifference(
    "DFT", "requires elements of the signal only for an output that is not empty", "the length must be positive"
)
DFT_HALF = RuntimeDifference("DFT", "gives half the frequencies of complex numbers too", "of real ones only")


@operator("DFT")
def transform(call: NodeCall) -> Value:
    """The frequencies along an axis; the last axis holds real parts, or real and imaginary parts."""
    dims = call.shape(0)
    rank = len(dims)
    call.refuse_if(rank < 2, "the input must have an axis for the signal, and one for its real and imaginary parts")
    axis = _axis(call)
    place = None if axis is None else call.axis(axis, rank)
    call.refuse_if(place == rank - 1, "the last axis holds real and imaginary parts: it is not one to transform")
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
    # ONNX Runtime transforms an empty signal, but refuses a given length of 0.
    least = 0 if call.does(DFT_EMPTY) and not call.has(1) else 1
    call.at_most(least, length, "the length of a transform must be positive")
    # A real signal of n elements has n // 2 + 1 different frequencies; the way back makes 2 * (bins - 1) elements.
    frequencies = add(floor_divide(length, 2), 1) if is_half and not is_inverse else length
    shape = (*dims[:place], frequencies, *dims[place + 1 : -1], parts)
    if call.does(DFT_EMPTY):
        needs = any_of([call.empty(shape), at_most(1, dims[place])])
        call.require(needs, "the signal must not be empty, unless the output is")
    return Value(shape, call.dtype())


def _along_any(call: NodeCall, dims: Dims, is_other: bool) -> Dims:
    """Return the sizes of a transform that changes the length of an unknown axis."""
    call.note_data("the axis must be one of the signal's and not empty", 2)
    if not is_other:
        return dims
    what = f"axis {{}} (the transform's axis, from {call.input_name(2)})"
    return tuple(call.fresh(f"dim_{n}", what.format(n)) for n in range(len(dims)))


def _axis(call: NodeCall) -> int | None:
    """Return the axis as given; None if it is data."""
    # When the axis became an input, its default changed from 1 to -2.
    if call.version < 20:
        return call.integer("axis", 1)
    if not call.has(2):
        return -2
    numbers = call.numbers(2)
    return numbers[0] if numbers is not None and len(numbers) == 1 else None


def _number(call: NodeCall, position: int, label: str) -> Dim | None:
    """Return the number in an input, a new size if it is unknown; None without the input."""
    return call.size_in(position, label, least=1) if call.has(position) else None


# 6 elements and a step of 2 without a frame are refused.
STFT_FRAME = RuntimeDifference("STFT", "needs a window or frame_length", "without both, a frame is the whole signal")
STFT_REAL = RuntimeDifference("STFT", "accepts a real signal without an axis for its parts", "there is an axis of 1")


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
    frame = _number(call, 3, "frame_length")
    if frame is None and window is None and call.does(STFT_FRAME):
        call.refuse("a window or frame_length must be given")
    length = frame if frame is not None else window if window is not None else whole
    if window is not None and frame is not None:
        call.equal(window, frame, "the window must be as long as a frame")
    call.at_most(length, whole, "a frame must not be longer than the signal")
    crashes(call, any_of([call.empty((batch,)), at_most(1, length)]), "a frame has no elements")
    frames = add(floor_divide(subtract(whole, length), step), 1)
    bins = add(floor_divide(length, 2), 1) if call.integer("onesided", 1) else length
    return Value((batch, frames, bins, 2), call.dtype())


# 16 points at 8192 Hz end at 4096 Hz: an edge of 5000 "is out of range".
MEL_EDGES = RuntimeDifference("MelWeightMatrix", "requires both edges to be among the frequencies", "requires nothing")


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
        # A rate of 0 makes these infinite or NaN, which no comparison below accepts.
        places = [np.floor(np.float32(length + 1) * np.float32(edge) / np.float32(rate[0])) for edge in edges]
    if not all(0 <= place <= length // 2 for place in places):
        call.refuse("both edges must be from 0 to below half the sample rate")
