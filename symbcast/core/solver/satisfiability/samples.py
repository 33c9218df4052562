"""Truth tables over a sample of sizes: they show what is possible, so the solver is asked only about the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product, starmap
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.effort import charge
from symbcast.core.logic.formulas import Formula, dims_of, opened
from symbcast.core.solver.evaluation.evaluation import holds_at, predicate
from symbcast.core.solver.sets.size_sets import ALL, SizeSet

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

MOST_POINTS = 1500
_VALUES_EACH = {1: 60, 2: 20, 3: 9, 4: 6, 5: 4, 6: 3}
_PAIRED_VALUES = 5
_VARIED_UP_TO = 12
"""Of more symbols, points that differ in two places show little, and take long."""
_FEW_POINTS = 16
_TEST = 400
"""Units of effort for compiling the test of a formula; a point takes half a unit."""
_POINT = 2
"""Units of effort to make a point."""


class Samples:
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

    def mask(self, formula: Formula) -> int:
        """Return the points at which the formula holds and is fully defined, one bit each."""
        found = self._masks.get(formula)
        if found is None:
            charge(_TEST + len(self.points) // 2)
            held = starmap(predicate(formula, self.symbols), reversed(self.points))
            # Digits are read at once; setting one bit after the other copies the mask each time.
            found = self._masks[formula] = int("".join(["1" if is_held else "0" for is_held in held]) or "0", 2)
        return found

    def breaks(self, formula: Formula, mask: int) -> bool:
        """Return whether the formula fails, or something in it is undefined, at some point of a mask."""
        if formula in self._masks:
            return bool(mask & ~self._masks[formula])
        if mask.bit_count() > _FEW_POINTS:
            test = predicate(formula, self.symbols)
            return not all(test(*self.points[n]) for n in bits(mask))
        return not all(holds_at(formula, dict(zip(self.symbols, self.points[n], strict=True))) for n in bits(mask))

    def open_mask(self, formula: Formula) -> int:
        """Return the points at which the formula holds, or something in it is undefined and could have any value.

        A clause is redundant only if the others exclude everything that it excludes, whatever values undefined terms
        take. Otherwise the clause that defines them would seem redundant, and the condition could not be read.
        """
        return self.mask(opened(formula))

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


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits of a mask, the lowest first."""
    return (position for position, digit in enumerate(bin(mask)[:1:-1]) if digit == "1")


def _constants(formulas: Iterable[Formula]) -> list[int]:
    """Return the integers that formulas compare with, and their neighbours."""
    found = {dim for formula in formulas for dim in dims_of(formula) if isinstance(dim, int)}
    return sorted({n for value in found for n in (value - 1, value, value + 1) if n >= 0})[:8]


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
    """Return the point of least sizes and those that differ from it in one or two places, or two others if many would.

    The two others are that of the next sizes, and one where all sizes differ: there, no two of them broadcast.
    """
    base = [s.least(1) or 0 for s in sets]
    points = {tuple(base): None}
    if len(sets) > _VARIED_UP_TO:
        next_ones = tuple(s.least(2) or size for s, size in zip(sets, base, strict=True))
        different = tuple(s.least(2 + n) or size for n, (s, size) in enumerate(zip(sets, base, strict=True)))
        return list(dict.fromkeys((*points, next_ones, different)))
    for left, right in combinations(range(len(sets)), 2):
        for a in sets[left].first(_PAIRED_VALUES):
            for b in sets[right].first(_PAIRED_VALUES):
                point = list(base)
                point[left], point[right] = a, b
                points[tuple(point)] = None
                if len(points) >= MOST_POINTS:
                    return list(points)
    return list(points)
