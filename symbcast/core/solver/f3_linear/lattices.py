"""Lattices: short bases of integer vectors (LLL), and exact linear algebra over the integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

from symbcast.core.algebra.formulas import Clashing, Comparison, Compatible, Formula, expand
from symbcast.core.algebra.terms import Symbol, Term, term

# Linear rows with large coefficients, made small by a change of unknowns: lattice basis reduction.
#
# The solutions of an equation such as ``12343*a + 98765*b + 55557*c == 100000007`` form a lattice that is skew to the
# axes: branching on a, b and c visits millions of boxes without solutions. In a reduced basis of the lattice the
# solutions are almost a grid, and few branches are left (Aardal, Hurkens, Lenstra: Solving a system of linear
# Diophantine equations with lower and upper bounds on the variables, 2000; Krishnamoorthy, Pataki: Column basis
# reduction and decomposable knapsack problems, 2009). The change of unknowns is unimodular: nothing is lost or added.


# Rows with smaller coefficients are left to z3, which decides them directly.
_LARGE = 16
_SYMBOLS_AT_MOST = 16
_ROWS_AT_MOST = 12
_PAIRWISE_UP_TO = 4


def reduced_basis(symbols: Sequence[Symbol], formulas: Iterable[Formula]) -> dict[Symbol, Mapping[int, int]] | None:
    """Return each symbol as a linear combination of new integer unknowns in which large rows become small.

    None if no row is large, or if there are too many symbols for it to pay off.
    """
    if not 1 < len(symbols) <= _SYMBOLS_AT_MOST:
        return None
    rows: dict[tuple[int, ...], None] = {}
    for value in _differences(formulas):
        row = tuple(value.coefficients.get((s,), 0) for s in symbols)
        if sum(map(bool, row)) > 1 and max(map(abs, row)) > _LARGE:
            rows[row] = None
    if not rows or len(rows) > _ROWS_AT_MOST:
        return None
    # The weight is large enough that the vectors on which all rows are 0 come first, as short as possible.
    weight = max(abs(c) for row in rows for c in row) << len(symbols)
    count = len(symbols)
    vectors = [[*(weight * row[n] for row in rows), *(int(m == n) for m in range(count))] for n in range(count)]
    reduced = [vector[len(rows) :] for vector in reduce_lattice(vectors)]
    return {s: {m: vector[n] for m, vector in enumerate(reduced) if vector[n]} for n, s in enumerate(symbols)}


def _differences(formulas: Iterable[Formula]) -> Iterator[Term]:
    """Yield left side minus right side of all comparisons without products, at any depth."""
    for formula in formulas:
        if isinstance(formula, Comparison):
            difference = term(formula.left) - term(formula.right)
            if difference.is_sum_of_symbols:
                yield difference
        elif isinstance(formula, (Compatible, Clashing)):
            if len(formula.dims) <= _PAIRWISE_UP_TO:
                yield from _differences((expand(formula),))
        else:
            yield from _differences(formula.parts)


def reduce_lattice(vectors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return an LLL-reduced basis of the lattice that independent integer vectors span.

    Lenstra, Lenstra, Lovasz (1982) without fractions, as in Cohen, A Course in Computational Algebraic Number Theory,
    algorithm 2.6.7: ``d[i]`` is the Gram determinant of the first i vectors, ``lam[i][j]`` is ``d[j+1] * mu[i][j]``.

    >>> reduce_lattice([[1, 0, 1000], [0, 1, 999]])
    [[-1, 1, -1], [-333, 334, 666]]
    """
    basis = [list(v) for v in vectors]
    d, lam = _gram(basis)
    k = 1
    while k < len(basis):
        _shorten(basis, d, lam, k, k - 1)
        if 4 * d[k + 1] * d[k - 1] < 3 * d[k] ** 2 - 4 * lam[k][k - 1] ** 2:
            _exchange(basis, d, lam, k)
            k = max(1, k - 1)
            continue
        for earlier in range(k - 2, -1, -1):
            _shorten(basis, d, lam, k, earlier)
        k += 1
    return basis


def _gram(basis: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    count = len(basis)
    d, lam = [1] + [0] * count, [[0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i + 1):
            value = sum(a * b for a, b in zip(basis[i], basis[j], strict=True))
            for k in range(j):
                value = (d[k + 1] * value - lam[i][k] * lam[j][k]) // d[k]
            if j < i:
                lam[i][j] = value
            else:
                d[i + 1] = value
    return d, lam


def _shorten(basis: list[list[int]], d: Sequence[int], lam: Sequence[list[int]], k: int, by: int) -> None:
    """Subtract the nearest integer multiple of an earlier vector."""
    if 2 * abs(lam[k][by]) <= d[by + 1]:
        return
    q = (2 * lam[k][by] + d[by + 1]) // (2 * d[by + 1])
    basis[k] = [a - q * b for a, b in zip(basis[k], basis[by], strict=True)]
    lam[k][by] -= q * d[by + 1]
    for i in range(by):
        lam[k][i] -= q * lam[by][i]


def _exchange(basis: list[list[int]], d: list[int], lam: Sequence[list[int]], k: int) -> None:
    """Exchange a vector with the one before it."""
    basis[k], basis[k - 1] = basis[k - 1], basis[k]
    for j in range(k - 1):
        lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
    by = lam[k][k - 1]
    determinant = (d[k - 1] * d[k + 1] + by * by) // d[k]
    for i in range(k + 1, len(basis)):
        old = lam[i][k]
        lam[i][k] = (d[k + 1] * lam[i][k - 1] - by * old) // d[k]
        lam[i][k - 1] = (determinant * old + by * lam[i][k]) // d[k + 1]
    d[k] = determinant


# Exact linear algebra over the integers, with lists as rows and vectors.


def integer_determinant(rows: Sequence[Sequence[int]]) -> int:
    """Return a determinant, without fractions (Bareiss)."""
    left, by = [list(row) for row in rows], 1
    sign = 1
    while len(left) > 1:
        n = next((n for n, row in enumerate(left) if row[0]), None)
        if n is None:
            return 0
        if n:
            left[0], left[n], sign = left[n], left[0], -sign
        (head, *tail), *others = left
        left = [[(head * x - row[0] * y) // by for x, y in zip(row[1:], tail, strict=True)] for row in others]
        by = head
    return sign * left[0][0]


def dot_product(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


def whole_multiple(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the least positive integer multiple of a row that consists of integers, and the multiplier."""
    times = lcm(*(value.denominator for value in row))
    return [int(value * times) for value in row], times


def integer_solutions(
    equations: Sequence[tuple[Sequence[int], int]], count: int
) -> tuple[list[int], list[list[int]]] | None:
    """Return an integer solution of equations and a basis of the homogeneous solutions; None if there are none."""
    origin = [0] * count
    basis = [[int(m == n) for m in range(count)] for n in range(count)]
    for row, value in equations:
        rest = value - dot_product(row, origin)
        ahead = [(v, vector) for vector in basis if (v := dot_product(row, vector))]
        kernel = [vector for vector in basis if not dot_product(row, vector)]
        # Euclid's algorithm on the values of the row: one vector keeps their gcd, the others become 0.
        while len(ahead) > 1:
            ahead.sort(key=lambda pair: abs(pair[0]))
            (by, source), *others = ahead
            ahead = [(by, source)]
            for v, vector in others:
                q = v // by
                reduced = [a - q * b for a, b in zip(vector, source, strict=True)]
                if v - q * by:
                    ahead.append((v - q * by, reduced))
                else:
                    kernel.append(reduced)
        if not ahead:
            if rest:
                return None
            continue
        ((by, source),) = ahead
        # The row takes multiples of the divisor only.
        if rest % by:
            return None
        origin = [a + rest // by * b for a, b in zip(origin, source, strict=True)]
        basis = reduce_lattice(kernel) if len(kernel) > 1 else kernel
    return origin, basis


def left_inverse(basis: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """Return for each vector of a basis the row that gives its coordinate (Gauss and Jordan)."""
    size, count = (len(basis[0]) if basis else 0), len(basis)
    rows = [
        [*(Fraction(vector[n]) for vector in basis), *(Fraction(int(m == n)) for m in range(size))] for n in range(size)
    ]
    for column in range(count):
        pivot = next(n for n in range(column, size) if rows[n][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        by = rows[column][column]
        rows[column] = [value / by for value in rows[column]]
        for n, row in enumerate(rows):
            if n != column and row[column]:
                times = row[column]
                rows[n] = [a - times * b for a, b in zip(row, rows[column], strict=True)]
    return [row[count:] for row in rows[:count]]
