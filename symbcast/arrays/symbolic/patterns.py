"""Patterns of true elements in two-dimensional arrays that depend on sizes only: triangles and diagonals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from symbcast.arrays.symbolic.integers import Span
from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.runs.path import Path


@dataclass(frozen=True)
class Pattern:
    """Which elements ``[i, j]`` of an array are true.

    Attributes:
        rows: the size of the first axis.
        columns: the size of the second axis.
        kind: where ``j <= i + k`` (``"lower"``), ``j >= i + k`` (``"upper"``), or ``j == i + k`` (``"diagonal"``).
        k: the diagonal.
    """

    rows: Dim
    columns: Dim
    kind: Literal["lower", "upper", "diagonal"]
    k: Dim

    @property
    def negated(self) -> Pattern | None:
        """Return the pattern of the false elements; None for those off a diagonal."""
        match self.kind:
            case "lower":
                return replace(self, kind="upper", k=add(self.k, 1))
            case "upper":
                return replace(self, kind="lower", k=subtract(self.k, 1))
        return None

    @property
    def transposed(self) -> Pattern:
        """Return the pattern with its axes exchanged."""
        kind: Literal["lower", "upper", "diagonal"] = "diagonal"
        if self.kind != "diagonal":
            kind = "upper" if self.kind == "lower" else "lower"
        return Pattern(self.columns, self.rows, kind, multiply(-1, self.k))

    def count(self, path: Path) -> Dim:
        """Return the number of true elements."""
        if self.kind == "diagonal":
            return self._diagonal(path)
        if self.kind == "upper":
            return self.transposed.count(path)
        # Row i has clip(i + k + 1, 0, columns) true elements: the sum of max(0, i + k + 1) minus that of
        # max(0, i + k + 1 - columns). Each sum is the triangle number of its last row, minus rows that do not exist.
        last = add(self.rows, self.k)
        return subtract(
            subtract(_triangle(path, last), _triangle(path, self.k)),
            subtract(_triangle(path, subtract(last, self.columns)), _triangle(path, subtract(self.k, self.columns))),
        )

    def spans(self, path: Path) -> tuple[Span, Span]:
        """Return the indices of true elements on both axes; each span is valid only if there are true elements."""
        larger, smaller = path.bounds.larger, path.bounds.smaller
        last_row, last_column = subtract(self.rows, 1), subtract(self.columns, 1)
        first, last = larger(multiply(-1, self.k), 0), smaller(last_row, subtract(last_column, self.k))
        left, right = larger(self.k, 0), smaller(last_column, add(last_row, self.k))
        match self.kind:
            case "lower":
                return Span(first, last_row, "all"), Span(0, right, "all")
            case "upper":
                return Span(0, last, "all"), Span(left, last_column, "all")
        return Span(first, last, "all"), Span(left, right, "all")

    def _diagonal(self, path: Path) -> Dim:
        larger, smaller = path.bounds.larger, path.bounds.smaller
        above, below = larger(self.k, 0), larger(multiply(-1, self.k), 0)
        return larger(smaller(subtract(self.rows, below), subtract(self.columns, above)), 0)


def _triangle(path: Path, size: Dim) -> Dim:
    """Return ``1 + 2 + ... + size``, 0 for a size below 1; the formula gives 0 for -1 too."""
    if not path.bounds.is_at_least(size, -1):
        size = path.bounds.larger(size, 0)
    return floor_divide(multiply(size, add(size, 1)), 2)
