"""Equal products, split into factors: common factors, dominated factors, and quotients known to be whole.

The law of dominated products: if ``0 <= f <= g`` for each pair of factors, the product of all f equals that of all g
exactly if each f equals its g, or some g is 0. For if no g is 0 and one f is less than its g, the product of the other
f is at most that of the other g, so the whole product is less too. ``p*(x//p) <= x`` and ``min(x, y) <= x`` are such
pairs; so is a factor that both products have, which only requires that the rest be equal.

Factors that are never 0 cancel, and quotients known to be whole are multiplied out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from math import gcd
from typing import NamedTuple

from symbcast.core.algebra.arithmetic import modulo, monomial_quotient, quotient_and_remainder
from symbcast.core.algebra.bounds import Bounds, lower_bound, reduced_fraction
from symbcast.core.algebra.formulas import Comparison, Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Atom, Dim, Operation, Term, term
from symbcast.core.effort import charge, remembered

_STEP = 20
"""Units of effort for each monomial of two products."""


class _Pair(NamedTuple):
    """A factor of the lesser product paired with one of the greater: the rest of both, and when the two are equal."""

    less: Term
    greater: Term
    factor: Term
    is_equal: Formula


def equal_products(left: Dim, right: Dim) -> Formula | None:
    """Return when two products are equal, in terms of their factors; None if the factors do not determine it.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> H, N, W = map(symbol, "HNW")
    >>> equal_products(H * N, N * W)
    AnyOf((Comparison('==', H, W), Comparison('==', N, 0)))
    >>> equal_products(3 * H * floor_divide(W, 3), H * W)
    AnyOf((Comparison('==', W % 3, 0), Comparison('==', H, 0)))
    """
    a, b = term(left), term(right)
    if not (_is_product(a) or _is_product(b)) or not (a.is_total and b.is_total):
        return None
    return _taken_apart(a, b)


def _is_product(value: Term) -> bool:
    """Return whether a term multiplies sizes, or is an operation that can be one of its operands."""
    return any(len(m) > 1 or (m and isinstance(m[0], Operation) and m[0].kind != "%") for m in value.coefficients)


@remembered(4096)
def _taken_apart(left: Term, right: Term) -> Formula | None:
    charge(_STEP * (len(left.coefficients) + len(right.coefficients)))
    if not left.coefficients or not right.coefficients:
        left, right = _by_sign(left - right)
        if not left.coefficients or not right.coefficients:
            return None
    common = _common_factors(left, right)
    left, right = (term(d) for d in reduced_fraction((left.dim(),), (right.dim(),)))
    apart = _dominated(left, right) or _dominated(right, left)
    if apart is None:
        return any_of([equal(left.dim(), right.dim()), *_zeros(common)]) if common else None
    return any_of([apart, *_zeros(common)])


def _by_sign(value: Term) -> tuple[Term, Term]:
    """Return two terms without negative coefficients whose difference is a given term."""
    above = Term({m: c for m, c in value.coefficients.items() if c > 0})
    return above, above - value


def _common_factors(left: Term, right: Term) -> list[Atom]:
    """Return the atoms that occur in each monomial of both terms."""
    first, *others = map(Counter, (*left.coefficients, *right.coefficients))
    for other in others:
        first &= other
    return list(first)


def _zeros(factors: Iterable[Term]) -> Iterator[Formula]:
    """Yield the formula that a factor is 0, for each factor that can be."""
    return (equal(f.dim(), 0) for f in dict.fromkeys(factors) if (lower_bound(f) or 0) < 1)


def _dominated(less: Term, greater: Term) -> Formula | None:
    """Return when two products are equal, if each factor of one is at most one of the other; None if undetermined."""
    factors: list[Term] = []
    equalities: list[Formula] = []
    while (pair := next(_pairs(less, greater), None)) is not None:
        less, greater = pair.less, pair.greater
        factors.append(pair.factor)
        equalities.append(pair.is_equal)
    if not equalities:
        return None
    if not (_is_never_negative(less) and _is_never_negative(greater - less)):
        return None
    if less != greater:
        equalities.append(equal(less.dim(), greater.dim()))
    elif len(equalities) == 1:
        factors.clear()  # a factor that is 0 equals the lesser one
    factors.append(greater)
    return any_of([all_of(equalities), *_zeros(factors)])


def _pairs(less: Term, greater: Term) -> Iterator[_Pair]:
    """Yield the factors of a product that are known not to exceed a factor of the other, with that factor."""
    for atom in _common_factors(less, less):
        if isinstance(atom, Operation) and _is_never_negative(atom):
            for factor, above, is_equal in (*_above(atom), *_finer_quotients(atom, greater)):
                yield from _pair(less, factor, greater, above, is_equal)
    for atom in _common_factors(greater, greater):
        if isinstance(atom, Operation) and atom.kind == "max":
            for member in atom.args:
                is_greatest = all_of(at_most(o.dim(), member.dim()) for o in atom.args if o is not member)
                yield from _pair(less, member, greater, atom, is_greatest)


def _above(atom: Operation) -> Iterator[tuple[Term, Term, Formula]]:
    """Yield multiples of an operation, each with a term that it does not exceed, and when the two are equal."""
    if atom.kind == "//" and atom.args[1].is_constant and atom.args[1].constant > 0:
        value, by = atom.args
        yield atom.scaled(by.constant), value, equal(modulo(value.dim(), by.constant), 0)
    elif atom.kind == "min":
        for member in atom.args:
            yield atom, member, all_of(at_most(member.dim(), o.dim()) for o in atom.args if o is not member)


def _finer_quotients(atom: Operation, greater: Term) -> Iterator[tuple[Term, Term, Formula]]:
    """Yield multiples of a quotient with the quotients of the same size by its divisor's factors, among some factors.

    ``2*(x//4) <= x//2``, and they are equal where ``x//2`` is even.
    """
    if atom.kind != "//" or not atom.args[1].is_constant or atom.args[1].constant < 1:
        return
    value, by = atom.args
    for other in _common_factors(greater, greater):
        if isinstance(other, Operation) and other.kind == "//" and other.args[0] is value and other.args[1].is_constant:
            times, rest = divmod(by.constant, other.args[1].constant)
            if not rest and times > 1:
                yield atom.scaled(times), other, equal(modulo(other.dim(), times), 0)


def _pair(less: Term, factor: Term, greater: Term, above: Term, is_equal: Formula) -> Iterator[_Pair]:
    """Yield the pair of a factor and its upper bound, if one product contains the factor and the other the bound."""
    if factor.is_constant or above.is_constant or not (_is_never_negative(factor) and _is_never_negative(above)):
        return
    rest, left = _divided_by(less, factor), _divided_by(greater, above)
    if rest is not None and left is not None:
        yield _Pair(rest, left, above, is_equal)


def _is_never_negative(value: Term) -> bool:
    least = lower_bound(value)
    return least is not None and least >= 0


def _divided_by(product: Term, factor: Term) -> Term | None:
    """Return a product without one of its factors; None if it does not have that factor."""
    if len(factor.coefficients) == 1:
        ((atoms, number),) = factor.coefficients.items()
        quotients = {monomial_quotient(m, atoms): divmod(c, number) for m, c in product.coefficients.items()}
        if None in quotients or any(rest for _, rest in quotients.values()):
            return None
        return Term({m: quotient for m, (quotient, _) in quotients.items() if m is not None})
    quotient, rest = quotient_and_remainder(product, factor)
    return None if rest.coefficients else quotient


def clear_quotients(
    comparison: Comparison, whole: Container[Operation], bounds: Bounds, defined: Container[Term] = ()
) -> Comparison:
    """Return a comparison that is equivalent if the quotients in ``whole`` are whole numbers.

    ``defined`` are the operations that are known to have a value, besides those that always have one.

    >>> from symbcast.core.algebra.arithmetic import floor_divide
    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import equal
    >>> N, T = symbol("N"), symbol("T")
    >>> quotient = floor_divide(N * T, 7)
    >>> clear_quotients(equal(quotient, N), {quotient}, Bounds({N: 1}))
    Comparison('==', T, 7)
    >>> quotient = floor_divide(2 * N, T)
    >>> clear_quotients(equal(quotient, 2), {quotient}, Bounds({T: 1}))
    Comparison('==', N, T)
    """
    difference = term(comparison.left) - term(comparison.right)
    for quotient in [o for o in difference.operations() if o in whole]:
        difference = _multiplied_out(difference, quotient, bounds)
    shared = _common_factor(difference, bounds, defined)
    by = gcd(*difference.coefficients.values())
    if not shared and by <= 1 and difference == term(comparison.left) - term(comparison.right):
        return comparison
    if shared:
        divided = {monomial_quotient(m, shared): c for m, c in difference.coefficients.items()}
        difference = Term({m: c for m, c in divided.items() if m is not None})
    positive = Term({m: c // (by or 1) for m, c in difference.coefficients.items() if c > 0})
    negative = Term({m: -c // (by or 1) for m, c in difference.coefficients.items() if c < 0})
    return Comparison(comparison.operator, positive.dim(), negative.dim())


def quotient_required_whole(comparison: Comparison) -> Operation | None:
    """Return the quotient that is whole if ``n % c == 0`` holds."""
    if comparison.operator != "==" or comparison.right != 0:
        return None
    remainder = term(comparison.left)
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
