"""Comparisons cleared of quotients that are whole, of factors that are never 0, and of quotients that are bounded.

A Reshape makes a size ``n // c`` where it asks that ``n`` be a multiple of ``c``. Beside that, ``n // c == m`` says
``n == c*m``, which may be divided by what both sides have in common: ``batch*length == 7*batch`` says ``length == 7``.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import modulo
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.terms import Atom, Operation, Term, constant, term
from symbcast.core.logic.formulas import Comparison, Formula, at_most, equal

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def cleared(found: Comparison, whole: Container[Operation], bounds: Bounds) -> Comparison:
    """Return a comparison that says the same where the quotients in ``whole`` are whole numbers.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
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
    shared = _common_factor(difference, bounds)
    by = gcd(*difference.coefficients.values())
    if not shared and by <= 1 and difference == term(found.left) - term(found.right):
        return found
    for atom in shared:
        difference = Term({_without(m, atom): c for m, c in difference.coefficients.items()})
    positive = Term({m: c // (by or 1) for m, c in difference.coefficients.items() if c > 0})
    negative = Term({m: -c // (by or 1) for m, c in difference.coefficients.items() if c < 0})
    return Comparison(found.operator, positive.dim(), negative.dim())


def without_whole_quotients(
    clauses: Sequence[Formula], whole: Container[Operation], bounds: Bounds
) -> tuple[Formula, ...]:
    """Return clauses without the quotients in ``whole``, and that those are whole, which goes with them otherwise."""
    found: list[Formula] = []
    for clause in clauses:
        if not isinstance(clause, Comparison):
            found.append(clause)
            continue
        used = [o.args for o in _quotients_of(clause) if o in whole]
        found += [equal(modulo(above.dim(), below.dim()), 0) for above, below in used]
        found.append(cleared(clause, whole, bounds) if used else clause)
    return tuple(dict.fromkeys(found))


def _quotients_of(found: Comparison) -> Iterator[Operation]:
    for side in (found.left, found.right):
        yield from (o for o in term(side).operations() if o.kind == "//")


def quotient_asked_whole(found: Comparison) -> Operation | None:
    """Return the quotient that is whole where ``n % c == 0`` holds."""
    if found.operator != "==" or found.right != 0:
        return None
    remainder = term(found.left)
    if len(remainder.coefficients) != 1:
        return None
    ((monomial, number),) = remainder.coefficients.items()
    if not number or len(monomial) != 1 or not isinstance(monomial[0], Operation) or monomial[0].kind != "%":
        return None
    return Operation("//", monomial[0].args)


@lru_cache(maxsize=4096)
def bounded(left: Dim, right: Dim) -> Comparison:
    """Return ``left <= right``; where a number bounds a quotient by a number, said of what is divided.

    >>> from symbcast.core.text import parse_dim
    >>> bounded(7, parse_dim("(N + 2)//32 + 1")), bounded(parse_dim("N//4"), 2)
    (Comparison('<=', 190, N), Comparison('<=', N, 11))
    """
    difference = term(right) - term(left)
    plainer = _without_quotients(difference)
    if plainer == difference or plainer.is_constant:
        return at_most(left, right)
    positive = Term({m: c for m, c in plainer.coefficients.items() if c > 0})
    return at_most((positive - plainer).dim(), positive.dim())


def _without_quotients(value: Term) -> Term:
    """Return a term that is 0 or more where another is: ``a*(x//k) + c >= 0`` says ``x >= k*n``, or ``x < k*n``."""
    offset = value.constant
    rest = value - constant(offset)
    if len(rest.coefficients) != 1:
        return value
    (((atom, *others), factor),) = rest.coefficients.items()
    if others or not isinstance(atom, Operation) or atom.kind != "//" or not atom.args[1].is_constant:
        return value
    inside, by = atom.args[0], atom.args[1].constant
    if by < 1:
        return value
    if factor > 0:
        return _without_quotients(inside + constant(offset // factor * by))
    return _without_quotients(constant(offset // -factor * by + by - 1) - inside)


def _multiplied_out(difference: Term, quotient: Operation, bounds: Bounds) -> Term:
    """Return a difference times the divisor of a quotient, which is positive and stands in it only by itself."""
    dividend, divisor = quotient.args
    if not bounds.is_at_least(divisor.dim(), 1):
        return difference
    times = difference.coefficients.get((quotient,), 0)
    rest = difference - quotient.scaled(times)
    if not times or any(quotient in monomial for monomial in rest.coefficients):
        return difference
    return rest * divisor + dividend.scaled(times)


def _common_factor(difference: Term, bounds: Bounds) -> list[Atom]:
    """Return the symbols, never 0, that all monomials have as factors, as often as all have them."""
    monomials = list(difference.coefficients)
    if not monomials:
        return []
    shared: list[Atom] = []
    left = [list(m) for m in monomials]
    for atom in monomials[0]:
        if all(atom in m for m in left) and not isinstance(atom, Operation) and bounds.is_at_least(atom, 1):
            shared.append(atom)
            for m in left:
                m.remove(atom)
    return shared


def _without(monomial: tuple[Atom, ...], atom: Atom) -> tuple[Atom, ...]:
    place = monomial.index(atom)
    return (*monomial[:place], *monomial[place + 1 :])
