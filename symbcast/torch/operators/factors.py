"""Factors of matrices, and norms and ranks that are computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import minimum
from symbcast.core.logic.formulas import any_of, equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.reductions import reduce
from symbcast.torch.operators.linear_algebra import matrix_of, square_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator("linalg_lu_factor", "linalg_lu_factor_ex")
def packed_triangles(call: TorchCall) -> list[Value]:
    """Both triangles in one matrix, the row exchanges, and for ``_ex`` a status."""
    *batch, rows, columns = dims = matrix_of(call, "A")
    return [Value(dims), Value((*batch, minimum((rows, columns)))), Value(tuple(batch))][: len(call.node.outputs)]


@operator("linalg_lu")
def triangles(call: TorchCall) -> list[Value]:
    """A permutation, a lower and an upper triangle."""
    *batch, rows, columns = dims = matrix_of(call, "A")
    least = minimum((rows, columns))
    if not call.flag("pivot", True):
        call.require(call.empty(dims), "torch exchanges rows on the CPU: pivot must be True")
    left = (*batch, rows, rows) if call.flag("pivot", True) else (0,)
    return [Value(left), Value((*batch, rows, least)), Value((*batch, least, columns))]


@operator("lu_unpack")
def unpacked_triangles(call: TorchCall) -> list[Value]:
    """A permutation, a lower and an upper triangle of both triangles in one matrix."""
    *batch, rows, columns = dims = matrix_of(call, "LU_data")
    least = minimum((rows, columns))
    pivots = call.dims("LU_pivots")
    if call.flag("unpack_pivots", True):
        call.same_shape(pivots, (*batch, least), "there must be one row exchange for each diagonal element")
    permutation = (*batch, rows, rows) if call.flag("unpack_pivots", True) else (0,)
    if not call.flag("unpack_data", True):
        return [Value(permutation), Value((0,)), Value((0,))]
    return [Value(permutation), Value((*dims[:-1], least)), Value((*batch, least, columns))]


@operator("cholesky_inverse")
def inverse_of_triangle(call: TorchCall) -> Value:
    """The inverse of a matrix by its triangle."""
    return Value(square_of(call, "self"))


@operator("linalg_householder_product", "orgqr")
def orthogonal_of(call: TorchCall) -> Value:
    """The orthogonal matrix of reflections, at most as many as there are columns."""
    dims, scales = matrix_of(call, "input", "self"), call.dims("tau", "input2")
    if len(scales) != len(dims) - 1:
        call.refuse("there must be one scale for each reflection")
    call.at_most(dims[-1], dims[-2], "the matrix must have at least as many rows as columns")
    call.at_most(scales[-1], dims[-1], "there must be at most as many reflections as columns")
    call.same_shape(scales[:-1], dims[:-2], "both must have the same leading axes")
    return Value(dims)


@operator("geqrf")
def reflections(call: TorchCall) -> list[Value]:
    """The reflections of a QR factorisation, and their scales."""
    *batch, rows, columns = dims = matrix_of(call, "self")
    return [Value(dims), Value((*batch, minimum((rows, columns))))]


@operator("linalg_norm")
def norm(call: TorchCall) -> Value:
    """The norm of vectors or matrices; without an order and axes, that of all elements."""
    dims, order = call.dims("self"), call.given("ord")
    axes = call.numbers_of("dim")
    places = None if axes is None else call.distinct_axes(axes, max(len(dims), 1), TWICE)
    if places is not None and (not places or len(places) > 2):
        call.refuse("there must be one or two axes")
    if order is not None and places is None:
        if len(dims) not in (1, 2):
            call.refuse("without axes, the tensor must be a vector or a matrix")
        places = list(range(len(dims)))
    if order is None or places is None or len(places) == 1:
        _fill(call, order, [dims[p] for p in places or ()] if dims else [])
        return Value(reduce(call, dims, places if dims else [], keepdims=call.flag("keepdim")))
    if len(dims) < 2:
        call.refuse("a matrix must have at least two axes")
    _check_order(call, order, (dims[places[0]], dims[places[1]]))
    return Value(reduce(call, dims, places, keepdims=call.flag("keepdim")))


def _fill(call: TorchCall, order: object, sizes: Sequence[Dim]) -> None:
    if isinstance(order, str):
        call.refuse("a vector has no such norm")
    if isinstance(order, (int, float)) and (order < 0 or order == inf):
        for size in sizes:
            call.at_most(1, size, "this norm is not defined without elements")


def _check_order(call: TorchCall, order: object, sizes: Dims) -> None:
    """Refuse an order that no matrix has, and sizes for which the least sum or singular value is not defined."""
    if order in ("fro", "nuc"):
        return
    if isinstance(order, str) or not isinstance(order, (int, float)) or abs(order) not in (1, 2, inf):
        call.refuse("a matrix has no such norm")
    if order == -2:
        call.at_most(1, minimum(sizes), "there must be singular values")
    elif order < 0:
        call.at_most(1, sizes[1 if order == -1 else 0], "there must be sums to compare")


@operator("linalg_cond")
def condition_number(call: TorchCall) -> Value:
    """How much a matrix amplifies errors: by singular values, or by norms of a square matrix and its inverse."""
    order, dims = call.given("p"), matrix_of(call, "self")
    if order not in (None, 2, -2):
        square = equal(dims[-1], dims[-2])
        call.require(any_of([call.empty(dims), square]), "the matrix must be square")
    return Value(dims[:-2])


@operator("linalg_matrix_rank")
def rank(call: TorchCall) -> Value:
    """The rank of each matrix."""
    dims = matrix_of(call, "self", "input")
    for name in ("atol", "rtol", "tol"):
        if isinstance(call.given(name), Value):
            call.give_up("a tolerance for each matrix")
    return Value(dims[:-2])


@operator("linalg_ldl_factor", "linalg_ldl_factor_ex")
def symmetric_factor(call: TorchCall) -> list[Value]:
    """The factors of a symmetric matrix in one matrix, the row exchanges, and for ``_ex`` a status."""
    dims = square_of(call, "self")
    return [Value(dims), Value(dims[:-1]), Value(dims[:-2])][: len(call.node.outputs)]


@operator("linalg_ldl_solve")
def solved_by_symmetric_factor(call: TorchCall) -> Value:
    """The solutions of linear equations, given the factors of their symmetric matrices.

    The right sides are broadcast to the batch of the matrices. Torch accepts a larger batch too, and writes out of
    bounds.
    """
    dims, columns = square_of(call, "LD"), matrix_of(call, "B")
    call.same_shape(call.dims("pivots"), dims[:-1], "there must be one row exchange for each row")
    call.equal(columns[-2], dims[-1], "both sides must have equally many rows")
    call.broadcast(columns[:-2], dims[:-2], rule="unidirectional")
    return Value((*dims[:-2], *columns[-2:]))
