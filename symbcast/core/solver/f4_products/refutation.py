"""Products refuted with proof, before z3 is asked: by linear arithmetic on monomials, and by elimination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import Substitution, quotient_and_remainder
from symbcast.core.algebra.bounds import exact_quotient, reduced_fraction
from symbcast.core.algebra.formulas import FALSE, Comparison, Formula, at_most, dims_of, equal, literals
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Monomial, Operation, Symbol, Term, constant, term
from symbcast.core.effort import REFUTED, EffortSpentError, budget_share, charge
from symbcast.core.solver.evaluation import symbols_in, value_function
from symbcast.core.solver.f2_one_size.clauses import clauses_of
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.points import GivenUpError
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.errors import DimensionError

# Products and symbolic divisors refuted by linear arithmetic: a product of non-negative factors is non-negative.
#
# A quotient by b is a new symbol q, with ``a = b*q + r`` and ``0 <= r < b``, once the sign of b is known: cases are
# split for that, and for min, max and ``!=``. Each remaining case consists of polynomials that are 0 or non-negative.
# Each product of two of these is also non-negative, and each monomial is then treated as a separate symbol (the
# reformulation linearisation technique of Sherali and Adams). If the linear formulas cannot hold, nothing can.


_CASES = 64
# With more facts, only the products of the first ones are used.
_FACTORS = 14
_MONOMIALS = 80
# Units of z3 for one case, which is linear.
_LIMIT = 60_000
# Units of effort for each monomial of a product of two facts.
_PRODUCT = 20
# Units of effort for examining a case.
_CASE = 1_000


class _ProductCase(NamedTuple):
    """Terms that are non-negative, zero, or nonzero, and the number of symbols created for quotients."""

    positive: tuple[Term, ...]
    zero: tuple[Term, ...]
    other: tuple[Term, ...]
    symbols_made: int = 0

    def beside(self, positive: Iterable[Term] = (), zero: Iterable[Term] = ()) -> _ProductCase:
        """Return the case with additional facts."""
        return self._replace(positive=(*self.positive, *positive), zero=(*self.zero, *zero))

    def put(self, operation: Operation, value: Term) -> _ProductCase:
        """Return the case with an operation replaced by a term."""
        put_in = Substitution({operation: value}, of_symbols=False).term
        positive, zero, other = (tuple(map(put_in, terms)) for terms in (self.positive, self.zero, self.other))
        return _ProductCase(positive, zero, other, self.symbols_made)

    def terms(self) -> Iterator[Term]:
        """Yield all terms."""
        yield from self.positive
        yield from self.zero
        yield from self.other

    def is_plainly_impossible(self) -> bool:
        """Return whether a constant term already makes the case impossible."""
        return (
            any(t.is_constant and t.constant < 0 for t in self.positive)
            or any(t.is_constant and t.constant for t in self.zero)
            or any(t.is_constant and not t.constant for t in self.other)
        )


def refuted_linearly(branch: Iterable[Formula]) -> bool:
    """Return whether some comparisons provably cannot hold together; False means undecided.

    >>> from symbcast.core.text import parse_formula
    >>> refuted_linearly([parse_formula(f) for f in ("a <= 7", "b <= 9", "a*b >= 64")])
    True
    """
    positive: list[Term] = []
    zero: list[Term] = []
    other: list[Term] = []
    for literal in branch:
        if isinstance(literal, Comparison):
            above = term(literal.right) - term(literal.left)
            terms = {"==": zero, "!=": other}.get(literal.operator, positive)
            terms.append(above - constant(1) if literal.operator == "<" else above)
    ahead = [_ProductCase(tuple(positive), tuple(zero), tuple(other))]
    for _ in range(_CASES):
        if not ahead:
            return True
        case = ahead.pop()
        charge(_CASE + 10 * sum(t.size for t in case.terms()))
        if case.is_plainly_impossible():
            continue
        cases = _split(case)
        if cases is None:
            if not _is_impossible(case):
                return False
        else:
            ahead += cases
    return False


def _split(case: _ProductCase) -> list[_ProductCase] | None:
    """Return cases with one operation fewer, one of which holds wherever this one does; None if there is none."""
    for number, value in enumerate(case.other):
        if not value.has_operations:
            rest = case._replace(other=(*case.other[:number], *case.other[number + 1 :]))
            signs = [value] if _least(value) >= 0 else [-value] if _least(-value) >= 0 else [value, -value]
            return [rest.beside([sign - constant(1)]) for sign in signs]
    operation = next(filter(None, map(_innermost, case.terms())), None)
    if operation is None:
        return None
    if operation.kind in ("min", "max"):
        return list(_chosen(case, operation))
    if operation.kind == "join":
        return [case._replace(symbols_made=case.symbols_made + 1).put(operation, _new(case.symbols_made))]
    return _divided(case, operation)


def _chosen(case: _ProductCase, operation: Operation) -> Iterator[_ProductCase]:
    for member in operation.args:
        apart = (o - member if operation.kind == "min" else member - o for o in operation.args if o is not member)
        yield case.put(operation, member).beside(apart)


def _divided(case: _ProductCase, operation: Operation) -> list[_ProductCase]:
    """Return the cases of a quotient or remainder, split by the sign of the divisor."""
    dividend, divisor = operation.args
    if _is_positive(case, divisor):
        return [_quotient(case, operation, dividend, divisor)]
    if _is_positive(case, -divisor):
        return [_quotient(case, operation, -dividend, -divisor)]
    one = constant(1)
    cases = [case.beside([divisor - one])]
    if _least(divisor) < 0:
        cases.append(case.beside([-divisor - one]))
    # Where the divisor is 0, the operation may have any value: the difference of two sizes is any integer.
    any_value = _new(case.symbols_made) - _new(case.symbols_made + 1)
    without = case._replace(symbols_made=case.symbols_made + 2).put(operation, any_value)
    return [*cases, without.beside(zero=[divisor])]


def _quotient(case: _ProductCase, operation: Operation, dividend: Term, divisor: Term) -> _ProductCase:
    """Return the case with a quotient or remainder by a positive divisor replaced, by a new symbol if needed."""
    whole, rest = quotient_and_remainder(dividend, divisor)
    facts: list[Term] = []
    count = case.symbols_made
    if rest.coefficients:
        if not divisor.is_constant:
            above, below = (term(d) for d in reduced_fraction((rest.dim(),), (divisor.dim(),)))
            if below != divisor:
                again = Operation("//", (above, below))
                value = whole + again
                return case.put(
                    operation, value if operation.kind == "//" else operation.args[0] - operation.args[1] * value
                )
        quotient = _new(count)
        count += 1
        if not _is_positive(case, rest + constant(1)):
            quotient -= _new(count)
            count += 1
        over = rest - divisor * quotient
        facts = [over, divisor - over - constant(1)]
        whole += quotient
    value = whole if operation.kind == "//" else operation.args[0] - operation.args[1] * whole
    return case._replace(symbols_made=count).put(operation, value).beside(facts)


def _is_positive(case: _ProductCase, value: Term) -> bool:
    """Return whether a term is clearly positive: a fact of the case is below it, or its factors are positive."""
    low = value - constant(1)
    if _least(low) >= 0 or any(_least(low - fact) >= 0 for fact in case.positive):
        return True
    if len(value.coefficients) != 1:
        return False
    ((monomial, number),) = value.coefficients.items()
    return number > 0 and len(monomial) > 1 and all(_is_positive(case, atom) for atom in monomial)


def _least(value: Term) -> float:
    low = value.lower_bound
    return float("-inf") if low is None else low


def _innermost(value: Term) -> Operation | None:
    """Return an operation whose operands contain no operations, if there is one."""
    for operation in value.operations():
        return next(filter(None, map(_innermost, operation.args)), operation)
    return None


def _new(number: int) -> Term:
    return symbol(f"q#{number}")


def _is_impossible(case: _ProductCase) -> bool:
    """Return whether the case is impossible with monomials as symbols, using products of non-negative terms."""
    from symbcast.core.solver.f3_linear.z3_solver import some_point

    facts = list(dict.fromkeys(case.positive))
    monomials = {m: None for t in (*facts, *case.zero) for m in t.coefficients if len(m) > 1}
    # Products of a higher degree than the formulas have would only add symbols.
    degree = max(map(len, monomials), default=0)
    known = dict(monomials)
    symbols = dict.fromkeys(s for t in (*facts, *case.zero) for s in t.symbols())
    factors = [*facts, *symbols][:_FACTORS]
    products: list[Term] = []
    for left, right in combinations_with_replacement(factors, 2) if degree else ():
        multiplied = left * right
        charge(_PRODUCT * (1 + len(multiplied.coefficients)))
        news = [m for m in multiplied.coefficients if len(m) > 1 and m not in known]
        is_near = any(m in monomials for m in multiplied.coefficients)
        if is_near and max(map(len, multiplied.coefficients)) <= degree and len(known) + len(news) <= _MONOMIALS:
            products.append(multiplied)
            known.update(dict.fromkeys(news))
    zero = [
        *case.zero,
        *(t * s for t in case.zero for s in symbols if max(map(len, t.coefficients), default=0) < degree),
    ]
    names = {monomial: symbol(f"m#{n}") for n, monomial in enumerate(known)}
    formulas: list[Formula] = [at_most(0, _linear(t, names).dim()) for t in (*facts, *products)]
    formulas += [
        equal(_linear(t, names).dim(), 0) for t in zero if all(len(m) < 2 or m in names for m in t.coefficients)
    ]
    try:
        return some_point([*symbols, *names.values()], formulas, _LIMIT) is None
    except GivenUpError:
        return False


def _linear(value: Term, names: dict[Monomial, Symbol]) -> Term:
    """Return a polynomial with each monomial of several factors replaced by a symbol."""
    linear: dict[Monomial, int] = {}
    for monomial, coefficient in value.coefficients.items():
        place = (names[monomial],) if len(monomial) > 1 else monomial
        linear[place] = linear.get(place, 0) + coefficient
    return Term(linear)


# Products of sizes, where z3 may give up: equations eliminate symbols until one is left and F2 decides.
#
# An equation with an isolated symbol, ``x = p``, eliminates x: p is substituted for it everywhere. A conjunction
# reduced to one symbol is a set of sizes, empty or not; and a conjunction in several symbols that has no solution
# modulo a small number has no solution. This module only refutes, and only with proof.


BRANCHES_TRIED = 64
MODULI = (2, 3, 4, 5, 7, 8, 9)
_RESIDUES_TRIED = 800
# Units of effort for examining a branch; the size of its terms is added.
_BRANCH = 250


def refuted(formulas: Sequence[Formula]) -> bool:
    """Return whether formulas provably cannot hold together, before z3 is asked about products.

    False means undecided. Formulas without products are left to z3, which decides them.
    """
    with suppress(EffortSpentError), budget_share(REFUTED):
        return _each_branch(formulas, lambda branch, shared: _impossible(list(branch), shared))
    return False


def refuted_by_products(formulas: Sequence[Formula]) -> bool:
    """Return the same, by linear arithmetic on products: see `refuted_linearly`."""
    with suppress(EffortSpentError), budget_share(REFUTED):
        return _each_branch(formulas, lambda branch, _: refuted_linearly(branch))
    return False


def _each_branch(formulas: Sequence[Formula], impossible: Callable[[Sequence[Formula], Shared], bool]) -> bool:
    """Return whether every choice of one alternative from each clause is impossible."""
    if all(isinstance(d, int) or term(d).is_linear for f in formulas for d in dims_of(f)):
        return False
    clauses = [clause for formula in formulas for clause in clauses_of(formula)]
    branches = 1
    for clause in clauses:
        branches *= len(literals(clause))
        if branches > BRANCHES_TRIED:
            return False
    try:
        shared: Shared = {}
        return all(impossible(branch, shared) for branch in product(*map(literals, clauses)))
    except DimensionError:
        return False  # a product grew beyond the limits of terms


Shared: TypeAlias = "dict[tuple[Symbol, Term], Substitution]"
"""The replacements of symbols: branches make the same ones in literals that they have in common."""


def _impossible(branch: list[Formula], shared: Shared) -> bool:
    """Return whether a conjunction of literals provably has no solution."""
    while True:
        charge(_BRANCH + sum(_size(literal) for literal in branch))
        if FALSE in branch:
            return True
        solved = next(filter(None, map(_solved_for, branch)), None)
        if solved is None:
            break
        if solved not in shared:
            symbol, value = solved
            shared[solved] = Substitution({symbol: value}, of_symbols=True)
        branch = _without(branch, *solved, shared[solved])
    return _empty_alone(branch) or _leaves_nothing_over(branch) or _impossible_modulo(branch)


def _size(literal: Formula) -> int:
    return sum(term(d).size for d in dims_of(literal) if not isinstance(d, int))


def _solved_for(literal: Formula) -> tuple[Symbol, Term] | None:
    """Return a symbol that an equation determines, and its value."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return None
    difference = term(literal.left) - term(literal.right)
    for monomial, coefficient in difference.coefficients.items():
        if len(monomial) != 1 or abs(coefficient) != 1 or isinstance(monomial[0], Operation):
            continue
        symbol: Any = monomial[0]
        rest = difference - Term({monomial: coefficient})
        if symbol not in rest.symbols():
            return symbol, rest.scaled(-coefficient)
    return None


def _without(branch: Iterable[Formula], symbol: Symbol, value: Term, substitution: Substitution) -> list[Formula]:
    """Return the conjunction with a symbol replaced, and the fact that its value is a size."""
    replaced: list[Formula] = [at_most(0, value.dim())]
    for literal in branch:
        if isinstance(literal, Comparison):
            left, right = (substitution.term(term(d)).dim() for d in (literal.left, literal.right))
            replaced.append(Comparison(literal.operator, left, right))
        elif symbol not in symbols_in(literal):
            replaced.append(literal)
        # Drop all other literals that mention the symbol: a conjunction that is impossible without them is impossible
        # with them.
    return [clause for formula in replaced for clause in clauses_of(formula)]


def _empty_alone(branch: Iterable[Formula]) -> bool:
    """Return whether the branch's formulas about a single symbol leave it no size."""
    sets: dict[Symbol, SizeSet] = {}
    for literal in branch:
        symbols = symbols_in(literal)
        if len(symbols) == 1:
            (symbol,) = symbols
            try:
                sets[symbol] = sets.get(symbol, ALL) & solution_set(literal)
            except (NotPeriodicError, PeriodTooLongError):
                continue
    return any(not members for members in sets.values())


def _leaves_nothing_over(branch: Iterable[Formula]) -> bool:
    """Return whether a formula requires a nonzero remainder of a division that equations make exact.

    If ``a*b == c*d``, ``a*b`` divided by ``c`` leaves no remainder; if ``c`` is 0, the remainder is undefined.
    """
    comparisons = [f for f in branch if isinstance(f, Comparison)]
    equations = [term(f.left) - term(f.right) for f in comparisons if f.operator == "=="]
    for comparison in comparisons:
        left = comparison.left
        if comparison.operator == "!=" and comparison.right == 0 and isinstance(left, Operation) and left.kind == "%":
            dividend, divisor = left.args
            others = (d for equation in equations for d in _rewritten(dividend, equation))
            if any(exact_quotient((d.dim(),), (divisor.dim(),)) is not None for d in (dividend, *others)):
                return True
    return False


def _rewritten(value: Term, equation: Term) -> Iterator[Term]:
    """Yield terms equal to a given one if an equation holds, without one monomial that the two share."""
    for monomial, coefficient in equation.coefficients.items():
        times, rest = divmod(value.coefficients.get(monomial, 0), coefficient)
        if monomial and times and not rest:
            yield value - equation.scaled(times)


def _impossible_modulo(branch: Iterable[Formula]) -> bool:
    """Return whether the equations have no solution modulo some small number."""
    equations = [term(f.left) - term(f.right) for f in branch if isinstance(f, Comparison) and f.operator == "=="]
    equations = [e for e in equations if not e.has_operations]
    symbols = tuple(dict.fromkeys(s for e in equations for s in e.symbols()))
    if not equations:
        return False
    values = [value_function(e.dim(), symbols) for e in equations]
    charge(len(values) * (_BRANCH + _RESIDUES_TRIED))
    return any(
        modulus ** len(symbols) <= _RESIDUES_TRIED
        and not any(all(v(*point) % modulus == 0 for v in values) for point in _residues(modulus, len(symbols)))
        for modulus in MODULI
    )


def _residues(modulus: int, count: int) -> Iterator[tuple[int, ...]]:
    return product(range(modulus), repeat=count)
