"""Divisions by sizes: a quotient of x by b is a size q with ``x = b*q + r`` and ``0 <= r < b``.

Conjunctions of comparisons are refuted, with proof, by these steps until none applies:

- ``x // b`` and ``x % b`` are replaced by q and r, for the same q and r, once the signs of x and b are known.
- Equations are solved for sizes, and these are substituted: where ``x % b == 0`` is known, x is ``b*q``.
- **Two multiples of one divisor differ by 0 or by at least the divisor**: of ``b*P + R == 0``, where R consists of
    remainders by b and a number, the bounds of R leave P one value or a few. Equations are combined so that nothing
    else remains in R.
- A sum of terms that are never negative is 0 only if each is, and a product only if some factor is.
- Products of facts are facts (the reformulation linearisation technique of Sherali and Adams): each monomial is treated
    as a size of its own, and linear arithmetic refutes what is left.

Where nothing forces a value, cases are split: by the sign of a divisor, members of min and max, ``!=``, and factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations_with_replacement

from symbcast.core.algebra.bounds import common_factors, reduced_fraction
from symbcast.core.algebra.formulas import Comparison, Formula, at_most, equal, needs
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.term_arithmetic import Substitution, monomial_quotient, operate, quotient_and_remainder
from symbcast.core.algebra.terms import Atom, Monomial, Operation, Symbol, Term, constant, term
from symbcast.core.effort import charge
from symbcast.core.solver.points import GivenUpError
from symbcast.core.structs import NamedTuple

# How many cases are examined, and how many steps are made in one.
_CASES = 64
_STEPS = 60
# With more facts, only the products of the first ones are used.
_FACTORS = 14
_MONOMIALS = 80
# Equations beyond so many are not combined.
_ROWS = 12
# A factor with more values than this is not split by value.
_VALUES = 4
# Terms with more monomials are not rewritten further.
_LONGEST = 60
# Units of z3 for one case, which is linear.
_LIMIT = 60_000
# Units of effort for each monomial of a product of two facts.
_PRODUCT = 20
# Units of effort for examining a case.
_CASE = 1_000
# Units of effort for each atom that a step reads.
_READ = 2


class _Contradiction(Exception):  # noqa: N818 - the proof, not an error
    """A case cannot hold."""


class _Case(NamedTuple):
    """Terms that are non-negative, zero, or nonzero.

    Attributes:
        remainders: Sizes that are remainders, each with its divisor: less than it, and not negative.
        symbols_made: The number of sizes created.
        used: Equations and facts that `_multiples` has used.
    """

    positive: tuple[Term, ...] = ()
    zero: tuple[Term, ...] = ()
    other: tuple[Term, ...] = ()
    remainders: tuple[tuple[Term, Term], ...] = ()
    symbols_made: int = 0
    used: frozenset[Term] = frozenset()

    def beside(self, positive: Iterable[Term] = (), zero: Iterable[Term] = ()) -> _Case:
        """Return the case with additional facts."""
        return self._replace(positive=(*self.positive, *positive), zero=(*self.zero, *zero))

    def put(self, values: Mapping[Atom, Term]) -> _Case:
        """Return the case with atoms replaced by terms."""
        put_in = Substitution(values, of_symbols=all(atom.is_Symbol for atom in values)).term
        positive, zero, other = (tuple(map(put_in, terms)) for terms in (self.positive, self.zero, self.other))
        remainders = tuple((put_in(r), put_in(b)) for r, b in self.remainders)
        return self._replace(positive=positive, zero=zero, other=other, remainders=remainders)

    def terms(self) -> Iterator[Term]:
        """Yield all terms."""
        yield from self.positive
        yield from self.zero
        yield from self.other

    def is_positive(self, value: Term) -> bool:
        """Return whether a term is clearly positive: a fact of the case is below it, or its factors are positive."""
        low = value - constant(1)
        if _least(low) >= 0 or any(_least(low - fact) >= 0 for fact in self.positive):
            return True
        if len(value.coefficients) != 1:
            return False
        ((monomial, number),) = value.coefficients.items()
        return number > 0 and (len(monomial) > 1 or number > 1) and all(map(self.is_positive, monomial))


def refuted_by_divisions(branch: Iterable[Formula]) -> bool:
    """Return whether some comparisons provably cannot hold together; False means undecided.

    >>> from symbcast.core.text import parse_formula
    >>> refuted_by_divisions([parse_formula(f) for f in ("a <= 7", "b <= 9", "a*b >= 64")])
    True
    >>> refuted_by_divisions([parse_formula(f) for f in ("a % n == 0", "b % n == 0", "(a + b) % n != 0")])
    True
    """
    ahead = [_Case().beside(*_said(branch))._replace(other=tuple(_not_zero(branch)))]
    for _ in range(_CASES):
        if not ahead:
            return True
        try:
            simplified = _simplified(ahead.pop())
            cases = _split(simplified)
            if cases is None:
                if not _is_impossible(simplified):
                    return False
            else:
                ahead += cases
        except _Contradiction:
            continue
    return not ahead


def _said(branch: Iterable[Formula]) -> tuple[list[Term], list[Term]]:
    """Return the terms that comparisons require to be non-negative, and those that must be 0."""
    positive: list[Term] = []
    zero: list[Term] = []
    for literal in branch:
        if isinstance(literal, Comparison):
            above = term(literal.right) - term(literal.left)
            if literal.operator == "==":
                zero.append(above)
            elif literal.operator != "!=":
                positive.append(above - constant(1) if literal.operator == "<" else above)
    return positive, zero


def _not_zero(branch: Iterable[Formula]) -> Iterator[Term]:
    """Yield the terms that must not be 0: the divisors of what holds are not, see `symbcast.core.algebra.formulas`."""
    for literal in branch:
        if isinstance(literal, Comparison):
            for need in [literal, *needs(literal)]:
                if isinstance(need, Comparison) and need.operator == "!=":
                    yield term(need.left) - term(need.right)


def _least(value: Term) -> float:
    low = value.lower_bound
    return float("-inf") if low is None else low


# What follows without cases.


def _simplified(case: _Case) -> _Case:
    """Return an equivalent case with sizes solved for and what follows of multiples; raise if it cannot hold."""
    for _ in range(_STEPS):
        charge(_CASE + _READ * sum(t.size for t in case.terms()))
        case = _plain(case)
        following = _solved(case) or _apart(case) or _multiples(case)
        if following is None:
            break
        case = following
    return _plain(case)


def _plain(case: _Case) -> _Case:
    """Return a case without facts that always hold, each equation once, and `!=` as an order where it is one."""
    zero = dict.fromkeys(_lowest(t, case) for t in case.zero if t.coefficients)
    if any(_least(t) > 0 or _least(-t) > 0 or t.constant % (t.content or 1) for t in zero):
        raise _Contradiction
    positive: dict[Term, None] = {}
    for value in case.positive:
        if _least(-value) > 0:
            raise _Contradiction
        if _least(value) < 0:
            positive[value] = None
            positive.update(_positive_factors(value))
    other: dict[Term, None] = {}
    for value in case.other:
        if not value.coefficients or value in zero or -value in zero:
            raise _Contradiction
        if _least(value) >= 0 or _least(-value) >= 0:
            positive[(value if _least(value) >= 0 else -value) - constant(1)] = None
        else:
            other[value] = None
    return case._replace(positive=tuple(p for p in positive if _least(p) < 0), zero=tuple(zero), other=tuple(other))


def _positive_factors(value: Term) -> dict[Term, None]:
    """Return that each factor of a product is at least 1, if that is what a non-negative term says."""
    products = [m for m, c in value.coefficients.items() if m and c > 0]
    if value.constant >= 0 or len(products) != 1 or len(products[0]) < 2 or len(value.coefficients) != 2:
        return {}
    return {atom - constant(1): None for atom in products[0] if _least(atom) >= 0}


def _lowest(value: Term, case: _Case) -> Term:
    """Return an equation without the number and the positive factors that all its monomials share."""
    number = value.content if not value.constant else 1
    shared = [atom for atom in common_factors(value).elements() if case.is_positive(atom)]
    if number > 1 or shared:
        value = Term({monomial_quotient(m, shared) or (): c // number for m, c in value.coefficients.items()})
    return -value if value.leading < 0 else value


def _solved(case: _Case) -> _Case | None:
    """Return the case with one size fewer, which an equation determines; None if none does."""
    remainders = {r for r, _ in case.remainders}
    best: tuple[tuple[bool, int], Symbol, Term] | None = None
    for value in case.zero:
        for atom, solution in _solutions(value):
            is_made = atom.name.startswith(_MADE)
            # A remainder stays where its value says less of it: that it is below its divisor.
            if atom in remainders and len(solution.coefficients) > 1:
                continue
            rank = (is_made, solution.size)
            if best is None or rank < best[0]:
                best = rank, atom, solution
    if best is None:
        return None
    _, atom, solution = best
    return case.beside([solution]).put({atom: solution})


def _solutions(value: Term) -> Iterator[tuple[Symbol, Term]]:
    """Yield the sizes that an equation determines as a polynomial of others, with that."""
    if len(value.coefficients) > _LONGEST:
        return
    for monomial, number in value.coefficients.items():
        if abs(number) == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            rest = value - Term({monomial: number})
            if monomial[0] not in rest.symbols():
                yield monomial[0], rest.scaled(-number)


def _apart(case: _Case) -> _Case | None:
    """Return the case with a sum of sizes that is 0 as one equation each, and a product that is 1 as one each."""
    for value in case.zero:
        if value.has_operations:
            continue
        monomials = [m for m in value.coefficients if m]
        if len(monomials) > 1 and not value.constant and all(c > 0 for c in value.coefficients.values()):
            return case._replace(zero=tuple(z for z in case.zero if z is not value)).beside(
                zero=[Term({m: 1}) for m in monomials]
            )
        if len(monomials) == 1:
            (monomial,) = monomials
            if value.coefficients[monomial] == -value.constant:
                return case.put(dict.fromkeys(monomial, constant(1)))
            if not value.constant and len(set(monomial)) == 1:
                return case.put({monomial[0]: constant(0)})
    return None


# Multiples of one divisor.


def _multiples(case: _Case) -> _Case | None:
    """Return the case with the value, or a bound, of the factor of a divisor in an equation or a fact."""
    for divisor in dict.fromkeys(b for _, b in case.remainders):
        small = {r for r, b in case.remainders if b == divisor}
        rows, facts = _combined(case, divisor, small)
        for row in rows:
            span = None if row in case.used else _span(case, row, divisor, small)
            if span is not None and span[1] == span[2]:
                factor, low, _ = span
                number = constant(low)
                used = case._replace(used=case.used | {row})
                return used.beside(zero=[factor - number, row - divisor * (factor - number)])
            if span is not None and span[1] > span[2]:
                raise _Contradiction
        for fact in facts:
            span = None if fact in case.used else _span(case, fact, divisor, small)
            above = constant(0) if span is None else span[0] - constant(span[1])
            if _least(above) < 0:
                return case._replace(used=case.used | {fact}).beside([above])
    return None


def _span(case: _Case, value: Term, divisor: Term, small: set[Term]) -> tuple[Term, int, int] | None:
    """Return P, and the bounds of P if ``value``, which is ``b*P + R``, is 0; None if R is not as it must be.

    R is ``c1*r1 + c2*r2 + ... + k`` for remainders r by b, which are at most ``b - 1``. So it is at most
    ``C*(b - 1) + k``, where C is the sum of the positive c, and P at least ``-C + (C - k)/b``, rounded up; likewise
    above. If ``value`` is only known not to be negative, the lower bound holds.
    """
    factor, rest = _divided(value, divisor)
    if not factor.coefficients or any(m and Term({m: 1}) not in small for m in rest.coefficients):
        return None
    most = sum(c for m, c in rest.coefficients.items() if m and c > 0)
    less = -sum(c for m, c in rest.coefficients.items() if m and c < 0)
    by = divisor.constant if divisor.is_constant else 2 if case.is_positive(divisor - constant(1)) else 1
    low, high = (_rounded_up(n, by, divisor.is_constant) for n in (most - rest.constant, less + rest.constant))
    return factor, low - most, less - high


def _rounded_up(number: int, by: int, is_exact: bool) -> int:
    """Return ``number/by``, rounded up; without ``is_exact`` a lower bound of it for all divisors from ``by`` on."""
    return 1 if number > 0 and not is_exact else -(-number // by)


def _divided(value: Term, divisor: Term) -> tuple[Term, Term]:
    """Return P and R with ``value == divisor*P + R``."""
    if not divisor.is_constant:
        return quotient_and_remainder(value, divisor)
    by = divisor.constant
    whole = {m: c // by for m, c in value.coefficients.items() if m and c % by == 0}
    return Term(whole), Term({m: c for m, c in value.coefficients.items() if not m or c % by})


def _combined(case: _Case, divisor: Term, small: set[Term]) -> tuple[list[Term], list[Term]]:
    """Return equations, and facts, that are combined so that they have multiples of a divisor and its remainders."""

    def is_foreign(monomial: Monomial) -> bool:
        return bool(monomial) and Term({monomial: 1}) not in small and not _divided(Term({monomial: 1}), divisor)[0]

    rows = [z for z in case.zero if not z.has_operations][:_ROWS]
    facts = [p for p in case.positive if not p.has_operations][:_ROWS]
    rows += list(_multiplied(rows, {m for t in (*rows, *facts) for m in t.coefficients if is_foreign(m)}))
    done: list[Term] = []
    while rows:
        row = rows.pop(0)
        pivot = next(filter(is_foreign, row.coefficients), None)
        if pivot is None:
            done.append(row)
            continue
        charge(_READ * sum(t.size for t in (*rows, *facts)))
        rows = [r for r in (_without(r, row, pivot) for r in rows) if r.coefficients]
        facts = [_without(f, row, pivot) for f in facts]
    return done, [f for f in facts if not any(map(is_foreign, f.coefficients))]


def _multiplied(rows: list[Term], monomials: set[Monomial]) -> Iterator[Term]:
    """Yield equations times sizes, if that makes one of their monomials one of those to be combined away."""
    left = _ROWS
    for row in rows:
        for monomial in sorted(monomials, key=lambda m: [a.atom_key for a in m]):
            factor = next((f for m in row.coefficients if (f := monomial_quotient(monomial, m)) and m), None)
            if factor and left:
                left -= 1
                yield row * Term({factor: 1})


def _without(value: Term, row: Term, pivot: Monomial) -> Term:
    """Return a positive multiple of a term plus a multiple of an equation, without a monomial."""
    number, by = value.coefficients.get(pivot, 0), row.coefficients[pivot]
    if not number:
        return value
    return value.scaled(abs(by)) - row.scaled(number if by > 0 else -number)


# Cases.


def _split(case: _Case) -> list[_Case] | None:
    """Return cases, one of which holds wherever this one does; None if nothing is left to split."""
    for operation in filter(None, map(_innermost, case.terms())):
        match operation.kind:
            case "min" | "max":
                return list(_chosen(case, operation))
            case "join":
                made = case._replace(symbols_made=case.symbols_made + 1)
                return [made.put({operation: _new(case.symbols_made)})]
            case _:
                return _with_quotient(case, operation)
    for value in case.zero:
        factors = common_factors(value)
        if factors:
            rest = Term(
                {monomial_quotient(m, list(factors.elements())) or (): c for m, c in value.coefficients.items()}
            )
            without = case._replace(zero=tuple(z for z in case.zero if z is not value))
            return [without.beside(zero=[factor]) for factor in (*factors, *([] if rest.is_constant else [rest]))]
    for value in case.other:
        without = case._replace(other=tuple(o for o in case.other if o is not value))
        return [without.beside([sign - constant(1)]) for sign in (value, -value)]
    return _by_value(case)


def _by_value(case: _Case) -> list[_Case] | None:
    """Return the cases of the few values of a factor of a divisor."""
    for divisor in dict.fromkeys(b for _, b in case.remainders):
        small = {r for r, b in case.remainders if b == divisor}
        for row in _combined(case, divisor, small)[0]:
            span = None if row in case.used else _span(case, row, divisor, small)
            if span is not None and span[2] - span[1] < _VALUES:
                factor, low, high = span
                used = case._replace(used=case.used | {row})
                numbers = map(constant, range(low, high + 1))
                return [used.beside(zero=[factor - n, row - divisor * (factor - n)]) for n in numbers]
    return None


def _chosen(case: _Case, operation: Operation) -> Iterator[_Case]:
    for member in operation.args:
        apart = (o - member if operation.kind == "min" else member - o for o in operation.args if o is not member)
        yield case.beside(apart).put({operation: member})


def _with_quotient(case: _Case, operation: Operation) -> list[_Case]:
    """Return the cases of a quotient or remainder, split by the signs of divisor and dividend."""
    dividend, divisor = operation.args
    simpler = _in_lowest_terms(case, operation) or _with_divisor_solved(case, divisor)
    if simpler is not None:
        return [simpler]
    if case.is_positive(divisor):
        return list(_quotients(case, operation, dividend, divisor))
    if case.is_positive(-divisor):
        return list(_quotients(case, operation, -dividend, -divisor))
    one = constant(1)
    cases = [case.beside([divisor - one])]
    if _least(divisor) < 0:
        cases.append(case.beside([-divisor - one]))
    # Where the divisor is 0, the operation may have any value: the difference of two sizes is any integer.
    first = case.symbols_made
    without = case._replace(symbols_made=first + 2).put({operation: _new(first) - _new(first + 1)})
    return [*cases, without.beside(zero=[divisor])]


def _in_lowest_terms(case: _Case, operation: Operation) -> _Case | None:
    """Return the case with a division by less, if dividend and divisor share factors; None if they do not.

    Such a factor c is not 0, and ``c*x // (c*b)`` is ``x // b``.
    """
    dividend, divisor = operation.args
    if divisor.is_constant or not dividend.coefficients:
        return None
    above, below = (term(d) for d in reduced_fraction((dividend.dim(),), (divisor.dim(),)))
    if below is divisor:
        return None
    quotient = operate("//", (above, below))
    values: dict[Atom, Term] = {
        Operation("//", operation.args): quotient,
        Operation("%", operation.args): dividend - divisor * quotient,
    }
    return case.put(values)


def _with_divisor_solved(case: _Case, divisor: Term) -> _Case | None:
    """Return the case with a size for a divisor that is a sum, one of whose sizes is then that size less the others."""
    if len(divisor.coefficients) < 2:
        return None
    named = _new(case.symbols_made)
    for atom, solution in _solutions(divisor - named):
        if not atom.name.startswith(_MADE):
            return case._replace(symbols_made=case.symbols_made + 1).beside([solution]).put({atom: solution})
    return None


def _quotients(case: _Case, operation: Operation, dividend: Term, divisor: Term) -> Iterator[_Case]:
    """Yield the cases of a quotient by a positive divisor, from 0 on and below 0, with sizes for it and the rest."""
    quotient, rest = _new(case.symbols_made), _new(case.symbols_made + 1)
    made = case._replace(symbols_made=case.symbols_made + 2, remainders=(*case.remainders, (rest, divisor)))
    is_turned = divisor is not operation.args[1]
    is_below = case.is_positive(-dividend)
    signs = [False] if _least(dividend) >= 0 or case.is_positive(dividend + constant(1)) else [False, True]
    for negative in [True] if is_below else signs:
        value = -quotient - constant(1) if negative else quotient
        sign = [-dividend - constant(1)] if negative else [dividend]
        whole = made.beside([*sign, divisor - rest - constant(1)], [dividend - divisor * value - rest])
        yield whole.put(
            {Operation("//", operation.args): value, Operation("%", operation.args): -rest if is_turned else rest}
        )


def _innermost(value: Term) -> Operation | None:
    """Return an operation whose operands contain no operations, if there is one."""
    for operation in value.operations():
        return next(filter(None, map(_innermost, operation.args)), operation)
    return None


_MADE = "q#"


def _new(number: int) -> Symbol:
    return symbol(f"{_MADE}{number}")


# Products of facts.


def _is_impossible(case: _Case) -> bool:
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


def _linear(value: Term, names: Mapping[Monomial, Symbol]) -> Term:
    """Return a polynomial with each monomial of several factors replaced by a symbol."""
    linear: dict[Monomial, int] = {}
    for monomial, coefficient in value.coefficients.items():
        place = (names[monomial],) if len(monomial) > 1 else monomial
        linear[place] = linear.get(place, 0) + coefficient
    return Term(linear)
