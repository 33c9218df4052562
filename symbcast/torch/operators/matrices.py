"""Matrix products, and normalisation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import all_of, any_of, equal
from symbcast.graphs.values.value import Value
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import inner_product, matmul
from symbcast.operators.networks.normalisation import check_channels, group_norm, layer_norm, per_channel
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall

_SAME = "the sizes must be equal: this operator does not broadcast"


@operator("matmul", "linalg_matmul", "__matmul__")
def multiplied(call: TorchCall) -> Value:
    """A product of stacks of matrices, as in NumPy."""
    return Value(matmul(call, call.dims("self"), call.dims("other")))


_RANKS = {"mm": (2, 2), "bmm": (3, 3), "dot": (1, 1), "vdot": (1, 1), "mv": (2, 1), "addmm": (2, 2), "addmv": (2, 1)}
_RANKS |= {"baddbmm": (3, 3), "addbmm": (3, 3), "_addmm_activation": (2, 2)}


@operator("mm", "bmm", "dot", "mv", "vdot")
def plain(call: TorchCall) -> Value:
    """A product of matrices or vectors of fixed ranks; stacks must have equal sizes."""
    return Value(_product(call, call.dims("self"), call.dims("mat2", "vec2", "vec", "tensor", "other")))


def _product(call: TorchCall, left: Dims, right: Dims) -> Dims:
    ranks = _RANKS[call.node.op_type.removeprefix("aten.").rstrip("_")]
    if (len(left), len(right)) != ranks:
        call.refuse(f"the operands must have {ranks[0]} and {ranks[1]} axes")
    if len(left) == 3:
        call.equal(left[0], right[0], _SAME)
        inner_product(call, left[2], right[1])
        return left[0], left[1], right[2]
    return matmul(call, left, right)


@operator("inner")
def inner(call: TorchCall) -> Value:
    """The inner product over the last axes; a scalar scales the other tensor."""
    left, right = call.dims("self"), call.dims("other")
    if not left or not right:
        return Value((*left, *right))
    call.equal(left[-1], right[-1], "the last sizes must be equal")
    return Value((*left[:-1], *right[:-1]))


@operator("addmm", "baddbmm", "addmv", "addbmm", "addbmm_", "_addmm_activation")
def added(call: TorchCall) -> Value:
    """The sum of a product and a tensor that is broadcast to it."""
    names = ("mat1", "batch1", "mat"), ("mat2", "batch2", "vec")
    found = _product(call, call.dims(*names[0]), call.dims(*names[1]))
    found = found[1:] if call.node.op_type.startswith("aten.addbmm") else found
    added = call.dims("self")
    call.broadcast(added, found, rule="unidirectional")
    if call.node.op_type == "aten.addmv":  # without products, torch scales what is added and does not broadcast it
        return Value(call.unless(call.empty(call.dims("mat")), added, lambda: found))
    return Value(found)


@operator("outer", "ger")
def outer(call: TorchCall) -> Value:
    """All products of the elements of two vectors."""
    left, right = call.dims("self"), call.dims("vec2")
    if (len(left), len(right)) != (1, 1):
        call.refuse("the operands must be vectors")
    return Value((*left, *right))


@operator("linear")
def linear(call: TorchCall) -> Value:
    """The product of the last axis with weights (out, in), plus a bias (out,)."""
    dims, weights = call.dims("input"), call.dims("weight")
    if not dims or len(weights) not in (1, 2):
        call.refuse("the input must have an axis, and the weights two")
    call.equal(dims[-1], weights[-1], "the last size must equal that of the weights")
    found = (*dims[:-1], *weights[:-1])
    bias = call.maybe_dims("bias")
    if bias is not None:
        call.broadcast(bias, found, rule="unidirectional")
    return Value(found)


@operator("einsum")
def summed(call: TorchCall) -> Value:
    """An Einstein summation."""
    return Value(einsum(call, str(call.given("equation")), call.tensors("tensors"), aligns_ellipses=True))


@operator("layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm")
def normalised(call: TorchCall) -> list[Value]:
    """A normalisation of the last axes, which must equal the given shape; the statistics have size 1 there."""
    dims, last = call.dims("input"), tuple(call.known_sizes("normalized_shape"))
    first = len(dims) - len(last)
    if first < 0 or not last:
        call.refuse("there must be at least one normalised axis, and at most as many as the tensor has")
    call.same_shape(dims[first:], last, "the last sizes must equal the normalised shape")
    kept = layer_norm(call, (*dims[:first], *last), first, _parameters(call, "weight", "bias"))
    return [Value(dims), Value(kept), Value(kept)][: len(call.node.outputs)]


@operator("group_norm", "native_group_norm")
def grouped(call: TorchCall) -> list[Value]:
    """A normalisation in equal groups of channels; weights and bias have one number per channel."""
    dims = call.dims("input")
    groups = call.number("num_groups" if call.given("num_groups") is not None else "group")
    check_channels(call, dims)
    call.at_most(1, groups, "there must be at least one group")
    group_norm(call, dims[1], groups, _parameters(call, "weight", "bias"))
    batch = call.size("N", dims[0])
    assert batch is not None
    fits = any_of([equal(batch, dims[0]), call.empty(dims[1:])])  # torch compares the numbers of elements
    call.require(fits, "the batch must equal that of the input")
    return [Value(dims), *[Value((batch, groups))] * 2][: len(call.node.outputs)]


@operator("batch_norm")
def batch_normalised(call: TorchCall) -> Value:
    """A normalisation; weights, bias, mean and variance have one number per channel, unless the input is empty."""
    dims = call.dims("input")
    none = call.empty(dims)
    for name in ("weight", "bias"):
        _at_least_one(call, f"the {name}", call.maybe_dims(name))
    if len(dims) < 2:
        call.require(none, "the input must have a batch and channels")
        return Value(dims)
    if not call.flag("training") and (call.given("running_mean") is None or call.given("running_var") is None):
        call.require(none, "without training there must be a mean and a variance")
    per_channel(call, dims[1], _parameters(call, *_STATISTICS), unless=none)
    return Value(dims)


@operator("instance_norm")
def instance_normalised(call: TorchCall) -> Value:
    """A normalisation of each channel of each batch, by `batch_normalised` with both on one axis."""
    dims, is_own = call.dims("input"), call.flag("use_input_stats")
    check_channels(call, dims)
    none = call.empty(dims)
    given = _parameters(call, *_STATISTICS)
    missing = [name for name in _STATISTICS[2:] if call.given(name) is None]
    if missing and not is_own:
        call.refuse("without statistics of the input there must be a mean and a variance")
    if len(missing) == 1:
        call.require(none, "there must be both a mean and a variance, or none")
    for what, found in given.items():
        if found is None:
            continue
        if "running" not in what:
            call.at_most(1, dims[0], f"{what} must not be empty when it is repeated for each batch")
            _at_least_one(call, what, found)
        elif is_own and len(found) == 1:  # torch writes the mean over batches to it
            repeated = any_of([equal(found[0], dims[1]), all_of([equal(dims[0], 0), equal(dims[1], 1)])])
            call.require(repeated, f"{what} must have one number per channel")
    per_channel(call, dims[1], given, unless=none)
    return Value(dims)


@operator(
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_native_batch_norm_legit_functional",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
)
def normalised_unchecked(call: TorchCall) -> list[Value]:
    """Like `batch_normalised`, but torch reads out of bounds if lengths differ, so that is refused here."""
    dims, count = call.dims("input"), len(call.node.outputs)
    check_channels(call, dims)
    given = [call.given(n) is not None for n in ("running_mean", "running_var")]
    own = call.flag("training") or call.node.op_type.endswith("_functional")
    if given[0] != given[1] or (not own and not all(given)):
        call.refuse("there must be a mean and a variance")
    is_training = call.flag("training") or "_with_update" in call.node.op_type
    for size in dims if is_training else ():
        call.at_most(1, size, "there must be elements to train with")
    per_channel(call, dims[1], _parameters(call, *_STATISTICS))
    kept = Value((dims[1],))
    found = [Value(dims), *[kept if is_training else Value((0,))] * 2]
    if "_batch_norm_with_update" in call.node.op_type or call.node.op_type.endswith("no_update"):
        found.append(Value((0,)))
    return [*found, kept, kept][:count]


def _at_least_one(call: TorchCall, what: str, dims: Dims | None) -> None:
    """Require that there be a first number, which torch reads even if the input is empty."""
    if dims:
        call.at_most(1, dims[0], f"{what} must not be empty")


_STATISTICS = ("weight", "bias", "running_mean", "running_var")


def _parameters(call: TorchCall, *names: str) -> dict[str, Dims | None]:
    return {f"the {name.replace('_', ' ')}": call.maybe_dims(name) for name in names}


@operator("transformers.grouped_mm_fallback")
def multiplied_by_group(call: TorchCall) -> Value:
    """Rows (S, K), sorted by group, each multiplied by the matrix of its group (G, K, N)."""
    rows, weights, ends = call.dims("input"), call.dims("weight"), call.dims("offs")
    if (len(rows), len(weights), len(ends)) != (2, 3, 1):
        call.refuse("the rows must have two axes, the weights three, and the ends of the groups one")
    call.equal(ends[0], weights[0], "there must be an end for each group")
    call.equal(rows[1], weights[1], "the rows must have the sizes of the weights")
    return Value((rows[0], weights[2]))


@operator("glu")
def gated(call: TorchCall) -> Value:
    """One half of an axis, gated by the other half."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", -1), len(dims))
    half = call.divide(dims[place], 2, "the size must be even, because the axis is halved")
    return Value(tuple(half if n == place else d for n, d in enumerate(dims)))


@operator("kron")
def kronecker(call: TorchCall) -> Value:
    """All products of two tensors, block by block."""
    left, right = call.dims("self"), call.dims("other")
    rank = max(len(left), len(right))
    a, b = (((1,) * (rank - len(s))) + s for s in (left, right))
    return Value(tuple(multiply(x, y) for x, y in zip(a, b, strict=True)))
