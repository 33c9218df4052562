"""Decompositions, norms and equations of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import minimum
from symbcast.core.logic.formulas import all_of, any_of, equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.matmul import matmul
from symbcast.operators.reductions import reduce
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall

_MATRIX = "a matrix must have at least two axes"


def matrix_of(call: TorchCall, *names: str) -> Dims:
    """Return the shape of matrices; a tensor with fewer than two axes is refused."""
    dims = call.dims(*names)
    if len(dims) < 2:
        call.refuse(_MATRIX)
    return dims


def square_of(call: TorchCall, *names: str) -> Dims:
    """Return the shape of matrices, which must be square."""
    dims = matrix_of(call, *names)
    call.equal(dims[-1], dims[-2], "the matrix must be square")
    return dims


@operator(
    "linalg_inv",
    "linalg_cholesky",
    "linalg_matrix_exp",
    "matrix_exp",
    "linalg_matrix_power",
    "matrix_power",
    "inverse",
)
def of_square(call: TorchCall) -> Value:
    """A square matrix computed from one of the same size."""
    return Value(square_of(call, "self", "A"))


@operator("cholesky")
def triangle_of(call: TorchCall) -> Value:
    """The triangular factor of a matrix, which must be square unless it is empty."""
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
    found = [dims[:-2]] * (2 if is_signed else 1)
    return [Value(shape) for shape in (*found, dims, dims[:-1])][: len(call.node.outputs)]


@operator("linalg_eigh", "linalg_eig")
def eigenvectors(call: TorchCall) -> list[Value]:
    """The eigenvalues of square matrices, and their vectors."""
    dims = square_of(call, "self", "A")
    return [Value(dims[:-1]), Value(dims)]


@operator("_linalg_eigh")
def eigenvectors_if_asked(call: TorchCall) -> list[Value]:
    """The eigenvalues of symmetric matrices, and their vectors unless ``compute_v`` is False."""
    dims = square_of(call, "A")
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
    least, mode = minimum((rows, columns)), call.given("mode") or "reduced"
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
    found, dims = _solution(call), call.dims("A")
    factors = [dims, dims[:-1]] if call.node.op_type == "aten._linalg_solve_ex" else []
    return [Value(shape) for shape in (found, *factors, dims[:-2])][: len(call.node.outputs)]


def _solution(call: TorchCall) -> Dims:
    """Return the shape of a solution, for vectors if the shapes fit as such, otherwise for matrices."""
    dims, given = square_of(call, "A"), call.dims("B")
    if not call.flag("left", True):
        call.give_up("the unknown is on the left of the matrix")
    if len(given) == 1 and len(dims) > 2:
        call.give_up("a vector for several matrices")
    if len(given) == len(dims) - 1:
        is_vector = call.is_known(all_of(equal(a, b) for a, b in zip(given, dims[:-1], strict=True)))
        if is_vector is None and len(given) > 1:
            call.give_up("sizes decide whether the right side holds vectors or matrices")
        if len(given) == 1 or is_vector:
            call.equal(given[-1], dims[-2], "the right side must have a number for each row")
            return (*call.broadcast(dims[:-2], given[:-1]), dims[-1])
    if len(given) < 2:
        call.refuse("the right side must be a vector or a matrix")
    call.equal(given[-2], dims[-1], "the right side must have as many rows as the matrix")
    return (*call.broadcast(dims[:-2], given[:-2]), *given[-2:])


@operator("linalg_solve_triangular")
def solved_by_substitution(call: TorchCall) -> Value:
    """The solution of a triangular system; ``left`` says on which side the matrix is."""
    dims, given = square_of(call, "self"), matrix_of(call, "B")
    side = -2 if call.flag("left", True) else -1
    call.equal(given[side], dims[-1], "the right side must fit the matrix")
    return Value((*call.broadcast(dims[:-2], given[:-2]), *given[-2:]))


@operator("cholesky_solve")
def solved_by_factor(call: TorchCall) -> Value:
    """The solution of a system whose matrix is given by its Cholesky factor."""
    given, dims = matrix_of(call, "self"), square_of(call, "input2")
    call.equal(given[-2], dims[-1], "the right side must have as many rows as the factor")
    return Value((*call.broadcast(dims[:-2], given[:-2]), *given[-2:]))


@operator("linalg_cross", "cross")
def crossed(call: TorchCall) -> Value:
    """The cross product of vectors of three numbers along an axis; other axes are broadcast."""
    left, right = call.dims("self"), call.dims("other")
    if len(left) != len(right):
        call.refuse("both tensors must have the same number of axes")
    if call.node.op_type == "aten.cross" and call.given("dim") is None:
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
    if len(shapes) < least or any(len(s) != 2 for s in shapes[1:-1]):
        call.refuse("the tensors must be matrices")
    if len(shapes[0]) not in ends or len(shapes[-1]) not in ends:
        call.refuse("the first and the last tensor must be matrices or vectors")
    found = shapes[0]
    for dims in shapes[1:]:
        found = matmul(call, found, dims)
    return Value(found)


@operator("linalg_matrix_norm")
def matrix_norm(call: TorchCall) -> Value:
    """A norm over two axes."""
    dims, order = call.dims("self"), call.given("ord")
    axes = call.numbers_of("dim") or [-2, -1]
    if len(dims) < 2 or len(axes) != 2:
        call.refuse(_MATRIX)
    places = call.distinct_axes(axes, len(dims), TWICE)
    if order not in (None, "fro", "nuc"):
        call.give_up("a norm that needs elements")
    return Value(reduce(call, dims, places, keepdims=call.flag("keepdim")))


@operator("trace")
def trace(call: TorchCall) -> Value:
    """The sum of a matrix's diagonal."""
    if len(call.dims("self")) != 2:
        call.refuse("the tensor must be a matrix")
    return Value(())


@operator("tensordot")
def contracted(call: TorchCall) -> Value:
    """The sum over pairs of axes, which must be equal, or one of them 1."""
    left, right = call.dims("self"), call.dims("other")
    first, second = (call.numbers_of(name) or [] for name in ("dims_self", "dims_other"))
    if len(first) != len(second):
        call.refuse("both tensors must have the same number of contracted axes")
    one = call.distinct_axes(first, max(len(left), 1), TWICE)
    other = call.distinct_axes(second, max(len(right), 1), TWICE)
    for a, b in zip(one, other, strict=True):
        if left and right:
            call.broadcast((left[a],), (right[b],))
    return Value((*_without(left, one), *_without(right, other)))


def _without(dims: Dims, places: list[int]) -> Dims:
    return tuple(d for n, d in enumerate(dims) if n not in places)
