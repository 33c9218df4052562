"""Slices: a part of an axis, from a start to an end, in steps."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply, subtract
from symbcast.operators.context import Context

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def cut(
    context: Context,
    size: Dim,
    part: tuple[Dim, Dim, int],
    *,
    starts_within: bool = False,
    sizes: Collection[Dim] = (),
) -> tuple[Dim, Dim]:
    """Return the start and the length of a part of an axis.

    Start and end are counted from the front, and clamped as in Python; a negative step goes towards the front. With
    ``starts_within``, as in ONNX, a start before the axis means its first element even for a negative step. ``sizes``
    are positions known not to be negative.
    """
    start, end, step = part
    low, high = (0, size) if step > 0 else (-1, subtract(size, 1))
    least = 0 if starts_within else low
    first = context.bounds.smaller(start if start in sizes else context.bounds.larger(start, least), high)
    last = context.bounds.smaller(end if end in sizes else context.bounds.larger(end, low), high)
    count = ceil_divide(subtract(last, first) if step > 0 else subtract(first, last), abs(step))
    # A slice that ends at the end of the axis cannot have a negative length, because its start is within the axis.
    return first, count if last == (high if step > 0 else low) else context.bounds.larger(count, 0)


def length(context: Context, size: Dim, start: Dim, end: Dim, step: Dim = 1) -> Dim:
    """Return the length of a part of an axis, from a nonnegative start to an end, as in Python slices.

    A start past the end of the axis gives an empty part, as does an end before the start; so neither is clamped alone.
    """
    there = subtract(context.bounds.smaller(end, size), start)
    return ceil_divide(context.bounds.larger(there, 0), step)


def from_front(context: Context, size: Dim, place: Dim) -> Dim:
    """Return a position counted from the front; a negative position counts from the end."""
    if context.bounds.is_at_least(place, 0):
        return place
    if context.bounds.is_at_most(place, -1):
        return add(place, size)
    is_negative = context.bounds.smaller(context.bounds.larger(multiply(-1, place), 0), 1)
    return add(place, multiply(size, is_negative))
