"""Bounds of dimensions, exact quotients, and equal products.

Intervals of the separate parts are too weak where a symbol occurs in several parts: ``(N + 3)//4`` is never
below ``(N + 1)//4``, nor below ``max(N//4, 0)``. So a ``min`` or ``max`` on the wrong side is replaced by each of its
members, quotients by numbers are multiplied out, ``x - k + 1 <= k*(x//k) <= x``, and a factor that is 0 or 1 is set to
either. Each step is sound: the answer is a lower bound, though perhaps not the greatest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from math import gcd
from operator import and_

from symbcast.core.algebra import arithmetic, term_arithmetic
from symbcast.core.algebra.formulas import Comparison, Formula, Operator, all_of, any_of, at_most, different, equal
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Atom, Dim, Monomial, Operation, Term, constant, term
from symbcast.core.effort import cached_uncounted, charge, remembered
from symbcast.core.structs import NamedTuple

# How many operations in one another are taken apart.
_MAX_STEPS = 6


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
    if len(monomial) > 1 and not atom.is_truth_value and any(a is not atom and not a.is_at_least(0) for a in monomial):
        return False
    if atom.kind == "join":  # sizes from 1 on join to the greatest of them; 0 joined with 1 is 0
        return factor > 0 and all(arg.is_at_least(1) for arg in atom.args)
    return atom.kind in ("min", "max")


def _by_operation(value: Term, monomial: Monomial, atom: Operation, steps: int) -> int | None:
    """Return a lower bound of a term, from the bounds of one operation in one of its monomials."""
    factor = value.coefficients[monomial]
    others = term_arithmetic.monomial_quotient(monomial, (atom,)) or ()
    rest = value - Term({monomial: factor})
    if atom.kind == "//":
        by = atom.args[1].constant
        # x - k + 1 <= k*(x//k) <= x: a quotient that is added is replaced by its lower bound, one that is subtracted by
        # its upper bound.
        inside = atom.args[0] - constant(by - 1) if factor > 0 else atom.args[0]
        low = lower_bound(rest.scaled(by) + inside.scaled(factor), steps)
        return None if low is None else -(-low // by)  # k times the term is an integer from there on: rounded up
    is_case = len(monomial) > 1 and atom.is_truth_value
    if is_case:
        values = [_put_in(value, atom, number) for number in (0, 1)]
    else:
        values = [rest + Term({others: factor}) * arg for arg in atom.args]
    lows = [lower_bound(v, steps) for v in values]
    known = [low for low in lows if low is not None]
    # A sum with min(x, y) is at least the lesser of the sums with x and with y; one with max is at least either.
    if is_case or (atom.kind == "min") == (factor > 0):
        return min(known) if len(known) == len(lows) else None
    return max(known, default=None)


def _put_in(value: Term, atom: Operation, number: int) -> Term:
    """Return a term with an atom of its monomials replaced by a number."""
    coefficients = {m: c for m, c in value.coefficients.items() if atom not in m}
    for monomial, factor in value.coefficients.items():
        if atom in monomial and number:
            # All powers of it are dropped: 1 is its own square.
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
    numerator, denominator = term(arithmetic.multiply(*above)), term(arithmetic.multiply(*below))
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
    above, below = term(arithmetic.multiply(*dividend)), term(arithmetic.multiply(*divisor))
    if not above.coefficients or not below.coefficients:
        return above.dim(), below.dim()
    atoms = tuple(common_factors(above, below).elements())
    number = gcd(*above.coefficients.values(), *below.coefficients.values())
    return _divided(above, atoms, number), _divided(below, atoms, number)


def common_factors(*values: Term) -> Counter[Atom]:
    """Return the atoms that each monomial of some terms has, with multiplicity; no term may be 0."""
    return reduce(and_, [Counter(m) for value in values for m in value.coefficients])


def _divided(value: Term, atoms: Sequence[Atom], number: int) -> Dim:
    """Return a polynomial divided by atoms and a number that divide each of its summands."""
    return Term(
        {term_arithmetic.monomial_quotient(m, atoms) or (): c // number for m, c in value.coefficients.items()}
    ).dim()


def _quotient_by_monomial(numerator: Term, denominator: Term) -> Dim | None:
    if numerator == denominator:
        return 1
    if len(denominator.coefficients) != 1:
        return _scale(numerator, denominator)
    ((atoms, number),) = denominator.coefficients.items()
    quotients: dict[Monomial, int] = {}
    for monomial, coefficient in numerator.coefficients.items():
        rest = term_arithmetic.monomial_quotient(monomial, atoms)
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
        # The shift of each symbol to its minimum; parts that terms share are replaced once.
        self._shifted = Substitution(self._shifts, of_symbols=all(atom.is_Symbol for atom in self._shifts))
        self._known: dict[Dim, int | None] = {}
        # What was not known to be at least some number.
        self._open: dict[Dim, int] = {}
        # What was not known to be at least some number, before something was learned.
        self._open_since: dict[Dim, int] = {}
        # How many times something was learned.
        self.revision = 0

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
        return self.is_at_least(arithmetic.subtract(right, left), 0)

    def smaller(self, left: Dim, right: Dim) -> Dim:
        """Return the smaller of two dimensions."""
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        if left == right or self.is_at_most(left, right):
            return left
        return right if self.is_at_most(right, left) else arithmetic.minimum((left, right))

    def larger(self, left: Dim, right: Dim) -> Dim:
        """Return the larger of two dimensions."""
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        if left == right or self.is_at_most(right, left):
            return left
        return right if self.is_at_most(left, right) else arithmetic.maximum((left, right))

    def greatest_member(self, dim: Dim) -> Dim:
        """Return a join without members that never exceed another one, if all of them are 1 or more.

        If the join has a value, it is the greatest member: every other one is 1 or equal to it.
        """
        members = arithmetic.join_members(dim)
        if len(members) == 1 or not all(self.is_at_least(m, 1) for m in members):
            return dim
        members_left: list[Dim] = []
        for n, member in enumerate(members):
            if not any(self.is_at_most(member, other) for other in (*members_left, *members[n + 1 :])):
                members_left.append(member)
        return dim if len(members_left) == len(members) else arithmetic.join(members_left)


def numbers_of(dims: Sequence[Dim] | None) -> tuple[int, ...] | None:
    """Return the dimensions as integers if all of them are numbers, else None."""
    numbers = tuple(d for d in dims or () if isinstance(d, int))
    return None if dims is None or len(numbers) < len(dims) else numbers


# Equal products, split into factors: common factors, dominated factors, and quotients known to be whole.
#
# The law of dominated products: if ``0 <= f <= g`` for each pair of factors, the product of all f equals that of all g
# exactly if each f equals its g, or some g is 0. For if no g is 0 and one f is less than its g, the product of the
# other f is at most that of the other g, so the whole product is less too. ``p*(x//p) <= x`` and ``min(x, y) <= x``
# are such pairs; so is a factor that both products have, which only requires that the rest be equal.
#
# Factors that are never 0 cancel, and quotients known to be whole are multiplied out.


# Units of effort for each monomial of two products.
_STEP = 20


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

    That holds where the terms have values. Where they may have none, what they need is left to the caller:

    >>> equal_products(N * floor_divide(W, N), W)
    Comparison('==', W % N, 0)
    """
    a, b = term(left), term(right)
    if not (_is_product(a) or _is_product(b)) or not all(a.is_total or _has_no_join(a) for a in (a, b)):
        return None
    return _taken_apart(a, b)


def _has_no_join(value: Term) -> bool:
    return all(operation.kind != "join" for operation in value.all_operations())


def _is_product(value: Term) -> bool:
    """Return whether a term multiplies sizes, or is an operation that can be one of its operands."""
    return any(len(m) > 1 or (m and isinstance(m[0], Operation) and m[0].kind != "%") for m in value.coefficients)


@remembered(4096)
def _taken_apart(left: Term, right: Term) -> Formula | None:
    charge(_STEP * (len(left.coefficients) + len(right.coefficients)))
    if not left.coefficients or not right.coefficients:
        left, right = term_arithmetic.sides_of(left - right)
        if not left.coefficients or not right.coefficients:
            return None
    common = common_factors(left, right)
    left, right = (term(d) for d in reduced_fraction((left.dim(),), (right.dim(),)))
    apart = _dominated(left, right) or _dominated(right, left)
    if apart is None:
        return any_of([equal(left.dim(), right.dim()), *_zeros(common)]) if common else None
    return any_of([apart, *_zeros(common)])


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
    # The law needs 0 <= f <= g of what is left of both products, too.
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
    for atom in common_factors(less):
        if isinstance(atom, Operation) and _is_never_negative(atom):
            for factor, above, is_equal in (*_above(atom), *_finer_quotients(atom, greater)):
                yield from _pair(less, factor, greater, above, is_equal)
    for atom in common_factors(greater):
        if isinstance(atom, Operation) and atom.kind == "max":
            for member in atom.args:
                is_greatest = all_of(at_most(o.dim(), member.dim()) for o in atom.args if o is not member)
                yield from _pair(less, member, greater, atom, is_greatest)


def _above(atom: Operation) -> Iterator[tuple[Term, Term, Formula]]:
    """Yield multiples of an operation, each with a term that it does not exceed, and when the two are equal."""
    if atom.kind == "//" and _is_never_negative(atom.args[1]):
        value, by = atom.args
        yield atom * by, value, equal(arithmetic.modulo(value.dim(), by.dim()), 0)
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
    for other in common_factors(greater):
        if isinstance(other, Operation) and other.kind == "//" and other.args[0] is value and other.args[1].is_constant:
            times, rest = divmod(by.constant, other.args[1].constant)
            if not rest and times > 1:
                yield atom.scaled(times), other, equal(arithmetic.modulo(other.dim(), times), 0)


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
        quotients = {
            term_arithmetic.monomial_quotient(m, atoms): divmod(c, number) for m, c in product.coefficients.items()
        }
        if None in quotients or any(rest for _, rest in quotients.values()):
            return None
        return Term({m: quotient for m, (quotient, _) in quotients.items() if m is not None})
    quotient, rest = term_arithmetic.quotient_and_remainder(product, factor)
    return None if rest.coefficients else quotient


# Polynomials in factors, and inequalities with 0 by the signs of these.
#
# Only factors of polynomials that are linear in some atom x are searched for: in ``x*a + b``, each factor without x
# divides both a and b (Gauss's lemma). So the factors of a are tried, and if none divides b, the polynomial has none.
# An operation counts as an unknown of its own: an identity of polynomials holds wherever the operations have values.


# Of longer polynomials, no factors are searched for.
_MAX_FACTORED = 24


@remembered(4096)
def factors_of(value: Term) -> tuple[Term, ...]:
    """Return polynomials whose product is a polynomial, a number first unless it is 1; itself if it is not factored.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> factors_of(term(2 * M * N + 4 - 4 * M - 2 * N)), factors_of(term(M * N + 1))
    ((2, N - 2, M - 1), (M*N + 1,))
    """
    charge(_STEP * len(value.coefficients))
    if value.is_constant or len(value.coefficients) > _MAX_FACTORED:
        return (value,)
    shared = tuple(common_factors(value).elements())
    number = gcd(*value.coefficients.values())
    if value.coefficients[max(value.coefficients, key=len)] < 0:
        number = -number
    rest = term(_divided(value, shared, number))
    numbers = () if number == 1 else (constant(number),)
    return (*numbers, *shared, *(() if rest == constant(1) else _factors_of_primitive(rest)))


def _factors_of_primitive(value: Term) -> tuple[Term, ...]:
    """Return the factors of a polynomial whose monomials have no common factor."""
    atoms = Counter(atom for monomial in value.coefficients for atom in monomial)
    for atom in atoms if len(value.coefficients) > 1 else ():
        if any(monomial.count(atom) > 1 for monomial in value.coefficients):
            continue
        beside = {term_arithmetic.monomial_quotient(m, (atom,)): c for m, c in value.coefficients.items() if atom in m}
        times = Term({m: c for m, c in beside.items() if m is not None})
        rest = value - times * atom
        for factor in factors_of(times):
            quotient = None if factor.is_constant else _divided_by(rest, factor)
            if quotient is not None and (whole := _divided_by(times, factor)) is not None:
                return (*_factors_of_primitive(factor), *_factors_of_primitive(whole * atom + quotient))
        return (value,)
    return (value,)


def by_signs(operator: Operator, left: Dim, right: Dim) -> Formula | None:
    """Return an inequality of polynomials by the signs of their difference's factors; None if there are too few.

    ``0 <= f*g`` is ``(f >= 0 or g <= 0) and (f <= 0 or g >= 0)``. All terms must have values.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> by_signs("<=", N, M * N).parts, by_signs("<=", 2 * M + N, M * N + 2).parts[0]
    ((Comparison('==', N, 0), Comparison('<=', 1, M)), AnyOf((Comparison('<=', 2, N), Comparison('<=', M, 1))))
    """
    difference = term(right) - term(left)
    if len(difference.coefficients) < 2 or not any(len(m) > 1 for m in difference.coefficients):
        return None
    least = int(operator == "<")
    # Of integers, `p >= 0` is `p + 1 >= 1`: M*N >= M + N is (M - 1)*(N - 1) >= 1.
    for value, low in ((difference, least), (difference + constant(1 - 2 * least), 1 - least)):
        factors = factors_of(value)
        if sum(not f.is_constant for f in factors) > 1 and (formula := _of_signs(factors, low)) is not None:
            return formula
    return None


def _of_signs(factors: Sequence[Term], least: int) -> Formula | None:
    """Return that a product is at least 0 or 1; None if more than two of its factors may have either sign."""
    powers = Counter(f for f in factors if not f.is_constant)
    is_negative = any(f.is_constant and f.constant < 0 for f in factors)
    others: list[Term] = []
    signed: list[Term] = []
    for factor, power in powers.items():
        is_positive = _is_never_negative(factor)
        if not is_positive and power % 2 and not _is_never_negative(-factor):
            signed.append(factor)
            continue
        is_negative ^= power % 2 == 1 and not is_positive
        others.append(factor)
    if len(signed) > 2:
        return None
    if is_negative:
        signed = [-signed[0], *signed[1:]] if signed else [constant(-1)]
    if least:
        return all_of([*(different(f.dim(), 0) for f in others), _sign(signed, least)])
    return any_of([*_zeros(others), _sign(signed, least)])


def _sign(factors: Sequence[Term], least: int) -> Formula:
    """Return that the product of at most two factors is at least 0 or 1."""
    match factors:
        case [one, other]:
            # One clause for each sign: if one factor has it, so does the other.
            return all_of(
                any_of([_at_least(one.scaled(sign), least), _at_least(other.scaled(-sign), least)]) for sign in (1, -1)
            )
        case _:
            return all_of(_at_least(factor, least) for factor in factors)


def _at_least(value: Term, number: int) -> Comparison:
    above, below = term_arithmetic.sides_of(value - constant(number))
    return at_most(below.dim(), above.dim())


def different_factors(left: Dim, right: Dim) -> list[Dim]:
    """Return the factors of a difference, at least one of which is 0 where the two are equal; none if it has one only.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> M, N = symbol("M"), symbol("N")
    >>> different_factors(M * N + 2, 2 * M + N)
    [N - 2, M - 1]
    """
    difference = term(left) - term(right)
    if len(difference.coefficients) < 2 or not any(len(m) > 1 for m in difference.coefficients):
        return []
    factors = dict.fromkeys(f for f in factors_of(difference) if not f.is_constant)
    return [f.dim() for f in factors] if len(factors) > 1 else []


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
        divided = {term_arithmetic.monomial_quotient(m, shared): c for m, c in difference.coefficients.items()}
        difference = Term({m: c for m, c in divided.items() if m is not None})
    positive, negative = term_arithmetic.sides_of(Term({m: c // by for m, c in difference.coefficients.items()}))
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
