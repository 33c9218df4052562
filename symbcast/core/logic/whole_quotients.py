"""Comparisons of products: factors that are never 0 cancel, and quotients known to be whole are multiplied out."""

from __future__ import annotations

from collections.abc import Container
from math import gcd
from typing import TYPE_CHECKING

from symbcast.core.algebra.operations import monomial_quotient
from symbcast.core.algebra.terms import Atom, Operation, Term, term
from symbcast.core.logic.formulas import Comparison

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds


def cleared(
    found: Comparison, whole: Container[Operation], bounds: Bounds, defined: Container[Term] = ()
) -> Comparison:
    """Return a comparison that is equivalent if the quotients in ``whole`` are whole numbers.

    ``defined`` are the operations that are known to have a value, besides those that always have one.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import equal
    >>> N, T = symbol("N"), symbol("T")
    >>> quotient = floor_divide(N * T, 7)
    >>> cleared(equal(quotient, N), {quotient}, Bounds({N: 1}))
    Comparison('==', T, 7)
    >>> quotient = floor_divide(2 * N, T)
    >>> cleared(equal(quotient, 2), {quotient}, Bounds({T: 1}))
    Comparison('==', N, T)
    """
    difference = term(found.left) - term(found.right)
    for quotient in [o for o in difference.operations() if o in whole]:
        difference = _multiplied_out(difference, quotient, bounds)
    shared = _common_factor(difference, bounds, defined)
    by = gcd(*difference.coefficients.values())
    if not shared and by <= 1 and difference == term(found.left) - term(found.right):
        return found
    if shared:
        divided = {monomial_quotient(m, shared): c for m, c in difference.coefficients.items()}
        difference = Term({m: c for m, c in divided.items() if m is not None})
    positive = Term({m: c // (by or 1) for m, c in difference.coefficients.items() if c > 0})
    negative = Term({m: -c // (by or 1) for m, c in difference.coefficients.items() if c < 0})
    return Comparison(found.operator, positive.dim(), negative.dim())


def quotient_asked_whole(found: Comparison) -> Operation | None:
    """Return the quotient that is whole if ``n % c == 0`` holds."""
    if found.operator != "==" or found.right != 0:
        return None
    remainder = term(found.left)
    if len(remainder.coefficients) != 1:
        return None
    ((monomial, number),) = remainder.coefficients.items()
    if not number or len(monomial) != 1 or not isinstance(monomial[0], Operation) or monomial[0].kind != "%":
        return None
    return Operation("//", monomial[0].args)


def _multiplied_out(difference: Term, quotient: Operation, bounds: Bounds) -> Term:
    """Return a difference times the positive divisor of a quotient, which may occur in it only as a linear term."""
    dividend, divisor = quotient.args
    if not bounds.is_at_least(divisor.dim(), 1):
        return difference
    times = difference.coefficients.get((quotient,), 0)
    rest = difference - quotient.scaled(times)
    if not times or any(quotient in monomial for monomial in rest.coefficients):
        return difference
    return rest * divisor + dividend.scaled(times)


def _common_factor(difference: Term, bounds: Bounds, defined: Container[Term]) -> list[Atom]:
    """Return the common factors of all monomials, with multiplicity, that are never 0 and always have a value."""
    monomials = list(difference.coefficients)
    if not monomials:
        return []
    shared: list[Atom] = []
    left = [list(m) for m in monomials]
    for atom in monomials[0]:
        has_value = atom.is_Symbol or atom in defined or atom.is_total
        if has_value and all(atom in m for m in left) and bounds.is_at_least(atom, 1):
            shared.append(atom)
            for m in left:
                m.remove(atom)
    return shared
