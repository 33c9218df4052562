"""Sums of remainders compared with a number: solved modulus by modulus.

``N % 1009 == N % 1013`` has the period 1,022,117, but only 1,009 cases: the values of the first remainder, each of
which fixes the second. So remainders whose periods have common factors are grouped, each group is written out
separately, and a sum is decided group by group: the cases are the values of the partial sum.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import gcd, lcm
from operator import or_
from typing import TypeAlias

from symbcast.core.algebra.terms import Operation, Term
from symbcast.core.logic.formulas import Operator
from symbcast.core.solver.sets.congruences import (
    MAX_PERIOD,
    Pattern,
    PeriodTooLongError,
    join,
    meet,
    node,
    of_mask,
    prime_powers,
)

Values: TypeAlias = list[int]
"""The value at each residue; as many as the period has residues."""

_MOST_VALUES = 4096
"""Number of values of a partial sum that are distinguished."""


def summed(tables: Sequence[Values], operator: Operator, constant: int) -> Pattern:
    """Return where the sum of some periodic values and a constant compares with 0 as the operator requires."""
    return _Sum(_grouped(tables), operator).of(0, constant)


class _Sum:
    """A sum of values with coprime periods, and the sizes at which its comparison with 0 holds."""

    def __init__(self, tables: Sequence[Values], operator: Operator) -> None:
        self.periods = [len(table) for table in tables]
        self.masks = [_where(table) for table in tables]
        self.operator = operator
        last = self.masks[-1]
        self.values = sorted(last)
        # Masks of the residues of the last table with values up to each of its values.
        self.up_to = list(accumulate((last[value] for value in self.values), or_, initial=0))
        self.known: dict[tuple[int, int], Pattern] = {}

    def of(self, position: int, total: int) -> Pattern:
        """Return where the partial sum plus the tables from a position on gives a wanted sum."""
        if (position, total) not in self.known:
            if len(self.known) > _MOST_VALUES:
                raise PeriodTooLongError(f"{_MOST_VALUES} values of a sum")
            self.known[position, total] = self._of(position, total)
        return self.known[position, total]

    def _of(self, position: int, total: int) -> Pattern:
        period = self.periods[position]
        if position == len(self.periods) - 1:
            return of_mask(period, self._last(total))
        masks: dict[Pattern, int] = {}
        for value, mask in self.masks[position].items():
            rest = self.of(position + 1, total + value)
            masks[rest] = masks.get(rest, 0) | mask
        primes = prime_powers(period)
        if len(primes) == 1 and all(primes[0][0] < prime_powers(p)[0][0] for p in self.periods[position + 1 :]):
            return node(primes[0][0], period, masks)
        found: Pattern = False
        for rest, mask in masks.items():
            found = join(found, meet(of_mask(period, mask), rest))
        return found

    def _last(self, total: int) -> int:
        """Return the mask of the last table's residues that complete a total to a wanted value."""
        match self.operator:
            case "==" | "!=":
                equal = self.masks[-1].get(-total, 0)
                return equal if self.operator == "==" else self.up_to[-1] & ~equal
            case "<=":
                return self.up_to[bisect_right(self.values, -total)]
            case "<":
                return self.up_to[bisect_left(self.values, -total)]


def _mask(residues: Iterable[int]) -> int:
    found = 0
    for residue in residues:
        found |= 1 << residue
    return found


def _where(table: Values) -> dict[int, int]:
    """Return, for each value, the mask of the residues that have it."""
    found: dict[int, int] = {}
    for residue, value in enumerate(table):
        found[value] = found.get(value, 0) | 1 << residue
    return found


def _grouped(tables: Sequence[Values]) -> list[Values]:
    """Return the tables, those whose periods have a common factor added up, ordered by their least primes."""
    groups: list[Values] = []
    for table in tables:
        tied = [g for g in groups if gcd(len(g), len(table)) > 1]
        period = lcm(len(table), *map(len, tied))
        if tied and period > MAX_PERIOD:
            raise PeriodTooLongError(period)
        together = [sum(t[n % len(t)] for t in (table, *tied)) for n in range(period)] if tied else table
        groups = [*(g for g in groups if gcd(len(g), len(table)) == 1), together]
    return sorted((g for g in groups if len(g) > 1), key=lambda g: prime_powers(len(g))) or groups[:1]


def congruence(operation: Operation, wanted: int) -> Pattern | None:
    """Return where a remainder ``(a*n + b) % m`` is ``wanted``; None if it is not a remainder of a linear term.

    The modulus may be large: a congruence splits into one for each of its prime powers. ``(a*n + b)//c % m`` is a
    remainder by ``c*m``, which does not split.
    """
    by, step = operation.args[1].constant, 1
    dividend: Term = operation.args[0]
    if isinstance(dividend, Operation) and dividend.kind == "//" and dividend.args[1].is_constant:
        step, dividend = dividend.args[1].constant, dividend.args[0]
    slope_and_offset = linear(dividend)
    if slope_and_offset is None or step < 1 or (step > 1 and len(prime_powers(abs(step * by))) > 1):
        return None
    if not (0 <= wanted < by or by < wanted <= 0):
        return False
    slope, offset = slope_and_offset
    found: Pattern = True
    for _, power in reversed(prime_powers(abs(step * by))):
        own = of_mask(power, _mask(n for n in range(power) if (slope * n + offset - step * wanted) % power < step))
        found = meet(own, found)
    return found


def linear(dividend: Term) -> tuple[int, int] | None:
    """Return slope and offset of a linear term of one symbol, None for other terms."""
    others = [m for m in dividend.coefficients if m]
    if len(others) != 1 or len(others[0]) != 1 or isinstance(others[0][0], Operation):
        return None
    return dividend.coefficients[others[0]], dividend.constant
