"""The same elements with axes inserted, removed, reordered or repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.logic.formulas import equal
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def transpose(context: Context, dims: Dims, order: Sequence[int] | None) -> Dims:
    """Return the sizes with their axes reordered; reversed if no order is given."""
    if order is None:
        return dims[::-1]
    if sorted(order) != list(range(len(dims))):
        context.refuse(f"the order {list(order)} must name each of the {len(dims)} axes once")
    return tuple(dims[n] for n in order)


def squeeze(context: Context, dims: Dims, axes: Iterable[int]) -> Dims:
    """Return the sizes without some axes, which must be 1; an axis may be named twice."""
    places = {context.axis(a, len(dims)) for a in axes}
    for place in sorted(places):
        context.equal(dims[place], 1, f"axis {place} must be 1 to be removed")
    return tuple(d for n, d in enumerate(dims) if n not in places)


def unsqueeze(context: Context, dims: Dims, axes: Sequence[int]) -> Dims:
    """Return the sizes with axes of size 1 inserted, at their positions in the output."""
    found = list(dims)
    for place in new_axes(context, len(dims), axes):
        found.insert(place, 1)
    return tuple(found)


def new_axes(context: Context, rank: int, axes: Sequence[int]) -> list[int]:
    """Return the positions of inserted axes, counted from the front of the output, in order."""
    return sorted(context.distinct_axes(axes, rank + len(axes), "no axis may be inserted twice"))


def expand(context: Context, dims: Dims, target: Dims, *, both_ways: bool = False) -> Dims:
    """Return the target to which the sizes are broadcast; with ``both_ways``, the target is broadcast to them too."""
    if both_ways:
        return context.broadcast(dims, target, rule="bidirectional")
    context.broadcast(dims, target, rule="unidirectional")
    return target


def tile(context: Context, dims: Dims, repeats: Sequence[Dim]) -> Dims:
    """Return the sizes, each multiplied by its axis's number of repeats."""
    if len(repeats) != len(dims):
        context.refuse(f"repeats must have {len(dims)} numbers, one for each axis, but has {len(repeats)}")
    return tuple(multiply(d, n) for d, n in zip(dims, repeats, strict=True))


def depth_to_space(context: Context, dims: Dims, block: int) -> Dims:
    """Return the sizes ``(N, C, H, W)`` with blocks of channels moved into space."""
    n, c, h, w = dims
    context.require(equal(modulo(c, block * block), 0), f"the channels must be a multiple of {block * block}")
    return n, floor_divide(c, block * block), multiply(h, block), multiply(w, block)


def space_to_depth(context: Context, dims: Dims, block: int) -> Dims:
    """Return the sizes ``(N, C, H, W)`` with blocks of space moved into channels."""
    n, c, h, w = dims
    for size, what in ((h, "height"), (w, "width")):
        context.require(equal(modulo(size, block), 0), f"the {what} must be a multiple of {block}")
    return n, multiply(c, block * block), floor_divide(h, block), floor_divide(w, block)
