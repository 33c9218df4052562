"""Attention in ONNX Runtime's own domain.

Over queries, keys and values in one tensor or several, packed, or sparse.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import FALSE, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.gathering_and_slicing import check_rows
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, expect_numbers, known_shape, requested_shape
from symbcast.onnx.operators.attention import past_length
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, crashes, operator
from symbcast.onnx.operators.signatures import declare
from symbcast.operators.layers import cached, check_scores_bias, head_width
from symbcast.operators.operator import Dims, expect_one_of
from symbcast.operators.values.contents import is_size
from symbcast.operators.values.value import UNKNOWN, Value

_DEVICES = "not checked: the device must support this layout, which the CPU does not"


@operator("Attention", domain=MICROSOFT)
def contrib_attention(call: NodeCall) -> Sequence[Value]:
    """Self-attention; queries, keys and values are one product with the weights."""
    outputs, scores = _self_attention(call, mask=3, past=4)
    check_scores_bias(call, "attention_bias", known_shape(call, 5, "attention_bias"), scores)
    return outputs


@operator("QAttention", domain=MICROSOFT)
def quantized_attention(call: NodeCall) -> Sequence[Value]:
    """Attention with quantized input and weights."""
    crashes(call, at_most(1, call.rank(0, (3,), "the input")[0]), "the batch is empty")
    expect_numbers(call, 3, 6)
    call.note("not checked: the shapes of the scale and zero point of the weights")
    return _self_attention(call, mask=5, past=8)[0]


ATTENTION_ROTARY = RuntimeDifference(
    "Attention", "does not rotate queries and keys, on the processor", "do_rotary does so"
)


def _self_attention(call: NodeCall, *, mask: int, past: int) -> tuple[list[Value], Dims]:
    """Return the outputs, and the shape of the scores."""
    batch, length, features = call.rank(0, (3,), "the input")
    heads = head_count(call)
    if call.integer("do_rotary") and call.does(ATTENTION_ROTARY):
        call.refuse("the processor does not rotate queries and keys")
    hidden, out = hidden_sizes(call, projection(call, features), heads)
    call.filled((hidden, out), "the heads must have a width")
    width = floor_divide(out, heads)
    before: Dim = 0
    cache = known_shape(call, past, "past")
    if cache is not None:
        expect(call, past, "past", (2, batch, heads, None, floor_divide(hidden, heads)))
        before = cache[3]
    elif call.has(past):
        before = call.fresh("past", "the number of earlier positions")
    total = add(before, length)
    if call.integer("past_present_share_buffer"):
        call.note("not checked: the fill level of the cache")
        total = before
    _check_mask(call, mask, batch, length, total)
    dtype = call.dtype(2) or call.dtype()
    outputs = [Value((batch, length, out), dtype), Value((2, batch, heads, total, width), dtype)]
    return outputs, (batch, heads, length, total)


def head_count(call: NodeCall) -> int:
    """Return the number of heads."""
    heads = call.integer("num_heads")
    call.refuse_if(heads <= 0, "the attribute num_heads must be positive")
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
    sizes = call.integers("qkv_hidden_sizes")
    if sizes:
        # "qkv_hidden_sizes first element should be same as the second": scores multiply queries by keys.
        if len(sizes) != 3 or sizes[0] != sizes[1] or any(n % heads for n in sizes):
            call.refuse("qkv_hidden_sizes must be three multiples of num_heads, the first two equal")
        call.equal(columns, sum(sizes), "the columns of the weights must be those of Q, K and V")
        return sizes[1], sizes[2]
    hidden = equal_hidden_size(call, columns, heads)
    return hidden, hidden


def _check_mask(call: NodeCall, position: int, batch: Dim, length: Dim, total: Dim) -> None:
    """Require that a mask have one of the shapes allowed for it."""
    mask = known_shape(call, position, "the mask")
    if mask is None or len(mask) != 4:
        # By the document vectors are indices, and a mask is (batch, total) or (batch, length, total); 1.32 also takes
        # (batch, 1) and (1, 1).
        vectors: list[Dims] = [(batch,), (multiply(2, batch),), (add(multiply(3, batch), 2),)]
        allowed = [*vectors, (batch, total), (batch, 1), (1, 1), (batch, length, total)]
        expect_one_of(call, "the mask", mask, allowed, "the mask must fit the batch and the length")
        return
    call.refuse_if(call.integer("unidirectional"), "a mask of four axes cannot be used where attention is causal")
    call.note(_DEVICES)
    square = all_of([equal(mask[0], batch), equal(mask[1], 1), equal(mask[2], mask[3]), at_most(total, mask[2])])
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
    # Its type may be one of three, and nothing chooses: "type inference failed, inferred types: index=3".
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
    output = Value((batch, length, out), call.dtype())
    if call.has(9):
        call.note("not checked: the shape of cache_indirection")
    return output, *(Value((*dims[:2], cached, dims[3]), call.dtype()) for dims in (keys, values))


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
    filled = call.element(position)
    if not is_size(filled):
        call.at_most(1, room, "the cache must have a place")
        call.at_most(added, room, "the cache must have room for what is added")
        call.note_data("the numbers in past_sequence_length, which are data, must leave room in the cache", position)
        return call.fresh("past", "what past_sequence_length holds", by=[position])
    call.is_size(filled, "past_sequence_length must not be negative")
    call.at_most(add(filled, 1), room, "past_sequence_length must be below the length of the cache")
    call.at_most(add(filled, added), room, "the cache must have room for what is added")
    return filled


def _keys_and_values(call: NodeCall, query: Dims, queries: Dims) -> tuple[Dims, Dims]:
    """Return keys and values as (batch, heads, length, width), and require that they fit."""
    batch, heads, _, width = queries
    if not call.has(1):
        call.refuse_if(len(query) != 5, "without keys, the query must hold queries, keys and values, in five axes")
        call.note(_DEVICES)
        return queries, queries
    call.refuse_if(len(query) != 3, "with keys, the query must have three axes")
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
    call.refuse_if(heads <= 0 or key_heads <= 0 or heads % key_heads, "num_heads must be a multiple of kv_num_heads")
    # Without keys, keys and values follow the queries in one tensor.
    width = head_width(call, hidden, heads if call.has(1) else heads + 2 * key_heads, "the query")
    # "head_size must be a multiple of 8. Got head_size % 8 == 4" (1.32, on the processor too).
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
    total = call.element(6)
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
    # A cache of fixed length holds all keys; one that grows has what was there and what is added, no more and no less.
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
def contrib_rotary_embedding(call: NodeCall) -> Value:
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
    start = call.element(1)
    if not is_size(start):
        call.note_data("the numbers in position_ids, which are data, must leave room for the sequence", 1)
        return
    call.is_size(start, "position_ids must not be negative")
    # The first position alone is given: 3 with two tokens needs angles for 3 and 4 ("exceeds cos/sin cache range").
    call.at_most(add(start, length), room, "the caches must have angles for all positions")


def check_angles(call: NodeCall, dims: Dims, angles: Dim) -> None:
    """Require an angle for each pair of numbers that is rotated."""
    heads, turned = call.integer("num_heads"), call.integer("rotary_embedding_dim")
    reason = "the width of cos_cache must be half of the rotated width"
    call.refuse_if(heads < 0 or turned < 0, "num_heads and rotary_embedding_dim must not be below 0")
    call.refuse_if(turned and not heads, "with rotary_embedding_dim, num_heads must be given")
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


# ONNX Runtime's attention for one token at a time, without padding, or with sparse patterns.


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


DECODER_BUFFER = RuntimeDifference(
    "DecoderMaskedMultiHeadAttention", "needs caches that are updated in place, on the processor", "they may grow"
)


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
    cache = Value((batch, heads, total, width), call.dtype(5))
    return Value((batch, 1, wide), call.dtype()), cache, cache, Value((batch, heads, 1, total), call.dtype())


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
    call.refuse_if(any(outputs), "there are no caches to return")
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
    call.refuse_if(key_heads < 1 or heads % key_heads, "num_heads must be a multiple of kv_num_heads")
    # Without keys, keys and values follow the queries in one tensor.
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
    lengths = (*requested_shape(call, 1), *requested_shape(call, 2)) if call.shape(1) and call.shape(2) else None
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


# Attention declared by signatures, and rotary embeddings of two tensors.


_HIDDEN = "@num_heads*D"

declare(
    "LongformerAttention",
    f"(B, S, {_HIDDEN}), ({_HIDDEN}, 3*{_HIDDEN}), (3*{_HIDDEN}), (B, S), ({_HIDDEN}, 3*{_HIDDEN}),"
    f" (3*{_HIDDEN}), (B, S) -> (B, S, {_HIDDEN})",
    domain=MICROSOFT,
    note="not checked: the length must be a multiple of the window",
)
declare(
    "DecoderAttention",
    f"(S, B, {_HIDDEN}), (T, B, {_HIDDEN}), ({_HIDDEN}, {_HIDDEN}), ({_HIDDEN}, 2*{_HIDDEN}), (3*{_HIDDEN}),"
    " *?, (B, @num_heads, P, D)?, (B, @num_heads, P, D)?, number, number, number, number"
    f" -> (S, B, {_HIDDEN}), (B, @num_heads, keys, D), (B, @num_heads, keys, D)",
    domain=MICROSOFT,
    note="not checked: the shapes of the mask and the caches",
)
declare(
    "GemmaRotaryEmbedding",
    "(B, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D) -> (B, N, S, D), (B, N, S, D)",
    "#1",
    domain=MICROSOFT,
)
