"""Exact linear algebra over the integers, with lists as rows and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from symbcast.core.solver.linear.lattice_reduction import reduce_lattice


def determinant(rows: Sequence[Sequence[int]]) -> int:
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


def dot(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))


def whole(row: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the least positive integer multiple of a row that consists of integers, and the multiplier."""
    times = lcm(*(value.denominator for value in row))
    return [int(value * times) for value in row], times


def solutions(equations: Sequence[tuple[Sequence[int], int]], count: int) -> tuple[list[int], list[list[int]]] | None:
    """Return an integer solution of equations and a basis of the homogeneous solutions; None if there are none."""
    origin = [0] * count
    basis = [[int(m == n) for m in range(count)] for n in range(count)]
    for row, value in equations:
        rest = value - dot(row, origin)
        ahead = [(v, vector) for vector in basis if (v := dot(row, vector))]
        kernel = [vector for vector in basis if not dot(row, vector)]
        while len(ahead) > 1:
            ahead.sort(key=lambda pair: abs(pair[0]))
            (by, source), *others = ahead
            ahead = [(by, source)]
            for v, vector in others:
                q = v // by
                made = [a - q * b for a, b in zip(vector, source, strict=True)]
                if v - q * by:
                    ahead.append((v - q * by, made))
                else:
                    kernel.append(made)
        if not ahead:
            if rest:
                return None
            continue
        ((by, source),) = ahead
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
