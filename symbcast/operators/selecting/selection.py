"""Elements selected by rank, and classes along a new axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def top_k(context: Context, dims: Dims, axis: int, count: Dim) -> Dims:
    """Return the shape of the ``count`` greatest elements along an axis, which must have at least that many."""
    place = context.axis(axis, len(dims))
    context.at_most(count, dims[place], f"the count must be at most the size of axis {place}")
    context.is_size(count, "k must not be negative")
    return (*dims[:place], count, *dims[place + 1 :])


def one_hot(context: Context, dims: Dims, axis: int, depth: Dim, *, least: int = 1) -> Dims:
    """Return the shape with a new axis for at least ``least`` classes."""
    place = context.axis(axis, len(dims) + 1)
    if least:
        context.at_most(least, depth, "there must be at least one class")
    else:
        context.is_size(depth, "the number of classes must not be negative")
    return (*dims[:place], depth, *dims[place:])
