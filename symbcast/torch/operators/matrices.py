"""Matrix products, and what normalises along axes with weights for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.logic.formulas import equal
from symbcast.onnx.values.value import Value
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import inner_product, matmul
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.onnx.values.value import Dims
    from symbcast.torch.node_call import TorchCall

_SAME = "the sizes must be equal: they are not broadcast here"


@operator("matmul", "linalg_matmul", "__matmul__")
def multiplied(call: TorchCall) -> Value:
    """A product of stacks of matrices, as NumPy has it."""
    return Value(matmul(call, call.dims("self"), call.dims("other")))


@operator("mm", "bmm", "dot", "mv", "vdot", "inner")
def plain(call: TorchCall) -> Value:
    """A product of matrices or vectors, of stacks as high, whose ranks are what they must be."""
    left, right = call.dims("self"), call.dims("mat2", "vec2", "vec", "tensor", "other")
    return Value(_product(call, left, right))


def _product(call: TorchCall, left: Dims, right: Dims) -> Dims:
    if len(left) == 3:
        call.equal(left[0], right[0], _SAME)
        inner_product(call, left[2], right[1])
        return left[0], left[1], right[2]
    return matmul(call, left, right)


@operator("addmm", "baddbmm", "addmv", "addbmm")
def added(call: TorchCall) -> Value:
    """A product to which something is added that is broadcast to it."""
    names = ("mat1", "batch1", "mat"), ("mat2", "batch2", "vec")
    found = _product(call, call.dims(*names[0]), call.dims(*names[1]))
    found = found[1:] if call.node.op_type == "aten.addbmm" else found
    call.broadcast(call.dims("self"), found, rule="unidirectional")
    return Value(found)


@operator("outer", "ger")
def outer(call: TorchCall) -> Value:
    """All products of the elements of two vectors."""
    return Value((*call.dims("self"), *call.dims("vec2")))


@operator("linear")
def linear(call: TorchCall) -> Value:
    """The last axis times weights (out, in), and a bias (out,)."""
    dims, weights = call.dims("input"), call.dims("weight")
    if not dims:
        call.refuse("it must have an axis")
    call.equal(dims[-1], weights[-1], "the last size must be that of the weights")
    found = (*dims[:-1], *weights[:-1])
    bias = call.maybe_dims("bias")
    if bias is not None:
        call.broadcast(bias, found, rule="unidirectional")
    return Value(found)


@operator("einsum")
def summed(call: TorchCall) -> Value:
    """A sum over letters, in Einstein's notation."""
    return Value(einsum(call, str(call.given("equation")), call.tensors("tensors"), aligns_ellipses=True))


@operator("layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm")
def normalised(call: TorchCall) -> list[Value]:
    """The last axes must be those that are normalised; what is returned besides has size 1 in their stead."""
    dims, last = call.dims("input"), call.known_sizes("normalized_shape")
    first = len(dims) - len(last)
    if first < 0:
        call.refuse(f"it must have {len(last)} axes at least")
    for found, wanted in zip(dims[first:], last, strict=True):
        call.equal(found, wanted, "the last sizes must be those that are normalised")
    kept = (*dims[:first], *((1,) * len(last)))
    return [Value(dims), Value(kept), Value(kept)][: len(call.node.output)]


@operator("group_norm", "native_group_norm")
def grouped(call: TorchCall) -> list[Value]:
    """The channels are in groups of one size; weights and bias have one number for each channel."""
    dims = call.dims("input")
    groups = call.number("num_groups" if call.given("num_groups") is not None else "group")
    if len(dims) < 2:
        call.refuse("it must have a batch and channels")
    call.require(equal(modulo(dims[1], groups), 0), f"the channels must be a multiple of the {groups} groups")
    _one_for_each_channel(call, dims)
    return [Value(dims), *[Value((dims[0], groups))] * 2][: len(call.node.output)]


@operator(
    "batch_norm",
    "instance_norm",
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_native_batch_norm_legit_functional",
    "_batch_norm_with_update_functional",
)
def batch_normalised(call: TorchCall) -> list[Value]:
    """Weights, bias, mean and variance have one number for each channel."""
    dims, count = call.dims("input"), len(call.node.output)
    if len(dims) < 2:
        call.refuse("it must have a batch and channels")
    _one_for_each_channel(call, dims)
    if call.flag("training") or call.flag("use_input_stats") or count > 3:
        return list(call.recorded())
    return [Value(dims), Value((0,)), Value((0,))][:count]


def _one_for_each_channel(call: TorchCall, dims: Dims) -> None:
    for name in ("weight", "bias", "running_mean", "running_var"):
        given = call.maybe_dims(name)
        if given:
            call.equal(given[0], dims[1], f"the {name.replace('_', ' ')} must have one number for each channel")


@operator("glu")
def gated(call: TorchCall) -> Value:
    """One half of an axis times what the other half lets through."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", -1), len(dims))
    call.require(equal(modulo(dims[place], 2), 0), "the axis must be even to be halved")
    return Value(tuple(floor_divide(d, 2) if n == place else d for n, d in enumerate(dims)))


@operator("kron")
def kronecker(call: TorchCall) -> Value:
    """All products of two tensors, block by block."""
    left, right = call.dims("self"), call.dims("other")
    rank = max(len(left), len(right))
    a, b = (((1,) * (rank - len(s))) + s for s in (left, right))
    return Value(tuple(multiply(x, y) for x, y in zip(a, b, strict=True)))
