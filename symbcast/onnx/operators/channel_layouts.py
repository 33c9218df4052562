"""ONNX Runtime operators with other channel layouts: channels last, or in blocks of fixed size.

ONNX Runtime's optimiser writes them. Their requirements are those of the ONNX operators that they replace, which have
the channels on axis 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from symbcast.core.algebra.arithmetic import modulo, multiply
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.check import Operator
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, expect_numbers
from symbcast.onnx.operators import convolutions, layout, signals
from symbcast.onnx.operators.declarations import MICROSOFT, crashes, operator
from symbcast.onnx.operators.reductions import batch_normalization, instance_normalization, local_response_normalization
from symbcast.onnx.protobuf import OnnxNode
from symbcast.operators.operator import Dims
from symbcast.operators.values.value import Value

NHWC, BLOCKED = "com.ms.internal.nhwc", "com.microsoft.nchwc"
# The largest number of channels in a block; the machine decides the actual number.
BLOCK = 16


def channels_first(dims: Dims) -> Dims:
    """Move the channels of a shape from the last axis to axis 1.

    >>> channels_first((1, 224, 112, 3)), channels_last((1, 3, 224, 112))
    ((1, 3, 224, 112), (1, 224, 112, 3))
    """
    return (*dims[:1], *dims[-1:], *dims[1:-1]) if len(dims) > 1 else dims


def channels_last(dims: Dims) -> Dims:
    """Move the channels of a shape from axis 1 to the last axis."""
    return (*dims[:1], *dims[2:], *dims[1:2])


def with_channels_last(call: NodeCall, plain: Operator[NodeCall], *images: int) -> Sequence[Value]:
    """Return the outputs of an operator whose inputs and outputs have the channels last."""
    inputs = [_moved(v, channels_first) if v and n in images else v for n, v in enumerate(call.inputs)]
    outputs = plain(call.of(inputs, _version(call)))
    return [_moved(v, channels_last) for v in ([outputs] if isinstance(outputs, Value) else outputs)]


def _version(call: NodeCall) -> int:
    """Return the version of ONNX's own operator set that the model imports."""
    return cast("OnnxNode", call.node).versions.get("", 1)


def _moved(value: Value, move: Callable[[Dims], Dims]) -> Value:
    return Value(None if value.shape is None else move(value.shape), value.dtype)


def _all_last(plain: Operator[NodeCall]) -> Operator[NodeCall]:
    return lambda call: with_channels_last(call, plain, 0)


_PLAIN: dict[str, Operator[NodeCall]] = {
    "Conv": convolutions.convolution,
    "ConvTranspose": convolutions.transposed_convolution,
    "QLinearConv": convolutions.quantized_convolution,
    "MaxPool AveragePool LpPool": convolutions.pool_,
    "GlobalAveragePool GlobalMaxPool GlobalLpPool": convolutions.global_pool,
    "InstanceNormalization": instance_normalization,
    "LRN": local_response_normalization,
    "DepthToSpace": layout.depth_to_space_,
    "SpaceToDepth": layout.space_to_depth_,
    "GridSample": signals.grid_sample_,
}
for _names, _plain in _PLAIN.items():
    operator(*_names.split(), domain=NHWC)(_all_last(_plain))
operator("MaxUnpool", domain=NHWC)(lambda call: with_channels_last(call, convolutions.max_unpool, 0, 1))
operator("Resize", domain=NHWC)(lambda call: signals.resize(call.of(call.inputs, _version(call))))
operator("NhwcMaxPool", domain=MICROSOFT)(_all_last(convolutions.pool_))


@operator("BatchNormalization", domain=NHWC)
def batch_normalization_(call: NodeCall) -> Sequence[Value]:
    """Scale, bias, mean and variance have one number for each channel, and are passed on unchanged."""
    image, *statistics = batch_normalization(call.of([_moved(call.value(0), channels_first), *call.inputs[1:]], 15))
    return [_moved(image, channels_last), *statistics]


@operator("QLinearConv", domain=MICROSOFT)
def quantized_convolution_(call: NodeCall) -> Value | Sequence[Value]:
    """A convolution of quantized numbers; an attribute says where the channels are."""
    if call.integer("channels_last") == 1:
        return with_channels_last(call, convolutions.quantized_convolution, 0)
    return convolutions.quantized_convolution(call)


@operator("NhwcConv", "NhwcFusedConv", domain=MICROSOFT)
def convolution_with_channels_last(call: NodeCall) -> Sequence[Value]:
    """A convolution, an added tensor, and an activation."""
    (output,) = with_channels_last(call, convolutions.convolution, 0)
    if output.shape is not None:
        expect(call, 3, "Z", output.shape)
    return [output]


@operator("QLinearAveragePool", domain=MICROSOFT)
def quantized_average(call: NodeCall) -> Sequence[Value]:
    """The average of each window of quantized numbers; an attribute says where the channels are."""
    expect_numbers(call, 1, 2, 3, 4)
    if not call.integer("channels_last"):
        return convolutions.pool_(call.of(call.inputs, 1))[:1]
    outputs = with_channels_last(call, convolutions.pool_, 0)[:1]
    batch, *sizes, channels = outputs[0].shape or (1, 1)
    call.filled(sizes, "the output must not be empty")
    call.require(any_of([equal(batch, 0), at_most(1, channels)]), "there must be channels, unless the batch is empty")
    return outputs


# Channels in blocks.


@operator("ReorderInput", domain=BLOCKED)
def into_blocks(call: NodeCall) -> Value:
    """Reorder channels into blocks, padded to whole blocks."""
    dims = call.rank(0, (4,), "the input")
    if call.integer("channels_last"):
        dims = channels_first(dims)
    channels = dims[1]
    call.require(equal(modulo(channels, 4), 0), "the channels must be a multiple of 4")
    filled: Dim = channels
    # Whole blocks of the largest size are whole blocks of any.
    if not isinstance(channels, int) or channels % BLOCK:
        filled = call.fresh("channels", "the channels padded to whole blocks, whose size the machine decides")
        call.at_most(channels, filled, "no channel is lost")
    return Value((dims[0], filled, *dims[2:]), call.dtype())


def _whole_blocks(call: NodeCall) -> Dims:
    """Return the input, whose channels must be whole blocks."""
    dims = call.rank(0, (4,), "the input")
    call.require(equal(modulo(dims[1], BLOCK // 2), 0), "the channels must be whole blocks")
    # A block is 8 channels or 16, as the machine decides: a multiple of 8 may not be enough.
    enough = equal(modulo(dims[1], BLOCK), 0)
    if call.is_known(enough) is not True:
        call.note("not checked: the channels must be whole blocks, of 8 or 16 as the machine decides")
    return dims


@operator("ReorderOutput", domain=BLOCKED)
def out_of_blocks(call: NodeCall) -> Value:
    """Take as many channels out of their blocks as the attribute ``channels`` says."""
    dims = call.rank(0, (4,), "the input")
    channels = call.integer("channels")
    call.refuse_if(channels < 1, "channels must be positive")
    call.at_most(channels, dims[1], f"there must be {channels} channels in the blocks")
    call.at_most(dims[1], channels + BLOCK - 1, "all blocks must be needed")
    shape = (dims[0], channels, *dims[2:])
    return Value(channels_last(shape) if call.integer("channels_last") else shape, call.dtype())


@operator("Conv", domain=BLOCKED)
def convolution_of_blocks(call: NodeCall) -> Value:
    """A convolution, an added tensor, and an activation."""
    call.rank(0, (4,), "the input")
    output = convolutions.convolution(call)
    expect(call, 3, "Sum", output.shape or ())
    return output


@operator("MaxPool", "AveragePool", domain=BLOCKED)
def pool_of_blocks(call: NodeCall) -> Value:
    """One element for each position of a window."""
    crashes(call, at_most(1, _whole_blocks(call)[2]), "an image has no height")
    return convolutions.pool_(call)[0]


@operator("GlobalMaxPool", "GlobalAveragePool", domain=BLOCKED)
def global_pool_of_blocks(call: NodeCall) -> Value:
    """Every axis after the channels becomes 1."""
    crashes(call, at_most(1, _whole_blocks(call)[3]), "an image has no width")
    return convolutions.global_pool(call)


@operator("Upsample", domain=BLOCKED)
def enlarged_blocks(call: NodeCall) -> Value:
    """Height and width scaled by integers."""
    dims = _whole_blocks(call)
    scales = call.integers("scales") or []
    if len(scales) != 4 or scales[:2] != [1, 1] or min(scales) < 1:
        call.refuse("scales must be 1, 1 and two positive numbers")
    return Value(tuple(multiply(d, s) for d, s in zip(dims, scales, strict=True)), call.dtype())
