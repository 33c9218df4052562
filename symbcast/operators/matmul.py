"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def matmul(context: Context, left: Dims, right: Dims) -> Dims:
    """Return the shape of a product of stacks of matrices, as in ``numpy.matmul``.

    The last size of ``left`` must equal the second to last of ``right``; the axes before the last two are broadcast. A
    vector is a row on the left or a column on the right, and its axis is removed from the output.
    """
    if not left or not right:
        context.refuse("a matrix product needs operands of one axis or more")
    a = (1, *left) if len(left) == 1 else left
    b = (*right, 1) if len(right) == 1 else right
    inner_product(context, a[-1], b[-2])
    if len(right) == 1 and len(left) > 1:
        return left[:-1]
    stack = context.broadcast(a[:-2], b[:-2]) if len(a) > 2 or len(b) > 2 else ()
    rows = () if len(left) == 1 else (a[-2],)
    return (*stack, *rows, *right[1:][-1:])


def inner_product(context: Context, left: Dim, right: Dim) -> None:
    """Require that the sizes summed over be equal."""
    context.equal(left, right, "the last size of one matrix must equal the second to last of the other")


def matrix_product(context: Context, left: Dims, right: Dims, *, flip_left: bool, flip_right: bool) -> Dims:
    """Return the shape of a product of two matrices, each transposed first if its flag is set."""
    rows, inner = left[::-1] if flip_left else left
    same, columns = right[::-1] if flip_right else right
    context.equal(inner, same, "the inner sizes of A and B must be equal")
    return rows, columns
