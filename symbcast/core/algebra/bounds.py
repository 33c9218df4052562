"""Bounds of dimensions, and exact quotients.

Intervals of the separate parts are too weak where a symbol occurs in several parts: ``(N + 3)//4`` is never
below ``(N + 1)//4``, nor below ``max(N//4, 0)``. So a ``min`` or ``max`` on the wrong side is replaced by each of its
members, quotients by numbers are multiplied out, ``x - k + 1 <= k*(x//k) <= x``, and a factor that is 0 or 1 is set to
either. Each step is sound: the answer is a lower bound, though perhaps not the greatest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from symbcast.core.algebra.arithmetic import (
    Substitution,
    join,
    join_members,
    maximum,
    minimum,
    monomial_quotient,
    multiply,
    subtract,
)
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Term, constant, term
from symbcast.core.effort import cached_uncounted, remembered

_MAX_STEPS = 6
"""How many operations in one another are taken apart."""


@cached_uncounted(8192)
def lower_bound(value: Term, steps: int = _MAX_STEPS) -> int | None:
    """Return a lower bound of a term at sizes from 0 on; None if none is found.

    >>> from symbcast.core.algebra.arithmetic import floor_divide, maximum
    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> low, high = floor_divide(N + 1, 4), floor_divide(N + 3, 4)
    >>> lower_bound(high - low), lower_bound(N + 1 - maximum((high, 1))), lower_bound(low - high)
    (0, 0, -1)
    """
    simple = value.lower_bound
    part = next(_openable(value), None) if steps > 0 else None
    if part is None:
        return simple
    monomial, atom = part
    better = _by_operation(value, monomial, atom, steps - (2 if atom.kind == "join" else 1))
    return simple if better is None else better if simple is None else max(simple, better)


def _openable(value: Term) -> Iterator[tuple[Monomial, Operation]]:
    """Yield the operations that have known bounds besides their intervals, each with its monomial."""
    for monomial in value.coefficients:
        for atom in monomial:
            if isinstance(atom, Operation) and _is_bounded(atom, monomial, value.coefficients[monomial]):
                yield monomial, atom


def _is_bounded(atom: Operation, monomial: Monomial, factor: int) -> bool:
    """Return whether known bounds of the operation count in its monomial, whose coefficient is ``factor``."""
    if atom.kind == "//":
        by = atom.args[1]
        return len(monomial) == 1 and by.is_constant and by.constant > 0
    if len(monomial) > 1 and not atom.is_truth_value and any(a is not atom and not _is_size(a) for a in monomial):
        return False
    if atom.kind == "join":  # sizes from 1 on join to the greatest of them
        return factor > 0 and all(arg.lower_bound is not None and arg.lower_bound >= 1 for arg in atom.args)
    return atom.kind in ("min", "max")


def _is_size(atom: Atom) -> bool:
    return atom.lower_bound is not None and atom.lower_bound >= 0


def _by_operation(value: Term, monomial: Monomial, atom: Operation, steps: int) -> int | None:
    """Return a lower bound of a term, from the bounds of one operation in one of its monomials."""
    if len(monomial) > 1 and atom.is_truth_value:
        return _by_truth_value(value, atom, steps)
    factor = value.coefficients[monomial]
    others = monomial_quotient(monomial, (atom,)) or ()
    rest = value - Term({monomial: factor})
    if atom.kind == "//":
        by = atom.args[1].constant
        inside = atom.args[0] - constant(by - 1) if factor > 0 else atom.args[0]
        low = lower_bound(rest.scaled(by) + inside.scaled(factor), steps)
        return None if low is None else -(-low // by)
    lows = [lower_bound(rest + Term({others: factor}) * arg, steps) for arg in atom.args]
    known = [low for low in lows if low is not None]
    if (atom.kind == "min") == (factor > 0):
        return min(known) if len(known) == len(lows) else None
    return max(known, default=None)


def _by_truth_value(value: Term, atom: Operation, steps: int) -> int | None:
    lows = [lower_bound(_put_in(value, atom, number), steps) for number in (0, 1)]
    known = [low for low in lows if low is not None]
    return min(known) if len(known) == len(lows) else None


def _put_in(value: Term, atom: Operation, number: int) -> Term:
    """Return a term with an atom of its monomials replaced by a number."""
    coefficients = {m: c for m, c in value.coefficients.items() if atom not in m}
    for monomial, factor in value.coefficients.items():
        if atom in monomial and number:
            without = tuple(a for a in monomial if a is not atom)
            coefficients[without] = coefficients.get(without, 0) + factor
    return Term({m: c for m, c in coefficients.items() if c})


@remembered(4096)
def exact_quotient(dividend: tuple[Dim, ...], divisor: tuple[Dim, ...]) -> Dim | None:
    """Return the quotient of two products if it is a polynomial; it is valid at sizes at which no divisor is 0.

    >>> from symbcast.core.algebra.symbols import symbol
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


@remembered(4096)
def reduced_fraction(dividend: tuple[Dim, ...], divisor: tuple[Dim, ...]) -> tuple[Dim, Dim]:
    """Return two products in lowest terms: without common numbers and common factors; no divisor may be 0.

    The remainder of the original products is 0 where that of the reduced ones is, and the quotients are equal.

    >>> from symbcast.core.algebra.symbols import symbol
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
    """Return a polynomial divided by atoms and a number that divide each of its summands."""
    return Term({monomial_quotient(m, atoms) or (): c // number for m, c in value.coefficients.items()}).dim()


def _quotient_by_monomial(numerator: Term, denominator: Term) -> Dim | None:
    if numerator == denominator:
        return 1
    if len(denominator.coefficients) != 1:
        return _scale(numerator, denominator)
    ((atoms, number),) = denominator.coefficients.items()
    quotients: dict[Monomial, int] = {}
    for monomial, coefficient in numerator.coefficients.items():
        rest = monomial_quotient(monomial, atoms)
        if rest is None or coefficient % number:
            return None
        quotients[rest] = coefficient // number
    return Term(quotients).dim()


def _scale(numerator: Term, denominator: Term) -> int | None:
    """Return the integer quotient of two polynomials, if one is a multiple of the other."""
    if numerator.coefficients.keys() != denominator.coefficients.keys():
        return None
    by = gcd(*denominator.coefficients.values())
    number = next(iter(denominator.coefficients))
    scale, rest = divmod(numerator.coefficients[number], denominator.coefficients[number])
    return scale if by and not rest and denominator.scaled(scale) == numerator else None


class Bounds:
    """Lower and upper bounds of dimensions, given the minimum sizes of symbols; those not given are 0.

    Open questions are recorded, since facts learned later may answer them: see `answers_more`.
    """

    def __init__(self, least: Mapping[Atom, int]) -> None:
        self._least = dict(least)
        self._shifts: dict[Atom, Term] = {s: s + constant(low) for s, low in least.items() if low}
        self._shifted = Substitution(self._shifts, of_symbols=all(atom.is_Symbol for atom in self._shifts))
        """The shift of each symbol to its minimum; parts that terms share are replaced once."""
        self._known: dict[Dim, int | None] = {}
        self._open: dict[Dim, int] = {}
        """What was not known to be at least some number."""
        self._open_since: dict[Dim, int] = {}
        """What was not known to be at least some number, before something was learned."""
        self.revision = 0
        """How many times something was learned."""

    def copy(self) -> Bounds:
        """Return an independent copy; both remember the open questions."""
        copied = Bounds(self._least)
        copied._known = dict(self._known)
        copied._open, copied._open_since = self._open, self._open_since
        copied.revision = self.revision
        return copied

    def learn(self, symbol: Atom, least: int) -> bool:
        """Record the minimum size of one more symbol; return whether it was new."""
        if least <= self._least.get(symbol, 0):
            return False
        self._least[symbol] = least
        self._shifts[symbol] = symbol + constant(least)
        self._known.clear()
        self._shifted = Substitution(self._shifts, of_symbols=self._shifted.of_symbols and symbol.is_Symbol)
        self._open_since.update(self._open)
        self._open.clear()
        self.revision += 1
        return True

    def answers_more(self) -> bool:
        """Return whether a question that was open earlier can be answered now."""
        lows = ((self.least(dim), number) for dim, number in self._open_since.items())
        return any(low is not None and low >= number for low, number in lows)

    def least(self, dim: Dim) -> int | None:
        """Return a lower bound, or None; exact for linear terms without quotients."""
        if isinstance(dim, int):
            return dim
        if dim not in self._known:
            self._known[dim] = lower_bound(self._shifted.term(term(dim)))
        return self._known[dim]

    def is_at_least(self, dim: Dim, number: int) -> bool:
        """Return whether a dimension is known to be at least a number."""
        if isinstance(dim, int):
            return dim >= number
        low = self.least(dim)
        if low is not None and low >= number:
            return True
        self._open[dim] = number
        return False

    def is_at_most(self, left: Dim, right: Dim) -> bool:
        """Return whether one dimension is known never to exceed another."""
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

    def greatest_member(self, dim: Dim) -> Dim:
        """Return a join without members that never exceed another one, if all of them are 1 or more.

        If the join has a value, it is the greatest member: every other one is 1 or equal to it.
        """
        members = join_members(dim)
        if len(members) == 1 or not all(self.is_at_least(m, 1) for m in members):
            return dim
        members_left: list[Dim] = []
        for n, member in enumerate(members):
            if not any(self.is_at_most(member, other) for other in (*members_left, *members[n + 1 :])):
                members_left.append(member)
        return dim if len(members_left) == len(members) else join(members_left)


def numbers_of(dims: Sequence[Dim] | None) -> tuple[int, ...] | None:
    """Return the dimensions as integers if all of them are numbers, else None."""
    numbers = tuple(d for d in dims or () if isinstance(d, int))
    return None if dims is None or len(numbers) < len(dims) else numbers
