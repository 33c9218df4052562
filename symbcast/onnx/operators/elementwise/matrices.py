"""Matrix products, and Einsum."""

from __future__ import annotations

from symbcast.graphs.operators.expected_shapes import known_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.operators.context import Dims
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import matmul, matrix_product


@operator("MatMul")
def matmul_(call: NodeCall) -> Value:
    """A product of matrices, batch axes broadcast."""
    return Value(matmul(call, call.shape(0), call.shape(1)), call.dtype() or call.dtype(1))


@operator("Gemm")
def gemm(call: NodeCall) -> Value:
    """A product of two matrices, and a third one broadcast onto it, one way."""
    return Value(gemm_product(call, 0, 1, 2), call.dtype() or call.dtype(1))


def gemm_product(call: NodeCall, left: int, right: int, bias: int) -> Dims:
    """Return the shape of a product of two matrices, each transposed if an attribute says so; a bias fits it."""
    a, b = call.rank(left, (2,), "A"), call.rank(right, (2,), "B")
    flipped = bool(call.integer("transA")), bool(call.integer("transB"))
    shape = matrix_product(call, a, b, flip_left=flipped[0], flip_right=flipped[1])
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
