"""Arithmetic on dimensions, built n-ary so that long text stays cheap, and evaluated only where sympy is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import sympy

from symbcast.dims import Dim, Unknown, broadcast, floordiv, mod, plain

_MAX_COMPARED = 4


def plain_or_int(value: sympy.Basic | Dim) -> Dim:
    """Return an ``int`` for an integer of either kind and the expression itself otherwise."""
    return value if isinstance(value, int) else plain(value)


def add(terms: Sequence[Dim]) -> sympy.Basic | Dim:
    """Return the sum, built in one step: adding one by one is quadratic in sympy."""
    numbers = sum(t for t in terms if isinstance(t, int))
    rest = [t for t in terms if not isinstance(t, int)]
    return sympy.Add(sympy.Integer(numbers), *rest) if rest else numbers


def multiply(factors: Sequence[Dim]) -> sympy.Basic | Dim:
    """Return the product, built in one step."""
    number = math.prod(f for f in factors if isinstance(f, int))
    rest = [f for f in factors if not isinstance(f, int)]
    return sympy.Mul(sympy.Integer(number), *rest) if rest else number


def floor_divide(left: Dim, right: Dim) -> sympy.Basic | Dim:
    """Return ``left // right``; by the number 0 it is left as it is, and has no value."""
    if isinstance(left, int) and isinstance(right, int) and right:
        return left // right
    if _sympy_is_exact(left, right):
        return _floor(sympy.sympify(left) / right)
    inner = _within_floor(left) if isinstance(right, int) and right > 0 else None
    if inner is not None:
        return _floor(inner / right)
    return left if right == 1 else floordiv(left, right)


def _within_floor(value: Dim) -> sympy.Expr | None:
    """Return what a floor, and whole numbers beside it, are the floor of: floor((floor(x) + r)/b) is floor((x + r)/b).

    It is a polynomial, or there is none.
    """
    parts = sympy.Add.make_args(value)
    floors = [part for part in parts if isinstance(part, sympy.floor)]
    rest = [part for part in parts if not isinstance(part, sympy.floor)]
    if len(floors) != 1 or not all(_sympy_is_exact(part, 1) for part in (floors[0].args[0], *rest)):
        return None
    return sympy.Add(floors[0].args[0], *rest)


def _floor(value: sympy.Expr) -> sympy.Expr:
    """Return the floor of a polynomial with rational coefficients, which are no integers all.

    It is what ``sympy.floor`` evaluates to, which takes a millisecond to find what is an integer in it.
    """
    parts = sympy.Add.make_args(value)
    whole = [part for part in parts if part.as_coeff_Mul()[0].is_Integer]
    fraction = sympy.Add(*(part for part in parts if not part.as_coeff_Mul()[0].is_Integer))
    return sympy.Add(*whole, sympy.floor(fraction, evaluate=fraction.is_number))


def modulo(left: Dim, right: Dim) -> sympy.Basic | Dim:
    """Return ``left % right``, with the sign of ``right`` as in Python; by the number 0 it has no value."""
    if isinstance(left, int) and isinstance(right, int) and right:
        return left % right
    if _sympy_is_exact(left, right):
        # Of a symbol nothing is to be found out, though sympy looks for it for two milliseconds.
        evaluate = isinstance(left, int) or not left.is_Symbol or right == 1
        return sympy.Mod(sympy.sympify(left), right, evaluate=evaluate)
    return 0 if right == 1 else mod(left, right)


def _sympy_is_exact(left: Dim, right: Dim) -> bool:
    """Return whether sympy may evaluate a division: only of a polynomial by a positive number.

    Beyond that sympy 1.14 is wrong: it takes an even size over 6 for an integer, so Mod(Max(2*N, 4), 6) is 0 and
    floor of it a fraction; it squares the inner Mod of M*(N % 4) % 3; and Mod(-N, 2*N) is -N. By a symbol it
    cancels: N*M//M would be N, and no longer ask that M be other than 0.
    """
    if not isinstance(right, int) or right <= 0:
        return False
    if isinstance(left, int):
        return True
    return not left.has(sympy.Function, sympy.Mod, sympy.Max, sympy.Min) and not any(
        s.is_even or s.is_odd for s in left.free_symbols
    )


def extremum(
    function: type[sympy.Expr], fold: Callable[[Iterable[int]], int]
) -> Callable[[Sequence[Dim]], sympy.Basic | Dim]:
    """Return a builder for ``min`` or ``max``."""

    def build(members: Sequence[Dim]) -> sympy.Basic | Dim:
        flat = [plain_or_int(a) for m in members for a in (m.args if isinstance(m, function) else (m,))]
        numbers = [m for m in flat if isinstance(m, int)]
        symbolic = [m for m in flat if not isinstance(m, int)]
        distinct = list(dict.fromkeys(symbolic + ([fold(numbers)] if numbers else [])))
        if len(distinct) == 1:
            return distinct[0]
        # sympy compares every member with every other (seconds for a long list), and in factoring `min` out of
        # `max` it leaves Max(2, 3) as such.
        # It cannot compare what has no value, such as 7 // 0, at all.
        hard = (sympy.Min, sympy.Max, floordiv, mod, broadcast)
        evaluate = len(distinct) <= _MAX_COMPARED and not any(sympy.sympify(m).has(*hard) for m in distinct)
        return function(*map(sympy.sympify, distinct), evaluate=evaluate)

    return build


FUNCTIONS: dict[str, Callable[[Sequence[Dim]], sympy.Basic | Dim]] = {
    "min": extremum(sympy.Min, min),
    "max": extremum(sympy.Max, max),
    "broadcast": lambda members: broadcast(*map(sympy.sympify, members)),
}


def substitute(dim: Dim, replaced: Mapping[Unknown, Unknown]) -> Dim:
    """Return the dimension with its unknowns exchanged, and what was left unevaluated left so."""
    if isinstance(dim, Unknown):
        return replaced[dim]
    if isinstance(dim, int) or not dim.has(Unknown):
        return dim
    arguments = [sympy.sympify(substitute(a, replaced)) for a in dim.args]
    if isinstance(dim, (sympy.Max, sympy.Min)):
        unevaluated: sympy.Expr = dim.func(*arguments, evaluate=False)
        return unevaluated
    return plain(dim.func(*arguments))
