"""Sympy expressions: they are dimensions already, so ``read`` checks them, and ``write`` uses sympy's functions only.

In: integers, symbols, ``+ - *``, integer powers, ``floor``, ``ceiling``, ``Mod``, ``Min`` and ``Max``. Sympy's
assumptions about a symbol (positive, even, odd) are used. A ``Piecewise`` is not read, not even one from `write`,
because it has a value where the join is undefined.

Out: everything. ``broadcast(N, M)`` is a `Piecewise` that is right wherever the join is defined; ``floordiv`` and
``mod`` are written with `floor` where sympy's own division is wrong. Where sympy 1.14 would evaluate that floor wrongly
too (it assumes that half of an even size over 3 is an integer), it is left unevaluated: substitute sizes for all
symbols at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import sympy

from symbcast.adapters.conversion import fold
from symbcast.core.algebra.sympy_conversion import from_sympy, symbol_to_sympy, to_sympy
from symbcast.core.algebra.sympy_functions import broadcast, floordiv, mod
from symbcast.core.algebra.term_arithmetic import operate
from symbcast.core.algebra.terms import Kind, Symbol, term
from symbcast.core.shapes import Shape, ShapeLike, known_rank, shape
from symbcast.errors import DimensionError


def read(value: Iterable[int | sympy.Expr]) -> Shape:
    """Return the shape of some sympy expressions.

    >>> n = sympy.Symbol("n", integer=True, positive=True)
    >>> read([n, sympy.floor((n + 1) / 2), 3])
    Shape('(n, (n + 1)//2, 3)')
    """
    dims = tuple(value)
    for dim in dims:
        if isinstance(dim, sympy.Basic) and dim.has(sympy.Piecewise):
            raise DimensionError(dim, "a Piecewise has a value where the join is undefined", "write broadcast(N, M)")
    return shape(dims)


def write(shape_like: ShapeLike, symbols: Mapping[sympy.Symbol, sympy.Symbol] | None = None) -> tuple[sympy.Expr, ...]:
    """Return a shape as sympy expressions without our own functions; ``symbols`` substitutes other symbols.

    >>> write("N, 3, N % M")
    (N, 3, -M*floor(N/M) + N)
    >>> write("broadcast(N, M)")
    (Piecewise((N, Eq(M, 1)), (M, True)),)
    """
    put_in = symbols or {}

    def leaf(symbol: Symbol) -> sympy.Expr:
        shown = symbol_to_sympy(symbol)
        return put_in.get(shown, shown)

    return tuple(
        fold(term(d), leaf, _operation, _total) for d in known_rank(shape(shape_like), "the sizes of sympy").dims
    )


def _total(parts: Sequence[tuple[int, list[sympy.Expr]]]) -> sympy.Expr:
    return sympy.Add(*(sympy.Mul(number, *factors) for number, factors in parts))


def _operation(kind: Kind, args: list[sympy.Expr]) -> sympy.Expr:
    match kind:
        case "//":
            return _floor(*args)
        case "%":
            return _remainder(*args)
        case "join":
            return _join(args)
        case _:
            return _extremum(sympy.Min if kind == "min" else sympy.Max, args)


def _floor(dividend: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr:
    exact = _exact("//", dividend, divisor)
    if exact is not None:
        return exact
    quotient = dividend / divisor
    return sympy.floor(quotient, evaluate=bool(quotient.is_number))


def _remainder(dividend: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr:
    remainder = _exact("%", dividend, divisor)
    return dividend - divisor * _floor(dividend, divisor) if remainder is None else remainder


def _exact(kind: Literal["//", "%"], dividend: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr | None:
    """Return a division as a sympy expression, or None if sympy would evaluate it wrongly."""
    try:
        dim = operate(kind, (term(from_sympy(dividend)), term(from_sympy(divisor)))).dim()
    except DimensionError:  # it contains a Piecewise for a join
        return None
    written = sympy.sympify(to_sympy(dim))
    return None if written.has(floordiv, mod, broadcast) else written


def _extremum(function: type[sympy.Expr], args: list[sympy.Expr]) -> sympy.Expr:
    # sympy may compare symbols and numbers; its reasoning about a floor or a Piecewise is slow or wrong.
    extremum: sympy.Expr = function(*args, evaluate=all(a.is_Atom for a in args))
    return extremum


def _join(members: list[sympy.Expr]) -> sympy.Expr:
    """Return the first member that is not 1, or 1: the join, wherever it is defined."""
    value: Any = members[-1]
    for member in reversed(members[:-1]):
        value = sympy.Piecewise((value, sympy.Eq(member, 1)), (member, True))
    return value
