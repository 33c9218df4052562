"""Convolutions and reductions of windows: windows that do not fit have no position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims
from symbcast.stablehlo.node_call import HloCall
from symbcast.stablehlo.operators.reductions import check_initial
from symbcast.stablehlo.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Window(NamedTuple):
    """A window along one axis: its own size, and the padding and the gaps of the axis."""

    size: Dim
    stride: Dim
    low: Dim
    high: Dim
    base_dilation: Dim
    dilation: Dim


def positions(call: HloCall, size: Dim, window: Window) -> Dim:
    """Return at how many positions a window fits on an axis; none where it is longer than the padded axis."""
    larger = call.bounds.larger
    base = larger(add(multiply(subtract(size, 1), window.base_dilation), 1), 0)
    span = add(multiply(subtract(window.size, 1), window.dilation), 1)
    room = subtract(add(base, window.low, window.high), span)
    return larger(add(floor_divide(room, window.stride), 1), 0)


def _windows(
    call: HloCall, sizes: Sequence[Dim], padding: Sequence[tuple[Dim, Dim]], names: Sequence[str]
) -> list[Window]:
    """Return the windows of an operation; ``names`` are the attributes for strides and the two dilations."""
    strides, bases, dilations = (_each(call, name, len(sizes)) for name in names)
    parts = zip(sizes, strides, padding, bases, dilations, strict=True)
    return [Window(size, stride, *ends, base, dilation) for size, stride, ends, base, dilation in parts]


def _each(call: HloCall, name: str, count: int) -> list[int]:
    found = (call.integers(name) if name else None) or [1] * count
    if len(found) != count:
        call.refuse(f"{name} must have {count} numbers, one for each axis of the window, but has {len(found)}")
    return found


def _padding(call: HloCall, count: int) -> list[tuple[Dim, Dim]]:
    found = call.attribute("padding")
    if found is None or not found.size:
        return [(0, 0)] * count
    return [(int(low), int(high)) for low, high in found.reshape(count, 2)]


_REDUCED = ("window_strides", "base_dilations", "window_dilations")


@operator("reduce_window", constraints="C2 C14 C15")
def reduce_window(call: HloCall) -> list[Value]:
    """Tensors of one shape, each folded in every position of a window."""
    count, sizes = len(call.inputs) // 2, call.integers("window_dimensions") or []
    dims = call.alike(call.shapes()[:count], "all inputs must have the same shape")
    check_initial(call)
    windows = _windows(call, sizes, _padding(call, len(sizes)), _REDUCED)
    shape = tuple(positions(call, d, w) for d, w in zip(dims, windows, strict=True))
    return [call.made(shape, output=n) for n in range(count)]


@operator("custom_call.stablehlo.dynamic_reduce_window")
def dynamic_reduce_window(call: HloCall) -> list[Value]:
    """What ``reduce_window`` does, with operands for windows, strides, dilations and padding."""
    count = (len(call.inputs) - 5) // 2
    dims = call.alike(call.shapes()[:count], "all inputs must have the same shape")
    sizes, strides, bases, dilations, padding = (call.sizes(n) for n in range(2 * count, 2 * count + 5))
    if sizes is None or strides is None or bases is None or dilations is None or padding is None:
        call.give_up("its windows are not known")
    shape: list[Dim] = []
    for n, size in enumerate(dims):
        for number in (sizes[n], strides[n], bases[n], dilations[n]):
            call.at_most(1, number, "windows, strides and dilations must be at least 1")
        window = Window(sizes[n], strides[n], padding[2 * n], padding[2 * n + 1], bases[n], dilations[n])
        shape.append(positions(call, size, window))
    return [call.made(tuple(shape), output=n) for n in range(count)]


@operator("select_and_scatter", constraints="C2 C11")
def select_and_scatter(call: HloCall) -> Value:
    """Values of the source added where a window selects an element; there is one for each position."""
    dims, source = call.shape(0), call.shape(1)
    sizes = call.integers("window_dimensions") or [1] * len(dims)
    windows = _windows(call, sizes, _padding(call, len(sizes)), ("window_strides", "", ""))
    for axis, (size, window) in enumerate(zip(dims, windows, strict=True)):
        reason = f"axis {axis} of the source must have one element for each position of the window"
        call.equal(source[axis], positions(call, size, window), reason)
    return call.made(dims)


_CONVOLVED = ("window_strides", "lhs_dilation", "rhs_dilation")


@operator("convolution", constraints="C10 C11 C14 C15 C16 C25")
def convolution(call: HloCall) -> Value:
    """A convolution, in groups of features or of batches."""
    return _convolved(call, _padding(call, len(call.shape(0)) - 2))


@operator("dynamic_conv", constraints="C2 C4 C5 C7 C10 C11 C14 C15 C16 C25")
def dynamic_conv(call: HloCall) -> Value:
    """What ``convolution`` does, with an operand for the padding."""
    count = len(call.shape(0)) - 2
    for name in _CONVOLVED:
        _each(call, name, count)
    call.same_shape(call.shape(2), (count, 2), "the padding must have two numbers for each axis")
    found = call.sizes(2)
    if found is None or len(found) != 2 * count:
        call.note("not checked: the padding", is_about_data=True, by=[2])
        text = "of the padding, taken to be 0 or more"
        found = tuple(call.fresh(f"padding_{n}", f"element {n} {text}", by=[2]) for n in range(2 * count))
    return _convolved(call, list(zip(found[::2], found[1::2], strict=True)))


def _convolved(call: HloCall, padding: Sequence[tuple[Dim, Dim]]) -> Value:
    left, right = call.shape(0), call.shape(1)
    numbers = call.dimensions("dimension_numbers", "ConvDimensionNumbers")
    features, batches = call.integer("feature_group_count", 1), call.integer("batch_group_count", 1)
    batch, channels = left[numbers.input_batch_dimension], left[numbers.input_feature_dimension]
    inner, outer = right[numbers.kernel_input_feature_dimension], right[numbers.kernel_output_feature_dimension]
    _check_groups(call, (batch, channels, inner, outer), features, batches)
    sizes = [right[n] for n in numbers.kernel_spatial_dimensions]
    for size in sizes:
        call.at_most(1, size, "the window must not be empty")
    windows = _windows(call, sizes, padding, _CONVOLVED)
    found: dict[int, Dim] = {
        numbers.output_batch_dimension: floor_divide(batch, batches),
        numbers.output_feature_dimension: outer,
    }
    places = zip(numbers.output_spatial_dimensions, numbers.input_spatial_dimensions, windows, strict=True)
    found.update((place, positions(call, left[axis], window)) for place, axis, window in places)
    return call.made(tuple(found[n] for n in range(len(left))))


def _check_groups(call: HloCall, sizes: Dims, features: int, batches: int) -> None:
    """Require that groups divide the batch, the channels and the filters, and that filters fit the channels."""
    batch, channels, inner, outer = sizes
    for size, count, what in (
        (batch, batches, "the batch"),
        (channels, features, "the input features"),
        (outer, batches, "the output features"),
        (outer, features, "the output features"),
    ):
        if count != 1:
            call.require(equal(modulo(size, count), 0), f"{what} must be a multiple of the {count} groups")
    call.equal(channels, multiply(inner, features), "the input features must be those of the kernel, for each group")
