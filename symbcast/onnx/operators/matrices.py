"""Matrix products, and Einsum."""

from __future__ import annotations

from symbcast.onnx.differences import MATMUL_BATCHES
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.operators.expected_shapes import known_shape
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.matmul import joined_batch, refuse_no_rows
from symbcast.onnx.values.value import Dims, Value
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import matmul
from symbcast.operators.matmul import matrix_product as product_of_two


def matrix_product(call: NodeCall, left: Dims, right: Dims) -> Dims:
    """Return the shape of a product of matrices, as ``numpy.matmul`` has it: batch axes are broadcast together."""
    if not call.does(MATMUL_BATCHES):
        return matmul(call, left, right)
    product = matmul(call, left, right, lambda _, a, b: joined_batch(call, a, b))
    if len(right) == 1 < len(left):
        refuse_no_rows(call, left[:-1])
    return product


@operator("MatMul")
def matmul_(call: NodeCall) -> Value:
    """A product of matrices, batch axes broadcast."""
    return Value(matrix_product(call, call.shape(0), call.shape(1)), call.dtype() or call.dtype(1))


@operator("Gemm")
def gemm(call: NodeCall) -> Value:
    """A product of two matrices, and a third one broadcast onto it, one way."""
    return Value(gemm_product(call, 0, 1, 2), call.dtype() or call.dtype(1))


def gemm_product(call: NodeCall, left: int, right: int, bias: int) -> Dims:
    """Return the shape of a product of two matrices, each transposed if an attribute says so; a bias fits it."""
    a, b = call.rank(left, (2,), "A"), call.rank(right, (2,), "B")
    flipped = bool(call.integer("transA")), bool(call.integer("transB"))
    shape = product_of_two(call, a, b, flip_left=flipped[0], flip_right=flipped[1])
    added = known_shape(call, bias, "what is added")
    if added is not None:
        is_legacy = call.node.op_type == "Gemm" and call.version < 7
        is_equal = is_legacy and not call.integer("broadcast")
        call.broadcast(added, shape, rule="none" if is_equal else "unidirectional")
    return shape


@operator("Einsum")
def einsum_(call: NodeCall) -> Value:
    """Each letter is one size; letters that the output leaves out are summed over, ``...`` is broadcast."""
    shapes = [call.shape(n) for n in range(len(call.inputs))]
    return Value(einsum(call, call.text("equation"), shapes), call.dtype())
