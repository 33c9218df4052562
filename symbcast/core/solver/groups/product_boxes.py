"""Equal products whose factors are in one symbol each, as products of sets.

``a(H)*c(W) == b(H)*d(W)`` holds where both pairs are equal, or both products are 0. Otherwise one pair has the lesser
factor on the left and the other pair has it on the right, so one of the sizes is where ``a > b`` or where ``a < b``. If
there are few such sizes, each of them leaves an equation in the other symbol. This is the law of dominated products
(`symbcast.core.logic.equal_products`) with exceptions: a position table that is cropped at 12 never has more rows than
the image, except in rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.algebra.operations import substitute
from symbcast.core.algebra.terms import Term, constant, term
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import Comparison, at_most, equal
from symbcast.core.solver.sets.congruences import divisors
from symbcast.core.solver.sets.separated import Separated, separated
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.solver.sets.univariate import solve

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

    Box: TypeAlias = dict[Symbol, SizeSet]
    """A set for each of some symbols: the product of these."""

_SPLIT, _SIZE = 200, 40
"""Units for one way to split the numbers, and for one size put into an equation, as measured."""
_MOST_SIZES = 64
"""An equation is solved for each of so many sizes of the other symbol."""


class _Pair(NamedTuple):
    """The factors of both products that are in one symbol."""

    symbol: Symbol
    left: Term
    right: Term


def boxes_of_equal(found: Comparison, sets: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    """Return products of sets whose union is where two products in two symbols are equal; None if that is not clear.

    Raises `NotPeriodicError` or `PeriodTooLongError` if a factor's comparison is not solved by sets.
    """
    sides = next(_products(found), None) if found.operator == "==" else None
    if sides is None:
        return None
    left, right = sides
    symbols = list({**left.factors, **right.factors})
    if len(symbols) != 2:
        return None
    one = constant(1)
    common = gcd(left.number, right.number)
    for a, b in product(divisors(left.number // common), divisors(right.number // common)):
        numbers = ((a, b), (left.number // common // a, right.number // common // b))
        first, second = (
            _Pair(s, left.factors.get(s, one).scaled(x), right.factors.get(s, one).scaled(y))
            for s, (x, y) in zip(symbols, numbers, strict=True)
        )
        charge(_SPLIT)
        boxes = _boxes(first, second, sets)
        if boxes is not None:
            return boxes
    return None


def _products(found: Comparison) -> Iterator[tuple[Separated, Separated]]:
    """Yield the two products that an equation compares, also where one of them was multiplied out over both sides."""
    difference = term(found.left) - term(found.right)
    alone = (Term({m: c}) for m, c in difference.coefficients.items())
    for one, other in ((term(found.left), term(found.right)), *((-a, difference - a) for a in alone)):
        left, right = separated(one), separated(other)
        if left is not None and right is not None:
            yield left, right
        left, right = separated(-one), separated(-other)
        if left is not None and right is not None:
            yield left, right


def _boxes(first: _Pair, second: _Pair, sets: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    parts = [_Signs.of(pair, sets.get(pair.symbol, ALL)) for pair in (first, second)]
    if None in parts:
        return None
    one, other = (part for part in parts if part is not None)
    s, t = first.symbol, second.symbol
    found: list[Box] = [{s: one.equal, t: other.equal}, *_zeros(first, second, sets)]
    for more, less in ((one.more, other.less), (one.less, other.more)):
        if not more or not less:
            continue
        if _is_small(more):
            found += _each(first, second, more, less)
        elif _is_small(less):
            found += _each(second, first, less, more)
        else:
            return None
    return [box for box in found if all(box.values())]


class _Signs(NamedTuple):
    """The sizes at which both factors are positive, by their order."""

    equal: SizeSet
    less: SizeSet
    more: SizeSet

    @staticmethod
    def of(pair: _Pair, members: SizeSet) -> _Signs | None:
        """Return the sizes by the order of the two factors; None if one of them can be negative."""
        left, right = pair.left.dim(), pair.right.dim()
        if not (members <= solve(at_most(0, left)) and members <= solve(at_most(0, right))):
            return None
        positive = members - solve(equal(left, 0)) - solve(equal(right, 0))
        same = positive & solve(equal(left, right))
        below = positive & solve(Comparison("<", left, right))
        return _Signs(same, below, positive - same - below)


def _zeros(first: _Pair, second: _Pair, sets: Mapping[Symbol, SizeSet]) -> Iterator[Box]:
    """Yield the products of sets in which both products are 0."""
    for a, b in product((first, second), repeat=2):
        box = {p.symbol: sets.get(p.symbol, ALL) for p in (first, second)}
        for pair, factor in ((a, a.left), (b, b.right)):
            box[pair.symbol] &= solve(equal(factor.dim(), 0)) if factor.symbols() else SizeSet.of([])
        yield box


def _is_small(sizes: SizeSet) -> bool:
    return sizes.greatest is not None and len(sizes.first(_MOST_SIZES + 1)) <= _MOST_SIZES


def _each(pair: _Pair, other: _Pair, sizes: SizeSet, rest: SizeSet) -> Iterator[Box]:
    """Yield the sizes of one symbol with the sizes of the other one that solve the equation with them."""
    by_factors: dict[tuple[int, int], list[int]] = {}
    for size in sizes:
        charge(_SIZE)
        a, b = (substitute(side, {pair.symbol: constant(size)}).constant for side in (pair.left, pair.right))
        common = gcd(a, b)
        by_factors.setdefault((a // common, b // common), []).append(size)
    for (a, b), members in by_factors.items():
        solved = rest & solve(equal(other.left.scaled(a).dim(), other.right.scaled(b).dim()))
        yield {pair.symbol: SizeSet.of(members), other.symbol: solved}
