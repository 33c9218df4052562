"""The largest set of a form: the best boxes of each group of tied sizes, and the best products of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import product
from math import lcm, prod
from typing import TYPE_CHECKING

from symbcast.answers.contracts.search.grids import grid_of
from symbcast.answers.contracts.search.growth import Growth
from symbcast.answers.contracts.search.lists import listed, points_of, sampled
from symbcast.answers.contracts.search.masks import longest_progression, longest_run, progression
from symbcast.answers.contracts.search.space import Axis, Group, space_of
from symbcast.core.algebra.terms import Term, term
from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import Formula, all_of, any_of, at_most, dims_of, negate
from symbcast.core.solver.budget import reason, share
from symbcast.core.solver.groups.normal_form import flattened, put_in
from symbcast.core.solver.sets.congruences import bits

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.grids import Score
    from symbcast.answers.contracts.wanted import Wanted
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

SEARCHED = 1_000_000
"""Units of effort for the search."""
GROUP = 400_000
"""Units for one group of tied sizes."""
_MOST_PHASES = 24
"""How many products of residue classes are tried for a group whose sizes advance in steps."""


@dataclass(frozen=True)
class Piece:
    """A box in some symbols, with the number of typical sizes in it, summed over its symbols."""

    ranges: Mapping[Symbol, range]
    held: int = 0

    @property
    def score(self) -> tuple[int, int]:
        """How many typical sizes and how many points it has."""
        return self.held, prod(map(len, self.ranges.values()))


@dataclass
class Found:
    """The boxes of an answer. ``open``: why they may not be the largest; empty if they are."""

    boxes: list[dict[Symbol, range]]
    open: str = ""


def search(formula: Formula, wanted: Wanted, form: str, most: int) -> Found:
    """Return the largest boxes of a form in which a formula may hold: they are still to be proved."""
    searcher = _Searcher(form)
    try:
        with share(SEARCHED):
            return searcher.found(formula, wanted, most)
    except EffortSpentError:
        return Found([], reason())


class _Searcher:
    def __init__(self, form: str) -> None:
        self._form = form
        self._open = ""

    def found(self, formula: Formula, wanted: Wanted, most: int) -> Found:
        space = space_of(formula, wanted)
        if space.is_empty:
            return Found([])
        if self._form == "list":
            return self._listed(space.groups, wanted, most)
        count = most if self._form == "profiles" else 1
        pieces = [self._known_pieces(group, count) for group in space.groups]
        boxes = [{s: box[s] for s in wanted.ranges} for box in _best_products(pieces, count)]
        return Found(boxes, self._open)

    def _known_pieces(self, group: Group, count: int) -> list[Piece]:
        """Return the pieces of a group; those that were found if its share of the effort is spent."""
        found = []
        try:
            with share(GROUP):
                for piece in self._pieces(group, count):
                    found.append(piece)  # noqa: PERF402 - keeps what was found before the effort is spent
        except EffortSpentError:
            self._note(reason())
        return found

    def _pieces(self, group: Group, count: int) -> Iterator[Piece]:
        """Yield up to ``count`` disjoint boxes of a group, each the best of what the earlier ones leave."""
        if not group.clauses and len(group.axes) == 1:
            ((symbol, axis),) = group.axes.items()
            yield from self._pieces_of_one(symbol, axis, count)
        elif self._form == "steps":
            yield from _best(self._stepped(group))
        else:
            yield from self._pieces_of_several(group, count)

    def _pieces_of_one(self, symbol: Symbol, axis: Axis, count: int) -> Iterator[Piece]:
        mask = axis.mask
        for _ in range(count):
            if not mask:
                return
            if self._form == "steps":
                position, length, step = longest_progression(mask, axis.typical)
            else:
                (position, length), step = longest_run(mask, axis.typical), 1
            sizes = axis.sizes(position, length, step)
            yield Piece({symbol: sizes}, _held(axis, sizes))
            mask &= ~progression(position, length, step)

    def _pieces_of_several(self, group: Group, count: int) -> Iterator[Piece]:
        grid = grid_of(group)
        if grid is None:
            yield from self._grown(group, count)
            return
        for _ in range(count):
            box, is_complete = grid.largest()
            self._note("" if is_complete else reason())
            if box is None:
                return
            ranges = grid.ranges(box)
            yield Piece(ranges, sum(_held(group.axes[s], sizes) for s, sizes in ranges.items()))
            grid.remove(box)

    def _grown(self, group: Group, count: int) -> Iterator[Piece]:
        clauses = list(group.clauses)
        for _ in range(count):
            piece = self._growth(Group(group.axes, clauses))
            if piece is None:
                return
            yield piece
            clauses.append(negate(_box_formula(piece.ranges)))

    def _growth(self, group: Group) -> Piece | None:
        """Return a large box within the longest runs of the sizes that single clauses leave, or within their bounds."""
        within = {s: longest_run(axis.mask, axis.typical) for s, axis in group.axes.items()}
        bounds = {s: (r[0], r[-1]) for s, r in ((s, group.axes[s].sizes(*run)) for s, run in within.items())}
        growth = Growth(bounds, group.clauses, _typical(group))
        growth.run()
        if growth.best is None and not all(axis.is_whole for axis in group.axes.values()):
            wide = {s: (axis.low, axis.high) for s, axis in group.axes.items()}
            growth = Growth(wide, [*group.clauses, *_members(group)], _typical(group))
            growth.run()
        if not growth.is_largest and not growth.is_empty:
            self._note(_GROWN)
        if growth.best is None:
            return None
        ranges = {s: range(low, high + 1) for s, (low, high) in zip(growth.symbols, growth.best, strict=True)}
        return Piece(ranges, sum(_held(group.axes[s], sizes) for s, sizes in ranges.items()))

    def _stepped(self, group: Group) -> Iterator[Piece]:
        """Yield boxes whose sizes advance in steps: on residue classes of the divisors in the clauses."""
        best: Score = 0, 0
        for phases in _phases(group):
            axes = {s: _thinned(axis, *phases[s]) for s, axis in group.axes.items()}
            if not all(axis.mask for axis in axes.values()) or _most(axes) <= best:
                continue
            # The size is step*k + phase; k has the symbol of the size.
            sizes = {s: _line(s, *phases[s]) for s in axes}
            thinned = Group(axes, flattened(put_in(clause, sizes) for clause in group.clauses))
            for piece in self._pieces_of_several(thinned, 1):
                ranges = {s: _spread(piece.ranges[s], *phases[s]) for s in axes}
                best = max(best, piece.score)
                yield Piece(ranges, piece.held)
            if best == (0, 0):
                return  # steps of 1 come first: there are no points
            self._note(_STEPPED)

    def _listed(self, groups: Sequence[Group], wanted: Wanted, most: int) -> Found:
        points = []
        for group in groups:
            known = points_of(group)
            boxes = (p.ranges for p in self._pieces_of_several(group, _BOXES_FOR_LISTS)) if known is None else ()
            points.append(sampled(boxes, most) if known is None else known)
        found = listed(groups, points, most)
        return Found([{s: range(point[s], point[s] + 1) for s in wanted.ranges} for point in found], self._open)

    def _note(self, why: str) -> None:
        self._open = self._open or why


_GROWN = "the box cannot be extended, but sizes tie each other over too many points to compare all boxes"
_STEPPED = "steps were tried only on residue classes of the divisors in the condition, where clauses tie sizes"


_BOXES_FOR_LISTS = 8
"""Boxes of a large group from which the sizes of a list are taken."""


def _most(axes: Mapping[Symbol, Axis]) -> Score:
    """Return the score of a box with all sizes of some axes."""
    return sum(a.typical.bit_count() for a in axes.values()), prod(a.mask.bit_count() for a in axes.values())


def _best(pieces: Iterator[Piece]) -> Iterator[Piece]:
    found = list(pieces)
    if found:
        yield max(found, key=lambda piece: piece.score)


def _held(axis: Axis, sizes: range) -> int:
    return sum(axis.low + k in sizes for k in bits(axis.typical)) if axis.typical else 0


def _typical(group: Group) -> dict[Symbol, list[int]]:
    return {s: [axis.low + k for k in bits(axis.typical)] if axis.typical else [] for s, axis in group.axes.items()}


def _box_formula(ranges: Mapping[Symbol, range]) -> Formula:
    return all_of(part for s, r in ranges.items() for part in (at_most(r[0], s), at_most(s, r[-1])))


def _members(group: Group) -> Iterator[Formula]:
    """Yield, for each size with gaps, that it is in one of its runs."""
    from symbcast.answers.contracts.search.masks import runs

    for s, axis in group.axes.items():
        if not axis.is_whole:
            yield any_of(_box_formula({s: axis.sizes(*run)}) for run in runs(axis.mask))


def _phases(group: Group) -> Iterator[dict[Symbol, tuple[int, int]]]:
    """Yield the step and the residue to try for each symbol: 1, and each class of the divisors that it meets."""
    choices: dict[Symbol, list[tuple[int, int]]] = {}
    for s, axis in group.axes.items():
        step = lcm(*(d for clause in group.clauses for d in _divisors(clause, s)), 1)
        classes = range(step) if 1 < step <= axis.mask.bit_length() else ()
        choices[s] = [(1, 0), *((step, r) for r in classes)]
    for count, chosen in enumerate(product(*choices.values())):
        if count == _MOST_PHASES:
            return
        yield dict(zip(choices, chosen, strict=True))


def _divisors(clause: Formula, symbol: Symbol) -> Iterator[int]:
    pending: list[Term] = [term(d) for d in dims_of(clause) if not isinstance(d, int)]
    while pending:
        for operation in pending.pop().operations():
            pending.extend(operation.args)
            divisor = operation.args[-1]
            is_division = operation.kind in ("//", "%") and divisor.is_constant and divisor.constant > 0
            if is_division and symbol in operation.args[0].dim().symbols():  # type: ignore[union-attr]
                yield divisor.constant


def _line(symbol: Symbol, step: int, phase: int) -> Dim:
    return step * symbol + phase if step > 1 else symbol


def _thinned(axis: Axis, step: int, phase: int) -> Axis:
    """Return the quotients of the sizes in a residue class."""
    if step == 1:
        return axis
    first = axis.low + (phase - axis.low) % step
    positions = range(first - axis.low, axis.mask.bit_length(), step)
    mask = sum((axis.mask >> p & 1) << n for n, p in enumerate(positions))
    typical = sum((axis.typical >> p & 1) << n for n, p in enumerate(positions))
    shift = (mask & -mask).bit_length() - 1 if mask else 0
    return Axis(first // step + shift, mask >> shift, typical >> shift)


def _spread(sizes: range, step: int, phase: int) -> range:
    return range(sizes[0] * step + phase, sizes[-1] * step + phase + 1, step)


def _best_products(pieces: Sequence[Sequence[Piece]], count: int) -> list[dict[Symbol, range]]:
    """Return the best products of one piece of each group, best first; the pieces of a group are best first."""
    if not all(pieces):
        return []

    def key(chosen: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        scores = [pieces[g][n].score for g, n in enumerate(chosen)]
        return -sum(held for held, _ in scores), -prod(points for _, points in scores), chosen

    start = (0,) * len(pieces)
    queue, seen = [key(start)], {start}
    found: list[dict[Symbol, range]] = []
    while queue and len(found) < count:
        chosen = heappop(queue)[-1]
        found.append({s: r for g, n in enumerate(chosen) for s, r in pieces[g][n].ranges.items()})
        for g in range(len(pieces)):
            following = (*chosen[:g], chosen[g] + 1, *chosen[g + 1 :])
            if following[g] < len(pieces[g]) and following not in seen:
                seen.add(following)
                heappush(queue, key(following))
    return found
