"""What is known of how large dimensions are, and quotients that are exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import maximum, minimum, multiply, subtract
from symbcast.algebra.operations import substitute
from symbcast.algebra.terms import Atom, Monomial, Term, constant, term

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


@lru_cache(maxsize=4096)
def exact_quotient(dividend: tuple[Dim, ...], divisor: tuple[Dim, ...]) -> Dim | None:
    """Return what the one product is of the other where it is a polynomial, at all sizes at which no divisor is 0.

    >>> from symbcast.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> exact_quotient((N, M + 1, 6), (M + 1, 2)), exact_quotient((N, 3), (2,)), exact_quotient((N * M + N,), (N,))
    (3*N, None, M + 1)
    """
    above = list(dividend)
    below: list[Dim] = []
    for d in divisor:
        if d in above:
            above.remove(d)
        else:
            below.append(d)
    numerator, denominator = term(multiply(*above)), term(multiply(*below))
    if denominator == constant(1):
        return numerator.dim()
    return _quotient_by_monomial(numerator, denominator)


@lru_cache(maxsize=4096)
def reduced_fraction(dividend: tuple[Dim, ...], divisor: tuple[Dim, ...]) -> tuple[Dim, Dim]:
    """Return two products without what divides both: a number, and factors of every summand; no divisor may be 0.

    The remainder of the one by the other is 0 where that of the reduced ones is, and the quotient is theirs.

    >>> from symbcast.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> reduced_fraction((N, M, 6), (4, N)), reduced_fraction((N * M + N, 2), (N, M))
    ((3*M, 2), (2*M + 2, M))
    """
    above, below = term(multiply(*dividend)), term(multiply(*divisor))
    monomials = [*above.coefficients, *below.coefficients]
    if not above.coefficients or not below.coefficients:
        return above.dim(), below.dim()
    common = Counter(monomials[0])
    for monomial in monomials[1:]:
        common &= Counter(monomial)
    atoms = tuple(common.elements())
    number = gcd(*above.coefficients.values(), *below.coefficients.values())
    return _divided(above, atoms, number), _divided(below, atoms, number)


def _divided(value: Term, atoms: Sequence[Atom], number: int) -> Dim:
    """Return a polynomial divided by atoms and a number, of which all its summands are multiples."""
    return Term({_without(m, atoms) or (): c // number for m, c in value.coefficients.items()}).dim()


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
    return Term(found).dim()


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
        self._shifts: dict[Atom, Term] = {s: s + constant(low) for s, low in least.items() if low}
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
            self._shifts[symbol] = symbol + constant(least)
            self._known.clear()

    def least(self, dim: Dim) -> int | None:
        """Return a lower bound, or None; exact for what is linear without quotients."""
        if isinstance(dim, int):
            return dim
        if dim not in self._known:
            self._known[dim] = substitute(term(dim), self._shifts).lower_bound
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
        return right if self.is_at_most(right, left) else minimum((left, right))

    def larger(self, left: Dim, right: Dim) -> Dim:
        """Return the larger of two dimensions."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        if left == right or self.is_at_most(right, left):
            return left
        return right if self.is_at_most(left, right) else maximum((left, right))


def numbers_of(dims: Sequence[Dim] | None) -> tuple[int, ...] | None:
    """Return dimensions that are numbers, each of them, as such; None where one is not."""
    found = tuple(d for d in dims or () if isinstance(d, int))
    return None if dims is None or len(found) < len(dims) else found
