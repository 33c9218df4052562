"""The largest set of a form: the best boxes of each group of tied sizes, and the best products of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import prod
from typing import TYPE_CHECKING

from symbcast.answers.contracts.search import large_groups, space
from symbcast.answers.contracts.search.large_groups import Growth
from symbcast.answers.contracts.search.small_groups import grid_of, list_points, points_of, sample_points
from symbcast.answers.contracts.search.space import SearchAxis, SizeGroup
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, negate
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import EffortSpentError, budget_share, stop_reason
from symbcast.core.solver.residues import mask_residues

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import WantedRanges

# Units of effort for the search.
SEARCHED = 1_000_000
# Units for one group of tied sizes.
GROUP = 400_000
# Units for boxes in residue classes, before all boxes of a small group are compared.
CLASSES = 200_000


@dataclass(frozen=True)
class ScoredBox:
    """A box in some symbols, with the number of typical sizes in it, summed over its symbols."""

    ranges: Mapping[Symbol, range]
    typical_count: int = 0

    @property
    def score(self) -> tuple[int, int]:
        """How many typical sizes and how many points it has."""
        return self.typical_count, prod(map(len, self.ranges.values()))


@dataclass
class BestBoxes:
    """The boxes of an answer.

    ``open`` says why they may not be the largest; it is empty if they are. ``derived`` has the sizes that are linear
    expressions of the others.
    """

    boxes: list[dict[Symbol, range]]
    open: str = ""
    derived: Mapping[Symbol, Dim] = field(default_factory=dict)


def largest_boxes(formula: Formula, sought: WantedRanges, form: str, most: int) -> BestBoxes:
    """Return the largest boxes of a form in which a formula may hold: they are still to be proved."""
    searcher = _Searcher(form)
    try:
        with budget_share(SEARCHED):
            return searcher.search(formula, sought, most)
    except EffortSpentError:
        return BestBoxes([], stop_reason())


class _Searcher:
    def __init__(self, form: str) -> None:
        self._form = form
        self._open = ""
        self._weights: dict[int, int] = {}

    def search(self, formula: Formula, sought: WantedRanges, most: int) -> BestBoxes:
        groups = space.space_of(formula, sought)
        if groups is None:
            return BestBoxes([])
        if self._form == "list":
            return self._listed(groups, sought, most)
        count = most if self._form == "profiles" else 1
        pieces = [self._known_pieces(group, count) for group in groups]
        boxes = [{s: box[s] for s in sought.ranges} for box in _best_products(pieces, count)]
        if len(boxes) > 1 and not self._are_largest_together(groups, boxes):
            self._note(_TOGETHER)
        return BestBoxes(boxes, self._open)

    def _are_largest_together(self, groups: Sequence[SizeGroup], boxes: Sequence[Mapping[Symbol, range]]) -> bool:
        """Return whether it is proved that no other disjoint boxes, as many, have more points together."""
        sizes = [prod(map(len, box.values())) for box in boxes]
        if sum(sizes) == prod(self._points_in(group) for group in groups):
            return True
        # Without ties between sizes, each box is within a product of maximal runs, and these are disjoint. Otherwise
        # each box must have as many points as the first, which is the largest of all.
        has_typical = any(axis.typical for group in groups for axis in group.axes.values())
        is_untied = not any(group.clauses or len(group.axes) > 1 for group in groups)
        return not has_typical and (is_untied or min(sizes) == sizes[0])

    def _points_in(self, group: SizeGroup) -> int:
        """Return how many points of a group work; 0 if they were not listed."""
        if not group.clauses and len(group.axes) == 1:
            (axis,) = group.axes.values()
            return axis.mask.bit_count()
        return self._weights.get(id(group), 0)

    def _known_pieces(self, group: SizeGroup, count: int) -> list[ScoredBox]:
        """Return the pieces of a group; those that were found if its share of the effort is spent."""
        pieces = []
        try:
            with budget_share(GROUP):
                for piece in self._pieces(group, count):
                    pieces.append(piece)  # noqa: PERF402 - keeps what was found before the effort is spent
        except EffortSpentError:
            self._note(stop_reason())
        return pieces

    def _pieces(self, group: SizeGroup, count: int) -> Iterator[ScoredBox]:
        """Yield up to ``count`` disjoint boxes of a group, each the best of what the earlier ones leave."""
        if not group.clauses and len(group.axes) == 1:
            ((symbol, axis),) = group.axes.items()
            yield from self._pieces_of_one(symbol, axis, count)
        elif self._form == "steps":
            piece = self._stepped(group)
            yield from () if piece is None else (piece,)
        else:
            yield from self._pieces_of_several(group, count)

    def _pieces_of_one(self, symbol: Symbol, axis: SearchAxis, count: int) -> Iterator[ScoredBox]:
        mask = axis.mask
        for _ in range(count):
            if not mask:
                return
            if self._form == "steps":
                position, length, step = space.longest_progression(mask, axis.typical)
                position = _multiple(axis, position, length, step)
            else:
                (position, length), step = space.longest_run(mask, axis.typical), 1
            sizes = axis.sizes(position, length, step)
            yield ScoredBox({symbol: sizes}, _held(axis, sizes))
            mask &= ~space.progression(position, length, step)

    def _pieces_of_several(self, group: SizeGroup, count: int) -> Iterator[ScoredBox]:
        grid = grid_of(group)
        if grid is None:
            yield from self._grown(group, count)
            return
        self._weights[id(group)] = space.table_weight(grid.table)
        for _ in range(count):
            box, is_complete = grid.largest()
            self._note("" if is_complete else stop_reason())
            if box is None:
                return
            yield _piece(group, grid.ranges(box))
            grid.remove(box)

    def _grown(self, group: SizeGroup, count: int) -> Iterator[ScoredBox]:
        clauses = list(group.clauses)
        for _ in range(count):
            piece = self._growth(SizeGroup(group.axes, clauses))
            if piece is None:
                return
            yield piece
            clauses.append(negate(_box_formula(piece.ranges)))

    def _growth(self, group: SizeGroup) -> ScoredBox | None:
        """Return a large box within the longest runs of the sizes that single clauses leave, or within their bounds."""
        within = {s: space.longest_run(axis.mask, axis.typical) for s, axis in group.axes.items()}
        bounds = {s: (r[0], r[-1]) for s, r in ((s, group.axes[s].sizes(*run)) for s, run in within.items())}
        growth = Growth(bounds, group.clauses, _typical(group))
        growth.run()
        if growth.best is None and not all(axis.is_whole for axis in group.axes.values()):
            wide = {s: (axis.low, axis.high) for s, axis in group.axes.items()}
            growth = Growth(wide, [*group.clauses, *_members(group)], _typical(group))
            growth.run()
        if growth.best is None:
            self._note("" if growth.is_empty else _GROWN)
            return None
        ranges = {s: range(low, high + 1) for s, (low, high) in zip(growth.symbols, growth.best, strict=True)}
        piece = _piece(group, ranges)
        self._note("" if growth.is_largest or _is_only_point(piece, group) else _GROWN)
        return piece

    def _stepped(self, group: SizeGroup) -> ScoredBox | None:
        """Return the best box whose sizes advance in steps: of all boxes, if the points can be listed."""
        regular = {s: large_groups.regular_class(axis) for s, axis in group.axes.items()}
        if any(step > 1 for step, _ in regular.values()):
            inner = self._stepped(large_groups.thinned_group(group, regular))
            if inner is None:
                return None
            return ScoredBox(
                {s: large_groups.spread(inner.ranges[s], *regular[s]) for s in group.axes}, inner.typical_count
            )
        best, why = self._in_classes(group)
        grid = grid_of(group) if why else None
        if grid is None:
            self._note(why)
            return best
        better, is_complete = grid.largest_in_steps((0, 0) if best is None else best.score)
        self._note("" if is_complete else why)
        return best if better is None else _piece(group, better)

    def _in_classes(self, group: SizeGroup) -> tuple[ScoredBox | None, str]:
        """Return the best box found in residue classes, and why another one may be better; empty if none is."""
        best: ScoredBox | None = None
        classes = large_groups.classes_of(group)
        has_typical = any(_typical(group).values())
        try:
            with budget_share(CLASSES):
                for phases, points in classes.classes:
                    if best is None or has_typical or points > best.score[1]:
                        piece, is_empty = self._in_class(group, phases)
                        best = piece if piece is not None and (best is None or piece.score > best.score) else best
                        if is_empty and phases == classes.classes[0].phases:
                            return None, ""
        except EffortSpentError:
            return best, _STEPPED
        is_proved = best is not None and (best.score == (0, classes.largest) or _is_only_point(best, group))
        return best, "" if is_proved else _STEPPED

    def _in_class(self, group: SizeGroup, phases: Mapping[Symbol, tuple[int, int]]) -> tuple[ScoredBox | None, bool]:
        """Return a large box in a product of residue classes, and whether these are proved to have no points."""
        thin = large_groups.thinned_group(group, phases)
        if not all(axis.mask for axis in thin.axes.values()):
            return None, True
        inner = _Searcher("box")
        piece = next(inner._pieces_of_several(thin, 1), None)
        if piece is None:
            return None, not inner._open
        return _piece(group, {s: large_groups.spread(piece.ranges[s], *phases[s]) for s in group.axes}), False

    def _listed(self, groups: Sequence[SizeGroup], sought: WantedRanges, most: int) -> BestBoxes:
        points = []
        for group in groups:
            known = points_of(group, most)
            if known is None:
                known = sample_points([p.ranges for p in self._known_pieces(group, _BOXES_FOR_LISTS)], most)
                self._note(_SAMPLED)
            points.append(known)
        points_found = list_points(groups, points, most)
        why = "" if len(points_found) == most else self._open  # no list has more than that
        return BestBoxes([{s: range(point[s], point[s] + 1) for s in sought.ranges} for point in points_found], why)

    def _note(self, why: str) -> None:
        self._open = self._open or why


_GROWN = "the box cannot be extended, but sizes tie each other over too many points to compare all boxes"
_TOGETHER = "each box is the best in what the earlier ones leave, and other boxes may have more sizes together"
_SAMPLED = "sizes tie each other over too many points to list all that work"
_STEPPED = "steps were tried only on residue classes of the divisors in the condition, where clauses tie sizes"


# Boxes of a large group from which the sizes of a list are taken.
_BOXES_FOR_LISTS = 8


def _multiple(axis: SearchAxis, position: int, length: int, step: int) -> int:
    """Return where a progression of as many multiples of the step begins, if there is one: targets prefer these."""
    first = position + -(axis.low + position) % step
    return position if axis.typical or space.progression(first, length, step) & ~axis.mask else first


def _piece(group: SizeGroup, ranges: Mapping[Symbol, range]) -> ScoredBox:
    return ScoredBox(ranges, sum(_held(group.axes[s], sizes) for s, sizes in ranges.items()))


def _is_only_point(piece: ScoredBox, group: SizeGroup) -> bool:
    """Return whether a box is one point, and it is proved that no box of a group has more."""
    bounded = sum(bool(axis.typical) for axis in group.axes.values())
    return piece.score == (bounded, 1) and large_groups.has_single_points(group)


def _held(axis: SearchAxis, sizes: range) -> int:
    return sum(axis.low + k in sizes for k in mask_residues(axis.typical)) if axis.typical else 0


def _typical(group: SizeGroup) -> dict[Symbol, list[int]]:
    return {
        s: [axis.low + k for k in mask_residues(axis.typical)] if axis.typical else [] for s, axis in group.axes.items()
    }


def _box_formula(ranges: Mapping[Symbol, range]) -> Formula:
    return all_of(part for s, r in ranges.items() for part in (at_most(r[0], s), at_most(s, r[-1])))


def _members(group: SizeGroup) -> Iterator[Formula]:
    """Yield, for each size with gaps, that it is in one of its runs."""
    for s, axis in group.axes.items():
        if not axis.is_whole:
            yield any_of(_box_formula({s: axis.sizes(*run)}) for run in space.runs(axis.mask))


def _best_products(pieces: Sequence[Sequence[ScoredBox]], count: int) -> list[dict[Symbol, range]]:
    """Return the best products of one piece of each group, best first; the pieces of a group are best first."""
    if not all(pieces):
        return []

    def key(chosen: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        scores = [pieces[g][n].score for g, n in enumerate(chosen)]
        return -sum(count for count, _ in scores), -prod(points for _, points in scores), chosen

    start = (0,) * len(pieces)
    queue, seen = [key(start)], {start}
    products: list[dict[Symbol, range]] = []
    while queue and len(products) < count:
        chosen = heappop(queue)[-1]
        products.append({s: r for g, n in enumerate(chosen) for s, r in pieces[g][n].ranges.items()})
        # The pieces of a group are best first, so the next best product is one step in one group from a better one.
        for g in range(len(pieces)):
            following = (*chosen[:g], chosen[g] + 1, *chosen[g + 1 :])
            if following[g] < len(pieces[g]) and following not in seen:
                seen.add(following)
                heappush(queue, key(following))
    return products
