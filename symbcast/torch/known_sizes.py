"""What guards about one size say of it, and which other guards follow from that.

torch asks the same in many ways: that `N` be 8 at least makes `max(1, N) != 1` plain, and that it be a multiple of 8,
`N // (N // 8) == 8`. Each size is therefore written as the least that it may be and a multiple of the step from one to
the next, ``8 + 8*k``; most extremes, quotients and remainders are gone then, and what is left is seen to hold, or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import gcd
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import subtract
from symbcast.algebra.bounds import exact_quotient
from symbcast.algebra.lower_bounds import lower_bound
from symbcast.algebra.operations import Substitution, operate
from symbcast.algebra.terms import Operation, Term, collect, constant, term
from symbcast.logic.formulas import AllOf, AnyOf, Comparison, Formula, all_of, any_of, at_most
from symbcast.program.premises import own_set
from symbcast.solver.normal_form import symbols_in
from symbcast.solver.size_sets import ALL, SizeSet
from symbcast.solver.univariate import narrow

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Atom, Dim

_LOOKED_AT = 64
"""How many members of a set are looked at for the step between them."""


class KnownSizes:
    """The set that each size lies in, as the guards about it alone say.

    >>> from symbcast.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> known = KnownSizes([N, M], 1)
    >>> known.learn(at_most(3, M))
    True
    >>> known.implies(at_most(2, N * M - N)), known.implies(Comparison("!=", N * M, 4))
    (True, False)
    >>> known.divided(Comparison("==", N * M, N * 4)), known.divided(at_most(1, N * M - 2 * N))
    (Comparison('==', M, 4), Comparison('<=', 1, M - 2))
    >>> known.divided(Comparison("!=", N * M + 1, N + M))
    Comparison('!=', N, 1)
    """

    def __init__(self, sizes: Iterable[Symbol], least: int) -> None:
        self._sets = {s: own_set(s, least) for s in sizes}
        self._written: dict[Symbol, Term] = {}
        for size in self._sets:
            self._write(size)

    def learn(self, formula: Formula) -> bool:
        """Take in a formula about one size; return whether that is what it is, and can be taken in exactly."""
        size, *others = (*symbols_in(formula), None, None)[:2]
        if size is None or others != [None] or size not in self._sets:
            return False
        members = narrow(self._sets[size], formula)
        if not members:
            return False
        self._sets[size] = members
        self._write(size)
        return True

    def _write(self, size: Symbol) -> None:
        """Write a size as the least of its set, and a multiple of the step of those after it."""
        members = self._sets[size]
        low, *others = islice(members, _LOOKED_AT)
        step = gcd(*(n - low for n in others))
        if step > 1 and not members <= SizeSet.residues(step, [low]):
            step = 1
        self._written[size] = term(size).scaled(step) + constant(low)

    def implies(self, formula: Formula) -> bool:
        """Return whether a formula is seen to follow from what is known of each size by itself."""
        match formula:
            case AllOf(parts):
                return all(map(self.implies, parts))
            case AnyOf(parts):
                return any(map(self.implies, parts))
            case Comparison(operator, left, right):
                sides = tuple(self._plain(term(d)) for d in (left, right))
                return _is_plain(operator, *sides) or _always(Comparison(operator, *(s.dim() for s in sides)))
            case _:
                return False

    def divided(self, formula: Formula) -> Formula:
        """Return a formula whose comparisons have no factor on both sides that is known to be 1 at least."""
        match formula:
            case Comparison(operator, left, right):
                found = Comparison(operator, *self._divided(left, right))
                is_order = operator in ("<=", "<")
                return self._without_positive_factor(found) if is_order else self._at_the_least(found)
            case AllOf(parts):
                return all_of(map(self.divided, parts))
            case AnyOf(parts):
                return any_of(map(self.divided, parts))
            case _:
                return formula

    def _divided(self, left: Dim, right: Dim) -> tuple[Dim, Dim]:
        for factor in _factors(term(left if left != 0 else right)):
            while self._is_at_least(factor, 1):
                found = [d if d == 0 else exact_quotient((d,), (factor,)) for d in (left, right)]
                if found[0] is None or found[1] is None or found == [0, 0]:
                    break
                left, right = found[0], found[1]
        return left, right

    def _without_positive_factor(self, found: Comparison) -> Comparison:
        """Return ``1 <= q`` for ``n <= p*q``, where ``p`` is known to be ``n`` at least, and so positive."""
        least = subtract(found.right, found.left)
        rest = term(least) - constant(term(least).constant)
        number = (1 if found.operator == "<" else 0) - term(least).constant
        if number < 1:
            return found
        for atom in _factors(rest):
            quotient = exact_quotient((rest.dim(),), (atom,))
            if quotient is not None and not isinstance(quotient, int) and self._is_at_least(atom, number):
                return self._without_positive_factor(at_most(1, quotient))
        return found

    def _at_the_least(self, found: Comparison) -> Comparison:
        """Return ``n == low`` for ``(n - low)*p == 0``, where ``p`` is never 0, and so for ``!=``."""
        difference = self._plain(term(found.left) - term(found.right))
        for size, written in self._written.items():
            quotient = exact_quotient((difference.dim(),), (size,))
            if quotient is not None and any(is_at_least(q, 1) for q in (term(quotient), -term(quotient))):
                return Comparison(found.operator, size, written.constant)
        return found

    def _is_at_least(self, value: Term, number: int) -> bool:
        return is_at_least(self._plain(value), number)

    def _plain(self, value: Term) -> Term:
        """Return a term with sizes as they are written, and without quotients that come out even."""
        return _cancelled(Substitution(self._written, of_symbols=True).term(value))


def _factors(value: Term) -> list[Atom]:
    """Return what a sum may have as a factor: whatever its summands have."""
    return list(dict.fromkeys(atom for monomial in value.coefficients for atom in monomial))


def _cancelled(value: Term) -> Term:
    """Return a term in which no quotient is divided by what divides it, and is 1 at least.

    >>> from symbcast.text import parse_dim
    >>> _cancelled(parse_dim("(8*k + 16)//(k + 2)")), _cancelled(parse_dim("(8*k + 16) % (k + 2)"))
    (8, 0)
    """
    parts = []
    for monomial, coefficient in value.coefficients.items():
        product = constant(1)
        for atom in monomial:
            product *= _cancelled_operation(atom) if isinstance(atom, Operation) else atom
        parts.append((product, coefficient))
    return collect(parts)


def _cancelled_operation(atom: Operation) -> Term:
    args = tuple(map(_cancelled, atom.args))
    if atom.kind in ("//", "%") and is_at_least(args[1], 1):
        quotient = exact_quotient((args[0].dim(),), (args[1].dim(),))
        if quotient is not None:
            return term(quotient) if atom.kind == "//" else constant(0)
    return operate(atom.kind, args)


def _always(formula: Formula) -> bool:
    """Return whether a formula about one size holds from 0 on."""
    if len(list(symbols_in(formula))) > 1:
        return False
    found = narrow(ALL, formula)
    return found is not None and found.same(ALL)


def _is_plain(operator: str, left: Term, right: Term) -> bool:
    """Return whether a comparison is seen to hold at all sizes from 0 on."""
    match operator:
        case "==":
            return left == right
        case "<=":
            return is_at_least(right - left, 0)
        case "<":
            return is_at_least(right - left, 1)
    if any(is_at_least(a - b, 1) for a, b in ((left, right), (right, left))):
        return True
    match left:
        case Operation(kind="%", args=(above, below)) if right == constant(0):
            return is_at_least(above, 1) and is_at_least(below - above, 1)
    return False


def is_at_least(value: Term, number: int) -> bool:
    """Return whether a term is seen to be so large at all sizes from 0 on: as a sum, or as a product of such."""
    low = lower_bound(value)
    if low is not None and low >= number:
        return True
    offset = min(0, value.constant)
    rest, product = value - constant(offset), 1
    for atom in _factors(rest):
        quotient, least = exact_quotient((rest.dim(),), (atom,)), lower_bound(atom)
        if quotient is not None and least is not None and least >= 1:
            rest, product = term(quotient), product * least
    low = lower_bound(rest)
    return low is not None and low >= 0 and low * product + offset >= number
