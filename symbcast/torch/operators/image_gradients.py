"""Gradients of what windows, pads and other scales were computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.graphs.values.value import Value
from symbcast.torch.operators.layout import unfolded_shape
from symbcast.torch.operators.pads import reflected, repeated
from symbcast.torch.operators.parts import diagonal_of
from symbcast.torch.operators.windows import pooled, sampled
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


def _has_shape(call: TorchCall, found: Dims | None, *names: str) -> None:
    for name in names:
        given = call.maybe_dims(name)
        if given is not None:
            call.same_shape(given, found or (), f"{name} must have the shape of the output")


@operator(
    *(f"{kind}_pool{n}d_{end}" for n in "23" for kind, end in (("max", "with_indices_backward"), ("avg", "backward")))
)
def of_pool(call: TorchCall) -> Value:
    """The gradient of a pool's input."""
    (found, *_) = pooled(call)
    _has_shape(call, found.shape, "grad_output", "indices")
    return Value(call.dims("self"))


@operator(*(f"{kind}_pool{n}d_backward" for n in "23" for kind in ("_adaptive_avg", "adaptive_max")))
def of_adaptive_pool(call: TorchCall) -> Value:
    """The gradient of an adaptive pool's input; torch reads out of bounds if batch and channels differ."""
    dims, grad = call.dims("self"), call.dims("grad_output")
    count = 3 if "3d" in call.node.op_type else 2
    if len(dims) not in (count + 1, count + 2):
        call.refuse(f"the input must have {count + 1} or {count + 2} axes")
    if len(grad) != len(dims):
        call.refuse("the gradient must have the axes of the input")
    for size in (*grad[-count - 1 :], *dims[-count:]):
        call.at_most(1, size, "neither the gradient nor the pooled axes may be empty; only the batch may be 0")
    call.same_shape(grad[:-count], dims[:-count], "the gradient must have the batch and the channels of the input")
    _has_shape(call, grad, "indices")
    return Value(dims)


@operator(*(f"{kind}_pad{n}d_backward" for kind in ("reflection", "replication") for n in "123"))
def of_padding(call: TorchCall) -> Value:
    """The gradient of a padded tensor."""
    found = (reflected if "reflection" in call.node.op_type else repeated)(call)
    _has_shape(call, found.shape, "grad_output")
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
    if len(dims) != len(sizes) + 2:
        call.refuse("there must be a batch, channels and a size for each resized axis")
    for size in (*dims[2:], *sizes):
        call.at_most(1, size, "no resized axis may be empty")
    _has_shape(call, (*dims[:2], *sizes), "grad_output")
    return Value(dims)


@operator("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def of_sampling(call: TorchCall) -> list[Value]:
    """The gradients of an image and of the coordinates at which it was sampled."""
    found = sampled(call)
    _has_shape(call, found.shape, "grad_output")
    mask = call.given("output_mask")
    return [Value(call.dims("input") if mask[0] else None), Value(call.dims("grid"))]


@operator("unfold_backward")
def of_windows(call: TorchCall) -> Value:
    """The gradient of a tensor whose windows along an axis were taken."""
    dims = tuple(call.known_sizes("input_sizes"))
    _has_shape(call, unfolded_shape(call, dims, call.number("dim")), "grad_in")
    return Value(dims)


@operator("diagonal_backward")
def of_diagonal(call: TorchCall) -> Value:
    """The gradient of a tensor whose diagonal was taken: zeros around the gradient of the diagonal."""
    dims = tuple(call.known_sizes("input_sizes"))
    call.broadcast(call.dims("grad_output"), diagonal_of(call, dims), rule="unidirectional")
    return Value(dims)


@operator("diagonal_scatter")
def diagonal_written(call: TorchCall) -> Value:
    """A tensor with its diagonal overwritten."""
    dims = call.dims("self")
    call.same_shape(call.dims("src"), diagonal_of(call, dims), "the source must have the shape of the diagonal")
    return Value(dims)
