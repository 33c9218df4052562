"""Pools, and what undoes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import add, ceil_divide, multiply, subtract
from symbcast.formulas import any_of, at_most, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.values import Value
from symbcast.onnx.operators.making import asked_shape
from symbcast.onnx.operators.windows import (
    NOT_NEGATIVE,
    SAME,
    Window,
    auto_pad,
    covering,
    data_axes,
    nonempty,
    positions_rounded,
    rounded_towards_zero,
    windows,
)
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

FLOAT, INT64 = 1, 7


@operator("MaxPool", "AveragePool", "LpPool")
def pool(call: Call) -> Sequence[Value]:
    """One element for each position of a window; ``ceil_mode`` lets the last one reach beyond the padding."""
    dims = call.shape(0)
    sizes = data_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    found = windows(call, tuple(kernel))
    if call.is_onnxruntime:
        _ask_of_padding(call, found)
        nonempty(call, dims, "no size but the batch may be 0")
    shape = (*dims[:2], *(_positions(call, s, w) for s, w in zip(sizes, found, strict=True)))
    return Value(shape, call.dtype()), Value(shape, INT64)


def _ask_of_padding(call: Call, found: Sequence[Window]) -> None:
    """Refuse what the runtime does: padding as wide as the window."""
    for w in found:
        if isinstance(w.kernel, int) and max(w.before, w.after) >= w.kernel:
            call.refuse("the padding must be smaller than the window")


def _positions(call: Call, size: Dim, window: Window) -> Dim:
    if auto_pad(call) in SAME:
        return _positions_covering(call, size, window)
    room = subtract(add(size, window.before + window.after), window.span)
    if call.integer("ceil_mode"):
        call.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
        # The last window may reach beyond the padding, but must start before it.
        begun, reaching = add(size, window.before), add(room, window.stride)
        return ceil_divide(call.bounds.smaller(begun, reaching), window.stride)
    return positions_rounded(call, size, window)


def _positions_covering(call: Call, size: Dim, window: Window) -> Dim:
    """Return the number of positions with padding that is found for them.

    The runtime finds it for a window without gaps, and some of its kernels refuse to have it taken away.
    """
    count = covering(size, window.stride)
    if not call.is_onnxruntime:
        return count
    distance = multiply(subtract(count, 1), window.stride)
    if window.dilation == 1:
        if _is_strict(call):
            padding = subtract(add(distance, window.kernel), size)
            call.at_most(0, padding, "windows that leave out elements between them must end where the input does")
        return count
    room = add(distance, subtract(window.kernel, window.span))
    if call.integer("ceil_mode"):
        call.at_most(1, add(room, 2 * window.stride), NOT_NEGATIVE)
        return add(ceil_divide(room, window.stride), 1)
    return rounded_towards_zero(call, room, window.stride)


def _is_strict(call: Call) -> bool:
    """Return whether the runtime takes its fast kernel, which wants no padding below 0."""
    if call.dtype() != FLOAT:
        return False
    if call.node.op_type == "MaxPool":
        return len([o for o in call.node.output if o]) == 1
    return call.node.op_type == "AveragePool" and call.version < 19


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call) -> Value:
    """Every axis after the channels becomes 1."""
    dims = call.shape(0)
    sizes = data_axes(call, dims)
    if call.is_onnxruntime:
        nonempty(call, dims, "no size but the batch may be 0")
    return Value((*dims[:2], *[1] * len(sizes)), call.dtype())


@operator("MaxUnpool")
def max_unpool(call: Call) -> Value:
    """Puts each element where the pool that indices come from took it; the rest is 0."""
    dims = call.shape(0)
    sizes = data_axes(call, dims)
    kernel = call.integers("kernel_shape")
    if kernel is None or len(kernel) != len(sizes):
        call.refuse(f"kernel_shape must be {len(sizes)} numbers")
    indices = call.rank(1, (len(dims),), "the indices")
    for left, right in zip(dims, indices, strict=True):
        call.equal(left, right, "there must be an index for each element")
    call.note(f"that the indices in {call.input_name(1)}, which are data, are within the output was not looked at")
    found = windows(call, tuple(kernel))
    if call.is_onnxruntime:
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
        elif call.is_onnxruntime:
            call.at_most(inferred, asked, "the output that is asked for must be as large as the pool's input at least")
    return Value(shape, call.dtype())


def _unpooled(call: Call, size: Dim, window: Window) -> Dim:
    full = add(multiply(subtract(size, 1), window.stride), window.kernel)
    length = subtract(full, window.before + window.after)
    call.at_most(1 if call.is_onnxruntime else 0, length, "the output must not be empty")
    return length


@operator("MaxRoiPool")
def max_roi_pool(call: Call) -> Value:
    """The maxima of a grid laid over each region."""
    dims = call.rank(0, (4,), "the input")
    regions = call.rank(1, (2,), "the regions")
    call.equal(regions[1], 5, "a region must be 5 numbers")
    pooled = call.integers("pooled_shape")
    if pooled is None or len(pooled) != 2 or min(pooled) < 1:
        call.refuse("pooled_shape must be 2 positive numbers")
    _ask_for_image(call, regions[0], dims[0], call.input_name(1))
    return Value((regions[0], dims[1], *pooled), call.dtype())


@operator("RoiAlign")
def roi_align(call: Call) -> Value:
    """Values of a grid laid over each region, taken between the elements."""
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


def _ask_for_image(call: Call, regions: Dim, batch: Dim, name: str) -> None:
    """Ask that there be an image for regions to lie in; which one is data."""
    call.require(any_of([equal(regions, 0), at_most(1, batch)]), "regions must have an image to lie in")
    call.note(f"that the batch indices in {name}, which are data, are within the batch was not looked at")
