"""Operators that combine elements along axes.

Products, reductions, sorts, normalisation, convolutions and windows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.graphs.walking.reshaping import folded
from symbcast.operators.operator import Dims
from symbcast.operators.products import reduce
from symbcast.operators.values.contents import BOOL, Content, Elements
from symbcast.operators.values.elements import BINARY
from symbcast.operators.values.value import FIRST, Decider, Value
from symbcast.stablehlo.graph import HloCall, operator

Pair: TypeAlias = "tuple[Sequence[int], Sequence[int]]"
"""Axes of the two operands that belong together."""

_CONTRACTED = "the sizes summed over must be equal"
_BATCHED = "the sizes of batch axes must be equal"


@operator("dot_general", constraints="C9 C10 C12")
def dot_general(call: HloCall) -> Value:
    """A product summed over pairs of axes, for each position on pairs of batch axes."""
    numbers = call.dimensions("dot_dimension_numbers", "DotDimensionNumbers")
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    summed = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    return call.output(_product(call, batch, summed))


def _product(call: HloCall, batch: Pair, summed: Pair, gone: Sequence[int] = ()) -> Dims:
    """Return the shape of a product; ``gone`` are other axes of the second operand that the result does not have."""
    left, right = call.shape(0), call.shape(1)
    joined = call.alike([_of(left, batch[0]), _of(right, batch[1])], _BATCHED)
    call.same_shape(_of(left, summed[0]), _of(right, summed[1]), _CONTRACTED)
    # The specification's order: batch axes, then those of the left operand, then those of the right one.
    return (*joined, *_but(left, [*batch[0], *summed[0]]), *_but(right, [*batch[1], *summed[1], *gone]))


def _of(dims: Dims, axes: Sequence[int]) -> Dims:
    return tuple(dims[n] for n in axes)


def _but(dims: Dims, axes: Sequence[int]) -> Dims:
    return tuple(d for n, d in enumerate(dims) if n not in axes)


@operator("chlo.ragged_dot")
def ragged_dot(call: HloCall) -> Value:
    """A product of groups along one axis of the first operand; data say how long the groups are."""
    text = str(call.attribute("ragged_dot_dimension_numbers"))
    numbers = defaultdict(list, {name: [*map(int, listed.split(","))] for name, listed in _NUMBERS.findall(text)})
    batch, summed = (
        (numbers[f"lhs_{kind}_dimensions"], numbers[f"rhs_{kind}_dimensions"]) for kind in ("batching", "contracting")
    )
    (ragged,), groups = numbers["lhs_ragged_dimensions"], numbers["rhs_group_dimensions"]
    left, sizes, known = call.shape(0), call.shape(2), [*batch[0], *summed[0]]
    axes = (
        known[: known.index(ragged)] if ragged in known else [*batch[0], *(n for n in range(ragged) if n not in known)]
    )
    if len(sizes) > 1:
        call.same_shape(sizes[:-1], _of(left, axes), "there must be groups for each position on the axes before")
    for n in groups:
        call.equal(call.shape(1)[n], sizes[-1], "there must be a matrix for each group")
    shape = _product(call, batch, summed, groups)
    return call.output((sizes[-1], *shape) if ragged in summed[0] else shape)


_NUMBERS = re.compile(r"(\w+) = \[([\d, ]+)\]")


@operator("dot")
def dot(call: HloCall) -> Value:
    """A product of matrices and vectors."""
    left, right = call.shape(0), call.shape(1)
    call.equal(left[-1], right[0], _CONTRACTED)
    return call.output((*left[:-1], *right[1:]))


@operator("einsum", "unary_einsum")
def einsum(call: HloCall) -> Value:
    """A product that an equation describes: a letter stands for one size."""
    taken, _, output = call.text("einsum_config").partition("->")
    sizes: dict[str, Dim] = {}
    for letters, dims in zip(taken.split(","), call.shapes(), strict=True):
        if "." in letters:
            call.give_up("an ellipsis is not followed")
        for letter, size in zip(letters.strip(), dims, strict=True):
            call.equal(size, sizes.setdefault(letter, size), f"the sizes of {letter} must be equal")
    return call.output(tuple(sizes[letter] for letter in output.strip()))


@operator("cholesky", constraints="C1 C3")
def cholesky(call: HloCall) -> Value:
    """A decomposition of square matrices."""
    dims = call.shape(0)
    call.equal(dims[-2], dims[-1], "the matrices must be square")
    return call.output(dims)


@operator("triangular_solve", constraints="C3 C4")
def triangular_solve(call: HloCall) -> Value:
    """Solutions of equations with triangular matrices, from the left or from the right."""
    a, b = call.shape(0), call.shape(1)
    call.equal(a[-2], a[-1], "the matrices must be square")
    # From the left, a solution has as many rows as the matrix; from the right, as many columns.
    call.equal(a[-1], b[-2 if call.flag("left_side") else -1], "the matrices must fit the right-hand sides")
    stack = call.alike([b[:-2], a[:-2]], _BATCHED)
    return call.output((*stack, *b[-2:]))


@operator("fft", constraints="C4 C5")
def fft(call: HloCall) -> Value:
    """Fourier transforms over the last axes: the sizes of real tensors are the attribute's."""
    dims, lengths = call.shape(0), call.integers("fft_length") or []
    kind, whole = call.keyword("fft_type"), len(call.shape(0)) - len(lengths)
    if kind in ("FFT", "IFFT"):
        return call.output(dims)
    expected = lengths if kind == "RFFT" else [*lengths[:-1], lengths[-1] // 2 + 1]
    for axis, (size, length) in enumerate(zip(dims[whole:], expected, strict=True), whole):
        # A transform of length 0 has no frequencies, although 0 // 2 + 1 is 1.
        is_empty = kind == "IRFFT" and axis == len(dims) - 1 and lengths[-1] == 0
        call.equal(size, 0 if is_empty else length, f"axis {axis} must have the length of the transform")
    # Of a real signal, the second half of the frequencies follows from the first, and is left out on the last axis.
    last = lengths[-1] if kind == "IRFFT" else lengths[-1] // 2 + 1 if lengths[-1] else dims[-1]
    return call.output((*dims[:-1], last))


# Reductions, sorts, normalisations, random numbers.


# Operations that fold elements, and their names in `symbcast.operators.values.elements`.
_STEPS = {
    "stablehlo.add": "Add",
    "stablehlo.multiply": "Mul",
    "stablehlo.maximum": "Max",
    "stablehlo.minimum": "Min",
    "stablehlo.and": "And",
    "stablehlo.or": "Or",
}


@operator("reduce", constraints="C1 C7")
def reduce_(call: HloCall) -> list[Value]:
    """Tensors of one shape, each folded along some axes."""
    count = len(call.inputs) // 2
    dims = call.alike(call.shapes()[:count], "all inputs must have the same shape")
    check_initial(call)
    shape = reduce(call, dims, call.integers("dimensions"), keepdims=False)
    return [call.output(shape, _content(call) if count == 1 and not shape else None, n) for n in range(count)]


def check_initial(call: HloCall) -> None:
    """Note initial values that are no numbers: the specification has none, and MLIR's verifier takes some."""
    if any(call.shapes()[len(call.inputs) // 2 :]):
        call.note("not checked: initial values must be numbers")


def _content(call: HloCall) -> Content | None:
    """Return the one element to which all elements and the initial value are folded by an operation on numbers."""
    operations = [op.operation.name for op in call.node.raw.regions[0].blocks[0].operations]
    step = _STEPS.get(operations[0]) if len(operations) == 2 else None
    start = call.elements(1)
    # Of integers, ``and`` and ``or`` work on bits, which are not followed.
    if step is None or (step in ("And", "Or")) != (call.dtype() == BOOL) or not start:
        return None
    content = folded(call, step)
    if content is None or not isinstance(content, Elements):
        return None
    item = BINARY[step](call.asker, call.dtype(), start[0], content.items[0])
    return None if item is None else Elements((item,))


@operator("sort", constraints="C2 C3", elements=FIRST)
def sort(call: HloCall) -> list[Value]:
    """Tensors of one shape, sorted along an axis by a comparison of their elements."""
    shape = call.alike(call.shapes(), "all inputs must have the same shape")
    return [call.output(shape, position=n) for n in range(len(call.inputs))]


# Normalisations: one number for each feature.


# The operands with one number for each feature, and how many results have one.
_OF_FEATURES = {
    "stablehlo.batch_norm_inference": ([1, 2, 3, 4], 0),
    "stablehlo.batch_norm_training": ([1, 2], 2),
    "stablehlo.batch_norm_grad": ([1, 2, 3], 2),
}


@operator("batch_norm_inference", "batch_norm_training", constraints="C3 C4 C5 C6 C7")
@operator("batch_norm_grad", constraints="C3 C4 C5")
def batch_norm(call: HloCall) -> list[Value]:
    """Normalised features, or their gradients, and tensors with one number for each feature."""
    operands, results = _OF_FEATURES[call.node.op_type]
    tensors = [call.shape(n) for n in range(len(call.inputs)) if n not in operands]
    shape = call.alike(tensors, "the operand and its gradient must have the same shape")
    size = call.shape(0)[call.integer("feature_index")]
    for n in operands:
        call.equal(call.shape(n)[0], size, "there must be one number for each feature")
    return [call.output(shape), *(call.output(call.shape(1), position=1 + n) for n in range(results))]


# Random numbers.


@operator("rng", constraints="C3", elements=Decider.DATA)
def rng(call: HloCall) -> Value:
    """Random numbers in a shape that an operand holds."""
    return call.output(call.requested_sizes(2))


@operator("rng_bit_generator", constraints="C1 C2", elements=Decider.DATA)
def rng_bit_generator(call: HloCall) -> list[Value]:
    """The next state of a generator, and random bits in the shape of the result's type."""
    dims = call.shape(0)
    if len(dims) != 1:
        call.give_up("the state must have one axis")
    (state,) = dims
    algorithm = call.keyword("rng_algorithm")
    bits = call.width(call.node.raw.operands[0])
    if algorithm == "THREE_FRY":
        call.equal(state, 128 // bits, "the state must have 128 bits")
    elif algorithm == "PHILOX":
        call.one_of(state, (128 // bits, 192 // bits), "the state must have 128 or 192 bits")
    return [call.output((state,)), call.output(call.declared(1), position=1)]


@operator("custom_call.stablehlo.dynamic_rng_bit_generator")
def dynamic_rng_bit_generator(call: HloCall) -> list[Value]:
    """The next state of a generator, and random bits in a shape that an operand holds."""
    return [call.output(call.shape(0)), call.output(call.requested_sizes(1, 1), position=1)]


# Convolutions and reductions of windows: windows that do not fit have no position.


class HloWindow(NamedTuple):
    """A window along one axis: its own size, and the padding and the gaps of the axis."""

    size: Dim
    stride: Dim
    low: Dim
    high: Dim
    base_dilation: Dim
    dilation: Dim


def positions(call: HloCall, size: Dim, window: HloWindow) -> Dim:
    """Return at how many positions a window fits on an axis; none where it is longer than the padded axis."""
    # An empty axis has no gaps to dilate: without the maximum, its dilated length would be negative.
    larger = call.bounds.larger
    base = larger(add(multiply(subtract(size, 1), window.base_dilation), 1), 0)
    span = add(multiply(subtract(window.size, 1), window.dilation), 1)
    room = subtract(add(base, window.low, window.high), span)
    return larger(add(floor_divide(room, window.stride), 1), 0)


def _windows(
    call: HloCall, sizes: Sequence[Dim], padding: Sequence[tuple[Dim, Dim]], names: Sequence[str]
) -> list[HloWindow]:
    """Return the windows of an operation; ``names`` are the attributes for strides and the two dilations."""
    strides, bases, dilations = (_each(call, name, len(sizes)) for name in names)
    parts = zip(sizes, strides, padding, bases, dilations, strict=True)
    return [HloWindow(size, stride, *ends, base, dilation) for size, stride, ends, base, dilation in parts]


def _each(call: HloCall, name: str, count: int) -> list[int]:
    numbers = (call.integers(name) if name else None) or [1] * count
    if len(numbers) != count:
        call.refuse(f"{name} must have {count} numbers, one for each axis of the window, but has {len(numbers)}")
    return numbers


def _padding(call: HloCall, count: int) -> list[tuple[Dim, Dim]]:
    pairs = call.attribute("padding")
    if pairs is None or not pairs.size:
        return [(0, 0)] * count
    return [(int(low), int(high)) for low, high in pairs.reshape(count, 2)]


_REDUCED = ("window_strides", "base_dilations", "window_dilations")


@operator("reduce_window", constraints="C2 C14 C15")
def reduce_window(call: HloCall) -> list[Value]:
    """Tensors of one shape, each folded in every position of a window."""
    count, sizes = len(call.inputs) // 2, call.integers("window_dimensions") or []
    dims = call.alike(call.shapes()[:count], "all inputs must have the same shape")
    check_initial(call)
    windows = _windows(call, sizes, _padding(call, len(sizes)), _REDUCED)
    shape = tuple(positions(call, d, w) for d, w in zip(dims, windows, strict=True))
    return [call.output(shape, position=n) for n in range(count)]


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
        call.filled((sizes[n], strides[n], bases[n], dilations[n]), "windows, strides and dilations must be at least 1")
        window = HloWindow(sizes[n], strides[n], padding[2 * n], padding[2 * n + 1], bases[n], dilations[n])
        shape.append(positions(call, size, window))
    return [call.output(tuple(shape), position=n) for n in range(count)]


@operator("select_and_scatter", constraints="C2 C11")
def select_and_scatter(call: HloCall) -> Value:
    """Values of the source added where a window selects an element; there is one for each position."""
    dims, source = call.shape(0), call.shape(1)
    sizes = call.integers("window_dimensions") or [1] * len(dims)
    windows = _windows(call, sizes, _padding(call, len(sizes)), ("window_strides", "", ""))
    for axis, (size, window) in enumerate(zip(dims, windows, strict=True)):
        reason = f"axis {axis} of the source must have one element for each position of the window"
        call.equal(source[axis], positions(call, size, window), reason)
    return call.output(dims)


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
    padding = call.sizes(2)
    if padding is None or len(padding) != 2 * count:
        call.note_data("the padding", 2)
        text = "of the padding, taken to be 0 or more"
        padding = tuple(call.fresh(f"padding_{n}", f"element {n} {text}", by=[2]) for n in range(2 * count))
    return _convolved(call, list(zip(padding[::2], padding[1::2], strict=True)))


def _convolved(call: HloCall, padding: Sequence[tuple[Dim, Dim]]) -> Value:
    left, right = call.shape(0), call.shape(1)
    numbers = call.dimensions("dimension_numbers", "ConvDimensionNumbers")
    features, batches = call.integer("feature_group_count", 1), call.integer("batch_group_count", 1)
    batch, channels = left[numbers.input_batch_dimension], left[numbers.input_feature_dimension]
    inner, outer = right[numbers.kernel_input_feature_dimension], right[numbers.kernel_output_feature_dimension]
    _check_groups(call, (batch, channels, inner, outer), features, batches)
    sizes = [right[n] for n in numbers.kernel_spatial_dimensions]
    call.filled(sizes, "the window must not be empty")
    windows = _windows(call, sizes, padding, _CONVOLVED)
    sizes_by_axis: dict[int, Dim] = {
        numbers.output_batch_dimension: floor_divide(batch, batches),
        numbers.output_feature_dimension: outer,
    }
    places = zip(numbers.output_spatial_dimensions, numbers.input_spatial_dimensions, windows, strict=True)
    sizes_by_axis.update((place, positions(call, left[axis], window)) for place, axis, window in places)
    return call.output(tuple(sizes_by_axis[n] for n in range(len(left))))


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
    call.equal(channels, multiply(inner, features), "the input features of each group must be as many as the kernel's")
