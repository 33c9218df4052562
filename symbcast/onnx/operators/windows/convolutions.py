"""Convolutions and transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.operators.expected_shapes import known_rank, known_shapes
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.windows.windows import SAME, auto_pad, numbers, windows
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import (
    COL2IM_BLOCK_FITS,
    COL2IM_EMPTY,
    CONV_INTEGER_POINT,
    CONV_SAME_PADDING,
    CONV_TRANSPOSE_EMPTY,
    CONV_TRANSPOSE_EXTRA,
    CONV_TRANSPOSE_SAME,
    CONV_TRANSPOSE_SHAPE,
    CONV_WINDOW_FITS,
    DEFORM_CONV_EMPTY,
    DEFORM_CONV_POSITIONS,
)
from symbcast.onnx.runtime.windows import rounded_towards_zero, transposed_positions
from symbcast.operators.context import Context, Dims
from symbcast.operators.networks.normalisation import per_channel
from symbcast.operators.networks.windows import (
    Window,
    conv,
    convolved_channels,
    covering,
    fitting,
    groups_of,
    rounded_down,
    spatial_axes,
    transposed_channels,
    transposed_length,
    weights_of_rank,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

INT32 = 6


@operator("Conv")
def convolution(call: NodeCall) -> Value:
    """One element for each position of the window, with an output channel for each filter."""
    return Value(_convolved(call, call.shape(0), call.shape(1), 2), call.dtype())


@operator("ConvInteger")
def integer_convolution(call: NodeCall) -> Value:
    """A convolution of small integers; a zero point is one number, or one for each filter."""
    weights = call.shape(1)
    if call.does(CONV_INTEGER_POINT):
        _ask_of_points(call, (2, 3))
    else:
        _ask_of_points(call, (2,))
        _ask_of_channel_points(call, (3,), weights[0])
    return Value(_convolved(call, call.shape(0), weights), INT32)


@operator("QLinearConv")
def quantized_convolution(call: NodeCall) -> Value:
    """A convolution of quantized numbers."""
    weights = call.shape(3)
    _ask_of_points(call, (1, 2, 6, 7))
    _ask_of_channel_points(call, (4, 5), weights[0])
    return Value(_convolved(call, call.shape(0), weights, 8), call.dtype(7))


def _ask_of_points(call: NodeCall, positions: Sequence[int]) -> None:
    """Require that scales and zero points be one number each."""
    for n in positions:
        for size in known_rank(call, n, (0, 1), call.input_name(n)) or ():
            call.equal(size, 1, f"{call.input_name(n)} must be one number")


def _ask_of_channel_points(call: NodeCall, positions: Sequence[int], channels: Dim) -> None:
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


def _windows(call: NodeCall, kernel: Dims) -> list[Window]:
    """Return the windows of the weights; the node may repeat their sizes in ``kernel_shape``."""
    repeated = call.integers("kernel_shape")
    if repeated is not None:
        if len(repeated) != len(kernel):
            call.refuse(f"kernel_shape must be {len(kernel)} numbers")
        for number, size in zip(repeated, kernel, strict=True):
            call.equal(number, size, "kernel_shape must be that of the weights")
    if auto_pad(call) and call.attribute("pads") is not None:
        call.refuse("pads must not be given together with auto_pad")
    return windows(call, kernel)


def _positions(call: NodeCall, padding: str, _: Context, size: Dim, window: Window) -> Dim:
    if padding not in SAME:
        return fitting(call, size, window) if call.does(CONV_WINDOW_FITS) else rounded_down(call, size, window)
    if call.does(CONV_SAME_PADDING):
        if window.dilation > 1:
            call.refuse("windows with gaps have no padding found for them")
        call.at_most(1, size, "the input must not be empty")
    return covering(size, window.stride)


@operator("ConvTranspose")
def transposed_convolution(call: NodeCall) -> Value:
    """Each element becomes a window; the windows lie a stride apart and are summed where they overlap."""
    dims, weights = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    weights_of_rank(call, weights, len(dims))
    channels = transposed_channels(call, dims, weights, _group(call))
    per_channel(call, channels, known_shapes(call, 2), what="output channel")
    rank = len(sizes)
    extra = numbers(call, "output_padding", 0, rank, 0)
    asked = _asked_for(call, rank)
    axes = zip(sizes, _windows(call, weights[2:]), extra, asked, strict=True)
    return Value((dims[0], channels, *(_undone(call, *axis) for axis in axes)), call.dtype())


def _asked_for(call: NodeCall, rank: int) -> list[int | None]:
    """Return the output sizes that a node requests, if any."""
    found = call.integers("output_shape")
    if not found:
        return [None] * rank
    if len(found) != rank:
        call.refuse(f"output_shape must be {rank} numbers")
    if min(found) < (1 if call.does(CONV_TRANSPOSE_EMPTY) else 0):
        call.refuse("no size in output_shape may be negative, and for ONNX Runtime none may be 0")
    return [*found]


def _undone(call: NodeCall, size: Dim, window: Window, extra: int, asked: int | None) -> Dim:
    """Return the size of the output along an axis."""
    stride = window.stride
    if call.does(CONV_TRANSPOSE_EXTRA):
        _ask_of_extra(call, size, stride, extra)
    if asked is not None:
        if call.does(CONV_TRANSPOSE_SHAPE):
            transposed_positions(call, size, window, asked)
        return asked
    if auto_pad(call) not in SAME:
        length = transposed_length(size, window, extra)
    elif call.does(CONV_TRANSPOSE_SAME):
        full = transposed_length(size, window._replace(before=0, after=0), extra)
        length = call.bounds.smaller(full, multiply(size, stride))  # padding is not negative
    else:
        length = multiply(size, stride)
    if call.does(CONV_TRANSPOSE_EMPTY):
        call.at_most(1, length, "the output must not be empty")
    else:
        call.at_most(0, length, "the size of the output must not be negative")
    return length


def _ask_of_extra(call: NodeCall, size: Dim, stride: int, extra: int) -> None:
    """Require, as the runtime does, that convolving the output give the input's length."""
    if extra >= stride:
        call.refuse("output_padding must be smaller than the stride")
    if extra:
        call.at_most(1, size, "there must be an element to add output_padding to")


@operator("DeformConv")
def deformed_convolution(call: NodeCall) -> Value:
    """A deformable convolution: an offset for each element of the window at each position."""
    dims, weights = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    weights_of_rank(call, weights, len(dims))
    group, offsets = _group(call), call.integer("offset_group", 1)
    convolved_channels(call, dims, weights, group)
    call.require(equal(modulo(dims[1], offsets), 0), f"the channels must be a multiple of the {offsets} offset groups")
    found = _windows(call, weights[2:])
    positions = rounded_towards_zero if call.does(DEFORM_CONV_POSITIONS) else rounded_down
    out = [positions(call, s, w) for s, w in zip(sizes, found, strict=True)]
    if call.does(DEFORM_CONV_EMPTY):
        call.at_most(1, weights[0], "there must be an output channel")
        _ask_for_elements(call, dims, out)
    elements = multiply(multiply(*weights[2:]), offsets)
    _ask_for_each_position(call, 2, (dims[0], multiply(elements, len(sizes)), *out))
    if call.has(4):
        _ask_for_each_position(call, 4, (dims[0], elements, *out))
    per_channel(call, weights[0], known_shapes(call, 3), what="output channel")
    return Value((dims[0], weights[0], *out), call.dtype())


def _ask_for_each_position(call: NodeCall, position: int, expected: Dims) -> None:
    shape = known_rank(call, position, (len(expected),), call.input_name(position))
    for left, right in zip(shape or (), expected, strict=False):
        call.equal(left, right, "there must be numbers for each element of the window at each position of it")


def _ask_for_elements(call: NodeCall, dims: Dims, out: Sequence[Dim]) -> None:
    """Require that no axis to slide along be empty, unless the output is."""
    is_empty = [equal(d, 0) for d in (dims[0], *out) if not call.bounds.is_at_least(d, 1)]
    for size in dims[2:]:
        if not call.bounds.is_at_least(size, 1):
            call.require(any_of([*is_empty, at_most(1, size)]), "windows need an input that is not empty")


@operator("Col2Im")
def columns_to_image(call: NodeCall) -> Value:
    """Place the columns as blocks of an image, and add them where they overlap."""
    batch, rows, columns = call.rank(0, (3,), "the input")
    image, block = asked_shape(call, 1), asked_shape(call, 2)
    if len(image) != len(block):
        call.refuse("image and block must have the same number of axes")
    found = windows(call, block)
    positions = fitting if call.does(COL2IM_BLOCK_FITS) else rounded_down
    count = [positions(call, s, w) for s, w in zip(image, found, strict=True)]
    call.equal(columns, multiply(*count), "there must be a column for each position of the block")
    elements = multiply(*block)
    call.require(equal(modulo(rows, elements), 0), "the rows must be a multiple of the elements of a block")
    if call.does(COL2IM_EMPTY):
        call.at_most(1, rows, "there must be a row")
    return Value((batch, floor_divide(rows, elements), *image), call.dtype())
