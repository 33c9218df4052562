"""Attention and rotary embeddings, as ONNX itself has them from opset 23 on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.operators.expected_shapes import expect, known_shape
from symbcast.graphs.values.value import Dims, Value
from symbcast.onnx.differences import (
    ATTENTION_EMPTY,
    ATTENTION_HEADS,
    ATTENTION_MASK,
    ATTENTION_SCALE,
    ROTARY_CACHE,
)
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_MASK, _PAST_KEY, _PAST_VALUE, _LENGTHS = 3, 4, 5, 6


class _Operand(NamedTuple):
    """Queries, keys or values: for each of a batch, in some heads, a sequence of vectors."""

    batch: Dim
    heads: Dim
    length: Dim
    width: Dim


@operator("Attention")
def attention(call: NodeCall) -> Sequence[Value]:
    """What each query finds among the keys and values; the keys and values with those before them; the scores."""
    rank = len(call.rank(0, (3, 4), "Q"))
    queries = _operand(call, 0, "Q", "q_num_heads", rank)
    keys = _operand(call, 1, "K", "kv_num_heads", rank)
    values = _operand(call, 2, "V", "kv_num_heads", rank)
    _check_alike(call, queries, keys, values)
    _check_attributes(call)
    if call.has(_PAST_KEY) != call.has(_PAST_VALUE):
        call.refuse("there must be both past_key and past_value, or neither")
    past = known_shape(call, _PAST_KEY, "past_key")
    before: Dim | None = past[2] if past is not None and len(past) == 4 else None if call.has(_PAST_KEY) else 0
    expect(call, _PAST_KEY, "past_key", (queries.batch, keys.heads, before, queries.width))
    expect(call, _PAST_VALUE, "past_value", (queries.batch, keys.heads, before, values.width))
    expect(call, _LENGTHS, "nonpad_kv_seqlen", (queries.batch,))
    if call.has(_LENGTHS):
        call.note("that no number of nonpad_kv_seqlen is above the length was not looked at")
    if before is None:
        before = call.fresh("past", "how many keys there were before")
    total = add(before, keys.length)
    scores = (queries.batch, queries.heads, queries.length, total)
    _check_mask(call, scores)
    found: Dims = (queries.batch, queries.heads, queries.length, values.width)
    if rank == 3:
        found = (queries.batch, queries.length, multiply(queries.heads, values.width))
    return [
        Value(found, call.dtype()),
        Value((queries.batch, keys.heads, total, queries.width), call.dtype(1)),
        Value((queries.batch, keys.heads, total, values.width), call.dtype(2)),
        Value(scores, call.dtype()),
    ]


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


def _operand(call: NodeCall, position: int, name: str, heads: str, rank: int) -> _Operand:
    """Return what an operand holds; of three axes, the heads are an attribute, side by side on the last axis."""
    dims = call.rank(position, (rank,), name)
    count = call.integer(heads)
    if rank == 4:
        if call.version >= 25 and call.attribute(heads) is not None:
            call.refuse(f"{heads} must not be given for operands of four axes")
        if count > 0 or (count < 0 and not call.does(ATTENTION_HEADS)):
            call.equal(dims[1], count, f"axis 1 of {name} must be {count}, the attribute {heads}")
        return _Operand(*dims)
    if count <= 0:
        call.refuse(f"operands of three axes need the attribute {heads}")
    call.require(equal(modulo(dims[2], count), 0), f"the last size of {name} must be a multiple of the {count} heads")
    return _Operand(dims[0], count, dims[1], floor_divide(dims[2], count))


def _check_alike(call: NodeCall, queries: _Operand, keys: _Operand, values: _Operand) -> None:
    for other in (keys, values):
        call.equal(queries.batch, other.batch, "Q, K and V must have one batch")
    call.equal(keys.heads, values.heads, "K and V must have as many heads")
    call.equal(keys.length, values.length, "K and V must be as long")
    call.equal(queries.width, keys.width, "the vectors of Q and K must be as long")
    if queries.heads != keys.heads:
        grouped = equal(modulo(queries.heads, keys.heads), 0)
        call.require(grouped, "the heads of Q must be a multiple of those of K")
    if call.does(ATTENTION_EMPTY):
        for size in (*queries, keys.heads, keys.length, values.width):
            call.at_most(1, size, "ONNX Runtime needs Q, K and V that are not empty")


def _check_mask(call: NodeCall, scores: tuple[Dim, Dim, Dim, Dim]) -> None:
    """Ask that the mask can be broadcast onto the scores; ONNX Runtime does so with the batch and the heads alone."""
    mask = known_shape(call, _MASK, "attn_mask")
    if mask is None:
        return
    if not call.does(ATTENTION_MASK):
        target: Dims = scores
        if call.version >= 24 and mask:
            call.at_most(mask[-1], scores[-1], "attn_mask must not be longer than the keys")
            mask, target = (*mask[:-1], 1), (*scores[:-1], 1)
        call.broadcast(mask, target, rule="unidirectional")
        return
    if not 2 <= len(mask) <= 4:
        call.refuse("attn_mask must have from two to four axes")
    expect(call, _MASK, "attn_mask", (*(None for _ in mask[:-2]), scores[2], scores[3]))
    for size, whole in zip(mask[-3::-1], scores[1::-1], strict=False):
        call.require(any_of([equal(size, 1), equal(size, whole)]), "attn_mask must fit the batch and the heads")


@operator("RotaryEmbedding")
def rotary_embedding(call: NodeCall) -> Value:
    """The vectors turned by angles, which lie in caches: for each position, or for each place in the input."""
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
    """Ask that the caches have positions; ONNX Runtime wants as many as there are places in the input."""
    call.note(
        "that the numbers of position_ids, which are data, are in the caches was not looked at", is_about_data=True
    )
    if held is None:
        return
    if call.does(ROTARY_CACHE):
        call.at_most(places[1], held, "the caches must be as long as the sequence")
    elif not call.bounds.is_at_least(held, 1):
        call.require(any_of([call.empty(places), at_most(1, held)]), "the caches must hold a position")


def _head_width(call: NodeCall, dims: Dims) -> tuple[Dim | None, Dim]:
    """Return how many heads there are, and how wide one is."""
    heads = call.integer("num_heads")
    if heads < 0:
        call.refuse("num_heads must not be below 0")
    if len(dims) == 4:
        return dims[1], dims[3]
    if heads <= 0:
        call.refuse("an input of three axes needs the attribute num_heads")
    call.require(equal(modulo(dims[2], heads), 0), f"the last size of X must be a multiple of the {heads} heads")
    return heads, floor_divide(dims[2], heads)
