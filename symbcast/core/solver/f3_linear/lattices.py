"""Lattices: short bases of integer vectors (LLL), in which large coefficients become small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
