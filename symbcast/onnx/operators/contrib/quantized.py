"""Operators that quantize, dequantize, and work on quantized elements."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import ceil_divide
from symbcast.core.logic.formulas import FALSE, Formula, any_of, different, equal
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.layout.concatenation import joined_shape
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import LINEAR_BLOCKS
from symbcast.operators.context import Dims
from symbcast.operators.reductions import reduce

FLOAT, UINT8 = 1, 2
_SCALE, _ZERO = 1, 2


@operator("QuantizeLinear")
@operator("QuantizeLinear", domain=MICROSOFT)
def quantize(call: NodeCall) -> Value:
    """The input as small integers: one scale for all of it, for each slice on an axis, or for each block."""
    dims = call.shape(0)
    _check_parameters(call, dims)
    zero = call.dtype(_ZERO) or UINT8
    return Value(dims, call.integer("output_dtype") or zero)


@operator("DequantizeLinear")
@operator("DequantizeLinear", domain=MICROSOFT)
def dequantize(call: NodeCall) -> Value:
    """Small integers as real numbers: one scale for all of them, for each slice on an axis, or for each block."""
    dims = call.shape(0)
    _check_parameters(call, dims)
    return Value(dims, call.integer("output_dtype") or call.dtype(_SCALE))


def _check_parameters(call: NodeCall, dims: Dims) -> None:
    """Require that scale and zero point fit the input and each other."""
    scale = known_shape(call, _SCALE, "the scale")
    if scale is None:
        return
    block = call.integer("block_size")
    if block and scale:
        _check_blocks(call, dims, scale, block)
        expect(call, _ZERO, "the zero point", scale)
    elif block or len(scale) > 1:
        call.refuse("the scale must have at most one axis, and as many as the input where it is one for each block")
    else:
        _check_line(call, dims, scale)
        _check_zero(call, scale)


def _check_blocks(call: NodeCall, dims: Dims, scale: Dims, block: int) -> None:
    axis = call.axis(call.integer("axis", 1), len(dims))
    blocks = tuple(ceil_divide(d, block) if n == axis else d for n, d in enumerate(dims))
    expect(call, _SCALE, "the scale", blocks)
    if call.does(LINEAR_BLOCKS) and len(scale) == 1:
        call.require(different(scale[0], 1), "ONNX Runtime does not support blocks with a single scale")


def _check_line(call: NodeCall, dims: Dims, scale: Dims) -> None:
    """Require one scale, or one for each slice on the axis."""
    if not scale or scale[0] == 1:
        return
    axis = call.integer("axis", 1) if call.version >= 10 or call.node.domain else 1
    is_on_axis: Formula = equal(scale[0], dims[axis]) if -len(dims) <= axis < len(dims) else FALSE
    call.require(any_of([equal(scale[0], 1), is_on_axis]), "there must be one scale, or one for each slice on the axis")


def _check_zero(call: NodeCall, scale: Dims) -> None:
    """Require as many zero points as scales."""
    zero = known_shape(call, _ZERO, "the zero point")
    if zero is None:
        return
    if len(zero) > 1:
        call.refuse("the zero point must have at most one axis")
    call.equal(zero[0] if zero else 1, scale[0] if scale else 1, "there must be as many zero points as scales")


@operator("DynamicQuantizeLinear")
def quantize_dynamically(call: NodeCall) -> Sequence[Value]:
    """The input as small integers, with the scale and zero point computed from its elements."""
    return Value(call.shape(0), UINT8), Value((), FLOAT), Value((), UINT8)


@operator("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def quantized_arithmetic(call: NodeCall) -> Value:
    """Two quantized operands, broadcast together."""
    expect_numbers(call, 1, 2, 4, 5, 6, 7)
    return Value(call.broadcast(call.shape(0), call.shape(3)), call.dtype())


@operator("QLinearWhere", domain=MICROSOFT)
def quantized_where(call: NodeCall) -> Value:
    """Elements of one quantized tensor or the other, selected by a condition; all three are broadcast together."""
    _note_lines(call, 2, 3, 5, 6, 7, 8)
    return Value(call.broadcast(call.shape(0), call.shape(1), call.shape(4)), call.dtype(1))


def _note_lines(call: NodeCall, *positions: int) -> None:
    """Note scales and zero points that are not known to be one number.

    Whether ONNX Runtime checks them depends on their values: if they equal the output's, it does not.
    """
    for n in positions:
        found = known_shape(call, n, call.input_name(n))
        if found and found != (1,):
            call.note(f"not checked: {call.input_name(n)} must be one number")


@operator("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def quantized_activation(call: NodeCall) -> Value:
    """The output has the shape of the input."""
    expect_numbers(call, 1, 2, 3, 4)
    if len(call.node.inputs) < 5:
        crashes(call, FALSE, "the zero point of the output is not among the inputs, not even as an empty name")
    return Value(call.shape(0), call.dtype())


@operator("QLinearSoftmax", domain=MICROSOFT)
def quantized_softmax(call: NodeCall) -> Value:
    """The output has the shape of the input."""
    dims = call.shape(0)
    call.axis(call.integer("axis", -1), len(dims))
    if call.elements(1) is None:
        call.note(f"not checked: {call.input_name(1)}, which is data, must be positive", is_about_data=True, by=[1])
    return Value(dims, call.dtype())


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def quantized_global_pool(call: NodeCall) -> Value:
    """The axes after batch and channels become 1."""
    dims = call.shape(0)
    if len(dims) < 3:
        call.refuse("the input must have a batch, channels and one axis more")
    expect_numbers(call, 1, 2, 3, 4)
    is_last = bool(call.integer("channels_last"))
    for size in dims[1:-1] if is_last else dims[2:]:
        call.at_most(1, size, "what is averaged must not be empty")
    axes = range(1, len(dims) - 1) if is_last else range(2, len(dims))
    return Value(reduce(call, dims, axes, keepdims=True), call.dtype())


@operator("QLinearReduceMean", domain=MICROSOFT)
def quantized_mean(call: NodeCall) -> Value:
    """The reduced axes become 1, or are removed."""
    dims = call.shape(0)
    expect_numbers(call, 1, 2, 3, 4)
    shape = reduce(call, dims, call.integers("axes") or None, keepdims=bool(call.integer("keepdims", 1)))
    return Value(shape, call.dtype())


@operator("QLinearConcat", domain=MICROSOFT)
def quantized_concat(call: NodeCall) -> Value:
    """Quantized tensors concatenated along ``axis``, each with a scale and a zero point."""
    places = range(2, len(call.inputs), 3)
    _note_lines(call, 0, 1, *(n + k for n in places for k in (1, 2)))
    shape, _ = joined_shape(call, [call.shape(n) for n in places])
    return Value(shape, call.dtype(2))
