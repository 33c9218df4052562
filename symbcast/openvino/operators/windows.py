"""Convolutions, pooling and sampling of regions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator
from symbcast.operators.context import Context, Dims
from symbcast.operators.networks.windows import Window, covering, fitting, pool, spatial_axes, transposed_length

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_SAME = ("same_upper", "same_lower")
_FITS = "the window must fit into the padded input"


def _windows(call: OpenVinoCall, kernel: Dims) -> list[Window]:
    """Return the window along each axis; automatic padding is not included."""
    count = len(kernel)
    strides = _numbers(call, "strides", 1, count)
    dilations = _numbers(call, "dilations", 1, count)
    is_explicit = call.text("auto_pad", "explicit") in ("explicit", "notset")
    before, after = (_numbers(call, name, 0, count) if is_explicit else [0] * count for name in _PADS)
    return [Window(*all_) for all_ in zip(kernel, strides, dilations, before, after, strict=True)]


_PADS = ("pads_begin", "pads_end")


def _numbers(call: OpenVinoCall, name: str, default: int, count: int) -> list[int]:
    found = call.integers(name) or [default] * count
    if len(found) != count:
        call.refuse(f"{name} must be {count} numbers")
    return found


def _positions(call: OpenVinoCall, context: Context, size: Dim, window: Window) -> Dim:
    """Return the number of positions of a window along an axis."""
    if call.text("auto_pad") in _SAME:
        return covering(size, window.stride)
    return fitting(context, size, window)


# Convolutions.


@operator("Convolution", "GroupConvolution", "BinaryConvolution")
def convolution(call: OpenVinoCall) -> Value:
    """A convolution; the filters are (O, I, ...), or with groups (G, O, I, ...)."""
    dims, filters = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    outputs, kernel = _channels(call, dims, filters, len(sizes), is_transposed=False)
    found = [_positions(call, call, s, w) for s, w in zip(sizes, _windows(call, kernel), strict=True)]
    return call.made((dims[0], outputs, *found))


@operator("ConvolutionBackpropData", "GroupConvolutionBackpropData")
def convolution_backprop(call: OpenVinoCall) -> Value:
    """A transposed convolution; the output sizes follow from windows and strides, or an input gives them."""
    dims, filters = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    outputs, kernel = _channels(call, dims, filters, len(sizes), is_transposed=True)
    if call.has(2):
        asked = call.input_sizes(2)
        if len(asked) != len(sizes):
            call.refuse(f"the output shape must be {len(sizes)} numbers")
        return call.made((dims[0], outputs, *asked))
    extra = call.integers("output_padding") or [0] * len(sizes)
    found = []
    for size, window, more in zip(sizes, _windows(call, kernel), extra, strict=True):
        # Without an output shape, automatic padding is 0.
        length = transposed_length(size, window, more)
        if more or transposed_length(0, window, 0) != 0:
            has_elements = any_of([equal(dims[0], 0), at_most(1, size)])
            call.require(has_elements, "no axis may be empty")
            call.at_most(1, length, "the padding must not remove the whole output")
        found.append(length)
    return call.made((dims[0], outputs, *found))


def _channels(call: OpenVinoCall, dims: Dims, filters: Dims, count: int, *, is_transposed: bool) -> tuple[Dim, Dims]:
    """Return the output channels and the kernel; require that the channels of data and filters match."""
    has_groups = call.node.op_type.startswith("Group")
    if len(filters) != count + 2 + has_groups:
        call.refuse(f"filters must have rank {count + 2 + has_groups}, not {len(filters)}")
    groups = filters[0] if has_groups else 1
    first, second, *kernel = filters[has_groups:]
    into, out = (first, second) if is_transposed else (second, first)
    call.equal(dims[1], multiply(into, groups), "the channels must equal those of the filters times the groups")
    return multiply(out, groups), tuple(kernel)


# Pooling.


@operator("MaxPool", "AvgPool")
def pool_(call: OpenVinoCall) -> Sequence[Value]:
    """One element per window position; if the count is rounded up, the last window may extend past the padding."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = tuple(call.integers("kernel") or ())
    if len(kernel) != len(sizes):
        call.refuse(f"the kernel must be {len(sizes)} numbers")
    for size, what in zip(dims, ("batch", "channels"), strict=False):
        call.at_most(1, size, f"the {what} must not be empty")
    shape = pool(call, dims, _windows(call, kernel), partial(_pooled, call))
    return [call.made(shape, output=n) for n in range(len(call.node.outputs))]


def _pooled(call: OpenVinoCall, context: Context, size: Dim, window: Window) -> Dim:
    rounding = call.text("rounding_type", "floor")
    room = window.room(size)
    if call.text("auto_pad") in _SAME:
        context.at_most(1, size, _FITS)
        found = covering(size, window.stride)
        # Without padding, the last window may extend past the end if the stride is longer than the window.
        return context.bounds.larger(found, add(ceil_divide(room, window.stride), 1)) if rounding == "ceil" else found
    if rounding == "floor":
        return fitting(context, size, window)
    context.at_most(0, room, _FITS)
    found = add(ceil_divide(room, window.stride), 1)
    if rounding != "ceil_torch":
        return found
    # Windows that start in the end padding are dropped; only those that start before it count.
    return context.bounds.smaller(found, ceil_divide(add(size, window.before), window.stride))


@operator("AdaptiveAvgPool", "AdaptiveMaxPool")
def adaptive_pool(call: OpenVinoCall) -> Sequence[Value]:
    """Adaptive pooling to the output sizes in an input."""
    dims, asked = call.shape(0), call.input_sizes(1)
    if len(asked) != len(spatial_axes(call, dims)):
        call.refuse("the output shape must be one number for each axis after the channels")
    return [call.made((*dims[:2], *asked), output=n) for n in range(len(call.node.outputs))]


# Regions.


@operator("ROIAlign", "ROIAlignRotated")
def roi_align(call: OpenVinoCall) -> Value:
    """Regions of the data, each pooled to the same size."""
    dims = call.rank(0, (4,), "data")
    regions, places = call.rank(1, (2,), "rois"), call.rank(2, (1,), "batch_indices")
    call.equal(regions[0], places[0], "there must be a batch index for each region")
    count = 5 if call.node.op_type.endswith("Rotated") else 4
    call.equal(regions[1], count, f"a region must be {count} numbers")
    return call.made((regions[0], dims[1], call.integer("pooled_h"), call.integer("pooled_w")))


@operator("GridSample")
def grid_sample(call: OpenVinoCall) -> Value:
    """One element per grid point."""
    dims, grid = call.rank(0, (4,), "data"), call.rank(1, (4,), "grid")
    call.equal(dims[0], grid[0], "data and grid must have the same batch")
    call.equal(grid[3], 2, "a grid point must be 2 numbers")
    return call.made((*dims[:2], *grid[1:3]))
