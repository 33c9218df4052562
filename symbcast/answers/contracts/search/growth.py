"""Boxes in a group with too many points to list: grown from points that work, each face as far as it can move.

A box is inside the condition if no point of it violates a clause, which z3 decides. What is inside stays inside when it
shrinks, so bisection finds how far. Points outside that z3 finds are kept: no box that contains one is
asked about. A grown box cannot be extended in any direction, but another one may be larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.symbols import Dummy, next_number
from symbcast.core.algebra.terms import made_symbol
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import Formula, all_of, any_of, at_most, equal, negate
from symbcast.core.solver.answer import SHORT_LIMIT, Satisfiability
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.solver.linear.z3_solver import Session, on_worker

if TYPE_CHECKING:
    from symbcast.answers.contracts.search.space import Group
    from symbcast.core.algebra.symbols import Symbol

    Box: TypeAlias = tuple[tuple[int, int], ...]
    """The least and the greatest size of each symbol."""

_MOST_CORNERS = 4
_SEEDS = 4
_TYPICAL = 2
"""How many typical sizes of each size are seeds."""


class Growth:
    """The search for a large box within bounds; ``formulas`` must hold at all of its points.

    ``best`` is the best box so far, and ``is_empty`` whether the bounds are proved to have no point that works.
    """

    def __init__(
        self, bounds: Mapping[Symbol, tuple[int, int]], formulas: Sequence[Formula], typical: Mapping[Symbol, list[int]]
    ) -> None:
        self.symbols = tuple(bounds)
        self.whole: Box = tuple(bounds.values())
        self._typical = [typical.get(s, []) for s in self.symbols]
        self._formula = all_of(formulas)
        self._broken = any_of(map(negate, formulas))
        self._outside: list[tuple[int, ...]] = []
        self._inside: list[Box] = []
        self.best: Box | None = None
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
        found: list[tuple[int, ...]] = []
        for point in dict.fromkeys(self._candidates()):
            charge(1)
            if holds(*point):
                yield point
                found.append(point)
            if len(found) == _SEEDS:
                break
        most = sum(map(bool, self._typical))
        if found and max(map(self._held, found)) == most:
            return
        session = Session(self.symbols, [self._formula, self._bounded(self.whole)], limit=SHORT_LIMIT)
        for fixed in (*self._typical_sizes(), *([] if found else [{}])):
            answer = session.check([equal(s, size) for s, size in fixed.items()])
            self.is_empty = not fixed and answer is Satisfiability.UNSATISFIABLE
            if answer is Satisfiability.SATISFIABLE:
                model = session.model()
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
        point: Box = tuple((n, n) for n in seed)
        self._keep(point)
        self._keep(self._extended(self._evenly(point), range(len(seed))))
        for axis in range(len(seed)):
            order = [axis, *(n for n in range(len(seed)) if n != axis)]
            self._keep(self._extended(point, order))

    def _evenly(self, box: Box) -> Box:
        steps = max(high - low for low, high in self.whole)

        def grown(t: int) -> Box:
            return tuple(
                (n - t * (n - low) // steps, n + t * (high - n) // steps)
                for (n, _), (low, high) in zip(box, self.whole, strict=True)
            )

        return grown(self._most(steps, grown))

    def _extended(self, box: Box, order: Sequence[int]) -> Box:
        """Move each face as far as it can, in an order of the axes: the box then cannot be extended."""
        for axis in order:
            for side in (1, 0):
                box = self._moved(box, axis, side)
        return box

    def _moved(self, box: Box, axis: int, side: int) -> Box:
        low, high = box[axis]
        room = self.whole[axis][1] - high if side else low - self.whole[axis][0]

        def grown(t: int) -> Box:
            return (*box[:axis], (low, high + t) if side else (low - t, high), *box[axis + 1 :])

        return grown(self._most(room, grown))

    def _most(self, most: int, grown: Callable[[int], Box]) -> int:
        """Return the largest number up to ``most`` for which a box is inside; it is inside for 0."""
        if most == 0 or self._is_inside(grown(most)):
            return most
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_inside(grown(middle)) else (low, middle)
        return low

    def _is_inside(self, box: Box) -> bool:
        charge(1 + len(self._outside) // 8)
        if any(_contains(box, point) for point in self._outside):
            return False
        if any(_covers(known, box) for known in self._inside):
            return True
        answer = self._session.check([self._bounded(box)])
        if answer is Satisfiability.SATISFIABLE:
            model = self._session.model()
            self._outside.append(tuple(model[s] for s in self.symbols))
        elif answer is Satisfiability.UNSATISFIABLE:
            self._inside.append(box)
        return answer is Satisfiability.UNSATISFIABLE

    def _bounded(self, box: Box) -> Formula:
        sides = zip(self.symbols, box, strict=True)
        return all_of(part for s, (low, high) in sides for part in (at_most(low, s), at_most(s, high)))

    def _keep(self, box: Box) -> None:
        if self.best is None or self._score(box) > self._score(self.best):
            self.best = box

    def _score(self, box: Box) -> tuple[int, int]:
        held = sum(low <= n <= high for sizes, (low, high) in zip(self._typical, box, strict=True) for n in sizes)
        return held, prod(high - low + 1 for low, high in box)


def has_single_points(group: Group) -> bool:
    """Return whether it is proved that no two points of a group differ in one size only: each box is a point.

    So it is where every size is a function of the others, as of ``H == W``.
    """
    return all(_is_determined(s, group) for s in group.axes)


def _is_determined(s: Symbol, group: Group) -> bool:
    if group.axes[s].low == group.axes[s].high:
        return True
    other = made_symbol(Dummy, s.name, next_number())
    again = [put_in(clause, {s: other}) for clause in group.clauses if s in symbols_in(clause)]
    ends = {**{t: (axis.low, axis.high) for t, axis in group.axes.items()}}
    ends[other] = ends[s]
    bounds = [part for t, (low, high) in ends.items() for part in (at_most(low, t), at_most(t, high))]
    asked = [*group.clauses, *again, *bounds, at_most(s + 1, other)]
    try:
        found = on_worker(lambda: Session(tuple(ends), asked, limit=SHORT_LIMIT).check())
    except EffortSpentError:
        return False
    return found is Satisfiability.UNSATISFIABLE


def _contains(box: Box, point: tuple[int, ...]) -> bool:
    return all(low <= n <= high for n, (low, high) in zip(point, box, strict=True))


def _covers(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))
