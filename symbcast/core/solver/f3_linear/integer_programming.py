"""Conjunctions of linear constraints over integers: the exact dual simplex, and branches along a reduced lattice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import floor, log2
from operator import sub
from typing import TypeAlias

from symbcast.core.algebra.formulas import Comparison, Formula, at_most, literals
from symbcast.core.algebra.terms import Dim, Operation, Symbol, term
from symbcast.core.effort import charge
from symbcast.core.solver.f2_one_size.clauses import clauses_of
from symbcast.core.solver.f3_linear.lattices import (
    dot_product,
    integer_determinant,
    integer_solutions,
    left_inverse,
    reduce_lattice,
    whole_multiple,
)
from symbcast.core.solver.points import GivenUpError, Point, SmallestPointQuestion, zero_levels, zeros_at

# The dual simplex method, exact: the least point of a polyhedron, first by cost, then coordinate by coordinate.
#
# Every quantity is a row: an integer combination of parameters that are at least 0, over one common denominator. The
# rows of quantities to be minimised come first. Columns are lexicographically positive from the start and stay so;
# therefore the point with all parameters at 0 is the least one, and cycles are impossible (Gomory, An algorithm for
# integer solutions to linear programs, 1963). Pivots divide without remainder (Edmonds, Bareiss).


# Units of effort for a step, plus a quarter for each number of the tableau.
_PIVOT = 10


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
                # The simplex repairs negative rows: an equation may be turned around.
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
                changed = [entry // old for entry in map(sub, map(by.__mul__, row), map(times.__mul__, source))]
            else:
                changed = row if by == old else [entry * by // old for entry in row]
            if gone:
                changed = changed[:column] + changed[column + 1 :]
            else:
                changed = [*changed]
                changed[column] = times
            rows.append(changed)
        self.rows, self.denominator = rows, by
        if gone:
            self.zero = [n for n in self.zero if n != pivot]


# Conjunctions of linear constraints over integers: branch and bound along the short vectors of a lattice.
#
# A floor division ``t // k`` is an unknown q with ``0 <= t - k*q < k``. Equations are solved over the integers by
# unimodular steps (Hermite), which leaves a free choice: a point of a lattice. Its basis is reduced in the metric of
# the inequalities (Lenstra, Integer programming with a fixed number of variables, 1983; Krishnamoorthy, Pataki, Column
# basis reduction and decomposable knapsack problems, 2009), so few branches are left along a non-integer coordinate.
# If the least point is not an integer point, the basis is reduced again in the metric of its prices: the affordable
# points form a simplex, which is round in its own slacks, each scaled by its price. The branch whose least point comes
# first is explored first, so the first integer point is the smallest.


# Number of branches explored before the question is left open.
NODES = 2_000
# The same where z3 is next; nearly all conjunctions take fewer than ten.
FEW_NODES = 200
_CASES_AT_MOST = 64
_FEW_CASES = 4
_FORMULAS_AT_MOST = 40
_SYMBOLS_AT_MOST = 16
_ZEROS_AT_MOST = 64
_SCALE = 1 << 16

_CONSTANT = -1
Form: TypeAlias = "dict[int, int]"
"""A sum of multiples of unknowns, by number, and a constant."""


def some_point(symbols: Sequence[Symbol], formulas: Sequence[Formula], nodes: int = FEW_NODES) -> Point | None:
    """Return sizes at which formulas hold, None if there are none.

    Raises `GivenUpError` if this is undecided, and for formulas that are not a few conjunctions of linear constraints.
    """
    return _IntegerSearch(SmallestPointQuestion(symbols, {}, formulas, dict.fromkeys(symbols, 1)), nodes).least(
        formulas
    )


def smallest_point(question: SmallestPointQuestion, nodes: int = FEW_NODES) -> Point | None:
    """Return the smallest sizes; otherwise the same as `some_point`."""
    symbols, formulas = question.symbols, question.described()
    run = _IntegerSearch(question, nodes)
    point = run.least([*formulas, *(at_most(1, s) for s in symbols)])
    if point is not None or run.least(formulas) is None:
        return point
    tried = 0
    for level in zero_levels(symbols, {}, question.weights):
        tried += len(level)
        if tried > _ZEROS_AT_MOST:
            break
        points = [run.least([*formulas, *zeros_at(symbols, zeros)]) for zeros in level]
        if any(points):
            return min(filter(None, points), key=question.cost)
    raise GivenUpError


class _IntegerSearch:
    """Questions about the same symbols, with one branch count for all of them."""

    def __init__(self, question: SmallestPointQuestion, nodes: int) -> None:
        if len(question.symbols) > _SYMBOLS_AT_MOST:
            raise GivenUpError
        self.question = question
        self.symbols = tuple(question.symbols)
        self.nodes = nodes
        self.cases = _FEW_CASES if nodes <= FEW_NODES else _CASES_AT_MOST

    def least(self, formulas: Sequence[Formula]) -> Point | None:
        """Return the sizes with the least weighted sum, then first in order; None if there are none."""
        systems = (
            _IntegerConjunction(self.symbols, self.question.weights, case) for case in _cases(formulas, self.cases)
        )
        return min(filter(None, map(self._in, systems)), key=self._sum, default=None)

    def _sum(self, sizes: Point) -> tuple[int, tuple[int, ...]]:
        return self.question.cost(sizes)[1:]

    def _in(self, system: _IntegerConjunction) -> Point | None:
        tableau = system.tableau()
        ahead: list[tuple[tuple[Fraction, ...], int, Tableau]] = []
        order = 0
        if tableau is not None and tableau.solve():
            if system.branches(tableau) is not None:
                tableau = system.rounded(tableau)
            ahead.append((tableau.point(), order, tableau))
        while ahead:
            self.nodes -= 1
            if self.nodes < 0:
                raise GivenUpError
            point, _, tableau = heappop(ahead)
            branches = system.branches(tableau)
            if branches is None:
                return {s: int(point[n + 1]) for n, s in enumerate(self.symbols)}
            for row in branches:
                child = tableau.beside(row)
                if child.solve():
                    order += 1
                    heappush(ahead, (child.point(), order, child))
        return None


def _cases(formulas: Sequence[Formula], most: int) -> Iterator[list[tuple[Dim, bool]]]:
    """Yield conjunctions, one of which must hold; each lists differences that must be 0 (true) or at least 0."""
    if len(formulas) > _FORMULAS_AT_MOST:
        raise GivenUpError
    choices: list[list[tuple[Dim, bool]]] = []
    count = 1
    for clause in (c for f in formulas for c in clauses_of(f)):
        choices.append([case for literal in literals(clause) for case in _differences(literal)])
        count *= len(choices[-1])
        if count > most:
            raise GivenUpError
    for case in product(*choices):
        yield list(case)


def _differences(literal: Formula) -> list[tuple[Dim, bool]]:
    if not isinstance(literal, Comparison):
        raise GivenUpError
    above = term(literal.right) - term(literal.left)
    match literal.operator:
        case "==":
            return [(above, True)]
        case "<=":
            return [(above, False)]
        case "<":
            return [(above - 1, False)]
        case "!=":
            return [(above - 1, False), (-1 * above - 1, False)]


class _IntegerConjunction:
    """One conjunction: the unknowns are the symbols and a quotient for each floor division or remainder."""

    def __init__(
        self, symbols: Sequence[Symbol], weights: Mapping[Symbol, int], case: Sequence[tuple[Dim, bool]]
    ) -> None:
        self.count = len(symbols)
        self.places: dict[object, int] = {s: n for n, s in enumerate(symbols)}
        self.weights = [weights[s] for s in symbols]
        self.divided: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}
        forms = [(self._form(difference), is_zero) for difference, is_zero in case]
        self.zero = [form for form, is_zero in forms if is_zero]
        self.signed = [form for form, is_zero in forms if not is_zero]
        self.remainders = [{**dict(dividend), q: -divisor} for (dividend, divisor), q in self.divided.items()]
        self.origin: list[int] = []
        self.basis: list[list[int]] = []
        self.units: list[int] = []
        self.first_coordinate = 0

    def _form(self, dim: Dim) -> Form:
        form: Form = {_CONSTANT: 0}
        for monomial, coefficient in term(dim).coefficients.items():
            if len(monomial) > 1:
                raise GivenUpError
            part: Form = {_CONSTANT: 1}
            for atom in monomial:
                part = self._quotient(atom) if isinstance(atom, Operation) else {self.places[atom]: 1}
            for unknown, times in part.items():
                form[unknown] = form.get(unknown, 0) + coefficient * times
        return form

    def _quotient(self, operation: Operation) -> Form:
        if operation.kind not in {"//", "%"}:
            raise GivenUpError
        divisor = operation.args[1]
        # By a number k > 0, the quotient q of t is the integer with 0 <= t - k*q < k: two linear rows.
        if not divisor.is_constant or divisor.constant < 1:
            raise GivenUpError
        dividend = self._form(operation.args[0].dim())
        key = tuple(sorted(dividend.items())), divisor.constant
        q = self.divided.setdefault(key, self.count + len(self.divided))
        return {q: 1} if operation.kind == "//" else {**dividend, q: -divisor.constant}

    def _vector(self, form: Form) -> list[int]:
        return [form.get(n, 0) for n in range(self.count + len(self.divided))]

    def tableau(self) -> Tableau | None:
        """Return the system as a tableau in the symbols and remainders; None if the equations have no solution."""
        solved = integer_solutions(
            [(self._vector(f), -f[_CONSTANT]) for f in self.zero], self.count + len(self.divided)
        )
        if solved is None:
            return None
        self.origin, basis = solved
        self.basis = _reduced(basis, [self._vector(f) for f in (*self.remainders, *self.signed)])
        return self._tableau()

    def _tableau(self) -> Tableau:
        width = 1 + self.count + len(self.divided)
        unit = [[Fraction(int(n == column)) for n in range(width)] for column in range(1, width)]
        values = unit[: self.count]
        for n, (dividend, divisor) in enumerate(self.divided):
            rest = unit[self.count + n]
            above = _combined(dict(dividend), values, width)
            values.append([(a - b) / divisor for a, b in zip(above, rest, strict=True)])
        rows = [[0, *self.weights, *(0 for _ in self.divided)], *(list(map(int, row)) for row in unit)]
        least = len(rows)
        signed = list(range(1, least))
        for form in [*({_CONSTANT: d - 1, self.count + n: -1} for n, (_, d) in enumerate(self.divided))]:
            signed.append(len(rows))
            rows.append([form.get(column - 1, 0) for column in range(width)])
        for form in self.signed:
            signed.append(len(rows))
            rows.append(whole_multiple(_combined(form, values, width))[0])
        zero = list(range(len(rows), len(rows) + len(self.zero)))
        rows += [whole_multiple(_combined(form, values, width))[0] for form in self.zero]
        self.first_coordinate = len(rows)
        self.units = []
        for line in left_inverse(self.basis):
            coordinate: dict[int, Fraction] = dict(enumerate(line))
            coordinate[_CONSTANT] = sum((-a * b for a, b in zip(line, self.origin, strict=True)), Fraction(0))
            row, times = whole_multiple(_combined(coordinate, values, width))
            rows.append(row)
            self.units.append(times)
        return Tableau(rows, least, signed, zero)

    def rounded(self, tableau: Tableau) -> Tableau:
        """Rebuild a solved tableau with coordinates along which few branches are left near the cheapest point.

        Points whose cost exceeds the least by a bounded amount are those with ``sum(price * value)`` within that
        amount, over the parameters that are 0 at the least point. The basis is reduced in these parameters, each scaled
        by its price. Their number is the dimension of the lattice.
        """
        prices = tableau.prices()
        if len(self.basis) < 2 or len(prices) != len(self.basis):  # an equation that already held was left in
            return tableau
        measured = self._measured()
        forms = [measured[row] for row, _ in prices]
        volume = abs(integer_determinant([[dot_product(form, vector) for form in forms] for vector in self.basis]))
        sized = list(zip(forms, _weights(prices, self._ranges(), volume), strict=True))
        vectors = [[*vector, *(_SCALE * by * dot_product(form, vector) for form, by in sized)] for vector in self.basis]
        self.basis = [vector[: len(self.origin)] for vector in reduce_lattice(vectors)]
        rebuilt = self._tableau()
        rebuilt.solve()
        return rebuilt

    def _ranges(self) -> dict[int, int]:
        """Return the largest possible value of each remainder row."""
        first = 1 + self.count
        pairs = ((n, divisor - 1) for n, (_, divisor) in enumerate(self.divided))
        return {row: most for n, most in pairs for row in (first + n, first + len(self.divided) + n)}

    def _measured(self) -> list[list[int]]:
        """Return how each row, except those of coordinates, changes with the unknowns."""
        unknowns = range(self.count + len(self.divided))
        ones = [[int(m == n) for m in unknowns] for n in range(self.count)]
        remainders = [self._vector(f) for f in self.remainders]
        others = [[-entry for entry in form] for form in remainders]
        return [[0 for _ in unknowns], *ones, *remainders, *others, *map(self._vector, self.signed)]

    def branches(self, tableau: Tableau) -> list[list[int]] | None:
        """Return rows for the two sides of the thinnest non-integer coordinate; None if all are integers."""
        for n in reversed(range(len(self.units))):
            row, unit = tableau.rows[self.first_coordinate + n], self.units[n] * tableau.denominator
            below = floor(Fraction(row[0], unit))
            if below * unit != row[0]:
                under = [below * unit - row[0], *(-entry for entry in row[1:])]
                over = [row[0] - (below + 1) * unit, *row[1:]]
                return [under, over]
        return None


def _weights(prices: Sequence[tuple[int, int]], ranges: Mapping[int, int], volume: int) -> list[int]:
    """Return the weights of parameters: by price, or by their range where the price would let them exceed it.

    The cost bound makes the reachable space as large as a cell of the lattice, whose volume is given.
    """
    logs = [log2(price) if price else 0.0 for _, price in prices]
    for _ in prices:
        paid = (sum(logs) + log2(max(volume, 1))) / len(logs)
        needed = [paid - log2(1 + ranges[row]) if row in ranges else 0.0 for row, _ in prices]
        logs = list(map(max, logs, needed))
    least = min(logs)
    return [1 << round(log - least + 4) for log in logs]


def _combined(
    form: Mapping[int, int] | Mapping[int, Fraction], values: Sequence[Sequence[Fraction]], width: int
) -> list[Fraction]:
    """Return a form of unknowns in terms of the parameters, the constant first."""
    combined = [Fraction(0)] * width
    combined[0] = Fraction(form.get(_CONSTANT, 0))
    for unknown, times in form.items():
        if unknown != _CONSTANT and times:
            for n, value in enumerate(values[unknown]):
                if value:
                    combined[n] += times * value
    return combined


def _reduced(basis: Sequence[Sequence[int]], forms: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return a basis of the same lattice that is short in the unknowns and in some scaled forms of them."""
    if len(basis) < 2:
        return [list(vector) for vector in basis]
    sized = [(form, max(map(abs, form))) for form in forms if any(form)]
    vectors = [
        [*(_SCALE * entry for entry in vector), *(_SCALE * dot_product(form, vector) // size for form, size in sized)]
        for vector in basis
    ]
    return [[entry // _SCALE for entry in vector[: len(basis[0])]] for vector in reduce_lattice(vectors)]
