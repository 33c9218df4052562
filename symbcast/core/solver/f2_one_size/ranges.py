"""Intervals of terms, and the quotients and remainders that they decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import islice, product
from math import gcd
from typing import TypeAlias

from symbcast.core.algebra.term_arithmetic import floordiv_terms, modulo_terms
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, constant
from symbcast.core.effort import charge
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple

Span: TypeAlias = "tuple[int | None, int | None]"
"""The ends of an interval; None for an end that does not exist."""

# Units of effort for an atom, and for a sum that may be the small part of a dividend.
_STEP = 20


def interval(value: Term, domains: Mapping[Symbol, SizeSet]) -> Span:
    """Return numbers that a term never passes, where it has a value and each size is in its domain.

    >>> from symbcast.core.text import parse_dim
    >>> interval(parse_dim("max(N//4 - M, 7)"), {s: SizeSet.interval(2, 40) for s in parse_dim("N + M").symbols()})
    (7, 8)
    """
    return Intervals(domains).of(value)


class Intervals:
    """Intervals of terms; shared operations are evaluated once."""

    def __init__(self, domains: Mapping[Symbol, SizeSet]) -> None:
        self.domains = domains
        self.known: dict[Atom, Span] = {}

    def of(self, value: Term) -> Span:
        """Return the interval of a term: each monomial by itself, so it may be too wide."""
        low: int | None = 0
        high: int | None = 0
        for monomial, coefficient in value.coefficients.items():
            least, most = reduce(_product, map(self.atom, monomial)) if monomial else (1, 1)
            least, most = (least, most) if coefficient > 0 else (most, least)
            low = None if low is None or least is None else low + coefficient * least
            high = None if high is None or most is None else high + coefficient * most
        return low, high

    def atom(self, atom: Atom) -> Span:
        """Return the interval of an atom."""
        if atom not in self.known:
            self.known[atom] = self._new(atom)
        return self.known[atom]

    def _new(self, atom: Atom) -> Span:
        charge(_STEP)
        if not isinstance(atom, Operation):
            assert isinstance(atom, Symbol)
            domain = self.domains.get(atom, ALL)
            return domain.least() or 0, domain.greatest
        spans = list(map(self.of, atom.args))
        if atom.kind == "//":
            return _quotient(*spans)
        if atom.kind == "%":
            return _remainder(*spans)
        lows, highs = ([end for end in ends if end is not None] for ends in zip(*spans, strict=True))
        # A join is one of its members.
        low = max(lows, default=None) if atom.kind == "max" else min(lows) if len(lows) == len(spans) else None
        high = min(highs, default=None) if atom.kind == "min" else max(highs) if len(highs) == len(spans) else None
        return low, high


def _product(left: Span, right: Span) -> Span:
    ends = [x * y for x in left if x is not None for y in right if y is not None]
    if len(ends) == 4:
        return min(ends), max(ends)
    if left[0] is None or right[0] is None or left[0] < 0 or right[0] < 0:
        return None, None
    return left[0] * right[0], 0 if (0, 0) in (left, right) else None


def _quotient(dividend: Span, divisor: Span) -> Span:
    """Return the interval of quotients, rounded down, where the divisor is not 0."""
    (low, high), (least, most) = dividend, divisor
    if least is None or least < 0:  # no quotient is further from 0 than the dividend
        furthest = None if low is None or high is None else max(abs(low), abs(high))
        return None if furthest is None else -furthest, furthest
    least = max(least, 1)
    # The dividend decides the sign, and with it which divisor gives the least quotient; a huge one gives -1 or 0.
    lowest = None if low is None else low // least if low < 0 else 0 if most is None else low // max(most, 1)
    highest = None if high is None else high // least if high >= 0 else -1 if most is None else high // max(most, 1)
    return lowest, highest


def _remainder(dividend: Span, divisor: Span) -> Span:
    """Return the interval of remainders, which have the sign of the divisor."""
    (low, high), (least, most) = dividend, divisor
    lowest, highest = None if least is None else min(least + 1, 0), None if most is None else max(most - 1, 0)
    if low is None or low < 0 or least is None or least < 0:
        return lowest, highest
    if high is not None and high < least:
        return dividend
    return lowest, min((end for end in (high, highest) if end is not None), default=None)


# Quotients and remainders with a small part.
#
# A dividend is often a multiple of g and a part that stays between two neighbouring multiples of g. For g, n >= 1 and
# ``k*g <= r < (k + 1)*g``,
#
#     (g*u + r)//(g*n) == (u + k)//n        (g*u + r) % (g*n) == g*((u + k) % n) + r - k*g
#
# because ``g*u + r == g*(u + k) + (r - k*g)`` with ``0 <= r - k*g < g``, and ``u + k`` is ``n*q + s`` with
# ``0 <= s <= n - 1``, so that ``g*s + r - k*g`` is from 0 to ``g*n - 1``. Nothing is assumed of u: it may be negative.
# With n = 1 the quotient is ``u + k``: if k is 0 and u too, the dividend is its own remainder.


# How many ways to take the small part from a dividend are tried for each g.
_PARTS = 16


class _Small(NamedTuple):
    """A dividend as ``factor*multiple + rest``, with ``rest`` from 0 to ``factor - 1``."""

    factor: int
    multiple: Term
    rest: Term


def with_small_part(operation: Operation, intervals: Intervals) -> Term | None:
    """Return the shortest term that a quotient or remainder equals by the intervals; None if none is shorter.

    >>> from symbcast.core.text import parse_dim
    >>> dim = parse_dim("(6*a + b + 3) % 12")
    >>> with_small_part(dim, Intervals({s: SizeSet.interval(0, 2) for s in dim.symbols()}))
    6*(a % 2) + b + 3
    """
    dividend, divisor = operation.args
    if divisor.is_constant and divisor.constant < 2:
        return None
    if not divisor.is_constant and (intervals.of(divisor)[0] or 0) < 1:
        return None
    number = abs(gcd(*divisor.coefficients.values()))
    best: Term | None = None
    for small in _small_parts(dividend, number, intervals):
        times = Term({m: c // small.factor for m, c in divisor.coefficients.items()})
        if operation.kind == "//":
            other = floordiv_terms(small.multiple, times)
        else:
            other = modulo_terms(small.multiple, times).scaled(small.factor) + small.rest
        if other.length < (operation if best is None else best).length:
            best = other
    return best


def _small_parts(dividend: Term, number: int, intervals: Intervals) -> Iterator[_Small]:
    """Yield the ways to write a dividend with a part that is less than a divisor of a number."""
    spans = {m: intervals.of(Term({m: 1})) for m in dividend.coefficients if m}
    factors = {gcd(c, number) for m, c in dividend.coefficients.items() if m} | {number}
    for factor in sorted(factors - {1}, reverse=True):
        ways = [list(_residues(c, factor, spans[m])) for m, c in dividend.coefficients.items() if m]
        for way in islice(product(*ways), _PARTS):
            charge(_STEP)
            rest = Term({m: c for m, c in zip(spans, way, strict=True) if c}) + constant(dividend.constant)
            low, high = intervals.of(rest)
            if low is not None and high is not None and low // factor == high // factor:
                rest = rest - constant(low // factor * factor)
                whole = dividend - rest
                yield _Small(factor, Term({m: c // factor for m, c in whole.coefficients.items()}), rest)


def _residues(number: int, factor: int, span: Span) -> Iterator[int]:
    """Yield the numbers that are congruent to a coefficient and keep a product in less than ``factor`` values."""
    low, high = span
    residue = number % factor
    for other in sorted((residue, residue - factor), key=abs) if residue else ():
        if low is not None and high is not None and abs(other) * (high - low) < factor:
            yield other
    if not residue:
        yield 0
