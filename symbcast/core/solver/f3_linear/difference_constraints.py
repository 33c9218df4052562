"""Orders and differences of sizes: matrices of bounds, and grids that show every combination of orders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import inf, prod
from random import Random
from typing import Any, NamedTuple, TypeAlias

from symbcast.core.algebra.formulas import Comparison, Formula, is_total
from symbcast.core.algebra.terms import Symbol, term
from symbcast.core.solver.size_sets import SizeSet

# Points that satisfy difference constraints, ``x - y <= c``, together with equalities and disequalities.
#
# A conjunction is held as a matrix of bounds, closed under shortest paths (a difference-bound matrix; Dill 1989):
# there are sizes exactly if no diagonal entry is negative, and sizes can then be chosen one after the other.


Matrix: TypeAlias = list[list[float]]
_REACH = 6
_TRIES = 4


class DifferenceBound(NamedTuple):
    """``x[left] - x[right] <= most``, or ``!= most`` with ``differs``; place 0 is the constant 0."""

    left: int
    right: int
    most: int
    differs: bool = False


class DifferenceMatrix:
    """The sizes of some symbols, each within its domain."""

    def __init__(self, symbols: Sequence[Symbol], domains: Mapping[Symbol, SizeSet]) -> None:
        self.places: dict[Any, int] = {s: n for n, s in enumerate(symbols, start=1)}
        count = len(symbols) + 1
        self.base: Matrix = [[0 if i == j else inf for j in range(count)] for i in range(count)]
        self._bounds: dict[Formula, tuple[DifferenceBound, ...] | None] = {}
        for symbol, place in self.places.items():
            segments = domains[symbol].segments
            if segments:
                _add(self.base, DifferenceBound(0, place, -segments[0].low))
                if segments[-1].high is not None:
                    _add(self.base, DifferenceBound(place, 0, segments[-1].high))

    def bounds(self, literal: Formula) -> tuple[DifferenceBound, ...] | None:
        """Return the bounds on differences that a literal gives, None for another kind of literal."""
        if literal not in self._bounds:
            self._bounds[literal] = self._read(literal)
        return self._bounds[literal]

    def _read(self, literal: Formula) -> tuple[DifferenceBound, ...] | None:
        if not isinstance(literal, Comparison) or not is_total(literal):
            return None
        difference = term(literal.left) - term(literal.right)
        left = right = 0
        for monomial, coefficient in difference.coefficients.items():
            if not monomial:
                continue
            place = self.places.get(monomial[0]) if len(monomial) == 1 else None
            if place is None or abs(coefficient) != 1 or (left if coefficient == 1 else right):
                return None
            left, right = (place, right) if coefficient == 1 else (left, place)
        most = -difference.constant
        match literal.operator:
            case "==":
                return DifferenceBound(left, right, most), DifferenceBound(right, left, -most)
            case "!=":
                return (DifferenceBound(left, right, most, differs=True),)
            case "<=":
                return (DifferenceBound(left, right, most),)
            case _:
                return (DifferenceBound(left, right, most - 1),)

    def region(self, literals: Iterable[Formula]) -> DifferenceRegion | None:
        """Return where the literals hold; None if they clash; literals of another kind are ignored."""
        bounds = [b for literal in literals for b in self.bounds(literal) or ()]
        matrix = [row[:] for row in self.base]
        differing: list[DifferenceBound] = []
        for bound in bounds:
            if bound.differs:
                differing.append(bound)
            elif not _add(matrix, bound):
                return None
        # Where both bounds of a difference are one number, it can only be what it may not be.
        if any(matrix[b.left][b.right] == b.most and matrix[b.right][b.left] == -b.most for b in differing):
            return None
        return DifferenceRegion(matrix, differing)


class DifferenceRegion(NamedTuple):
    """Sizes within a closed matrix of bounds, excluding some values of differences."""

    matrix: Matrix
    differing: list[DifferenceBound]

    def point(self, random: Random) -> tuple[int, ...] | None:
        """Return sizes in the region, near its least; None if a few tries found none."""
        for _ in range(_TRIES):
            point = self._tried(random)
            if point is not None:
                return point
        return None

    def equalities(self) -> int:
        """Return the number of sizes, and differences of two sizes, for which the bounds leave only one value."""
        matrix = self.matrix
        return sum(matrix[i][j] == -matrix[j][i] for i in range(len(matrix)) for j in range(i))

    def _tried(self, random: Random) -> tuple[int, ...] | None:
        matrix = self.matrix
        order = list(range(1, len(matrix)))
        random.shuffle(order)
        values: dict[int, int] = {0: 0}
        for place in order:
            low = max(value - matrix[j][place] for j, value in values.items())
            high = min(value + matrix[place][j] for j, value in values.items())
            barred = {values[b.right] + b.most for b in self.differing if b.left == place and b.right in values}
            barred |= {values[b.left] - b.most for b in self.differing if b.right == place and b.left in values}
            free = [n for n in range(int(low), int(min(high, low + _REACH + len(barred))) + 1) if n not in barred]
            if not free:
                return None
            values[place] = random.choice(free)
        return tuple(values[n] for n in range(1, len(matrix)))


def _add(matrix: Matrix, bound: DifferenceBound) -> bool:
    """Add a bound to a closed matrix and close it again; return False if nothing is left."""
    left, right, most, _ = bound
    if matrix[left][right] <= most:
        return True
    if matrix[right][left] + most < 0:
        return False
    row = matrix[right]
    for out in matrix:
        # Only paths through the new bound can be shorter: closing again takes the square of the sizes, not the cube.
        reach = out[left] + most
        if reach < inf:
            for j, onwards in enumerate(row):
                out[j] = min(out[j], reach + onwards)
    return True


# Grids of sizes on which orders of names are decided: a combination that is not on the grid occurs nowhere.
#
# Atoms that compare a name with an integer, or two names with each other, depend only on the order of the sizes and
# those integers. So between two neighbouring integers it suffices to have as many sizes as names, and a finite grid
# shows every combination of truth values (the small model property of linear orders).


MOST_POINTS = 1 << 20


class SizeGrid:
    """The sizes of each symbol, in order; the points are their product, with the last symbol changing fastest."""

    def __init__(self, axes: Sequence[Sequence[int]]) -> None:
        self.axes = axes
        self.count = prod(map(len, axes))
        self._equal = [self._positions(n) for n in range(len(axes))]

    def points(self) -> Iterable[tuple[int, ...]]:
        """Return the points in order."""
        return product(*self.axes)

    def _positions(self, place: int) -> list[int]:
        """Return, for each size of a symbol, a mask of the points at which it has that size (first point lowest)."""
        inner = prod(map(len, self.axes[place + 1 :]))
        size = len(self.axes[place])
        run = (1 << inner) - 1
        blocks = self.count // (inner * size)
        # 1 + 2**p + 2**2p + ... repeats a pattern every p bits.
        repeat = ((1 << (inner * size * blocks)) - 1) // ((1 << (inner * size)) - 1)
        return [(run << (inner * n)) * repeat for n in range(size)]

    def mask(self, bounds: Iterable[DifferenceBound]) -> int:
        """Return the points at which some bounds on the symbols' sizes hold."""
        points = (1 << self.count) - 1
        for bound in bounds:
            points &= self._mask(bound)
        return points

    def _mask(self, bound: DifferenceBound) -> int:
        left, right, most, differs = bound
        points = 0
        lefts = self._sizes(left)
        for value, here in self._sizes(right):
            row = 0
            for size, mask in lefts:
                if size - value != most if differs else size - value <= most:
                    row |= mask
            points |= row & here
        return points

    def _sizes(self, place: int) -> list[tuple[int, int]]:
        if not place:
            return [(0, (1 << self.count) - 1)]
        return list(zip(self.axes[place - 1], self._equal[place - 1], strict=True))


def complete_axes(
    symbols: Sequence[Symbol],
    domains: Mapping[Symbol, SizeSet],
    differences: DifferenceMatrix,
    literals: Iterable[Formula],
) -> list[list[int]] | None:
    """Return sizes of each symbol whose product shows every possible combination of the literals.

    None if a literal or a domain is of another kind, or if there are too many points.
    """
    count = len(symbols)
    cuts: list[set[int]] = [{0} for _ in range(count + 1)]
    groups = list(range(count + 1))
    for literal in literals:
        bounds = differences.bounds(literal)
        if bounds is None:
            return None
        for left, right, most, differs in bounds:
            if left and right:
                if most not in ((0,) if differs else (0, -1)):
                    return None
                groups = [groups[left] if g == groups[right] else g for g in groups]
            else:
                cuts[left or right].update(n for n in ((most if left else -most),) if n >= 0)
    for place, symbol in enumerate(symbols, start=1):
        for segment in domains[symbol].segments:
            if segment.period != 1:
                return None
            cuts[place].update((segment.low, segment.low if segment.high is None else segment.high))
    total = 1
    axes: list[list[int]] = []
    for place, symbol in enumerate(symbols, start=1):
        group = [n for n in range(1, count + 1) if groups[n] == groups[place]]
        axis = _between(sorted(set().union(*(cuts[n] for n in group))), len(group))
        axes.append([size for size in axis if size in domains[symbol]])
        total *= max(1, len(axes[-1]))
        if total > MOST_POINTS:
            return None
    return axes if all(axes) else None


def _between(cuts: Sequence[int], count: int) -> list[int]:
    """Return ascending integers: ``count`` sizes, or all there are, between each two and above the last."""
    sizes: list[int] = []
    for low, high in zip(cuts, [*cuts[1:], None], strict=True):
        end = low + count + 1 if high is None else min(high, low + count + 1)
        sizes += range(low, end)
    return sizes
