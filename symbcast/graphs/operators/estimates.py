"""Bound the integers that an operator computes if their exact elements are unknown.

Each function returns an `Interval` or `Bands` that contain the elements for all data in the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import multiply, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.values.contents import Bands, Interval, sizes_of
from symbcast.graphs.values.intervals import (
    UNBOUNDED,
    all_meet,
    divided,
    fitted,
    interval_of,
    largest,
    magnitude,
    multiplied,
    negated,
    remainder,
    smallest,
    some_of,
    summed,
    union,
)
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Value

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Dim

Estimate: TypeAlias = Interval | Bands


def with_estimate(value: Value, estimate: Callable[[], Estimate]) -> Value:
    """Add estimated bounds to a value of integers whose content is unknown; return any other value unchanged."""
    if value.dtype not in INTEGERS or value.shape is None or value.content is not None:
        return value
    content = estimate()
    return value if content == UNBOUNDED else Value(value.shape, value.dtype, content)


# These return the same elements, or some of them.


def cast(value: Value, to: int, bounds: Bounds) -> Estimate:
    """Return the bounds of elements after a cast to another type."""
    if value.dtype == BOOL:
        return interval_of(value, bounds)
    if value.dtype not in INTEGERS:
        return UNBOUNDED
    whole = fitted(interval_of(value, bounds), to, bounds)
    return value.content if isinstance(value.content, Bands) and whole != UNBOUNDED else whole


def transposed(value: Value, order: Sequence[int], bounds: Bounds) -> Estimate:
    """Return the bounds of elements with the axes reordered."""
    content = value.content
    return _on_axis(order.index(content.axis), content) if isinstance(content, Bands) else interval_of(value, bounds)


def with_axes(value: Value, axes: Collection[int], rank: int, bounds: Bounds) -> Estimate:
    """Return the bounds of elements with axes of size 1 inserted, up to a rank."""
    content, new = value.content, {axis % rank for axis in axes}
    if not isinstance(content, Bands):
        return interval_of(value, bounds)
    return _on_axis([axis for axis in range(rank) if axis not in new][content.axis], content)


def without_axes(value: Value, axes: Collection[int], bounds: Bounds) -> Estimate:
    """Return the bounds of elements with axes of size 1 removed."""
    content, rank = value.content, len(value.shape or ())
    if not isinstance(content, Bands) or not axes or len(content.parts) == 1:
        return interval_of(value, bounds)
    return _on_axis(content.axis - len({axis for a in axes if (axis := a % rank) < content.axis}), content)


def _on_axis(axis: int, bands: Bands) -> Bands:
    return Bands(axis, bands.parts)


def cut(value: Value, axis: int, part: slice | None, bounds: Bounds) -> Estimate:
    """Return the bounds of the elements in a slice of an axis; the slice is None if unknown."""
    content = value.content
    if part is not None and isinstance(content, Bands) and axis == content.axis and content.parts[part]:
        return Bands(axis, content.parts[part])
    return some_of(interval_of(value, bounds))


def gathered(data: Value, indices: Value, axis: int, bounds: Bounds) -> Estimate:
    """Return the bounds of slices of data that indices select along an axis."""
    content, rank = data.content, len(indices.shape or ())
    places = numbers_of(sizes_of(indices.content, indices.shape))
    if isinstance(content, Bands) and axis == content.axis and places and rank < 2:
        count = len(content.parts)
        if all(-count <= n < count for n in places):
            parts = tuple(content.parts[n] for n in places)
            return Bands(axis, parts) if rank else parts[0]
    return some_of(interval_of(data, bounds))


def joined(values: Sequence[Value], axis: int, bounds: Bounds) -> Estimate:
    """Return the bounds of the elements of tensors that are concatenated along an axis."""
    parts, shapes = [interval_of(v, bounds) for v in values], [v.shape for v in values]
    if all(s is not None and s[axis] == 1 for s in shapes):
        return Bands(axis, tuple(parts))
    is_full = all(s is not None and all(bounds.is_at_least(d, 1) for d in s) for s in shapes)
    return union(parts, bounds, is_attained=is_full)


# Computed elements.


def elementwise(name: str, values: Sequence[Value], dtype: int, bounds: Bounds) -> Interval:
    """Return the bounds of an elementwise operation on values that are broadcast together.

    Operations have the names of `symbcast.graphs.values.elements`; ``Rem`` is a remainder with the dividend's sign.
    """
    parts = [interval_of(v, bounds) for v in values]
    meets = len(values) == 2 and all_meet([v.shape for v in values])
    match name:
        case "Add" | "Sub":
            found = summed(parts[0], parts[1] if name == "Add" else negated(parts[1]), meets=meets)
        case "Mul":
            found = multiplied(parts[0], parts[1], bounds, meets=meets)
        case "Neg":
            found = negated(parts[0])
        case "Abs":
            found = magnitude(parts[0], bounds)
        case "Div":
            return divided(parts[0], parts[1], bounds)
        case "Mod" | "Rem":
            return remainder(parts[0], parts[1], bounds, of_dividend=name == "Rem")
        case "Max" | "Min":
            return reduce(partial(largest if name == "Max" else smallest, bounds=bounds, meets=meets), parts)
        case "Sign":
            low = parts[0].low
            return Interval(0 if low is not None and bounds.is_at_least(low, 0) else -1, 1)
        case _:
            return UNBOUNDED
    return fitted(found, dtype, bounds)


def chosen(values: Sequence[Value], bounds: Bounds) -> Interval:
    """Return the bounds of elements that are each taken from one of several values."""
    return union([interval_of(v, bounds) for v in values], bounds)


def summed_along(value: Value, axis: int, bounds: Bounds, *, is_exclusive: bool = False) -> Interval:
    """Return the bounds of cumulative sums along an axis; ``is_exclusive`` leaves out the element itself."""
    part, shape = interval_of(value, bounds), value.shape
    if shape is None or part.low is None or part.high is None or not bounds.is_at_least(part.low, 0):
        return UNBOUNDED
    count = subtract(shape[axis], int(is_exclusive))
    return fitted(Interval(0 if is_exclusive else part.low, multiply(count, part.high)), value.dtype, bounds)


def places(size: Dim) -> Interval:
    """Return the bounds of indices along an axis of the given size."""
    return Interval(0, subtract(size, 1))
