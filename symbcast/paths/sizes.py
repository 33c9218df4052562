"""Sizes that code computes with like ints: arithmetic returns terms, and the path of a size answers comparisons."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from types import FrameType
from typing import Any, TypeGuard

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, modulo, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, Formula, at_most, different, equal
from symbcast.core.algebra.terms import Dim, Term
from symbcast.paths.real_numbers import ArrayHook, Real, SizePath, power_of_two
from symbcast.paths.steps import is_formatting

MAX_EXPONENT = 64
MAX_SHIFT = 63


class SizeAsKeyError(TypeError):
    """A size was used as a key, where different sizes are not followed."""


def _operators(exact: Callable[[Dim, Dim], Dim], plain: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Return the methods for an operator whose left operand, or right operand, is a size."""
    return tuple(
        lambda size, other, is_right=is_right: size._operate(other, exact, plain, is_right=is_right)
        for is_right in (False, True)
    )  # type: ignore[return-value]


def _comparison(relation: Callable[[Any, Any], Formula], name: str) -> Any:
    return lambda size, other: size._compare(other, relation, name)


class Size:
    """An integer that depends on sizes, on one path of a run.

    For ``isinstance`` it is an ``int``. Where an actual number is needed (``range``, ``int``, a list index, a hash),
    the path continues with one number, and other paths take the other numbers.
    """

    __slots__ = ("dim", "path")

    def __init__(self, dim: Term, path: SizePath) -> None:
        self.dim = dim
        self.path = path

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def __repr__(self) -> str:
        return str(self._shown(sys._getframe(1)))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __hash__(self) -> int:
        if self.path.hashes:
            return hash(self._number())
        # Two sizes may be equal whatever their hashes are: the code must have compared the key with all others.
        if not self.path.is_key(sys._getframe(1)):
            raise SizeAsKeyError("unhashable type: a size")
        return hash(self.dim)

    def _of(self, dim: Dim) -> Any:
        return sized(dim, self.path)

    __add__, __radd__ = _operators(add, operator.add)
    __sub__, __rsub__ = _operators(subtract, operator.sub)
    __floordiv__, __rfloordiv__ = _operators(floor_divide, operator.floordiv)
    __mod__, __rmod__ = _operators(modulo, operator.mod)
    __eq__ = _comparison(equal, "__eq__")
    __ne__ = _comparison(different, "__ne__")
    __le__ = _comparison(at_most, "__le__")
    __lt__ = _comparison(lambda a, b: Comparison("<", a, b), "__lt__")
    __ge__ = _comparison(lambda a, b: at_most(b, a), "__ge__")
    __gt__ = _comparison(lambda a, b: Comparison("<", b, a), "__gt__")

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (list, tuple, str, bytes)):
            return other * self.path.number(self.dim)
        return self._operate(other, multiply, operator.mul)

    __rmul__ = __mul__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        if is_whole(other):
            self._no_zero(dim_of(other), "division by zero")
            return Real.quotient(self.dim, dim_of(other), self.path)
        return Real.of(self) / other if isinstance(other, (float, Real)) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if is_whole(other):
            self._no_zero(self.dim, "division by zero")
            return Real.quotient(dim_of(other), self.dim, self.path)
        return other / Real.of(self) if isinstance(other, (float, Real)) else NotImplemented

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None and type(other) is int and 0 <= other <= MAX_EXPONENT:
            return self._of(multiply(*[self.dim] * other))
        if issubclass(type(other), Size) or modulus is not None:
            return pow(self._number(), int(other), modulus)
        return Real.of(self) ** other if isinstance(other, (int, float, Real)) else NotImplemented

    def __rpow__(self, other: Any) -> Any:
        if isinstance(other, (float, Real)):
            return Real.applied(pow, [other, self], self.path)
        return self._power_of(other) if isinstance(other, int) else NotImplemented

    def _power_of(self, base: int) -> Any:
        """Return a power of a number: an integer of which only bounds are known."""
        if base < 2 or not self.path.bounds.is_at_least(self.dim, 0):
            return base ** self._number()
        key = ("power", base, self.dim)
        opaque = power_of_two(self.path, self, key) if base == 2 else self.path.opaque(key, 1, None, ("power", self))
        return base ** self._number() if opaque is None else opaque

    def __neg__(self) -> Any:
        return self._of(multiply(-1, self.dim))

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Any:
        if self.path.bounds.is_at_least(self.dim, 0):
            return self
        return self._of(maximum((self.dim, multiply(-1, self.dim))))

    def __and__(self, other: Any) -> Any:
        # n & (2**k - 1) is n % 2**k for every integer n.
        if type(other) is int and other > 0 and other & (other + 1) == 0:
            return self % (other + 1)
        return self._number() & other

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self._number() | other

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return self._number() ^ other

    __rxor__ = __xor__

    def __lshift__(self, other: Any) -> Any:
        return self * 2**other if type(other) is int and 0 <= other <= MAX_SHIFT else self._number() << other

    def __rlshift__(self, other: int) -> Any:
        # 1 << n is 2**n; any other number needs the size as a number.
        return self._power_of(2) if type(other) is int and other == 1 else other << self._number()

    def __rshift__(self, other: Any) -> Any:
        return self // 2**other if type(other) is int and 0 <= other <= MAX_SHIFT else self._number() >> other

    def __rrshift__(self, other: int) -> Any:
        return other >> self._number()

    def __invert__(self) -> Any:
        return -self - 1

    def __bool__(self) -> bool:
        return self.path.ask(different(self.dim, 0))

    def _number(self) -> int:
        return self.path.number(self.dim)

    def _shown(self, frame: FrameType) -> Dim:
        """Return a size as text: its name if nothing can depend on the text, otherwise its number."""
        return self.dim if not self.path.is_running() or self.path.is_for_message(frame) else self._number()

    def __index__(self) -> int:
        frame = sys._getframe(1)
        # In `"%d" % n` Python asks for the number of a text that perhaps only an error shows.
        is_shown = is_formatting(frame) and self.path.is_for_message(frame)
        return self.path.shown(self.dim) if is_shown else self._number()

    __int__ = __index__

    def __float__(self) -> float:
        return float(self._number())

    def __trunc__(self) -> Size:
        return self

    __floor__ = __ceil__ = conjugate = __trunc__

    def __round__(self, digits: int | None = None) -> Size:
        return self

    def __format__(self, spec: str) -> str:
        shown = self._shown(sys._getframe(1))
        return format(shown, spec) if isinstance(shown, int) else str(shown)

    def __reduce__(self) -> Any:
        raise TypeError("a size cannot be pickled: it exists only during its run")

    def __copy__(self) -> Size:
        return self

    def __deepcopy__(self, memo: Any) -> Size:
        return self

    def bit_length(self) -> Any:
        """Return the bit length: an integer of which only bounds are known."""
        size = -self if self < 0 else self
        if not hasattr(type(size), "dim"):
            return size.bit_length()
        # (-n).bit_length() is n.bit_length(), and it is at most n.
        opaque = self.path.opaque(("bits", size.dim), 0, size.dim, ("bits", size.dim))
        return self._number().bit_length() if opaque is None else opaque

    def is_integer(self) -> bool:
        """Return True."""
        return True

    @property
    def real(self) -> Size:
        """The number itself."""
        return self

    numerator = real

    @property
    def imag(self) -> int:
        """0."""
        return 0

    @property
    def denominator(self) -> int:
        """1."""
        return 1

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NotImplemented if ArrayHook.apply is None else ArrayHook.apply(ufunc, method, *inputs, **options)

    # Inside.

    def _dim_of(self, other: Any) -> Dim:
        """Return an integer or a size of this path as a dimension."""
        if type(other) is not int and issubclass(type(other), Size) and other.path is not self.path:
            self.path.check_current()
            other.path.check_current()
        return dim_of(other)

    def _operate(
        self, other: Any, exact: Callable[[Dim, Dim], Dim], plain: Callable[[Any, Any], Any], *, is_right: bool = False
    ) -> Any:
        """Return an operation on two numbers, of which the size is the left one, or the right one."""
        is_division = exact in (floor_divide, modulo)
        if not is_whole(other):
            is_number = isinstance(other, float if is_division else (float, complex)) or type(other) is Real
            ours = Real.of(self)
            return NotImplemented if not is_number else plain(other, ours) if is_right else plain(ours, other)
        left, right = (self._dim_of(other), self.dim) if is_right else (self.dim, self._dim_of(other))
        if is_division:
            # Only the divisor decides whether Python raises: 0 // n is an error at n = 0 too.
            self._no_zero(right)
        return self._of(exact(left, right))

    def _no_zero(self, divisor: Dim, error: str = "integer division or modulo by zero") -> None:
        if self.path.ask(equal(divisor, 0)):
            raise ZeroDivisionError(error)

    def _compare(self, other: object, relation: Callable[[Dim, Dim], Formula], name: str) -> Any:
        if is_whole(other):
            return self.path.ask(relation(self.dim, self._dim_of(other)))
        if isinstance(other, float) or type(other) is Real:
            return getattr(Real.of(self), name)(other)
        return NotImplemented


def is_whole(value: object) -> TypeGuard[Any]:
    """Return whether a value is an integer, NumPy's included, or a size."""
    kind = type(value)
    # NumPy's integers have __index__; so have its arrays, which are not single integers: these have __len__.
    return kind is Size or issubclass(kind, int) or (hasattr(kind, "__index__") and not hasattr(kind, "__len__"))


def dim_of(value: Any) -> Dim:
    """Return an integer or a size as a dimension."""
    if type(value) is int:
        return value
    return value.dim if issubclass(type(value), Size) else int(value.__index__())


def sized(dim: Dim, path: SizePath) -> Any:
    """Return a dimension as a number, or as a size of the path's size class."""
    return dim if isinstance(dim, int) else (path.size_class or Size)(dim, path)


def smallest(values: list[Any], path: SizePath) -> Any:
    """Return the minimum of sizes and numbers as a term, without deciding which is smallest."""
    return sized(reduce(path.bounds.smaller, map(dim_of, values)), path)


def greatest(values: list[Any], path: SizePath) -> Any:
    """Return the maximum of sizes and numbers as a term, without deciding which is greatest."""
    return sized(reduce(path.bounds.larger, map(dim_of, values)), path)


def lasting_value(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a value in its own structure, with sizes as expressions and ``leaf`` applied to anything else.

    A number that depends on sizes but is not a size becomes the type ``float``.
    """
    if issubclass(type(value), Size):
        from symbcast.core.algebra.sympy_conversion import to_sympy

        return to_sympy(value.dim)
    if type(value) is Real:
        return float
    if type(value) in (tuple, list):
        return type(value)(lasting_value(v, leaf) for v in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(lasting_value(v, leaf) for v in value))
    if isinstance(value, Mapping):
        return {lasting_value(k, leaf): lasting_value(v, leaf) for k, v in value.items()}
    return leaf(value)
