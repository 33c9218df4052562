"""Floats that are computed from sizes, as ratios: which roundings of the float are those of the exact ratio.

``n * 0.8`` is a float near 4n/5. Where 4n/5 is an integer m, the float is m only if the rounding of 0.8 itself is lost:
with a relative error r of the constant, the product is m(1 + r) before it is rounded, and m after it if |r| is at most
2**-54, since half a unit in the last place of m is more than m * 2**-54. Elsewhere 4n/5 is at least 1/5 away from all
integers, much more than the error. So ``int(n * 0.8)`` is ``4*n//5``; but ``int(n * 0.7)`` is 62 at n = 90.
All this holds for ratios whose numerator is below 2**40.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

MAX_DENOMINATOR = 1 << 10
MAX_NUMERATOR = 1 << 40
_MAX_FACTOR = 1 << 20
_LOST = Fraction(1, 1 << 54)
"""The greatest relative error of a factor that rounding the product always removes."""
_NEAR = Fraction(1, 1 << 50)


@dataclass(frozen=True)
class Ratio:
    """A float near ``above / below``.

    Attributes:
        is_exact: whether the float is the ratio.
        is_rounded: whether the float is the nearest one to the ratio.
        floors: whether a positive float is not below the ratio where that is a binary fraction with few bits, so that
            both are rounded down alike.
        ceils: whether it is not above the ratio there, so that both are rounded up alike.
    """

    above: Dim
    below: int
    is_exact: bool = False
    is_rounded: bool = True
    floors: bool = True
    ceils: bool = True

    def __neg__(self) -> Ratio:
        return replace(self, above=multiply(-1, self.above), floors=self.ceils, ceils=self.floors)

    def times(self, factor: float) -> Ratio | None:
        """Return the ratio of the float times a number; None if nothing is known about how it is rounded."""
        if factor < 0:
            found = self.times(-factor)
            return None if found is None else -found
        if not factor or not math.isfinite(factor):
            return None
        exact = Fraction(factor)
        is_power = exact.numerator == 1 or exact.denominator == 1
        if not self.is_exact:
            is_power = is_power and _is_power_of_two(exact.numerator) and _is_power_of_two(exact.denominator)
            return self._scaled(exact) if is_power else None
        if exact.denominator <= MAX_DENOMINATOR and exact.numerator <= _MAX_FACTOR:
            return self._scaled(exact)
        near = exact.limit_denominator(MAX_DENOMINATOR)
        error = exact / near - 1 if near else _NEAR
        if abs(error) >= _NEAR:
            return None
        floors, ceils = error >= -_LOST, error <= _LOST
        return replace(self._scaled(near), is_exact=False, is_rounded=False, floors=floors, ceils=ceils)

    def _scaled(self, factor: Fraction) -> Ratio:
        factor = Fraction(factor.numerator, factor.denominator * self.below)
        return replace(self, above=multiply(self.above, factor.numerator), below=factor.denominator)

    def over(self, divisor: float) -> Ratio | None:
        """Return the ratio of the float divided by a positive number; None if nothing is known about its rounding."""
        exact = Fraction(divisor) if math.isfinite(divisor) else Fraction(0)
        if exact <= 0:
            return None
        if _is_power_of_two(exact.numerator) and _is_power_of_two(exact.denominator):
            return self.times(float(1 / exact))
        if self.is_exact and exact.denominator == 1 and exact.numerator <= _MAX_FACTOR:
            return replace(self._scaled(1 / exact), is_exact=False)
        return None

    def plus(self, other: Ratio) -> Ratio | None:
        """Return the ratio of a sum of two exact ratios; None for others."""
        if not (self.is_exact and other.is_exact):
            return None
        below = max(self.below, other.below)  # both are powers of two
        parts = (multiply(r.above, below // r.below) for r in (self, other))
        return Ratio(add(*parts), below, True)

    def is_certain(self, way: str, is_positive: bool) -> bool:
        """Return whether the float is rounded to the floor, or the ceiling, of the ratio."""
        known = {"floor": self.floors, "ceil": self.ceils}.get(way, False)
        return known and ((self.floors and self.ceils) or is_positive)

    def compares_with(self, other: Ratio) -> bool:
        """Return whether the floats compare as the ratios do."""
        if self.is_rounded and other.is_rounded:
            return True
        return any(a.is_exact and b.floors and b.ceils for a, b in ((self, other), (other, self)))


def ratio_of_number(value: float) -> Ratio | None:
    """Return an integer, or a float with few bits, as a ratio."""
    if not isinstance(value, float):
        return Ratio(int(value), 1, True)
    above, below = value.as_integer_ratio() if math.isfinite(value) else (0, 0)
    return Ratio(above, below, True) if 0 < below <= MAX_DENOMINATOR and abs(above) < MAX_NUMERATOR else None


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0
