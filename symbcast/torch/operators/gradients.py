"""Gradients, as the joint graph of a training step has them: each has the shape of the tensor that it belongs to."""

from __future__ import annotations

from symbcast.core.algebra.arithmetic import floor_divide, multiply, subtract
from symbcast.operators.layers import check_channels
from symbcast.operators.operator import Dims
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator
from symbcast.torch.contents import indexed_by
from symbcast.torch.operators.convolutions import convolved, pooled, sampled
from symbcast.torch.operators.elementwise import pointwise
from symbcast.torch.operators.indexing import note_short_source
from symbcast.torch.operators.layout import padded, unfolded_shape
from symbcast.torch.operators.networks import gated, normalised


@operator("convolution_backward")
def of_convolution(call: TorchCall) -> list[Value]:
    """The gradients of a convolution's input, weights and bias."""
    dims, weights = call.dims("input"), call.dims("weight")
    output = convolved(call).shape or ()
    call.same_shape(call.dims("grad_output"), output, "the gradient must have the shape of the convolution's output")
    channels = output[len(output) - len(weights) + 1 :][:1]
    return _requested(call, [dims, weights, channels])


def _requested(call: TorchCall, shapes: list[Dims]) -> list[Value]:
    """Return the gradients that ``output_mask`` asks for; the others are not computed."""
    mask = call.argument("output_mask")
    return [Value(dims if is_asked else None) for dims, is_asked in zip(shapes, mask, strict=True)]


@operator("nll_loss_backward", "nll_loss2d_backward")
def of_likelihood(call: TorchCall) -> Value:
    """The gradient of log-probabilities (N, C) or (C,), or in two dimensions (N, C, H, W)."""
    dims, target, is_plane = call.dims("self"), call.dims("target"), "2d" in call.node.op_type
    call.refuse_if(len(dims) not in ((4,) if is_plane else (1, 2)), "the log-probabilities have another number of axes")
    if is_plane:
        call.same_shape(target, (dims[0], *dims[2:]), "there must be a target for each place")
    elif len(dims) == 2:
        call.equal(multiply(*target), dims[0], "there must be a target for each row")
    grad = call.dims("grad_output")
    if call.number("reduction", 1) == 0 and len(dims) > 1:
        call.same_shape(grad, target, "the gradient must have the shape of the losses")
    else:
        call.equal(multiply(*grad), 1, "the gradient of the reduced loss must be one number")
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
    """The gradients of a batch norm's input, weight and bias."""
    dims = call.dims("grad_out"), call.dims("input")
    check_channels(call, dims[1])
    call.same_shape(dims[0], dims[1], "the gradient must have the shape of the input")
    call.filled(dims[1][:2], "there must be a batch and channels")
    names = ["weight", "running_mean", "running_var"]
    names += ["save_mean", "save_invstd", "save_var"] if call.flag("train") or call.flag("update") else []
    # Torch reads out of bounds if the lengths differ.
    for name in names:
        call.same_shape_if_given(name, dims[1][1:2], f"{name} must have one number per channel")
    return _requested(call, [dims[1], dims[1][1:2], dims[1][1:2]])


@operator("native_group_norm_backward")
def of_group_norm(call: TorchCall) -> list[Value]:
    """The gradients of a group norm's input, weight and bias."""
    dims, groups = call.dims("input"), call.number("group")
    batch, channels, places = (
        call.known_sizes(n)[0] if isinstance(call.argument(n), list) else call.size(n) for n in ("N", "C", "HxW")
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
    return _requested(call, [dims, (channels,), (channels,)])


@operator("masked_scatter_backward")
def of_masked(call: TorchCall) -> Value:
    """The gradient of the source that a mask distributed."""
    dims, sizes = call.broadcast(call.dims("grad_output"), call.dims("mask")), tuple(call.known_sizes("sizes"))
    note_short_source(call, dims, sizes)
    return Value(sizes)


@operator(
    *(f"{name}_backward" for name in ("elu", "hardtanh", "leaky_relu", "hardswish", "hardsigmoid", "mish", "softplus")),
    *(f"{name}_backward" for name in ("softshrink", "rrelu_with_noise", "log_sigmoid")),
    *(f"{name}_loss_backward" for name in ("smooth_l1", "huber", "soft_margin")),
    "_prelu_kernel_backward",
)
def of_elementwise(call: TorchCall) -> list[Value]:
    """The gradient of a function of each element, and for slopes theirs before these are summed: a broadcast."""
    return [pointwise(call)] * len(call.node.outputs)


@operator("binary_cross_entropy_backward")
def of_binary(call: TorchCall) -> Value:
    """The gradient of probabilities; the target has their sizes."""
    dims = call.dims("self")
    call.same_shape(call.dims("target"), dims, "the target must have the sizes of the probabilities")
    call.expand_to(dims, "weight", "grad_output")
    return Value(dims)


@operator("_cdist_backward")
def of_distances(call: TorchCall) -> Value:
    """The gradient of the first of two matrices whose rows are compared."""
    left, right, grad = call.dims("x1"), call.dims("x2"), call.dims("grad")
    call.equal(left[-1], right[-1], "the rows must have equal length")
    batch = call.broadcast(left[:-2], right[:-2])
    for operand in (grad, call.dims("cdist")):
        call.same_shape(operand, (*batch, left[-2], right[-2]), "there must be a gradient for each distance")
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
    call.refuse_if(not dims, "the gradient must have an axis")
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
    return _requested(call, [dims, normalized, normalized])


def _has_shape(call: TorchCall, output: Dims | None, *names: str) -> None:
    for name in names:
        call.same_shape_if_given(name, output or (), f"{name} must have the shape of the output")


@operator(
    *(f"{kind}_pool{n}d_{end}" for n in "23" for kind, end in (("max", "with_indices_backward"), ("avg", "backward")))
)
def of_pool(call: TorchCall) -> Value:
    """The gradient of a pool's input."""
    (output, *_) = pooled(call)
    _has_shape(call, output.shape, "grad_output", "indices")
    return Value(call.dims("self"))


@operator(*(f"{kind}_pool{n}d_backward" for n in "23" for kind in ("_adaptive_avg", "adaptive_max")))
def of_adaptive_pool(call: TorchCall) -> Value:
    """The gradient of an adaptive pool's input."""
    dims, grad = call.dims("self"), call.dims("grad_output")
    count = 3 if "3d" in call.node.op_type else 2
    call.refuse_if(len(dims) not in (count + 1, count + 2), f"the input must have {count + 1} or {count + 2} axes")
    call.refuse_if(len(grad) != len(dims), "the gradient must have the axes of the input")
    for size in (*grad[-count - 1 :], *dims[-count:]):
        call.at_most(1, size, "neither the gradient nor the pooled axes may be empty; only the batch may be 0")
    # Torch reads out of bounds if batch and channels differ.
    call.same_shape(grad[:-count], dims[:-count], "the gradient must have the batch and the channels of the input")
    _has_shape(call, grad, "indices")
    return Value(dims)


@operator(*(f"{kind}_pad{n}d_backward" for kind in ("reflection", "replication") for n in "123"))
def of_padding(call: TorchCall) -> Value:
    """The gradient of a padded tensor."""
    _has_shape(call, padded(call).shape, "grad_output")
    return Value(call.dims("self"))


@operator(
    *(f"upsample_nearest{n}d_backward" for n in "123"),
    *(f"_upsample_nearest_exact{n}d_backward" for n in "123"),
    *(f"upsample_{kind}_backward" for kind in ("linear1d", "bilinear2d", "trilinear3d", "bicubic2d")),
    *(f"_upsample_{kind}2d_aa_backward" for kind in ("bilinear", "bicubic")),
)
def of_resizing(call: TorchCall) -> Value:
    """The gradient of a resized tensor; no resized axis may be empty."""
    dims, sizes = tuple(call.known_sizes("input_size")), tuple(call.known_sizes("output_size"))
    call.refuse_if(len(dims) != len(sizes) + 2, "there must be a batch, channels and a size for each resized axis")
    call.filled((*dims[2:], *sizes), "no resized axis may be empty")
    _has_shape(call, (*dims[:2], *sizes), "grad_output")
    return Value(dims)


@operator("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def of_sampling(call: TorchCall) -> list[Value]:
    """The gradients of an image and of the coordinates at which it was sampled."""
    output = sampled(call)
    _has_shape(call, output.shape, "grad_output")
    mask = call.argument("output_mask")
    return [Value(call.dims("input") if mask[0] else None), Value(call.dims("grid"))]


@operator("unfold_backward")
def of_windows(call: TorchCall) -> Value:
    """The gradient of a tensor whose windows along an axis were taken."""
    dims = tuple(call.known_sizes("input_sizes"))
    _has_shape(call, unfolded_shape(call, dims, call.number("dim")), "grad_in")
    return Value(dims)
