"""Constraints on several sizes that are unions of products of sets, with one set for each size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import gcd
from typing import TypeAlias

from symbcast.core.algebra.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    clauses,
    dims_of,
    equal,
    expand,
    literals,
)
from symbcast.core.algebra.term_arithmetic import substitute
from symbcast.core.algebra.terms import Dim, Monomial, Operation, Symbol, Term, constant, term
from symbcast.core.effort import charge
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.residues import PeriodTooLongError, divisors
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple

Box: TypeAlias = dict[Symbol, SizeSet]
"""A set for each of some symbols: the product of these."""


_LARGEST_NUMBER = 1024
_MOST_MONOMIALS = 64
_SAMPLES = (24, 12, 7, 5, 3, 2, 1, 100)


class SeparatedProduct(NamedTuple):
    """A product: its number, and its factors by the one symbol of each."""

    number: int
    factors: dict[Symbol, Term]


def separated_product(value: Term) -> SeparatedProduct | None:
    """Return the factors of a product by symbol; None if it is not such a product, or not defined everywhere.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> H, W = symbol("H"), symbol("W")
    >>> separated_product(2 * (H + 1) * (W * W - W)), separated_product(H + W)
    (SeparatedProduct(number=2, factors={H: H + 1, W: W**2 - W}), None)
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
    return SeparatedProduct(number, factors) if 0 < number <= _LARGEST_NUMBER else None


def _taken_out(value: Term, symbol: Symbol) -> tuple[Term, Term] | None:
    """Return a factor that contains a symbol, and the other factor, which does not contain it; None if that fails."""
    by_rest: dict[Monomial, dict[Monomial, int]] = {}
    for monomial, coefficient in value.coefficients.items():
        own = tuple(atom for atom in monomial if symbol in atom.symbols())
        rest = tuple(atom for atom in monomial if symbol not in atom.symbols())
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
        # It is a product only if every other part is a whole multiple of the first one.
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


# Equal products whose factors are in one symbol each, as products of sets.
#
# ``a(H)*c(W) == b(H)*d(W)`` holds where both pairs are equal, or both products are 0. Otherwise one pair has the
# lesser factor on the left and the other pair has it on the right, so one of the sizes is where ``a > b`` or where ``a
# < b``. If there are few such sizes, each of them leaves an equation in the other symbol. This is the law of dominated
# products (`symbcast.core.algebra.bounds`) with exceptions: a position table that is cropped at 12 never has more
# rows than the image, except in rounding.


# Units for one way to split the numbers, and for one size put into an equation, as measured.
_SPLIT, _SIZE = 200, 40
# An equation is solved for each of so many sizes of the other symbol.
_MOST_SIZES = 64


class _Pair(NamedTuple):
    """The factors of both products that are in one symbol."""

    symbol: Symbol
    left: Term
    right: Term


def boxes_of_equal(equation: Comparison, sets: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    """Return products of sets whose union is where two products in two symbols are equal; None if that is not clear.

    Raises `NotPeriodicError` or `PeriodTooLongError` if a factor's comparison is not solved by sets.
    """
    sides = next(_products(equation), None) if equation.operator == "==" else None
    if sides is None:
        return None
    left, right = sides
    symbols = list({**left.factors, **right.factors})
    if len(symbols) != 2:
        return None
    one = constant(1)
    # How the two numbers are split between the pairs is free: 2*a*c == b*d may compare 2*a with b, or 2*c with d.
    common = gcd(left.number, right.number)
    for a, b in product(divisors(left.number // common), divisors(right.number // common)):
        numbers = ((a, b), (left.number // common // a, right.number // common // b))
        first, second = (
            _Pair(s, left.factors.get(s, one).scaled(x), right.factors.get(s, one).scaled(y))
            for s, (x, y) in zip(symbols, numbers, strict=True)
        )
        charge(_SPLIT)
        boxes = _equal_product_boxes(first, second, sets)
        if boxes is not None:
            return boxes
    return None


def _products(equation: Comparison) -> Iterator[tuple[SeparatedProduct, SeparatedProduct]]:
    """Yield the two products that an equation compares, also where one of them was multiplied out over both sides."""
    difference = term(equation.left) - term(equation.right)
    alone = (Term({m: c}) for m, c in difference.coefficients.items())
    for one, other in ((term(equation.left), term(equation.right)), *((-a, difference - a) for a in alone)):
        for sign in (1, -1):
            left, right = separated_product(one.scaled(sign)), separated_product(other.scaled(sign))
            if left is not None and right is not None:
                yield left, right


def _equal_product_boxes(first: _Pair, second: _Pair, sets: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    parts = [_Signs.of(pair, sets.get(pair.symbol, ALL)) for pair in (first, second)]
    if None in parts:
        return None
    one, other = (part for part in parts if part is not None)
    s, t = first.symbol, second.symbol
    boxes: list[Box] = [{s: one.equal, t: other.equal}, *_zeros(first, second, sets)]
    for more, less in ((one.more, other.less), (one.less, other.more)):
        # One pair has the lesser factor on the left only if the other has it on the right.
        if not more or not less:
            continue
        if _is_small(more):
            boxes += _each(first, second, more, less)
        elif _is_small(less):
            boxes += _each(second, first, less, more)
        else:
            return None
    return [box for box in boxes if all(box.values())]


class _Signs(NamedTuple):
    """The sizes at which both factors are positive, by their order."""

    equal: SizeSet
    less: SizeSet
    more: SizeSet

    @staticmethod
    def of(pair: _Pair, members: SizeSet) -> _Signs | None:
        """Return the sizes by the order of the two factors; None if one of them can be negative."""
        left, right = pair.left.dim(), pair.right.dim()
        if not (members <= solution_set(at_most(0, left)) and members <= solution_set(at_most(0, right))):
            return None
        positive = members - solution_set(equal(left, 0)) - solution_set(equal(right, 0))
        same = positive & solution_set(equal(left, right))
        below = positive & solution_set(Comparison("<", left, right))
        return _Signs(same, below, positive - same - below)


def _zeros(first: _Pair, second: _Pair, sets: Mapping[Symbol, SizeSet]) -> Iterator[Box]:
    """Yield the products of sets in which both products are 0."""
    for a, b in product((first, second), repeat=2):
        box = {p.symbol: sets.get(p.symbol, ALL) for p in (first, second)}
        for pair, factor in ((a, a.left), (b, b.right)):
            box[pair.symbol] &= solution_set(equal(factor.dim(), 0)) if factor.symbols() else SizeSet.of([])
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
        solved = rest & solution_set(equal(other.left.scaled(a).dim(), other.right.scaled(b).dim()))
        yield {pair.symbol: SizeSet.of(members), other.symbol: solved}


# Disjunctions over several symbols that constrain each one separately: a product of sets, split by symbol.


_MOST_BOXES = 64
# Units for one product of sets, as measured.
_BOX = 5


class _NoBoxesError(Exception):
    """The formula has a part that ties symbols together, or too many cases."""


def split_by_symbol(clause: Formula, domains: Mapping[Symbol, SizeSet]) -> dict[Symbol, SizeSet] | None:
    """Return the set that a clause requires for each symbol, if it requires nothing else.

    None if it requires more, or if a part of it is about several symbols at once and not an equality of products.
    """
    boxes = boxes_of(clause, domains)
    if boxes is None:
        return None
    try:
        sets = {s: SizeSet.union(box[s] for box in boxes) for s in symbols_in(clause)}
        return sets if _is_covered(sets, boxes) else None
    except (PeriodTooLongError, _NoBoxesError):
        return None


def boxes_of(clause: Formula, domains: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    """Return products of sets, within the domains, whose union is where a clause about several symbols holds.

    None if a part of it ties symbols together in another way.
    """
    match clause:
        case AnyOf():
            pass
        case Comparison("==", left, right) | Compatible((left, right)) if _multiply(left, right):
            pass
        case _:
            return None
    if not _may_be_boxes(clause):
        return None
    symbols = symbols_in(clause)
    whole = {s: domains[s] for s in symbols}
    try:
        boxes = [{s: whole[s] & box.get(s, whole[s]) for s in symbols} for box in _boxes(clause, domains)]
        return [box for box in boxes if all(box.values())]
    except (NotPeriodicError, PeriodTooLongError, _NoBoxesError):
        return None


def _may_be_boxes(formula: Formula) -> bool:
    """Return whether every comparison and join in a formula is about one symbol, or compares products in two."""
    match formula:
        case AllOf(parts) | AnyOf(parts):
            return all(map(_may_be_boxes, parts))
        case Comparison("==", left, right) | Compatible((left, right)) if _multiply(left, right):
            count = len(symbols_in(formula))
            return count == 1 or (count == 2 and _are_products(left, right))
    return len(symbols_in(formula)) == 1


def _multiply(*dims: Dim) -> bool:
    """Return whether one of some dimensions has a product in it."""
    return any(not isinstance(d, int) and any(len(m) > 1 for m in d.coefficients) for d in dims)


def _are_products(left: Dim, right: Dim) -> bool:
    """Return whether two dimensions are products, at least one of them in two symbols with an operation in one."""
    values = [term(left), term(right)]
    atoms = [atom for v in values for monomial in v.coefficients for atom in monomial]
    return any(isinstance(a, Operation) for a in atoms) and all(len(a.symbols()) == 1 for a in atoms)


def _boxes(formula: Formula, domains: Mapping[Symbol, SizeSet]) -> list[Box]:
    """Return products of sets whose union is the set of sizes at which the formula holds."""
    symbols = symbols_in(formula)
    if len(symbols) == 1:
        return [{s: solution_set(formula) for s in symbols}]
    boxes: list[Box] = []
    match formula:
        case AnyOf(parts):
            for part in parts:
                boxes += _boxes(part, domains)
                _count(boxes)
        case AllOf(parts):
            boxes = [{}]
            for part in parts:
                each, before, boxes = _boxes(part, domains), boxes, []
                for left in before:
                    boxes += [_both(left, right) for right in each]
                    _count(boxes)
        case Compatible() | Clashing():
            return _boxes(expand(formula), domains)
        case Comparison():
            equal_boxes = boxes_of_equal(formula, domains)
            if equal_boxes is None:
                raise _NoBoxesError
            boxes = equal_boxes
    _count(boxes)
    return boxes


def _count(boxes: list[Box]) -> None:
    """Charge for boxes, and refuse too many at once: a nested disjunction may multiply them without end."""
    charge(_BOX * len(boxes))
    if len(boxes) > _MOST_BOXES:
        raise _NoBoxesError


def _both(left: Box, right: Box) -> Box:
    return left | {s: sizes & left[s] if s in left else sizes for s, sizes in right.items()}


def _is_covered(whole: Box, boxes: list[Box]) -> bool:
    """Return whether boxes, all of them in ``whole``, cover it completely."""
    remaining = [whole]
    for box in boxes:
        remaining = [piece for rest in remaining for piece in _without(rest, box)]
        _count(remaining)
    return not any(all(piece.values()) for piece in remaining)


def _without(whole: Box, box: Box) -> list[Box]:
    """Return disjoint products of sets whose union is the difference of two products."""
    pieces: list[Box] = []
    inside = dict(whole)
    for symbol, sizes in whole.items():
        outside = sizes - box[symbol]
        if outside:
            pieces.append(inside | {symbol: outside})
        inside[symbol] = sizes & box[symbol]
        if not inside[symbol]:
            break
    return pieces


# A constraint that is a union of few products of sets, and what the others require in each of these.
#
# A position table that is cropped to the size of an image, and then added to it, requires that both have as many rows:
# that is so at small sizes, and at a few large ones. Elsewhere nothing has to be known of what comes after. In each of
# the products of sets the other constraints are short, because the sets decide the operations in them.


# The maximum number of products of sets in which the other constraints are decided separately.
_MOST = 6
# Constraints are divided only if some of them have sizes with more atoms than this.
_LONG = 24


def divided_by_boxes(
    tied: Sequence[Formula],
    sets: Mapping[Symbol, SizeSet],
    required: Callable[[Mapping[Symbol, SizeSet], Sequence[Formula]], list[Formula] | None],
) -> list[Formula] | None:
    """Return constraints equivalent to the given ones, by the products of sets that one of them is the union of.

    ``required`` returns what constraints require where each symbol is in a set, None if they contradict that. None is
    returned if there is no such constraint, or if all constraints are short.
    """
    long = [symbols_in(c) for c in tied if any(not isinstance(d, int) and d.size > _LONG for d in dims_of(c))]
    for clause in tied if len(long) > 1 else ():
        symbols = symbols_in(clause)
        if not any(symbols.keys() <= other.keys() for other in long):
            continue
        boxes = _largest(boxes_of(clause, sets) or [])
        if 1 < len(boxes) <= _MOST:
            others = [c for c in tied if c is not clause]
            return _together(boxes, [required({**sets, **box}, others) for box in boxes], sets)
    return None


def _largest(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes that are in no other one."""
    largest: list[Box] = []
    for n, box in enumerate(boxes):
        others = (*largest, *boxes[n + 1 :])
        if not any(all(sizes <= other[s] for s, sizes in box.items()) for other in others):
            largest.append(box)
    return largest


def _together(
    boxes: Sequence[Box], required: Sequence[list[Formula] | None], sets: Mapping[Symbol, SizeSet]
) -> list[Formula]:
    """Return what is required in all boxes, and a disjunction of the boxes with what each of them requires besides."""
    possible = [
        (box, requirements) for box, requirements in zip(boxes, required, strict=True) if requirements is not None
    ]
    if not possible:
        return [any_of([])]
    facts = [_BoxFacts(requirements) for _, requirements in possible]
    common = list(
        dict.fromkeys(c for _, requirements in possible for c in requirements if all(f.has(c) for f in facts))
    )
    known = [{f.key(c) for c in common} for f in facts]
    cases = (
        all_of([*_described(box, sets), *(c for c in requirements if f.key(c) not in keys)])
        for (box, requirements), f, keys in zip(possible, facts, known, strict=True)
    )
    return [*common, any_of(cases)]


class _BoxFacts:
    """Constraints, read with one name for all sizes that they state to be equal."""

    def __init__(self, constraints: Sequence[Formula]) -> None:
        self._names: dict[Symbol, Dim] = {}
        for constraint in constraints:
            match constraint:
                case Comparison("==", Symbol() as size, Symbol() as other) if size != other:
                    name, gone = sorted((self._names.get(s, s) for s in (size, other)), key=str)
                    merged = {s: name if v == gone else v for s, v in self._names.items()}
                    self._names = merged | dict.fromkeys((size, other), name)
        self._stated = {c for c in constraints if isinstance(c, Comparison)}
        self._keys = {self.key(c) for c in constraints}

    def key(self, constraint: Formula) -> object:
        """Return the same for constraints that differ only in these names, and in the order of what they compare."""
        if constraint in self._stated:
            return constraint
        return frozenset(map(_key, literals(replace_in_formula(constraint, self._names))))

    def has(self, constraint: Formula) -> bool:
        """Return whether one of the constraints states the same."""
        return self.key(constraint) in self._keys


def _key(literal: Formula) -> object:
    """Return the same for ``a == b`` and ``b == a``."""
    match literal:
        case Comparison("==" | "!=" as operator, left, right):
            return operator, frozenset((left, right))
    return literal


def _described(box: Box, sets: Mapping[Symbol, SizeSet]) -> Iterator[Formula]:
    for symbol, sizes in box.items():
        yield from clauses(set_formula(symbol, sizes, sets[symbol]))
