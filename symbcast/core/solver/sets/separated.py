"""Products of factors in one symbol each, also where they were multiplied out."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.operations import substitute
from symbcast.core.algebra.terms import Atom, Monomial, Term, constant

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_LARGEST_NUMBER = 1024
_MOST_MONOMIALS = 64
_SAMPLES = (24, 12, 7, 5, 3, 2, 1, 100)


class Separated(NamedTuple):
    """A product: its number, and its factors by the one symbol of each."""

    number: int
    factors: dict[Symbol, Term]


def separated(value: Term) -> Separated | None:
    """Return the factors of a product by symbol; None if it is not such a product, or not defined everywhere.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> H, W = symbol("H"), symbol("W")
    >>> separated(2 * (H + 1) * (W * W - W)), separated(H + W)
    (Separated(number=2, factors={H: H + 1, W: W**2 - W}), None)
    """
    if not value.coefficients or len(value.coefficients) > _MOST_MONOMIALS:
        return None
    atoms = dict.fromkeys(atom for monomial in value.coefficients for atom in monomial)
    if any(len(atom.symbols()) != 1 or not atom.is_total for atom in atoms):
        return None
    factors: dict[Symbol, Term] = {}
    rest = value
    for symbol in dict.fromkeys(s for atom in atoms for s in atom.symbols()):
        parts = _taken_out(rest, symbol)
        if parts is None:
            return None
        factors[symbol], rest = parts
    number = rest.constant
    return Separated(number, factors) if 0 < number <= _LARGEST_NUMBER else None


def _taken_out(value: Term, symbol: Symbol) -> tuple[Term, Term] | None:
    """Return a factor that contains a symbol, and the other factor, which does not contain it; None if that fails."""
    by_rest: dict[Monomial, dict[Monomial, int]] = {}
    for monomial, coefficient in value.coefficients.items():
        own = tuple(atom for atom in monomial if _is_of(atom, symbol))
        rest = tuple(atom for atom in monomial if not _is_of(atom, symbol))
        by_rest.setdefault(rest, {})[own] = coefficient
    first = next(iter(by_rest.values()))
    content = gcd(*first.values())
    factor = Term({m: c // content for m, c in first.items()})
    if len(factor.coefficients) == 1 and factor.is_constant:
        return None
    others: dict[Monomial, int] = {}
    leading = next(iter(factor.coefficients))
    for rest, parts in by_rest.items():
        times, over = divmod(parts.get(leading, 0), factor.coefficients[leading])
        if over or factor.scaled(times) != Term(parts):
            return None
        others[rest] = times
    if _sign(factor, symbol) < 0:
        factor, others = -factor, {m: -c for m, c in others.items()}
    return factor, Term(others)


def _sign(factor: Term, symbol: Symbol) -> int:
    """Return the sign of a factor where it first is not 0: most factors have one sign."""
    values = (substitute(factor, {symbol: constant(size)}).constant for size in _SAMPLES)
    return next((value for value in values if value), 1)


def _is_of(atom: Atom, symbol: Symbol) -> bool:
    return symbol in atom.symbols()
