"""The dual simplex method, exact: the least point of a polyhedron, first by cost, then coordinate by coordinate.

Every quantity is a row: an integer combination of parameters that are at least 0, over one common denominator. The rows
of quantities to be minimised come first. Columns are lexicographically positive from the start and stay so; therefore
the point with all parameters at 0 is the least one, and cycles are impossible (Gomory, An algorithm for integer
solutions to linear programs, 1963). Pivots divide without remainder (Edmonds, Bareiss).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import sub

from symbcast.core.effort import charge

_PIVOT = 10
"""Units of effort for a step, plus a quarter for each number of the tableau."""


class Tableau:
    """Rows ``[constant, coefficient of each parameter, ...]``; each represents its value over ``denominator``.

    The first ``least`` rows are minimised lexicographically, in this order; each parameter's column must begin with a
    positive entry there. Rows in ``signed`` must be at least 0, those in ``zero`` must equal 0.
    """

    __slots__ = ("denominator", "least", "rows", "signed", "zero")

    def __init__(
        self, rows: list[list[int]], least: int, signed: Sequence[int], zero: Sequence[int], denominator: int = 1
    ) -> None:
        self.rows = rows
        self.least = least
        self.signed = list(signed)
        self.zero = list(zero)
        self.denominator = denominator

    def beside(self, row: list[int]) -> Tableau:
        """Return the tableau with an additional row that must be at least 0, over the common denominator."""
        return Tableau([*self.rows, row], self.least, [*self.signed, len(self.rows)], self.zero, self.denominator)

    def value(self, row: int) -> Fraction:
        """Return the value of a row at the point."""
        return Fraction(self.rows[row][0], self.denominator)

    def point(self) -> tuple[Fraction, ...]:
        """Return the values of the rows to be minimised."""
        return tuple(map(self.value, range(self.least)))

    def prices(self) -> list[tuple[int, int]]:
        """Return, for each parameter, the row whose value it is and its unit cost in the first row."""
        own: dict[int, int] = {}
        for n in self.signed:
            row = self.rows[n]
            columns = [c for c in range(len(row)) if row[c]]
            if len(columns) == 1 and columns[0] and row[columns[0]] == self.denominator:
                own.setdefault(columns[0], n)
        return [(own[column], self.rows[0][column]) for column in range(1, len(self.rows[0]))]

    def solve(self) -> bool:
        """Go to the least point at which all rows satisfy their constraints; return whether there is one."""
        while True:
            row = self._broken()
            if row is None:
                return True
            column = self._column(self.rows[row])
            if column is None:
                return False
            self._pivot(row, column)

    def _broken(self) -> int | None:
        """Return a row that violates its constraint, with a negative constant."""
        for n in self.zero:
            row = self.rows[n]
            if row[0]:
                if row[0] > 0:
                    row[:] = [-entry for entry in row]
                return n
        return min((n for n in self.signed if self.rows[n][0] < 0), key=lambda n: self.rows[n][0], default=None)

    def _column(self, row: Sequence[int]) -> int | None:
        """Return the parameter that increases a row at the least price."""
        columns = [n for n in range(1, len(row)) if row[n] > 0]
        for line in self.rows[: self.least]:
            if len(columns) < 2:
                break
            best = columns[0]
            for n in columns[1:]:
                if line[n] * row[best] < line[best] * row[n]:
                    best = n
            columns = [n for n in columns if line[n] * row[best] == line[best] * row[n]]
        return columns[0] if columns else None

    def _pivot(self, pivot: int, column: int) -> None:
        """Make a row's value the parameter of a column; remove the parameter if it must be 0."""
        charge(_PIVOT + len(self.rows) * len(self.rows[0]) // 4)
        source = list(self.rows[pivot])
        by, old = source[column], self.denominator
        gone = pivot in self.zero
        rows: list[list[int]] = []
        for row in self.rows:
            times = row[column]
            if times:
                made = [entry // old for entry in map(sub, map(by.__mul__, row), map(times.__mul__, source))]
            else:
                made = row if by == old else [entry * by // old for entry in row]
            if gone:
                made = made[:column] + made[column + 1 :]
            else:
                made = [*made]
                made[column] = times
            rows.append(made)
        self.rows, self.denominator = rows, by
        if gone:
            self.zero = [n for n in self.zero if n != pivot]
