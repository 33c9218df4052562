"""Real numbers that depend on sizes: kept as recipes until a number or a truth value is needed."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, maximum, multiply, subtract
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Comparison, equal
from symbcast.core.solver.evaluation.evaluation import size_at
from symbcast.paths.values.asker import Arrays
from symbcast.paths.values.powers import ROUNDINGS, power_of_two
from symbcast.paths.values.ratios import Ratio, ratio_of_number

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Operator
    from symbcast.paths.values.asker import Asker

    Recipe = Callable[[Mapping[Symbol, int]], Any]

_BY_NAME: dict[str, tuple[Operator, bool]] = {
    "__eq__": ("==", False),
    "__ne__": ("!=", False),
    "__le__": ("<=", False),
    "__lt__": ("<", False),
    "__ge__": ("<=", True),
    "__gt__": ("<", True),
}


_WAYS: dict[str, Callable[[Any], int]] = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}
_MIRRORED: dict[str, Literal["floor", "ceil", "trunc", "round"]] = {
    "floor": "ceil", "ceil": "floor", "trunc": "trunc", "round": "round",
}  # fmt: skip
"""How the negative of a number is rounded if the number is rounded in some way."""
_NAMES: dict[Any, str] = {
    **{n: n for n in ("floor", "ceil", "trunc", "rint", "round", "sqrt")},
    **dict.fromkeys(("log", "log2", "log10"), "log"),
}


class Real:
    """A number computed from sizes, such as ``n / 3`` or ``math.sqrt(n)``.

    Quotients of sizes, and sizes times numbers, stay ratios, which are rounded and compared as floats are
    (`symbcast.paths.values.ratios`). Any other real is rounded to an integer of which only bounds are known. If its
    value is needed, its sizes become numbers on this path.
    """

    __slots__ = ("key", "origin", "own_zero", "path", "ratio", "recipe", "symbols", "zero_of")
    ndim, shape, size = 0, (), 1

    def __init__(  # noqa: PLR0913, PLR0917 - what is known about a number
        self,
        recipe: Recipe,
        symbols: Iterable[Symbol],
        path: Asker,
        ratio: Ratio | None = None,
        zero_of: Any = None,
        key: Hashable = None,
    ) -> None:
        self.recipe = recipe
        self.symbols = tuple(dict.fromkeys(symbols))
        self.path = path
        self.ratio = ratio
        self.zero_of = zero_of
        """A value that is 0 exactly where this number is, if known."""
        self.own_zero = None if ratio is None else ratio.above
        """The same as a dimension, for Python's own numbers, where dividing by 0 is an error."""
        self.key = key
        """What computes it: reals of a path with equal keys are equal; None if unknown."""
        self.origin: tuple[str, Any] = ("", None)
        """The function that computed it, and its argument, if something is known about that."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def quotient(cls, above: Dim, below: Dim, path: Asker) -> Real:
        """Return ``above / below``."""
        ratio = Ratio(above, 1, True).over(below) if isinstance(below, int) and below > 0 else None
        symbols = symbols_of((above, below))
        return cls(lambda at: size_at(above, at) / size_at(below, at), symbols, path, ratio, None, ("/", above, below))

    @classmethod
    def of(cls, size: Any) -> Real:
        """Return a size as a real number."""
        dim: Dim = size.dim
        ratio = Ratio(dim, 1, True)
        return cls(lambda at: float(size_at(dim, at)), symbols_of((dim,)), size.path, ratio, None, dim)

    @classmethod
    def applied(
        cls,
        function: Callable[..., Any],
        values: Iterable[Any],
        path: Asker,
        zero_of: Any = None,
        name: Hashable = None,
    ) -> Real:
        """Return a function applied to numbers, some of them dependent on sizes.

        ``name`` identifies the function if the function object does not.
        """
        values = tuple(values)
        parts = [part_of(v) for v in values]
        symbols = [s for _, found in parts for s in found]
        recipes = [recipe for recipe, _ in parts]
        key = (name or function, *map(_key_of, values))
        found = cls(lambda at: function(*[recipe(at) for recipe in recipes]), symbols, path, None, zero_of, key)
        if len(values) == 1:
            found.origin = _NAMES.get(name or getattr(function, "__name__", ""), ""), values[0]
        return found

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
        is_own = type(above) in (int, float) or (type(above) is Real and above.own_zero is not None)
        if is_own and type(below) is Real and below.own_zero is not None and self.path.ask(equal(below.own_zero, 0)):
            raise ZeroDivisionError("float division by zero")
        found = self._binary(function, above, below)
        if function is operator.truediv and type(found) is Real:
            found.zero_of = above
            if type(above) is Real and above.ratio is not None and type(below) in (int, float):
                found.ratio = above.ratio.over(below)
        return found

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

    def _multiplied(self, found: Any, other: Any) -> Any:
        """Return a product; if the other factor is a nonzero constant, record that both are 0 at the same sizes."""
        if type(found) is Real and type(other) in (int, float) and other != 0 and math.isfinite(other):
            found.ratio = None if self.ratio is None else self.ratio.times(other)
            found.own_zero = self.own_zero
        return found

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
        found, ratio = self._binary(operator.pow, self, other), self.ratio
        is_root = type(found) is Real and type(other) is float and other == 0.5
        if is_root and ratio is not None and ratio.below == 1 and self.path.bounds.is_at_least(ratio.above, 0):
            found.origin = "sqrt", self.path.sized(ratio.above)
        return found

    def __rpow__(self, other: Any) -> Any:
        found = self._binary(operator.pow, other, self)
        if type(found) is Real and type(other) in (int, float) and other == 2:
            found.origin = ("power", self)
        return found

    def __neg__(self) -> Real:
        found = Real.applied(operator.neg, [self], self.path)
        found.ratio = _negated(self.ratio)
        return found

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
            theirs = Ratio(*other.as_integer_ratio(), True)
        if ours is not None and theirs is not None and ours.compares_with(theirs):
            kind, turned = _BY_NAME[name]
            left, right = multiply(ours.above, theirs.below), multiply(theirs.above, ours.below)
            return self.path.ask(Comparison(kind, right, left) if turned else Comparison(kind, left, right))
        return bool(getattr(operator, name)(self.value(), part_of(other)[0](self.path.values(part_of(other)[1]))))

    def __eq__(self, other: object) -> Any:
        return self._compare("__eq__", other)

    def __ne__(self, other: object) -> Any:
        return self._compare("__ne__", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("__le__", other)

    def __lt__(self, other: Any) -> Any:
        return self._compare("__lt__", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare("__ge__", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare("__gt__", other)

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
        found = None
        if self.key is not None and name == "power":
            found = power_of_two(self.path, of, ("power", 2, self.key))
        elif self.key is not None:
            found = self.path.opaque((way, self.key), *self._bounds(way), (way, self))
        return _WAYS[way](self.value()) if found is None else found

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
        return NotImplemented if Arrays.apply is None else Arrays.apply(ufunc, method, *inputs, **options)


def ratio_of(value: Any) -> Ratio | None:
    """Return a number as a ratio; None if it is not known as one."""
    if type(value) is Real:
        return value.ratio
    if hasattr(type(value), "dim"):
        return Ratio(value.dim, 1, True)
    return ratio_of_number(value) if isinstance(value, (int, float)) else None


def _plus(found: Any, left: Ratio | None, right: Ratio | None) -> Any:
    if type(found) is Real and left is not None and right is not None:
        found.ratio = left.plus(right)
    return found


def _negated(ratio: Ratio | None) -> Ratio | None:
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
