"""Sizes at which formulas hold: the order of the methods that find them, questions about a group, and evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TypeAlias, TypeVarTuple

from symbcast.core import effort
from symbcast.core.algebra.arithmetic import MAX_SIZE
from symbcast.core.algebra.formulas import (
    TRUE,
    AnyOf,
    Formula,
    all_of,
    any_of,
    at_most,
    different,
    dims_of,
    negate,
    operations_in,
    where_possible,
)
from symbcast.core.algebra.terms import Symbol, term
from symbcast.core.effort import (
    QUICK_LIMIT,
    REASON,
    RESOURCE_LIMIT,
    SAMPLED,
    SHORT_LIMIT,
    EffortSpentError,
    budget_share,
    charge,
    evidence_units,
    lacking,
    stop_reason,
)
from symbcast.core.effort import current as current_effort
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f3_linear import branch_and_bound
from symbcast.core.solver.f3_linear.equations import substitute_equations
from symbcast.core.solver.f4_products import propagation, refutation
from symbcast.core.solver.points import (
    GivenUpError,
    Level,
    Point,
    SampleTable,
    SmallestPointQuestion,
    bit_positions,
    descend,
    least_size,
    point_cost,
    zero_levels,
    zeros_at,
)
from symbcast.core.solver.size_sets import ALL, SizeSet

# The methods for finding sizes at which formulas hold, cheapest first: some such sizes, or the smallest.
#
# Each method returns sizes, returns None if there are none, or raises `GivenUpError`; then the next one is tried. z3
# is loaded only where it is used.


Ts = TypeVarTuple("Ts")
Way: TypeAlias = "Callable[[Sequence[Symbol], Sequence[Formula]], Point | None]"
_FEW_SEARCHED = 8
_FEW_FACTORS = 4
_FEW_REPAIRED = 10
_FEW_NUMBERS = 3
_MOST_ALIKE = 1 << 16
# Units of effort for a formula at a point.
_EVALUATED = 10


def smallest_point(question: SmallestPointQuestion) -> Point | None:
    """Return the smallest sizes, None if there are none; raise `GivenUpError` with the best ones found."""
    return _first_answer((branch_and_bound.smallest_point, _smallest_by_z3, _by_levels), question)


def some_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None) -> Point | None:
    """Return sizes at which formulas hold, None if there are none; raise `GivenUpError` if undecided.

    ``limit`` is in z3 units; None for the default.
    """
    ways: list[Way] = [_by_elimination, branch_and_bound.some_point, refutation.point_by_sets]
    if not all(map(is_linear, formulas)):
        # Most questions about products have an answer that z3 soon finds. Only the others are worth a proof by linear
        # arithmetic, which can refute but not confirm. With divisions by sizes, z3 spends the effort without an answer;
        # beside a min or max, whose members are cases, the proof does.
        quick = partial(_by_z3, limit=QUICK_LIMIT)
        is_of_divisions = any(map(divides_by_sizes, formulas)) and not any(map(_has_extremes, formulas))
        ways += [_by_products, quick] if is_of_divisions else [quick, _by_products]
        # `nlsat` counts not all of its steps: within 40 times this limit one system did not end in 40 s, and beside
        # products of five sizes one of 130 took 1.7 s within it. First, it would take the effort of what is easy.
        if all(map(_has_short_products, formulas)):
            ways.append(partial(_by_z3, limit=QUICK_LIMIT, nlsat=True))
    ways.append(partial(_by_z3, limit=limit))
    return _first_answer(ways, symbols, formulas)


def repaired_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None) -> Point | None:
    """Return the same for a few formulas among many, for repairs: their chains of equations are substituted first."""
    reduced = substitute_equations(formulas)
    gone = dict(reduced.gone)
    left = tuple(s for s in symbols if s not in gone)
    ways: list[Way] = [_all_alike, _by_propagation]
    if len(left) <= _FEW_REPAIRED:
        ways.append(branch_and_bound.some_point)
    ways.append(partial(_by_z3, limit=limit))
    point = _first_answer(ways, left, reduced.formulas)
    return None if point is None else reduced.completed(point)


def _all_alike(symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Point:
    """Return the same size for all symbols: a number of the formulas, or 1, where everything broadcasts."""
    numbers = {1, *(d for f in formulas for d in dims_of(f) if isinstance(d, int) and 0 <= d <= _MOST_ALIKE)}
    for number in sorted(numbers)[:_FEW_NUMBERS]:
        charge(_EVALUATED * len(formulas))
        point = dict.fromkeys(symbols, number)
        if all(holds_at(f, point) for f in formulas):
            return point
    raise GivenUpError


def _first_answer(ways: Iterable[Callable[[*Ts], Point | None]], *question: *Ts) -> Point | None:
    """Return the result of the first method that does not give up; otherwise raise with the results of all of them."""
    points: list[Point] = []
    for way in ways:
        try:
            return way(*question)
        except GivenUpError as error:
            points += error.points
        except EffortSpentError:
            if not points:
                raise
            break
    raise GivenUpError(*points)


def _by_propagation(_: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
    if not propagation.contradict(formulas):
        raise GivenUpError


def _by_elimination(_: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
    if not refutation.refuted(formulas):
        raise GivenUpError


def _by_products(_: Sequence[Symbol], formulas: Sequence[Formula]) -> None:
    if not refutation.refuted_by_products(formulas):
        raise GivenUpError


def _by_z3(
    symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None, *, nlsat: bool = False
) -> Point | None:
    from symbcast.core.solver.f3_linear import z3_solver

    return z3_solver.some_point(symbols, formulas, limit, nlsat=nlsat)


def _smallest_by_z3(question: SmallestPointQuestion) -> Point | None:
    from symbcast.core.solver.f3_linear import z3_solver

    return z3_solver.smallest_point(question)


def _by_levels(question: SmallestPointQuestion) -> Point | None:
    """Try each choice of sizes that are 0, by increasing weight: a single choice is easier to decide."""
    if len(question.symbols) > _FEW_SEARCHED:
        raise GivenUpError
    is_least = True
    for level in zero_levels(question.symbols, question.domains, question.weights):
        try:
            point = _at_level(question, level)
        except GivenUpError as error:
            if error.points:
                raise
            is_least, point = False, None
        if point is not None and is_least:
            return point
        if point is not None:
            raise GivenUpError(point)
    if not is_least:
        raise GivenUpError
    return None


def _at_level(question: SmallestPointQuestion, level: Level) -> Point | None:
    with suppress(GivenUpError):
        return branch_and_bound.Search(question).at_level(sum(question.weights[question.symbols[n]] for n in level[0]))
    chosen = any_of(all_of(zeros_at(question.symbols, zeros)) for zeros in level)
    there = question._replace(formulas=[*question.formulas, chosen])
    return None if refutation.refuted(there.described()) else _smallest_by_z3(there)


@lru_cache(maxsize=4096)
def is_linear(formula: Formula) -> bool:
    """Return whether a formula multiplies no sizes."""
    return all(isinstance(d, int) or term(d).is_linear for d in dims_of(formula))


@lru_cache(maxsize=4096)
def divides_by_sizes(formula: Formula) -> bool:
    """Return whether a divisor in a formula is no number."""
    return any(o.kind in ("//", "%") and not o.args[1].is_constant for o in operations_in(formula))


@lru_cache(maxsize=4096)
def _has_short_products(formula: Formula) -> bool:
    """Return whether a formula multiplies at most four sizes."""
    return all(
        isinstance(d, int) or all(len(m) <= _FEW_FACTORS for m in term(d).coefficients) for d in dims_of(formula)
    )


@lru_cache(maxsize=4096)
def _has_extremes(formula: Formula) -> bool:
    """Return whether a formula has a min, max or join."""
    return any(o.kind not in ("//", "%") for o in operations_in(formula))


_LONGEST_TEXT = 120
# Number of open questions after which to stop asking: each takes a tenth of a second and more.
_UNDECIDED_AT_MOST = 30


BEYOND = "the sizes at which it would hold are larger than 2**63 - 1"


def is_beyond(sizes: Mapping[Symbol, int]) -> bool:
    """Return whether a number among sizes is larger than a size can be."""
    return max(sizes.values(), default=0) > MAX_SIZE


class GroupQuestions:
    """Whether formulas are possible under assumptions on some symbols; ``reason`` says why an answer is undecided."""

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
        clauses: Sequence[Formula],
    ) -> None:
        self.symbols = tuple(symbols)
        self.assumptions = tuple(assumptions)
        self.domains = {s: domains.get(s, ALL) for s in self.symbols}
        known = (set_formula(s, sizes) for s, sizes in self.domains.items())
        self.known = [*(f for f in known if f != TRUE), *assumptions]
        # What the domains say of divisors: so the negation of a quotient need not say it.
        self.nonzero = frozenset(
            different(s, 0) for s, sizes in self.domains.items() if sizes is not ALL and 0 not in sizes
        )
        self.samples = SampleTable(self.symbols, domains, assumptions, [*assumptions, *clauses])
        self.reason = ""
        self._undecided = 0

    def negated(self, formula: Formula) -> Formula:
        """Return the negation of a formula in these domains."""
        return negate(formula, self.nonzero)

    def opened(self, formula: Formula) -> Formula:
        """Return where a formula holds, or could if a term without a value had one."""
        return where_possible(formula, self.nonzero)

    def possible(self, formulas: Sequence[Formula], shown: int) -> bool | None:
        """Return whether the formulas can hold under the assumptions; None if undecided.

        ``shown`` are the samples at which they do; z3 is asked only if there are none.
        """
        if shown:
            return True
        return False if self.samples.complete else self.ask(formulas)

    def ask(self, formulas: Sequence[Formula]) -> bool | None:
        """Return the same without consulting the samples."""
        if self._undecided > _UNDECIDED_AT_MOST:
            return None
        try:
            return self._solved(formulas)
        except EffortSpentError:
            self.reason = self.reason or _why(RESOURCE_LIMIT, formulas)
            return None

    def _solved(self, formulas: Sequence[Formula]) -> bool | None:
        limit = SHORT_LIMIT if self._undecided else None
        try:
            sizes = some_point(self.symbols, [*self.known, *formulas], limit)
            if sizes is not None and is_beyond(sizes):
                # Sizes that no tensor has decide nothing: are there others?
                within = [at_most(s, MAX_SIZE) for s in self.symbols]
                sizes = some_point(self.symbols, [*self.known, *formulas, *within], limit)
                if sizes is None:
                    self.reason = self.reason or BEYOND
                    return None
        except GivenUpError:
            # After a question that was given up, those about the same group get the short limit.
            self._undecided += 1
            self.reason = self.reason or _why(limit or RESOURCE_LIMIT, formulas)
            return None
        if sizes is not None:
            self.samples.learn(sizes)
        return sizes is not None

    def stopped(self) -> None:
        """Record that effort ran out for the question."""
        self.reason = self.reason or effort.stop_reason()


def _why(limit: int, formulas: Sequence[Formula]) -> str:
    """Return why a question is undecided: the caller's clock, or the counted limit and the formula that reached it."""
    from symbcast.core.text.notation import formula_text

    spent = effort.current_budget()
    if spent is not None and spent.spent:
        return spent.reason
    last = next((f for f in reversed(formulas) if f != TRUE), TRUE)
    hard = next((f for f in reversed(formulas) if not is_linear(f)), last)
    text = formula_text(hard)
    # Cut at a space: part of a name could not be translated to the name of the question.
    shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT].rpartition(' ')[0]} ..."
    products = "" if is_linear(hard) else " on products of sizes"
    counter = current_effort()
    is_spent = counter is not None and counter.left <= 0
    reason = f"{REASON if is_spent else lacking() or f'z3 reached its limit of {limit:,} units'}{products}"
    return reason if hard == TRUE else f"{reason}: {shown}"


_FEW_SHOWN = 8


class GroupEvidence:
    """Smallest sizes, found by branch and bound or, if its steps do not suffice, by z3.

    ``reason`` explains why the sizes found may not be the smallest.
    """

    def __init__(self, questions: GroupQuestions, weights: Mapping[Symbol, int]) -> None:
        self.questions = questions
        self.symbols = questions.symbols
        self.domains = questions.domains
        self.weights = weights
        self.reason = ""

    def satisfying(self, clauses: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes that satisfy the assumptions and at which all clauses hold."""
        if not clauses and not self.questions.assumptions:
            return self._least()
        if len(clauses) == 1 and isinstance(clauses[0], AnyOf) and self._are_free():
            return self._least_of(clauses[0].parts)
        return self._smallest(self.symbols, [*self.questions.assumptions, *clauses])

    def breaking(self, clauses: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes that satisfy the assumptions and break some clause."""
        alternatives = [self.questions.negated(clause) for clause in clauses]
        if self._are_free():
            return self._least_of(alternatives)
        return self._smallest(self.symbols, [*self.questions.assumptions, any_of(alternatives)])

    def _are_free(self) -> bool:
        """Return whether there are many sizes, and each may be least whatever the others are."""
        return len(self.symbols) > _FEW_SHOWN and not self.questions.assumptions

    def _least_of(self, alternatives: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes at which an alternative holds: only that ties symbols, all others are least."""
        least = self._least()
        order = {s: n for n, s in enumerate(self.symbols)}
        best: Point | None = None
        for alternative in alternatives:
            own = sorted(symbols_in(alternative), key=order.__getitem__)
            sizes = self._smallest(own, [alternative])
            if sizes is None:
                continue
            # All other symbols cost the same: compare only those of the two alternatives.
            concerned = sorted({*own, *(best or ())}, key=order.__getitem__)
            if best is None or self._cost_of(concerned, sizes, least) < self._cost_of(concerned, best, least):
                best = sizes
        return None if best is None else {**least, **best}

    def _cost_of(
        self, symbols: Sequence[Symbol], sizes: Mapping[Symbol, int], least: Mapping[Symbol, int]
    ) -> tuple[int, int, tuple[int, ...]]:
        return point_cost(symbols, {s: sizes[s] if s in sizes else least[s] for s in symbols}, self.weights)

    def _least(self) -> Point:
        return {s: least_size(self.domains.get(s, ALL)) or 0 for s in self.symbols}

    def _smallest(self, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Point | None:
        """Return the smallest sizes at which formulas hold, or the smallest known ones if the search is cut short."""
        point = self._smallest_of_any(symbols, formulas)
        if point is None or not is_beyond(point):
            return point
        # The smallest numbers are no sizes; others, such as some with a 0, may be.
        point = self._smallest_of_any(symbols, [*formulas, *(at_most(s, MAX_SIZE) for s in symbols)])
        if point is not None and not is_beyond(point):
            return point
        self.reason = self.reason or BEYOND
        return None

    def _smallest_of_any(self, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Point | None:
        question = SmallestPointQuestion(symbols, self.domains, formulas, self.weights)
        points: Sequence[Point] = ()
        try:
            with budget_share(evidence_units(len(symbols))):
                return smallest_point(question)
        except GivenUpError as error:
            self.reason = self.reason or _why(RESOURCE_LIMIT, formulas)
            points = error.points
        except EffortSpentError:
            self.reason = self.reason or stop_reason()
        return self._smallest_of(question, points)

    def _smallest_of(self, question: SmallestPointQuestion, points: Sequence[Point]) -> Point | None:
        """Return the smallest of the known sizes, made smaller one by one."""
        best = min(points, key=question.cost, default=None)
        try:
            with budget_share(SAMPLED):
                known = self._sampled(question.symbols, question.formulas)
                best = min([*known, *points], key=question.cost, default=None)
                return None if best is None else descend(question, best)
        except EffortSpentError:
            return best

    def _sampled(self, symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> Iterator[Point]:
        """Yield the samples at which formulas hold; smaller sizes may exist, because that was not decided."""
        if tuple(symbols) != self.symbols:
            return
        samples = self.questions.samples
        for n in bit_positions(samples.all_hold(formulas)):
            yield dict(zip(symbols, samples.points[n], strict=True))
