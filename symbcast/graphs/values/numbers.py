"""Decide which numbers in shape computations the element types represent exactly.

Sizes are assumed to be small enough that the runtime's results stay well within the limits of its 32-bit integers and
of exact integers in 32-bit floats. Numbers that exceed these limits even at small sizes are treated as unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from symbcast.core.algebra.terms import term
from symbcast.graphs.values.contents import Element, Ratio, is_size

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Dim

BOOL = 9
INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
UNSIGNED = frozenset({2, 4, 12, 13})
FLOAT16, BFLOAT16 = 10, 16
FLOATS = frozenset({1, FLOAT16, 11, BFLOAT16})

_RANGES = {
    2: (0, (1 << 8) - 1),
    3: (-(1 << 7), (1 << 7) - 1),
    4: (0, (1 << 16) - 1),
    5: (-(1 << 15), (1 << 15) - 1),
    6: (-(1 << 31), (1 << 31) - 1),
    7: (-(1 << 63), (1 << 63) - 1),
    12: (0, (1 << 32) - 1),
    13: (0, (1 << 64) - 1),
    1: (-(1 << 24), 1 << 24),
    11: (-(1 << 53), 1 << 53),
    FLOAT16: (-(1 << 11), 1 << 11),
    BFLOAT16: (-(1 << 8), 1 << 8),
}
"""The range in which each type holds all integers."""

_OF_SIZES = 1 << 24
"""Types that hold fewer integers than these are not followed if they contain sizes."""
_MAX_FACTOR = 1 << 20
"""The largest factor by which sizes may be multiplied."""


def held(element: Element, dtype: int, bounds: Bounds) -> Element:
    """Return a number as an element type represents it; None if that may not be exact.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> held(255, 2, Bounds({})), held(256, 2, Bounds({})), held(257, BFLOAT16, Bounds({}))
    (255, None, None)
    """
    if dtype not in _RANGES:
        return element
    low, high = _RANGES[dtype]
    if isinstance(element, int):
        return element if low <= element <= high else None
    if isinstance(element, Ratio):
        above, below = held(element.above, dtype, bounds), held(element.below, dtype, bounds)
        return None if above is None or below is None else element
    if not is_size(element):
        return element
    if high < _OF_SIZES or any(abs(c) > _MAX_FACTOR for c in term(element).coefficients.values()):
        return None
    return element if low < 0 or bounds.is_at_least(element, 0) else None


def range_of(dtype: int) -> tuple[int, int]:
    """Return the least and greatest values of an integer element type.

    >>> range_of(3)
    (-128, 127)
    """
    return _RANGES[dtype]


def is_rounded(number: Ratio) -> bool:
    """Return whether floats round a quotient at some sizes because its divisor is not a power of two."""
    return not is_power_of_two(number.below)


def is_power_of_two(dim: Dim) -> TypeGuard[int]:
    """Return whether a dimension is a number by which floats can be multiplied and divided without rounding."""
    return isinstance(dim, int) and dim != 0 and abs(dim) & (abs(dim) - 1) == 0
