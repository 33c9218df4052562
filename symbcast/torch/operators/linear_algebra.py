"""Decompositions, factors, norms and equations of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from symbcast.core.algebra.arithmetic import minimum, multiply
from symbcast.core.algebra.formulas import all_of, any_of, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.products import matmul, reduce
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator

_MATRIX = "a matrix must have at least two axes"


def matrix_of(call: TorchCall, *names: str) -> Dims:
    """Return the shape of matrices; a tensor with fewer than two axes is refused."""
    dims = call.dims(*names)
    call.refuse_if(len(dims) < 2, _MATRIX)
    return dims


def square_of(call: TorchCall, *names: str) -> Dims:
    """Return the shape of matrices, which must be square."""
    dims = matrix_of(call, *names)
    call.equal(dims[-1], dims[-2], "the matrix must be square")
    return dims


@operator(
    "linalg_inv", "linalg_cholesky", "linalg_matrix_exp", "matrix_exp", "linalg_matrix_power", "matrix_power",
    "inverse", "cholesky_inverse",
)  # fmt: skip
def of_square(call: TorchCall) -> Value:
    """A square matrix computed from one of the same size."""
    return Value(square_of(call, "self", "A"))


@operator("cholesky")
def triangle_of(call: TorchCall) -> Value:
    """The triangular factor of a matrix."""
    # An empty tensor is not checked: it need not even be a matrix.
    dims = call.dims("self")
    is_square = [equal(dims[-1], dims[-2])] if len(dims) > 1 else []
    call.require(any_of([call.empty(dims), *is_square]), "the matrix must be square")
    return Value(dims)


@operator("linalg_det", "det", "logdet")
def determinant(call: TorchCall) -> Value:
    """A number for each square matrix."""
    return Value(square_of(call, "self", "A")[:-2])


@operator("linalg_slogdet", "slogdet", "_linalg_slogdet", "_linalg_det")
def signed_determinant(call: TorchCall) -> list[Value]:
    """The sign and the logarithm of each determinant, or only the determinant; the kernels add the factors."""
    dims, is_signed = square_of(call, "self", "A"), "slogdet" in call.node.op_type
    numbers = [dims[:-2]] * (2 if is_signed else 1)
    return [Value(shape) for shape in (*numbers, dims, dims[:-1])][: len(call.node.outputs)]


@operator("linalg_eigh", "linalg_eig", "_linalg_eigh")
def eigenvectors(call: TorchCall) -> list[Value]:
    """The eigenvalues of square matrices, and their vectors unless ``compute_v`` is False."""
    dims = square_of(call, "self", "A")
    return [Value(dims[:-1]), Value(dims if call.flag("compute_v", True) else (0,))]


@operator("linalg_eigvalsh", "linalg_eigvals", "_linalg_eigvals")
def eigenvalues(call: TorchCall) -> Value:
    """The eigenvalues of square matrices."""
    return Value(square_of(call, "self", "A")[:-1])


@operator("linalg_svd", "_linalg_svd")
def singular_vectors(call: TorchCall) -> list[Value]:
    """Left vectors, values and right vectors; without ``full_matrices``, as many vectors as values."""
    *batch, rows, columns = matrix_of(call, "A")
    least = minimum((rows, columns))
    is_full = call.flag("full_matrices", call.node.op_type == "aten.linalg_svd")
    if not call.flag("compute_uv", True):
        return [Value((0,)), Value((*batch, least)), Value((0,))]
    left = (*batch, rows, rows if is_full else least)
    return [Value(left), Value((*batch, least)), Value((*batch, columns if is_full else least, columns))]


@operator("svd")
def singular_vectors_in_columns(call: TorchCall) -> list[Value]:
    """Left vectors, values and right vectors, both in columns; with ``some``, as many vectors as values."""
    *batch, rows, columns = matrix_of(call, "self")
    least = minimum((rows, columns))
    is_full = not call.flag("some", True) or not call.flag("compute_uv", True)
    left, right = ((*batch, size, size if is_full else least) for size in (rows, columns))
    return [Value(left), Value((*batch, least)), Value(right)]


@operator("linalg_svdvals")
def singular_values(call: TorchCall) -> Value:
    """The singular values of matrices."""
    dims = matrix_of(call, "A")
    return Value((*dims[:-2], minimum((dims[-2], dims[-1]))))


@operator("linalg_qr")
def orthogonal(call: TorchCall) -> list[Value]:
    """An orthogonal and a triangular factor; the mode decides how many columns the first one has."""
    *batch, rows, columns = matrix_of(call, "A")
    least, mode = minimum((rows, columns)), call.argument("mode") or "reduced"
    if mode == "r":
        return [Value((0,)), Value((*batch, least, columns))]
    inner = rows if mode == "complete" else least
    return [Value((*batch, rows, inner)), Value((*batch, inner, columns))]


@operator("linalg_pinv", "pinverse")
def pseudo_inverse(call: TorchCall) -> Value:
    """The pseudo-inverse, of the transposed shape."""
    dims = matrix_of(call, "self", "A")
    return Value((*dims[:-2], dims[-1], dims[-2]))


@operator("linalg_inv_ex", "linalg_cholesky_ex")
def of_square_with_status(call: TorchCall) -> list[Value]:
    """A square matrix computed from one of the same size, and a status for each."""
    dims = square_of(call, "self", "A")
    return [Value(dims), Value(dims[:-2])]


@operator("linalg_solve", "linalg_solve_ex", "_linalg_solve_ex")
def solved(call: TorchCall) -> list[Value]:
    """The solution of a linear system; the last output, if any, is a status for each matrix."""
    solution, dims = _solution(call), call.dims("A")
    factors = [dims, dims[:-1]] if call.node.op_type == "aten._linalg_solve_ex" else []
    return [Value(shape) for shape in (solution, *factors, dims[:-2])][: len(call.node.outputs)]


def _solution(call: TorchCall) -> Dims:
    """Return the shape of a solution, for vectors if the shapes fit as such, otherwise for matrices."""
    dims, right = square_of(call, "A"), call.dims("B")
    if not call.flag("left", True):
        call.give_up("the unknown is on the left of the matrix")
    if len(right) == 1 and len(dims) > 2:
        call.give_up("a vector for several matrices")
    # Torch takes the right side for vectors if it has one axis, or the shape of the matrices without the last.
    if len(right) == len(dims) - 1:
        is_vector = call.is_known(all_of(equal(a, b) for a, b in zip(right, dims[:-1], strict=True)))
        if is_vector is None and len(right) > 1:
            call.give_up("sizes decide whether the right side holds vectors or matrices")
        if len(right) == 1 or is_vector:
            call.equal(right[-1], dims[-2], "the right side must have a number for each row")
            return (*call.broadcast(dims[:-2], right[:-1]), dims[-1])
    call.refuse_if(len(right) < 2, "the right side must be a vector or a matrix")
    call.equal(right[-2], dims[-1], "the right side must have as many rows as the matrix")
    return (*call.broadcast(dims[:-2], right[:-2]), *right[-2:])


@operator("linalg_lstsq")
def least_squares(call: TorchCall) -> list[Value]:
    """The solutions, and for the default driver no residuals, the rank of each matrix, and no singular values."""
    dims, right = matrix_of(call, "self"), call.dims("b")
    call.refuse_if(len(dims) - len(right) not in (0, 1), "the right side must have as many axes or one less")
    if call.argument("driver") not in (None, "gelsy"):
        call.give_up("its driver decides by the rank whether there are residuals")
    is_vector = len(right) < len(dims)
    if is_vector and len(dims) > 2:
        call.give_up("sizes decide whether the right side holds vectors or matrices")
    call.equal(right[-1 if is_vector else -2], dims[-2], "the right side must have as many rows as the matrix")
    columns = () if is_vector else right[-1:]
    batch = call.broadcast(dims[:-2], right[: len(right) - 1 - len(columns)])
    return [Value((*batch, dims[-1], *columns)), Value((0,)), Value(dims[:-2]), Value((0,))]


@operator("linalg_tensorinv")
def inverted(call: TorchCall) -> Value:
    """The inverse of a tensor whose first ``ind`` axes are the rows of a square matrix: its axes change places."""
    dims, first = call.dims("self"), call.number("ind", 2)
    call.refuse_if(not 0 < first <= len(dims), "there must be axes of rows")
    rows, columns = dims[:first], dims[first:]
    call.equal(multiply(*rows), multiply(*columns), "there must be as many rows as columns")
    return Value((*columns, *rows))


@operator("linalg_tensorsolve")
def solved_for_axes(call: TorchCall) -> Value:
    """The solution with the last axes of a tensor, which is a square matrix whose rows are the axes of ``other``."""
    dims, right, moved = call.dims("self"), call.dims("other"), call.numbers_of("dims") or []
    last = call.distinct_axes(moved, max(len(dims), 1), TWICE)
    call.refuse_if(len(right) > len(dims), "the tensor must have the axes of the right side")
    dims = (*_without(dims, last), *(dims[n] for n in last))
    columns, count = dims[len(right) :], multiply(*right)
    call.equal(multiply(*columns), count, "there must be a number on the right side for each unknown")
    call.equal(multiply(*dims), multiply(count, count), "there must be as many rows as columns")
    return Value(columns)


@operator("linalg_solve_triangular")
def solved_by_substitution(call: TorchCall) -> Value:
    """The solution of a triangular system; ``left`` says on which side the matrix is."""
    dims, right = square_of(call, "self"), matrix_of(call, "B")
    side = -2 if call.flag("left", True) else -1
    call.equal(right[side], dims[-1], "the right side must fit the matrix")
    return Value((*call.broadcast(dims[:-2], right[:-2]), *right[-2:]))


@operator("cholesky_solve")
def solved_by_factor(call: TorchCall) -> Value:
    """The solution of a system whose matrix is given by its Cholesky factor."""
    right, dims = matrix_of(call, "self"), square_of(call, "input2")
    call.equal(right[-2], dims[-1], "the right side must have as many rows as the factor")
    return Value((*call.broadcast(dims[:-2], right[:-2]), *right[-2:]))


@operator("linalg_cross", "cross")
def crossed(call: TorchCall) -> Value:
    """The cross product of vectors of three numbers along an axis; other axes are broadcast."""
    left, right = call.dims("self"), call.dims("other")
    call.refuse_if(len(left) != len(right), "both tensors must have the same number of axes")
    if call.node.op_type == "aten.cross" and call.argument("dim") is None:
        call.give_up("the axis is the first with three numbers")
    place = call.axis(call.number("dim", -1), len(left))
    for dims in (left, right):
        call.equal(dims[place], 3, "there must be three numbers along the axis")
    return Value(call.broadcast(left, right))


@operator("linalg_vecdot")
def dotted(call: TorchCall) -> Value:
    """The inner products along an axis of tensors that are broadcast."""
    dims = call.broadcast(call.dims("x"), call.dims("y"))
    (place,) = call.distinct_axes([call.number("dim", -1)], max(len(dims), 1), TWICE)
    return Value(reduce(call, dims, [place] if dims else (), keepdims=False))


@operator("linalg_multi_dot", "chain_matmul")
def chained(call: TorchCall) -> Value:
    """The product of several matrices; the first and the last may be vectors."""
    shapes = call.tensors("tensors") or call.tensors("matrices")
    least = 1 if call.node.op_type == "aten.chain_matmul" else 2
    ends = (2,) if least == 1 else (1, 2)
    call.refuse_if(len(shapes) < least or any(len(s) != 2 for s in shapes[1:-1]), "the tensors must be matrices")
    if len(shapes[0]) not in ends or len(shapes[-1]) not in ends:
        call.refuse("the first and the last tensor must be matrices or vectors")
    product = shapes[0]
    for dims in shapes[1:]:
        product = matmul(call, product, dims)
    return Value(product)


@operator("trace")
def matrix_trace(call: TorchCall) -> Value:
    """The sum of a matrix's diagonal."""
    call.refuse_if(len(call.dims("self")) != 2, "the tensor must be a matrix")
    return Value(())


@operator("tensordot")
def contracted(call: TorchCall) -> Value:
    """The sum over pairs of axes."""
    left, right = call.dims("self"), call.dims("other")
    first, second = (call.numbers_of(name) or [] for name in ("dims_self", "dims_other"))
    call.refuse_if(len(first) != len(second), "both tensors must have the same number of contracted axes")
    one = call.distinct_axes(first, max(len(left), 1), TWICE)
    other = call.distinct_axes(second, max(len(right), 1), TWICE)
    for a, b in zip(one, other, strict=True):
        # The axes must be equal, or one of them 1; a scalar has none to compare.
        if left and right:
            call.broadcast((left[a],), (right[b],))
    return Value((*_without(left, one), *_without(right, other)))


def _without(dims: Dims, places: list[int]) -> Dims:
    return tuple(d for n, d in enumerate(dims) if n not in places)


# Factors of matrices, and norms and ranks that are computed from them.


@operator("linalg_lu_factor", "linalg_lu_factor_ex", "geqrf")
def packed_triangles(call: TorchCall) -> list[Value]:
    """Both triangles in one matrix, the row exchanges or the scales of reflections, and for ``_ex`` a status."""
    *batch, rows, columns = dims = matrix_of(call, "self", "A")
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


@operator("linalg_householder_product", "orgqr")
def orthogonal_of(call: TorchCall) -> Value:
    """The orthogonal matrix of reflections, at most as many as there are columns."""
    dims, scales = matrix_of(call, "input", "self"), call.dims("tau", "input2")
    call.refuse_if(len(scales) != len(dims) - 1, "there must be one scale for each reflection")
    call.at_most(dims[-1], dims[-2], "the matrix must have at least as many rows as columns")
    call.at_most(scales[-1], dims[-1], "there must be at most as many reflections as columns")
    call.same_shape(scales[:-1], dims[:-2], "both must have the same leading axes")
    return Value(dims)


@operator("linalg_norm", "linalg_matrix_norm")
def norm(call: TorchCall) -> Value:
    """The norm of vectors or matrices; without an order and axes, that of all elements."""
    dims, order, axes = call.dims("self"), call.argument("ord"), call.numbers_of("dim")
    if call.node.op_type.endswith("matrix_norm"):
        order, axes = order or "fro", axes or [-2, -1]
        call.refuse_if(len(dims) < 2 or len(axes) != 2, _MATRIX)
    places = None if axes is None else call.distinct_axes(axes, max(len(dims), 1), TWICE)
    call.refuse_if(places is not None and (not places or len(places) > 2), "there must be one or two axes")
    if order is not None and places is None:
        call.refuse_if(len(dims) not in (1, 2), "without axes, the tensor must be a vector or a matrix")
        places = list(range(len(dims)))
    if order is None or places is None or len(places) == 1:
        _fill(call, order, [dims[p] for p in places or ()] if dims else [])
        return Value(reduce(call, dims, places if dims else [], keepdims=call.flag("keepdim")))
    call.refuse_if(len(dims) < 2, "a matrix must have at least two axes")
    _check_order(call, order, (dims[places[0]], dims[places[1]]))
    return Value(reduce(call, dims, places, keepdims=call.flag("keepdim")))


def _fill(call: TorchCall, order: object, sizes: Sequence[Dim]) -> None:
    call.refuse_if(isinstance(order, str), "a vector has no such norm")
    if isinstance(order, (int, float)) and (order < 0 or order == inf):
        call.filled(sizes, "this norm is not defined without elements")


def _check_order(call: TorchCall, order: object, sizes: Dims) -> None:
    """Refuse an order that no matrix has, and sizes for which the least sum or singular value is not defined."""
    if order in ("fro", "nuc"):
        return
    if isinstance(order, str) or not isinstance(order, (int, float)) or abs(order) not in (1, 2, inf):
        call.refuse("a matrix has no such norm")
    # The least of no singular values, and of no sums, is not defined.
    if order == -2:
        call.at_most(1, minimum(sizes), "there must be singular values")
    elif order < 0:
        call.at_most(1, sizes[1 if order == -1 else 0], "there must be sums to compare")


@operator("linalg_cond")
def condition_number(call: TorchCall) -> Value:
    """How much a matrix amplifies errors."""
    order, dims = call.argument("p"), matrix_of(call, "self")
    # By default and for 2 and -2 it is a quotient of singular values; else norms of a square matrix and its inverse.
    if order not in (None, 2, -2):
        square = equal(dims[-1], dims[-2])
        call.require(any_of([call.empty(dims), square]), "the matrix must be square")
    return Value(dims[:-2])


@operator("linalg_matrix_rank")
def rank(call: TorchCall) -> Value:
    """The rank of each matrix."""
    dims = matrix_of(call, "self", "input")
    for name in ("atol", "rtol", "tol"):
        if isinstance(call.argument(name), Value):
            call.give_up("a tolerance for each matrix")
    return Value(dims[:-2])


@operator("linalg_ldl_factor", "linalg_ldl_factor_ex")
def symmetric_factor(call: TorchCall) -> list[Value]:
    """The factors of a symmetric matrix in one matrix, the row exchanges, and for ``_ex`` a status."""
    dims = square_of(call, "self")
    return [Value(dims), Value(dims[:-1]), Value(dims[:-2])][: len(call.node.outputs)]


@operator("linalg_ldl_solve")
def solved_by_symmetric_factor(call: TorchCall) -> Value:
    """The solutions of linear equations, given the factors of their symmetric matrices."""
    dims, columns = square_of(call, "LD"), matrix_of(call, "B")
    call.same_shape(call.dims("pivots"), dims[:-1], "there must be one row exchange for each row")
    call.equal(columns[-2], dims[-1], "both sides must have equally many rows")
    # Torch accepts right sides with a larger batch than the matrices too, and writes out of bounds.
    call.broadcast(columns[:-2], dims[:-2], rule="unidirectional")
    return Value((*dims[:-2], *columns[-2:]))
