"""Pooling and unpooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.windows.windows import SAME, auto_pad, nonempty, numbers, windows
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import (
    GLOBAL_POOL_EMPTY,
    POOL_INPUT,
    POOL_POSITIONS,
    POOL_SAME_PADDING,
    UNPOOL_EMPTY,
    UNPOOL_PADDING,
    UNPOOL_SHAPE,
)
from symbcast.onnx.runtime.windows import covering_positions, rounded_towards_zero
from symbcast.operators.context import Context
from symbcast.operators.networks.windows import Window, covering, pool, rounded_down, rounded_up, spatial_axes

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

FLOAT, INT64 = 1, 7


@operator("MaxPool", "AveragePool", "LpPool")
def pool_(call: NodeCall) -> Sequence[Value]:
    """One element for each position of a window; ``ceil_mode`` lets the last one reach beyond the padding."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    found = windows(call, tuple(kernel))
    if call.does(POOL_INPUT):
        _ask_of_padding(call, found)
        nonempty(call, dims, "no size but the batch may be 0")
    shape = pool(call, dims, found, partial(_positions, call))
    return Value(shape, call.dtype()), Value(shape, INT64)


def _ask_of_padding(call: NodeCall, found: Sequence[Window]) -> None:
    """Refuse what the runtime does: padding as wide as the window, even where ``auto_pad`` replaces it."""
    pads = numbers(call, "pads", 0, 2 * len(found), 0)
    for w, before, after in zip(found, pads[: len(found)], pads[len(found) :], strict=True):
        if isinstance(w.kernel, int) and max(before, after) >= w.kernel:
            call.refuse("the padding must be smaller than the window")


def _positions(call: NodeCall, _: Context, size: Dim, window: Window) -> Dim:
    rounds_up = bool(call.integer("ceil_mode"))
    if auto_pad(call) in SAME:
        if not call.does(POOL_SAME_PADDING):
            return covering(size, window.stride)
        return covering_positions(call, size, window, rounds_up=rounds_up, is_strict=_is_strict(call))
    if rounds_up:
        return rounded_up(call, size, window)
    return rounded_towards_zero(call, size, window) if call.does(POOL_POSITIONS) else rounded_down(call, size, window)


def _is_strict(call: NodeCall) -> bool:
    """Return whether the runtime uses its fast kernel, which refuses negative padding."""
    if call.dtype() != FLOAT:
        return False
    if call.node.op_type == "MaxPool":
        return len([o for o in call.node.outputs if o]) == 1
    return call.node.op_type == "AveragePool" and call.version < 19


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: NodeCall) -> Value:
    """Every axis after the channels becomes 1."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    if call.does(GLOBAL_POOL_EMPTY):
        nonempty(call, dims, "no size but the batch may be 0")
    return Value((*dims[:2], *[1] * len(sizes)), call.dtype())


@operator("MaxUnpool")
def max_unpool(call: NodeCall) -> Value:
    """Place each element where the pool took it from, according to the indices; the rest is 0."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    indices = call.rank(1, (len(dims),), "the indices")
    for left, right in zip(dims, indices, strict=True):
        call.equal(left, right, "there must be an index for each element")
    call.note(f"not checked: the indices in {call.input_name(1)}, which are data, must be within the output")
    found = windows(call, tuple(kernel))
    if call.does(UNPOOL_PADDING):
        _ask_of_padding(call, found)
    least = (*dims[:2], *(_unpooled(call, s, w) for s, w in zip(sizes, found, strict=True)))
    if not call.has(2):
        return Value(least, call.dtype())
    shape = asked_shape(call, 2)
    if len(shape) != len(dims):
        call.refuse(f"output_shape must be {len(dims)} numbers")
    for axis, (asked, inferred) in enumerate(zip(shape, least, strict=True)):
        if axis < 2:
            call.equal(asked, inferred, "batch and channels must stay as they are")
        elif call.does(UNPOOL_SHAPE):
            call.at_most(inferred, asked, "the requested output must be at least as large as the pool's input")
    return Value(shape, call.dtype())


def _unpooled(call: NodeCall, size: Dim, window: Window) -> Dim:
    full = add(multiply(subtract(size, 1), window.stride), window.kernel)
    length = subtract(full, window.before + window.after)
    call.at_most(1 if call.does(UNPOOL_EMPTY) else 0, length, "the output must not be empty")
    return length


@operator("MaxRoiPool")
def max_roi_pool(call: NodeCall) -> Value:
    """The maxima in the cells of a grid over each region."""
    dims = call.rank(0, (4,), "the input")
    regions = call.rank(1, (2,), "the regions")
    call.equal(regions[1], 5, "a region must be 5 numbers")
    pooled = call.integers("pooled_shape")
    if pooled is None or len(pooled) != 2 or min(pooled) < 1:
        call.refuse("pooled_shape must be 2 positive numbers")
    _ask_for_image(call, regions[0], dims[0], call.input_name(1))
    return Value((regions[0], dims[1], *pooled), call.dtype())


@operator("RoiAlign")
def roi_align(call: NodeCall) -> Value:
    """Interpolated values on a grid over each region."""
    dims = call.rank(0, (4,), "the input")
    regions = call.rank(1, (2,), "the regions")
    batch = call.rank(2, (1,), "the batch indices")
    call.equal(regions[1], 4, "a region must be 4 numbers")
    call.equal(regions[0], batch[0], "there must be a batch index for each region")
    _ask_for_image(call, regions[0], dims[0], call.input_name(2))
    size = (call.integer("output_height", 1), call.integer("output_width", 1))
    if min(size) < 0:
        call.refuse("the size of the output must not be negative")
    return Value((regions[0], dims[1], *size), call.dtype())


def _ask_for_image(call: NodeCall, regions: Dim, batch: Dim, name: str) -> None:
    """Require an image for the regions to lie in; which one is data."""
    call.require(any_of([equal(regions, 0), at_most(1, batch)]), "regions must have an image to lie in")
    call.note(f"not checked: the batch indices in {name}, which are data, must be within the batch")
