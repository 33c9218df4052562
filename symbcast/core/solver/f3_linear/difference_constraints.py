"""Orders and differences of sizes: matrices of bounds, and points within them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
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
