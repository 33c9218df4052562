"""Concatenate, stack and split tensors along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import equal
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Joined: TypeAlias = "Callable[[Context, Sequence[Dims], int], list[Dim]]"
"""Returns the sizes that all tensors share, except on one axis."""


def concat(context: Context, shapes: Sequence[Dims], axis: int, joined: Joined | None = None) -> Dims:
    """Return the shape of tensors concatenated along an axis; their other sizes must be equal.

    ``joined`` computes these sizes if a runtime does so differently.
    """
    place = context.axis(axis, same_rank(context, shapes))
    dims = (joined or _equal_off_axis)(context, shapes, place)
    dims[place] = add(*(s[place] for s in shapes))
    return tuple(dims)


def same_rank(context: Context, shapes: Sequence[Dims]) -> int:
    """Return the common rank of tensors; refuse different ranks."""
    if not shapes:
        context.refuse("there must be a tensor to concatenate")
    if len({len(s) for s in shapes}) > 1:
        context.refuse(f"tensors of ranks {', '.join(str(len(s)) for s in shapes)} cannot be concatenated")
    return len(shapes[0])


def off_axis_reason(place: int, axis: int, rank: int) -> str:
    """Return why the sizes of unjoined axes must be equal; a negative ``axis`` means stacking on a new axis."""
    if axis < 0:
        return "stacked tensors must have the same shape"
    return f"on axis {place} ({place - rank}), off axis {axis} along which it joins, sizes must be equal"


def _equal_off_axis(context: Context, shapes: Sequence[Dims], axis: int) -> list[Dim]:
    first = shapes[0]
    for n in range(len(first)):
        for other in shapes[1:] if n != axis else ():
            context.equal(other[n], first[n], off_axis_reason(n, axis, len(first)))
    return [next((s[n] for s in shapes if isinstance(s[n], int)), d) for n, d in enumerate(first)]


def stack(context: Context, shapes: Sequence[Dims], axis: int, joined: Joined | None = None) -> Dims:
    """Return the shape of tensors of the same shape, stacked along a new axis; ``joined`` is as in `concat`."""
    place = context.axis(axis, same_rank(context, shapes) + 1)
    dims = (joined or _equal_off_axis)(context, shapes, _NEW)
    return (*dims[:place], len(shapes), *dims[place:])


_NEW = -1
"""Stands for an axis that the tensors do not have."""


def split_evenly(context: Context, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of ``count`` equal parts; nothing may remain."""
    reason = f"the size must be a multiple of {count}, the number of parts"
    context.require(equal(modulo(size, count), 0), reason)
    return [floor_divide(size, count)] * count


def split_as(context: Context, size: Dim, parts: Sequence[Dim]) -> list[Dim]:
    """Return the sizes of parts, which must add up to the whole."""
    for part in parts:
        context.is_size(part, "a part must not be negative")
    context.equal(add(*parts), size, "the parts must add up to the size")
    return list(parts)


def split_rounded_up(context: Context, size: Dim, count: int) -> list[Dim]:
    """Return the sizes of ``count`` parts that are equal, except that the last may be smaller."""
    each = ceil_divide(size, count)
    last = subtract(size, multiply(each, count - 1))
    # If the axis is short, the other parts leave a negative size for the last one.
    context.at_most(0, last, f"the axis must be long enough for {count} parts")
    return [*[each] * (count - 1), last]
