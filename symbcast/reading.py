"""Sympy expressions read as terms, and terms written as dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import lcm
from typing import Any

import sympy

from symbcast.arithmetic import FUNCTIONS, floor_divide, modulo
from symbcast.dims import Dim, broadcast, floordiv, guarded_broadcast, join, mod, plain, undefined_join
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.sizes import check_size
from symbcast.terms import (
    Atom,
    Operation,
    Term,
    as_term,
    atom_key,
    collect,
    constant,
    extremum_terms,
    floordiv_terms,
    modulo_terms,
)

MAX_POWER = 16


@lru_cache(maxsize=16384)
def term(dim: Dim) -> Term:
    """Return a dimension as a term.

    Raises `DimensionError` for an expression that is not an integer built from ``+ - * // % min max broadcast``.

    >>> N = sympy.Symbol("N", integer=True)
    >>> term((N + 1) ** 2) == term(N * (N + 2) + 1), term((4 * N + 3) // 2).dim()
    (True, 2*N + 1)
    """
    if isinstance(dim, int):
        return constant(dim)
    return _READERS.get(dim.func, _read_other)(dim)


def _read_power(expr: Any) -> Term:
    base, exponent = expr.args
    if not (exponent.is_Integer and 0 <= exponent <= MAX_POWER):
        raise DimensionError(expr, f"the exponent {exponent} is not an integer from 0 to {MAX_POWER}")
    result = constant(1)
    for _ in range(int(exponent)):
        result = result * term(base)
    return result


def _read_product(expr: Any) -> Term:
    number = expr.args[0]
    if number.is_Rational and not number.is_Integer and expr.is_integer:
        # What sympy takes for a whole number, as half of an even size is: it writes floor(e/2) so.
        return floordiv_terms(term(plain(expr * number.q)), constant(int(number.q)))
    result = constant(1)
    for factor in expr.args:
        result = result * term(plain(factor))
    return result


def _read_floor(expr: Any) -> Term:
    parts = [part.as_coeff_Mul() for part in sympy.Add.make_args(expr.args[0])]
    if all(coefficient.is_Rational and not _divides(rest) for coefficient, rest in parts):
        common = lcm(*(int(coefficient.q) for coefficient, _ in parts))
        numerator = collect((term(plain(rest)), int(coefficient * common)) for coefficient, rest in parts)
        return floordiv_terms(numerator, constant(common))
    numerator, denominator = sympy.fraction(sympy.together(expr.args[0]))
    return floordiv_terms(term(plain(sympy.expand(numerator))), term(plain(denominator)))


def _divides(factor: Any) -> bool:
    """Return whether a product has a factor below a fraction line, or a sum in which there may be one."""
    return any(f.is_Pow or f.is_Add for f in sympy.Mul.make_args(factor))


def _read_mod(expr: Any) -> Term:
    dividend, divisor = expr.args
    return modulo_terms(term(plain(dividend)), term(plain(divisor)))


def _read_join(expr: Any) -> Term:
    members = tuple(sorted({term(plain(a)) for a in expr.args}, key=lambda t: t.key))
    return members[0] if len(members) == 1 else as_term(Operation("join", members))


def _read_other(expr: Any) -> Term:
    if isinstance(expr, sympy.Symbol):
        return as_term(expr)
    if isinstance(expr, sympy.Integer):
        return constant(int(expr))
    hint = "write // for a quotient rounded down" if expr.is_number or expr.is_Pow else ""
    raise DimensionError(expr, f"{expr.func.__name__} is not part of a dimension", hint)


_READERS: dict[Any, Callable[[Any], Term]] = {
    sympy.Add: lambda e: collect((term(plain(a)), 1) for a in e.args),
    sympy.Mul: _read_product,
    sympy.Pow: _read_power,
    sympy.floor: _read_floor,
    sympy.ceiling: lambda e: -_read_floor(sympy.floor(-e.args[0], evaluate=False)),
    sympy.Mod: _read_mod,
    mod: _read_mod,
    floordiv: lambda e: floordiv_terms(*(term(plain(a)) for a in e.args)),
    sympy.Min: lambda e: extremum_terms("min", tuple(term(plain(a)) for a in e.args)),
    sympy.Max: lambda e: extremum_terms("max", tuple(term(plain(a)) for a in e.args)),
    broadcast: _read_join,
    guarded_broadcast: _read_join,
}


@lru_cache(maxsize=16384)
def to_dim(value: Term) -> Dim:
    """Return a term as a dimension; sympy evaluates only what it evaluates rightly."""
    parts = [sympy.Mul(c, *map(_atom_expression, m)) for m, c in value.coefficients.items()]
    return plain(sympy.Add(*parts))


def _atom_expression(atom: Atom) -> sympy.Basic | Dim:
    if not isinstance(atom, Operation):
        return atom
    args = [arg.dim() for arg in atom.args]
    if atom.kind == "//":
        return floor_divide(*args)
    if atom.kind == "%":
        return modulo(*args)
    if atom.kind == "join":
        return undefined_join(args) if sum(isinstance(a, int) for a in args) > 1 else join(args)
    return FUNCTIONS[atom.kind](args)


def check_dim(value: Any) -> Dim:
    """Return a user's sympy object as a dimension, or raise what is wrong with it."""
    if not isinstance(value, sympy.Expr):
        raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")
    if isinstance(value, sympy.Integer):
        return check_size(int(value))
    for symbol in value.free_symbols:
        if symbol.is_prime or symbol.is_composite:
            raise DimensionError(value, f"that {symbol} is prime or composite is not looked at", "leave it out")
        if symbol.is_integer is False or symbol.is_negative or symbol.is_infinite:
            raise DimensionError(value, f"{symbol} is not a non-negative integer", "use symbcast.symbol(name)")
    try:
        term(value)
    except DimensionError as error:
        if error.value is value:
            raise
        raise DimensionError(value, f"in it {error.value} is not allowed: {error.problem}", error.hint) from None
    return value


def symbols_of(dims: Iterable[Dim]) -> tuple[sympy.Symbol, ...]:
    """Return the symbols of some dimensions in order of first appearance."""
    found: dict[sympy.Symbol, None] = {}
    for dim in dims:
        if not isinstance(dim, int):
            found.update({dim: None} if isinstance(dim, sympy.Symbol) else _ordered_symbols(dim))
    return tuple(found)


@lru_cache(maxsize=16384)
def _ordered_symbols(dim: Any) -> dict[sympy.Symbol, None]:
    """Return an expression's symbols in the order of their names: the order sympy keeps is its own."""
    return dict.fromkeys(sorted(dim.free_symbols, key=atom_key))
