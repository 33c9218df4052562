"""Slices: a part of an axis, from a start to an end, in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, ceil_divide, subtract
from symbcast.operators.context import Context

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


def cut(context: Context, size: Dim, part: tuple[Dim, Dim, int], *, starts_within: bool = False) -> tuple[Dim, Dim]:
    """Return where a part of an axis begins and how long it is.

    Start and end of the part are counted from the front, and clamped as in Python; a negative step goes to the front.
    Where it ``starts_within``, as in ONNX, a start before the axis is its first element, then too.
    """
    start, end, step = part
    low, high = (0, size) if step > 0 else (-1, subtract(size, 1))
    first = _clamped(context, start, 0 if starts_within else low, high)
    last = _clamped(context, end, low, high)
    distance = subtract(last, first) if step > 0 else subtract(first, last)
    return first, context.bounds.larger(ceil_divide(distance, abs(step)), 0)


def from_front(context: Context, size: Dim, place: Dim) -> Dim | None:
    """Return a place counted from the front; None where it is not known whether it is counted from the end."""
    if context.bounds.is_at_least(place, 0):
        return place
    return add(place, size) if context.bounds.is_at_most(place, -1) else None


def _clamped(context: Context, place: Dim, low: Dim, high: Dim) -> Dim:
    """Return a place, or the nearest that is allowed."""
    return context.bounds.smaller(context.bounds.larger(place, low), high)
