"""Products and symbolic divisors refuted by linear arithmetic: a product of non-negative factors is non-negative.

A quotient by b is a new symbol q, with ``a = b*q + r`` and ``0 <= r < b``, once the sign of b is known: cases are split
for that, and for min, max and ``!=``. Each remaining case consists of polynomials that are 0 or non-negative. Each
product of two of these is also non-negative, and each monomial is then treated as a separate symbol (the reformulation
linearisation technique of Sherali and Adams). If the linear formulas cannot hold, nothing can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.bounds import reduced_fraction
from symbcast.core.algebra.operations import Substitution, divided
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Monomial, Operation, Term, constant, term
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import Comparison, Formula, at_most, equal
from symbcast.core.solver.sets.smallest import GivenUpError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_CASES = 64
_FACTORS = 14
"""With more facts, only the products of the first ones are used."""
_MONOMIALS = 80
_LIMIT = 60_000
"""Units of z3 for one case, which is linear."""
_PRODUCT = 20
"""Units of effort for each monomial of a product of two facts."""
_CASE = 1_000
"""Units of effort for examining a case."""


class _Case(NamedTuple):
    """Terms that are non-negative, zero, or nonzero, and the number of symbols created for quotients."""

    positive: tuple[Term, ...]
    zero: tuple[Term, ...]
    other: tuple[Term, ...]
    made: int = 0

    def beside(self, positive: Iterable[Term] = (), zero: Iterable[Term] = ()) -> _Case:
        """Return the case with additional facts."""
        return self._replace(positive=(*self.positive, *positive), zero=(*self.zero, *zero))

    def put(self, operation: Operation, value: Term) -> _Case:
        """Return the case with an operation replaced by a term."""
        put_in = Substitution({operation: value}, of_symbols=False).term
        positive, zero, other = (tuple(map(put_in, terms)) for terms in (self.positive, self.zero, self.other))
        return _Case(positive, zero, other, self.made)

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


def refuted(branch: Iterable[Formula]) -> bool:
    """Return whether some comparisons provably cannot hold together; False means undecided.

    >>> from symbcast.core.text import parse_formula
    >>> refuted([parse_formula(f) for f in ("a <= 7", "b <= 9", "a*b >= 64")])
    True
    """
    positive: list[Term] = []
    zero: list[Term] = []
    other: list[Term] = []
    for literal in branch:
        if isinstance(literal, Comparison):
            above = term(literal.right) - term(literal.left)
            kept = {"==": zero, "!=": other}.get(literal.operator, positive)
            kept.append(above - constant(1) if literal.operator == "<" else above)
    ahead = [_Case(tuple(positive), tuple(zero), tuple(other))]
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


def _split(case: _Case) -> list[_Case] | None:
    """Return cases with one operation fewer, one of which holds wherever this one does; None if there is none."""
    for number, value in enumerate(case.other):
        if not any(True for _ in value.operations()):
            rest = case._replace(other=(*case.other[:number], *case.other[number + 1 :]))
            signs = [value] if _least(value) >= 0 else [-value] if _least(-value) >= 0 else [value, -value]
            return [rest.beside([sign - constant(1)]) for sign in signs]
    operation = next(filter(None, map(_innermost, case.terms())), None)
    if operation is None:
        return None
    if operation.kind in ("min", "max"):
        return list(_chosen(case, operation))
    if operation.kind == "join":
        return [case._replace(made=case.made + 1).put(operation, _new(case.made))]
    return _divided(case, operation)


def _chosen(case: _Case, operation: Operation) -> Iterator[_Case]:
    for member in operation.args:
        apart = (o - member if operation.kind == "min" else member - o for o in operation.args if o is not member)
        yield case.put(operation, member).beside(apart)


def _divided(case: _Case, operation: Operation) -> list[_Case]:
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
    any_value = _new(case.made) - _new(case.made + 1)
    without = case._replace(made=case.made + 2).put(operation, any_value)
    return [*cases, without.beside(zero=[divisor])]


def _quotient(case: _Case, operation: Operation, dividend: Term, divisor: Term) -> _Case:
    """Return the case with a quotient or remainder by a positive divisor replaced, by a new symbol if needed."""
    whole, rest = divided(dividend, divisor)
    facts: list[Term] = []
    made = case.made
    if rest.coefficients:
        if not divisor.is_constant:
            above, below = (term(d) for d in reduced_fraction((rest.dim(),), (divisor.dim(),)))
            if below != divisor:
                again = Operation("//", (above, below))
                value = whole + again
                return case.put(
                    operation, value if operation.kind == "//" else operation.args[0] - operation.args[1] * value
                )
        quotient = _new(made)
        made += 1
        if not _is_positive(case, rest + constant(1)):
            quotient -= _new(made)
            made += 1
        over = rest - divisor * quotient
        facts = [over, divisor - over - constant(1)]
        whole += quotient
    value = whole if operation.kind == "//" else operation.args[0] - operation.args[1] * whole
    return case._replace(made=made).put(operation, value).beside(facts)


def _is_positive(case: _Case, value: Term) -> bool:
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


def _is_impossible(case: _Case) -> bool:
    """Return whether the case is impossible with monomials as symbols, using products of non-negative terms."""
    from symbcast.core.solver.linear.z3_solver import some_point

    facts = list(dict.fromkeys(case.positive))
    wanted = {m: None for t in (*facts, *case.zero) for m in t.coefficients if len(m) > 1}
    degree = max(map(len, wanted), default=0)
    known = dict(wanted)
    symbols = dict.fromkeys(s for t in (*facts, *case.zero) for s in t.symbols())
    factors = [*facts, *symbols][:_FACTORS]
    products: list[Term] = []
    for left, right in combinations_with_replacement(factors, 2) if degree else ():
        found = left * right
        charge(_PRODUCT * (1 + len(found.coefficients)))
        news = [m for m in found.coefficients if len(m) > 1 and m not in known]
        is_near = any(m in wanted for m in found.coefficients)
        if is_near and max(map(len, found.coefficients)) <= degree and len(known) + len(news) <= _MONOMIALS:
            products.append(found)
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
    found: dict[Monomial, int] = {}
    for monomial, coefficient in value.coefficients.items():
        place = (names[monomial],) if len(monomial) > 1 else monomial
        found[place] = found.get(place, 0) + coefficient
    return Term(found)
