"""Operations that sets of sizes decide, and products and operations that are solved as if each were one size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import gcd, prod

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.bounds import Bounds, exact_quotient, factors_of, reduced_fraction
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    different,
    dims_of,
    equal,
    is_total,
    literal_count,
    literals,
    lost_needs,
    opposite,
    with_dims,
)
from symbcast.core.algebra.term_arithmetic import floordiv_terms, operate, quotient_and_remainder, substitute
from symbcast.core.algebra.terms import Dim, Monomial, Operation, Symbol, Term, collect, constant, made_symbol, term
from symbcast.core.effort import Effort, EffortSpentError, charge, counting, current_budget
from symbcast.core.solver.evaluation import in_normal_form, normal_conjuncts, replace_in_formula, symbols_in
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.ranges import Intervals, with_small_part
from symbcast.core.solver.f2_one_size.set_formulas import set_formula, shortest_set_formula
from symbcast.core.solver.f2_one_size.set_products import separated_product
from symbcast.core.solver.f2_one_size.univariate import narrowed_set, solution_set
from symbcast.core.solver.residues import MAX_PERIOD, PeriodTooLongError, divisors, mask_residues
from symbcast.core.solver.size_sets import ALL, EMPTY, SizeSet
from symbcast.core.structs import NamedTuple

# Operations that the sets of single symbols decide: where ``H % 8 == 0``, ``(H + 7)//8`` is ``H//8``.
#
# A set tells more than bounds do: the residues of its members decide remainders, and a comparison in one symbol holds
# for all of its members or it does not. Products of such factors are compared factor by factor (see
# `symbcast.core.algebra.bounds`, whose law needs ``f <= g`` for each pair: here that is decided exactly).


# Units of effort for an operation.
_OPERATION = 20
# How many sizes are tried before two terms in one symbol are compared.
_SAMPLES = 6


class DecidedTerms:
    """Formulas and terms without the operations that the sets of single symbols decide; shared parts are read once.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> sets = {symbol("H"): SizeSet.residues(8, [0]), symbol("W"): SizeSet.interval(4, None)}
    >>> DecidedTerms(sets).formula(parse_formula("(H + 7)//8 + M == min(W, 4)*(H//8)*K"))
    Comparison('==', H//8 + M, 4*K*(H//8))
    """

    def __init__(self, sets: Mapping[Symbol, SizeSet]) -> None:
        self._sets = {s: members for s, members in sets.items() if members is not ALL}
        self._bounds = Bounds({s: members.least() or 0 for s, members in self._sets.items()})
        self._intervals = Intervals(self._sets)
        self._known: dict[Operation, Term] = {}
        self._quotients: dict[Symbol, dict[Operation, None]] = {}

    def formula(self, formula: Formula) -> Formula:
        """Return a formula that is equivalent where each symbol is in its set."""
        match formula:
            case AllOf(parts):
                return all_of(map(self.formula, parts))
            case AnyOf(parts):
                return any_of(self._together(map(self._part, parts)))
        if self._sets.keys().isdisjoint(symbols_in(formula)) and not any(map(_has_extreme, dims_of(formula))):
            return formula
        decided = self._comparison(formula)
        # A product with a factor that is 0 has no value where its other factors have none.
        lost = lost_needs(formula, decided)
        return all_of([decided, *(_within(self.formula(need), self._sets) for need in lost)]) if lost else decided

    def without_decided(self, formula: Formula) -> Formula:
        """Return an equivalent formula without the parts that the sets decide alone; all others stay as they are."""
        match formula:
            case AllOf(parts):
                return all_of(map(self.without_decided, parts))
            case AnyOf(parts):
                return any_of(map(self.without_decided, parts))
        symbols = symbols_in(formula)
        if len(symbols) == 1:
            members = self._sets.get(next(iter(symbols)), ALL)
            holding = narrowed_set(members, formula)
            if holding is None:
                return formula
            return FALSE if not holding else TRUE if members <= holding else formula
        if isinstance(formula, Comparison) and self._never(formula):
            return FALSE
        contrary = opposite(formula)
        if is_total(formula) and isinstance(contrary, Comparison) and self._never(contrary):
            return TRUE
        decided = self.formula(formula)
        return decided if decided in (TRUE, FALSE) else formula

    def _comparison(self, formula: Formula) -> Formula:
        """Return a formula that is equivalent where each symbol is in its set, and no divisor is 0."""
        if isinstance(formula, Comparison) and formula.operator == "==":
            apart = _equal_products(formula, self._sets)
            if apart is not None:
                return apart
            multiplied = self._multiplied(formula.left, formula.right) or self._multiplied(formula.right, formula.left)
            if multiplied is not None:
                return multiplied
        for dim in dims_of(formula):
            self._note_quotients(dim)
        decided = in_normal_form(with_dims(formula, self.dim))
        if isinstance(decided, Compatible) and not all(isinstance(d, int) or d.is_Symbol for d in decided.dims):
            return self._without_ones(decided)
        return self._unless_refuted(decided)

    def _multiplied(self, quotient: Dim, size: Dim) -> Formula | None:
        """Return ``(n - r)//d == m`` as ``n == d*m + r`` where that is the remainder of n: so n can be replaced."""
        if isinstance(quotient, int) or isinstance(size, int) or not size.is_Symbol:
            return None
        if not isinstance(quotient, Operation) or quotient.kind != "//" or size in quotient.symbols():
            return None
        dividend, divisor = quotient.args
        is_number = divisor.is_constant and divisor.constant > 1
        remainder = _remainder(dividend, divisor.constant, self._sets) if is_number else None
        if remainder is None:
            return None
        return equal((dividend - constant(remainder)).dim(), size.scaled(divisor.constant).dim())

    def _without_ones(self, join: Compatible) -> Formula:
        """Return a join without the alternatives that sizes are 1, if their bounds exclude that."""
        large = [d for d in join.dims if self._bounds.is_at_least(d, 2)]
        if not large or (len(large) < len(join.dims) and len(join.dims) > 2):
            return join
        ones = (in_normal_form(equal(d, 1)) for d in join.dims if d not in large)
        equalities = (in_normal_form(equal(large[0], d)) for d in join.dims if d is not large[0])
        return any_of([all_of(map(self._unless_refuted, equalities)), *map(self._part, ones)])

    def _unless_refuted(self, formula: Formula) -> Formula:
        return FALSE if isinstance(formula, Comparison) and self._never(formula) else formula

    def _together(self, parts: Iterable[Formula]) -> Iterator[Formula]:
        """Yield parts of a disjunction, those about one symbol together as its set has it, if that is no longer."""
        own: dict[Formula | Symbol, list[Formula]] = {}
        for part in parts:
            size, *others = symbols_in(part) or [None]
            own.setdefault(part if others or size not in self._sets else size, []).append(part)
        for about, alternatives in own.items():
            yield self._described(about, alternatives) if isinstance(about, Symbol) else about

    def _described(self, symbol: Symbol, alternatives: Sequence[Formula]) -> Formula:
        """Return that one of some formulas about a symbol holds, by the members of its set at which it does."""
        members, spelled = self._sets[symbol], any_of(alternatives)
        holding = narrowed_set(members, spelled)
        if holding is None:
            return spelled
        charge(_OPERATION)
        described = set_formula(symbol, holding, members)
        return described if literal_count(described) <= literal_count(spelled) else spelled

    def _never(self, comparison: Comparison) -> bool:
        """Return whether the bounds of a difference refute a comparison."""
        less, more = subtract(comparison.right, comparison.left), subtract(comparison.left, comparison.right)
        match comparison.operator:
            case "==":
                return self._bounds.is_at_least(less, 1) or self._bounds.is_at_least(more, 1)
            case "<=" | "<":
                return self._bounds.is_at_least(more, int(comparison.operator == "<="))
        return False

    def _note_quotients(self, dim: Dim) -> None:
        """Note the quotients in one symbol, which may be short forms of other operations."""
        for operation in () if isinstance(dim, int) else dim.operations():
            symbols = operation.symbols()
            if operation.kind == "//" and len(symbols) == 1:
                self._quotients.setdefault(next(iter(symbols)), {})[operation] = None
            for arg in operation.args:
                self._note_quotients(arg.dim())

    def _part(self, formula: Formula) -> Formula:
        """Return a part of a disjunction, or whether it holds if the set of its only symbol decides that."""
        return _within(self.formula(formula), self._sets)

    def dim(self, dim: Dim) -> Dim:
        """Return a dimension that is equal where each symbol is in its set."""
        return dim if isinstance(dim, int) or not dim.has_operations else self._term(dim).dim()

    def shortest(self, dim: Dim) -> Dim:
        """Return a dimension that is equal where each symbol is in its set, and not longer."""
        decided = self.dim(dim)
        return dim if not isinstance(dim, int) and term(decided).length > dim.length else decided

    def _term(self, value: Term) -> Term:
        parts: list[tuple[Term, int]] = []
        for monomial, coefficient in value.coefficients.items():
            whole = _multiplied_out(monomial, coefficient, self._sets)
            if whole is not None:
                parts.append((self._term(whole), 1))
                continue
            product = constant(1)
            for atom in monomial:
                factor = self._operation(atom) if isinstance(atom, Operation) else atom
                # A sum in place of a factor is multiplied out, and the product can no longer be compared by factors.
                product = product * (atom if len(monomial) > 1 and len(factor.coefficients) > 1 else factor)
            parts.append((product, coefficient))
        return collect(parts)

    def _operation(self, operation: Operation) -> Term:
        decided = self._known.get(operation)
        if decided is None:
            charge(_OPERATION)
            decided = self._known[operation] = self._decided(operation) or self._of_parts(operation)
        return decided

    def _of_parts(self, operation: Operation) -> Term:
        """Return an operation with its arguments rewritten, or what they decide it to be."""
        args = tuple(map(self._term, operation.args))
        rewritten = operation if args == operation.args else operate(operation.kind, args)
        if rewritten is operation or not isinstance(rewritten, Operation):
            return rewritten
        return self._decided(rewritten) or rewritten

    def _decided(self, operation: Operation) -> Term | None:
        """Return the simpler term that an operation equals at all members of the sets; None if there is none."""
        if operation.kind == "join":
            return self._joined(*operation.args) if len(operation.args) == 2 else None
        symbols = operation.symbols()
        if len(symbols) == 1:
            shorter = (
                self._shorter(operation, *symbols) if operation.is_total else self._by_divisor(operation, *symbols)
            )
            if shorter is not None:
                return shorter
        if operation.kind in ("//", "%"):
            decided = self._divided(operation) or _of_quotient(operation, self._sets)
            decided = decided or with_small_part(operation, self._intervals)
            return decided if decided is None or decided.length >= operation.length else self._term(decided)
        if not operation.is_total:  # a member without a value may not be dropped
            return None
        return next((m for m in operation.args if self._is_extreme(m, operation)), None)

    def _divided(self, operation: Operation) -> Term | None:
        """Return a quotient or remainder by a term that is never 0, with common factors and multiples taken out.

        ``(b*q + r)//b`` is q, and ``(b*q + r) % b`` is r, where ``0 <= r < b``.
        """
        dividend, divisor = operation.args
        sign = 0 if divisor.is_constant else self._sign(divisor)
        if not sign:
            return None
        low, high = self._intervals.atom(operation)
        if low is not None and low == high:
            return constant(low)
        # -a has the quotient by -b that a has by b, and the remainder with the other sign.
        above, below = reduced_fraction((dividend.scaled(sign).dim(),), (divisor.scaled(sign).dim(),))
        common = exact_quotient((divisor.scaled(sign).dim(),), (below,)) or 1
        quotient, rest = quotient_and_remainder(term(above), term(below))
        if self._is_at_least(rest, 0) and self._is_at_least(term(below) - rest, 1):
            return quotient if operation.kind == "//" else (rest * common).scaled(sign)
        if below == divisor.scaled(sign).dim():
            return None
        whole = floor_divide(above, below) if operation.kind == "//" else multiply(sign, common, modulo(above, below))
        return term(whole)

    def _sign(self, value: Term) -> int:
        """Return 1 or -1 for a term that is always above or below 0, by its factors; 0 if that is not known."""
        if self._is_at_least(value, 1):
            return 1
        factors = factors_of(value)
        signs = (self._is_at_least(f, 1) - self._is_at_least(-f, 1) for f in factors)
        return prod(signs)

    def _is_at_least(self, value: Term, number: int) -> bool:
        low = self._intervals.of(value)[0]
        return (low is not None and low >= number) or self._bounds.is_at_least(value.dim(), number)

    def _by_divisor(self, operation: Operation, symbol: Symbol) -> Term | None:
        """Return the number that a quotient by a term is at all members of the set, or the remainder beside it."""
        if operation.kind not in ("//", "%"):
            return None
        dividend, divisor = operation.args
        least = self._sets.get(symbol, EMPTY).least()
        if least is None or not substitute(divisor, {symbol: constant(least)}).constant:
            return None
        quotient = operate("//", (dividend, divisor))
        value = substitute(quotient, {symbol: constant(least)})
        # A comparison does not hold where the divisor is 0: so this is no value of only some members.
        if not value.is_constant or not _always(equal(quotient.dim(), value.dim()), self._sets):
            return None
        return value if operation.kind == "//" else dividend - divisor * value

    def _is_extreme(self, member: Term, operation: Operation) -> bool:
        """Return whether a member of a min or max is the least or greatest one at all members of the sets."""
        for other in (o for o in operation.args if o is not member):
            low, high = (member, other) if operation.kind == "min" else (other, member)
            is_known = self._is_at_least(high - low, 0)
            if not is_known and not _always(at_most(low.dim(), high.dim()), self._sets):
                return False
        return True

    def _shorter(self, operation: Operation, symbol: Symbol) -> Term | None:
        """Return the number that an operation in one symbol equals; for a min or max, a quotient too."""
        members = self._sets.get(symbol, ALL)
        if members is ALL:
            return None
        samples = [constant(size) for size in members.first(_SAMPLES)]
        values = [substitute(operation, {symbol: size}) for size in samples]
        others = () if operation.kind in ("//", "%") else (symbol, *self._quotients.get(symbol, ()))
        candidates: tuple[Term, ...] = (*values[:1], *others)
        for other in candidates:
            is_like = all(substitute(other, {symbol: n}) == v for n, v in zip(samples, values, strict=True))
            if is_like and other.size < operation.size and _always(equal(operation.dim(), other.dim()), self._sets):
                return other
        return None

    def _joined(self, left: Term, right: Term) -> Term | None:
        """Return the join of two terms that are equal, or of which one is 1, at all members of the sets."""
        if self.formula(equal(right.dim(), 1)) == TRUE or self.formula(equal(left.dim(), right.dim())) == TRUE:
            return left
        return right if self.formula(equal(left.dim(), 1)) == TRUE else None


def _has_extreme(dim: Dim | Term) -> bool:
    """Return whether a dimension has a min or max at any depth: one of its members may be it whatever the sizes are."""
    if isinstance(dim, int) or dim.is_Symbol:
        return False
    return any(o.kind in ("min", "max") or any(map(_has_extreme, o.args)) for o in dim.operations())


def _of_quotient(operation: Operation, sets: Mapping[Symbol, SizeSet]) -> Term | None:
    """Return a quotient or remainder by a number, with the known remainder taken out of the dividend."""
    dividend, divisor = operation.args
    if not divisor.is_constant or divisor.constant < 1:
        return None
    remainder = _remainder(dividend, divisor.constant, sets)
    if remainder is None:
        return None
    decided = constant(remainder) if operation.kind == "%" else floordiv_terms(dividend - constant(remainder), divisor)
    return None if decided == operation else decided


def _multiplied_out(monomial: Monomial, factor: int, sets: Mapping[Symbol, SizeSet]) -> Term | None:
    """Return a product with ``d*(n//d)`` in it as one with ``n - r``, where r is the remainder of n; None if none is.

    A sum in place of a factor would be multiplied out, so it replaces only a whole product.
    """
    for place, atom in enumerate(monomial):
        if not isinstance(atom, Operation) or atom.kind != "//":
            continue
        dividend, divisor = atom.args
        by = divisor.constant
        if by < 2 or not divisor.is_constant or factor % by:
            continue
        remainder = _remainder(dividend, by, sets)
        if remainder is not None and (len(monomial) == 1 or (not remainder and len(dividend.coefficients) == 1)):
            return (dividend - constant(remainder)) * Term({monomial[:place] + monomial[place + 1 :]: factor // by})
    return None


def _remainder(dividend: Term, by: int, sets: Mapping[Symbol, SizeSet]) -> int | None:
    """Return the remainder that a linear dividend has at all members of the sets; None if it varies."""
    total = dividend.constant
    for monomial, factor in dividend.coefficients.items():
        period = by // gcd(factor, by)
        if not monomial or period == 1:
            continue
        if len(monomial) > 1 or not isinstance(monomial[0], Symbol) or period > MAX_PERIOD:
            return None
        members = sets.get(monomial[0], ALL)
        residues = [] if members is ALL else mask_residues(members.residues_of(period))
        if len(residues) != 1:
            return None
        total += factor * residues[0]
    return total % by


def _always(formula: Formula, sets: Mapping[Symbol, SizeSet]) -> bool:
    """Return whether a formula in one symbol holds at all members of its set; False if that is not decided."""
    formula = in_normal_form(formula)
    symbols = symbols_in(formula)
    if len(symbols) != 1:
        return formula == TRUE
    (symbol,) = symbols
    try:
        return sets.get(symbol, ALL) <= solution_set(formula)
    except (NotPeriodicError, PeriodTooLongError):
        return False


def _within(formula: Formula, sets: Mapping[Symbol, SizeSet]) -> Formula:
    """Return a formula, or whether it holds if the set of its only symbol decides that."""
    symbols = symbols_in(formula)
    members = sets.get(next(iter(symbols)), ALL) if len(symbols) == 1 else ALL
    holding = None if members is ALL else narrowed_set(members, formula)
    if holding is None:
        return formula
    if not holding:
        return FALSE
    return TRUE if members <= holding else formula


# What each constraint decides alone, before the effort of a question is spent.
#
# Constraints are few or many, and one of them may be hard: then the effort for the question is spent, and all of them
# stay. So each is first held against the sets and bounds of its sizes, with a small counter of its own.


# Units of effort for one constraint: about a millisecond.
_ALONE = 3_000


def decided_alone(constraints: Iterable[Formula], sets: Mapping[Symbol, SizeSet]) -> list[Formula]:
    """Return constraints without those that hold at all members of the sets, and without alternatives that never do.

    Nothing is charged to the question: what a millisecond decides does not depend on what else is asked.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> sets = {symbol("H"): SizeSet.interval(1, None), symbol("W"): SizeSet.interval(4, None)}
    >>> texts = "(H + 3)//4 + H % 2 >= 1", "H*W >= 3*H or H*W == 8", "W//5 < 0 or H*W == 12"
    >>> decided_alone(map(parse_formula, texts), sets)
    [Comparison('==', H*W, 12)]
    """
    decided = DecidedTerms(sets)
    clock = current_budget()

    def alone(constraint: Formula) -> Formula:
        try:
            with counting(Effort(_ALONE, clock=clock)):
                return decided.without_decided(constraint)
        except EffortSpentError:
            return constraint

    remaining = normal_conjuncts(map(alone, constraints))
    return [FALSE] if FALSE in remaining else remaining


class _Factor(NamedTuple):
    """The factors of two products that are in one symbol, the lesser at most the greater at all sizes in its set."""

    less: Dim
    greater: Dim


def is_greatest(greater: Dim, less: Dim, sets: Mapping[Symbol, SizeSet]) -> bool:
    """Return whether a product is the join of itself and another product, wherever they have a join.

    Both are products of factors in one symbol each. The lesser one never exceeds the greater one, and is 0 only where
    that is 0 too: so where they differ, the lesser one is 1, or they have no join.
    """
    factors = _by_symbol(term(less), term(greater), sets)
    return bool(factors) and all(_always(any_of([different(f.less, 0), equal(f.greater, 0)]), sets) for f in factors)


def _equal_products(equation: Comparison, sets: Mapping[Symbol, SizeSet]) -> Formula | None:
    """Return when two products are equal, if each factor of one is at most its partner of the other."""
    left, right = term(equation.left), term(equation.right)
    for less, greater in ((left, right), (right, left)):
        factors = _by_symbol(less, greater, sets)
        if factors and len(factors) > 1:
            zeros = (equal(f.greater, 0) for f in factors)
            return any_of([all_of(_within(equal(*f), sets) for f in factors), *(_within(z, sets) for z in zeros)])
    return None


def _by_symbol(less: Term, greater: Term, sets: Mapping[Symbol, SizeSet]) -> list[_Factor]:
    """Return the factors of two products by symbol; none if one of the lesser product may exceed its partner."""
    if not (less.has_operations or greater.has_operations):
        return []
    low, high = separated_product(less), separated_product(greater)
    if low is None or high is None:
        return []
    symbols = {**low.factors, **high.factors}
    pairs = [(low.factors.get(s, constant(1)), high.factors.get(s, constant(1))) for s in symbols]
    if not pairs:
        return []
    common = gcd(low.number, high.number)
    return _dominated(pairs, low.number // common, high.number // common, sets)


def _dominated(
    pairs: Sequence[tuple[Term, Term]], less: int, greater: int, sets: Mapping[Symbol, SizeSet]
) -> list[_Factor]:
    """Return pairs of factors multiplied by parts of the two numbers, so that none of the lesser exceeds its partner.

    None are returned if there are no such parts.
    """
    (low, high), *others = pairs
    choices = [(less, greater)] if not others else product(divisors(less), divisors(greater))
    for a, b in choices:
        factor = _Factor(low.scaled(a).dim(), high.scaled(b).dim())
        if _always(at_most(0, factor.less), sets) and _always(at_most(factor.less, factor.greater), sets):
            rest = _dominated(others, less // a, greater // b, sets) if others else []
            if rest or not others:
                return [factor, *rest]
    return []


# Products and operations that are all that a formula says about its sizes: solved as if each were one size.
#
# ``H*W % 16 == 0 and (H*W//16) % 3 == 0`` is about the product alone, and a set of sizes says it as ``H*W % 48 == 0``.
# The set is right for each number from the least value of the product on, whether or not the product has that value.


# Units of effort for a composite size that is tried.
_CANDIDATE = 20
_NAME = made_symbol(Symbol, "composite size")


def solved_composites(constraints: Sequence[Formula], least: Mapping[Symbol, int]) -> list[Formula]:
    """Return equivalent constraints, where sizes are at least ``least``: those about one composite size are solved.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> texts = "min(H*W, 1) == 0 or H*W == min(H*W, 1) + 1 or H*W == 1", "H*N % 16 == 0", "(H*N//16) % 3 == 0"
    >>> solved_composites([parse_formula(text) for text in texts], {symbol(s): 0 for s in "HWN"})
    [Comparison('<=', H*W, 2), Comparison('==', H*N % 48, 0)]
    """
    bounds = Bounds({s: low for s, low in least.items() if low})
    alone = [c if _composite(c) else any_of(_solved(literals(c), any_of, bounds)) for c in constraints]
    return normal_conjuncts(_solved(alone, all_of, bounds))


def _solved(
    parts: Iterable[Formula], together: Callable[[Iterable[Formula]], Formula], bounds: Bounds
) -> Iterator[Formula]:
    """Yield parts of a conjunction or disjunction, those about one composite size together in their shortest form."""
    own: dict[Term | Formula, list[Formula]] = {}
    for part in parts:
        own.setdefault(_composite(part) or part, []).append(part)
    for size, about in own.items():
        yield _shortest(size, together(about), bounds) if isinstance(size, Term) else size


def _composite(formula: Formula) -> Term | None:
    """Return the term, a product or an operation, in which all sizes of a formula occur, and only there."""
    symbols = symbols_in(formula)
    if len(symbols) < 2:
        return None
    dims = [dim for dim in dims_of(formula) if not isinstance(dim, int)]
    for monomial in dict.fromkeys(m for dim in dims for m in _monomials(dim, len(symbols))):
        charge(_CANDIDATE)
        if symbols_in(_named(formula, monomial)).keys() == {_NAME}:
            return Term({monomial: 1})
    return None


def _monomials(value: Term, count: int) -> Iterator[Monomial]:
    """Yield the products and operations in a term that have so many sizes, the outer ones last."""
    for monomial in value.coefficients:
        if len({s for atom in monomial for s in atom.symbols()}) == count:
            for atom in monomial:
                for arg in atom.args if isinstance(atom, Operation) else ():
                    yield from _monomials(arg, count)
            yield monomial


def _named(formula: Formula, monomial: Monomial) -> Formula:
    """Return a formula with a name in place of a product."""
    return with_dims(formula, lambda dim: dim if isinstance(dim, int) else _with_name(dim, monomial).dim())


def _with_name(value: Term, monomial: Monomial) -> Term:
    parts: list[tuple[Term, int]] = []
    for factors, coefficient in value.coefficients.items():
        product: Term = _NAME if factors == monomial else constant(1)
        for atom in factors if factors != monomial else ():
            if isinstance(atom, Operation):
                product = product * operate(atom.kind, tuple(_with_name(arg, monomial) for arg in atom.args))
            else:
                product = product * atom
        parts.append((product, coefficient))
    return collect(parts)


def _shortest(size: Term, formula: Formula, bounds: Bounds) -> Formula:
    """Return what a formula requires of a composite size; the formula itself, if that is no longer."""
    low = bounds.least(size.dim())
    ((monomial, _),) = size.coefficients.items()
    named = in_normal_form(_named(formula, monomial))
    is_plain = isinstance(named, Comparison) and {type(named.left), type(named.right)} == {Symbol, int}
    if is_plain or low is None or low < 0 or not size.is_total:
        return formula
    try:
        shortest = shortest_set_formula(_NAME, solution_set(named), SizeSet.interval(low, None), [named])
    except (NotPeriodicError, PeriodTooLongError):
        return formula
    solved = replace_in_formula(shortest, {_NAME: size.dim()})
    return solved if _length(solved) < _length(formula) else formula


def _length(formula: Formula) -> int:
    return sum(1 if isinstance(dim, int) else dim.size for dim in dims_of(formula))
