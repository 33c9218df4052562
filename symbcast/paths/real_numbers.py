"""Real numbers that sizes decide: exact ratios, rounded logarithms, and recipes kept until a number is needed."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import FrameType
from typing import Any, ClassVar, Literal, Protocol

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, maximum, multiply, subtract
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import Comparison, Formula, Operator, at_most, equal
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.solver.evaluation import size_at

Recipe = Callable[[Mapping[Symbol, int]], Any]


class SizePath(Protocol):
    """A path, as a size on it sees it."""

    hashes: bool
    is_key: Callable[[FrameType], bool]
    size_class: Callable[..., Any] | None

    @property
    def bounds(self) -> Bounds:
        """Known lower bounds of sizes."""

    def check_current(self) -> None:
        """Raise `UntracedError` if this path is no longer the one that runs."""

    def is_running(self) -> bool:
        """Return whether this path is the one that runs."""

    def is_for_message(self, frame: FrameType) -> bool:
        """Return whether the text that a frame makes is used only in an error or a warning."""

    def ask(self, formula: Formula) -> bool:
        """Return whether a formula holds on this path."""

    def number(self, dim: Dim) -> int:
        """Return the number that a dimension has on this path."""

    def shown(self, dim: Dim) -> int:
        """Return a number for a dimension for use in text only, without deciding anything."""

    def values(self, symbols: Iterable[Symbol]) -> dict[Symbol, int]:
        """Return the numbers that symbols stand for, and restrict this path to them."""

    def opaque(
        self, key: Hashable, low: Dim | None, high: Dim | None, origin: tuple[str, Any], *, is_even: bool = False
    ) -> Any:
        """Return an integer that sizes decide, of which only bounds are known; None if it must become a number.

        Equal integers have equal keys; ``origin`` names the function that computed it, and its argument.
        """

    def origin(self, dim: Dim) -> tuple[str, Any]:
        """Return the origin of an opaque integer; empty for other sizes."""

    def sized(self, dim: Dim) -> Any:
        """Return a dimension as a number or size that code can compute with."""


class ArrayHook:
    """The hook for a front end that has arrays.

    Attributes:
        apply: applies a NumPy ufunc to sizes, numbers and arrays; None if no such front end is loaded.
    """

    apply: ClassVar[Callable[..., Any] | None] = None


# Floats that are computed from sizes, as ratios: which roundings of the float are those of the exact ratio.
#
# ``n * 0.8`` is a float near 4n/5. Where 4n/5 is an integer m, the float is m only if the rounding of 0.8 itself is
# lost: with a relative error r of the constant, the product is m(1 + r) before it is rounded, and m after it if |r| is
# at most 2**-54, since half a unit in the last place of m is more than m * 2**-54. Elsewhere 4n/5 is at least 1/5 away
# from all integers, much more than the error. So ``int(n * 0.8)`` is ``4*n//5``; but ``int(n * 0.7)`` is 62 at n = 90.
# All this holds for ratios whose numerator is below 2**40.


MAX_DENOMINATOR = 1 << 10
MAX_NUMERATOR = 1 << 40
_MAX_FACTOR = 1 << 20
# The greatest relative error of a factor that rounding the product always removes.
_LOST = Fraction(1, 1 << 54)
_NEAR = Fraction(1, 1 << 50)


@dataclass(frozen=True)
class FloatRatio:
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

    def __neg__(self) -> FloatRatio:
        return replace(self, above=multiply(-1, self.above), floors=self.ceils, ceils=self.floors)

    def times(self, factor: float) -> FloatRatio | None:
        """Return the ratio of the float times a number; None if nothing is known about how it is rounded."""
        if factor < 0:
            opposite = self.times(-factor)
            return None if opposite is None else -opposite
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

    def _scaled(self, factor: Fraction) -> FloatRatio:
        factor = Fraction(factor.numerator, factor.denominator * self.below)
        return replace(self, above=multiply(self.above, factor.numerator), below=factor.denominator)

    def over(self, divisor: float) -> FloatRatio | None:
        """Return the ratio of the float divided by a positive number; None if nothing is known about its rounding."""
        exact = Fraction(divisor) if math.isfinite(divisor) else Fraction(0)
        if exact <= 0:
            return None
        if _is_power_of_two(exact.numerator) and _is_power_of_two(exact.denominator):
            return self.times(float(1 / exact))
        if self.is_exact and exact.denominator == 1 and exact.numerator <= _MAX_FACTOR:
            return replace(self._scaled(1 / exact), is_exact=False)
        return None

    def plus(self, other: FloatRatio) -> FloatRatio | None:
        """Return the ratio of a sum of two exact ratios; None for others."""
        if not (self.is_exact and other.is_exact):
            return None
        below = max(self.below, other.below)  # both are powers of two
        parts = (multiply(r.above, below // r.below) for r in (self, other))
        return FloatRatio(add(*parts), below, True)

    def is_certain(self, way: str, is_positive: bool) -> bool:
        """Return whether the float is rounded to the floor, or the ceiling, of the ratio."""
        known = {"floor": self.floors, "ceil": self.ceils}.get(way, False)
        return known and ((self.floors and self.ceils) or is_positive)

    def compares_with(self, other: FloatRatio) -> bool:
        """Return whether the floats compare as the ratios do."""
        if self.is_rounded and other.is_rounded:
            return True
        return any(a.is_exact and b.floors and b.ceils for a, b in ((self, other), (other, self)))


def ratio_of_number(value: float) -> FloatRatio | None:
    """Return an integer, or a float with few bits, as a ratio."""
    if not isinstance(value, float):
        return FloatRatio(int(value), 1, True)
    above, below = value.as_integer_ratio() if math.isfinite(value) else (0, 0)
    return FloatRatio(above, below, True) if 0 < below <= MAX_DENOMINATOR and abs(above) < MAX_NUMERATOR else None


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


# Powers of two of rounded logarithms, as code pads arrays to: ``2 ** ceil(log2(n))``, ``1 << n.bit_length()``.


# What Python's and NumPy's functions that round are called here.
ROUNDINGS: dict[str, Literal["floor", "ceil", "trunc", "round"]] = {
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round", "rint": "round",
}  # fmt: skip
# Binary logarithms: of powers of two they are exact. A quotient of two logarithms is not.
_BINARY = (math.log2, "log2")


def power_of_two(path: SizePath, exponent: Any, key: Hashable) -> Any:
    """Return 2 to the power of an integer that is at least 0; None if it must become a number."""
    origin = path.origin(exponent.dim) if hasattr(type(exponent), "dim") else exponent.origin
    about = _about(*origin)
    if about is None:
        return path.opaque(key, 1, None, ("power", exponent))
    n, low, high = about
    if path.ask(at_most(n, 0 if origin[0] == "bits" else 1)):
        return None
    # For a rounded logarithm of n, or its number of bits, the power is about n: it is 1 for the least n, or else even.
    return path.opaque(key, low, high, ("power", exponent), is_even=True)


def _about(way: str, of: Any) -> tuple[Dim, Dim, Dim] | None:
    """Return n of a rounded logarithm or a number of bits, and the bounds of 2 to that power."""
    if way == "bits":  # n < 2**n.bit_length() <= 2*n
        return of, add(of, 1), multiply(2, of)
    if (
        way not in ROUNDINGS
        or getattr(of, "origin", ("",))[0] != "log"
        or not (type(of.key) is tuple and of.key[0] in _BINARY)
    ):
        return None
    n = of.origin[1].dim if hasattr(type(of.origin[1]), "dim") else None
    if n is None:
        return None
    if way == "ceil":
        return n, n, subtract(multiply(2, n), 1)
    return n, add(floor_divide(n, 2), 1), n


_BY_NAME: dict[str, tuple[Operator, bool]] = {
    "__eq__": ("==", False),
    "__ne__": ("!=", False),
    "__le__": ("<=", False),
    "__lt__": ("<", False),
    "__ge__": ("<=", True),
    "__gt__": ("<", True),
}


_WAYS: dict[str, Callable[[Any], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}
# How the negative of a number is rounded if the number is rounded in some way.
_MIRRORED: dict[str, Literal["floor", "ceil", "trunc", "round"]] = {
    "floor": "ceil", "ceil": "floor", "trunc": "trunc", "round": "round",
}  # fmt: skip
_NAMES: dict[Any, str] = {
    **{n: n for n in ("floor", "ceil", "trunc", "rint", "round", "sqrt")},
    **dict.fromkeys(("log", "log2", "log10"), "log"),
}


def _comparison(name: str) -> Any:
    return lambda number, other: number._compare(name, other)


class Real:
    """A number computed from sizes, such as ``n / 3`` or ``math.sqrt(n)``.

    Quotients of sizes, and sizes times numbers, stay ratios, which are rounded and compared as floats are
    (`symbcast.paths.real_numbers`). Any other real is rounded to an integer of which only bounds are known. If its
    value is needed, its sizes become numbers on this path.
    """

    __slots__ = ("key", "origin", "own_zero", "path", "ratio", "recipe", "symbols", "zero_of")
    ndim, shape, size = 0, (), 1

    def __init__(  # noqa: PLR0913, PLR0917 - what is known about a number
        self,
        recipe: Recipe,
        symbols: Iterable[Symbol],
        path: SizePath,
        ratio: FloatRatio | None = None,
        zero_of: Any = None,
        key: Hashable = None,
    ) -> None:
        self.recipe = recipe
        self.symbols = tuple(dict.fromkeys(symbols))
        self.path = path
        self.ratio = ratio
        # A value that is 0 exactly where this number is, if known.
        self.zero_of = zero_of
        # The same as a dimension, for Python's own numbers, where dividing by 0 is an error.
        self.own_zero = None if ratio is None else ratio.above
        # What computes it: reals of a path with equal keys are equal; None if unknown.
        self.key = key
        # The function that computed it, and its argument, if something is known about that.
        self.origin: tuple[str, Any] = ("", None)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def quotient(cls, above: Dim, below: Dim, path: SizePath) -> Real:
        """Return ``above / below``."""
        ratio = FloatRatio(above, 1, True).over(below) if isinstance(below, int) and below > 0 else None
        symbols = symbols_of((above, below))
        return cls(lambda at: size_at(above, at) / size_at(below, at), symbols, path, ratio, None, ("/", above, below))

    @classmethod
    def of(cls, size: Any) -> Real:
        """Return a size as a real number."""
        dim: Dim = size.dim
        ratio = FloatRatio(dim, 1, True)
        return cls(lambda at: float(size_at(dim, at)), symbols_of((dim,)), size.path, ratio, None, dim)

    @classmethod
    def applied(
        cls,
        function: Callable[..., Any],
        values: Iterable[Any],
        path: SizePath,
        zero_of: Any = None,
        name: Hashable = None,
    ) -> Real:
        """Return a function applied to numbers, some of them dependent on sizes.

        ``name`` identifies the function if the function object does not.
        """
        values = tuple(values)
        parts = [part_of(v) for v in values]
        symbols = [s for _, result in parts for s in result]
        recipes = [recipe for recipe, _ in parts]
        key = (name or function, *map(_key_of, values))
        result = cls(lambda at: function(*[recipe(at) for recipe in recipes]), symbols, path, None, zero_of, key)
        if len(values) == 1:
            result.origin = _NAMES.get(name or getattr(function, "__name__", ""), ""), values[0]
        return result

    def __repr__(self) -> str:
        return f"<a number of {', '.join(map(str, self.symbols))}>"

    def _binary(self, function: Callable[..., Any], *values: Any) -> Any:
        if not all(isinstance(v, (int, float, complex)) or hasattr(type(v), "dtype") for v in values):
            return NotImplemented
        if any(getattr(v, "shape", ()) for v in values):
            return NotImplemented
        return Real.applied(function, values, self.path)

    def _quotient(self, function: Callable[..., Any], above: Any, below: Any) -> Any:
        if isinstance(below, (int, float)) and not hasattr(below, "dtype") and below == 0:
            raise ZeroDivisionError("float division by zero")
        # Python's own numbers raise for a division by 0, NumPy's do not.
        is_own = type(above) in (int, float) or (type(above) is Real and above.own_zero is not None)
        if is_own and type(below) is Real and below.own_zero is not None and self.path.ask(equal(below.own_zero, 0)):
            raise ZeroDivisionError("float division by zero")
        quotient = self._binary(function, above, below)
        if function is operator.truediv and type(quotient) is Real:
            quotient.zero_of = above
            if type(above) is Real and above.ratio is not None and type(below) in (int, float):
                quotient.ratio = above.ratio.over(below)
        return quotient

    def __add__(self, other: Any) -> Any:
        return _plus(self._binary(operator.add, self, other), self.ratio, ratio_of(other))

    def __radd__(self, other: Any) -> Any:
        return _plus(self._binary(operator.add, other, self), self.ratio, ratio_of(other))

    def __sub__(self, other: Any) -> Any:
        return _plus(self._binary(operator.sub, self, other), self.ratio, _negated(ratio_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return _plus(self._binary(operator.sub, other, self), _negated(self.ratio), ratio_of(other))

    def __mul__(self, other: Any) -> Any:
        return self._multiplied(self._binary(operator.mul, self, other), other)

    def __rmul__(self, other: Any) -> Any:
        return self._multiplied(self._binary(operator.mul, other, self), other)

    def _multiplied(self, product: Any, other: Any) -> Any:
        """Return a product; if the other factor is a nonzero constant, record that both are 0 at the same sizes."""
        if type(product) is Real and type(other) in (int, float) and other != 0 and math.isfinite(other):
            product.ratio = None if self.ratio is None else self.ratio.times(other)
            product.own_zero = self.own_zero
        return product

    def __truediv__(self, other: Any) -> Any:
        return self._quotient(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._quotient(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._quotient(operator.floordiv, self, other)

    def __mod__(self, other: Any) -> Any:
        return self._quotient(operator.mod, self, other)

    def __pow__(self, other: Any) -> Any:
        is_inverse = type(other) in (int, float) and other < 0 and self.own_zero is not None
        if is_inverse and self.path.ask(equal(self.own_zero, 0)):  # type: ignore[arg-type]
            raise ZeroDivisionError("0.0 cannot be raised to a negative power")
        power, ratio = self._binary(operator.pow, self, other), self.ratio
        is_root = type(power) is Real and type(other) is float and other == 0.5
        if is_root and ratio is not None and ratio.below == 1 and self.path.bounds.is_at_least(ratio.above, 0):
            power.origin = "sqrt", self.path.sized(ratio.above)
        return power

    def __rpow__(self, other: Any) -> Any:
        power = self._binary(operator.pow, other, self)
        if type(power) is Real and type(other) in (int, float) and other == 2:
            power.origin = ("power", self)
        return power

    def __neg__(self) -> Real:
        negative = Real.applied(operator.neg, [self], self.path)
        negative.ratio = _negated(self.ratio)
        return negative

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
        return Real.applied(abs, [self], self.path)

    def _compare(self, name: str, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        if self.zero_of is not None and name in ("__eq__", "__ne__") and type(other) is int and other == 0:
            return getattr(operator, name)(self.zero_of, 0)
        ours, theirs = self.ratio, ratio_of(other)
        if ours is not None and ours.is_exact and type(other) is float and math.isfinite(other):
            # An exact ratio compares with every float as its exact value does.
            theirs = FloatRatio(*other.as_integer_ratio(), True)
        if ours is not None and theirs is not None and ours.compares_with(theirs):
            kind, turned = _BY_NAME[name]
            left, right = multiply(ours.above, theirs.below), multiply(theirs.above, ours.below)
            return self.path.ask(Comparison(kind, right, left) if turned else Comparison(kind, left, right))
        return bool(getattr(operator, name)(self.value(), part_of(other)[0](self.path.values(part_of(other)[1]))))

    __eq__, __ne__, __le__, __lt__, __ge__, __gt__ = map(_comparison, _BY_NAME)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def value(self) -> Any:
        """Return the value, which fixes the sizes in it to numbers on this path."""
        return self.recipe(self.path.values(self.symbols))

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def rounded(self, way: Literal["floor", "ceil", "trunc", "round"]) -> Any:
        """Return the number rounded to an integer: a term, or an integer of which only bounds are known."""
        if self.origin[0] in ROUNDINGS and type(self.origin[1]) is Real:
            return self.origin[1].rounded(ROUNDINGS[self.origin[0]])
        ratio = self.ratio
        if ratio is not None:
            is_positive = self.path.bounds.is_at_least(ratio.above, 0)
            if not is_positive and not ratio.is_certain(way, False):
                if self.path.ask(Comparison("<", ratio.above, 0)):
                    # floor(x) is -ceil(-x).
                    return -(-self).rounded(_MIRRORED[way])
                is_positive = True
            if way == "trunc":
                way = "floor"
            if ratio.is_certain(way, is_positive):
                divide = floor_divide if way == "floor" else ceil_divide
                return self.path.sized(divide(ratio.above, ratio.below))
        name, of = self.origin
        if name in ("log", "sqrt") and hasattr(
            type(of), "dim"
        ):  # as functions of NumPy, which raise no error themselves
            if self.path.ask(Comparison("<", of.dim, 0)):
                raise ValueError("cannot convert float NaN to integer")
            if name == "log" and self.path.ask(equal(of.dim, 0)):
                raise OverflowError("cannot convert float infinity to integer")
        opaque = None
        if self.key is not None and name == "power":
            opaque = power_of_two(self.path, of, ("power", 2, self.key))
        elif self.key is not None:
            opaque = self.path.opaque((way, self.key), *self._bounds(way), (way, self))
        return _WAYS[way](self.value()) if opaque is None else opaque

    def _bounds(self, way: str) -> tuple[Dim | None, Dim | None]:
        """Return bounds of the rounded number."""
        ratio, (name, of) = self.ratio, self.origin
        if ratio is not None:
            low, high = floor_divide(ratio.above, ratio.below), ceil_divide(ratio.above, ratio.below)
            low, high = (low if way != "ceil" else high), (high if way != "floor" else low)
            if not (ratio.floors and ratio.ceils):
                low, high = subtract(low, 1), add(high, 1)
            return maximum((low, 0)), high
        if not hasattr(type(of), "dim") or name not in ("sqrt", "log"):
            return None, None
        return 0, of.dim if name == "sqrt" else subtract(of.dim, 1)  # a logarithm of 0 is an error before

    def __floor__(self) -> Any:
        return self.rounded("floor")

    def __ceil__(self) -> Any:
        return self.rounded("ceil")

    def __trunc__(self) -> Any:
        return self.rounded("trunc")

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value(), digits) if digits is not None else self.rounded("round")

    def round(self, decimals: int = 0, out: None = None) -> Any:
        """Return the number rounded as ``numpy.round`` does: the nearest integer as a real, or its value."""
        import numpy as np

        is_nearest = out is None and type(decimals) is int and decimals == 0
        return np.rint(self) if is_nearest else np.round(self.value(), decimals, out)

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Return the number in another type, as NumPy's numbers do."""
        import numpy as np

        return self.rounded("trunc") if np.dtype(dtype).kind in "iu" else self

    def item(self) -> Real:
        """Return the number."""
        return self

    def __format__(self, spec: str) -> str:
        is_shown = not self.path.is_running() or self.path.is_for_message(sys._getframe(1))
        return repr(self) if is_shown else format(self.value(), spec)

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the number."""
        import numpy as np

        return np.dtype(float)

    @property
    def real(self) -> Real:
        """The number itself."""
        return self

    @property
    def imag(self) -> float:
        """0."""
        return 0.0

    def is_integer(self) -> bool:
        """Return whether the number is an integer."""
        return bool(self.value().is_integer())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NotImplemented if ArrayHook.apply is None else ArrayHook.apply(ufunc, method, *inputs, **options)


def ratio_of(value: Any) -> FloatRatio | None:
    """Return a number as a ratio; None if it is not known as one."""
    if type(value) is Real:
        return value.ratio
    if hasattr(type(value), "dim"):
        return FloatRatio(value.dim, 1, True)
    return ratio_of_number(value) if isinstance(value, (int, float)) else None


def _plus(total: Any, left: FloatRatio | None, right: FloatRatio | None) -> Any:
    if type(total) is Real and left is not None and right is not None:
        total.ratio = left.plus(right)
    return total


def _negated(ratio: FloatRatio | None) -> FloatRatio | None:
    return None if ratio is None else -ratio


def _key_of(value: Any) -> Hashable:
    if type(value) is Real:
        return value.key
    return value.dim if hasattr(type(value), "dim") else (type(value), value)


def part_of(value: Any) -> tuple[Recipe, tuple[Symbol, ...]]:
    """Return the recipe that computes a number from sizes, and the symbols it needs."""
    if type(value) is Real:
        return value.recipe, value.symbols
    if hasattr(type(value), "dim"):
        dim = value.dim
        return (lambda at: size_at(dim, at)), tuple(symbols_of((dim,)))
    return (lambda _: value), ()
