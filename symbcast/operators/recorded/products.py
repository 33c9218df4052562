"""Operators that a program records: products and reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.broadcasting import Parameter
from symbcast.core.broadcasting.unknown_rank import place_of
from symbcast.operators.context import TWICE, Context, Dims
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import matmul
from symbcast.operators.reach import ANY, Reach, reach_of
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.operator import Operator, reading, recorded
from symbcast.operators.reductions import reduce

if TYPE_CHECKING:
    pass


@recorded
class MatMul(Operator):
    """`numpy.matmul`."""

    name = "matmul"

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The rows and columns; only the columns of the left operand if the right one is one matrix or a vector.

        In that case the rows of the left operand are kept, like the axes before them.
        """
        matrices = Reach(last=2, is_written=True)
        is_one = len(shapes[1]) <= 2 and place_of(shapes[1]) is None
        return [Reach(last=1) if is_one else matrices, matrices]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        left, right = shapes
        return matmul(context, left, right)


@recorded
class Einsum(Operator):
    """`numpy.einsum` with the equation in letters."""

    name = "einsum"
    variadic = True
    parameters = (Parameter("equation", ""),)
    kinds = reading(equation=kind.text)
    equation: str

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The letters; all axes if there is no ellipsis, or if the output has none."""
        terms, arrow, output = self.equation.replace(" ", "").partition("->")
        is_kept = not arrow or "..." in output
        found: list[Reach | None] = []
        for letters in terms.split(","):
            before, ellipsis, after = letters.partition("...")
            of_all = Reach(rank=len(before) + len(after))
            found.append(Reach(len(before), len(after)) if ellipsis and is_kept else of_all)
        return found if len(found) == len(shapes) else [ANY] * len(shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        terms, _, output = self.equation.replace(" ", "").partition("->")
        for term in (*terms.split(","), output):
            letters = term.replace("...", "", 1)
            if letters and not (letters.isascii() and letters.isalpha()):
                context.refuse(f"the term {term!r} must consist of letters, and '...' at most once")
        if len(set(output.replace(".", ""))) < len(output.replace(".", "")):
            context.refuse("each letter can occur only once in the output")
        return einsum(context, self.equation, shapes, aligns_ellipses=True)


@recorded
class Reduce(Operator):
    """`numpy.sum` and similar reductions."""

    name = "reduce"
    operands = ("data",)
    parameters = (Parameter("axes", None), Parameter("keepdims", False))
    kinds = reading(axes=kind.axes_or_all, keepdims=kind.truth)
    axes: tuple[int, ...] | None
    keepdims: bool

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The reduced axes; none if all are reduced and removed."""
        if self.axes is None:
            return [None if self.keepdims else ANY]
        return [reach_of(self.axes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        (dims,) = shapes
        axes = None if self.axes is None else context.distinct_axes(self.axes, len(dims), TWICE)
        return reduce(context, dims, axes, keepdims=self.keepdims)
