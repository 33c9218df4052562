"""Real numbers that depend on sizes: kept as recipes until a number or a truth value is needed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import ceil_divide, floor_divide, multiply
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Comparison, equal
from symbcast.core.solver.evaluation.evaluation import size_at
from symbcast.paths.values.asker import Arrays

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


MAX_DENOMINATOR = 1 << 10
MAX_NUMERATOR = 1 << 40


class Real:
    """A number computed from sizes, such as ``n / 3`` or ``math.sqrt(n)``.

    A quotient of sizes stays a quotient: it is rounded and compared exactly, as a float is if both sizes are below
    2**53. If the value of any other real is needed, its sizes become numbers on this path.
    """

    __slots__ = ("own_zero", "path", "ratio", "recipe", "symbols", "zero_of")
    ndim, shape, size = 0, (), 1

    def __init__(
        self,
        recipe: Recipe,
        symbols: Iterable[Symbol],
        path: Asker,
        ratio: tuple[Dim, int] | None = None,
        zero_of: Any = None,
    ) -> None:
        self.recipe = recipe
        self.symbols = tuple(dict.fromkeys(symbols))
        self.path = path
        self.ratio = ratio
        self.zero_of = zero_of
        """A value that is 0 exactly where this number is, if known."""
        self.own_zero = None if ratio is None else ratio[0]
        """The same as a dimension, for Python's own numbers, where dividing by 0 is an error."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def quotient(cls, above: Dim, below: Dim, path: Asker) -> Real:
        """Return ``above / below``."""
        ratio = (above, below) if isinstance(below, int) and below > 0 else None
        return cls(lambda at: size_at(above, at) / size_at(below, at), symbols_of((above, below)), path, ratio)

    @classmethod
    def of(cls, size: Any) -> Real:
        """Return a size as a real number."""
        dim: Dim = size.dim
        return cls(lambda at: float(size_at(dim, at)), symbols_of((dim,)), size.path, (dim, 1))

    @classmethod
    def applied(cls, function: Callable[..., Any], values: Iterable[Any], path: Asker, zero_of: Any = None) -> Real:
        """Return a function applied to numbers, some of them dependent on sizes."""
        parts = [part_of(v) for v in values]
        symbols = [s for _, found in parts for s in found]
        recipes = [recipe for recipe, _ in parts]
        return cls(lambda at: function(*[recipe(at) for recipe in recipes]), symbols, path, None, zero_of)

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
        return found

    def __add__(self, other: Any) -> Any:
        return self._binary(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._binary(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._multiplied(self._binary(operator.mul, self, other), other)

    def __rmul__(self, other: Any) -> Any:
        return self._multiplied(self._binary(operator.mul, other, self), other)

    def _multiplied(self, found: Any, other: Any) -> Any:
        """Return a product; if the other factor is a nonzero constant, record that both are 0 at the same sizes."""
        if type(found) is Real and type(other) in (int, float) and other != 0 and math.isfinite(other):
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
        return self._binary(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._binary(operator.pow, other, self)

    def __neg__(self) -> Real:
        return Real.applied(operator.neg, [self], self.path)

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
        return Real.applied(abs, [self], self.path)

    def _compare(self, name: str, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        if self.zero_of is not None and name in ("__eq__", "__ne__") and type(other) is int and other == 0:
            return getattr(operator, name)(self.zero_of, 0)
        theirs = ratio_of(other)
        if self.ratio is not None and theirs is not None:
            kind, turned = _BY_NAME[name]
            (a, b), (c, d) = self.ratio, theirs
            left, right = multiply(a, d), multiply(c, b)
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

    def _rounded(self, exact: Callable[[Dim, Dim], Dim], otherwise: Callable[[Any], int]) -> Any:
        if self.ratio is None:
            return otherwise(self.value())
        return self.path.sized(exact(*self.ratio))

    def __floor__(self) -> Any:
        return self._rounded(floor_divide, math.floor)

    def __ceil__(self) -> Any:
        return self._rounded(ceil_divide, math.ceil)

    def __trunc__(self) -> Any:
        if self.ratio is not None and self.path.bounds.is_at_least(self.ratio[0], 0):
            return self.__floor__()
        return math.trunc(self.value())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value(), digits) if digits is not None else round(self.value())

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


def ratio_of(value: Any) -> tuple[Dim, int] | None:
    """Return a number as a dimension divided by a positive number; None if it is not exactly such a quotient."""
    if type(value) is Real:
        return value.ratio
    if hasattr(type(value), "dim"):
        return value.dim, 1
    if isinstance(value, float):
        # Python rounds a quotient before comparing it. If the other number has few bits, the answer is the same.
        above, below = value.as_integer_ratio() if math.isfinite(value) else (0, 0)
        return (above, below) if 0 < below <= MAX_DENOMINATOR and abs(above) < MAX_NUMERATOR else None
    return int(value), 1


def part_of(value: Any) -> tuple[Recipe, tuple[Symbol, ...]]:
    """Return the recipe that computes a number from sizes, and the symbols it needs."""
    if type(value) is Real:
        return value.recipe, value.symbols
    if hasattr(type(value), "dim"):
        dim = value.dim
        return (lambda at: size_at(dim, at)), tuple(symbols_of((dim,)))
    return (lambda _: value), ()
