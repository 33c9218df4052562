"""Attention and rotary embeddings, as ONNX itself has them from opset 23 on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply
from symbcast.core.logic.formulas import any_of, at_most
from symbcast.graphs.operators.expected_shapes import expect, known_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import (
    ATTENTION_EMPTY,
    ATTENTION_HEADS,
    ATTENTION_MASK,
    ATTENTION_SCALE,
    ROTARY_CACHE,
)
from symbcast.operators.context import Dims
from symbcast.operators.networks.attention import (
    attend,
    cached,
    check_scores_bias,
    equal_stack,
    head_width,
    in_heads,
    present,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_MASK, _PAST_KEY, _LENGTHS = 3, 4, 6


@operator("Attention")
def attention(call: NodeCall) -> Sequence[Value]:
    """Attention output, updated key and value caches, and scores."""
    rank = len(call.rank(0, (3, 4), "Q"))
    query = _operand(call, 0, "Q", "q_num_heads", rank)
    key = _operand(call, 1, "K", "kv_num_heads", rank)
    value = _operand(call, 2, "V", "kv_num_heads", rank)
    found = attend(call, query, key, value, equal_stack)
    # All sizes are now written as those of Q and K where they must be equal.
    key, value = (query[0], *key[1:3], query[3]), (query[0], *key[1:3], value[3])
    if call.does(ATTENTION_EMPTY):
        for size in (*query, key[1], key[2], value[3]):
            call.at_most(1, size, "ONNX Runtime needs Q, K and V that are not empty")
    _check_attributes(call)
    before = past_length(call, _PAST_KEY, key, value)
    expect(call, _LENGTHS, "nonpad_kv_seqlen", (query[0],))
    if call.has(_LENGTHS):
        call.note("not checked: no number of nonpad_kv_seqlen may be above the length")
    scores = (*query[:3], add(before, key[2]))
    _check_mask(call, scores)
    if rank == 3:
        found = (found[0], found[2], multiply(found[1], found[3]))
    caches = [Value(present(dims, before), call.dtype(n)) for n, dims in ((1, key), (2, value))]
    return [Value(found, call.dtype()), *caches, Value(scores, call.dtype())]


def past_length(call: NodeCall, position: int, key: Dims, value: Dims) -> Dim:
    """Return how many keys the caches at ``position`` and the next input hold; 0 without caches."""
    if call.has(position) != call.has(position + 1):
        call.refuse("there must be both past_key and past_value, or neither")
    if not call.has(position):
        return 0
    caches = known_shape(call, position, "past_key"), known_shape(call, position + 1, "past_value")
    before = cached(call, caches, key, value)
    return call.fresh("past", "the number of earlier keys") if before is None else before


_WINDOWS = ("left_window_size", "right_window_size")
_SCORES, _SCORES_OF = 3, range(4)


def _check_attributes(call: NodeCall) -> None:
    for name in _WINDOWS:
        if call.integer(name, -1) < -1:
            call.refuse(f"{name} must be -1 or more")
    if len(call.node.outputs) > _SCORES and call.integer("qk_matmul_output_mode") not in _SCORES_OF:
        call.refuse("qk_matmul_output_mode must be from 0 to 3")
    scale = call.attribute("scale")
    if scale is not None and scale <= 0 and call.version < 25 and call.does(ATTENTION_SCALE):
        call.refuse("scale must be above 0")


def _operand(call: NodeCall, position: int, name: str, heads: str, rank: int) -> Dims:
    """Return an operand as (batch, heads, length, width); with three axes, an attribute counts the heads."""
    dims = call.rank(position, (rank,), name)
    count = call.integer(heads)
    if rank == 3:
        if count <= 0:
            call.refuse(f"operands of three axes need the attribute {heads}")
        return in_heads(call, dims, count, name)
    if call.version >= 25 and call.attribute(heads) is not None:
        call.refuse(f"{heads} must not be given for operands of four axes")
    if count > 0 or (count < 0 and not call.does(ATTENTION_HEADS)):
        call.equal(dims[1], count, f"axis 1 of {name} must be {count}, the attribute {heads}")
    return dims


def _check_mask(call: NodeCall, scores: Dims) -> None:
    """Require that the mask broadcast onto the scores; in ONNX Runtime only batch and heads broadcast."""
    mask = known_shape(call, _MASK, "attn_mask")
    if mask is None or call.does(ATTENTION_MASK):
        check_scores_bias(call, "attn_mask", mask, scores, (2, 3, 4))
        return
    if call.version >= 24 and mask:
        call.at_most(mask[-1], scores[-1], "attn_mask must not be longer than the keys")
        mask, scores = (*mask[:-1], 1), (*scores[:-1], 1)
    call.broadcast(mask, scores, rule="unidirectional")


@operator("RotaryEmbedding")
def rotary_embedding(call: NodeCall) -> Value:
    """Rotate vectors by cached angles, looked up by position id or by place in the sequence."""
    dims = call.rank(0, (3, 4), "X")
    heads, width = _head_width(call, dims)
    turned: Dim = call.integer("rotary_embedding_dim") or width
    if heads is not None and turned is not width:
        call.at_most(turned, width, "rotary_embedding_dim must be at most the width of a head")
    places = (dims[0], dims[1] if len(dims) == 3 else dims[2])
    leading: tuple[Dim | None, ...] = places
    if call.has(3):
        cache = known_shape(call, 1, "cos_cache")
        leading = (cache[0] if cache else None,)
        expect(call, 3, "position_ids", places)
        _check_positions(call, places, leading[0])
    half = floor_divide(turned, 2)
    expect(call, 1, "cos_cache", (*leading, half))
    expect(call, 2, "sin_cache", (*leading, half))
    return Value(dims, call.dtype())


def _check_positions(call: NodeCall, places: Sequence[Dim], held: Dim | None) -> None:
    """Require that the caches hold a position; ONNX Runtime needs one for each place in the input."""
    call.note("not checked: position_ids, which are data, must be positions in the caches", is_about_data=True)
    if held is None:
        return
    if call.does(ROTARY_CACHE):
        call.at_most(places[1], held, "the caches must be as long as the sequence")
    elif not call.bounds.is_at_least(held, 1):
        call.require(any_of([call.empty(places), at_most(1, held)]), "the caches must hold a position")


def _head_width(call: NodeCall, dims: Dims) -> tuple[Dim | None, Dim]:
    """Return the number of heads and the width of one."""
    heads = call.integer("num_heads")
    if heads < 0:
        call.refuse("num_heads must not be below 0")
    if len(dims) == 4:
        return dims[1], dims[3]
    if heads <= 0:
        call.refuse("an input of three axes needs the attribute num_heads")
    return heads, head_width(call, dims[2], heads, "X")
