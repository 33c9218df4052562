"""Arithmetic on dimensions in normal form: what is equal as a polynomial over symbols and quotients is one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Literal

from symbcast.definedness import lower_bound
from symbcast.dims import join, plain
from symbcast.reading import term
from symbcast.terms import (
    Atom,
    Monomial,
    Operation,
    Term,
    as_term,
    collect,
    constant,
    extremum_terms,
    floordiv_terms,
    modulo_terms,
    substitute,
)

if TYPE_CHECKING:
    from symbcast.dims import Dim


@lru_cache(maxsize=65536)
def _dim(value: Term) -> Dim:
    """Return a term as a dimension; read again, it is that term."""
    return value.constant if value.is_constant else value.dim()


def normal_of(value: Term) -> Dim:
    """Return a term as a dimension in normal form."""
    return _dim(value)


def normal(dim: Dim) -> Dim:
    """Return the normal form of a dimension.

    >>> from symbcast.dims import symbol
    >>> N = symbol("N")
    >>> normal((N + 1) * N - N)
    N**2
    """
    return dim if isinstance(dim, int) or dim.is_Symbol else _dim(term(dim))


@lru_cache(maxsize=65536)
def add(*dims: Dim) -> Dim:
    """Return the sum."""
    if all(isinstance(d, int) for d in dims):
        return sum(dims)
    return _dim(collect([(term(d), 1) for d in dims]))


@lru_cache(maxsize=65536)
def subtract(left: Dim, right: Dim) -> Dim:
    """Return the difference."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    return _dim(term(left) - term(right))


@lru_cache(maxsize=65536)
def multiply(*dims: Dim) -> Dim:
    """Return the product."""
    number = 1
    rest: list[Dim] = []
    for d in dims:
        if isinstance(d, int):
            number *= d
        else:
            rest.append(d)
    if not rest or not number:
        return number
    if len(rest) == 1 and number == 1:
        return normal(rest[0])
    product = term(rest[0]).scaled(number)
    for d in rest[1:]:
        product = product * term(d)
    return _dim(product)


@lru_cache(maxsize=65536)
def floor_divide(left: Dim, right: Dim) -> Dim:
    """Return the quotient rounded down; the divisor is not the number 0."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return _dim(floordiv_terms(term(left), term(right)))


def ceil_divide(left: Dim, right: Dim) -> Dim:
    """Return the quotient rounded up; the divisor is not the number 0."""
    return multiply(-1, floor_divide(multiply(-1, left), right))


@lru_cache(maxsize=65536)
def modulo(left: Dim, right: Dim) -> Dim:
    """Return the remainder, of the divisor's sign, which is not the number 0."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return _dim(modulo_terms(term(left), term(right)))


def joined(dims: Iterable[Dim]) -> Dim:
    """Return the join of dimensions."""
    return join(dims)


def product(dims: Iterable[Dim]) -> Dim:
    """Return the product of dimensions, 1 of none."""
    return multiply(*dims)


@lru_cache(maxsize=65536)
def exact_quotient(dividend: tuple[Dim, ...], divisor: tuple[Dim, ...]) -> Dim | None:
    """Return what the one product is of the other where it is a polynomial, at all sizes at which no divisor is 0.

    >>> from symbcast.dims import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> exact_quotient((N, M + 1, 6), (M + 1, 2)), exact_quotient((N, 3), (2,)), exact_quotient((N * M + N,), (N,))
    (3*N, None, M + 1)
    """
    above = list(map(normal, dividend))
    below: list[Dim] = []
    for d in map(normal, divisor):
        if d in above:
            above.remove(d)
        else:
            below.append(d)
    numerator, denominator = term(multiply(1, *above)), term(multiply(1, *below))
    if denominator == constant(1):
        return _dim(numerator)
    return _quotient_by_monomial(numerator, denominator)


def _quotient_by_monomial(numerator: Term, denominator: Term) -> Dim | None:
    if numerator == denominator:
        return 1
    if len(denominator.coefficients) != 1:
        return _scale(numerator, denominator)
    ((atoms, number),) = denominator.coefficients.items()
    found: dict[Monomial, int] = {}
    for monomial, coefficient in numerator.coefficients.items():
        rest = _without(monomial, atoms)
        if rest is None or coefficient % number:
            return None
        found[rest] = coefficient // number
    return _dim(Term(found))


def _scale(numerator: Term, denominator: Term) -> int | None:
    """Return the integer that one polynomial is of another, if it is one."""
    if numerator.coefficients.keys() != denominator.coefficients.keys():
        return None
    by = gcd(*denominator.coefficients.values())
    number = next(iter(denominator.coefficients))
    scale, rest = divmod(numerator.coefficients[number], denominator.coefficients[number])
    return scale if by and not rest and denominator.scaled(scale) == numerator else None


def _without(monomial: Monomial, atoms: Sequence[Atom]) -> Monomial | None:
    left = list(monomial)
    for atom in atoms:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


class Bounds:
    """What sizes are at least, and at most: the least size of each symbol is given, 0 of others."""

    def __init__(self, least: Mapping[Atom, int]) -> None:
        self._least = dict(least)
        self._shifts: dict[Atom, Term] = {s: as_term(s) + constant(low) for s, low in least.items() if low}
        self._known: dict[Dim, int | None] = {}

    def copy(self) -> Bounds:
        """Return bounds that are as these are now."""
        made = Bounds(self._least)
        made._known = dict(self._known)
        return made

    def learn(self, symbol: Atom, least: int) -> None:
        """Take in the least size of one more symbol."""
        if least > self._least.get(symbol, 0):
            self._least[symbol] = least
            self._shifts[symbol] = as_term(symbol) + constant(least)
            self._known.clear()

    def least(self, dim: Dim) -> int | None:
        """Return a lower bound, or None; exact for what is linear without quotients."""
        if isinstance(dim, int):
            return dim
        if dim not in self._known:
            self._known[dim] = lower_bound(substitute(term(dim), self._shifts))
        return self._known[dim]

    def is_at_least(self, dim: Dim, number: int) -> bool:
        """Return whether a dimension is known to be at least a number."""
        low = self.least(dim)
        return low is not None and low >= number

    def is_at_most(self, left: Dim, right: Dim) -> bool:
        """Return whether one dimension is known never to be above another."""
        return self.is_at_least(subtract(right, left), 0)

    def smaller(self, left: Dim, right: Dim) -> Dim:
        """Return the smaller of two dimensions."""
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        if left == right or self.is_at_most(left, right):
            return left
        return right if self.is_at_most(right, left) else _extremum("min", left, right)

    def larger(self, left: Dim, right: Dim) -> Dim:
        """Return the larger of two dimensions."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        if left == right or self.is_at_most(right, left):
            return left
        return right if self.is_at_most(left, right) else _extremum("max", left, right)


@lru_cache(maxsize=4096)
def _extremum(kind: Literal["min", "max"], left: Dim, right: Dim) -> Dim:
    return _dim(extremum_terms(kind, (term(left), term(right))))


def is_opaque(dim: Dim) -> bool:
    """Return whether a dimension is an expression, neither a number nor one symbol."""
    return not isinstance(dim, int) and not dim.is_Symbol


__all__ = [
    "Bounds",
    "Operation",
    "add",
    "ceil_divide",
    "exact_quotient",
    "floor_divide",
    "is_opaque",
    "joined",
    "modulo",
    "multiply",
    "normal",
    "normal_of",
    "plain",
    "product",
    "subtract",
]
