"""ONNX Runtime's attention for one token at a time, without padding, or with sparse patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply
from symbcast.core.logic.formulas import FALSE, at_most
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.values.value import UNKNOWN, Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.attention.attention_contrib import (
    equal_hidden_size,
    filled_length,
    head_count,
    hidden_sizes,
    projection,
    width_of_heads,
)
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import DECODER_BUFFER
from symbcast.operators.networks.attention import cached, check_scores_bias, head_width

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_FILLED = "not checked: the fill level of the cache"


@operator("PackedAttention", domain=MICROSOFT)
def packed_attention(call: NodeCall) -> Value:
    """Attention within each sequence; the sequences are concatenated without padding."""
    tokens, features = call.rank(0, (2,), "the input")
    columns = projection(call, features)
    _check_lines(call, 3)
    return Value((tokens, hidden_sizes(call, columns, head_count(call))[1]), call.dtype())


@operator("PackedMultiHeadAttention", domain=MICROSOFT)
def packed_multi_head_attention(call: NodeCall) -> Value:
    """Attention within each sequence; queries, keys and values come in one tensor or in three."""
    query, heads = call.rank(0, (2, 4), "the query"), head_count(call)
    tokens = query[0]
    _check_lines(call, 4)
    if len(query) == 4:
        expect(call, 0, "the query", (tokens, heads, 3, None))
        hidden = multiply(heads, query[3])
        expect(call, 3, "the bias", (multiply(3, hidden),))
        return Value((tokens, hidden), call.dtype())
    expect(call, 1, "the key", query)
    expect(call, 2, "the value", (tokens, None))
    wide = call.rank(2, (2,), "the value")[1]
    for what, size in (("the query", query[1]), ("the value", wide)):
        head_width(call, size, heads, what)
    expect(call, 3, "the bias", (add(query[1], query[1], wide),))
    return Value((tokens, wide), call.dtype())


def _check_lines(call: NodeCall, position: int) -> None:
    """Require the tokens' offsets and the cumulative sequence lengths."""
    lines = known_shape(call, position, "token_offset")
    batch = lines[0] if lines else None
    expect(call, position, "token_offset", (None, None))
    expect(call, position + 1, "cumulative_sequence_length", (None if batch is None else add(batch, 1),))


@operator("DecoderMaskedMultiHeadAttention", domain=MICROSOFT)
def one_place_at_a_time(call: NodeCall) -> Sequence[Value]:
    """Attention of one new token to those before it, whose keys and values are cached."""
    batch, length, hidden = call.rank(0, (3,), "the query")
    heads = head_count(call)
    call.equal(length, 1, "there must be one place")
    wide = hidden if call.has(1) else equal_hidden_size(call, hidden, heads)
    width = width_of_heads(call, (batch, length, wide), heads, "the query")
    if len([o for o in call.node.outputs if o]) > 3:
        call.refuse("ONNX Runtime does not infer the type of the fourth output")
    expect(call, 10, "the bias", (multiply(3, wide),))
    key = known_shape(call, 1, "the key")
    is_crossed = False
    places: Dim = 1
    if key is not None and len(key) == 4:
        is_crossed, places = True, key[2]
        expect(call, 1, "the key", (batch, heads, None, width))
        expect(call, 2, "the value", (batch, heads, places, width))
    else:
        expect(call, 1, "the key", (batch, 1, wide))
        expect(call, 2, "the value", (batch, 1, wide))
    if call.does(DECODER_BUFFER):
        _check_buffers(call, places)
    if is_crossed and not any(call.has(n) for n in (5, 6)):
        _check_scores(call, batch, heads, places)
        return Value((batch, 1, wide), call.dtype()), UNKNOWN, UNKNOWN, Value((batch, heads, 1, places), call.dtype())
    added = (batch, heads, places, width)
    caches = known_shape(call, 5, "past_key"), known_shape(call, 6, "past_value")
    before = cached(call, caches, added, added)
    is_shared = bool(call.integer("past_present_share_buffer"))
    if before is not None and call.has(7) and is_shared:
        _check_scores(call, batch, heads, add(filled_length(call, 7, before, places), places))
    elif any(call.has(n) for n in (3, 4)):
        call.note("not checked: the shapes of the mask and the added scores")
    if any(call.has(n) for n in (8, 9)):
        call.note("not checked: the shapes of the beams")
    if before is None:
        return Value((batch, 1, wide), call.dtype()), UNKNOWN, UNKNOWN, UNKNOWN
    total = before if is_shared else add(before, places)
    held = Value((batch, heads, total, width), call.dtype(5))
    return Value((batch, 1, wide), call.dtype()), held, held, Value((batch, heads, 1, total), call.dtype())


def _check_buffers(call: NodeCall, places: Dim) -> None:
    """Require of the caches what the kernel of the processor does, which updates them in place."""
    is_shared = bool(call.integer("past_present_share_buffer"))
    caches, outputs = [call.has(n) for n in (5, 6)], call.node.outputs[1:3]
    if call.has(1) != call.has(2) or caches[0] != caches[1]:
        call.refuse("keys and values must be given together, as must their caches")
    if all(caches):
        if not is_shared or not call.has(7):
            call.refuse("caches need past_present_share_buffer and past_sequence_length on the processor")
        crashes(call, at_most(1, places), "there are no keys to write to the cache")
        if sum(map(bool, outputs)) < len(caches):
            crashes(call, FALSE, "the updated caches are not among the outputs")
        return
    if any(outputs):
        call.refuse("there are no caches to return")
    if is_shared:
        call.equal(places, 0, "past_present_share_buffer without caches leaves no room for keys")


def _check_scores(call: NodeCall, batch: Dim, heads: int, total: Dim) -> None:
    """Require that the mask and the added scores fit one query and all keys."""
    expect(call, 3, "the mask", (batch, total))
    check_scores_bias(call, "attention_bias", known_shape(call, 4, "attention_bias"), (batch, heads, 1, total))


@operator("DecoderMaskedSelfAttention", domain=MICROSOFT)
def one_place_of_its_own(call: NodeCall) -> Sequence[Value]:
    """Attention of one new token to those before it; queries, keys and values are one product with the weights."""
    batch, length, features = call.rank(0, (3,), "the input")
    call.equal(length, 1, "there must be one place")
    heads = head_count(call)
    wide = equal_hidden_size(call, projection(call, features), heads)
    expect(call, 4, "past", (2, batch, heads, None, floor_divide(wide, heads)))
    call.note(_FILLED)
    past = known_shape(call, 4, "past")
    if past is None:
        return Value((batch, 1, wide), call.dtype()), UNKNOWN
    total = past[3] if call.integer("past_present_share_buffer") else add(past[3], 1)
    return Value((batch, 1, wide), call.dtype()), Value((*past[:3], total, past[4]), call.dtype())


@operator("SparseAttention", domain=MICROSOFT)
def sparse_attention(call: NodeCall) -> Sequence[Value]:
    """Attention to the blocks of keys that a sparsity pattern selects; keys and values are cached."""
    batch, length, hidden = call.rank(0, (3,), "the query")
    heads, key_heads = head_count(call), call.integer("kv_num_heads")
    if key_heads < 1 or heads % key_heads:
        call.refuse("num_heads must be a multiple of kv_num_heads")
    parts = heads if call.has(1) else heads + 2 * key_heads
    width = head_width(call, hidden, parts, "the query")
    for n, what in ((1, "the key"), (2, "the value")):
        expect(call, n, what, (batch, length, multiply(key_heads, width)))
    past = call.rank(3, (4,), "past_key")
    expect(call, 3, "past_key", (batch, key_heads, None, width))
    expect(call, 4, "past_value", past)
    expect(call, 8, "key_total_sequence_lengths", (batch,))
    expect_numbers(call, 7)
    call.note("not checked: the shapes of the blocks and the lengths")
    present = Value(past, call.dtype(3))
    return Value((batch, length, multiply(heads, width)), call.dtype()), present, present


@operator("RelativePositionBias", domain=MICROSOFT)
def relative_positions(call: NodeCall) -> Value:
    """A bias for each query and key in each head, by their distance."""
    heads = call.rank(0, (2,), "bias_table")[1]
    expect_numbers(call, 1, 2)
    lengths = (*asked_shape(call, 1), *asked_shape(call, 2)) if call.shape(1) and call.shape(2) else None
    if lengths is None or len(lengths) != 2:
        call.give_up("the lengths of queries and keys are not known")
    return Value((1, heads, *lengths), call.dtype())


@operator("GatedRelativePositionBias", domain=MICROSOFT)
def gated_relative_positions(call: NodeCall) -> Value:
    """A bias for each query and key in each head, by their distance and the query's contents."""
    query, heads = call.rank(0, (2, 3), "the query"), head_count(call)
    width = head_width(call, query[-1], heads, "the query")
    if len(query) == 3:
        batch, length = query[:2]
    else:
        batch, length = call.rank(6, (2,), "token_offset")
    expect(call, 1, "query_bias", (query[-1],))
    expect(call, 2, "rel_pos", (1, heads, length, length))
    weights = known_shape(call, 3, "the weights")
    expect(call, 3, "the weights", (width, None))
    expect(call, 4, "the bias", (weights[1] if weights else None,))
    expect(call, 5, "eco_a", (1, heads, 1, 1))
    return Value((batch, heads, length, length), call.dtype())
