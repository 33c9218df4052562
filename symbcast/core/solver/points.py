"""Points (sizes of all symbols): which one is the smallest, samples that show what is possible, and descent."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, combinations, islice, product, starmap
from math import prod
from operator import and_
from typing import TypeAlias

from symbcast.core.algebra.formulas import TRUE, Formula, at_most, dims_of, equal, where_possible
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import charge
from symbcast.core.solver.evaluation import holds_at, predicate, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple

# The order of sizes: fewest zeros, then least sum, then first in the order of the symbols.
#
# Every search for evidence follows this order, so its answer is one point, whichever method finds it. A weight is the
# number of sizes that a symbol represents.


Point: TypeAlias = "dict[Symbol, int]"
Level: TypeAlias = list[frozenset[int]]
"""The choices of positions that are 0, all of one weight."""
_CHOICES_AT_MOST = 4_000


class GivenUpError(Exception):
    """A search ended without an answer; another one may succeed. ``points`` are sizes that may not be the smallest."""

    def __init__(self, *points: Point) -> None:
        super().__init__()
        self.points = points


class SmallestPointQuestion(NamedTuple):
    """A question for the smallest sizes from some domains at which all of some formulas hold.

    Each method returns these sizes, returns None if there are none, or raises `GivenUpError`.
    """

    symbols: Sequence[Symbol]
    domains: Mapping[Symbol, SizeSet]
    formulas: Sequence[Formula]
    weights: Mapping[Symbol, int]

    def described(self) -> list[Formula]:
        """Return the formulas together with those that describe the domains."""
        described = (set_formula(s, self.domains.get(s, ALL)) for s in self.symbols)
        return [*(f for f in described if f != TRUE), *self.formulas]

    def cost(self, sizes: Mapping[Symbol, int]) -> tuple[int, int, tuple[int, ...]]:
        """Return the sort key of sizes."""
        return point_cost(self.symbols, sizes, self.weights)


def point_cost(
    symbols: Sequence[Symbol], sizes: Mapping[Symbol, int], weights: Mapping[Symbol, int]
) -> tuple[int, int, tuple[int, ...]]:
    """Return the sort key of sizes: the zeros, the sum, and the sizes in order."""
    zeros = sum(weights[s] for s in symbols if sizes[s] == 0)
    return zeros, sum(weights[s] * sizes[s] for s in symbols), tuple(sizes[s] for s in symbols)


def smallest_of(symbols: Sequence[Symbol], points: Iterable[Point | None]) -> Point | None:
    """Return the smallest of some points, of which each may be missing; None if all are."""
    ones = dict.fromkeys(symbols, 1)
    return min((p for p in points if p is not None), key=lambda p: point_cost(symbols, p, ones), default=None)


def least_size(sizes: SizeSet) -> int | None:
    """Return the least member other than 0, or 0 if it is the only one."""
    positive = sizes.least(1)
    return positive if positive is not None else sizes.least()


def zero_levels(
    symbols: Sequence[Symbol], domains: Mapping[Symbol, SizeSet], weights: Mapping[Symbol, int]
) -> list[Level]:
    """Return the choices of symbols that are 0, grouped by weight, lightest first.

    If there are too many, those with the most zeros are left out.
    """
    sets = [domains.get(s, ALL) for s in symbols]
    needed = frozenset(n for n, s in enumerate(sets) if s.least(1) is None)
    free = [n for n, s in enumerate(sets) if 0 in s and n not in needed]
    choices = (combinations(free, size) for size in range(len(free) + 1))
    by_weight: dict[int, Level] = {}
    for chosen in islice(chain.from_iterable(choices), _CHOICES_AT_MOST):
        positions = needed | frozenset(chosen)
        by_weight.setdefault(sum(weights[symbols[n]] for n in positions), []).append(positions)
    return [by_weight[weight] for weight in sorted(by_weight)]


def zeros_at(symbols: Sequence[Symbol], zeros: Container[int]) -> list[Formula]:
    """Return formulas stating that the sizes at some positions are 0 and the others are not."""
    return [equal(s, 0) if n in zeros else at_most(1, s) for n, s in enumerate(symbols)]


def level_weights(sets: Sequence[SizeSet], weights: Sequence[int]) -> Iterator[int]:
    """Yield the possible total weights of the zeros of some sizes, lightest first, each once."""
    needed = sum(w for w, s in zip(weights, sets, strict=True) if s.least(1) is None)
    reachable = 1
    for w, s in zip(weights, sets, strict=True):
        if 0 in s and s.least(1) is not None:
            reachable |= reachable << w
    while reachable:
        yield needed + (reachable & -reachable).bit_length() - 1
        reachable &= reachable - 1


MOST_POINTS = 1500
_VALUES_EACH = {1: 60, 2: 20, 3: 9, 4: 6, 5: 4, 6: 3}
_PAIRED_VALUES = 5
# Of more symbols, points that differ in two places show little, and take long.
_VARIED_UP_TO = 12
_FEW_POINTS = 16
# Units of effort for compiling the test of a formula; a point takes half a unit.
_TEST = 400
# Units of effort to make a point.
_POINT = 2


class SampleTable:
    """Points (sizes of all symbols) at which the assumptions hold, with the truth of formulas there as bit masks.

    ``complete`` means that there are no other points; then a formula that holds at no point is impossible.
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
        formulas: Iterable[Formula],
    ) -> None:
        self.symbols = tuple(symbols)
        sets = [domains.get(s, ALL) for s in self.symbols]
        points, self.complete = _points(sets, _constants(formulas))
        charge((1 + len(assumptions)) * (_TEST + len(points) // 2) + _POINT * len(points))
        tests = [predicate(a, self.symbols) for a in assumptions]
        self.points = [p for p in points if all(test(*p) for test in tests)]
        self._masks: dict[Formula, int] = {}

    @property
    def everywhere(self) -> int:
        """The mask of all points."""
        return (1 << len(self.points)) - 1

    def all_hold(self, formulas: Iterable[Formula]) -> int:
        """Return the mask of the points at which all formulas hold."""
        return reduce(and_, map(self.mask, formulas), self.everywhere)

    def mask(self, formula: Formula) -> int:
        """Return the points at which the formula holds and is fully defined, one bit each."""
        known = self._masks.get(formula)
        if known is None:
            charge(_TEST + len(self.points) // 2)
            truth = starmap(predicate(formula, self.symbols), reversed(self.points))
            # Digits are read at once; setting one bit after the other copies the mask each time.
            known = self._masks[formula] = int("".join(["1" if is_held else "0" for is_held in truth]) or "0", 2)
        return known

    def breaks(self, formula: Formula, mask: int) -> bool:
        """Return whether the formula fails, or something in it is undefined, at some point of a mask."""
        if formula in self._masks:
            return bool(mask & ~self._masks[formula])
        if mask.bit_count() > _FEW_POINTS:
            test = predicate(formula, self.symbols)
            return not all(test(*self.points[n]) for n in bit_positions(mask))
        return not all(
            holds_at(formula, dict(zip(self.symbols, self.points[n], strict=True))) for n in bit_positions(mask)
        )

    def open_mask(self, formula: Formula) -> int:
        """Return the points at which the formula holds, or something in it is undefined and could have any value.

        A clause is redundant only if the others exclude everything that it excludes, whatever values undefined terms
        take. Otherwise the clause that defines them would seem redundant, and the condition could not be read.
        """
        return self.mask(where_possible(formula))

    def learn(self, sizes: Mapping[Symbol, int]) -> None:
        """Add a point that the solver found."""
        point = tuple(sizes[s] for s in self.symbols)
        bit = 1 << len(self.points)
        charge(len(self._masks))
        self.points.append(point)
        for formula, mask in self._masks.items():
            if predicate(formula, self.symbols)(*point):
                self._masks[formula] = mask | bit

    def first(self, mask: int) -> tuple[int, ...] | None:
        """Return the first point of a mask."""
        return self.points[(mask & -mask).bit_length() - 1] if mask else None


def bit_positions(mask: int) -> Iterator[int]:
    """Yield the positions of the bits of a mask, the lowest first."""
    return (position for position, digit in enumerate(bin(mask)[:1:-1]) if digit == "1")


def _constants(formulas: Iterable[Formula]) -> list[int]:
    """Return the integers that formulas compare with, and their neighbours."""
    constants = {dim for formula in formulas for dim in dims_of(formula) if isinstance(dim, int)}
    return sorted({n for value in constants for n in (value - 1, value, value + 1) if n >= 0})[:8]


def _points(sets: Sequence[SizeSet], constants: Sequence[int]) -> tuple[list[tuple[int, ...]], bool]:
    """Return sample points, and whether there are no others."""
    count = prod(_count(s) for s in sets)
    if count <= MOST_POINTS:
        return list(product(*sets)), True
    each = _VALUES_EACH.get(len(sets))
    if each is None:
        return _varied(sets), False
    axes = [sorted({*s.first(each), *(c for c in constants if c in s)}) for s in sets]
    while prod(map(len, axes)) > 2 * MOST_POINTS:
        longest = max(axes, key=len)
        longest.pop()
    return list(product(*axes)), False


def _count(sizes: SizeSet) -> int:
    endless = bool(sizes.segments) and sizes.segments[-1].high is None
    return MOST_POINTS + 1 if endless else len(sizes.first(MOST_POINTS + 1))


def _varied(sets: Sequence[SizeSet]) -> list[tuple[int, ...]]:
    """Return the point of least sizes and those that differ from it in one or two places, or three if many would.

    The three others are that of the next sizes, and two where all sizes differ, in rising and falling order: there, no
    two of them broadcast.
    """
    base = [s.least(1) or 0 for s in sets]
    points = {tuple(base): None}
    if len(sets) > _VARIED_UP_TO:
        next_ones = tuple(s.least(2) or size for s, size in zip(sets, base, strict=True))
        rising = tuple(s.least(2 + n) or size for n, (s, size) in enumerate(zip(sets, base, strict=True)))
        falling = tuple(s.least(1 + len(sets) - n) or size for n, (s, size) in enumerate(zip(sets, base, strict=True)))
        return list(dict.fromkeys((*points, next_ones, rising, falling)))
    for left, right in combinations(range(len(sets)), 2):
        for a in sets[left].first(_PAIRED_VALUES):
            for b in sets[right].first(_PAIRED_VALUES):
                point = list(base)
                point[left], point[right] = a, b
                points[tuple(point)] = None
                if len(points) >= MOST_POINTS:
                    return list(points)
    return list(points)


# How many of the least members of its set are tried for a size.
_LEAST = 64
# The most points that are tried.
_POINTS = 2_000
# Units of effort for the value of a formula at a point.
_HOLDS = 10


def descend(question: SmallestPointQuestion, point: Point) -> Point:
    """Return sizes that no change of a single one to a small value makes smaller; ``point`` is where formulas hold.

    A model of the solver may have numbers of many digits where 1 works too.
    """
    about = {s: [f for f in question.formulas if s in symbols_in(f)] for s in question.symbols}
    left = _POINTS
    is_changed = True
    # Lowering one size may allow to lower another one, so all are tried again.
    while is_changed and left > 0:
        is_changed = False
        for size in sorted(question.symbols, key=lambda s: -point[s]):
            for value in _smaller(question.domains.get(size, ALL), point[size]):
                lower = {**point, size: value}
                left -= 1
                charge(_HOLDS * len(about[size]))
                if question.cost(lower) < question.cost(point) and all(holds_at(f, lower) for f in about[size]):
                    point, is_changed = lower, True
                    break
    return point


def _smaller(allowed: SizeSet, size: int) -> Iterator[int]:
    """Yield other values that a size may have, least first: its least ones, then halves of it; 0 last."""
    for value in islice(allowed.members(1), _LEAST):
        if size and value >= size:
            break
        yield value
    for shift in range(size.bit_length() - 1, 0, -1):
        if size >> shift > _LEAST and size >> shift in allowed:
            yield size >> shift
