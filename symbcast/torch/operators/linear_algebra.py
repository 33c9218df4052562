"""Decompositions, factors, norms and equations of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from symbcast.core.algebra.arithmetic import add, minimum, multiply
from symbcast.core.algebra.formulas import Formula, all_of, any_of, at_most, equal, negate
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


def shaped(call: TorchCall, dims: Dims, form: str) -> list[Value]:
    """Return the outputs of an operator on matrices (m, n), by the axes of each after the batch.

    ``k`` is the smaller of m and n, ``.`` stands for a number for each matrix, and 0 for an empty vector.
    """
    *batch, rows, columns = dims
    sizes = {"m": [rows], "n": [columns], "k": [minimum((rows, columns))], ".": []}
    shapes = (
        (0,) if part == "0" else (*batch, *(d for axis in part.split() for d in sizes[axis]))
        for part in form.split(", ")
    )
    return [Value(shape) for shape in shapes][: len(call.node.outputs)]


# What operators make of square matrices (n, n), and of any (m, n).
_OF_SQUARE = {
    "n n": (
        "linalg_inv", "linalg_cholesky", "linalg_matrix_exp", "matrix_exp", "linalg_matrix_power", "matrix_power",
        "inverse", "cholesky_inverse",
    ),
    ".": ("linalg_det", "det", "logdet"),
    "., n n, n": ("_linalg_det",),
    "., ., n n, n": ("linalg_slogdet", "slogdet", "_linalg_slogdet"),
    "n": ("linalg_eigvalsh", "linalg_eigvals", "_linalg_eigvals"),
    "n n, .": ("linalg_inv_ex", "linalg_cholesky_ex"),
    "n n, n, .": ("linalg_ldl_factor", "linalg_ldl_factor_ex"),
}  # fmt: skip
_OF_ANY = {
    "k": ("linalg_svdvals",),
    "n m": ("linalg_pinv", "pinverse"),
    "m n, k, .": ("linalg_lu_factor", "linalg_lu_factor_ex", "geqrf"),
}
_FORMS = {f"aten.{name}": form for forms in (_OF_SQUARE, _OF_ANY) for form, names in forms.items() for name in names}


@operator(*_FORMS)
def of_matrices(call: TorchCall) -> list[Value]:
    """What is computed from matrices alone."""
    form = _FORMS[call.node.op_type]
    return shaped(call, (square_of if form in _OF_SQUARE else matrix_of)(call, "self", "A"), form)


@operator("cholesky")
def triangle_of(call: TorchCall) -> Value:
    """The triangular factor of a matrix."""
    # An empty tensor is not checked: it need not even be a matrix.
    dims = call.dims("self")
    is_square = [equal(dims[-1], dims[-2])] if len(dims) > 1 else []
    call.require(any_of([call.empty(dims), *is_square]), "the matrix must be square")
    return Value(dims)


@operator("linalg_eigh", "linalg_eig", "_linalg_eigh")
def eigenvectors(call: TorchCall) -> list[Value]:
    """The eigenvalues of square matrices, and their vectors unless ``compute_v`` is False."""
    return shaped(call, square_of(call, "self", "A"), "n, n n" if call.flag("compute_v", True) else "n, 0")


@operator("linalg_svd", "_linalg_svd")
def singular_vectors(call: TorchCall) -> list[Value]:
    """Left vectors, values and right vectors; without ``full_matrices``, as many vectors as values."""
    is_full = call.flag("full_matrices", call.node.op_type == "aten.linalg_svd")
    form = "m m, k, n n" if is_full else "m k, k, k n"
    return shaped(call, matrix_of(call, "A"), form if call.flag("compute_uv", True) else "0, k, 0")


@operator("svd")
def singular_vectors_in_columns(call: TorchCall) -> list[Value]:
    """Left vectors, values and right vectors, both in columns; with ``some``, as many vectors as values."""
    is_full = not call.flag("some", True) or not call.flag("compute_uv", True)
    return shaped(call, matrix_of(call, "self"), "m m, k, n n" if is_full else "m k, k, n k")


@operator("linalg_qr")
def orthogonal(call: TorchCall) -> list[Value]:
    """An orthogonal and a triangular factor; the mode decides how many columns the first one has."""
    forms = {"r": "0, k n", "complete": "m m, m n"}
    return shaped(call, matrix_of(call, "A"), forms.get(call.argument("mode"), "m k, k n"))


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
    if _holds_vectors(call, dims, right):
        call.equal(right[-1], dims[-2], "the right side must have a number for each row")
        return (*call.broadcast(dims[:-2], right[:-1]), dims[-1])
    call.refuse_if(len(right) < 2, "the right side must be a vector or a matrix")
    call.equal(right[-2], dims[-1], "the right side must have as many rows as the matrix")
    return (*call.broadcast(dims[:-2], right[:-2]), *right[-2:])


def _holds_vectors(call: TorchCall, dims: Dims, right: Dims) -> bool:
    """Return whether a right side holds vectors: it has one axis, or the shape of the matrices without the last."""
    if len(right) != len(dims) - 1 or len(right) == 1:
        return len(right) == 1
    are_alike = all_of(equal(a, b) for a, b in zip(right, dims[:-1], strict=True))
    is_of_vectors = _decided(call, are_alike)
    if is_of_vectors is None:
        # The solutions of a graph have one rank: that of the right side.
        solution = call.node.raw.meta["val"]
        is_of_vectors = len((solution[0] if isinstance(solution, (tuple, list)) else solution).shape) < len(dims)
        what = "vectors" if is_of_vectors else "matrices"
        call.require(are_alike if is_of_vectors else negate(are_alike), f"the exported graph solves for {what}")
    return is_of_vectors


def _decided(call: TorchCall, formula: Formula) -> bool | None:
    """Return whether a formula is known to hold or to fail; a run of code decides it for its path."""
    known = call.is_known(formula)
    if known is not None or call.scope is not None:
        return known
    chosen = call.asker.by_cases("choice", f"a choice [{call.place.name}]", formula, 1, 0)
    return bool(chosen) if isinstance(chosen, int) else call.give_up("sizes decide the rank of what comes out")


@operator("linalg_lstsq")
def least_squares(call: TorchCall) -> list[Value]:
    """The solutions, the residuals, the rank of each matrix, and no singular values, as the driver computes them."""
    dims, right, driver = matrix_of(call, "self"), call.dims("b"), call.argument("driver") or "gelsy"
    call.refuse_if(len(dims) - len(right) not in (0, 1), "the right side must have as many axes or one less")
    if driver not in ("gelsy", "gels"):
        call.give_up("its driver decides by the rank whether there are residuals")
    is_of_vectors = _holds_vectors(call, dims, right)
    call.equal(right[-1 if is_of_vectors else -2], dims[-2], "the right side must have as many rows as the matrix")
    columns = () if is_of_vectors else right[-1:]
    # Torch takes the first axes for the batch, even if one of them holds the rows.
    batch = call.broadcast(dims[:-2], right[: len(dims) - 2])
    shapes = [(*batch, dims[-1], *columns), (0,), dims[:-2], (0,)]
    if driver == "gels":
        shapes[1:3] = [_residuals(call, dims, (*batch, *(columns or (1,)))), (0,)]
    return [Value(shape) for shape in shapes]


def _residuals(call: TorchCall, dims: Dims, each: Dims) -> Dims:
    """Return the shape of residuals, which only matrices with more rows than columns have."""
    is_tall = _decided(call, at_most(add(dims[-1], 1), dims[-2]))
    if is_tall is None:
        call.give_up("sizes decide whether there are residuals")
    return each if is_tall else (0,)


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


@operator("linalg_lu")
def triangles(call: TorchCall) -> list[Value]:
    """A permutation, a lower and an upper triangle."""
    dims, is_pivoted = matrix_of(call, "A"), call.flag("pivot", True)
    if not is_pivoted:
        call.require(call.empty(dims), "torch exchanges rows on the CPU: pivot must be True")
    return shaped(call, dims, "m m, m k, k n" if is_pivoted else "0, m k, k n")


@operator("lu_unpack")
def unpacked_triangles(call: TorchCall) -> list[Value]:
    """A permutation, a lower and an upper triangle of both triangles in one matrix."""
    dims, has_pivots = matrix_of(call, "LU_data"), call.flag("unpack_pivots", True)
    if has_pivots:
        least = (*dims[:-2], minimum(dims[-2:]))
        call.same_shape(call.dims("LU_pivots"), least, "there must be one row exchange for each diagonal element")
    data = "m k, k n" if call.flag("unpack_data", True) else "0, 0"
    return shaped(call, dims, f"{'m m' if has_pivots else '0'}, {data}")


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


@operator("linalg_ldl_solve")
def solved_by_symmetric_factor(call: TorchCall) -> Value:
    """The solutions of linear equations, given the factors of their symmetric matrices."""
    dims, columns = square_of(call, "LD"), matrix_of(call, "B")
    call.same_shape(call.dims("pivots"), dims[:-1], "there must be one row exchange for each row")
    call.equal(columns[-2], dims[-1], "both sides must have equally many rows")
    # Torch accepts right sides with a larger batch than the matrices too, and writes out of bounds.
    call.broadcast(columns[:-2], dims[:-2], rule="unidirectional")
    return Value((*dims[:-2], *columns[-2:]))
