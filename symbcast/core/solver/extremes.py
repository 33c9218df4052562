"""The least and greatest value of a term under assumptions: attained and proved, without end, or bounded on one side.

Values are raised by witnesses and limited by proofs. Interval arithmetic gives a limit, points give values that are
reached, and where the two differ, the decision procedures say whether a value can be passed: ``term >= v`` holds for
fewer sizes the greater v is, so bisection is exact. That a term has no greatest value is proved on a curve: if some
sizes ``a + b*k`` or ``a + b*k**2`` are allowed for infinitely many k, and the term is a polynomial in k there that
rises, it passes every number. Linear terms and conjunctions of linear constraints always have such a line if they are
not bounded (Meyer 1974: the integer points of a rational polyhedron have its rational directions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from math import lcm, prod

from symbcast.core.algebra.arithmetic import replace_symbols, value_of
from symbcast.core.algebra.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    all_of,
    at_most,
    clauses,
    equal,
    expand,
    holds,
    needs_of,
)
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Atom, Dim, Operation, Symbol, Term, constant, term
from symbcast.core.effort import EffortSpentError, budget_share, charge, stop_reason
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import holds_at, replace_in_formula, symbols_in, value_at
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError, ResidueClassTerms, period_of_term
from symbcast.core.solver.f2_one_size.ranges import interval
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import ONE_NAME, solution_set
from symbcast.core.solver.points import Point
from symbcast.core.solver.residues import PeriodTooLongError, mask_residues
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple


class Extreme(NamedTuple):
    """What is known of the greatest value of a term; of the least value, with all directions reversed.

    ``reached`` is the greatest value that is proved to be reached; ``point`` are the smallest sizes for it. ``bound``
    is a value that is proved not to be passed; if both are equal, they are the greatest value. With ``grows``, it is
    proved that there is none: with these sizes, the term passes every number. ``reason`` says why more is not known.
    """

    reached: int | None = None
    bound: int | None = None
    point: Point | None = None
    grows: tuple[Symbol, ...] = ()
    reason: str = ""

    @property
    def value(self) -> int | None:
        """The extreme value itself; None if there is none, or if it is not known."""
        return self.reached if self.reached == self.bound else None


def extremes(value: Dim, known: AssumptionSet, formulas: Iterable[Formula] = ()) -> tuple[Extreme, Extreme] | None:
    """Return the least and greatest value of a term where assumptions and formulas hold; None if it has no value there.

    Sizes at which the term has no value do not count. Points are about the sizes that the term, or a formula that
    concerns it, mentions.

    >>> from symbcast.core.text import parse_dim, parse_formula
    >>> size = parse_dim("(320*n + 255) % 256")
    >>> least, greatest = extremes(size, AssumptionSet.of_names(list(size.symbols())), [parse_formula("n >= 1")])
    >>> least.value, least.point, greatest.value, greatest.point
    (63, {n: 1}, 255, {n: 4})
    """
    # Needs are read from the term as written: its value may not mention a divisor that it was written with.
    needed = [replace_in_formula(f, known.values) for f in (*formulas, *needs_of((value,)))]
    value = replace_symbols(value, known.values)
    about = term(value).symbols()
    tied, others = _tied([part for f in (*known.others, *needed) for part in clauses(f)], about)
    symbols = [s for s in known.domains if s in about or any(s in symbols_in(f) for f in tied)]
    try:
        rest = Decision(AssumptionSet(tuple(known.domains), known.domains, ()), others)
        if rest.satisfiable is False:
            return None
        found = _Search(value_of(value), AssumptionSet(symbols, known.domains, tied)).extremes()
    except ContradictionError:
        return None
    if found is None:
        return None
    if rest.satisfiable is None:  # there may be no sizes at all
        return Extreme(bound=found[0].bound, reason=rest.reason), Extreme(bound=found[1].bound, reason=rest.reason)
    return _with_values(found[0], known.values), _with_values(found[1], known.values)


def _with_values(extreme: Extreme, values: Mapping[Symbol, Dim]) -> Extreme:
    """Return an extreme whose point has the sizes that assumptions make equal to others, or to numbers."""
    point = extreme.point or {}
    sizes = {s: v if isinstance(v, int) else next((point[s] for s in point if s is v), None) for s, v in values.items()}
    more = {s: size for s, size in sizes.items() if size is not None}
    return extreme if extreme.point is None else extreme._replace(point={**point, **more})


def _tied(formulas: Sequence[Formula], about: Mapping[Symbol, None]) -> tuple[list[Formula], list[Formula]]:
    """Return the formulas that concern some symbols, directly or through other formulas, and the others."""
    reached, left = set(about), [(f, symbols_in(f).keys()) for f in formulas]
    charge(len(left))
    while fitting := [symbols for _, symbols in left if not reached.isdisjoint(symbols)]:
        left = [entry for entry in left if reached.isdisjoint(entry[1])]
        reached.update(s for symbols in fitting for s in symbols)
    others = [f for f, _ in left]
    return [f for f in formulas if not reached.isdisjoint(symbols_in(f))], others


# Values up to which a term is followed if no limit is known: beyond all sizes, products of them, and bytes.
_FAR = 1 << 200
# Where between the known ends the next value lies: after undecided ones, one beyond them may be refuted, and one before
# them reached; after the last, the search ends.
_AFTER_UNDECIDED = (0.5, 0.75, 0.25, 0.875, 0.125)
# How many corners of the domains are tried, and how far a point is looked for that lies in another case.
_CORNERS = 64
_REMOTE = 1 << 20
# Up to how many sizes curves of several powers are tried, each is bounded alone, and one remains after the others.
_FEW = 3
_BOUNDED = 6
_CASES = 1_000
# Units of effort for the proof that a term grows, for the cases of all sizes but one, and for a point.
_GROWTH = 400_000
_OF_CASES = 600_000
_POINT = 20
_ENDLESS = "whether there is a greatest value was not decided"


class _Search:
    """The search for the extreme values of a term under assumptions."""

    def __init__(self, value: Dim, known: AssumptionSet, points: Sequence[Point] = ()) -> None:
        self.known = known
        self.value = replace_symbols(value, known.values)
        self.points = list(points) or [p for p in self._corners() if self._is_allowed(p)]
        self.reason = ""

    def extremes(self) -> tuple[Extreme, Extreme] | None:
        """Return both extreme values; None if the term has no value."""
        decision = Decision(self.known, ())
        if decision.satisfiable is False:
            return None
        if not self.points:
            point = decision.witness()
            if point is None:
                reason = decision.reason or decision.evidence_reason or stop_reason()
                low, high = interval(term(self.value), self.known.domains)
                return Extreme(bound=low, reason=reason), Extreme(bound=high, reason=reason)
            self.points.append(point)
        least, greatest = self._greatest(-1), self._greatest(1)
        reached, bound = (None if v is None else -v for v in (least.reached, least.bound))
        return least._replace(reached=reached, bound=bound), greatest

    def _corners(self) -> Iterator[Point]:
        """Yield points whose sizes are the least or greatest of their domains: monotone terms are extreme there."""
        domains = self.known.domains.values()
        ends = [list(dict.fromkeys(n for n in (d.greatest, d.least(1), d.least()) if n is not None)) for d in domains]
        alike = [tuple(each[0] for each in ends), tuple(each[-1] for each in ends)]
        for sizes in dict.fromkeys((*alike, *islice(product(*ends), _CORNERS))):
            yield dict(zip(self.known.domains, sizes, strict=True))

    def _is_allowed(self, point: Point) -> bool:
        charge(_POINT * (1 + len(self.known.others)))
        is_inside = all(point[s] in domain for s, domain in self.known.domains.items())
        return is_inside and self._at(point) is not None and all(holds_at(f, point) for f in self.known.others)

    def _at(self, point: Point) -> int | None:
        return value_at(self.value, point)

    def _greatest(self, sign: int) -> Extreme:
        """Return the greatest value of the term times a sign."""
        low = max(sign * at for p in self.points if (at := self._at(p)) is not None)
        high, self.reason = self._end(sign), ""
        if high is None and self._can_be(sign, low + 1) is False:
            high = low
        if high is None:
            grows = self._growth(sign)
            if grows:
                return Extreme(grows=grows)
            self._bound_each()
            high = self._end(sign)
        if high is not None and low < high and self._can_be(sign, high):
            low = high
        if low != high:
            low, high = self._doubled(sign, low, high)
        if high is not None:
            low, high = self._bisected(sign, low, high)
        if low != high:
            low, high = self._by_cases(sign, low, high)
        return Extreme(low, high, self._point(sign, low), (), "" if low == high else self.reason or _ENDLESS)

    def _end(self, sign: int) -> int | None:
        low, high = interval(term(self.value), self.known.domains)
        return high if sign > 0 else None if low is None else -low

    def _bound_each(self) -> None:
        """Narrow the domains of sizes that other sizes bound: products have limits only then."""
        free = [s for s, domain in self.known.domains.items() if domain.greatest is None]
        if term(self.value).is_Symbol or len(free) > _BOUNDED:
            return
        for s in free:
            search = _Search(s, self.known, self.points)
            bound = search._greatest(1).bound
            if bound is not None:
                self.known.domains[s] &= SizeSet.interval(0, bound)

    def _point(self, sign: int, value: int) -> Point | None:
        """Return the smallest sizes at which the value is reached, or others that are known."""
        point = Decision(self.known, [equal(self.value, sign * value)]).witness()
        return next((p for p in self.points if self._at(p) == sign * value), None) if point is None else point

    def _can_be(self, sign: int, value: int) -> bool | None:
        """Return whether the term times a sign can be at least a value; None if undecided."""
        target = sign * value
        leaf = at_most(target, self.value) if sign > 0 else at_most(self.value, target)
        if isinstance(self.value, int):
            return holds(leaf)
        decision = Decision(self.known, [leaf])
        if decision.satisfiable is None:
            self.reason = self.reason or decision.reason or stop_reason()
        return decision.satisfiable

    def _doubled(self, sign: int, low: int, high: int | None) -> tuple[int, int | None]:
        """Return a greater value that is reached, and one that is not passed, from steps that double."""
        step = 1
        while low + step <= (_FAR if high is None else high):
            can_be = self._can_be(sign, low + step)
            if not can_be:
                return low, high if can_be is None else low + step - 1
            low, step = low + step, 2 * step
        return low, high

    def _bisected(self, sign: int, low: int, high: int) -> tuple[int, int]:
        """Return the greatest value between one that is reached and one that is not passed; both ends if undecided."""
        undecided, middle = 0, (low + high + 1) // 2
        while low < high and undecided < len(_AFTER_UNDECIDED) - 1:
            can_be = self._can_be(sign, middle)
            low, high = (middle, high) if can_be else (low, middle - 1) if can_be is False else (low, high)
            undecided = 0 if can_be is not None else undecided + 1
            middle = low + max(1, int((high - low + 1) * _AFTER_UNDECIDED[undecided]))
        return low, high

    def _by_cases(self, sign: int, low: int, high: int | None) -> tuple[int, int | None]:
        """Return the same ends, or the greatest value twice if all sizes but one have few values: each case is F2's."""
        domains = self.known.domains
        rest = max(domains, key=lambda s: _FAR if domains[s].greatest is None else domains[s].greatest or 0)
        others = {s: domain.first(_CASES + 1) for s, domain in domains.items() if s is not rest}
        is_few = all(domains[s].greatest is not None for s in others) and prod(map(len, others.values())) <= _CASES
        if not is_few:
            return low, high
        known = all_of([*self._formulas(), *needs_of((self.value,))])
        greatest = low
        try:
            with budget_share(_OF_CASES):
                for sizes in product(*others.values()):
                    case = Substitution({rest: ONE_NAME, **dict(zip(others, sizes, strict=True))}, of_symbols=True)
                    allowed = solution_set(replace_in_formula(known, case.replaced))
                    greatest = _raised(greatest, case.term(term(self.value)).scaled(sign), allowed)
        except (EffortSpentError, NotPeriodicError, PeriodTooLongError):
            return low, high
        return greatest, greatest

    def _formulas(self) -> list[Formula]:
        """Return the assumptions together with formulas that describe the domains."""
        return [*self.known.others, *(set_formula(s, d) for s, d in self.known.domains.items() if d is not ALL)]

    # Terms without a greatest value.

    def _growth(self, sign: int) -> tuple[Symbol, ...]:
        """Return sizes with which the term grows without end; none if that is not proved."""
        try:
            with budget_share(_GROWTH):
                for base in self._bases(sign):
                    for curve in self._curves(sign, base):
                        if self._rises(sign, base, curve):
                            return tuple(s for s in self.known.domains if not curve[s].is_constant)
        except EffortSpentError:
            self.reason = self.reason or stop_reason()
        return ()

    def _bases(self, sign: int) -> Iterator[Point]:
        """Yield points from which the term may rise: known ones, then one where it is large, which may take long."""
        yield from self.points[:2]
        remote = Decision(self.known, [at_most(_REMOTE, term(self.value).scaled(sign).dim())]).witness()
        if remote:
            yield remote

    def _curves(self, sign: int, base: Point) -> Iterator[dict[Symbol, Term]]:
        """Yield curves, one or two ways by which each size grows with k."""
        free = [s for s, domain in self.known.domains.items() if domain.greatest is None]
        k, still = term(ONE_NAME), dict.fromkeys(self.known.domains, constant(0))
        for s in free:
            yield {**still, s: k}
        line = self._line(sign, base)
        if line:
            yield {s: k.scaled(line[s]) for s in still}
        yield {**still, **dict.fromkeys(free, k)}
        if len(free) <= _FEW:
            for ways in product((constant(0), k, k * k), repeat=len(free)):
                yield {**still, **dict(zip(free, ways, strict=True))}

    def _rises(self, sign: int, base: Point, curve: Mapping[Symbol, Term]) -> bool:
        """Return whether the term passes every number on a curve from a point, at allowed sizes."""
        on_curve = Substitution({s: constant(base[s]) + way for s, way in curve.items()}, of_symbols=True)
        value = on_curve.term(term(self.value)).scaled(sign)
        if value.is_constant:
            return False
        known = all_of([*self._formulas(), *needs_of((self.value,))])
        try:
            sizes = solution_set(replace_in_formula(known, on_curve.replaced))
            if not sizes or sizes.greatest is not None:
                return False
            period = period_of_term(value)
            often = SizeSet(sizes.segments[-1:]).residues_of(period)
            return any(_ends_rising(value, residue, period) for residue in islice(mask_residues(often), _CORNERS))
        except (NotPeriodicError, PeriodTooLongError):
            return False

    def _line(self, sign: int, base: Point) -> Point | None:
        """Return a direction in which linear constraints that hold at a point go on holding, and the term grows."""
        still = [equal(s, 0) for s, domain in self.known.domains.items() if domain.greatest is not None]
        try:
            rises = at_most(1, _row(_slope(term(self.value).scaled(sign), base)))
            rows = [row for f in self._formulas() for row in _directions(f, base)]
        except NotPeriodicError:
            return None
        return Decision(AssumptionSet.of_names(list(self.known.domains)), [*rows, *still, rises]).witness()


def _raised(low: int, value: Term, allowed: SizeSet) -> int:
    """Return the greatest value of a term in one size on a set, or a number if none is greater."""
    step = 1
    while step and allowed:
        above = allowed & solution_set(at_most(low + step, value.dim()))
        low, step = (low + step, 2 * step) if above else (low, step // 2)
        if low > _FAR:
            raise NotPeriodicError("a value that is too large")
    return low


def _ends_rising(value: Term, residue: int, period: int) -> bool:
    last = ResidueClassTerms(residue, period).pieces(value)[-1].value
    return len(last) > 1 and last[-1] > 0


# Directions of linear constraints.


def _directions(formula: Formula, base: Point) -> Iterator[Formula]:
    """Yield constraints on a direction: along it, what holds at a point goes on holding, if it is linear."""
    match formula:
        case AllOf(parts):
            for part in parts:
                yield from _directions(part, base)
        case AnyOf(parts):
            yield from _directions(next((p for p in parts if holds_at(p, base)), parts[0]), base)
        case Compatible() | Clashing():
            yield from _directions(expand(formula), base)
        case Comparison(operator, left, right) if operator != "!=":
            row = _row(_slope(term(left) - term(right), base))
            yield equal(row, 0) if operator == "==" else at_most(row, 0)


def _slope(value: Term, base: Point) -> dict[Symbol, Fraction]:
    """Return how fast a term grows with each size, apart from rounding; raises `NotPeriodicError` for products."""
    slopes: dict[Symbol, Fraction] = {}
    for monomial, coefficient in value.coefficients.items():
        if len(monomial) > 1:
            raise NotPeriodicError("a product")
        for s, slope in _slope_of_atom(monomial[0], base).items() if monomial else ():
            slopes[s] = slopes.get(s, Fraction(0)) + coefficient * slope
    return slopes


def _slope_of_atom(atom: Atom, base: Point) -> dict[Symbol, Fraction]:
    if isinstance(atom, Symbol):
        return {atom: Fraction(1)}
    assert isinstance(atom, Operation)
    if atom.kind in ("//", "%"):
        dividend, divisor = atom.args
        if not divisor.is_constant:
            raise NotPeriodicError("a divisor")
        return {s: c / divisor.constant for s, c in _slope(dividend, base).items()} if atom.kind == "//" else {}
    chosen = next((arg for arg in atom.args if value_at(arg.dim(), base) == value_at(atom, base)), atom.args[0])
    return _slope(chosen, base)


def _row(slopes: Mapping[Symbol, Fraction]) -> Dim:
    scale = lcm(*(c.denominator for c in slopes.values()))
    return sum((term(s).scaled(int(c * scale)) for s, c in slopes.items()), constant(0)).dim()
