"""Attention in ONNX Runtime's own domain, over queries, keys and values in one tensor or in several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.logic.formulas import all_of, any_of, at_most, equal
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.operators.gathering import check_rows
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import UNKNOWN, Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.attention.attention import past_length
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import ATTENTION_ROTARY
from symbcast.operators.context import Dims
from symbcast.operators.networks.attention import check_scores_bias, head_width
from symbcast.operators.operands import expect_one_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_DEVICES = "not checked: the device must support this layout, which the CPU does not"


@operator("Attention", domain=MICROSOFT)
def attention(call: NodeCall) -> Sequence[Value]:
    """Self-attention; queries, keys and values are one product with the weights."""
    found, scores = _self_attention(call, mask=3, past=4)
    check_scores_bias(call, "attention_bias", known_shape(call, 5, "attention_bias"), scores)
    return found


@operator("QAttention", domain=MICROSOFT)
def quantized_attention(call: NodeCall) -> Sequence[Value]:
    """Attention with quantized input and weights."""
    crashes(call, at_most(1, call.rank(0, (3,), "the input")[0]), "the batch is empty")
    expect_numbers(call, 3, 6)
    call.note("not checked: the shapes of the scale and zero point of the weights")
    return _self_attention(call, mask=5, past=8)[0]


def _self_attention(call: NodeCall, *, mask: int, past: int) -> tuple[list[Value], Dims]:
    """Return the outputs, and the shape of the scores."""
    batch, length, features = call.rank(0, (3,), "the input")
    heads = head_count(call)
    if call.integer("do_rotary") and call.does(ATTENTION_ROTARY):
        call.refuse("the processor does not rotate queries and keys")
    hidden, out = hidden_sizes(call, projection(call, features), heads)
    for size in (hidden, out):
        call.at_most(1, size, "the heads must have a width")
    width = floor_divide(out, heads)
    before: Dim = 0
    held = known_shape(call, past, "past")
    if held is not None:
        expect(call, past, "past", (2, batch, heads, None, floor_divide(hidden, heads)))
        before = held[3]
    elif call.has(past):
        before = call.fresh("past", "the number of earlier positions")
    total = add(before, length)
    if call.integer("past_present_share_buffer"):
        call.note("not checked: the fill level of the cache")
        total = before
    _check_mask(call, mask, batch, length, total)
    dtype = call.dtype(2) or call.dtype()
    found = [Value((batch, length, out), dtype), Value((2, batch, heads, total, width), dtype)]
    return found, (batch, heads, length, total)


def head_count(call: NodeCall) -> int:
    """Return the number of heads."""
    heads = call.integer("num_heads")
    if heads <= 0:
        call.refuse("the attribute num_heads must be positive")
    return heads


def projection(call: NodeCall, features: Dim) -> Dim:
    """Return the columns of the weights that project features to queries, keys and values next to each other."""
    columns = call.rank(1, (2,), "the weights")[1]
    expect(call, 1, "the weights", (features, None))
    expect(call, 2, "the bias", (columns,))
    return columns


def equal_hidden_size(call: NodeCall, columns: Dim, heads: int) -> Dim:
    """Return the width of queries, of keys and of values over all heads."""
    call.divide(columns, 3 * heads, f"there must be columns for Q, K and V in all {heads} heads")
    return floor_divide(columns, 3)


def hidden_sizes(call: NodeCall, columns: Dim, heads: int) -> tuple[Dim, Dim]:
    """Return the widths of keys and of values over all heads."""
    given = call.integers("qkv_hidden_sizes")
    if given:
        if len(given) != 3 or given[0] != given[1] or any(n % heads for n in given):
            call.refuse("qkv_hidden_sizes must be three multiples of num_heads, the first two equal")
        call.equal(columns, sum(given), "the columns of the weights must be those of Q, K and V")
        return given[1], given[2]
    hidden = equal_hidden_size(call, columns, heads)
    return hidden, hidden


def _check_mask(call: NodeCall, position: int, batch: Dim, length: Dim, total: Dim) -> None:
    """Require that a mask have one of the shapes allowed for it."""
    found = known_shape(call, position, "the mask")
    if found is None or len(found) != 4:
        vectors: list[Dims] = [(batch,), (multiply(2, batch),), (add(multiply(3, batch), 2),)]
        allowed = [*vectors, (batch, total), (batch, 1), (1, 1), (batch, length, total)]
        expect_one_of(call, "the mask", found, allowed, "the mask must fit the batch and the length")
        return
    if call.integer("unidirectional"):
        call.refuse("a mask of four axes cannot be used where attention is causal")
    call.note(_DEVICES)
    square = all_of([equal(found[0], batch), equal(found[1], 1), equal(found[2], found[3]), at_most(total, found[2])])
    call.require(square, "a mask of four axes must have one square for each of the batch, of the whole length")


@operator("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(call: NodeCall) -> Sequence[Value]:
    """Attention over queries, keys and values that are packed into one tensor, or separate."""
    query, heads = call.rank(0, (3, 5), "the query"), head_count(call)
    if len(query) == 5:
        expect(call, 0, "the query", (None, None, heads, 3, None))
        queries: Dims = (query[0], heads, query[1], query[4])
    else:
        width = width_of_heads(call, query, heads, "the query")
        queries = query[0], heads, query[1], width
    if len([o for o in call.node.outputs if o]) > _SCORES:
        call.refuse("ONNX Runtime does not infer the type of the fourth output")
    batch, _, length, width = queries
    keys, values = _keys_and_values(call, query, queries)
    hidden = query[2] if len(query) == 3 else multiply(heads, width)
    value = known_shape(call, 2, "the value")
    out = value[2] if value is not None and len(value) == 3 else hidden
    # ONNX Runtime requires cached values to be as wide as the keys.
    before = past_length(call, 6, keys, keys)
    cached = before
    total = add(before, keys[2])
    if call.has(8):
        total = add(filled_length(call, 8, before, keys[2]), keys[2])
    else:
        cached = total
    scores = (*queries[:3], total)
    expect(call, 3, "the bias", (add(hidden, hidden, out),))
    allowed: list[Dims] = [(batch,), (add(multiply(3, batch), 2),), (batch, total), (batch, length, total)]
    padding = known_shape(call, 4, "key_padding_mask")
    expect_one_of(call, "key_padding_mask", padding, allowed, "key_padding_mask must fit the batch and the length")
    check_scores_bias(call, "attention_bias", known_shape(call, 5, "attention_bias"), scores)
    found = Value((batch, length, out), call.dtype())
    if call.has(9):
        call.note("not checked: the shape of cache_indirection")
    return found, *(Value((*dims[:2], cached, dims[3]), call.dtype()) for dims in (keys, values))


_SCORES = 3


def width_of_heads(call: NodeCall, dims: Dims, heads: int, what: str) -> Dim:
    """Return the width of one head of ``(batch, length, heads * width)``; ONNX Runtime divides only where it is."""
    is_empty = call.empty(dims[:2])
    needs = any_of([is_empty, equal(modulo(dims[2], heads), 0)])
    call.require(needs, f"the last size of {what} must be a multiple of the {heads} heads")
    crashes(call, any_of([is_empty, at_most(1, dims[2])]), f"the heads of {what} have no width")
    return floor_divide(dims[2], heads)


def filled_length(call: NodeCall, position: int, room: Dim, added: Dim) -> Dim:
    """Return how many places of a cache are filled; there must be room for at least one, and for those added."""
    shape = known_shape(call, position, "past_sequence_length")
    if shape is not None:
        call.equal(multiply(*shape), 1, "past_sequence_length must be one number")
    filled = (call.elements(position) or (None,))[0]
    if not is_size(filled):
        call.at_most(1, room, "the cache must have a place")
        call.at_most(added, room, "the cache must have room for what is added")
        reason = "not checked: the numbers in past_sequence_length, which are data, must leave room in the cache"
        call.note(reason, is_about_data=True, by=[position])
        return call.fresh("past", "what past_sequence_length holds", by=[position])
    call.is_size(filled, "past_sequence_length must not be negative")
    call.at_most(add(filled, 1), room, "past_sequence_length must be below the length of the cache")
    call.at_most(add(filled, added), room, "the cache must have room for what is added")
    return filled


def _keys_and_values(call: NodeCall, query: Dims, queries: Dims) -> tuple[Dims, Dims]:
    """Return keys and values as (batch, heads, length, width), and require that they fit."""
    batch, heads, _, width = queries
    if not call.has(1):
        if len(query) != 5:
            call.refuse("without keys, the query must hold queries, keys and values, in five axes")
        call.note(_DEVICES)
        return queries, queries
    if len(query) != 3:
        call.refuse("with keys, the query must have three axes")
    key = call.rank(1, (3, 4, 5), "the key")
    keys = (batch, heads, key[2] if len(key) == 4 else key[1], width)
    if len(key) == 5:
        call.note(_DEVICES)
        expect(call, 1, "the key", (batch, None, heads, 2, width))
        return keys, keys
    value = call.rank(2, (len(key),), "the value")
    if len(key) == 3:
        expect(call, 1, "the key", (batch, None, query[2]))
        expect(call, 2, "the value", (batch, key[1], None))
        return keys, (*keys[:3], width_of_heads(call, value, call.integer("num_heads"), "the value"))
    expect(call, 1, "the key", (batch, heads, None, width))
    expect(call, 2, "the value", key)
    return keys, keys


@operator("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(call: NodeCall) -> Sequence[Value]:
    """Attention with fewer heads for keys and values, which are appended to a cache."""
    batch, length, hidden = call.rank(0, (3,), "the query")
    heads, key_heads = call.integer("num_heads"), call.integer("kv_num_heads")
    if heads <= 0 or key_heads <= 0 or heads % key_heads:
        call.refuse("num_heads must be a multiple of kv_num_heads")
    width = head_width(call, hidden, heads if call.has(1) else heads + 2 * key_heads, "the query")
    call.divide(width, 8, "the width of a head must be a multiple of 8")
    added = _grouped_keys(call, key_heads, width)
    out = Value((batch, length, multiply(heads, width)), call.dtype())
    expect(call, 5, "seqlens_k", (batch,))
    expect_numbers(call, 6)
    call.note("not checked: its requirements on the numbers in seqlens_k")
    if any(call.has(n) for n in range(9, 16)) or any(call.attribute(n) is not None for n in _CACHE_KINDS):
        call.note("not checked: its requirements on positions, biases and quantized caches")
    if any(call.attribute(n) is not None for n in _CACHE_KINDS):
        return out, UNKNOWN, UNKNOWN, UNKNOWN
    keys = (batch, key_heads, added, width)
    before = past_length(call, 3, keys, keys)
    total = (call.elements(6) or (None,))[0]
    if is_size(total):
        _check_total(call, total, before, added, width)
    else:
        call.note("not checked: total_sequence_length must fit, but it is not known")
        total = call.fresh("total", "what total_sequence_length holds")
    present = Value((batch, key_heads, call.bounds.larger(total, before), width), call.dtype(3) or call.dtype())
    return out, present, present, UNKNOWN


_CACHE_KINDS = ("kv_cache_bit_width", "k_quant_type", "v_quant_type", "sliding_window_cache")


def _grouped_keys(call: NodeCall, heads: int, width: Dim) -> Dim:
    """Return how many keys are added to the cache, and require that they fit."""
    batch, length = call.shape(0)[:2]
    if not call.has(1):
        return length
    key = call.rank(1, (3,), "the key")
    call.one_of(key[1], (length, 0), "there must be as many keys as queries")
    expect(call, 1, "the key", (batch, None, None))
    expect(call, 2, "the value", (batch, key[1], key[2]))
    call.equal(floor_divide(key[2], heads), width, "the heads of queries and keys must have the same width")
    return key[1]


def _check_total(call: NodeCall, total: Dim, before: Dim, added: Dim, width: Dim) -> None:
    batch, length, _ = call.shape(0)
    call.at_most(added, total, "total_sequence_length must not be less than the keys that are added")
    fits = any_of([at_most(total, before), equal(total, add(before, added))])
    call.require(fits, "total_sequence_length must fit the cache, or count all keys")
    alone = any_of([at_most(length, 1), equal(length, total), equal(batch, 1)])
    call.require(alone, "the batch must be 1 where several queries are appended to a cache")
    cosines = known_shape(call, 7, "cos_cache")
    if cosines is not None and len(cosines) == 2:
        expect(call, 8, "sin_cache", cosines)
        call.at_most(total, cosines[0], "cos_cache must be as long as the keys")
        call.divide(width, 16, "the width of a rotated head must be a multiple of 16")
        call.divide(cosines[1], 8, "the width of cos_cache must be a multiple of 8")
        call.at_most(multiply(2, cosines[1]), width, "the width of cos_cache must be at most half that of a head")


@operator("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(call: NodeCall) -> Value:
    """Rotate vectors by the angles that the caches hold for each position."""
    dims = call.rank(0, (3, 4), "the input")
    batch, length = dims[0], dims[1] if len(dims) == 3 else dims[2]
    cosines = call.rank(2, (2,), "cos_cache")
    expect(call, 3, "sin_cache", cosines)
    positions = known_shape(call, 1, "position_ids")
    call.at_most(length, cosines[0], "the caches must be as long as the sequence")
    if positions is not None and len(positions) == 2:
        expect(call, 1, "position_ids", (batch, length))
        check_rows(call, 1, cosines[0], "the caches")
    else:
        expect_numbers(call, 1)
        _check_start(call, length, cosines[0])
    check_angles(call, dims, cosines[1])
    return Value(dims, call.dtype())


def _check_start(call: NodeCall, length: Dim, room: Dim) -> None:
    """Require that the positions from the first one on be in the caches."""
    start = (call.elements(1) or (None,))[0]
    if not is_size(start):
        reason = "not checked: the numbers in position_ids, which are data, must leave room for the sequence"
        call.note(reason, is_about_data=True, by=[1])
        return
    call.is_size(start, "position_ids must not be negative")
    call.at_most(add(start, length), room, "the caches must have angles for all positions")


def check_angles(call: NodeCall, dims: Dims, angles: Dim) -> None:
    """Require an angle for each pair of numbers that is rotated."""
    heads, turned = call.integer("num_heads"), call.integer("rotary_embedding_dim")
    reason = "the width of cos_cache must be half of the rotated width"
    if heads < 0 or turned < 0:
        call.refuse("num_heads and rotary_embedding_dim must not be below 0")
    if turned and not heads:
        call.refuse("with rotary_embedding_dim, num_heads must be given")
    if len(dims) == 3 and not heads:
        double = multiply(2, angles)
        is_whole = all_of([at_most(1, angles), equal(modulo(dims[2], call.bounds.larger(double, 1)), 0)])
        is_empty = all_of([equal(angles, 0), call.empty(dims[:2])])
        call.require(any_of([equal(dims[2], 0), is_empty, is_whole]), reason)
        return
    width = dims[3] if len(dims) == 4 else head_width(call, dims[2], heads, "the input")
    is_nothing = all_of([equal(width, 0), call.empty(dims[:-1] if len(dims) == 4 else dims[:2])])
    half = any_of([is_nothing, equal(angles, floor_divide(width, 2))])
    if turned:
        call.at_most(turned, width, "rotary_embedding_dim must be at most the width of a head")
    call.require(any_of([half, equal(angles, turned // 2)]) if turned else half, reason)
