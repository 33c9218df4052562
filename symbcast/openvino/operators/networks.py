"""The layers of networks.

Products, attention, reductions, normalisation, recurrent layers, convolutions and pools.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import sequence_place
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import folded, known_shape, known_shapes
from symbcast.graphs.walking.unknown_ranks import required_numbers
from symbcast.openvino.graph import OpenVinoCall, may_be_number, operator
from symbcast.operators import layers
from symbcast.operators.convolution import SlidingWindow, covering, fitting, pool, spatial_axes, transposed_length
from symbcast.operators.layers import GATES, STATES, RecurrentLayer, RecurrentLayout, Role
from symbcast.operators.operator import Context, Dims, OptionalOperand, find_operator
from symbcast.operators.products import einsum, matmul, reduce
from symbcast.operators.reach import ANY, Reach, reach_of
from symbcast.operators.values.value import FIRST, Value


def _matmul_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    left, right = find_operator("matmul", {}).reaches([s or () for s in shapes])
    # Of a transposed left operand, the rows are on the last axis, beside the summed one.
    return [Reach(last=2, is_written=True) if call.integer("transpose_a") else left, right]


@operator("MatMul", reaches=_matmul_reach)
def matmul_(call: OpenVinoCall) -> Value:
    """A matrix product with optionally transposed operands; batch axes are broadcast."""
    left, right = call.shape(0), call.shape(1)
    return call.output(matmul(call, _flipped(call, left, "transpose_a"), _flipped(call, right, "transpose_b")))


def _flipped(call: OpenVinoCall, dims: Dims, name: str) -> Dims:
    """Return a shape with its last two axes swapped if an attribute says so; a vector is unchanged."""
    return (*dims[:-2], dims[-1], dims[-2]) if call.flag(name) and len(dims) > 1 else dims


@operator("Einsum")
def einsum_(call: OpenVinoCall) -> Value:
    """A sum of products: each letter is one size, and letters that the output omits are summed over."""
    shapes = call.shapes()
    return call.output(einsum(call, call.text("equation"), shapes))


@operator("ScaledDotProductAttention")
def attention(call: OpenVinoCall) -> Value:
    """Attention of queries (..., L, E), keys (..., S, E), values (..., S, V); a mask broadcasts with (..., L, S)."""
    query, key, value = (call.shape(n) for n in range(3))
    # "Query input rank length must be at least 3 or more."
    call.refuse_if(min(len(query), len(key), len(value)) < 3, "query, key and value must have a batch")
    output = layers.attend(call, query, key, value)
    if not call.has(3) or call.flag("causal") or not call.shape(3):
        return call.output(output)
    mask = call.shape(3)
    call.refuse_if(len(mask) < 2, "a mask must have at least two axes")
    length, _ = call.broadcast((query[-2], key[-2]), mask[-2:])
    return call.output((*call.broadcast(output[:-2], mask[:-2]), length, value[-1]))


# Reductions.

_STEPS = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul", "ReduceSum": "Add"}


def _reduced_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    reach = reach_of(required_numbers(call, 1))
    if reach.last == 1 and may_be_number(shapes):
        return [] if call.integer("keep_dims") else [reach._replace(least=0)]
    return [reach]


@operator("ReduceMax", "ReduceMin", reaches=_reduced_reach, elements=FIRST)
@operator(
    *(*_STEPS, "ReduceL1", "ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMean"), reaches=_reduced_reach
)
def reduced(call: OpenVinoCall) -> Value:
    """A reduction: axes become size 1 or are removed; if none are given, nothing is reduced."""
    dims = call.shape(0)
    numbers = call.input_numbers(1, "the axes")
    axes = call.axes_of(dims, numbers)
    # "Accessing out-of-range dimension" (2026.4); without keep_dims the axis 0 of a scalar reduces nothing.
    call.refuse_if(numbers and not dims and call.flag("keep_dims"), "a scalar has no axis to keep")
    if not axes:
        return call.output(dims, call.value(0).content)
    shape = reduce(call, dims, axes, keepdims=call.flag("keep_dims"))
    is_whole = len(set(axes)) == len(dims)
    return call.output(shape, folded(call, _STEPS.get(call.node.op_type)) if is_whole else None)


# Normalisation.


def _softmax_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axis = call.integer("axis", 1)
    # OpenVINO takes the axis 0 or -1 of a scalar for one of size 1.
    return [ANY if axis == -1 and may_be_number(shapes) else reach_of([axis])]


@operator("Softmax", "LogSoftmax", reaches=_softmax_reach)
def along_axis(call: OpenVinoCall) -> Value:
    """A function applied to each vector along an axis; the shape is unchanged."""
    dims = call.shape(0)
    call.axes_of(dims, [call.integer("axis", 1)])
    return call.output(dims)


@operator("MVN")
def mean_variance_normalised(call: OpenVinoCall) -> Value:
    """The data normalised along some axes."""
    dims = call.shape(0)
    if call.version >= 6:
        call.input_axes(1, len(dims))
    return call.output(dims)


@operator("BatchNormInference")
def batch_normalised(call: OpenVinoCall) -> Value:
    """The data normalised with one number per channel."""
    position = 0 if call.version >= 5 else 2
    dims = call.shape(position)
    layers.per_channel(call, dims[1], known_shapes(call, *(n for n in range(5) if n != position)))
    return call.output(dims)


@operator("GroupNormalization")
def group_normalised(call: OpenVinoCall) -> Value:
    """The data normalised in equal groups of channels; scale and bias have one number per channel."""
    dims = call.shape(0)
    layers.group_norm(call, dims[1], call.integer("num_groups", 1), known_shapes(call, 1, 2))
    return call.output(dims)


# Recurrent layers and cells: RNN, GRU and LSTM.


@operator("RNNSequence", "GRUSequence", "LSTMSequence")
def sequence(call: OpenVinoCall) -> Sequence[Value]:
    """All hidden states (batch, directions, length, hidden), the last one, and for an LSTM the last cell state."""
    kind = call.node.op_type.removesuffix("Sequence")
    directions = 2 if call.text("direction", "forward") == "bidirectional" else 1
    batch, length, features = call.rank(0, (3,), "X")
    layout = RecurrentLayout("NT", "ND", "NDT")
    layer = RecurrentLayer(kind, layout, batch, features, call.integer("hidden_size"), length, directions)
    return _outputs(call, _fit(call, layer, ["lengths", "weights", "recurrence", "bias"]))


@operator("RNNCell", "GRUCell", "LSTMCell")
def cell(call: OpenVinoCall) -> Sequence[Value]:
    """The next hidden state (batch, hidden), and for an LSTM the next cell state."""
    kind = call.node.op_type.removesuffix("Cell")
    if kind == "LSTM" and call.version < 4:
        call.give_up("LSTMCell before version 4, which may have peepholes, is not followed")
    batch, features = call.rank(0, (2,), "X")
    layer = RecurrentLayer(kind, RecurrentLayout("N", "N", "N", "RC"), batch, features, call.integer("hidden_size"))
    return _outputs(call, _fit(call, layer, ["weights", "recurrence", "bias"])[1:])


def _fit(call: OpenVinoCall, layer: RecurrentLayer, roles: list[Role]) -> list[Dims]:
    """Require that the inputs fit, states first; a GRU that resets after the product has an extra bias."""
    more = layer.kind == "GRU" and call.flag("linear_before_reset")
    names = {r: (n, call.input_name(n)) for n, r in enumerate([*STATES[: len(layer.states)], *roles], 1)}
    operands = {role: OptionalOperand(name, known_shape(call, n, name)) for role, (n, name) in names.items()}
    return layers.recurrent(call, layer._replace(bias_gates=GATES[layer.kind] + more), operands)


def _outputs(call: OpenVinoCall, shapes: Sequence[Dims]) -> list[Value]:
    return [call.output(shape, position=n) for n, shape in enumerate(shapes)]


# Convolutions, pooling and sampling of regions.


_SAME = ("same_upper", "same_lower")
_FITS = "the window must fit into the padded input"


def _windows(call: OpenVinoCall, kernel: Dims) -> list[SlidingWindow]:
    """Return the window along each axis; automatic padding is not included."""
    count = len(kernel)
    strides = _numbers(call, "strides", 1, count)
    dilations = _numbers(call, "dilations", 1, count)
    is_explicit = call.text("auto_pad", "explicit") in ("explicit", "notset")
    before, after = (_numbers(call, name, 0, count) if is_explicit else [0] * count for name in _PADS)
    return [SlidingWindow(*all_) for all_ in zip(kernel, strides, dilations, before, after, strict=True)]


_PADS = ("pads_begin", "pads_end")


def _numbers(call: OpenVinoCall, name: str, default: int, count: int) -> list[int]:
    numbers = call.integers(name) or [default] * count
    call.refuse_if(len(numbers) != count, f"{name} must be {count} numbers")
    return numbers


def _positions(call: OpenVinoCall, context: Context, size: Dim, window: SlidingWindow) -> Dim:
    """Return the number of positions of a window along an axis."""
    if call.text("auto_pad") in _SAME:
        return covering(size, window.stride)
    return fitting(context, size, window)


# Convolutions.


def _convolution_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Data and filters have equal rank; with groups, the filters have one more axis."""
    more = int(call.node.op_type.startswith("Group"))
    data, filters = (None if s is None or sequence_place(s) is not None else len(s) for s in shapes[:2])
    rank = data if data is not None else None if filters is None else filters - more
    return [] if rank is None else [Reach(rank=rank), Reach(rank=rank + more)]


@operator("Convolution", "GroupConvolution", reaches=_convolution_reach)
@operator("BinaryConvolution")
def convolution(call: OpenVinoCall) -> Value:
    """A convolution; the filters are (O, I, ...), or with groups (G, O, I, ...)."""
    dims, filters = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    outputs, kernel = _channels(call, dims, filters, len(sizes), is_transposed=False)
    lengths = [_positions(call, call, s, w) for s, w in zip(sizes, _windows(call, kernel), strict=True)]
    return call.output((dims[0], outputs, *lengths))


@operator("ConvolutionBackpropData", "GroupConvolutionBackpropData")
def convolution_backprop(call: OpenVinoCall) -> Value:
    """A transposed convolution; the output sizes follow from windows and strides, or an input gives them."""
    dims, filters = call.shape(0), call.shape(1)
    sizes = spatial_axes(call, dims)
    outputs, kernel = _channels(call, dims, filters, len(sizes), is_transposed=True)
    if call.has(2):
        requested = call.input_sizes(2)
        call.refuse_if(len(requested) != len(sizes), f"the output shape must be {len(sizes)} numbers")
        return call.output((dims[0], outputs, *requested))
    extra = call.integers("output_padding") or [0] * len(sizes)
    lengths = []
    for size, window, more in zip(sizes, _windows(call, kernel), extra, strict=True):
        # Without an output shape, automatic padding is 0.
        length = transposed_length(size, window, more)
        if more or transposed_length(0, window, 0) != 0:
            has_elements = any_of([equal(dims[0], 0), at_most(1, size)])
            call.require(has_elements, "no axis may be empty")
            call.at_most(1, length, "the padding must not remove the whole output")
        lengths.append(length)
    return call.output((dims[0], outputs, *lengths))


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


@operator("MaxPool", "AvgPool", reaches=lambda call, shapes: [Reach(rank=len(call.integers("kernel") or ()) + 2)])
def pool_(call: OpenVinoCall) -> Sequence[Value]:
    """One element per window position; if the count is rounded up, the last window may extend past the padding."""
    dims = call.shape(0)
    sizes = spatial_axes(call, dims)
    kernel = tuple(call.integers("kernel") or ())
    call.refuse_if(len(kernel) != len(sizes), f"the kernel must be {len(sizes)} numbers")
    for size, what in zip(dims, ("batch", "channels"), strict=False):
        # "Batch size is zero." (2026.4), where ONNX Runtime returns no element.
        call.at_most(1, size, f"the {what} must not be empty")
    shape = pool(call, dims, _windows(call, kernel), partial(_pooled, call))
    return [call.output(shape, position=n) for n in range(len(call.node.outputs))]


def _pooled(call: OpenVinoCall, context: Context, size: Dim, window: SlidingWindow) -> Dim:
    rounding = call.text("rounding_type", "floor")
    room = window.room(size)
    if call.text("auto_pad") in _SAME:
        context.at_most(1, size, _FITS)
        count = covering(size, window.stride)
        # Without padding, the last window may extend past the end if the stride is longer than the window.
        return context.bounds.larger(count, add(ceil_divide(room, window.stride), 1)) if rounding == "ceil" else count
    if rounding == "floor":
        return fitting(context, size, window)
    context.at_most(0, room, _FITS)
    count = add(ceil_divide(room, window.stride), 1)
    if rounding != "ceil_torch":
        return count
    # Windows that start in the end padding are dropped; only those that start before it count.
    # 4 elements and 1 of padding behind, by a window of 1 and a stride of 3: 2 positions, 3 with plain "ceil".
    return context.bounds.smaller(count, ceil_divide(add(size, window.before), window.stride))


@operator("AdaptiveAvgPool", "AdaptiveMaxPool")
def adaptive_pool(call: OpenVinoCall) -> Sequence[Value]:
    """Adaptive pooling to the output sizes in an input."""
    dims, requested = call.shape(0), call.input_sizes(1)
    if len(requested) != len(spatial_axes(call, dims)):
        call.refuse("the output shape must be one number for each axis after the channels")
    return [call.output((*dims[:2], *requested), position=n) for n in range(len(call.node.outputs))]


# Regions.


@operator("ROIAlign", "ROIAlignRotated")
def roi_align(call: OpenVinoCall) -> Value:
    """Regions of the data, each pooled to the same size."""
    dims = call.rank(0, (4,), "data")
    regions, places = call.rank(1, (2,), "rois"), call.rank(2, (1,), "batch_indices")
    call.equal(regions[0], places[0], "there must be a batch index for each region")
    count = 5 if call.node.op_type.endswith("Rotated") else 4
    call.equal(regions[1], count, f"a region must be {count} numbers")
    return call.output((regions[0], dims[1], call.integer("pooled_h"), call.integer("pooled_w")))


@operator("GridSample")
def grid_sample(call: OpenVinoCall) -> Value:
    """One element per grid point."""
    dims, grid = call.rank(0, (4,), "data"), call.rank(1, (4,), "grid")
    call.equal(dims[0], grid[0], "data and grid must have the same batch")
    call.equal(grid[3], 2, "a grid point must be 2 numbers")
    return call.output((*dims[:2], *grid[1:3]))
