"""Choose default sizes of a picture: symbols, ranges and fixed sizes that show working and failing cells.

A picture is a section through the space of all sizes: one or two symbols vary, and the others are fixed, or follow if
the assumptions determine them. A section with both outcomes is chosen if there is one: first among those through the
answer's own witness and counterexample, then by asking the solver for a working and a failing point that differ in only
two symbols. So the choice does not depend on sampling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.solver.evaluation.equations import solved_for
from symbcast.core.solver.groups.normal_form import flattened, put_in, symbols_in
from symbcast.notebook.defaults import telling_groups
from symbcast.notebook.grids import Grid

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.notebook.subjects import Subject

Point = Mapping["Symbol", int]

MOST_LOOKED_AT = 40
"""The most choices of symbols to examine; the solver is called for the first `MOST_ASKED` of them."""
MOST_ASKED = 8
NEAR = 64
"""Sizes up to this are checked first: in most pictures the smallest failure is there, however far they go."""


class Ranges(NamedTuple):
    """The range of sizes in a picture.

    ``up_to`` is the largest size unless both outcomes need a larger one, ``most`` is the maximum number of sizes on an
    axis, and ``given`` holds the caller's sizes for the first and the second symbol, None for automatic ones.
    """

    up_to: int
    most: int
    given: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)


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


def section(asked: Subject, chosen: Sequence[Symbol] | None, fixed: Point, ranges: Ranges) -> Section | None:
    """Return the section to show, over the ``chosen`` symbols or else the most informative; None if none is left.

    ``fixed`` holds the sizes that the caller fixes. Unless chosen, symbols are in the order of the answer.
    """
    free = {s: name for s, name in asked.names.items() if s not in fixed}
    groups = [tuple(chosen)] if chosen is not None else telling_groups(free, asked.condition())
    return _Search(asked, fixed, ranges).found(groups)


def plain_section(asked: Subject, chosen: Sequence[Symbol], fixed: Point, ranges: Ranges) -> Section:
    """Return a section over some symbols, the others at the least sizes that the assumptions allow; no solver call."""
    return _Search(asked, fixed, ranges, decided=False).first(tuple(chosen))


class _Search:
    """A search for sections that contain working and failing points."""

    def __init__(self, asked: Subject, fixed: Point, ranges: Ranges, decided: bool = True) -> None:
        self._asked = asked
        self._given = fixed
        self._ranges = ranges
        self._works, self._fails = asked.evidence(fixed) if decided else (None, None)
        self._least = self._works or asked.least(fixed)
        self._equations = [f for f in flattened(asked.assumed) if isinstance(f, Comparison) and f.operator == "=="]
        self._unmet: list[Formula] | None = None
        self._users = {s: [] for s in asked.names}  # type: dict[Symbol, list[tuple[bool, Formula]]]
        for is_asked, formulas in ((True, asked.asked), (False, asked.assumed)):
            for formula in formulas:
                for s in symbols_in(formula):
                    if s in self._users:
                        self._users[s].append((is_asked, formula))

    def found(self, groups: Iterable[tuple[Symbol, ...]]) -> Section | None:
        """Return the first section over some groups of symbols that shows both outcomes, else the first section."""
        looked_at = list(islice(groups, MOST_LOOKED_AT if self._works and self._fails else 1))
        if not looked_at:
            return None
        if self._works and self._fails:
            sections = chain(self._through_evidence(looked_at), self._between_evidence(looked_at))
            for section in chain(sections, self._asked_for(looked_at[:MOST_ASKED])):
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
                if all(f in self._touching(group, point) for f in self._broken(point)):
                    yield self._section(group, point)

    def _between_evidence(self, groups: Sequence[tuple[Symbol, ...]]) -> Iterator[Section]:
        """Yield the sections that contain both the witness and the counterexample."""
        assert self._works and self._fails
        differing = {s for s in self._asked.names if self._works[s] != self._fails[s]}
        for group in groups:
            if differing <= {*group, *self._following(group)}:
                yield self._section(group, self._works, self._fails)

    def _asked_for(self, groups: Sequence[tuple[Symbol, ...]]) -> Iterator[Section]:
        """Yield the sections that contain the smallest pair of a working and a failing point."""
        for group in groups:
            points = self._asked.pair({*group, *self._following(group)}, self._given)
            if points is not None:
                yield self._section(group, *points)

    def _section(self, group: tuple[Symbol, ...], *points: Point) -> Section:
        following = self._following(group)
        sizes = (self._sizes(s, n, [p[s] for p in points]) for n, s in enumerate(group))
        axes = dict(zip(group, sizes, strict=True))
        return Section(axes, {s: points[0][s] for s in self._asked.names if s not in {*axes, *following}}, following)

    def _sizes(self, s: Symbol, place: int, needed: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of an axis: the given ones, else the symbol's first valid sizes plus the needed ones."""
        given = self._ranges.given[place]
        if given is not None:
            return given
        up_to, most = self._ranges.up_to, self._ranges.most
        first = self._asked.first_sizes(s, up_to)
        if len(needed) < 2 or set(needed) <= set(first):
            return first
        low, high = min(needed), max(needed)
        if first[0] == 0 or low < first[0]:
            return stepped(high, most, needed)
        return tuple(sorted({*first, *needed}))

    def _following(self, group: tuple[Symbol, ...]) -> dict[Symbol, Dim]:
        """Return the other symbols that the assumptions express in terms of the varying ones."""
        found: dict[Symbol, Dim] = {}
        others = [s for s in self._asked.names if s not in group and s not in self._given]
        for equation in self._equations:
            formula = put_in(equation, found) if found else equation
            mentioned = symbols_in(formula)
            for s in reversed(others):
                value = solved_for(formula, s) if s in mentioned and s not in found else None
                if value is not None:
                    found = {t: replaced(d, {s: value}) for t, d in found.items()}
                    found[s] = value
                    break
        return {s: d for s, d in found.items() if not set(group).isdisjoint(symbols_of((d,)))}

    def _touching(self, group: tuple[Symbol, ...], point: Point) -> set[Formula]:
        moved = (*group, *self._following(group))
        return {f for s in moved for _, f in self._users[s]}

    def _broken(self, point: Point) -> list[Formula]:
        if point is self._works:
            return []
        if self._unmet is None:
            self._unmet = self._asked.broken(point)
        return self._unmet

    def _failing_cell(self, section: Section) -> tuple[int, ...] | None:
        """Return the smallest failing sizes in a section, if possible without 0; None unless other sizes work."""
        near = {s: tuple(size for size in sizes if size <= NEAR) for s, sizes in section.axes.items()}
        if all(near.values()):
            found = self._failing_in(replace(section, axes=near))
            if found is not None and 0 not in found and sum(found) <= NEAR:
                return found  # all other failing cells have a larger sum
        return self._failing_in(section)

    def _failing_in(self, section: Section) -> tuple[int, ...] | None:
        """Return the same as `_failing_cell`, by evaluating every cell of the section.

        Only formulas with a varying symbol are evaluated: the others hold everywhere if any point works.
        """
        moved = (*section.axes, *section.following)
        touching = dict.fromkeys(chain.from_iterable(self._users[s] for s in moved))
        grid = Grid(section.axes, section.fixed, section.following)
        fits = [grid.allowed(s, self._asked.min_size) for s in moved]
        fits += [grid.where(f) for is_asked, f in touching if not is_asked]
        holding = [grid.where(f) for is_asked, f in touching if is_asked]
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
