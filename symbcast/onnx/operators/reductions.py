"""Matrix products, reductions, normalisation along axes, and losses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from functools import reduce as fold
from math import prod

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import any_of, negate
from symbcast.core.algebra.symbols import AxisSequence, Unknown
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.walking.reshaping import expect, expect_line, folded, known_shape, known_shapes
from symbcast.onnx.operators import declarations
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, operator
from symbcast.onnx.operators.signatures import declare
from symbcast.onnx.reference import infer
from symbcast.operators.layers import check_channels, group_norm, layer_norm, per_channel
from symbcast.operators.operator import Dims, find_operator
from symbcast.operators.products import einsum, matmul, matrix_product, reduce, search
from symbcast.operators.reach import ANY, Reach, reach_of
from symbcast.operators.values.contents import BOOL, DOUBLE, FLOAT, INT32, INT64, Content, Elements, IndexRamp
from symbcast.operators.values.elements import BINARY
from symbcast.operators.values.intervals import UNBOUNDED, extent, places, some_of
from symbcast.operators.values.value import Value


@operator("MatMul", reaches=lambda call, shapes: find_operator("matmul", {}).reaches([s or () for s in shapes]))
def matmul_(call: NodeCall) -> Value:
    """A product of matrices, batch axes broadcast."""
    return Value(matmul(call, call.shape(0), call.shape(1)), call.dtype() or call.dtype(1))


def _gemm_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the reach of Gemm, which broadcasts the bias; ONNX Runtime treats a first operand of rank 1 as a row."""
    matrix = Reach(rank=2)
    return [None if call.asker.runtime == "onnxruntime" else matrix, matrix, ANY]


@operator("Gemm", reaches=_gemm_reach)
def gemm(call: NodeCall) -> Value:
    """A product of two matrices, and a third one broadcast onto it, one way."""
    return Value(gemm_product(call, 0, 1, 2), call.dtype() or call.dtype(1))


def gemm_product(call: NodeCall, left: int, right: int, bias: int) -> Dims:
    """Return the shape of a product of two matrices, each transposed if an attribute says so; a bias fits it."""
    a, b = call.rank(left, (2,), "A"), call.rank(right, (2,), "B")
    flipped = bool(call.integer("transA")), bool(call.integer("transB"))
    shape = matrix_product(call, a, b, flip_left=flipped[0], flip_right=flipped[1])
    added = known_shape(call, bias, "what is added")
    if added is not None:
        # Before opset 7 the attribute ``broadcast`` says whether C is broadcast at all.
        is_legacy = call.node.op_type == "Gemm" and call.version < 7
        is_equal = is_legacy and not call.integer("broadcast")
        call.broadcast(added, shape, rule="none" if is_equal else "unidirectional")
    return shape


def _einsum_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    equation = call.text("equation")
    terms, _, output = equation.partition("->")
    # An ellipsis is treated as one sequence: it has the same number of axes in each term, so it cannot cover two.
    if terms.count("...") > 1 or (terms.count("...") and output and "..." not in output):
        raise UnknownShapeError
    return find_operator("einsum", {"equation": equation}).reaches([s or () for s in shapes])


@operator("Einsum", reaches=_einsum_reach)
def einsum_(call: NodeCall) -> Value:
    """Each letter is one size; letters that the output leaves out are summed over, ``...`` is broadcast."""
    shapes = call.shapes()
    return Value(einsum(call, call.text("equation"), shapes), call.dtype())


declare("Det", "(..., N, N) -> (...)")
declare("Inverse", "(..., N, N) -> (..., N, N)", domain=MICROSOFT)
declare("CDist", "(M, 1<=N), (K, N) -> (M, K)", domain=MICROSOFT)


# Operators that reduce axes, and those that normalise along them.


# Element types that can hold sums of sizes.
_WIDE = frozenset({FLOAT, INT32, INT64, DOUBLE})

# All other reductions take their axes as an input since version 18.
_AXES_ARE_INPUT_SINCE = {"ReduceSum": 13}
_STEPS = {"ReduceSum": "Add", "ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}


def _reduced_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axes = call.axes("axes", 1, _AXES_ARE_INPUT_SINCE.get(call.node.op_type, 18))
    if axes:
        return [] if declarations.may_be_number(call, shapes) else [reach_of(axes)]
    return [] if call.integer("keepdims", 1) or call.integer("noop_with_empty_axes") else [ANY]


# ONNX Runtime's maximum of no elements is the least number of the type.
@operator(
    "ReduceMax",
    "ReduceMin",
    reaches=_reduced_reach,
    interval=lambda call, outputs, n: (
        some_of(declarations.input_interval(call, 0)) if call.is_positive(call.shape(0)) else UNBOUNDED
    ),
)
@operator(
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum"),
    "ReduceSumSquare",
    reaches=_reduced_reach,
)
def reduction(call: NodeCall) -> Value:
    """The reduced axes become 1, or are removed."""
    return Value(_reduced_shape(call), call.dtype(), _reduced_content(call))


# "ReduceMax is not defined for empty set with bool type": (0, 3) along axis 0; of floats it is (1, 3).
REDUCE_EMPTY = RuntimeDifference("ReduceMax ReduceMin", "refuses to reduce no truth values to one", "requires nothing")


def _reduced_shape(call: NodeCall) -> Dims:
    """Return the first input with the reduced axes set to 1 or removed."""
    dims, axes = call.shape(0), _axes(call)
    if axes is None:
        return dims
    shape = reduce(call, dims, axes or None, keepdims=call.integer("keepdims", 1) == 1)
    if call.dtype() == BOOL and call.does(REDUCE_EMPTY):
        call.require(any_of([call.empty(shape), negate(call.empty(dims))]), "there must be a truth value to reduce")
    return shape


def _axes(call: NodeCall) -> list[int] | None:
    """Return the axes to reduce, all if none are given; None if nothing is reduced."""
    since = _AXES_ARE_INPUT_SINCE.get(call.node.op_type, 18)
    if call.version >= since:
        expect_line(call, 1)
    axes = call.axes("axes", 1, since)
    if not axes and call.integer("noop_with_empty_axes"):
        return None
    return axes or []


def _reduced_content(call: NodeCall) -> Content | None:
    """Return the content of a reduced tensor, from elements that are all known or from a ramp."""
    data, dims, axes = call.value(0), call.shape(0), _axes(call)
    if axes is None or data.content is None:
        return data.content
    places = sorted({a % len(dims) for a in axes}) if axes else list(range(len(dims)))
    if isinstance(data.content, IndexRamp):
        return _reduced_ramp(call, data.content, places)
    return folded(call, _STEPS.get(call.node.op_type)) if len(places) == len(dims) else _folded_along(call, places)


def _folded_along(call: NodeCall, places: Sequence[int]) -> Content | None:
    """Reduce listed elements along some of the axes."""
    import numpy as np

    name, items, sizes = _STEPS.get(call.node.op_type), call.elements(0), numbers_of(call.shape(0))
    if name is None or not items or sizes is None:
        return None
    array = np.empty(len(items), dtype=object)
    array[:] = items
    lines = np.moveaxis(array.reshape(sizes), places, range(-len(places), 0))
    step = partial(BINARY[name], call.asker, call.dtype())
    elements = [fold(step, line) for line in lines.reshape(-1, prod(sizes[n] for n in places)).tolist()]
    return None if None in elements else Elements(tuple(elements))


def _reduced_ramp(call: NodeCall, ramp: IndexRamp, places: Sequence[int]) -> Content | None:
    """Reduce a ramp along axes: to a multiple where it is constant along them, or to one of its ends."""
    dims, rest = call.shape(0), [0 if n in places else s for n, s in enumerate(ramp.strides)]
    along = IndexRamp(0, tuple(ramp.strides[n] for n in places))
    sizes = tuple(dims[n] for n in places)
    if call.node.op_type == "ReduceSum" and not any(along.strides) and call.dtype() in _WIDE:
        # Nothing varies along the reduced axes, so that the sum is a multiple of each element.
        count = multiply(*sizes)
        start, strides = multiply(ramp.start, count), [multiply(s, count) for s in rest]
    elif call.node.op_type in ("ReduceMax", "ReduceMin") and call.is_positive(sizes):
        # One end of the reduced axes has the greatest element, the other the least, wherever the others are.
        ends = extent(along, sizes, call.bounds)
        end = ends.high if call.node.op_type == "ReduceMax" else ends.low
        if end is None:
            return None
        start, strides = add(ramp.start, end), rest
    else:
        return None
    if call.integer("keepdims", 1) != 1:
        strides = [s for n, s in enumerate(strides) if n not in places]
    return IndexRamp(start, tuple(strides)) if strides else Elements((start,))


# ArgMax of (0, 0) along axis 0 is (1, 0).
ARG_EMPTY = RuntimeDifference(
    "ArgMax ArgMin", "searches an empty axis if another axis is empty too", "an axis to search is not empty"
)


@operator(
    "ArgMax",
    "ArgMin",
    reaches=lambda call, shapes: [] if declarations.may_be_number(call, shapes) else [reach_of([call.integer("axis")])],
    interval=lambda call, outputs, n: places(call.shape(0)[call.integer("axis")]),
)
def arg(call: NodeCall) -> Value:
    """The axis, which must not be empty, becomes 1 or is removed."""
    dims = call.shape(0)
    axis = call.integer("axis")
    unless = []
    if call.does(ARG_EMPTY):
        place = call.axis(axis, len(dims))
        unless = [call.empty(d for n, d in enumerate(dims) if n != place)]
    return Value(search(call, dims, axis, keepdims=call.integer("keepdims", 1) == 1, unless=unless), INT64)


# "Size of X.shape[axis:] must be at least 1, got 0" for (2, 0); (0, 2) passes.
LAYER_NORM_EMPTY = RuntimeDifference(
    "LayerNormalization RMSNormalization SimplifiedLayerNormalization",
    "refuses empty axes to normalise over",
    "requires nothing",
)


def _normalised(call: NodeCall) -> tuple[Dims, int]:
    """Return the input and the first normalised axis; ONNX Runtime requires the axes to be nonempty."""
    dims = call.shape(0)
    axis = call.axis(call.integer("axis", -1), len(dims))
    if call.does(LAYER_NORM_EMPTY):
        for n, size in enumerate(dims[axis:], axis):
            call.at_most(1, size, f"axis {n}, over which it normalises, must not be empty")
    return dims, axis


def _normalised_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    axis = call.integer("axis", -1)
    return [reach_of([axis]), ANY, ANY] if axis < 0 else []


@operator("LayerNormalization", reaches=_normalised_reach)
def layer_normalization(call: NodeCall) -> Sequence[Value]:
    """Scale and bias broadcast onto the input, one way."""
    dims, axis = _normalised(call)
    statistics_shape = layer_norm(call, dims, axis, known_shapes(call, 1, 2), parameters_broadcast=True)
    statistics = Value(statistics_shape, call.integer("stash_type", 1))
    return Value(dims, call.dtype()), statistics, statistics


@operator("RMSNormalization", reaches=_normalised_reach)
@operator("SimplifiedLayerNormalization")
def rms_normalization(call: NodeCall) -> Sequence[Value]:
    """Scale broadcasts onto the input, one way."""
    dims, axis = _normalised(call)
    statistics_shape = layer_norm(call, dims, axis, known_shapes(call, 1), parameters_broadcast=True)
    return Value(dims, call.dtype()), Value(statistics_shape, call.integer("stash_type", 1))


@operator("BatchNormalization", reaches=lambda call, shapes: [Reach(first=2)])
def batch_normalization(call: NodeCall) -> Sequence[Value]:
    """Scale, bias, mean and variance have one number for each channel."""
    dims = known_shape(call, 0, "the input")
    if dims is None:
        channels = next((s[0] for n in range(1, 5) if (s := call.value(n).shape)), None)
        if channels is None:
            raise UnknownShapeError
    else:
        # A vector is a batch with one channel: 4 elements with a scale of 1 number run.
        channels = dims[1] if len(dims) > 1 else 1
    per_channel(call, channels, known_shapes(call, *range(1, 5)))
    mean, variance = (Value((channels,), call.dtype(n)) for n in (3, 4))
    output = _normalised_batch(call, channels) if dims is None else Value(dims, call.dtype())
    # Before opset 14 the last two are the saved mean and variance.
    return output, mean, variance, mean, variance


def _normalised_batch(call: NodeCall, channels: Dim) -> Value:
    """Return data of unknown rank, with their known last axes; otherwise only the number of channels is known."""
    ends = call.walk.open.ends(call.value(0))
    # The data may have one axis, and then one channel.
    if len(ends) == 1 and call.bounds.is_at_least(channels, 2):
        ends = (Unknown(), channels, AxisSequence.anonymous().rest())
    return call.walk.open.opened(ends, call.dtype())


# "number of dimensions is less than 3: 2".
INSTANCE_NORM_AXES = RuntimeDifference(
    "InstanceNormalization", "requires an axis after batch and channels", "requires a batch and channels"
)


@operator("InstanceNormalization")
def instance_normalization(call: NodeCall) -> Value:
    """Each channel of each batch element normalised; scale and bias have one number for each channel."""
    dims = call.shape(0)
    if len(dims) < (3 if call.does(INSTANCE_NORM_AXES) else 2):
        call.refuse("the input must have a batch, channels and, for ONNX Runtime, an axis to normalise over")
    per_channel(call, dims[1], known_shapes(call, 1, 2))
    return Value(dims, call.dtype())


@operator("LpNormalization", reaches=declarations.reaches_axis(-1))
def lp_normalization(call: NodeCall) -> Value:
    """Each line along an axis divided by its length."""
    dims = call.shape(0)
    call.axis(call.integer("axis", -1), len(dims))
    call.refuse_if(call.integer("p", 2) not in (1, 2), "p must be 1 or 2")
    return Value(dims, call.dtype())


# (1, 3, 4) fails a check for 4 axes, and a size of 2 does not load.
LRN_IMAGES = RuntimeDifference(
    "LRN", "normalises only images, over an odd number of channels", "requires a batch and channels"
)


@operator("LRN")
def local_response_normalization(call: NodeCall) -> Value:
    """Each element normalised by its neighbouring channels."""
    dims, size = call.shape(0), call.integer("size")
    check_channels(call, dims)
    if call.does(LRN_IMAGES) and (len(dims) != 4 or size < 1 or size % 2 == 0):
        call.refuse("ONNX Runtime needs an input of rank 4, and a size that is odd")
    return Value(dims, call.dtype())


# 4 channels with a scale of 1 number work at opset 21, where the documents ask for 4 numbers.
GROUP_NORM_FUNCTION = RuntimeDifference(
    "GroupNormalization",
    "runs the definition by other operators, which broadcasts",
    "scale and bias have one number for each channel",
)


@operator("GroupNormalization")
def group_normalization(call: NodeCall) -> Value | Sequence[Value]:
    """The channels are in groups of equal size; scale and bias have one number for each channel, or group."""
    groups = call.integer("num_groups", 1)
    call.refuse_if(groups < 1, "there must be at least one group")
    # ONNX Runtime has no kernel for it; it uses the definition by other operators, which broadcasts.
    if call.does(GROUP_NORM_FUNCTION):
        return infer(call)
    dims = call.shape(0)
    check_channels(call, dims)
    group_norm(call, dims[1], groups, known_shapes(call, 1, 2), is_per_group=call.version < 21)
    return Value(dims, call.dtype())


LOSS_FUNCTION = RuntimeDifference(
    "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "runs the definition by other operators, which gathers",
    "there is a weight for each class, and a target for each place",
)


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(call: NodeCall) -> Value | Sequence[Value]:
    """One number for each place of (N, C, ...), or one for all; each place has a target class."""
    # ONNX Runtime has no kernel for it; it uses the definition by other operators, which gathers.
    if call.does(LOSS_FUNCTION):
        return infer(call)
    dims = call.shape(0)
    call.refuse_if(len(dims) < 2, "the input must have a batch and classes")
    places = (dims[0], *dims[2:])
    expect(call, 1, "the target", places)
    expect(call, 2, "the weights", (dims[1],))
    call.note_data("the targets, which are data, must be classes", 1)
    output = Value(places if call.text("reduction", "mean") == "none" else (), call.dtype())
    return output, Value(dims, call.dtype())
