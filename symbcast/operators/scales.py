"""Sizes times scales, rounded down.

The runtime multiplies a size by a scale as 32-bit floats, and drops what is behind the point. Where the scale is the
float next to a short fraction, that is the size times the fraction rounded down: 30 times 0.7 is 21. By the document
it is what the float is, which is a little less than 0.7: 20.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import floor_divide, multiply
from symbcast.core.logic.formulas import Formula, at_most, equal

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

MAX_SCALED = 1 << 14
"""Sizes below it are scaled exactly as the runtime does it."""

_PRECISION = 24


class Scale(NamedTuple):
    """A scale: one dimension over another; ``exact`` is what to multiply by, where rounding cannot show."""

    above: Dim
    below: Dim
    exact: bool

    @property
    def is_one(self) -> Formula:
        """The formula that the size stays as it is."""
        return equal(self.above, self.below)

    @property
    def is_one_or_more(self) -> Formula:
        """The formula that the size does not become smaller."""
        return at_most(self.below, self.above)

    def times(self, size: Dim) -> Dim | None:
        """Return a size times the scale, rounded down; None where floats may round otherwise."""
        return floor_divide(multiply(size, self.above), self.below) if self.exact else None


@lru_cache(maxsize=256)
def exact_scale(number: float) -> Scale:
    """Return a 32-bit float as the number that it is; as the short fraction below it, where that says the same.

    >>> exact_scale(0.30000001192092896), exact_scale(0.699999988079071)
    (Scale(above=3, below=10, exact=True), Scale(above=11744051, below=16777216, exact=True))
    """
    is_float = _as_float(number)
    short, is_exact = _short(is_float)
    found = short if is_exact and is_float >= short else is_float
    return Scale(found.numerator, found.denominator, True)


@lru_cache(maxsize=256)
def rounded_scale(number: float) -> Scale:
    """Return a 32-bit float as the scale that it is where products are rounded as well.

    Let it be ``(1 + d) * p / q``, and the product be rounded by ``1 + e`` more; ``abs(d)`` and ``abs(e)`` are at most
    ``2 ** -24``. As long as ``p * size < 2 ** 23`` neither moves a product with a fraction past an integer. One that
    is an integer by rights is rounded to it, unless it lies below it by more than half of what floats are apart,
    which it cannot where ``d >= -2 ** -25``. A product with a power of two below is no other as a float up to
    ``p * size == 2 ** 24``.

    >>> rounded_scale(0.5), rounded_scale(0.30000001192092896)
    (Scale(above=1, below=2, exact=True), Scale(above=3, below=10, exact=True))
    """
    short, is_exact = _short(_as_float(number))
    return Scale(short.numerator, short.denominator, is_exact)


def _short(is_float: Fraction) -> tuple[Fraction, bool]:
    """Return a short fraction that is rounded to a float, or else the float itself, and whether it may stand for it."""
    short = is_float.limit_denominator(_MAX_DENOMINATOR)
    if not short or _as_float(float(short)) != is_float:
        return is_float, False
    off = is_float / short - 1
    limit = 1 << (_PRECISION - 1 if off else _PRECISION)
    return short, off >= -Fraction(1, 2 << _PRECISION) and short.numerator * MAX_SCALED <= limit


_MAX_DENOMINATOR = 1024


def _as_float(number: float) -> Fraction:
    import numpy as np

    return Fraction(float(np.float32(number)))
