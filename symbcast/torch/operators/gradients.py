"""Gradients, as the joint graph of a training step has them: each has the shape of the tensor that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.values.value import Value
from symbcast.torch.contents import indexed_by
from symbcast.torch.operators.matrices import normalised
from symbcast.torch.operators.windows import convolved, pooled
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.graphs.values.value import Dims
    from symbcast.torch.node_call import TorchCall


@operator("convolution_backward")
def of_convolution(call: TorchCall) -> list[Value]:
    """The gradients of a convolution's input, weights and bias."""
    dims, weights = call.dims("input"), call.dims("weight")
    found = convolved(call).shape or ()
    call.same_shape(call.dims("grad_output"), found, "the gradient must have the shape of the convolution's output")
    channels = found[len(found) - len(weights) + 1 :][:1]
    return _asked(call, [dims, weights, channels])


def _asked(call: TorchCall, shapes: list[Dims]) -> list[Value]:
    """Return the gradients that ``output_mask`` asks for; the others are not computed."""
    mask = call.given("output_mask")
    return [Value(dims if is_asked else None) for dims, is_asked in zip(shapes, mask, strict=True)]


@operator("max_pool2d_with_indices_backward", "avg_pool2d_backward")
def of_pool(call: TorchCall) -> Value:
    """The gradient of a pool's input."""
    (found, *_) = pooled(call)
    for name in ("grad_output", "indices"):
        given = call.maybe_dims(name)
        if given is not None:
            call.same_shape(given, found.shape or (), f"{name} must have the shape of the pool's output")
    return Value(call.dims("self"))


@operator("nll_loss_backward")
def of_likelihood(call: TorchCall) -> Value:
    """The gradient of log-probabilities (N, C) or (C,)."""
    dims, target = call.dims("self"), call.dims("target")
    if len(dims) not in (1, 2):
        call.refuse("the log-probabilities must have one or two axes")
    if len(dims) == 2:
        call.equal(multiply(*target), dims[0], "there must be a target for each row")
    indexed_by(call, call.value_of("target"), dims[-1], target)
    return Value(dims)


@operator("embedding_dense_backward")
def of_embedding(call: TorchCall) -> Value:
    """The gradient of an embedding's weights: the gradients of the rows, summed by index."""
    dims, indices = call.dims("grad_output"), call.dims("indices")
    if not dims:
        call.refuse("the gradient must have an axis")
    call.equal(multiply(*dims), multiply(*indices, dims[-1]), "there must be a row for each index")
    rows = call.size("num_weights")
    if rows is None:
        call.give_up("data decide num_weights")
    indexed_by(call, call.value_of("indices"), rows, indices)
    return Value((rows, dims[-1]))


@operator("native_layer_norm_backward")
def of_layer_norm(call: TorchCall) -> list[Value]:
    """The gradients of a layer norm's input, weight and bias."""
    dims, normalized = call.dims("input"), tuple(call.known_sizes("normalized_shape"))
    normalised(call)
    call.same_shape(call.dims("grad_out"), dims, "the gradient must have the shape of the input")
    rows = multiply(*dims[: len(dims) - len(normalized)])
    for name in ("mean", "rstd"):
        call.equal(multiply(*call.dims(name)), rows, f"{name} must have one number for each normalized part")
    return _asked(call, [dims, normalized, normalized])
