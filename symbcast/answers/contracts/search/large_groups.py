"""Boxes in a group with too many points to list: grown from points that work, or sought in residue classes.

A box is inside the condition if no point of it violates a clause, which z3 decides. What is inside stays inside when it
shrinks, so bisection finds how far. Points outside that z3 finds are kept: no box that contains one is
asked about. A grown box cannot be extended in any direction, but another one may be larger.

Where clauses are periodic, a long progression fills a residue class of their periods, so the best classes of one period
are found, and boxes are sought in these. A short progression has fewer members than the period; in a group of two sizes
whose clauses are all periodic, that often proves that the box of the best classes is the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import lcm, prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.search.space import SearchAxis, SizeGroup, Table, is_any, meet_tables, progression
from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import TRUE, AllOf, AnyOf, Comparison, Formula
from symbcast.core.algebra.symbols import Dummy, next_number
from symbcast.core.algebra.terms import Atom, Operation, Symbol, Term, made_symbol, term
from symbcast.core.effort import SHORT_LIMIT, EffortSpentError, Satisfiability, charge
from symbcast.core.solver.evaluation import normal_conjuncts, predicate, replace_in_formula, symbols_in
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker
from symbcast.core.solver.residues import divisors, tiled_mask
from symbcast.core.structs import NamedTuple

if TYPE_CHECKING:
    GrownBox: TypeAlias = tuple[tuple[int, int], ...]
    """The least and the greatest size of each symbol."""


# Clauses that depend on remainders only: with what period they repeat in each size.


class PeriodicPart(NamedTuple):
    """A formula that implies a clause, and its period in each size; ``is_whole``: it is the clause."""

    formula: Formula
    periods: Mapping[Symbol, int]
    is_whole: bool


def periodic_part(clause: Formula) -> PeriodicPart | None:
    """Return the alternatives of a clause that depend on remainders only; None if there are none.

    >>> from symbcast.core.text import parse_formula
    >>> from symbcast.core.programs.scope import NameTable
    >>> part = periodic_part(NameTable().bind_formula(parse_formula("H % 4 == W % 2 or H <= 3")))
    >>> [(str(s), period) for s, period in part.periods.items()], part.is_whole
    ([('H', 4), ('W', 2)], False)
    """
    parts = clause.parts if isinstance(clause, AnyOf) else (clause,)
    known = {part: _periods(part) for part in parts}
    periodic = [part for part in parts if known[part] is not None]
    if not periodic:
        return None
    periods: dict[Symbol, int] = {}
    for part in periodic:
        _merge(periods, known[part] or {})
    return PeriodicPart(formulas.any_of(periodic), periods, len(periodic) == len(parts))


def _merge(periods: dict[Symbol, int], more: Mapping[Symbol, int]) -> None:
    for s, period in more.items():
        periods[s] = lcm(periods.get(s, 1), period)


def _periods(formula: Formula) -> dict[Symbol, int] | None:
    """Return the period of a formula in each size; None if it is not periodic."""
    if not isinstance(formula, Comparison | AllOf | AnyOf):
        return None
    periods: dict[Symbol, int] = {}
    for dim in formulas.dims_of(formula):
        own = {} if isinstance(dim, int) else _of_term(term(dim), 0)
        if own is None:
            return None
        _merge(periods, own)
    return periods


def _of_term(term: Term, modulus: int) -> dict[Symbol, int] | None:
    """Return the period of a term modulo a number in each size, of the term itself for 0; None if it has none."""
    periods: dict[Symbol, int] = {}
    for monomial in term.coefficients:
        for atom in monomial:
            own = _of_operation(atom, modulus) if isinstance(atom, Operation) else _of_size(atom, modulus)
            if own is None:
                return None
            _merge(periods, own)
    return periods


def _of_size(atom: Atom, modulus: int) -> dict[Symbol, int] | None:
    return {atom: modulus} if isinstance(atom, Symbol) and modulus else None


def _of_operation(operation: Operation, modulus: int) -> dict[Symbol, int] | None:
    divisor = operation.args[-1]
    if operation.kind not in ("//", "%") or not divisor.is_constant or divisor.constant < 1:
        return None
    # x % d depends on x modulo d alone; (x + d*m) // d == x // d + m, so x // d modulo m depends on x modulo d*m.
    if operation.kind == "%":
        return _of_term(operation.args[0], divisor.constant)
    return _of_term(operation.args[0], divisor.constant * modulus) if modulus else None


def divisors_in(clause: Formula, symbol: Symbol) -> Iterator[int]:
    """Yield the constant divisors of terms with a size in them."""
    pending: list[Term] = [term(d) for d in formulas.dims_of(clause) if not isinstance(d, int)]
    while pending:
        for operation in pending.pop().operations():
            pending.extend(operation.args)
            divisor = operation.args[-1]
            is_division = operation.kind in ("//", "%") and divisor.is_constant and divisor.constant > 0
            if is_division and symbol in operation.args[0].symbols():
                yield divisor.constant


# The most points of a period that are listed.
_MOST_POINTS = 1 << 14
# In how many products of residue classes a large group is searched.
_MOST_CLASSES = 24


class ResidueClass(NamedTuple):
    """A residue class of each size: its step and its residue; how many points it has at most."""

    phases: dict[Symbol, tuple[int, int]]
    points: int


class PeriodicClasses(NamedTuple):
    """Promising residue classes of a group, best first; those of all sizes come first.

    ``largest``: a box with so many points is the largest of all, as clauses are periodic; None if that is unknown.
    """

    classes: list[ResidueClass]
    largest: int | None = None


def classes_of(group: SizeGroup) -> PeriodicClasses:
    """Return the residue classes in which to seek boxes of a large group."""
    whole = ResidueClass(dict.fromkeys(group.axes, (1, 0)), prod(a.mask.bit_count() for a in group.axes.values()))
    divisors = list(_of_divisors(group))
    parts = [periodic_part(clause) for clause in group.clauses]
    periods: dict[Symbol, int] = {}
    for part in parts:
        for s, period in part.periods.items() if part else ():
            periods[s] = lcm(periods.get(s, 1), period)
    own = {s: group.axes[s] for s in periods}
    # Residues can only be listed for few of them; the divisors in the clauses are a guess that needs no list.
    if not own or prod(periods.values()) > _MOST_POINTS:
        return PeriodicClasses([whole, *divisors[:_MOST_CLASSES]])
    formula = formulas.all_of(part.formula for part in parts if part is not None)
    table = _table(formula, list(periods.items()), ())
    classes = [
        ResidueClass({**whole.phases, **dict(zip(own, phases, strict=True))}, points)
        for phases, points in _cosets(table, list(own.values()), list(periods.values()))
    ]
    classes.sort(key=lambda c: (-_held(group, c), -c.points, [*c.phases.values()]))
    is_exact = all(p is not None and p.is_whole for p in parts) and len(own) == len(group.axes) == 2
    most = classes[0].points if classes else 0
    largest = most if is_exact and _short_have_less(table, [*own.values()], [*periods.values()], most) else None
    return PeriodicClasses([whole, *[*classes, *divisors][:_MOST_CLASSES]], largest)


def _of_divisors(group: SizeGroup) -> Iterator[ResidueClass]:
    """Yield the multiples of all divisors in the clauses, together and for one size alone."""
    steps = {s: lcm(1, *(d for clause in group.clauses for d in divisors_in(clause, s))) for s in group.axes}
    known = {s: (step, 0) for s, step in steps.items() if 1 < step <= group.axes[s].high}
    for chosen in dict.fromkeys([tuple(known), *((s,) for s in known)] if known else []):
        phases = {s: known[s] if s in chosen else (1, 0) for s in group.axes}
        yield ResidueClass(phases, prod(thinned(a, *phases[s]).mask.bit_count() for s, a in group.axes.items()))


def _held(group: SizeGroup, classes: ResidueClass) -> int:
    return sum(thinned(axis, *classes.phases[s]).typical.bit_count() for s, axis in group.axes.items() if axis.typical)


def _table(formula: Formula, periods: Sequence[tuple[Symbol, int]], point: tuple[int, ...]) -> Table:
    """Return at which residues a periodic formula holds."""
    symbols = tuple(s for s, _ in periods)
    (_, period), depth = periods[len(point)], len(point)
    if depth + 1 < len(periods):
        return [_table(formula, periods, (*point, r)) for r in range(period)]
    charge(1 + period // 2)
    holds = predicate(formula, symbols)
    return sum(1 << r for r in range(period) if holds(*point, r))


def _cosets(
    table: Table, axes: Sequence[SearchAxis], periods: Sequence[int]
) -> Iterator[tuple[tuple[tuple[int, int], ...], int]]:
    """Yield classes of the first axes, each with the largest class of the last one, and how many points they have."""
    axis, period = axes[0], periods[0]
    if isinstance(table, int):
        best: tuple[int, tuple[int, int]] | None = None
        for step in divisors(period):
            for residue in range(step):
                members = tiled_mask(step, 1, period) << residue
                if not members & ~table:
                    count = thinned(axis, step, residue).mask.bit_count()
                    best = (count, (step, residue)) if count and (best is None or count > best[0]) else best
            if best is not None:
                yield (best[1],), best[0]
                return
        return
    for step in divisors(period):
        for residue in range(step):
            count = thinned(axis, step, residue).mask.bit_count()
            common = table[residue]
            for r in range(residue + step, period if count else 0, step):
                common = meet_tables(common, table[r])
            if count and is_any(common):
                for phases, points in _cosets(common, axes[1:], periods[1:]):
                    yield ((step, residue), *phases), points * count


def _short_have_less(table: Table, axes: Sequence[SearchAxis], periods: Sequence[int], points: int) -> bool:
    """Return whether boxes with a progression that does not fill a residue class have at most so many points."""
    if not all(axis.is_whole for axis in axes) or any(axis.typical for axis in axes):
        return False
    assert isinstance(table, list)
    counts = [[thinned(axis, p, r).mask.bit_count() for r in range(p)] for axis, p in zip(axes, periods, strict=True)]
    rows = [[bool(row >> c & 1) for c in range(periods[1])] for row in table if isinstance(row, int)]
    widest = max(sum(n for n, holds in zip(counts[1], row, strict=True) if holds) for row in rows)
    highest = max(
        sum(n for n, holds in zip(counts[0], column, strict=True) if holds) for column in zip(*rows, strict=True)
    )
    # A progression that does not fill a residue class has fewer members than the period, and each of its rows has at
    # most the points of the fullest row.
    return points >= max((periods[0] - 1) * widest, (periods[1] - 1) * highest)


def thinned(axis: SearchAxis, step: int, phase: int) -> SearchAxis:
    """Return the quotients of the sizes in a residue class."""
    if step == 1:
        return axis
    first = axis.low + (phase - axis.low) % step
    positions = range(first - axis.low, axis.mask.bit_length(), step)
    charge(1 + len(positions) // 16)
    mask = sum((axis.mask >> p & 1) << n for n, p in enumerate(positions))
    typical = sum((axis.typical >> p & 1) << n for n, p in enumerate(positions)) if axis.typical else 0
    shift = (mask & -mask).bit_length() - 1 if mask else 0
    return SearchAxis(first // step + shift, mask >> shift, typical >> shift)


def regular_class(axis: SearchAxis) -> tuple[int, int]:
    """Return the step and the residue of the sizes of an axis if they have no gaps otherwise; else 1 and 0."""
    # Without the lowest bit, which is the least size, the lowest one left is the next size: their distance is the
    # step.
    gap = axis.mask & (axis.mask - 1) if axis.mask else 0
    step = (gap & -gap).bit_length() - 1
    is_regular = step > 1 and axis.mask == progression(0, axis.mask.bit_count(), step)
    return (step, axis.low % step) if is_regular else (1, 0)


def thinned_group(group: SizeGroup, phases: Mapping[Symbol, tuple[int, int]]) -> SizeGroup:
    """Return a group over the quotients of its sizes: each is ``step*k + phase``, and k has the symbol of the size."""
    axes = {s: thinned(axis, *phases[s]) for s, axis in group.axes.items()}
    sizes = {s: step * s + phase for s, (step, phase) in phases.items() if step > 1}
    clauses = normal_conjuncts(replace_in_formula(clause, sizes) for clause in group.clauses)
    return SizeGroup(axes, [clause for clause in clauses if clause != TRUE])


def spread(sizes: range, step: int, phase: int) -> range:
    """Return the sizes that have some quotients."""
    first, last = (n * step + phase for n in (sizes[0], sizes[-1]))
    return range(first, last + 1, step * sizes.step if len(sizes) > 1 else 1)


_MOST_CORNERS = 4
_SEEDS = 4
# How many typical sizes of each size are seeds.
_TYPICAL = 2


class Growth:
    """The search for a large box within bounds; ``parts`` must hold at all of its points.

    ``best`` is the best box so far, and ``is_empty`` whether the bounds are proved to have no point that works.
    """

    def __init__(
        self, bounds: Mapping[Symbol, tuple[int, int]], parts: Sequence[Formula], typical: Mapping[Symbol, list[int]]
    ) -> None:
        self.symbols = tuple(bounds)
        self.whole: GrownBox = tuple(bounds.values())
        self._typical = [typical.get(s, []) for s in self.symbols]
        self._formula = formulas.all_of(parts)
        self._broken = formulas.any_of(map(formulas.negate, parts))
        self._outside: list[tuple[int, ...]] = []
        self._inside: list[GrownBox] = []
        self.best: GrownBox | None = None
        self.is_empty = False

    @property
    def is_largest(self) -> bool:
        """Whether the box fills the bounds."""
        return self.best == self.whole

    @property
    def is_point(self) -> bool:
        """Whether the box is one point."""
        return self.best is not None and all(low == high for low, high in self.best)

    def run(self) -> None:
        """Search; `best` keeps what was found if the effort is spent."""
        on_worker(self._run)

    def _run(self) -> None:
        self._session = Session(self.symbols, [self._broken], limit=SHORT_LIMIT)
        try:
            if self._is_inside(self.whole):
                self._keep(self.whole)
                return
            for seed in self._seeds():
                self._grow(seed)
        except EffortSpentError:
            return

    def _seeds(self) -> Iterator[tuple[int, ...]]:
        """Yield some points that work: typical ones, corners, the middle, or else one that z3 finds."""
        holds = predicate(self._formula, self.symbols)
        seeds: list[tuple[int, ...]] = []
        for point in dict.fromkeys(self._candidates()):
            charge(1)
            if holds(*point):
                yield point
                seeds.append(point)
            if len(seeds) == _SEEDS:
                break
        most = sum(map(bool, self._typical))
        if seeds and max(map(self._held, seeds)) == most:
            return
        session = Session(self.symbols, [self._formula, self._bounded(self.whole)], limit=SHORT_LIMIT)
        for fixed in (*self._typical_sizes(), *([] if seeds else [{}])):
            answer = session.check([formulas.equal(s, size) for s, size in fixed.items()])
            self.is_empty = not fixed and answer is Satisfiability.UNSATISFIABLE
            if answer is Satisfiability.SATISFIABLE:
                model = session.sizes
                yield tuple(model[s] for s in self.symbols)

    def _held(self, point: tuple[int, ...]) -> int:
        return sum(n in sizes for n, sizes in zip(point, self._typical, strict=True))

    def _typical_sizes(self) -> Iterator[dict[Symbol, int]]:
        """Yield typical sizes for which to seek points: some of all sizes at once, then each alone."""
        known = {s: sizes[-_TYPICAL:] for s, sizes in zip(self.symbols, self._typical, strict=True) if sizes}
        together = (dict(zip(known, chosen, strict=True)) for chosen in product(*known.values()))
        yield from islice(together, _SEEDS) if len(known) > 1 else ()
        for s, sizes in known.items():
            yield from ({s: size} for size in sizes)

    def _candidates(self) -> Iterator[tuple[int, ...]]:
        yield from product(*(sizes[:2] or [low] for sizes, (low, _) in zip(self._typical, self.whole, strict=True)))
        free = [low < high for low, high in self.whole]
        if sum(free) <= _MOST_CORNERS:
            yield from product(*({low: 0, high: 0} for low, high in self.whole))
        else:
            yield tuple(low for low, _ in self.whole)
            yield tuple(high for _, high in self.whole)
        yield tuple((low + high) // 2 for low, high in self.whole)
        for part in (8, 64):
            for n in range(part + 1):
                yield tuple(low + (high - low) * n // part for low, high in self.whole)

    def _grow(self, seed: tuple[int, ...]) -> None:
        """Grow boxes from a point: on all faces evenly first, then on one axis before the others."""
        point: GrownBox = tuple((n, n) for n in seed)
        self._keep(point)
        self._keep(self._extended(self._evenly(point), range(len(seed))))
        for axis in range(len(seed)):
            self._keep(self._extended(point, [axis, *(n for n in range(len(seed)) if n != axis)]))

    def _evenly(self, box: GrownBox) -> GrownBox:
        steps = max(high - low for low, high in self.whole)

        def grown(t: int) -> GrownBox:
            return tuple(
                (n - t * (n - low) // steps, n + t * (high - n) // steps)
                for (n, _), (low, high) in zip(box, self.whole, strict=True)
            )

        return grown(self._most(steps, grown))

    def _extended(self, box: GrownBox, order: Sequence[int]) -> GrownBox:
        """Move each face as far as it can, in an order of the axes: the box then cannot be extended."""
        for axis in order:
            for side in (1, 0):
                box = self._moved(box, axis, side)
        return box

    def _moved(self, box: GrownBox, axis: int, side: int) -> GrownBox:
        low, high = box[axis]
        room = self.whole[axis][1] - high if side else low - self.whole[axis][0]

        def grown(t: int) -> GrownBox:
            return (*box[:axis], (low, high + t) if side else (low - t, high), *box[axis + 1 :])

        return grown(self._most(room, grown))

    def _most(self, most: int, grown: Callable[[int], GrownBox]) -> int:
        """Return the largest number up to ``most`` for which a box is inside; it is inside for 0."""
        if most == 0 or self._is_inside(grown(most)):
            return most
        # Boxes for larger numbers contain those for smaller ones, so that being inside is monotone and bisection is
        # exact.
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_inside(grown(middle)) else (low, middle)
        return low

    def _is_inside(self, box: GrownBox) -> bool:
        charge(1 + len(self._outside) // 8)
        # A point that z3 found outside refutes every box around it, and a box inside proves every box within it.
        if any(all(low <= n <= high for n, (low, high) in zip(point, box, strict=True)) for point in self._outside):
            return False
        if any(_covers(known, box) for known in self._inside):
            return True
        answer = self._session.check([self._bounded(box)])
        if answer is Satisfiability.SATISFIABLE:
            model = self._session.sizes
            self._outside.append(tuple(model[s] for s in self.symbols))
        elif answer is Satisfiability.UNSATISFIABLE:
            self._inside.append(box)
        return answer is Satisfiability.UNSATISFIABLE

    def _bounded(self, box: GrownBox) -> Formula:
        sides = zip(self.symbols, box, strict=True)
        return formulas.all_of(
            part for s, (low, high) in sides for part in (formulas.at_most(low, s), formulas.at_most(s, high))
        )

    def _keep(self, box: GrownBox) -> None:
        if self.best is None or self._score(box) > self._score(self.best):
            self.best = box

    def _score(self, box: GrownBox) -> tuple[int, int]:
        typical_inside = sum(
            low <= n <= high for sizes, (low, high) in zip(self._typical, box, strict=True) for n in sizes
        )
        return typical_inside, prod(high - low + 1 for low, high in box)


def has_single_points(group: SizeGroup) -> bool:
    """Return whether it is proved that no two points of a group differ in one size only: each box is a point.

    So it is where every size is a function of the others, as of ``H == W``.
    """
    return all(_is_determined(s, group) for s in group.axes)


def _is_determined(s: Symbol, group: SizeGroup) -> bool:
    if group.axes[s].low == group.axes[s].high:
        return True
    other = made_symbol(Dummy, s.name, next_number())
    again = [replace_in_formula(clause, {s: other}) for clause in group.clauses if s in symbols_in(clause)]
    ends = {**{t: (axis.low, axis.high) for t, axis in group.axes.items()}}
    ends[other] = ends[s]
    bounds = [part for t, (low, high) in ends.items() for part in (formulas.at_most(low, t), formulas.at_most(t, high))]
    # Of two different sizes, one is less: asking for `s < other` leaves nothing out.
    constraints = [*group.clauses, *again, *bounds, formulas.at_most(s + 1, other)]
    try:
        answer = on_worker(lambda: Session(tuple(ends), constraints, limit=SHORT_LIMIT).check())
    except EffortSpentError:
        return False
    return answer is Satisfiability.UNSATISFIABLE


def _covers(outer: GrownBox, inner: GrownBox) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))
