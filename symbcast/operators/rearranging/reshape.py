"""Reshapes: the same elements in the same order, in another shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.bounds import exact_quotient, reduced_fraction
from symbcast.core.logic.formulas import at_most, different, equal, negate
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Inferred: TypeAlias = "Callable[[Context, Dims, Sequence[Dim]], Dim]"
"""Returns the size for -1 in the new shape of some data, from the other given sizes."""

SAME_NUMBER = "the number of elements must stay the same"
NO_ZERO = "no size may be 0 next to a -1"


def reshape(context: Context, data: Dims, target: Sequence[Dim | None], inferred: Inferred | None = None) -> Dims:
    """Return the target shape with its None, at most one, inferred; require the same number of elements.

    None stands for -1. No other size may then be 0, because the inferred size would be undetermined. ``inferred``
    computes it if a runtime does so differently.
    """
    given = [d for d in target if d is not None]
    if len(given) < len(target) - 1:
        context.refuse("at most one size may be -1")
    if len(given) < len(target):
        worked_out = (inferred or infer_size)(context, data, given)
        return tuple(worked_out if d is None else d for d in target)
    quotient = exact_quotient(data, tuple(given)) if context.is_positive(given) else None
    if quotient != 1:
        left, right = _without_common(context, data, given)
        context.equal(multiply(*left), multiply(*right), SAME_NUMBER)
    return tuple(given)


def reshape_beside(context: Context, data: Dims, target: Sequence[Dim | None], sequence: Dim) -> Dims:
    """Return the target shape if data and target share a sequence of axes, whose product is unknown.

    To infer a size next to the sequence, its axes must not be 0; nothing else is required of them. If no size is
    inferred, the other sizes must have equal products at all sizes, because it is unknown whether the sequence is
    empty.
    """
    place = target.index(sequence)
    before, beside = data.index(sequence), [*target[:place], *target[place + 1 :]]
    others = (*data[:before], *data[before + 1 :])
    given = [d for d in beside if d is not None]
    if len(given) < len(beside):
        context.require(different(sequence, 0), NO_ZERO)
    elif multiply(*others) != multiply(*given):
        context.refuse("the number of elements must be the same at all sizes, or one size must be -1")
    found = reshape(context, others, beside)
    return (*found[:place], sequence, *found[place:])


def infer_size(context: Context, data: Dims, given: Sequence[Dim]) -> Dim:
    """Return the size for -1 next to the given sizes, which must not be 0."""
    empty = context.empty(given)
    if context.is_known(empty):
        context.refuse(NO_ZERO)
    context.require(negate(empty), NO_ZERO)
    return whole_quotient(context, data, given)


def whole_quotient(context: Context, data: Sequence[Dim], given: Sequence[Dim]) -> Dim:
    """Return the quotient of two products; require that it be an integer. No divisor may be 0."""
    quotient = exact_quotient(tuple(data), tuple(given))
    if quotient is not None:
        return quotient
    above, below = reduced_fraction(tuple(data), tuple(given))
    context.require(equal(modulo(above, below), 0), "the size at -1 must be a whole number")
    return floor_divide(above, below)


def _without_common(context: Context, left: Iterable[Dim], right: Iterable[Dim]) -> tuple[list[Dim], list[Dim]]:
    """Return the factors of two products after removing common factors that are not 0."""
    above, below = list(left), []
    for factor in right:
        if factor in above and context.bounds.is_at_least(factor, 1):
            above.remove(factor)
        else:
            below.append(factor)
    return above, below


def copied(context: Context, data: Dims, axis: int) -> Dim:
    """Return the size that a 0 in the target copies from the data; refuse an axis that the data lack."""
    if axis >= len(data):
        context.refuse(f"a 0 on axis {axis} copies a size, but the data have only rank {len(data)}")
    return data[axis]


def copied_where_zero(context: Context, size: Dim, data: Dims, axis: int) -> Dim:
    """Return a size of the target, or the data's if it is 0: size + (1 - min(size, 1)) * kept."""
    if axis >= len(data):
        context.require(at_most(1, size), "a 0 copies a size from the data, which have no such axis")
        return size
    if data[axis] == size:
        return size
    is_zero = subtract(1, context.bounds.smaller(size, 1))
    return add(size, multiply(is_zero, data[axis]))


def flatten(dims: Dims, start: int, stop: int) -> Dims:
    """Return a shape with the axes from ``start`` to ``stop`` (exclusive) merged into one.

    >>> flatten((2, 3, 4), 1, 3), flatten((2, 3), 0, 0)
    ((2, 12), (1, 2, 3))
    """
    return (*dims[:start], multiply(*dims[start:stop]), *dims[stop:])
