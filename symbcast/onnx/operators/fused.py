"""ONNX Runtime's own operators: fused from others by its optimiser, variants of ONNX's, and mixtures of experts."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, modulo, multiply, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import all_of, any_of, at_most, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.gathering_and_slicing import check_rows
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import (
    counted,
    expect,
    expect_numbers,
    known_rank,
    known_shape,
    known_shapes,
    requested_shape,
)
from symbcast.onnx.operators import attention_contrib, convolutions, indexing, layout, reductions, signals
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, crashes, operator
from symbcast.onnx.operators.signatures import declare
from symbcast.operators.indexing import gather
from symbcast.operators.layers import group_norm, layer_norm
from symbcast.operators.operator import Dims, expect_one_of
from symbcast.operators.products import matmul, reduce
from symbcast.operators.values.contents import BOOL, INT32, UINT8
from symbcast.operators.values.value import Value

declare("BiasSoftmax", "X, * -> X", domain=MICROSOFT, note="not checked: the shape of the bias")
declare(
    "BiasDropout", "X, *, X?, number?, number? -> X, X", domain=MICROSOFT, note="not checked: the shape of the bias"
)
# Padding is removed where a mask says so, and restored.
declare("RemovePadding", "(B, S, H), (B) -> (tokens, H), (B, S), (B+1), (1)", domain=MICROSOFT)
declare("RestorePadding", "(T, H), (B, S) -> (B, S, H)", domain=MICROSOFT)


@operator("BiasSplitGelu", domain=MICROSOFT)
def split_activation(call: NodeCall) -> Value:
    """Half of the last axis, multiplied by the activated other half."""
    dims = call.rank(0, (3,), "the input")
    expect(call, 1, "the bias", (dims[-1],))
    return Value((*dims[:-1], call.divide(dims[-1], 2, "the last size must be even")), call.dtype())


@operator("BiasAdd", domain=MICROSOFT)
def bias_add(call: NodeCall) -> Value:
    """The sum of the input, a channel bias and the skip connection."""
    dims = call.rank(0, (3,), "the input")
    expect(call, 1, "the bias", (dims[-1],))
    expect(call, 2, "skip", dims)
    return Value(dims, call.dtype())


@operator("ScaledSiLU", domain=MICROSOFT)
def scaled_silu(call: NodeCall) -> Value:
    """An activation with one scale, which has no axis."""
    known_rank(call, 1, (0,), "the scale")
    return Value(call.shape(0), call.dtype())


@operator("GatedAdd", domain=MICROSOFT)
def gated_add(call: NodeCall) -> Value:
    """The sum of the input and a gated one; the gate has one number for each row."""
    dims = call.shape(0)
    call.refuse_if(not dims, "the input must have an axis")
    # "GatedAdd gate_weight currently supports BFloat16 only".
    call.refuse_if(call.has(3), "the processor has no gate_weight for these numbers")
    call.at_most(1, dims[-1], "the last size must be at least 1")
    expect(call, 1, "Y", dims)
    expect(call, 2, "the gate", (*dims[:-1], 1))
    return Value(dims, call.dtype())


@operator("BranchwiseRMSNorm", domain=MICROSOFT)
def branchwise_norm(call: NodeCall) -> Value:
    """The last axis normalised in equal parts, each scaled by the same numbers or by its own.

    Without num_branches, the branches have an axis of their own, before the last one.
    """
    dims, branches = call.shape(0), call.integer("num_branches")
    if len(dims) < (1 if branches else 2) or branches < 0:
        call.refuse("the input must have an axis, and one of branches unless num_branches is positive")
    call.at_most(1, dims[-1], "the last size must be at least 1")
    scale = known_rank(call, 1, (1, 2), "the scale")
    if branches:
        width = call.divide(dims[-1], branches, f"the last size must be a multiple of the {branches} branches")
        shapes: list[Dims] = [(width,), (dims[-1],), (branches, width)]
    else:
        call.at_most(1, dims[-2], "there must be a branch")
        shapes = [(dims[-1],), (multiply(*dims[-2:]),), dims[-2:]]
    expect_one_of(call, "the scale", scale, shapes, "the scale must fit a branch, or all of them")
    return Value(dims, call.dtype())


@operator("NGramRepeatBlock", domain=MICROSOFT)
def block_repeats(call: NodeCall) -> Value:
    """The scores of the next token, without those that would repeat an n-gram of the sequence."""
    batch, length = call.rank(0, (2,), "input_ids")
    scores, count = call.rank(1, (2,), "the scores"), call.integer("ngram_size")
    call.refuse_if(count < 1, "ngram_size must be positive")
    call.equal(batch, scores[0], "there must be scores for each sequence")
    items, sizes = call.numbers(0), numbers_of((batch, length))
    if items is not None and sizes is not None:
        blocked = _blocked(items, sizes[1], count)
        call.refuse_if(min(blocked, default=0) < 0, "a token that would be repeated must not be below 0")
        call.at_most(max(blocked, default=-1) + 1, scores[1], "there must be a score for each token that is blocked")
    elif call.is_known(at_most(length, count - 1)) is not True:
        reason = "not checked: the ids that would be repeated, which are data, must have a score"
        call.note(reason, is_about_data=True, by=[0], enough=at_most(length, count - 1))
    return Value(scores, call.dtype(1))


def _blocked(ids: Sequence[int], length: int, count: int) -> set[int]:
    """Return the tokens that complete an n-gram which a line of ids already has."""
    lines = [ids[n : n + length] for n in range(0, len(ids), length)] if length else []
    return {
        line[end]
        for line in lines
        for end in range(count - 1, length)
        if line[end - count + 1 : end] == line[length - count + 1 :]
    }


@operator("GroupNorm", "SkipGroupNorm", domain=MICROSOFT)
def group_norm_(call: NodeCall) -> Sequence[Value]:
    """Groups of channels normalised; scale and bias have one number for each channel."""
    dims = call.rank(0, (4,), "the input")
    channels = dims[-1] if call.integer("channels_last", 1) else dims[1]
    group_norm(call, channels, call.integer("groups", 1), known_shapes(call, 1, 2))
    if call.has(3):
        call.note("not checked: the shapes of skip and bias")
    return [Value(dims, call.dtype())] * 2


@operator("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(call: NodeCall) -> Value:
    """A product of matrices, each transposed first where an attribute says so."""
    left, right = call.shape(0), call.shape(1)
    is_batch_moved = call.integer("transBatchA") or call.integer("transBatchB")
    if is_batch_moved and not 3 <= len(left) == len(right):
        call.refuse("to be transposed with their batch, A and B must have the same rank, 3 or more")
    shape = matmul(call, _transposed(call, left, "A"), _transposed(call, right, "B"))
    return Value(shape, call.dtype())


def _transposed(call: NodeCall, dims: Dims, name: str) -> Dims:
    """Return the shape of an operand as it is multiplied; its batch may lie between rows and columns."""
    if len(dims) < 2:
        return dims
    if call.integer(f"transBatch{name}"):
        dims = (*dims[1:-1], dims[0], dims[-1])
    return (*dims[:-2], dims[-1], dims[-2]) if call.integer(f"trans{name}") else dims


@operator("FusedGemm", domain=MICROSOFT)
def fused_gemm(call: NodeCall) -> Value:
    """A product of two matrices, a third one broadcast onto it, and an activation."""
    return Value(reductions.gemm_product(call, 0, 1, 2), call.dtype())


@operator("FusedConv", domain=MICROSOFT)
def fused_conv(call: NodeCall) -> Value:
    """A convolution, an added tensor, and an activation."""
    output = convolutions.convolution(call)
    expect(call, 3, "Z", output.shape or ())
    return output


SKIP_NORM_EMPTY = RuntimeDifference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization", "refuses an empty last axis", "requires nothing"
)


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(call: NodeCall) -> Sequence[Value]:
    """The sum of the input and the skip connection, normalised along the last axis."""
    dims = call.rank(0, (2, 3), "the input")
    _check_skip(call, dims)
    is_empty = call.empty(call.shape(1))
    crashes(call, any_of([call.empty(dims), negate(is_empty)]), "skip is empty, and the input is not")
    if call.does(SKIP_NORM_EMPTY):
        call.at_most(1, dims[-1], "ONNX Runtime needs a last axis that is not empty")
    count = 2 if call.node.op_type == "SkipSimplifiedLayerNormalization" else 3
    statistics_shape = layer_norm(call, dims, len(dims) - 1, known_shapes(call, *range(2, 2 + count)))
    statistics, output = Value(statistics_shape, 1), Value(dims, call.dtype())
    return output, statistics, statistics, output


SKIP_NORM_BATCH = RuntimeDifference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization",
    "ignores the batch of skip",
    "it is that of the input, or 1",
)


def _check_skip(call: NodeCall, dims: Dims) -> None:
    """Require that skip have the input's shape or a batch of 1; ONNX Runtime does not check the batch."""
    skip = call.rank(1, (2, 3), "skip")
    call.refuse_if(len(skip) > len(dims), "skip must not have more axes than the input")
    for left, right in zip(skip[-2:], dims[-2:], strict=True):
        call.equal(left, right, "the last two sizes of skip must be those of the input")
    # 1.32 adds a skip of (2, 2, 4) to an input of (3, 2, 4) without a word.
    if len(skip) == 3 and not call.does(SKIP_NORM_BATCH):
        call.one_of(skip[0], (dims[0], 1), "the batch of skip must be the input's, or 1")


@operator("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MICROSOFT)
def embed_layer_normalization(call: NodeCall) -> Sequence[Value]:
    """The normalised sum of word, position and segment embeddings; also the length of each sequence."""
    ids = call.rank(0, (2,), "input_ids")
    hidden = call.rank(2, (2,), "word_embedding")[1]
    expect(call, 1, "segment_ids", ids)
    expect(call, 3, "position_embedding", (None, hidden))
    expect(call, 4, "segment_embedding", (None, hidden))
    expect(call, 5, "gamma", (hidden,))
    expect(call, 6, "beta", (hidden,))
    expect(call, 7, "mask", ids)
    if call.node.op_type == "EmbedLayerNormalization":
        _check_positions(call, ids)
    else:
        call.note("not checked: the shapes of the scales and zero points")
    # Of the quantized operator, what follows the mask is scales.
    of_positions = [(8, 3)] if call.node.op_type == "EmbedLayerNormalization" else []
    for position, table in ((0, 2), (1, 4), *of_positions):
        if call.has(position) and call.has(table):
            check_rows(call, position, call.shape(table)[0], "the table")
    shape = (*ids, hidden)
    return Value(shape, call.dtype(2)), Value((ids[0],), INT32), Value(shape, call.dtype(2))


def _check_positions(call: NodeCall, ids: Dims) -> None:
    """Require a position for each id or, without position_ids, an embedding for each place."""
    positions = known_shape(call, 8, "position_ids")
    if positions is not None:
        expect(call, 8, "position_ids", (None, ids[1]))
        call.one_of(positions[0], (ids[0], 1), "the batch of position_ids must fit")
        return
    embedding = known_shape(call, 3, "position_embedding")
    if embedding is not None and not call.has(8):
        places: Dim = embedding[0]
        call.at_most(ids[1], places, "there must be an embedding for each position")


# ONNX Runtime operators that differ from those of ONNX in a detail.


operator("GridSample", domain=MICROSOFT)(signals.grid_sample_)
operator("GatherND", domain=MICROSOFT)(indexing.gather_nd_)
operator("FusedMatMulActivation", domain=MICROSOFT)(fused_matmul)
operator("GemmFloat8", domain=MICROSOFT)(fused_gemm)


@operator("Pad", domain=MICROSOFT)
def pad_by_input(call: NodeCall) -> Value:
    """Pad the ends of axes; the pads are an input of shape (n) or (1, n)."""
    pads = call.value(1)
    if pads.shape is not None and len(pads.shape) == 2:
        call.equal(pads.shape[0], 1, "the first size of pads must be 1")
        # The elements of (1, n) and (n) are the same, in the same order.
        pads = Value(pads.shape[1:], pads.dtype, pads.content)
    return layout.pad_(call.of([call.inputs[0], pads, *call.inputs[2:]], 11))


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
    return convolutions.pool_(call.of(call.inputs, 1))[0]


@operator("ConvTransposeWithDynamicPads", domain=MICROSOFT)
def transposed_convolution_with_pads(call: NodeCall) -> Value:
    """A transposed convolution whose pads are an input."""
    unpadded = convolutions.transposed_convolution(call.of([*call.inputs[:2], *call.inputs[3:]], 1))
    shape = unpadded.shape or call.shape(0)
    call.refuse_if(not call.has(2), "pads must be given")
    pads = call.sizes(2)
    if pads is None:
        call.give_up("the pads are data")
    rank = len(shape) - 2
    if len(pads) != 2 * rank:
        call.refuse(f"pads must be {2 * rank} numbers")
    sizes = [subtract(d, add(pads[n], pads[n + rank])) for n, d in enumerate(shape[2:])]
    call.filled(sizes, "the output must not be empty")
    return Value((*shape[:2], *sizes), unpadded.dtype)


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
        call.refuse_if(not dims, f"{what} must have an axis for its parts")
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
    call.refuse_if(not dims, "the input must have an axis to normalise along")
    scale = known_shape(call, 1, "the scale")
    if scale is not None:
        # ONNX Runtime takes all numbers of the scale as one group, whatever its axes are.
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
        stored = known_shape(call, n, what)
        if stored is not None:
            # More are accepted: 9 bytes where 8 hold the matrix.
            call.at_most(needed, multiply(*stored), f"{what} must hold {needed} numbers")
    return Value((*dims[:-1], columns), call.dtype())


@operator("MRotaryEmbedding", domain=MICROSOFT)
def rotary_embedding_of_three(call: NodeCall) -> Value:
    """Rotate vectors by angles for positions in time, height and width."""
    dims = call.rank(0, (3, 4), "the input")
    batch, length = dims[0], dims[1] if len(dims) == 3 else dims[2]
    expect(call, 1, "position_ids", (3, batch, length))
    expect(call, 3, "sin_cache", call.rank(2, (2,), "cos_cache"))
    call.at_most(length, call.shape(2)[0], "the caches must be as long as the sequence")
    attention_contrib.check_angles(call, dims, call.shape(2)[1])
    return Value(dims, call.dtype())


@operator("CropAndResize", domain=MICROSOFT)
def crop(call: NodeCall) -> Value:
    """Regions cropped from images and resized to one size."""
    dims, regions = call.rank(0, (4,), "the input"), call.rank(1, (2,), "the regions")
    call.equal(regions[1], 4, "a region must be 4 numbers")
    expect(call, 2, "batch_indices", (regions[0],))
    size = requested_shape(call, 3)
    call.refuse_if(len(size) != 2, "crop_size must be two numbers")
    call.filled(size, "crop_size must be positive")
    check_rows(call, 2, dims[0], "the batch")
    return Value((regions[0], dims[1], *size), call.dtype())


@operator("GatherBlockQuantized", domain=MICROSOFT)
def gather_of_blocks(call: NodeCall) -> Sequence[Value]:
    """Slices of quantized data, as real numbers; a byte may hold several of them, on the last axis."""
    data, indices = call.shape(0), call.shape(1)
    each = 8 // call.integer("bits", 4) if call.dtype() == UINT8 else 1
    whole = (*data[:-1], multiply(data[-1], each))
    call.note("not checked: the shapes of the scales, zero points and indices")
    return [Value(gather(call, whole, indices, call.integer("gather_axis")), call.dtype(2))]


# ONNX Runtime's mixtures of experts: each token passes through a few of many feed-forward layers.


_ACTIVATION = "activation_type"
_ACTIVATIONS = ("relu", "gelu", "silu", "swiglu", "identity")


EXPERTS_LAYERS = RuntimeDifference(
    "MoE", "has no third layer, and a gate only in the first weights, on the processor", "an expert may have them"
)


@operator("MoE", domain=MICROSOFT)
def experts(call: NodeCall) -> Value:
    """The shape of the tokens, on one axis or two; each layer of an expert is its own matrix."""
    output, hidden, count = _routed(call)
    if call.does(EXPERTS_LAYERS) and (call.has(6) or (_fused(call) == 1 and call.text(_ACTIVATION) == "swiglu")):
        call.refuse("the processor has no third layer, and a gate only in the first weights")
    first, second = (known_rank(call, n, (3,), f"the {what} weights") for n, what in ((2, "first"), (4, "second")))
    inner = None if second is None else second[2]
    if first is not None and second is not None and not call.has(6):
        return _in_either_layout(call, output, (count, hidden), first, second)
    for size, what in ((hidden, "the width of a token"), (inner, "the inner width of an expert")):
        if size is not None:
            call.at_most(1, size, f"{what} must be at least 1")
    expect(call, 4, "the second weights", (count, hidden, None))
    wide = None if inner is None else multiply(_fused(call), inner)
    expect(call, 2, "the first weights", (count, wide, hidden))
    expect(call, 3, "the first bias", (count, wide))
    expect(call, 5, "the second bias", (count, hidden))
    expect(call, 6, "the third weights", (count, inner, hidden))
    expect(call, 7, "the third bias", (count, inner))
    return output


def _in_either_layout(call: NodeCall, output: Value, sizes: tuple[Dim, Dim], first: Dims, second: Dims) -> Value:
    """Require that the matrices of each expert fit a token, or that their transposes do, as older models have them."""
    count, hidden = sizes
    reason = "the weights must be (experts, width, inner), or all of them (experts, inner, width)"
    layouts = []
    bias = known_rank(call, 3, (2,), "the first bias")
    for one, two in ((first, second), ((first[0], first[2], first[1]), (second[0], second[2], second[1]))):
        inner = two[2]
        wide = multiply(_fused(call), inner)
        pairs = [*zip(one, (count, wide, hidden), strict=True), *zip(two[:2], (count, hidden), strict=True)]
        if bias is not None:
            pairs += [(bias[0], count), (bias[1], one[1])]
        layouts.append(all_of([*(equal(a, b) for a, b in pairs), at_most(1, inner)]))
    call.at_most(1, hidden, "the width of a token must be at least 1")
    call.require(any_of(layouts), reason)
    expect(call, 5, "the second bias", (count, hidden))
    return output


@operator("QMoE", domain=MICROSOFT)
def quantized_experts(call: NodeCall) -> Value:
    """The shape of the tokens; the weights of the experts are quantized, several to a byte."""
    call.note("not checked: the shapes of the experts' packed weights and scales")
    return _routed(call)[0]


def _routed(call: NodeCall) -> tuple[Value, Dim, Dim]:
    """Return the output, the width of a token and the number of experts."""
    dims = call.rank(0, (2, 3), "the input")
    router = call.rank(1, (2,), "router_probs")
    call.equal(router[0], multiply(*dims[:-1]), "router_probs must have a row for each token")
    if call.integer("k", 1) < 1 or call.text(_ACTIVATION, "relu") not in _ACTIVATIONS:
        call.refuse(f"k must be positive, and the activation one of {', '.join(_ACTIVATIONS)}")
    call.at_most(call.integer("k", 1), router[1], "there must be at least as many experts as each token uses")
    return Value(dims, call.dtype()), dims[-1], router[1]


def _fused(call: NodeCall) -> int:
    """Return how many layers the first weights hold: 2 if an activation with a gate has both there."""
    return 2 if call.text(_ACTIVATION) == "swiglu" and call.integer("swiglu_fusion") else 1
