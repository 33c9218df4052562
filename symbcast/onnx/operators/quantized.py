"""Operators that quantize, dequantize, and work on quantized elements and matrices."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import ceil_divide, multiply
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, any_of, different, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, expect_number_or_line, expect_numbers, known_shape
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, crashes, operator
from symbcast.onnx.operators.layout import joining
from symbcast.onnx.operators.reductions import gemm_product
from symbcast.onnx.operators.signatures import declare
from symbcast.operators.joining_and_slicing import concat
from symbcast.operators.operator import Dims
from symbcast.operators.products import matmul, reduce
from symbcast.operators.values.contents import FLOAT, INT32, UINT8
from symbcast.operators.values.value import Value

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


LINEAR_BLOCKS = RuntimeDifference(
    "QuantizeLinear DequantizeLinear", "has no blocks for a scale of one axis with one number", "one block works"
)


def _check_blocks(call: NodeCall, dims: Dims, scale: Dims, block: int) -> None:
    axis = call.axis(call.integer("axis", 1), len(dims))
    blocks = tuple(ceil_divide(d, block) if n == axis else d for n, d in enumerate(dims))
    expect(call, _SCALE, "the scale", blocks)
    if call.does(LINEAR_BLOCKS) and len(scale) == 1:
        # "block_size must be 0 for per-tensor quantization": a single scale is taken for one of the whole tensor.
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
    call.refuse_if(len(zero) > 1, "the zero point must have at most one axis")
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
    """Note scales and zero points that are not known to be one number."""
    # Whether ONNX Runtime checks them depends on their values: if they equal the output's, it does not.
    for n in positions:
        shape = known_shape(call, n, call.input_name(n))
        if shape and shape != (1,):
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
        call.note_data(f"{call.input_name(1)}, which is data, must be positive", 1)
    return Value(dims, call.dtype())


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def quantized_global_pool(call: NodeCall) -> Value:
    """The axes after batch and channels become 1."""
    dims = call.shape(0)
    call.refuse_if(len(dims) < 3, "the input must have a batch, channels and one axis more")
    expect_numbers(call, 1, 2, 3, 4)
    is_last = bool(call.integer("channels_last"))
    call.filled(dims[1:-1] if is_last else dims[2:], "what is averaged must not be empty")
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
    return Value(concat(call, [call.shape(n) for n in places], *joining(call)), call.dtype(2))


# Products of quantized matrices; operands have scales and zero points.


@operator("MatMulInteger")
def matmul_integer(call: NodeCall) -> Value:
    """A product of matrices of small integers."""
    left, right = call.shape(0), call.shape(1)
    _check_rows(call, left, 2)
    _check_columns(call, right, 3)
    return Value(matmul(call, left, right), INT32)


@operator("MatMulInteger16", domain=MICROSOFT)
def matmul_integer16(call: NodeCall) -> Value:
    """A product of matrices of integers."""
    return Value(matmul(call, call.shape(0), call.shape(1)), INT32)


@operator("QLinearMatMul")
def quantized_matmul(call: NodeCall) -> Value:
    """A product of quantized matrices, requantized."""
    left, right = call.shape(0), call.shape(3)
    _check_rows(call, left, 1, 2)
    _check_columns(call, right, 4, 5)
    shape = matmul(call, left, right)
    _check_rows(call, shape, 6, 7)
    return Value(shape, call.dtype(7))


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(call: NodeCall) -> Value:
    """A product of quantized matrices, as real numbers, and a bias for each column."""
    expect_numbers(call, 4)
    return _as_reals(call, (2, 3), 5, 6)


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def quantize_and_multiply(call: NodeCall) -> Value:
    """A real product of a matrix, quantized on the fly, and a quantized one; plus a bias."""
    return _as_reals(call, (2,), 3, 4)


def _as_reals(call: NodeCall, scales: Sequence[int], zero: int, bias: int) -> Value:
    """Return a product multiplied by scales, which are broadcast onto it."""
    left, right = call.shape(0), call.shape(1)
    shape = matmul(call, left, right)
    lines = [one for n in scales if (one := known_shape(call, n, call.input_name(n)))]
    if any(len(line) > 1 for line in lines):
        call.note("not checked: the shape of the scales, which have more than one axis")
    elif lines:
        scale = call.broadcast(*lines) if len(lines) > 1 else lines[0]
        call.broadcast(scale, shape, rule="unidirectional") if scale != (1,) else None
    is_empty = call.empty(shape)
    if call.is_known(is_empty) is not True:  # of an empty product, ONNX Runtime does not look at the rest
        with call.asker.under(negate(is_empty)):
            _check_columns(call, right, zero)
            one = known_shape(call, bias, "the bias")
            if one is not None:
                columns = right[-1] if len(right) > 1 else 1
                call.equal(multiply(*one), columns, "the bias must have one number for each column")
    return Value(shape, FLOAT)


ROW_POINTS = RuntimeDifference(
    "MatMulInteger QLinearMatMul", "accepts only one scale and zero point for all rows", "one, or one for each row"
)


def _check_rows(call: NodeCall, dims: Dims, *positions: int) -> None:
    """Require one scale and zero point or, by the documents, one for each row."""
    # "input1 zero point must be a scalar or 1D tensor of size 1" (1.32), for two rows with a zero point each.
    if call.does(ROW_POINTS):
        expect_numbers(call, *positions)
        return
    for n in positions:
        points = known_shape(call, n, call.input_name(n))
        if points is not None:
            _check_either(call, n, points, dims, (*dims[:-1], 1), dims[-2] if len(dims) > 1 else None)


COLUMN_POINTS = RuntimeDifference(
    "MatMulInteger QLinearMatMul",
    "accepts a vector of scales for the columns of a single matrix only",
    "of a stack of matrices too",
)


def _check_columns(call: NodeCall, dims: Dims, *positions: int) -> None:
    """Require one scale and zero point, or one for each column."""
    for n in positions:
        points = known_shape(call, n, call.input_name(n))
        if points is not None:
            # A vector on the right is one column, for which there is one number.
            is_matrix = len(dims) == 2 or (len(dims) > 2 and not call.does(COLUMN_POINTS))
            # 1.32 refuses a vector of 4 for (2, 3, 4) and accepts (2, 1, 4).
            _check_either(call, n, points, dims, (*dims[:-2], 1, dims[-1]), dims[-1] if is_matrix else None)


def _check_either(call: NodeCall, position: int, points: Dims, dims: Dims, full: Dims, line: Dim | None) -> None:  # noqa: PLR0913, PLR0917
    """Require that a parameter be one number, a vector of length ``line``, or have the shape ``full``."""
    reason = f"{call.input_name(position)} must be one number, or one for each row or column"
    if not points:
        return
    if len(points) == 1:
        lengths: list[Formula] = [equal(points[0], 1)]
        if line is not None:
            lengths.append(equal(points[0], line))
        call.require(any_of(lengths), reason)
    elif len(points) == len(dims):
        call.require(all_of(equal(a, b) for a, b in zip(points, full, strict=True)), reason)
    else:
        call.refuse(reason)


@operator("QGemm", domain=MICROSOFT)
def quantized_gemm(call: NodeCall) -> Value:
    """A product of two quantized matrices, and a third one broadcast onto it, one way."""
    shape = gemm_product(call, 0, 3, 6)
    expect_numbers(call, 1, 2, 7, 8)
    for n in (4, 5):
        expect_number_or_line(call, n, call.input_name(n), shape[1])
    scale, zero = known_shape(call, 4, "b_scale"), known_shape(call, 5, "b_zero_point")
    if scale is not None and zero is not None:
        call.refuse_if(len(scale) != len(zero), "the scale and the zero point of B must have the same shape")
        for left, right in zip(scale, zero, strict=True):
            call.equal(left, right, "the scale and the zero point of B must have the same shape")
    return Value(shape, call.dtype(8) if call.has(8) else FLOAT)


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_of_few_bits(call: NodeCall) -> Value:
    """A product with a K by N matrix that is stored in blocks of a few bits per element."""
    dims = call.shape(0)
    rows, columns = call.integer("K"), call.integer("N")
    bits, block = call.integer("bits", 4), call.integer("block_size")
    call.refuse_if(not dims, "A must have one axis or more")
    if block < 16 or block & (block - 1) or bits not in (2, 4, 8):
        call.refuse("bits must be 2, 4 or 8, and block_size a power of 2 that is at least 16")
    # The last block may be partly filled: quotients are rounded up.
    blocks = -(-rows // block)
    call.equal(dims[-1], rows, f"the last size of A must be {rows}, the attribute K")
    is_packed = _is_packed_before(call, (columns, blocks, block * bits // 8))
    if call.is_known(is_packed) is not True:
        with call.asker.under(negate(is_packed)):
            expect(call, 1, "B", (columns, blocks, block * bits // 8))
            _check_packed(call, 2, "the scales", columns, blocks)
            points = -(-blocks * bits // 8) if call.dtype(3) == UINT8 else blocks
            _check_packed(call, 3, "the zero points", columns, points)
    order = known_shape(call, 4, "g_idx")
    if order is not None:
        call.refuse_if(len(order) != 1, "g_idx must have one axis")
        call.require(any_of([equal(order[0], rows), equal(order[0], blocks * block)]), "g_idx must have K numbers")
        call.note("not checked: the numbers in g_idx must be blocks")
    expect(call, 5, "the bias", (columns,))
    if any(not isinstance(size, int) for size in known_shape(call, 5, "the bias") or ()):
        call.refuse("ONNX Runtime opens it only if the bias is declared with a number as its size")
    return Value((*dims[:-1], columns), call.dtype())


def _is_packed_before(call: NodeCall, sizes: Sequence[int]) -> Formula:
    """Return when ONNX Runtime takes B for a matrix that it packed itself: sizes are 0 or as they must be, one is 0."""
    shape = known_shape(call, 1, "B")
    if shape is None or len(shape) != len(sizes) or all(call.bounds.is_at_least(size, 1) for size in shape):
        return FALSE
    fits = [any_of([equal(size, 0), equal(size, number)]) for size, number in zip(shape, sizes, strict=True)]
    return all_of([call.empty(shape), *fits])


def _check_packed(call: NodeCall, position: int, what: str, columns: int, each: int) -> None:
    """Require the shape (columns * each) or (columns, each)."""
    shape = known_shape(call, position, what)
    if shape is not None:
        expect(call, position, what, (columns * each,) if len(shape) == 1 else (columns, each))


# Quantized data in a device-specific memory order.


declare("QuantizeWithOrder DequantizeWithOrder", "X, number -> X", domain=MICROSOFT)
declare("QOrderedGelu", "X, number, number -> X", domain=MICROSOFT)
declare("QOrderedLayerNormalization", "(..., C), number, (C), (C)?, number -> (..., C)", domain=MICROSOFT)
declare(
    "QOrderedMatMul",
    "(..., M, K), number, (K, N), *, number, (N)?, *?, number? -> (..., M, N)",
    domain=MICROSOFT,
    note="not checked: the shapes of C and of B's scale",
)
declare(
    "QOrderedAttention",
    "(B, S, I), number, number, number, number, (I, H), (I, H), (I, H), *, *, *, (H), (H), (H), number?,"
    " number?, number, *?, *?, *? -> (B, S, H)",
    domain=MICROSOFT,
    note="not checked: the shapes of the scales, the mask and the added scores",
)
