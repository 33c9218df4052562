"""Matrix products, attention, reductions and normalisation."""

from __future__ import annotations

from symbcast.graphs.operators.expected_shapes import known_shapes
from symbcast.graphs.operators.folding import folded
from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator
from symbcast.operators.context import Dims
from symbcast.operators.einsum import einsum
from symbcast.operators.matmul import matmul
from symbcast.operators.networks.attention import attend
from symbcast.operators.networks.normalisation import group_norm, per_channel
from symbcast.operators.reductions import reduce


@operator("MatMul")
def matmul_(call: OpenVinoCall) -> Value:
    """A matrix product with optionally transposed operands; batch axes are broadcast."""
    left, right = call.shape(0), call.shape(1)
    return call.made(matmul(call, _flipped(call, left, "transpose_a"), _flipped(call, right, "transpose_b")))


def _flipped(call: OpenVinoCall, dims: Dims, name: str) -> Dims:
    """Return a shape with its last two axes swapped if an attribute says so; a vector is unchanged."""
    return (*dims[:-2], dims[-1], dims[-2]) if call.flag(name) and len(dims) > 1 else dims


@operator("Einsum")
def einsum_(call: OpenVinoCall) -> Value:
    """A sum of products: each letter is one size, and letters that the output omits are summed over."""
    shapes = [call.shape(n) for n in range(len(call.inputs))]
    return call.made(einsum(call, call.text("equation"), shapes))


@operator("ScaledDotProductAttention")
def attention(call: OpenVinoCall) -> Value:
    """Attention of queries (..., L, E), keys (..., S, E), values (..., S, V); a mask broadcasts with (..., L, S)."""
    query, key, value = (call.shape(n) for n in range(3))
    if min(len(query), len(key), len(value)) < 3:
        call.refuse("query, key and value must have a batch")
    found = attend(call, query, key, value)
    if not call.has(3) or call.flag("causal") or not call.shape(3):
        return call.made(found)
    mask = call.shape(3)
    if len(mask) < 2:
        call.refuse("a mask must have at least two axes")
    length, _ = call.broadcast((query[-2], key[-2]), mask[-2:])
    return call.made((*call.broadcast(found[:-2], mask[:-2]), length, value[-1]))


# Reductions.

_STEPS = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul", "ReduceSum": "Add"}


@operator(*_STEPS, "ReduceL1", "ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMean")
def reduced(call: OpenVinoCall) -> Value:
    """A reduction: axes become size 1 or are removed; if none are given, nothing is reduced."""
    dims = call.shape(0)
    given = call.input_numbers(1, "the axes")
    axes = call.axes_of(dims, given)
    if given and not dims and call.flag("keep_dims"):
        call.refuse("a scalar has no axis to keep")
    if not axes:
        return call.made(dims, call.value(0).content)
    shape = reduce(call, dims, axes, keepdims=call.flag("keep_dims"))
    is_whole = len(set(axes)) == len(dims)
    return call.made(shape, folded(call, _STEPS.get(call.node.op_type)) if is_whole else None)


# Normalisation.


@operator("Softmax", "LogSoftmax")
def along_axis(call: OpenVinoCall) -> Value:
    """A function applied to each vector along an axis; the shape is unchanged."""
    dims = call.shape(0)
    call.axes_of(dims, [call.integer("axis", 1)])
    return call.made(dims)


@operator("MVN")
def mean_variance_normalised(call: OpenVinoCall) -> Value:
    """The data normalised along some axes."""
    dims = call.shape(0)
    if call.version >= 6:
        call.input_axes(1, len(dims))
    return call.made(dims)


@operator("BatchNormInference")
def batch_normalised(call: OpenVinoCall) -> Value:
    """The data normalised with one number per channel."""
    position = 0 if call.version >= 5 else 2
    dims = call.shape(position)
    per_channel(call, dims[1], known_shapes(call, *(n for n in range(5) if n != position)))
    return call.made(dims)


@operator("GroupNormalization")
def group_normalised(call: OpenVinoCall) -> Value:
    """The data normalised in equal groups of channels; scale and bias have one number per channel."""
    dims = call.shape(0)
    group_norm(call, dims[1], call.integer("num_groups", 1), known_shapes(call, 1, 2))
    return call.made(dims)
