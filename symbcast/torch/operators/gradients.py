"""Gradients, as the joint graph of a training step has them: each has the shape of the tensor that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide, multiply, subtract
from symbcast.core.logic.formulas import at_most
from symbcast.graphs.values.value import Value
from symbcast.operators.networks.normalisation import check_channels
from symbcast.torch.contents import indexed_by
from symbcast.torch.operators.elementwise import pointwise
from symbcast.torch.operators.matrices import gated, normalised
from symbcast.torch.operators.windows import convolved
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
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


@operator("nll_loss_backward", "nll_loss2d_backward")
def of_likelihood(call: TorchCall) -> Value:
    """The gradient of log-probabilities (N, C) or (C,), or in two dimensions (N, C, H, W)."""
    dims, target, is_plane = call.dims("self"), call.dims("target"), "2d" in call.node.op_type
    if len(dims) not in ((4,) if is_plane else (1, 2)):
        call.refuse("the log-probabilities have another number of axes")
    if is_plane:
        call.same_shape(target, (dims[0], *dims[2:]), "there must be a target for each place")
    elif len(dims) == 2:
        call.equal(multiply(*target), dims[0], "there must be a target for each row")
    of_each = call.number("reduction", 1) == 0 and len(dims) > 1
    given = call.dims("grad_output")
    if of_each:
        call.same_shape(given, target, "the gradient must have the shape of the losses")
    else:
        call.equal(multiply(*given), 1, "the gradient of the reduced loss must be one number")
    indexed_by(call, call.value_of("target"), dims[0 if len(dims) == 1 else 1], target)
    return Value(dims)


@operator("_softmax_backward_data", "_log_softmax_backward_data")
def of_softmax(call: TorchCall) -> Value:
    """The gradient of scores whose probabilities, or their logarithms, were computed."""
    dims = call.dims("output")
    call.axis_of(call.number("dim"), len(dims))
    call.same_shape(call.dims("grad_output"), dims, "the gradient must have the shape of the output")
    return Value(dims)


@operator("native_batch_norm_backward", "batch_norm_backward")
def of_batch_norm(call: TorchCall) -> list[Value]:
    """The gradients of a batch norm's input, weight and bias; torch reads out of bounds if lengths differ."""
    dims = call.dims("grad_out"), call.dims("input")
    check_channels(call, dims[1])
    call.same_shape(dims[0], dims[1], "the gradient must have the shape of the input")
    for size in dims[1][:2]:
        call.at_most(1, size, "there must be a batch and channels")
    names = ["weight", "running_mean", "running_var"]
    names += ["save_mean", "save_invstd", "save_var"] if call.flag("train") or call.flag("update") else []
    for name in names:
        given = call.maybe_dims(name)
        if given is not None:
            call.same_shape(given, dims[1][1:2], f"{name} must have one number per channel")
    return _asked(call, [dims[1], dims[1][1:2], dims[1][1:2]])


@operator("native_group_norm_backward")
def of_group_norm(call: TorchCall) -> list[Value]:
    """The gradients of a group norm's input, weight and bias."""
    dims, groups = call.dims("input"), call.number("group")
    batch, channels, places = (
        call.known_sizes(n)[0] if isinstance(call.given(n), list) else call.size(n) for n in ("N", "C", "HxW")
    )
    if batch is None or channels is None or places is None:
        call.give_up("data decide the sizes of the input")
    call.same_shape(call.dims("grad_out"), dims, "the gradient must have the shape of the input")
    call.equal(multiply(*dims), multiply(batch, channels, places), "the input must have N * C * HxW elements")
    call.at_most(1, groups, "there must be at least one group")
    call.divide(channels, groups, f"the channels must be a multiple of the {groups} groups")
    for name in ("mean", "rstd"):
        call.equal(multiply(*call.dims(name)), multiply(batch, groups), f"{name} must have one number for each group")
    weight = call.maybe_dims("weight")
    if weight is not None:
        call.equal(multiply(*weight), channels, "the weight must have one number per channel")
    return _asked(call, [dims, (channels,), (channels,)])


@operator("masked_scatter_backward")
def of_masked(call: TorchCall) -> Value:
    """The gradient of the source that a mask distributed."""
    found, sizes = call.broadcast(call.dims("grad_output"), call.dims("mask")), tuple(call.known_sizes("sizes"))
    enough = at_most(multiply(*found), multiply(*sizes))
    if call.is_known(enough) is not True:
        reason = "not checked: the source must have an element for each place of the mask"
        call.note(reason, is_about_data=call.is_data_in("mask"), enough=enough)
    return Value(sizes)


@operator(
    *(f"{name}_backward" for name in ("elu", "hardtanh", "leaky_relu", "hardswish", "hardsigmoid", "mish", "softplus")),
    *(f"{name}_backward" for name in ("softshrink", "rrelu_with_noise", "log_sigmoid")),
    *(f"{name}_loss_backward" for name in ("smooth_l1", "huber", "soft_margin")),
)
def of_elementwise(call: TorchCall) -> Value:
    """The gradient of a function of each element: all tensors are broadcast."""
    return pointwise(call)


@operator("_prelu_kernel_backward")
def of_slopes(call: TorchCall) -> list[Value]:
    """The gradients of a tensor and of its slopes, before these are summed."""
    return [pointwise(call)] * 2


@operator("binary_cross_entropy_backward")
def of_binary(call: TorchCall) -> Value:
    """The gradient of probabilities; the target has their sizes."""
    dims = call.dims("self")
    call.same_shape(call.dims("target"), dims, "the target must have the sizes of the probabilities")
    for name in ("weight", "grad_output"):
        given = call.maybe_dims(name)
        if given is not None:
            call.broadcast(given, dims, rule="unidirectional")
    return Value(dims)


@operator("_cdist_backward")
def of_distances(call: TorchCall) -> Value:
    """The gradient of the first of two matrices whose rows are compared."""
    left, right, grad = call.dims("x1"), call.dims("x2"), call.dims("grad")
    call.equal(left[-1], right[-1], "the rows must have equal length")
    batch = call.broadcast(left[:-2], right[:-2])
    for found in (grad, call.dims("cdist")):
        call.same_shape(found, (*batch, left[-2], right[-2]), "there must be a gradient for each distance")
    return Value((*batch, *left[-2:]))


@operator("_pdist_backward")
def of_pairs(call: TorchCall) -> Value:
    """The gradient of the rows of a matrix whose pairs are compared."""
    rows, columns = call.dims("self")
    call.at_most(1, rows, "there must be rows to compare")
    pairs = floor_divide(multiply(rows, subtract(rows, 1)), 2)
    for name in ("grad", "pdist"):
        call.same_shape(call.dims(name), (pairs,), "there must be a gradient for each pair")
    return Value((rows, columns))


@operator("glu_backward")
def of_gate(call: TorchCall) -> Value:
    """The gradient of an axis that is gated by its other half."""
    dims = call.dims("self")
    call.broadcast(call.dims("grad_output"), gated(call).shape or (), rule="unidirectional")
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
