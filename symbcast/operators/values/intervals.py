"""Intervals of the integers in a tensor, and of those that an operator computes from unknown elements.

If both ends of an interval are attained, it decides exactly whether all integers lie within another interval. The ends
remain attained under a monotone function of one operand, and if every element of one operand meets every element of the
other. Integers that may overflow the element type wrap around, and have no bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.algebra.bounds import Bounds, numbers_of
from symbcast.core.algebra.terms import Dim
from symbcast.operators.values.contents import (
    BOOL,
    INTEGERS,
    UNSIGNED,
    Bands,
    ConstantNumbers,
    DistinctPlaces,
    Elements,
    IndexRamp,
    Interval,
    RampStack,
    as_represented,
    is_size,
    sizes_of,
)
from symbcast.operators.values.elements import quotient_towards_zero
from symbcast.operators.values.value import Value

if TYPE_CHECKING:
    from symbcast.operators.operator import Dims


UNBOUNDED = Interval(None, None)


def interval_of(value: Value, bounds: Bounds) -> Interval:
    """Return the interval of the elements of a value."""
    content = value.content
    match content:
        case DistinctPlaces():  # what moves or repeats elements may not keep them apart along the axis
            return Interval(*content)
        case Interval():
            return content
        case Bands():
            return union(content.parts, bounds)
        case Elements(items):
            sizes = [item for item in items if is_size(item)]
            if sizes and len(sizes) == len(items):
                return Interval(reduce(bounds.smaller, sizes), reduce(bounds.larger, sizes), is_attained=True)
        case IndexRamp() if value.shape is not None:
            return extent(content, value.shape, bounds)
        case RampStack(parts) if value.shape is not None:
            return union((extent(p, value.shape[:-1], bounds) for p in parts), bounds, is_attained=True)
        case ConstantNumbers() if content.array.size and content.array.dtype.kind in "iu":
            return Interval(int(content.array.min()), int(content.array.max()), is_attained=True)
    if value.dtype == BOOL:
        return Interval(0, 1)
    return Interval(0, None) if value.dtype in UNSIGNED else UNBOUNDED


def extent(ramp: IndexRamp, shape: Dims, bounds: Bounds) -> Interval:
    """Return the least and greatest elements of a ramp over a shape without empty axes."""
    low, high = ramp.start, ramp.start
    for size, stride in zip(shape, ramp.strides, strict=True):
        if stride == 0 or size == 1:
            continue
        reach = multiply(stride, subtract(size, 1))
        if bounds.is_at_least(stride, 0):
            high = add(high, reach)
        elif bounds.is_at_most(stride, 0):
            low = add(low, reach)
        else:  # a stride of unknown sign reaches one way or the other
            low, high = add(low, bounds.smaller(reach, 0)), add(high, bounds.larger(reach, 0))
    return Interval(low, high, is_attained=True)


def union(parts: Iterable[Interval], bounds: Bounds, *, is_attained: bool = False) -> Interval:
    """Return the interval of the elements of several tensors; ``is_attained`` says that none of them is empty."""
    parts = list(parts)
    lows, highs = [p.low for p in parts], [p.high for p in parts]
    low = reduce(bounds.smaller, [n for n in lows if n is not None]) if None not in lows else None
    high = reduce(bounds.larger, [n for n in highs if n is not None]) if None not in highs else None
    return Interval(low, high, is_attained and all(p.is_attained for p in parts))


def some_of(interval: Interval) -> Interval:
    """Return an interval that contains any subset of the elements."""
    # The elements at the ends may be left out, unless all elements are alike.
    return Interval(interval.low, interval.high, is_constant(interval))


def is_constant(interval: Interval) -> bool:
    """Return whether all elements are the same number."""
    return interval.low is not None and interval.low == interval.high


def fitted(interval: Interval, dtype: int, bounds: Bounds) -> Interval:
    """Limit an interval to an element type: it becomes unbounded if the type may not hold all of it."""
    if interval.low is None or interval.high is None or dtype not in INTEGERS:
        return UNBOUNDED
    # An integer that the type does not hold wraps around, to any place between the type's ends.
    ends = [as_represented(interval.low, dtype, bounds), as_represented(interval.high, dtype, bounds)]
    return UNBOUNDED if None in ends else interval


def summed(a: Interval, b: Interval, *, meets: bool) -> Interval:
    """Return the interval of sums; ``meets`` says that each element of one operand meets each element of the other."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return UNBOUNDED
    return Interval(add(a.low, b.low), add(a.high, b.high), _attained(a, b, meets))


def negated(a: Interval) -> Interval:
    """Return an interval with its sign changed."""
    if a.low is None or a.high is None:
        return UNBOUNDED
    return Interval(multiply(-1, a.high), multiply(-1, a.low), a.is_attained)


def multiplied(a: Interval, b: Interval, bounds: Bounds, *, meets: bool) -> Interval:
    """Return the interval of products of two intervals, one of which must be nonnegative or a single number."""
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return UNBOUNDED
    if is_constant(a) or not is_constant(b):
        a, b = b, a
    assert a.low is not None and a.high is not None and b.low is not None and b.high is not None
    if is_constant(b) and isinstance(b.low, int) and b.low < 0:
        return negated(multiplied(a, Interval(-b.low, -b.low, b.is_attained), bounds, meets=meets))
    # The products of the ends are the extremes only where nothing changes sign: -3 to 2 times 1 to 4 begins at -12.
    is_monotone = is_constant(b) or bounds.is_at_least(a.low, 0)
    if not (is_monotone and bounds.is_at_least(b.low, 0)):
        return UNBOUNDED
    return Interval(multiply(a.low, b.low), multiply(a.high, b.high), _attained(a, b, meets))


def divided(a: Interval, b: Interval, bounds: Bounds) -> Interval:
    """Return the interval of quotients by a positive interval, rounded towards zero."""
    if a.low is None or a.high is None or b.low is None or not bounds.is_at_least(b.low, 1):
        return UNBOUNDED
    if is_constant(b):
        low, high = (quotient_towards_zero(bounds, end, b.low) for end in (a.low, a.high))
        return Interval(low, high, a.is_attained)
    # Not attained: the greatest dividend need not meet the least divisor.
    return Interval(0, floor_divide(a.high, b.low)) if bounds.is_at_least(a.low, 0) else UNBOUNDED


def remainder(a: Interval, b: Interval, bounds: Bounds, *, of_dividend: bool) -> Interval:
    """Return the interval of remainders by a positive interval; ``of_dividend`` gives them the dividend's sign."""
    if b.low is None or b.high is None or not bounds.is_at_least(b.low, 1):
        return UNBOUNDED
    greatest = subtract(b.high, 1)
    is_natural = a.low is not None and bounds.is_at_least(a.low, 0)
    if is_natural and a.high is not None:
        if bounds.is_at_most(a.high, subtract(b.low, 1)):  # below every divisor, a dividend is its own remainder
            return a
        greatest = bounds.smaller(a.high, greatest)
    return Interval(multiply(-1, greatest) if of_dividend and not is_natural else 0, greatest)


def smallest(a: Interval, b: Interval, bounds: Bounds, *, meets: bool) -> Interval:
    """Return the interval of elementwise minima: each end is the smaller of the two."""
    ends = [n for n in (a.high, b.high) if n is not None]
    low = None if a.low is None or b.low is None else bounds.smaller(a.low, b.low)
    high = reduce(bounds.smaller, ends) if ends else None
    return Interval(low, high, len(ends) == 2 and low is not None and _attained(a, b, meets))


def largest(a: Interval, b: Interval, bounds: Bounds, *, meets: bool) -> Interval:
    """Return the interval of elementwise maxima: each end is the larger of the two."""
    ends = [n for n in (a.low, b.low) if n is not None]
    high = None if a.high is None or b.high is None else bounds.larger(a.high, b.high)
    low = reduce(bounds.larger, ends) if ends else None
    return Interval(low, high, len(ends) == 2 and high is not None and _attained(a, b, meets))


def magnitude(a: Interval, bounds: Bounds) -> Interval:
    """Return the interval of absolute values."""
    if a.low is None or a.high is None or bounds.is_at_least(a.low, 0):
        return a if a.high is not None else UNBOUNDED
    if bounds.is_at_most(a.high, 0):
        return negated(a)
    # Not attained: elements on both sides of 0 need not be 0.
    return Interval(0, bounds.larger(multiply(-1, a.low), a.high))


def _attained(a: Interval, b: Interval, meets: bool) -> bool:
    # Each element meets one that is the same everywhere, whatever the shapes.
    if is_constant(a) or is_constant(b):
        return (a.is_attained or is_constant(a)) and (b.is_attained or is_constant(b))
    return meets and a.is_attained and b.is_attained


def all_meet(shapes: Sequence[Dims | None]) -> bool:
    """Return whether broadcasting pairs every element of each operand with every element of the others.

    >>> all_meet([(3, 1), (1, 4)]), all_meet([(3, 4), (4,)])
    (True, False)
    """
    if any(s is None for s in shapes):
        return False
    longest = max((len(s) for s in shapes if s is not None), default=0)
    laid_out = [(*[1] * (longest - len(s)), *s) for s in shapes if s is not None]
    # On an axis that two operands have, an element meets only the one at the same index.
    return all(sum(size != 1 for size in sizes) <= 1 for sizes in zip(*laid_out, strict=True))


# Bound the integers that an operator computes if their exact elements are unknown.
#
# Each function returns an `Interval` or `Bands` that contain the elements for all data in the inputs.


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

    Operations have the names of `symbcast.operators.values.elements`; ``Rem`` is a remainder with the dividend's sign.
    """
    parts = [interval_of(v, bounds) for v in values]
    meets = len(values) == 2 and all_meet([v.shape for v in values])
    match name:
        case "Add" | "Sub":
            interval = summed(parts[0], parts[1] if name == "Add" else negated(parts[1]), meets=meets)
        case "Mul":
            interval = multiplied(parts[0], parts[1], bounds, meets=meets)
        case "Neg":
            interval = negated(parts[0])
        case "Abs":
            interval = magnitude(parts[0], bounds)
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
    return fitted(interval, dtype, bounds)


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
