"""Dimensions as seen in sympy: its symbols, and the functions that sympy lacks.

Nothing is decided here; `symbcast.core.algebra.sympy_conversion` reads and writes expressions made of these.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, ClassVar, TypeAlias

import sympy
from sympy.core.sorting import default_sort_key
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.stringpict import prettyForm

from symbcast.core.advice import with_advice
from symbcast.core.algebra import symbols
from symbcast.core.algebra.symbols import name_text
from symbcast.core.characters import name_latex
from symbcast.errors import DimensionError, ShapeTypeError

SympyDim: TypeAlias = int | sympy.Expr


@with_advice
def symbol(name: str) -> sympy.Symbol:
    """Return the size called ``name``: one sympy symbol, a non-negative integer.

    >>> symbol("N") == symbol("N"), symbol("N").is_nonnegative
    (True, True)
    """
    return size_symbol(check_name(name))


def size_symbol(name: str) -> sympy.Symbol:
    """Return the symbol of a size: sympy's own, which prints in quotes if the grammar needs them."""
    size: sympy.Symbol = (sympy.Symbol if name_text(name) == name else QuotedSymbol)(
        name, integer=True, nonnegative=True
    )
    return size


# Numbers, several names, and terms. Any other text is a name, as symbols of sympy have.
_EXPRESSION = re.compile(r"\d\w*|\w+(\s*,\s*\w+)+|[\w\s]+([-+*/%]+[\w\s]+)+")


def check_name(name: object) -> str:
    """Return a caller's name of a size; raise `ShapeTypeError` or `DimensionError` for a number or an expression."""
    if not isinstance(name, str):
        raise ShapeTypeError(name, "the name of a size", "write text such as 'N'; a number is a size as it is")
    several = re.findall(r"[^\W\d]\w*", name)
    if len(several) > 1 and re.fullmatch(r"\w+(\s*,\s*\w+)+", name.strip()):
        use = f"write {', '.join(several)} = map(symbol, {several!r})"
        raise DimensionError(name, f"has the names of {len(several)} sizes", use)
    if not name or _EXPRESSION.fullmatch(name):
        raise DimensionError(name, "is not the name of a size", "write one such as 'N', and combine symbols: N + 1")
    return name


class Unknown(sympy.Dummy):
    """A size without a name (``?``, ``2..5``): equal only to itself, with inclusive bounds ``lower`` and ``upper``.

    The name is the label it is shown by (``?0``); two unknowns with one label are still two sizes.
    """

    lower: int
    upper: int | None
    within: Any = None
    """What keeps the unknown that it shows as long as it lives itself."""

    def __new__(cls, label: str = "?", lower: int = 0, upper: int | None = None, number: int | None = None) -> Unknown:
        # Dummy's default numbers start at random; our own counter makes runs reproducible.
        fresh = symbols.next_number() if number is None else number
        unknown: Unknown = super().__new__(cls, label, dummy_index=fresh, integer=True, nonnegative=True)
        unknown.lower = lower
        unknown.upper = upper
        return unknown

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.lower, self.upper, self.dummy_index), {}

    def _sympystr(self, printer: Any) -> str:
        return self._label(printer)

    def _latex(self, printer: Any) -> str:
        return name_latex(self._label(printer))

    def _pretty(self, printer: Any) -> Any:
        return prettyForm(self._label(printer))

    def _label(self, printer: Any) -> str:
        """Return the printed name of the unknown: its label, or a free one if another unknown has that label there."""
        number = int(self.dummy_index)
        called: dict[str, int] = printer.__dict__.setdefault("_symbcast_labels", {})
        labels = chain([str(self.name)], symbols.free_labels(()))
        return next(label for label in labels if called.setdefault(label, number) == number)


class QuotedSymbol(sympy.Symbol):
    """A size whose name is no identifier, such as ``batch-size``: printed in quotes, so that text reads back.

    It equals sympy's own symbol with that name, in both directions: Python asks the more special class first.
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, sympy.Symbol) and type(other) in (sympy.Symbol, QuotedSymbol):
            return bool(self._hashable_content() == other._hashable_content())
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = sympy.Symbol.__hash__

    def _eval_subs(self, old: object, new: Any) -> Any:
        return new if self == old else None  # sympy's `subs` compares classes before

    def _sympystr(self, printer: Any) -> str:
        return name_text(self.name)


QuotedSymbol.__name__ = "Symbol"  # sympy hashes and orders by the name of the class


class SizeOfAxes(sympy.Symbol):
    """A size or the rank of a sequence of axes. A plain size with the same name is another symbol."""

    within: symbols.Symbol
    """The symbol that it shows."""

    def __new__(cls, within: symbols.Symbol) -> SizeOfAxes:
        size: SizeOfAxes = super().__xnew__(cls, within.name, integer=True, nonnegative=True)
        size.within = within
        return size

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.within,), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        return (*super()._hashable_content(), self.within.atom_key)

    def sort_key(self, order: Any = None) -> Any:
        """Return the key by which sympy orders it among other symbols."""
        key, one = sympy.Symbol.class_key(), sympy.S.One
        return key, (1, (self.name, *map(str, self.within.atom_key))), one.sort_key(), one


# The module whose functions compute values in code that sympy writes.
VALUES = "symbcast.core.algebra.arithmetic"


class Coded:
    """A sympy function whose code in Python calls a function of `VALUES`, for integers and NumPy arrays alike."""

    args: tuple[Any, ...]
    value_function: ClassVar[str]

    def _pythoncode(self, printer: Any) -> str:
        called = printer._module_format(f"{VALUES}.{self.value_function}")
        return f"{called}({', '.join(map(printer._print, self.args))})"

    _numpycode = _mpmathcode = _lambdacode = _pythoncode


class broadcast(Coded, sympy.Function):  # noqa: N801 - prints and parses under this name
    """The join of sizes: the size of an axis on which sizes are broadcast together.

    ``1`` is its identity; it is commutative, associative and idempotent; on two different sizes other than 1 it is
    undefined and raises `DimensionError`. It is not ``max``: 0 joined with 1 gives 0.

    >>> N, M = symbol("N"), symbol("M")
    >>> broadcast(N, 1, M, N)
    broadcast(M, N)
    >>> broadcast(0, 1), broadcast(N, N)
    (0, N)
    >>> broadcast(N, M).subs({N: 1, M: 4})
    4
    """

    is_commutative: ClassVar[bool] = True
    value_function: ClassVar[str] = "size_join"

    @classmethod
    def eval(cls, *args: sympy.Expr) -> sympy.Expr | None:
        members: dict[sympy.Expr, None] = {}
        for arg in args:
            for member in arg.args if isinstance(arg, broadcast) else (arg,):
                if member != 1:
                    members[member] = None
        numbers = [m for m in members if m.is_Integer]
        if len(numbers) > 1:
            return cls._undefined(args, numbers)
        if not members:
            return sympy.Integer(1)
        ordered = sorted(members, key=default_sort_key)
        if len(ordered) == 1:
            return ordered[0]
        if tuple(ordered) != args:
            return cls(*ordered)
        return None

    @classmethod
    def _undefined(cls, args: tuple[sympy.Expr, ...], numbers: list[sympy.Expr]) -> None:
        raise DimensionError(
            f"broadcast({', '.join(map(str, args))})", f"sizes {numbers[0]} and {numbers[1]} differ and neither is 1"
        )

    def _eval_is_integer(self) -> bool | None:
        return True if all(a.is_integer for a in self.args) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if all(a.is_nonnegative for a in self.args) else None

    def _eval_is_positive(self) -> bool | None:
        return True if all(a.is_positive for a in self.args) else None

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return _raised(rf"\operatorname{{broadcast}}\left({', '.join(map(printer._print, self.args))}\right)", exp)

    def _ccode(self, printer: Any) -> str:
        """Return C without a check: where sizes clash, the value is the first one that is not 1."""
        *first, value = map(printer._print, self.args)
        for member in reversed(first):
            value = f"(({member}) == 1 ? ({value}) : ({member}))"
        return str(value)

    def _eval_rewrite_as_Piecewise(self, *args: sympy.Expr, **_: Any) -> sympy.Expr:
        value = args[-1]
        for member in reversed(args[:-1]):
            value = sympy.Piecewise((value, sympy.Eq(member, 1)), (member, True))
        return value

    def _eval_rewrite_as_Max(self, *args: sympy.Expr, **_: Any) -> sympy.Expr:
        # Where the join is defined its members are 1 or one common size: Max is that size unless it is 0,
        # and then Min is 0 (otherwise Min with 1 is 1).
        return sympy.Max(*args) * sympy.Min(1, *args)


class guarded_broadcast(broadcast):  # noqa: N801 - prints as a join, which it is
    """The join as it occurs in a condition, together with the clause that says where it is defined.

    On sizes that clash it stays unevaluated instead of raising, so that the condition can be evaluated there: that
    clause is false.
    """

    is_number: ClassVar[bool] = False  # on integers it remains only if it has no value: see `floordiv`
    value_function: ClassVar[str] = "size_join_or_nan"

    @classmethod
    def _undefined(cls, args: tuple[sympy.Expr, ...], numbers: list[sympy.Expr]) -> None:
        return None


guarded_broadcast.__name__ = "broadcast"


class floordiv(Coded, sympy.Function):  # noqa: N801 - prints and parses under this name
    """The quotient rounded down, by any divisor but 0.

    sympy rewrites nothing in it: see `symbcast.core.algebra.sympy_conversion`.

    >>> floordiv(symbol("N"), symbol("M")).subs({symbol("N"): 7, symbol("M"): 2})
    3
    """

    is_number: ClassVar[bool] = False  # divided by 0 it has no value, and sympy's Max and Min refuse to compare it
    value_function: ClassVar[str] = "size_quotient"

    @classmethod
    def eval(cls, dividend: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr | None:
        return sympy.Integer(int(dividend) // int(divisor)) if _are_integers(dividend, divisor) else None

    def _sympystr(self, printer: Any) -> str:
        left = printer.parenthesize(self.args[0], PRECEDENCE["Mul"], strict=True)
        right = printer.parenthesize(self.args[1], PRECEDENCE["Mul"])
        return f"floor({left}/{right})"  # as sympy shows its own floors

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        dividend, divisor = map(printer._print, self.args)
        return _raised(rf"\left\lfloor{{\frac{{{dividend}}}{{{divisor}}}}}\right\rfloor", exp)

    def _ccode(self, printer: Any) -> str:
        """Return C, which rounds towards 0: one less where a remainder has the other sign than the divisor."""
        a, b = (f"({printer._print(arg)})" for arg in self.args)
        return f"({a} / {b} - ({a} % {b} != 0 && ({a} % {b} < 0) != ({b} < 0)))"

    def _eval_is_integer(self) -> bool:
        return True


class guarded_floordiv(floordiv):  # noqa: N801 - prints as a quotient, which it is
    """The quotient as it occurs in a condition, together with the clause that its divisor is not 0."""

    value_function: ClassVar[str] = "size_quotient_or_nan"


guarded_floordiv.__name__ = "floordiv"


class mod(Coded, sympy.Function):  # noqa: N801 - prints and parses under this name
    """The remainder, with the sign of the divisor, which is not 0; sympy rewrites nothing in it.

    >>> mod(symbol("N"), symbol("M")).subs({symbol("N"): 7, symbol("M"): 4})
    3
    """

    is_number: ClassVar[bool] = False  # see `floordiv`
    value_function: ClassVar[str] = "size_remainder"

    @classmethod
    def eval(cls, dividend: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr | None:
        return sympy.Integer(int(dividend) % int(divisor)) if _are_integers(dividend, divisor) else None

    def _sympystr(self, printer: Any) -> str:
        return f"Mod({', '.join(map(printer.doprint, self.args))})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        # Always in brackets: sympy does not report whether it is within a product.
        dividend, divisor = (printer.parenthesize(a, PRECEDENCE["Func"]) for a in self.args)
        return _raised(rf"\left({dividend} \bmod {divisor}\right)", exp)

    def _ccode(self, printer: Any) -> str:
        a, b = (f"({printer._print(arg)})" for arg in self.args)
        return f"(({a} % {b} + {b}) % {b})"

    def _eval_is_integer(self) -> bool:
        return True


class guarded_mod(mod):  # noqa: N801 - prints as a remainder, which it is
    """The remainder as it occurs in a condition, together with the clause that its divisor is not 0."""

    value_function: ClassVar[str] = "size_remainder_or_nan"


guarded_mod.__name__ = "mod"
# The forms that functions have in conditions.
GUARDED: dict[type[Any], type[Any]] = {broadcast: guarded_broadcast, floordiv: guarded_floordiv, mod: guarded_mod}


def _raised(latex: str, exponent: str | None) -> str:
    return latex if exponent is None else f"{latex}^{{{exponent}}}"


def _are_integers(dividend: sympy.Expr, divisor: sympy.Expr) -> bool:
    return bool(dividend.is_Integer and divisor.is_Integer and divisor != 0)
