"""Convolutions, pools and other windows that slide along axes, and their number of positions in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import sequence_place
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.reshaping import known_rank, known_shapes, requested_shape
from symbcast.onnx.operators.declarations import CRASHES, RuntimeDifference, operator
from symbcast.operators.convolution import (
    NOT_NEGATIVE,
    SlidingWindow,
    conv,
    convolved_channels,
    covering,
    fitting,
    groups_of,
    pool,
    rounded_down,
    rounded_up,
    spatial_axes,
    transposed_channels,
    transposed_length,
    weights_of_rank,
)
from symbcast.operators.layers import per_channel
from symbcast.operators.operator import Context, Dims
from symbcast.operators.reach import Reach
from symbcast.operators.values.contents import FLOAT, INT32, INT64
from symbcast.operators.values.value import Value

SAME = frozenset({"SAME_UPPER", "SAME_LOWER"})


def auto_pad(call: NodeCall) -> str:
    """Return the attribute ``auto_pad``; empty if the node gives its pads."""
    mode = call.text("auto_pad", "NOTSET")
    call.refuse_if(mode not in (*SAME, "VALID", "NOTSET"), f"auto_pad must not be {mode!r}")
    return "" if mode == "NOTSET" else mode


# A window of (0, 2) over (3, 3) has 4 by 2 positions.
CONV_EMPTY_WINDOW = RuntimeDifference("ConvInteger QLinearConv", "accepts a window of size 0", "a window is not empty")


def windows(call: NodeCall, kernel: Dims) -> list[SlidingWindow]:
    """Return a node's window along each axis; attributes must be positive and match the number of axes."""
    rank = len(kernel)
    if not (call.node.op_type in ("ConvInteger", "QLinearConv") and call.does(CONV_EMPTY_WINDOW)):
        for size in kernel:
            is_crash = call.node.op_type == "Conv" and call.does(CRASHES)
            reason = "the runtime crashes here: the window is empty" if is_crash else "the window must not be empty"
            call.at_most(1, size, reason)
    strides = numbers(call, "strides", 1, rank, 1)
    dilations = numbers(call, "dilations", 1, rank, 1)
    pads = numbers(call, "pads", 0, 2 * rank, 0)
    if auto_pad(call):
        pads = [0] * (2 * rank)
    return [SlidingWindow(*all_) for all_ in zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)]


def numbers(call: NodeCall, name: str, default: int, count: int, least: int) -> list[int]:
    """Return an attribute of ``count`` numbers, none below ``least``."""
    values = call.integers(name)
    if values is None:
        return [default] * count
    call.refuse_if(len(values) != count, f"{name} must be {count} numbers")
    call.refuse_if(min(values, default=least) < least, f"{name} must not be below {least}")
    return values


def nonempty(call: NodeCall, dims: Dims, reason: str) -> None:
    """Require that no size be 0, unless the batch is."""
    sizes = [d for d in dims if not call.bounds.is_at_least(d, 1)]
    if not sizes:
        return
    # "Only N can be zero", says MaxPool of (1, 0, 5), and returns (0, 1, 4) for (0, 1, 5).
    is_empty = [] if call.bounds.is_at_least(dims[0], 1) else [equal(dims[0], 0)]
    for size in sizes:
        if size != dims[0] or not is_empty:
            call.require(any_of([*is_empty, at_most(1, size)]), reason)


# The number of window positions in ONNX Runtime (seen with 1.31).


def rounded_towards_zero(context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of window positions if negative quotients round up, as division in C++ does."""
    # So a window slightly larger than its input still has one position; a window larger by a full stride has none.
    return _divided(context, window.room(size), window.stride)


def _divided(context: Context, room: Dim, stride: int) -> Dim:
    # 2 elements, a stride of 2: a window of 3 has one position, a window of 4 none, and a window of 6 is an error.
    context.at_most(1, add(room, 2 * stride), NOT_NEGATIVE)
    whole = add(floor_divide(room, stride), 1)
    if stride == 1 or context.bounds.is_at_least(room, 0):
        return whole
    # C++ divides towards zero: rooms from -stride + 1 to -1 give 0, and so one position.
    positive = context.bounds.larger(whole, 1)
    if context.bounds.is_at_least(add(room, stride), 1):
        return positive
    return add(positive, context.bounds.smaller(ceil_divide(room, stride), 0))


def covering_positions(context: Context, size: Dim, window: SlidingWindow, *, rounds_up: bool, is_strict: bool) -> Dim:
    """Return the number of positions of a pool with automatic padding."""
    count = covering(size, window.stride)
    distance = multiply(subtract(count, 1), window.stride)
    if window.dilation == 1:
        if is_strict:
            padding = subtract(add(distance, window.kernel), size)
            context.at_most(0, padding, "windows with gaps between them must end where the input does")
        return count
    # The runtime computes the padding for the window without its gaps, so that a dilated window has less room.
    room = add(distance, subtract(window.kernel, window.span))
    if rounds_up:
        context.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
        return add(ceil_divide(room, window.stride), 1)
    return _divided(context, room, window.stride)


# Convolutions and transposed convolutions.


def _window_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reach for a rank of two plus the length of ``kernel_shape``, else for the rank of data or weights."""
    kernel = call.integers("kernel_shape")
    ranks = [len(s) for s in shapes[:2] if s is not None and sequence_place(s) is None]
    is_pool = call.node.op_type.endswith("Pool")
    rank = len(kernel) + 2 if kernel else None if is_pool or not ranks else ranks[0]
    if rank is None:
        raise UnknownShapeError
    if is_pool:
        return [Reach(rank=rank)]
    return [Reach(rank=rank), Reach(rank=rank), None if call.node.op_type == "ConvInteger" else Reach(rank=1)]


@operator("Conv", reaches=_window_reach)
def convolution(call: NodeCall) -> Value:
    """One element for each position of the window, with an output channel for each filter."""
    return Value(_convolved(call, call.shape(0), call.shape(1), 2), call.dtype())


CONV_INTEGER_POINT = RuntimeDifference(
    "ConvInteger", "accepts only one zero point for all weights", "one, or one for each output channel"
)


@operator("ConvInteger", reaches=_window_reach)
def integer_convolution(call: NodeCall) -> Value:
    """A convolution of small integers; a zero point is one number, or one for each filter."""
    weights = call.shape(1)
    if call.does(CONV_INTEGER_POINT):
        _require_single_points(call, (2, 3))
    else:
        _require_single_points(call, (2,))
        _require_channel_points(call, (3,), weights[0])
    return Value(_convolved(call, call.shape(0), weights), INT32)


@operator("QLinearConv")
def quantized_convolution(call: NodeCall) -> Value:
    """A convolution of quantized numbers."""
    weights = call.shape(3)
    _require_single_points(call, (1, 2, 6, 7))
    _require_channel_points(call, (4, 5), weights[0])
    return Value(_convolved(call, call.shape(0), weights, 8), call.dtype(7))


def _require_single_points(call: NodeCall, positions: Sequence[int]) -> None:
    """Require that scales and zero points be one number each."""
    for n in positions:
        for size in known_rank(call, n, (0, 1), call.input_name(n)) or ():
            call.equal(size, 1, f"{call.input_name(n)} must be one number")


def _require_channel_points(call: NodeCall, positions: Sequence[int], channels: Dim) -> None:
    """Require one scale and zero point, or one for each output channel."""
    for n in positions:
        for size in known_rank(call, n, (0, 1), call.input_name(n)) or ():
            needs = any_of([equal(size, 1), equal(size, channels)])
            call.require(needs, f"{call.input_name(n)} must be one number, or one for each output channel")


def _convolved(call: NodeCall, dims: Dims, weights: Dims, bias: int | None = None) -> Dims:
    spatial_axes(call, dims)
    weights_of_rank(call, weights, len(dims))
    convolved_channels(call, dims, weights, _group(call))
    if bias is not None:
        per_channel(call, weights[0], known_shapes(call, bias), what="output channel")
    return conv(call, dims, weights, _windows(call, weights[2:]), partial(_positions, call, auto_pad(call)))


def _group(call: NodeCall) -> int:
    group = call.integer("group", 1)
    groups_of(call, group)
    return group


def _windows(call: NodeCall, kernel: Dims) -> list[SlidingWindow]:
    """Return the windows of the weights; the node may repeat their sizes in ``kernel_shape``."""
    repeated = call.integers("kernel_shape")
    if repeated is not None:
        call.refuse_if(len(repeated) != len(kernel), f"kernel_shape must be {len(kernel)} numbers")
        for number, size in zip(repeated, kernel, strict=True):
            call.equal(number, size, "kernel_shape must be that of the weights")
    # A pool ignores its pads then, as long as they are smaller than the window; a convolution does not load with both.
    if auto_pad(call) and call.attribute("pads") is not None:
        call.refuse("pads must not be given together with auto_pad")
    return windows(call, kernel)


CONV_SAME_PADDING = RuntimeDifference(
    "Conv ConvInteger QLinearConv", "finds no padding for windows with gaps, nor for an empty axis", "finds it for all"
)
CONV_WINDOW_FITS = RuntimeDifference(
    "Conv ConvInteger QLinearConv",
    "requires the window to fit into the padded axis",
    "otherwise the output has no positions",
)


def _positions(call: NodeCall, padding: str, _: Context, size: Dim, window: SlidingWindow) -> Dim:
    if padding not in SAME:
        return fitting(call, size, window) if call.does(CONV_WINDOW_FITS) else rounded_down(call, size, window)
    if call.does(CONV_SAME_PADDING):
        # "Dilation not supported for AutoPadType::SAME_UPPER or AutoPadType::SAME_LOWER" (1.32).
        call.refuse_if(window.dilation > 1, "windows with gaps have no padding found for them")
        call.at_most(1, size, "the input must not be empty")
    return covering(size, window.stride)


@operator("ConvTranspose", reaches=_window_reach)
def transposed_convolution(call: NodeCall) -> Value:
    """Each element becomes a window; the windows lie a stride apart and are summed where they overlap."""
    dims, weights = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    weights_of_rank(call, weights, len(dims))
    channels = transposed_channels(call, dims, weights, _group(call))
    per_channel(call, channels, known_shapes(call, 2), what="output channel")
    rank = len(sizes)
    extra = numbers(call, "output_padding", 0, rank, 0)
    requested = _requested_sizes(call, rank)
    axes = zip(sizes, _windows(call, weights[2:]), extra, requested, strict=True)
    return Value((dims[0], channels, *(_undone(call, *axis) for axis in axes)), call.dtype())


# An output_shape of [0, 6] is refused.
CONV_TRANSPOSE_EMPTY = RuntimeDifference("ConvTranspose", "refuses an empty output", "an output may be empty")


def _requested_sizes(call: NodeCall, rank: int) -> list[int | None]:
    """Return the output sizes that a node requests, if any."""
    requested = call.integers("output_shape")
    if not requested:
        return [None] * rank
    call.refuse_if(len(requested) != rank, f"output_shape must be {rank} numbers")
    if min(requested) < (1 if call.does(CONV_TRANSPOSE_EMPTY) else 0):
        call.refuse("no size in output_shape may be negative, and for ONNX Runtime none may be 0")
    return [*requested]


CONV_TRANSPOSE_EXTRA = RuntimeDifference(
    "ConvTranspose", "requires output_padding below the stride, and an element to add it to", "requires neither"
)
CONV_TRANSPOSE_SHAPE = RuntimeDifference(
    "ConvTranspose", "requires an element for each window in the requested output_shape", "any output_shape works"
)
CONV_TRANSPOSE_SAME = RuntimeDifference(
    "ConvTranspose",
    "uses no negative padding: a window that does not reach ends the output",
    "the output is the input times the strides",
)


def _undone(call: NodeCall, size: Dim, window: SlidingWindow, extra: int, requested: int | None) -> Dim:
    """Return the size of the output along an axis."""
    stride = window.stride
    if call.does(CONV_TRANSPOSE_EXTRA):
        # 1.32 first compares with max(stride, dilation), but then finds that such an output needs a larger input:
        # 2 elements, dilation 3 and output_padding 2 fail with "Expected input size 4 but got 2".
        call.refuse_if(extra >= stride, "output_padding must be smaller than the stride")
        if extra:
            call.at_most(1, size, "there must be an element to add output_padding to")
    if requested is not None:
        if call.does(CONV_TRANSPOSE_SHAPE):
            # Padding cuts off what is too much, and nothing adds what is missing: by a window of 1, 9 elements may
            # become 3, but 2 not 9 ("Expected input size 9 but got 2").
            needed = add(floor_divide(subtract(requested, window.span), stride), 1)
            call.at_most(needed, size, "the requested output is too large for the input")
            call.at_most(1, size, "the input must not be empty")
        return requested
    if auto_pad(call) not in SAME:
        length = transposed_length(size, window, extra)
    elif call.does(CONV_TRANSPOSE_SAME):
        # 2 elements, a window of 1 and a stride of 2 give 3, not the 4 of the documents.
        full = transposed_length(size, window._replace(before=0, after=0), extra)
        length = call.bounds.smaller(full, multiply(size, stride))  # padding is not negative
    else:
        length = multiply(size, stride)
    if call.does(CONV_TRANSPOSE_EMPTY):
        call.at_most(1, length, "the output must not be empty")
    else:
        call.at_most(0, length, "the size of the output must not be negative")
    return length


# An axis of 0 that is padded to the size of the window is refused.
DEFORM_CONV_EMPTY = RuntimeDifference(
    "DeformConv", "refuses no output channels, and an input of no elements", "requires neither"
)
DEFORM_CONV_POSITIONS = RuntimeDifference(
    "DeformConv", "divides towards zero: a window somewhat too large has a position", "rounds down"
)


@operator("DeformConv")
def deformed_convolution(call: NodeCall) -> Value:
    """A deformable convolution: an offset for each element of the window at each position."""
    dims, weights = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    weights_of_rank(call, weights, len(dims))
    group, offsets = _group(call), call.integer("offset_group", 1)
    convolved_channels(call, dims, weights, group)
    call.require(equal(modulo(dims[1], offsets), 0), f"the channels must be a multiple of the {offsets} offset groups")
    axes = _windows(call, weights[2:])
    positions = rounded_towards_zero if call.does(DEFORM_CONV_POSITIONS) else rounded_down
    out = [positions(call, s, w) for s, w in zip(sizes, axes, strict=True)]
    if call.does(DEFORM_CONV_EMPTY):
        call.at_most(1, weights[0], "there must be an output channel")
        _require_elements(call, dims, out)
    elements = multiply(multiply(*weights[2:]), offsets)
    _require_positions(call, 2, (dims[0], multiply(elements, len(sizes)), *out))
    if call.has(4):
        _require_positions(call, 4, (dims[0], elements, *out))
    per_channel(call, weights[0], known_shapes(call, 3), what="output channel")
    return Value((dims[0], weights[0], *out), call.dtype())


def _require_positions(call: NodeCall, position: int, expected: Dims) -> None:
    shape = known_rank(call, position, (len(expected),), call.input_name(position))
    for left, right in zip(shape or (), expected, strict=False):
        call.equal(left, right, "there must be numbers for each element of the window at each position of it")


def _require_elements(call: NodeCall, dims: Dims, out: Sequence[Dim]) -> None:
    """Require that no axis to slide along be empty, unless the output is."""
    is_empty = [equal(d, 0) for d in (dims[0], *out) if not call.bounds.is_at_least(d, 1)]
    for size in dims[2:]:
        if not call.bounds.is_at_least(size, 1):
            call.require(any_of([*is_empty, at_most(1, size)]), "windows need an input that is not empty")


COL2IM_EMPTY = RuntimeDifference("Col2Im", "refuses no rows", "there may be no channels")
COL2IM_BLOCK_FITS = RuntimeDifference(
    "Col2Im", "requires the block to fit into the padded image", "otherwise there are no columns"
)


@operator("Col2Im")
def columns_to_image(call: NodeCall) -> Value:
    """Place the columns as blocks of an image, and add them where they overlap."""
    batch, rows, columns = call.rank(0, (3,), "the input")
    image, block = requested_shape(call, 1), requested_shape(call, 2)
    call.refuse_if(len(image) != len(block), "image and block must have the same number of axes")
    axes = windows(call, block)
    positions = fitting if call.does(COL2IM_BLOCK_FITS) else rounded_down
    count = [positions(call, s, w) for s, w in zip(image, axes, strict=True)]
    call.equal(columns, multiply(*count), "there must be a column for each position of the block")
    elements = multiply(*block)
    call.require(equal(modulo(rows, elements), 0), "the rows must be a multiple of the elements of a block")
    # "must be a positive multiple of prod(block_shape)": 0 rows are none.
    if call.does(COL2IM_EMPTY):
        call.at_most(1, rows, "there must be a row")
    return Value((batch, floor_divide(rows, elements), *image), call.dtype())


# Pooling and unpooling.


POOL_INPUT = RuntimeDifference(
    "MaxPool AveragePool LpPool",
    "refuses padding as wide as the window, and an input that is empty but for its batch",
    "requires neither",
)


@operator("MaxPool", "AveragePool", "LpPool", reaches=_window_reach)
def pool_(call: NodeCall) -> Sequence[Value]:
    """One element for each position of a window; ``ceil_mode`` lets the last one reach beyond the padding."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    axes = windows(call, tuple(kernel))
    if call.does(POOL_INPUT):
        _require_padding(call, axes)
        nonempty(call, dims, "no size but the batch may be 0")
    shape = pool(call, dims, axes, partial(_pooled_positions, call))
    return Value(shape, call.dtype()), Value(shape, INT64)


def _require_padding(call: NodeCall, axes: Sequence[SlidingWindow]) -> None:
    """Refuse what the runtime does: padding as wide as the window, even where ``auto_pad`` replaces it."""
    pads = numbers(call, "pads", 0, 2 * len(axes), 0)
    for w, before, after in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        if isinstance(w.kernel, int) and max(before, after) >= w.kernel:
            call.refuse("the padding must be smaller than the window")


POOL_POSITIONS = RuntimeDifference(
    "MaxPool AveragePool LpPool", "divides towards zero: a window somewhat too large has a position", "rounds down"
)
POOL_SAME_PADDING = RuntimeDifference(
    "MaxPool AveragePool LpPool",
    "computes the padding of an undilated window, and some kernels refuse negative padding",
    "as many positions as the padding gives",
)


def _pooled_positions(call: NodeCall, _: Context, size: Dim, window: SlidingWindow) -> Dim:
    rounds_up = bool(call.integer("ceil_mode"))
    if auto_pad(call) in SAME:
        if not call.does(POOL_SAME_PADDING):
            return covering(size, window.stride)
        return covering_positions(call, size, window, rounds_up=rounds_up, is_strict=_is_strict(call))
    if rounds_up:
        return rounded_up(call, size, window)
    return rounded_towards_zero(call, size, window) if call.does(POOL_POSITIONS) else rounded_down(call, size, window)


def _is_strict(call: NodeCall) -> bool:
    """Return whether the runtime uses its fast kernel, which refuses negative padding."""
    # 5 elements, a window of 1 and a stride of 3: "padding values must be non-negative" from MaxPool and from
    # AveragePool at opset 17, but 2 positions from MaxPool with indices and from AveragePool at opset 19.
    if call.dtype() != FLOAT:
        return False
    if call.node.op_type == "MaxPool":
        return len([o for o in call.node.outputs if o]) == 1
    return call.node.op_type == "AveragePool" and call.version < 19


# "Only N can be zero": (0, 1, 5) gives (0, 1, 1), (1, 1, 0) is refused.
GLOBAL_POOL_EMPTY = RuntimeDifference(
    "GlobalAveragePool GlobalMaxPool GlobalLpPool",
    "refuses an input that is empty but for its batch",
    "requires nothing",
)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: NodeCall) -> Value:
    """Every axis after the channels becomes 1."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    if call.does(GLOBAL_POOL_EMPTY):
        nonempty(call, dims, "no size but the batch may be 0")
    return Value((*dims[:2], *[1] * len(sizes)), call.dtype())


UNPOOL_PADDING = RuntimeDifference("MaxUnpool", "refuses padding as wide as the window", "requires nothing")
# 2 windows of 2 next to each other need 4 elements: 3 are "smaller than minimum required", and 9 are accepted.
UNPOOL_SHAPE = RuntimeDifference(
    "MaxUnpool", "requires an output_shape at least as large as the pool's input", "any output_shape works"
)


@operator("MaxUnpool")
def max_unpool(call: NodeCall) -> Value:
    """Place each element where the pool took it from, according to the indices; the rest is 0."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    indices = call.rank(1, (len(dims),), "the indices")
    for left, right in zip(dims, indices, strict=True):
        call.equal(left, right, "there must be an index for each element")
    call.note(f"not checked: the indices in {call.input_name(1)}, which are data, must be within the output")
    axes = windows(call, tuple(kernel))
    if call.does(UNPOOL_PADDING):
        _require_padding(call, axes)
    least = (*dims[:2], *(_unpooled(call, s, w) for s, w in zip(sizes, axes, strict=True)))
    if not call.has(2):
        return Value(least, call.dtype())
    shape = requested_shape(call, 2)
    call.refuse_if(len(shape) != len(dims), f"output_shape must be {len(dims)} numbers")
    for axis, (requested, inferred) in enumerate(zip(shape, least, strict=True)):
        if axis < 2:
            call.equal(requested, inferred, "batch and channels must stay as they are")
        elif call.does(UNPOOL_SHAPE):
            call.at_most(inferred, requested, "the requested output must be at least as large as the pool's input")
    return Value(shape, call.dtype())


UNPOOL_EMPTY = RuntimeDifference("MaxUnpool", "refuses an empty output", "an output may be empty")


def _unpooled(call: NodeCall, size: Dim, window: SlidingWindow) -> Dim:
    full = add(multiply(subtract(size, 1), window.stride), window.kernel)
    length = subtract(full, window.before + window.after)
    call.at_most(1 if call.does(UNPOOL_EMPTY) else 0, length, "the output must not be empty")
    return length


@operator("MaxRoiPool")
def max_roi_pool(call: NodeCall) -> Value:
    """The maxima in the cells of a grid over each region."""
    dims = call.rank(0, (4,), "the input")
    regions = call.rank(1, (2,), "the regions")
    call.equal(regions[1], 5, "a region must be 5 numbers")
    pooled = call.integers("pooled_shape")
    if pooled is None or len(pooled) != 2 or min(pooled) < 1:
        call.refuse("pooled_shape must be 2 positive numbers")
    _require_image(call, regions[0], dims[0], call.input_name(1))
    return Value((regions[0], dims[1], *pooled), call.dtype())


@operator("RoiAlign")
def roi_align(call: NodeCall) -> Value:
    """Interpolated values on a grid over each region."""
    dims = call.rank(0, (4,), "the input")
    regions = call.rank(1, (2,), "the regions")
    batch = call.rank(2, (1,), "the batch indices")
    call.equal(regions[1], 4, "a region must be 4 numbers")
    call.equal(regions[0], batch[0], "there must be a batch index for each region")
    _require_image(call, regions[0], dims[0], call.input_name(2))
    size = (call.integer("output_height", 1), call.integer("output_width", 1))
    call.refuse_if(min(size) < 0, "the size of the output must not be negative")
    return Value((regions[0], dims[1], *size), call.dtype())


def _require_image(call: NodeCall, regions: Dim, batch: Dim, name: str) -> None:
    """Require an image for the regions to lie in; which one is data."""
    call.require(any_of([equal(regions, 0), at_most(1, batch)]), "regions must have an image to lie in")
    call.note(f"not checked: the batch indices in {name}, which are data, must be within the batch")
