"""The sizes that a picture shows: its symbols, their ranges, fixed sizes, and formulas at every point of a grid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.programs.arguments import own_set
from symbcast.core.rules import OutputDim
from symbcast.core.rules.broadcast_rule import members_of
from symbcast.core.solver import evaluation
from symbcast.core.solver.evaluation import UndefinedError
from symbcast.core.solver.f3_linear.equations import solved_for
from symbcast.core.structs import NamedTuple

if TYPE_CHECKING:
    from symbcast.notebook.subjects import SurveySubject


# Defaults of a picture: its symbols, and the output axis that it shows.


def informative_symbols(names: Mapping[Symbol, str], condition: Sequence[Formula]) -> Iterator[tuple[Symbol, ...]]:
    """Yield groups of two symbols (or one, if there is only one), those most informative about the condition first.

    First come the two sides of a comparison, then any two symbols in a clause, then symbols from several clauses.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> call = call_of(broadcast("batch, heads, T, T + P", "batch, 1, 1, S"))
    >>> next(informative_symbols(call.shown, call.clauses))
    (T, S)
    """
    place = {s: n for n, s in enumerate(names)}
    if len(place) < 2:
        yield from ((s,) for s in place)
        return
    seen: set[tuple[Symbol, ...]] = set()
    for pair in _pairs(place, condition):
        ordered = tuple(sorted(pair, key=place.__getitem__))
        if ordered not in seen and ordered[0] is not ordered[1]:
            seen.add(ordered)
            yield ordered


def _pairs(place: Mapping[Symbol, int], condition: Sequence[Formula]) -> Iterator[tuple[Symbol, Symbol]]:
    for clause in condition:
        for left, right in _sides(clause):
            first, second = (_ordered(symbols_of((d,)), place) for d in (left, right))
            # A symbol that is on both sides shows less about where the sides are equal.
            yield from product([s for s in first if s not in second], [s for s in second if s not in first])
    within = [_ordered(evaluation.symbols_in(clause), place) for clause in condition]
    for symbols in within:
        yield from combinations(symbols, 2)
    yield from combinations(dict.fromkeys([*(s for symbols in within for s in symbols), *place]), 2)


def _ordered(symbols: Iterable[Symbol], place: Mapping[Symbol, int]) -> list[Symbol]:
    return sorted((s for s in symbols if s in place), key=place.__getitem__)


def _sides(formula: Formula) -> Iterator[tuple[Dim, Dim]]:
    """Yield the two sides of each comparison in a formula, literal by literal."""
    match formula:
        case Comparison(_, left, right):
            yield left, right
        case Compatible(dims) | Clashing(dims):
            yield from combinations(dims, 2)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _sides(part)


def informative_axis(pictures: Sequence[Collection[tuple[int, ...]]]) -> int | None:
    """Return the first output axis that varies within a picture, given the shapes in each; None if there are no axes.

    Sizes that vary only between pictures do not count: the shades should be informative within each picture.

    >>> informative_axis([{(1, 2), (1, 3)}, {(4, 2)}]), informative_axis([{(1, 2)}, {(4, 2)}]), informative_axis([{()}])
    (1, 0, None)
    """
    rank = len(next((shape for shapes in pictures for shape in shapes), ()))
    varying = (n for n in range(rank) if any(len({shape[n] for shape in shapes}) > 1 for shapes in pictures))
    return next(varying, 0 if rank else None)


# Formulas and dimensions at every point of a grid of sizes.


# One row for each size of the second symbol; rows, and values in them, that are alike are one object.
Values = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class SurveyGrid:
    """The points of a grid: the sizes of one or two symbols, and the sizes of all other symbols there.

    ``axes`` maps the symbols that vary to their sizes, ``fixed`` holds those that do not vary, and ``following`` those
    whose sizes the others determine.
    """

    axes: Mapping[Symbol, tuple[int, ...]]
    fixed: Mapping[Symbol, int]
    following: Mapping[Symbol, Dim] = field(default_factory=dict)

    @cached_property
    def _sizes(self) -> list[tuple[int, ...]]:
        return [*self.axes.values(), (0,)][:2]

    @property
    def width(self) -> int:
        """The number of sizes of the first symbol."""
        return len(self._sizes[0])

    @property
    def height(self) -> int:
        """The number of sizes of the second symbol; 1 if there is none."""
        return len(self._sizes[1])

    def values(self, symbols: Iterable[Symbol], compiled: Callable[[tuple[Symbol, ...]], Callable[..., Any]]) -> Values:
        """Evaluate a function of some symbols at every point; it is called once for each combination of their sizes.

        ``compiled`` returns the function for the symbols in a given order; points without a value get None.
        """
        used = dict.fromkeys(symbols)
        varying = [a for a in self.axes if a in used]
        still = [s for s in used if s not in self.axes]
        function, rest = compiled((*varying, *still)), [self.fixed[s] for s in still]
        across, along = self._sizes
        if len(varying) == 2:
            return [[_value(function, x, y, *rest) for x in across] for y in along]
        if not varying:
            return [[_value(function, *rest)] * self.width] * self.height
        if varying[0] == next(iter(self.axes)):
            # The rows are one object, which later steps recognise and look at once.
            return [[_value(function, x, *rest) for x in across]] * self.height
        return [[_value(function, y, *rest)] * self.width for y in along]

    def where(self, formula: Formula) -> Values:
        """Return, for every point, whether a formula holds."""
        formula = evaluation.replace_in_formula(formula, self.following) if self.following else formula
        return self.values(evaluation.symbols_in(formula), lambda order: evaluation.predicate(formula, order))

    def allowed(self, s: Symbol, min_size: int) -> Values:
        """Return, for every point, whether the symbol's own bounds allow its size."""
        members = own_set(s, min_size)
        if s not in self.following:
            return self.values([s], lambda _: members.__contains__)
        return [[size is not None and size in members for size in row] for row in self.sizes(self.following[s])]

    def sizes(self, dim: OutputDim) -> Values:
        """Return the size of an output axis at every point; None where it has no size."""
        members = tuple(dict.fromkeys(members_of(dim)))
        if self.following:
            members = tuple(replace_symbols(d, self.following) for d in members)
        return self.values(symbols_of(members), lambda order: _join_function(members, order))


def _value(function: Callable[..., Any], *sizes: int) -> Any:
    try:
        return function(*sizes)
    except (ZeroDivisionError, UndefinedError):
        return None


def _join_function(members: Sequence[Dim], order: tuple[Symbol, ...]) -> Callable[..., int]:
    functions = [evaluation.value_function(d, order) for d in members]
    if len(functions) == 1:
        return functions[0]
    return lambda *sizes: evaluation.join_sizes(*(function(*sizes) for function in functions))


# Default sizes of a picture: symbols, ranges and fixed sizes that show working and failing cells.
#
# A picture is a section through the space of all sizes: one or two symbols vary, and the others are fixed, or follow
# if the assumptions determine them. A section with both outcomes is chosen if there is one: first among those through
# the answer's own witness and counterexample, then by asking the solver for a working and a failing point that differ
# in only two symbols. So the choice does not depend on sampling.


Point = Mapping["Symbol", int]

# The most choices of symbols to examine; the solver is called for the first `MOST_PAIRS` of them.
MOST_LOOKED_AT = 40
MOST_PAIRS = 8
# Sizes up to this are checked first: in most pictures the smallest failure is there, however far they go.
NEAR = 64


class Ranges(NamedTuple):
    """The range of sizes in a picture.

    ``up_to`` is the largest size unless both outcomes need a larger one, ``most`` is the maximum number of sizes on an
    axis, and ``sizes`` holds the caller's sizes for the first and the second symbol, None for automatic ones.
    """

    up_to: int
    most: int
    sizes: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)


@dataclass(frozen=True)
class Section:
    """The varying symbols and their sizes, the fixed symbols and their sizes, and the symbols that follow from them."""

    axes: Mapping[Symbol, tuple[int, ...]]
    fixed: Mapping[Symbol, int]
    following: Mapping[Symbol, Dim] = field(default_factory=dict)
    fails_at: tuple[int, ...] | None = None
    """The sizes on the axes of a failing cell; None unless the section has failing and working cells."""


def stepped(up_to: int, most: int, needed: Iterable[int] = ()) -> tuple[int, ...]:
    """Return sizes from 0 up to a largest one: all, or every second, fourth, eighth..., plus the needed ones.

    >>> stepped(4, 9), stepped(64, 9), stepped(64, 9, [1])
    ((0, 1, 2, 3, 4), (0, 8, 16, 24, 32, 40, 48, 56, 64), (0, 1, 8, 16, 24, 32, 40, 48, 56, 64))
    """
    step = 1
    while up_to // step >= most:
        step *= 2
    return tuple(sorted({*range(0, up_to + 1, step), *needed}))


def section(subject: SurveySubject, chosen: Sequence[Symbol] | None, fixed: Point, ranges: Ranges) -> Section | None:
    """Return the section to show, over the ``chosen`` symbols or else the most informative; None if none is left.

    ``fixed`` holds the sizes that the caller fixes. Unless chosen, symbols are in the order of the answer.
    """
    free = {s: name for s, name in subject.names.items() if s not in fixed}
    groups = [tuple(chosen)] if chosen is not None else informative_symbols(free, subject.condition())
    return _Search(subject, fixed, ranges).best(groups)


def plain_section(subject: SurveySubject, chosen: Sequence[Symbol], fixed: Point, ranges: Ranges) -> Section:
    """Return a section over some symbols, the others at the least sizes that the assumptions allow; no solver call."""
    return _Search(subject, fixed, ranges, decided=False).first(tuple(chosen))


class _Search:
    """A search for sections that contain working and failing points."""

    def __init__(self, subject: SurveySubject, fixed: Point, ranges: Ranges, decided: bool = True) -> None:
        self._subject = subject
        self._fixed = fixed
        self._ranges = ranges
        self._works, self._fails = subject.evidence(fixed) if decided else (None, None)
        self._least = self._works or subject.least(fixed)
        self._equations = [
            f for f in evaluation.normal_conjuncts(subject.assumed) if isinstance(f, Comparison) and f.operator == "=="
        ]
        self._unmet: list[Formula] | None = None
        self._users = {s: [] for s in subject.names}  # type: dict[Symbol, list[tuple[bool, Formula]]]
        for is_required, formulas in ((True, subject.requirements), (False, subject.assumed)):
            for formula in formulas:
                for s in evaluation.symbols_in(formula):
                    if s in self._users:
                        self._users[s].append((is_required, formula))

    def best(self, groups: Iterable[tuple[Symbol, ...]]) -> Section | None:
        """Return the first section over some groups of symbols that shows both outcomes, else the first section."""
        looked_at = list(islice(groups, MOST_LOOKED_AT if self._works and self._fails else 1))
        if not looked_at:
            return None
        if self._works and self._fails:
            sections = chain(self._through_evidence(looked_at), self._between_evidence(looked_at))
            for section in chain(sections, self._through_closest_pair(looked_at[:MOST_PAIRS])):
                fails_at = self._failing_cell(section)
                if fails_at is not None:
                    return Section(section.axes, section.fixed, section.following, fails_at)
        return self.first(looked_at[0])

    def first(self, group: tuple[Symbol, ...]) -> Section:
        """Return the section over some symbols, the others at the smallest sizes that work, or else are allowed."""
        return self._section(group, self._least)

    def _through_evidence(self, groups: Sequence[tuple[Symbol, ...]]) -> Iterator[Section]:
        """Yield sections through the witness and through the counterexample, over the first sizes of each symbol."""
        assert self._works and self._fails
        for group in groups:
            for point in (self._works, self._fails):
                if all(f in self._touching(group) for f in self._broken(point)):
                    yield self._section(group, point)

    def _between_evidence(self, groups: Sequence[tuple[Symbol, ...]]) -> Iterator[Section]:
        """Yield the sections that contain both the witness and the counterexample."""
        assert self._works and self._fails
        differing = {s for s in self._subject.names if self._works[s] != self._fails[s]}
        for group in groups:
            if differing <= {*group, *self._following(group)}:
                yield self._section(group, self._works, self._fails)

    def _through_closest_pair(self, groups: Sequence[tuple[Symbol, ...]]) -> Iterator[Section]:
        """Yield the sections that contain the smallest pair of a working and a failing point."""
        for group in groups:
            points = self._subject.pair({*group, *self._following(group)}, self._fixed)
            if points is not None:
                yield self._section(group, *points)

    def _section(self, group: tuple[Symbol, ...], *points: Point) -> Section:
        following = self._following(group)
        sizes = (self._sizes(s, n, [p[s] for p in points]) for n, s in enumerate(group))
        axes = dict(zip(group, sizes, strict=True))
        return Section(axes, {s: points[0][s] for s in self._subject.names if s not in {*axes, *following}}, following)

    def _sizes(self, s: Symbol, place: int, needed: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of an axis: the given ones, else the symbol's first valid sizes plus the needed ones."""
        sizes = self._ranges.sizes[place]
        if sizes is not None:
            return sizes
        up_to, most = self._ranges.up_to, self._ranges.most
        first = self._subject.first_sizes(s, up_to)
        if len(needed) < 2 or set(needed) <= set(first):
            return first
        low, high = min(needed), max(needed)
        if first[0] == 0 or low < first[0]:
            return stepped(high, most, needed)
        return tuple(sorted({*first, *needed}))

    def _following(self, group: tuple[Symbol, ...]) -> dict[Symbol, Dim]:
        """Return the other symbols that the assumptions express in terms of the varying ones."""
        values: dict[Symbol, Dim] = {}
        others = [s for s in self._subject.names if s not in group and s not in self._fixed]
        for equation in self._equations:
            formula = evaluation.replace_in_formula(equation, values) if values else equation
            mentioned = evaluation.symbols_in(formula)
            for s in reversed(others):
                value = solved_for(formula, s) if s in mentioned and s not in values else None
                if value is not None:
                    values = {t: replace_symbols(d, {s: value}) for t, d in values.items()}
                    values[s] = value
                    break
        return {s: d for s, d in values.items() if not set(group).isdisjoint(symbols_of((d,)))}

    def _touching(self, group: tuple[Symbol, ...]) -> set[Formula]:
        return {f for s in (*group, *self._following(group)) for _, f in self._users[s]}

    def _broken(self, point: Point) -> list[Formula]:
        if point is self._works:
            return []
        if self._unmet is None:
            self._unmet = self._subject.broken(point)
        return self._unmet

    def _failing_cell(self, section: Section) -> tuple[int, ...] | None:
        """Return the smallest failing sizes in a section, if possible without 0; None unless other sizes work."""
        near = {s: tuple(size for size in sizes if size <= NEAR) for s, sizes in section.axes.items()}
        if all(near.values()):
            cell = self._failing_in(replace(section, axes=near))
            if cell is not None and 0 not in cell and sum(cell) <= NEAR:
                return cell  # all other failing cells have a larger sum
        return self._failing_in(section)

    def _failing_in(self, section: Section) -> tuple[int, ...] | None:
        """Return the same as `_failing_cell`, by evaluating every cell of the section.

        Only formulas with a varying symbol are evaluated: the others hold everywhere if any point works.
        """
        moved = (*section.axes, *section.following)
        touching = dict.fromkeys(chain.from_iterable(self._users[s] for s in moved))
        grid = SurveyGrid(section.axes, section.fixed, section.following)
        fits = [grid.allowed(s, self._subject.min_size) for s in moved]
        fits += [grid.where(f) for is_required, f in touching if not is_required]
        holding = [grid.where(f) for is_required, f in touching if is_required]
        works, failing = False, []
        along = [*section.axes.values(), (None,)][1]
        for j, y in enumerate(along):
            for i, x in enumerate(next(iter(section.axes.values()))):
                if all(values[j][i] for values in fits):
                    if all(values[j][i] for values in holding):
                        works = True
                    else:
                        failing.append((x,) if y is None else (x, y))
        return min(failing, key=lambda sizes: (0 in sizes, sum(sizes), sizes)) if works and failing else None
