"""Attention: queries look up keys and retrieve values, in heads; query heads may share key and value heads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add
from symbcast.operators.context import Context, Dims
from symbcast.operators.operands import expect_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Stack: TypeAlias = "Callable[[Context, Dims, Dims, Dims], Dims]"
"""Returns the axes of the output before the last two, for queries, keys and values."""


def broadcast_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Broadcast all axes before the last two."""
    return context.broadcast(query[:-2], key[:-2], value[:-2])


def grouped_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Broadcast the axes before the heads; equal groups of query heads each share a key head and a value head."""
    for shared in dict.fromkeys((key[-3], value[-3])):
        share_heads(context, query[-3], shared)
    return (*context.broadcast(query[:-3], key[:-3], value[:-3]), query[-3])


def equal_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Require equal batches and as many key heads as value heads, each shared by a group of query heads."""
    for other in (key, value):
        context.equal(query[0], other[0], "queries, keys and values must have the same batch")
    context.equal(key[1], value[1], "there must be the same number of heads for keys and values")
    share_heads(context, query[1], key[1])
    return query[:2]


def share_heads(context: Context, heads: Dim, shared: Dim) -> None:
    """Require that each shared head serve the same number of query heads."""
    if heads != shared:
        context.divide(
            heads, shared, "the number of query heads must be a multiple of the number of key and value heads"
        )


def attend(context: Context, query: Dims, key: Dims, value: Dims, stack: Stack = broadcast_stack) -> Dims:
    """Return the shape of ``softmax(query @ key.T) @ value``.

    Queries ``(..., L, E)``, keys ``(..., S, E)`` and values ``(..., S, V)`` give ``(..., L, V)``; ``stack`` computes
    the axes before the last two.
    """
    leading = stack(context, query, key, value)
    context.equal(key[-2], value[-2], "there must be a value for each key")
    context.equal(query[-1], key[-1], "vectors of queries and keys must have the same length")
    return (*leading, query[-2], value[-1])


def head_width(context: Context, size: Dim, heads: Dim, what: str) -> Dim:
    """Return the width of one head, where the heads are joined on one axis."""
    return context.divide(size, heads, f"the last size of {what} must be a multiple of the {heads} heads")


def in_heads(context: Context, dims: Dims, heads: int, what: str) -> Dims:
    """Return ``(batch, length, heads * width)`` as ``(batch, heads, length, width)``."""
    return dims[0], heads, dims[1], head_width(context, dims[2], heads, what)


def cached(context: Context, caches: tuple[Dims | None, Dims | None], key: Dims, value: Dims) -> Dim | None:
    """Return the number of keys in the caches of keys and values; None if unknown.

    A cache ``(batch, heads, past, width)`` must fit the keys or values that are appended to it.
    """
    past_key, past_value = caches
    expect_shape(context, "past_key", past_key, (*key[:2], None, key[3]))
    before = None if past_key is None else past_key[2]
    expect_shape(context, "past_value", past_value, (*value[:2], before, value[3]))
    return before


def present(dims: Dims, before: Dim) -> Dims:
    """Return the shape of a cache with the current keys or values appended to those ``before``."""
    return (*dims[:2], add(before, dims[2]), dims[3])


def check_scores_bias(
    context: Context, what: str, bias: Dims | None, scores: Dims, ranks: Collection[int] = (4,)
) -> None:
    """Require that the last two sizes of a bias fit the scores ``(batch, heads, L, S)``; the others may also be 1."""
    if bias is None:
        return
    if len(bias) not in ranks:
        context.refuse(f"{what} must not have rank {len(bias)}")
    expect_shape(context, what, bias, (*(None for _ in bias[:-2]), *scores[2:]))
    for size, whole in zip(bias[-3::-1], scores[1::-1], strict=False):
        context.one_of(size, (1, whole), f"{what} must fit the batch and the heads")
