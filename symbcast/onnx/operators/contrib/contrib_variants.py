"""ONNX Runtime operators that differ from those of ONNX in a detail."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, modulo, multiply, subtract
from symbcast.core.logic.formulas import equal
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.operators.gathering import check_rows
from symbcast.graphs.operators.making import asked_shape, counted
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.attention.attention_contrib import check_angles
from symbcast.onnx.operators.contrib.contrib import fused_gemm, fused_matmul
from symbcast.onnx.operators.layout.indices import gather_nd_
from symbcast.onnx.operators.layout.pads import pad_
from symbcast.onnx.operators.windows.convolutions import transposed_convolution
from symbcast.onnx.operators.windows.pools import pool_
from symbcast.onnx.operators.windows.resize import grid_sample
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.operators.matmul import matmul
from symbcast.operators.reductions import reduce
from symbcast.operators.selecting.indexing import gather

BOOL, INT32 = 9, 6

operator("GridSample", domain=MICROSOFT)(grid_sample)
operator("GatherND", domain=MICROSOFT)(gather_nd_)
operator("FusedMatMulActivation", domain=MICROSOFT)(fused_matmul)
operator("GemmFloat8", domain=MICROSOFT)(fused_gemm)


@operator("Pad", domain=MICROSOFT)
def pad_by_input(call: NodeCall) -> Value:
    """Pad the ends of axes; the pads are an input of shape (n) or (1, n)."""
    pads = call.value(1)
    if pads.shape is not None and len(pads.shape) == 2:
        call.equal(pads.shape[0], 1, "the first size of pads must be 1")
        pads = Value(pads.shape[1:], pads.dtype, pads.content)
    return pad_(call.of([call.inputs[0], pads, *call.inputs[2:]], 11))


@operator("Range", domain=MICROSOFT)
def range_by_one(call: NodeCall) -> Value:
    """Numbers from ``start`` on, before ``limit``; in steps of 1 where no step is given."""
    if not call.has(2):
        call.give_up("a range without a step is not followed")
    return counted(call)


@operator("MaxpoolWithMask", domain=MICROSOFT)
def masked_pool(call: NodeCall) -> Value:
    """One element for each position of a window; a mask says which elements count."""
    call.note("not checked: the shape of the mask")
    return pool_(call.of(call.inputs, 1))[0]


@operator("ConvTransposeWithDynamicPads", domain=MICROSOFT)
def transposed_convolution_with_pads(call: NodeCall) -> Value:
    """A transposed convolution whose pads are an input."""
    found = transposed_convolution(call.of([*call.inputs[:2], *call.inputs[3:]], 1))
    shape = found.shape or call.shape(0)
    if not call.has(2):
        call.refuse("pads must be given")
    pads = call.sizes(2)
    if pads is None:
        call.give_up("the pads are data")
    rank = len(shape) - 2
    if len(pads) != 2 * rank:
        call.refuse(f"pads must be {2 * rank} numbers")
    sizes = [subtract(d, add(pads[n], pads[n + rank])) for n, d in enumerate(shape[2:])]
    for size in sizes:
        call.at_most(1, size, "the output must not be empty")
    return Value((*shape[:2], *sizes), found.dtype)


@operator("GemmFastGelu", domain=MICROSOFT)
def gemm_activation(call: NodeCall) -> Value:
    """A product of matrices, a number for each column, and an activation."""
    shape = matmul(call, call.shape(0), call.shape(1))
    expect(call, 2, "the bias", shape[-1:])
    return Value(shape, call.dtype())


@operator("MulInteger", domain=MICROSOFT)
def integer_product(call: NodeCall) -> Value:
    """Two quantized operands, broadcast together."""
    expect_numbers(call, 1, 3)
    return Value(call.broadcast(call.shape(0), call.shape(2)), INT32)


@operator("ComplexMul", "ComplexMulConj", domain=MICROSOFT)
def complex_product(call: NodeCall) -> Value:
    """Two operands whose last axis holds real and imaginary parts, broadcast together."""
    for n, what in ((0, "A"), (1, "B")):
        dims = call.shape(n)
        if not dims:
            call.refuse(f"{what} must have an axis for its parts")
        call.equal(dims[-1], 2, f"the last size of {what} must be 2")
    return Value(call.broadcast(call.shape(0), call.shape(1)), call.dtype())


@operator("ReduceSumInteger", domain=MICROSOFT)
def integer_sum(call: NodeCall) -> Value:
    """The reduced axes become 1, or are removed."""
    return Value(reduce(call, call.shape(0), call.integers("axes"), keepdims=bool(call.integer("keepdims", 1))), INT32)


@operator("IsAllFinite", domain=MICROSOFT)
def is_all_finite(call: NodeCall) -> Value:
    """One truth value for all inputs."""
    return Value((), BOOL)


@operator("GatedRMSNorm", domain=MICROSOFT)
def gated_norm(call: NodeCall) -> Value:
    """Groups of the last axis normalised, and multiplied by a gate."""
    dims = call.shape(0)
    if not dims:
        call.refuse("the input must have an axis to normalise along")
    scale = known_shape(call, 1, "the scale")
    if scale is not None:
        size = multiply(*scale)
        call.at_most(1, size, "the scale must not be empty")
        call.require(
            equal(modulo(dims[-1], call.bounds.larger(size, 1)), 0),
            "the last size must be a multiple of the group size",
        )
    expect(call, 2, "the gate", dims)
    return Value(dims, call.dtype())


@operator("MatMulBnb4", domain=MICROSOFT)
def matmul_of_four_bits(call: NodeCall) -> Value:
    """A product with a K by N matrix that is stored in one axis, two elements to a byte."""
    dims = call.shape(0)
    rows, columns, block = call.integer("K"), call.integer("N"), call.integer("block_size")
    if not dims or min(rows, columns) < 1 or block < 16 or block & (block - 1):
        call.refuse("K and N must be positive, and block_size a power of 2 that is at least 16")
    call.equal(dims[-1], rows, f"the last size of A must be {rows}, the attribute K")
    for n, what, needed in ((1, "B", -(-rows * columns // 2)), (2, "absmax", -(-rows * columns // block))):
        held = known_shape(call, n, what)
        if held is not None:
            call.at_most(needed, multiply(*held), f"{what} must hold {needed} numbers")
    return Value((*dims[:-1], columns), call.dtype())


@operator("MRotaryEmbedding", domain=MICROSOFT)
def rotary_embedding_of_three(call: NodeCall) -> Value:
    """Rotate vectors by angles for positions in time, height and width."""
    dims = call.rank(0, (3, 4), "the input")
    batch, length = dims[0], dims[1] if len(dims) == 3 else dims[2]
    expect(call, 1, "position_ids", (3, batch, length))
    expect(call, 3, "sin_cache", call.rank(2, (2,), "cos_cache"))
    call.at_most(length, call.shape(2)[0], "the caches must be as long as the sequence")
    check_angles(call, dims, call.shape(2)[1])
    return Value(dims, call.dtype())


@operator("CropAndResize", domain=MICROSOFT)
def crop(call: NodeCall) -> Value:
    """Regions cropped from images and resized to one size."""
    dims, regions = call.rank(0, (4,), "the input"), call.rank(1, (2,), "the regions")
    call.equal(regions[1], 4, "a region must be 4 numbers")
    expect(call, 2, "batch_indices", (regions[0],))
    size = asked_shape(call, 3)
    if len(size) != 2:
        call.refuse("crop_size must be two numbers")
    for wanted in size:
        call.at_most(1, wanted, "crop_size must be positive")
    check_rows(call, 2, dims[0], "the batch")
    return Value((regions[0], dims[1], *size), call.dtype())


@operator("GatherBlockQuantized", domain=MICROSOFT)
def gather_of_blocks(call: NodeCall) -> Sequence[Value]:
    """Slices of quantized data, as real numbers; a byte may hold several of them, on the last axis."""
    data, indices = call.shape(0), call.shape(1)
    each = 8 // call.integer("bits", 4) if call.dtype() == 2 else 1
    whole = (*data[:-1], multiply(data[-1], each))
    call.note("not checked: the shapes of the scales, zero points and indices")
    return [Value(gather(call, whole, indices, call.integer("gather_axis")), call.dtype(2))]
