"""Operators that ONNX Runtime's optimiser fuses from others: products, activations, embeddings, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.logic.formulas import any_of, at_most, negate
from symbcast.graphs.operators.expected_shapes import expect, known_rank, known_shape, known_shapes
from symbcast.graphs.operators.gathering import check_rows
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.elementwise.matrices import gemm_product
from symbcast.onnx.registry import MICROSOFT, OPERATORS, operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import SKIP_NORM_BATCH, SKIP_NORM_EMPTY
from symbcast.operators.context import Dims
from symbcast.operators.matmul import matmul
from symbcast.operators.networks.normalisation import group_norm, layer_norm
from symbcast.operators.operands import expect_one_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

INT32 = 6


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
    if not dims:
        call.refuse("the input must have an axis")
    if call.has(3):
        call.refuse("the processor has no gate_weight for these numbers")
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
    if count < 1:
        call.refuse("ngram_size must be positive")
    call.equal(batch, scores[0], "there must be scores for each sequence")
    items, sizes = call.numbers(0), numbers_of((batch, length))
    if items is not None and sizes is not None:
        blocked = _blocked(items, sizes[1], count)
        if min(blocked, default=0) < 0:
            call.refuse("a token that would be repeated must not be below 0")
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
    return Value(gemm_product(call, 0, 1, 2), call.dtype())


@operator("FusedConv", domain=MICROSOFT)
def fused_conv(call: NodeCall) -> Value:
    """A convolution, an added tensor, and an activation."""
    convolution = OPERATORS.get(("", "Conv"))
    found = None if convolution is None else convolution(call)
    if not isinstance(found, Value) or found.shape is None:
        call.give_up("the shape of a convolution is unknown")
    expect(call, 3, "Z", found.shape)
    return found


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(call: NodeCall) -> Sequence[Value]:
    """The sum of the input and the skip connection, normalised along the last axis."""
    dims = call.rank(0, (2, 3), "the input")
    _check_skip(call, dims)
    _check_crash(call, dims)
    if call.does(SKIP_NORM_EMPTY):
        call.at_most(1, dims[-1], "ONNX Runtime needs a last axis that is not empty")
    count = 2 if call.node.op_type == "SkipSimplifiedLayerNormalization" else 3
    kept = layer_norm(call, dims, len(dims) - 1, known_shapes(call, *range(2, 2 + count)))
    statistics, found = Value(kept, 1), Value(dims, call.dtype())
    return found, statistics, statistics, found


def _check_skip(call: NodeCall, dims: Dims) -> None:
    """Require that skip have the input's shape or a batch of 1; ONNX Runtime does not check the batch."""
    skip = call.rank(1, (2, 3), "skip")
    if len(skip) > len(dims):
        call.refuse("skip must not have more axes than the input")
    for left, right in zip(skip[-2:], dims[-2:], strict=True):
        call.equal(left, right, "the last two sizes of skip must be those of the input")
    if len(skip) == 3 and not call.does(SKIP_NORM_BATCH):
        call.one_of(skip[0], (dims[0], 1), "the batch of skip must be the input's, or 1")


def _check_crash(call: NodeCall, dims: Dims) -> None:
    skip = call.shape(1)
    crashes(call, any_of([call.empty(dims), negate(call.empty(skip))]), "skip is empty, and the input is not")


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
    given = known_shape(call, 8, "position_ids")
    if given is not None:
        expect(call, 8, "position_ids", (None, ids[1]))
        call.one_of(given[0], (ids[0], 1), "the batch of position_ids must fit")
        return
    held = known_shape(call, 3, "position_embedding")
    if held is not None and not call.has(8):
        places: Dim = held[0]
        call.at_most(ids[1], places, "there must be an embedding for each position")
