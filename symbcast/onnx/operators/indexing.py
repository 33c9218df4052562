"""Create tensors, read or write elements by index, and select elements by value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from symbcast.core.algebra.arithmetic import add, maximum, modulo, multiply, subtract
from symbcast.core.algebra.bounds import exact_quotient, numbers_of, reduced_fraction
from symbcast.core.algebra.formulas import TRUE, all_of, any_of, at_most, equal, negate
from symbcast.graphs.walking import reshaping, unknown_ranks
from symbcast.graphs.walking.gathering_and_slicing import check_columns, check_indices, gathered, index_length
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators import declarations
from symbcast.onnx.operators.attention import check_lengths
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, crashes, operator
from symbcast.onnx.operators.signatures import declare
from symbcast.onnx.protobuf import TensorConstant
from symbcast.operators import indexing
from symbcast.operators.operator import Context, Dims
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of
from symbcast.operators.values import contents, intervals
from symbcast.operators.values.intervals import UNBOUNDED, Estimate, places, some_of
from symbcast.operators.values.value import Value

# Operators that create tensors: constants, ranges, shapes as tensors.


@operator("Constant")
def constant(call: NodeCall) -> Value:
    """A tensor, or numbers, that the node holds."""
    for name, dtype in (
        ("value_int", contents.INT64),
        ("value_ints", contents.INT64),
        ("value_float", contents.FLOAT),
        ("value_floats", contents.FLOAT),
    ):
        value = call.attribute(name)
        if value is not None:
            import numpy as np

            array = np.asarray(value, dtype=np.int64 if dtype == contents.INT64 else np.float32)
            return Value(tuple(array.shape), dtype, contents.from_array(array))
    if call.attribute("value_string") is not None:
        return Value((), contents.STRING)
    if call.attribute("value_strings") is not None:
        return Value((len(call.attribute("value_strings")),), contents.STRING)
    if call.attribute("sparse_value") is not None:
        sparse = call.attribute("sparse_value")
        return Value(tuple(sparse.dims), sparse.values.data_type)
    value = call.attribute("value")
    if value is None:
        call.give_up("the node holds no value")
    return TensorConstant(value)


def _shape_reach(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Return the last ``-start`` axes, or all of them if there are fewer."""
    start, end = call.integer("start"), call.attribute("end")
    return [Reach(last=-start, is_written=True)] if start < 0 and (end is None or end < 0) else []


@operator("Shape", reaches=_shape_reach)
def shape(call: NodeCall) -> Value:
    """The sizes of the axes from ``start`` to ``end``."""
    if call.value(0).shape is None and not call.integer("start") and call.attribute("end") is None:
        return Value((call.rank_of(0),), contents.INT64)
    dims = call.shape(0)
    rank = len(dims)
    start, end = call.integer("start"), call.integer("end", rank)
    # Positions beyond the axes are clamped, as in a slice of Python.
    low, high = (min(max(n + rank if n < 0 else n, 0), rank) for n in (start, end))
    taken = dims[low : max(low, high)]
    return Value((len(taken),), contents.INT64, contents.Elements(taken))


@operator("Size")
def size(call: NodeCall) -> Value:
    """The number of elements."""
    dims = call.value(0).shape
    return Value((), contents.INT64, None if dims is None else contents.Elements((multiply(*dims),)))


@operator("ConstantOfShape")
def constant_of_shape(call: NodeCall) -> Value:
    """One number, everywhere."""
    if call.value(0).shape == ():
        call.refuse(f"{call.input_name(0)} must have an axis")
    dims = reshaping.requested_shape(call, 0)
    tensor = call.attribute("value")
    if tensor is None:
        return Value(dims, contents.FLOAT, reshaping.filled(0, dims))
    constant = TensorConstant(tensor)
    content = constant.content
    number = content.items[0] if isinstance(content, contents.Elements) and len(content.items) == 1 else None
    return Value(
        dims,
        constant.dtype,
        reshaping.filled(number, dims) if constant.dtype != contents.BOOL or number is not None else None,
    )


def _range_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    start, limit, step = (declarations.input_interval(call, n) for n in range(3))
    if step.low is not None and call.bounds.is_at_least(step.low, 1):
        return contents.Interval(start.low, None if limit.high is None else subtract(limit.high, 1))
    if step.high is not None and call.bounds.is_at_most(step.high, -1):
        return contents.Interval(None if limit.low is None else add(limit.low, 1), start.high)
    return UNBOUNDED


@operator("Range", interval=_range_interval)
def range_(call: NodeCall) -> Value:
    """Numbers from ``start`` on, before ``limit``, in steps of ``delta``."""
    return reshaping.counted(call)


@operator("RandomNormal", "RandomUniform")
def random(call: NodeCall) -> Value:
    """Numbers in a shape that the node holds."""
    return Value(tuple(call.integers("shape") or ()), call.integer("dtype", contents.FLOAT))


declare("EyeLike", "(N, M) -> (N, M)", "dtype", reaches=unknown_ranks.reaches_ranks(2))
declare("Trilu", "(..., N, M), number? -> (..., N, M)", reaches=lambda call, shapes: [Reach(last=2)])
declare("Trilu", "(..., N, M), number? -> (..., N, M)", domain=MICROSOFT)


# "batch_size is < 1" for (0, 2), "num_classes is < 1" for (2, 0).
MULTINOMIAL_EMPTY = RuntimeDifference("Multinomial", "refuses an empty batch, and no classes", "requires nothing")


@operator("Multinomial")
def multinomial(call: NodeCall) -> Value:
    """Samples for each line of the input."""
    rows, classes = call.rank(0, (2,), "the input")
    count = call.integer("sample_size", 1)
    if call.does(MULTINOMIAL_EMPTY):
        for size, what in ((rows, "a line"), (classes, "a class"), (count, "a sample")):
            call.at_most(1, size, f"there must be {what}")
    return Value((rows, count), call.integer("dtype", contents.INT32))


@operator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(call: NodeCall) -> Value:
    """A window as long as the input says."""
    length_shape = reshaping.known_shape(call, 0, call.input_name(0))
    if length_shape is not None:
        call.equal(multiply(*length_shape), 1, "the length must be one number")
    return Value((call.size_in(0, "length"),), call.integer("output_datatype", contents.FLOAT))


declare("TorchEmbedding", "(N, M), (...), number?, number? -> (..., M)", domain=MICROSOFT)


# Batches that ONNX Runtime's GatherND accepts together (seen with 1.31).


def divided_batches(context: Context, batches: Dims, slices: Dims, taken: Dims) -> None:
    """Require the same number of indices for each batch element, regardless of axes, if anything is gathered."""
    if exact_quotient(slices, batches) is not None:  # without a batch there are no indices either
        return
    # The runtime divides the count of all indices by that of the batch, whatever their axes are.
    above, below = reduced_fraction(slices, batches)
    is_whole = equal(modulo(above, context.bounds.larger(below, 1)), 0)
    # 4 lines of indices go with a batch of 2, and 3 do not: "indices batch size (3) is not divisible by input batch
    # size (2)".
    needs = any_of([context.empty((*slices, *taken)), all_of([at_most(1, multiply(*batches)), is_whole])])
    context.require(needs, "there must be the same number of indices for each batch element")


# Operators that take elements out of a tensor, or put them in, by index.


def _gather_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axis = call.integer("axis") % len(call.shape(0))
    return intervals.gathered(call.value(0), call.value(1), axis, call.bounds)


@operator("Gather", reaches=lambda call, shapes: [reach_of([call.integer("axis")]), ANY], interval=_gather_interval)
def gather_(call: NodeCall) -> Value:
    """Slices of the data along ``axis``, selected by indices."""
    data, indices = call.shape(0), call.shape(1)
    axis = call.axis(call.integer("axis"), len(data))
    shape = indexing.gather(call, data, indices, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype(), gathered(call.value(0), call.value(1), axis, call.bounds))


@operator("GatherElements", interval=declarations.interval_of_some)
def gather_elements_(call: NodeCall) -> Value:
    """One element of the data for each index."""
    data, indices, axis = call.shape(0), call.shape(1), call.integer("axis")
    shape = indexing.gather_elements(call, data, indices, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


# Data of (1, 3) and indices of (0, 1) with batch_dims=1 give (0,), though the batches differ.
GATHER_ND_BATCHES = RuntimeDifference(
    "GatherND",
    "requires equally many indices for each batch element, whatever their axes",
    "the sizes of the batch are equal",
)
# An index of 5 into (2, 0) is accepted: it reads nothing.
GATHER_ND_EMPTY = RuntimeDifference("GatherND", "ignores indices of empty slices", "each index is within its axis")


@operator("GatherND", interval=declarations.interval_of_some)
def gather_nd_(call: NodeCall) -> Value:
    """Slices of the data, one for each index vector in the last axis of the indices."""
    data, indices = call.shape(0), call.shape(1)
    batch = call.integer("batch_dims")
    if batch < 0 and call.does(GATHER_ND_BATCHES):
        call.give_up("the result of a negative batch_dims is not known")
    length = index_length(call, indices)
    batches = divided_batches if call.does(GATHER_ND_BATCHES) else indexing.same_batches
    shape = indexing.gather_nd(call, data, indices, length, batch, batches)
    # ONNX Runtime (seen with 1.31) does not check indices of empty slices.
    rest = data[batch + length :]
    is_looked_at = all_of(at_most(1, d) for d in rest) if call.does(GATHER_ND_EMPTY) else TRUE
    if call.is_known(is_looked_at) is not False:
        with call.asker.under(is_looked_at):
            check_columns(call, length, data[batch:])
    return Value(shape, call.dtype())


def _scatter_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    if call.text("reduction", "none") != "none":
        return UNBOUNDED
    return intervals.chosen([call.value(0), call.value(2)], call.bounds)


@operator("ScatterElements", interval=_scatter_interval)
@operator("Scatter")
def scatter_elements_(call: NodeCall) -> Value:
    """The data with some elements replaced."""
    data, indices, updates, axis = call.shape(0), call.shape(1), call.shape(2), call.integer("axis")
    shape = indexing.scatter_elements(call, data, indices, updates, axis)
    check_indices(call, 1, call.value(1), data[axis])
    return Value(shape, call.dtype())


@operator("ScatterND", interval=_scatter_interval)
def scatter_nd_(call: NodeCall) -> Value:
    """The data with some slices replaced."""
    data, indices, updates = call.shape(0), call.shape(1), call.shape(2)
    length = index_length(call, indices)
    shape = indexing.scatter_nd(call, data, indices, updates, length)
    check_columns(call, length, data)
    return Value(shape, call.dtype())


# Operators that select by value; data often decide how many elements are selected.


# The indices of a scalar of 0 have the shape (1, 0), though it has no axis.
NON_ZERO_SCALAR = RuntimeDifference(
    "NonZero", "treats a scalar as a tensor of one axis", "the indices of a scalar have no axis"
)


def _non_zero_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    dims = call.value(0).shape
    return contents.Bands(0, tuple(map(places, dims))) if dims else UNBOUNDED


@operator("NonZero", interval=_non_zero_interval)
def non_zero(call: NodeCall) -> Value:
    """The indices of the elements that are not 0; data decide how many if the elements are unknown."""
    dims = call.value(0).shape
    known = None if not dims else _places_of_known(call, dims)
    if known is not None:
        return known
    rank = call.rank_of(0) if dims is None else len(dims)
    count = call.fresh(
        "count",
        f"the count of nonzero elements of {call.input_name(0)}",
        by=[0],
        most=None if dims is None else multiply(*dims),
    )
    return Value((maximum((rank, 1)) if call.does(NON_ZERO_SCALAR) else rank, count), contents.INT64)


def _places_of_known(call: NodeCall, dims: Dims) -> Value | None:
    """Return the indices if the elements are known; exporters count elements of a tensor filled with one number."""
    content = call.value(0).content
    # TorchScript counts along an axis by NonZero(ConstantOfShape(n)): 20 times in each layer of a Longformer, whose
    # condition took minutes while data decided these sizes.
    if (
        isinstance(content, contents.IndexRamp)
        and not any(content.strides)
        and isinstance(content.start, int)
        and content.start
    ):
        every = contents.IndexRamp(0, (0, 1)) if len(dims) == 1 else None
        return Value((len(dims), multiply(*dims)), contents.INT64, every)
    items, sizes = contents.listed(content, dims), numbers_of(dims)
    if items is None or sizes is None or not all(isinstance(i, int) for i in items):
        return None
    indices = [index for index, item in zip(product(*map(range, sizes)), items, strict=True) if item]
    content = contents.Elements(tuple(n for axis in zip(*indices, strict=True) for n in axis))
    return Value(
        (len(dims), len(indices)), contents.INT64, content if len(content.items) <= contents.MAX_ELEMENTS else None
    )


@operator("Compress", interval=declarations.interval_of_some)
def compress(call: NodeCall) -> Value:
    """The slices that a condition selects; data decide how many."""
    dims = call.shape(0)
    axis = call.attribute("axis")
    # Without an axis the data are flattened first.
    whole = multiply(*dims) if axis is None else dims[call.axis(int(axis), len(dims))]
    count = call.fresh("count", f"the number of elements that {call.input_name(1)} selects", by=[1], most=whole)
    if axis is None:
        return Value((count,), call.dtype())
    place = call.axis(int(axis), len(dims))
    return Value((*dims[:place], count, *dims[place + 1 :]), call.dtype())


@operator("Unique")
def unique(call: NodeCall) -> Sequence[Value]:
    """The distinct elements or slices; data decide how many."""
    dims = call.shape(0)
    axis = call.attribute("axis")
    whole = len(dims) if axis is None else call.axis(int(axis), len(dims))
    # Without an axis the data are flattened first.
    most = multiply(*dims) if axis is None else dims[whole]
    count = call.fresh("count", f"the number of distinct elements of {call.input_name(0)}", by=[0], most=most)
    shape = (count,) if axis is None else (*dims[:whole], count, *dims[whole + 1 :])
    if axis is not None:
        leading, trailing = dims[:whole], dims[whole + 1 :]
        # Slices without elements end the process, unless there is no slice at all.
        is_safe = any_of([call.empty((*leading, dims[whole])), negate(call.empty(trailing))])
        crashes(call, is_safe, "the slices are empty")
    one = Value((count,), contents.INT64)
    return Value(shape, call.dtype()), one, Value((most,), contents.INT64), one


# "either it's rank is more than 1 or it has more than 2 elements".
ONE_HOT_VALUES = RuntimeDifference("OneHot", "requires two values in one axis", "they are two values")
declare("Unique", "(N) -> (unique), (N), (unique)", domain=MICROSOFT)


# "Depth is negative", says 1.32 of 0.
ONE_HOT_DEPTH = RuntimeDifference("OneHot", "refuses a depth of 0", "there may be no classes")


@operator("OneHot", reaches=lambda call, shapes: [reach_beside_new([call.integer("axis", -1)])])
def one_hot_(call: NodeCall) -> Value:
    """A new axis for the classes."""
    dims = call.shape(0)
    reshaping.expect_numbers(call, 1)
    depth = call.size_in(1, "depth")
    if call.does(ONE_HOT_VALUES):
        reshaping.expect(call, 2, "the values", (2,))
    least = 1 if call.does(ONE_HOT_DEPTH) else 0
    return Value(indexing.one_hot(call, dims, call.integer("axis", -1), depth, least=least), call.dtype(2))


def _top_k_interval(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    if position == 1:
        return places(call.shape(0)[call.integer("axis", -1)])
    return some_of(declarations.input_interval(call, 0))


@operator("TopK", reaches=declarations.reaches_axis(-1), interval=_top_k_interval)
def top_k_(call: NodeCall) -> Sequence[Value]:
    """The k greatest along an axis, which must be at least k long."""
    dims = call.shape(0)
    if call.version >= 10:
        reshaping.expect_line(call, 1)
        reshaping.expect_numbers(call, 1)
    # Since version 10 the count is an input.
    count = call.size_in(1, "k") if call.version >= 10 else call.integer("k")
    shape = indexing.top_k(call, dims, call.integer("axis", -1), count)
    return Value(shape, call.dtype()), Value(shape, contents.INT64)


@operator("ReverseSequence", interval=declarations.interval_of_some)
def reverse_sequence(call: NodeCall) -> Value:
    """Each sequence of a batch reversed up to its own length."""
    dims = call.shape(0)
    lengths = call.rank(1, (1,), "sequence_lens")
    axes = call.integer("batch_axis", 1), call.integer("time_axis")
    # "Invalid time_axis of 2. Must be 0 or 1"; -1 passes that check.
    if len(dims) < 2 or set(axes) not in ({0, 1}, {0, -1}) or axes[0] == axes[1]:
        call.refuse("batch_axis and time_axis must be the first two axes")
    batch, time = (call.axis(axis, len(dims)) for axis in axes)
    call.equal(lengths[0], dims[batch], "sequence_lens must have one number for each batch element")
    check_lengths(call, 1, dims[time])
    return Value(dims, call.dtype())


# Two numbers as a threshold are accepted.
NMS_THRESHOLDS = RuntimeDifference(
    "NonMaxSuppression", "uses the first of several thresholds", "a threshold is one number"
)


@operator("NonMaxSuppression", interval=lambda call, outputs, n: contents.Bands(1, tuple(map(places, call.shape(1)))))
def suppression(call: NodeCall) -> Value:
    """The batch, class and index of each box that is kept; data decide how many."""
    batch, count, _ = call.rank(0, (3,), "boxes")
    reshaping.expect(call, 0, "boxes", (None, None, 4))
    reshaping.expect(call, 1, "scores", (batch, None, count))
    if not call.does(NMS_THRESHOLDS):
        reshaping.expect_numbers(call, 2, 3, 4)
    # ONNX Runtime takes the first of several thresholds.
    for n in (3, 4) if call.does(NMS_THRESHOLDS) else ():
        call.filled(
            reshaping.known_shape(call, n, call.input_name(n)) or (), f"{call.input_name(n)} must have a number"
        )
    return Value((call.fresh("count", "the number of selected boxes"), 3), contents.INT64)
