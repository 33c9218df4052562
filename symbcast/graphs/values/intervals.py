"""Compute intervals of the integers in a tensor.

If both ends of an interval are attained, it decides exactly whether all integers lie within another interval. The ends
remain attained under a monotone function of one operand, and if every element of one operand meets every element of the
other. Integers that may overflow the element type wrap around, and have no bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.graphs.values.contents import Bands, Elements, Interval, Numbers, Places, Ramp, Stack, is_size
from symbcast.graphs.values.elements import quotient_towards_zero
from symbcast.graphs.values.numbers import BOOL, INTEGERS, UNSIGNED, held

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.graphs.values.value import Value
    from symbcast.operators.context import Dims

UNBOUNDED = Interval(None, None)


def interval_of(value: Value, bounds: Bounds) -> Interval:
    """Return the interval of the elements of a value."""
    content = value.content
    match content:
        case Places():  # what moves or repeats elements may not keep them apart along the axis
            return Interval(*content)
        case Interval():
            return content
        case Bands():
            return union(content.parts, bounds)
        case Elements(items):
            sizes = [item for item in items if is_size(item)]
            if sizes and len(sizes) == len(items):
                return Interval(reduce(bounds.smaller, sizes), reduce(bounds.larger, sizes), is_attained=True)
        case Ramp() if value.shape is not None:
            return extent(content, value.shape, bounds)
        case Stack(parts) if value.shape is not None:
            return union((extent(p, value.shape[:-1], bounds) for p in parts), bounds, is_attained=True)
        case Numbers() if content.array.size and content.array.dtype.kind in "iu":
            return Interval(int(content.array.min()), int(content.array.max()), is_attained=True)
    if value.dtype == BOOL:
        return Interval(0, 1)
    return Interval(0, None) if value.dtype in UNSIGNED else UNBOUNDED


def extent(ramp: Ramp, shape: Dims, bounds: Bounds) -> Interval:
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
        else:
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
    return Interval(interval.low, interval.high, is_constant(interval))


def is_constant(interval: Interval) -> bool:
    """Return whether all elements are the same number."""
    return interval.low is not None and interval.low == interval.high


def fitted(interval: Interval, dtype: int, bounds: Bounds) -> Interval:
    """Limit an interval to an element type: it becomes unbounded if the type may not hold all of it."""
    if interval.low is None or interval.high is None or dtype not in INTEGERS:
        return UNBOUNDED
    ends = [held(interval.low, dtype, bounds), held(interval.high, dtype, bounds)]
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
    return Interval(0, floor_divide(a.high, b.low)) if bounds.is_at_least(a.low, 0) else UNBOUNDED


def remainder(a: Interval, b: Interval, bounds: Bounds, *, of_dividend: bool) -> Interval:
    """Return the interval of remainders by a positive interval; ``of_dividend`` gives them the dividend's sign."""
    if b.low is None or b.high is None or not bounds.is_at_least(b.low, 1):
        return UNBOUNDED
    greatest = subtract(b.high, 1)
    is_natural = a.low is not None and bounds.is_at_least(a.low, 0)
    if is_natural and a.high is not None:
        if bounds.is_at_most(a.high, subtract(b.low, 1)):
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
    return Interval(0, bounds.larger(multiply(-1, a.low), a.high))


def _attained(a: Interval, b: Interval, meets: bool) -> bool:
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
    return all(sum(size != 1 for size in sizes) <= 1 for sizes in zip(*laid_out, strict=True))
