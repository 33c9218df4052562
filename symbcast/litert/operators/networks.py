"""Convolutions, pools, resized images, products, reductions and recurrent layers; images are (N, H, W, C)."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.reshaping import folded, requested_shape
from symbcast.graphs.walking.unknown_ranks import required_numbers
from symbcast.litert.call import LiteRtCall, operator
from symbcast.operators.convolution import NOT_NEGATIVE, SlidingWindow, covering
from symbcast.operators.operator import Dims, expect_shape
from symbcast.operators.products import matmul, reduce, search
from symbcast.operators.values.value import FIRST, Value

# The padding in options: SAME is 0, VALID is 1.
_SAME = 0


def _slid(call: LiteRtCall, space: Sequence[Dim], windows: Sequence[SlidingWindow]) -> list[Dim]:
    """Return the numbers of positions of windows, possibly 0: LiteRT rounds quotients towards 0."""
    if call.integer("padding") == _SAME:
        return [covering(size, window.stride) for size, window in zip(space, windows, strict=True)]
    lengths = []
    for size, window in zip(space, windows, strict=True):
        reaching = add(window.room(size), window.stride)
        lengths.append(call.bounds.larger(floor_divide(reaching, window.stride), 0))
    return lengths


def _check_fit(call: LiteRtCall, dims: Dims, windows: Sequence[SlidingWindow]) -> None:
    """Require that windows fit into an image (N, ..., C), if it is not empty, for XNNPACK."""
    for size, window in () if call.integer("padding") == _SAME else zip(dims[1:-1], windows, strict=True):
        room = window.room(size)
        if not call.bounds.is_at_least(room, 0):
            call.require(any_of([call.empty(dims), at_most(0, room)]), "the window must fit into the image")


def _check_positions(call: LiteRtCall, dims: Dims, windows: Sequence[SlidingWindow]) -> None:
    """Require that no quotient of `_slid` be negative, and what `_check_fit` does."""
    _check_fit(call, dims, windows)
    for size, window in () if call.integer("padding") == _SAME else zip(dims[1:-1], windows, strict=True):
        call.at_most(1, add(window.room(size), 2 * window.stride), NOT_NEGATIVE)


_STEPS_OF = {axis: (f"stride_{axis}", f"dilation_{axis}_factor") for axis in "dhw"}


def _windows(call: LiteRtCall, kernel: Sequence[Dim], axes: str = "hw") -> list[SlidingWindow]:
    steps = [[call.integer(name, 1) for name in _STEPS_OF[axis]] for axis in axes]
    call.refuse_if(any(n < 1 for pair in steps for n in pair), "strides and dilations must be positive")
    return [SlidingWindow(k, *pair) for k, pair in zip(kernel, steps, strict=True)]


def _bias(call: LiteRtCall, position: int, count: Dim) -> None:
    """Require that a bias, if there is one, have an element for each output channel."""
    if call.has(position):
        call.equal(multiply(1, *call.shape(position)), count, "there must be one bias for each output channel")


@operator("CONV_2D")
def conv_2d(call: LiteRtCall) -> Value:
    """A convolution with filters (O, H, W, I); the channels are I times the groups."""
    dims, filters = call.rank(0, (4,), "the input"), call.rank(1, (4,), "the filters")
    # Only the batch may be 0: (0, 1, 1, 2) passes, (0, 0, 1, 2) does not.
    call.filled(dims[1:], "the image must not be empty")
    call.filled(filters, "the filters must not be empty")
    reason = "the channels must be a multiple of those of the filters"
    groups = call.divide(dims[3], filters[3], reason)
    call.require(equal(modulo(filters[0], groups), 0), "the filters must be a multiple of the groups")
    if call.channels and isinstance(filters[3], int) and call.channels % filters[3] == 0:
        reason = f"the channels must be {call.channels}, as in the file: XNNPACK keeps the groups"
        call.require(any_of([call.empty(dims[:1]), equal(dims[3], call.channels)]), reason)
    _bias(call, 2, filters[0])
    windows = _windows(call, filters[1:3])
    _check_positions(call, dims, windows)
    return call.output((dims[0], *_slid(call, dims[1:3], windows), filters[0]))


@operator("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(call: LiteRtCall) -> Value:
    """A convolution of each channel with filters (1, H, W, O), as many for each channel."""
    dims, filters = call.rank(0, (4,), "the input"), call.rank(1, (4,), "the filters")
    call.filled((*dims[1:], *filters[1:]), "neither the image nor the filters may be empty")
    call.equal(filters[0], 1, "the filters must be (1, H, W, O)")
    count = multiply(dims[3], call.integer("depth_multiplier", 1))
    call.divide(filters[3], dims[3], "the filters must be a multiple of the channels")
    # LiteRT's own kernel takes any multiple, XNNPACK that of the file.
    reason = "the filters must be as many as the channels times the depth multiplier"
    call.require(any_of([call.empty(dims[:1]), equal(filters[3], count)]), reason)
    _bias(call, 2, filters[3])
    windows = _windows(call, filters[1:3])
    _check_positions(call, dims, windows)
    return call.output((dims[0], *_slid(call, dims[1:3], windows), filters[3]))


@operator("CONV_3D")
def conv_3d(call: LiteRtCall) -> Value:
    """A convolution of (N, D, H, W, C) with filters (D, H, W, I, O)."""
    dims, filters = call.rank(0, (5,), "the input"), call.rank(1, (5,), "the filters")
    call.equal(dims[4], filters[3], "the channels must equal those of the filters")
    _bias(call, 2, filters[4])
    windows = _windows(call, filters[:3], "dhw")
    _check_positions(call, dims, windows)
    return call.output((dims[0], *_slid(call, dims[1:4], windows), filters[4]))


@operator("TRANSPOSE_CONV")
def transpose_conv(call: LiteRtCall) -> Value:
    """A transposed convolution with filters (O, H, W, I): the input must be what a convolution makes of the output.

    The output shape is an input; converters often write it as numbers, which fix the batch and the size of the image.
    """
    filters, dims = call.rank(1, (4,), "the filters"), call.rank(2, (4,), "the input")
    expect_shape(call, "the output shape", call.shape(0), (4,))
    output = requested_shape(call, 0)
    call.filled(dims[1:], "the image must not be empty")
    call.equal(dims[3], filters[3], "the channels must equal those of the filters")
    _bias(call, 3, filters[0])
    lengths = _slid(call, output[1:3], _windows(call, filters[1:3]))
    for axis, (size, length) in enumerate(zip(dims[1:3], lengths, strict=True), 1):
        # An output of (1, 4, 5, 2) by windows of 3 and 2 and strides of 2 takes an input of (1, 1, 2, 3) and no other.
        call.equal(size, length, f"axis {axis} must be the number of windows over the output shape")
    call.equal(dims[0], output[0], "the batch must be that of the output shape")
    call.equal(filters[0], output[3], "the filters must be as many as the channels of the output shape")
    return call.output(output)


@operator("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D")
def pool_2d(call: LiteRtCall) -> Value:
    """One element for each position of a window, which must fit: otherwise XNNPACK and LiteRT's own kernels differ.

    XNNPACK has no L2_POOL_2D.
    """
    dims = call.rank(0, (4,), "the input")
    windows = _windows(call, [call.integer(name) for name in ("filter_height", "filter_width")])
    if call.node.op_type != "L2_POOL_2D":
        _check_fit(call, dims, windows)
    # Where the quotient of the last axis is negative, which is an error for convolutions, no axis has a position.
    some = 1 if call.integer("padding") == _SAME else _is_fit(call, dims[2], windows[1])
    return call.output((dims[0], *(multiply(n, some) for n in _slid(call, dims[1:3], windows)), dims[3]))


def _is_fit(call: LiteRtCall, size: Dim, window: SlidingWindow) -> Dim:
    """Return 1 if the quotient of `_slid` is not negative, else 0."""
    return call.bounds.smaller(call.bounds.larger(add(window.room(size), 2 * window.stride), 0), 1)


@operator("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(call: LiteRtCall) -> Value:
    """An image resized to a height and width."""
    dims = call.rank(0, (4,), "the input")
    expect_shape(call, "the size", call.shape(1), (2,))
    sizes = requested_shape(call, 1)
    if call.node.op_type == "RESIZE_BILINEAR":
        call.filled(sizes, "the new size must not be 0")
    if not call.is_positive(dims[1:3]):
        full = all_of(at_most(1, d) for d in dims[1:3])
        call.require(any_of([call.empty((dims[0], dims[3], *sizes)), full]), "there must be an image to resize")
    return call.output((dims[0], *sizes, dims[3]))


# Products.


@operator("FULLY_CONNECTED")
def fully_connected(call: LiteRtCall) -> Sequence[Value]:
    """A product with weights (O, I), of rows of I elements; without ``keep_num_dims`` it is a matrix.

    LiteRT's own kernel drops the elements that fill no row, XNNPACK refuses them.
    """
    dims, weights = call.shape(0), call.rank(1, (2,), "the weights")
    if call.has(2):
        call.equal(multiply(1, *call.shape(2)), weights[0], "there must be one bias for each output")
    if call.flag("keep_num_dims"):
        call.refuse_if(not dims, "the input must have an axis")
        call.equal(dims[-1], weights[1], "the last size must equal the columns of the weights")
        return [call.output((*dims[:-1], weights[0]))]
    rows = call.divide(multiply(1, *dims), weights[1], "the elements must fill rows as long as those of the weights")
    return [call.output((rows, weights[0]))]


@operator("BATCH_MATMUL")
def batch_matmul(call: LiteRtCall) -> Value:
    """A product of stacks of matrices, each transposed if an option says so."""
    left, right = call.shape(0), call.shape(1)
    call.refuse_if(min(len(left), len(right)) < 2, "both operands must be matrices, or stacks of them")
    pairs = zip((left, right), ("adj_x", "adj_y"), strict=True)
    return call.output(matmul(call, *((*d[:-2], d[-1], d[-2]) if call.flag(name) else d for d, name in pairs)))


# Reductions.


_STEPS = {"REDUCE_MAX": "Max", "REDUCE_MIN": "Min", "REDUCE_PROD": "Mul", "SUM": "Add"}


@operator(*_STEPS, "MEAN", "REDUCE_ALL", "REDUCE_ANY")
@operator("REDUCE_MAX", "REDUCE_MIN", elements=FIRST)
def reduced(call: LiteRtCall) -> Value:
    """A reduction: axes become size 1 or are removed."""
    dims, numbers = call.shape(0), required_numbers(call, 1)
    axes = [call.axis(a, len(dims)) for a in numbers] if dims else []
    shape = reduce(call, dims, axes, keepdims=call.flag("keep_dims"))
    is_whole = len(set(axes)) == len(dims)
    return call.output(shape, folded(call, _STEPS.get(call.node.op_type)) if is_whole else None)


@operator("ARG_MAX", "ARG_MIN")
def arg_max(call: LiteRtCall) -> Value:
    """The position of the largest or smallest element along an axis."""
    (axis,) = required_numbers(call, 1)[:1]
    return call.output(search(call, call.shape(0), axis, keepdims=False))


@operator("SOFTMAX", "LOG_SOFTMAX")
def softmax(call: LiteRtCall) -> Value:
    """A function of each vector along the last axis; LiteRT ends the process if a vector is empty."""
    dims = call.shape(0)
    call.refuse_if(not dims, "the input must have an axis")
    if not call.bounds.is_at_least(dims[-1], 1):
        # (0, 0) passes, (1, 0) ends the process.
        call.require(any_of([call.empty(dims[:-1]), at_most(1, dims[-1])]), "the last axis must not be empty")
    return call.output(dims)


@operator("CUMSUM")
def cumsum(call: LiteRtCall) -> Value:
    """Sums of all elements up to each, along an axis."""
    dims = call.shape(0)
    for axis in call.numbers(1) or ():
        call.axis(axis, len(dims))
    return call.output(dims)


# Recurrent layers, whose states are variables with a shape in the file.


@operator("UNIDIRECTIONAL_SEQUENCE_LSTM")
def sequence_lstm(call: LiteRtCall) -> Value:
    """The hidden states of an LSTM; the states in the file fix the batch."""
    dims = call.rank(0, (3,), "the input")
    batch = dims[1] if call.flag("time_major") else dims[0]
    weights, recurrent = call.rank(4, (2,), "the weights"), call.rank(8, (2,), "the recurrent weights")
    call.equal(weights[1], dims[2], "the features must be as many as the columns of the weights")
    for position, count in ((18, recurrent[1]), (19, weights[0])):
        elements = multiply(1, *call.shape(position))
        call.equal(elements, multiply(batch, count), "the state in the file must have the batch of the input")
    return call.output((*dims[:2], recurrent[1]))


@operator("UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence_rnn(call: LiteRtCall) -> Value:
    """The hidden states of a recurrent layer; the state in the file fixes the batch."""
    dims = call.rank(0, (3,), "the input")
    batch = dims[1] if call.flag("time_major") else dims[0]
    weights = call.rank(1, (2,), "the weights")
    call.equal(weights[1], dims[2], "the features must be as many as the columns of the weights")
    expect_shape(call, "the state in the file", call.shape(4), (batch, weights[0]))
    return call.output((*dims[:2], weights[0]))
