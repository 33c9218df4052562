"""Operators that read and write elements by index, select by value, or create tensors.

On the CPU an index out of range is an error for GatherElements and for operators that write. Gather reads 0 there and
GatherND what lies beyond the data (seen with 2026.4), so their indices are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.walking import gathering_and_slicing, reshaping, unknown_ranks
from symbcast.openvino.graph import OpenVinoCall, operator
from symbcast.operators import indexing
from symbcast.operators.reach import ANY, reach_of
from symbcast.operators.values.contents import Elements
from symbcast.operators.values.value import FIRST, Decider, Value


@operator(
    "Gather",
    elements=FIRST,
    reaches=lambda call, shapes: (
        [] if call.integer("batch_dims") else [reach_of(unknown_ranks.required_numbers(call, 2)), ANY]
    ),
)
def gather_(call: OpenVinoCall) -> Value:
    """Slices of the data along an axis, selected by indices; the first ``batch_dims`` axes are batches."""
    data, indices = call.shape(0), call.shape(1)
    (axis,) = call.input_axes(2, len(data)) if data else (0,)
    batch = call.integer("batch_dims")
    batch = batch + len(indices) if batch < 0 else batch
    shape = indexing.gather(call, data, indices, axis, batch)
    return call.output(
        shape, None if batch else gathering_and_slicing.gathered(call.value(0), call.value(1), axis, call.bounds)
    )


@operator("GatherElements", elements=FIRST)
def gather_elements_(call: OpenVinoCall) -> Value:
    """One element of the data per index; data and indices have equal sizes on the other axes."""
    data, axis = call.shape(0), call.integer("axis")
    shape = indexing.gather_elements(call, data, call.shape(1), axis, is_equal=True)
    gathering_and_slicing.check_indices(call, 1, call.value(1), data[axis])
    return call.output(shape)


@operator("GatherND", elements=FIRST)
def gather_nd_(call: OpenVinoCall) -> Value:
    """Slices of the data, each selected by a row of the indices."""
    data, indices, batch = call.shape(0), call.shape(1), call.integer("batch_dims")
    shape = indexing.gather_nd(call, data, indices, gathering_and_slicing.index_length(call, indices), batch)
    if call.version < 8 and batch > 1:
        # Before version 8 the batch axes are flattened into one.
        shape = (multiply(*shape[:batch]), *shape[batch:])
    return call.output(shape)


@operator("ScatterElementsUpdate", elements=(0, 2))
def scatter_elements_(call: OpenVinoCall) -> Value:
    """The data with some elements replaced."""
    (axis,) = call.input_axes(3, len(call.shape(0)))
    shape = indexing.scatter_elements(call, call.shape(0), call.shape(1), call.shape(2), axis)
    gathering_and_slicing.check_indices(call, 1, call.value(1), shape[axis])
    return call.output(shape)


@operator("ScatterNDUpdate", elements=(0, 2))
def scatter_nd_(call: OpenVinoCall) -> Value:
    """The data with some slices replaced."""
    data, indices = call.shape(0), call.shape(1)
    length = gathering_and_slicing.index_length(call, indices)
    shape = indexing.scatter_nd(call, data, indices, call.shape(2), length)
    gathering_and_slicing.check_columns(call, length, data)
    return call.output(shape)


@operator("ScatterUpdate", elements=(0, 2))
def scatter_(call: OpenVinoCall) -> Value:
    """The data with some slices along an axis replaced."""
    (axis,) = call.input_axes(3, len(call.shape(0)))
    shape = indexing.scatter(call, call.shape(0), call.shape(1), call.shape(2), axis)
    # "have indices value that points to non-existing output tensor element".
    gathering_and_slicing.check_rows(call, 1, shape[axis], f"axis {axis} of the data")
    return call.output(shape)


# Numbers computed from sizes.


@operator("ShapeOf", elements=Decider.SIZES)
def shape_of(call: OpenVinoCall) -> Value:
    """The sizes of all axes."""
    if call.value(0).shape is None:
        return call.output((call.rank_of(0),))
    dims = call.shape(0)
    return call.output((len(dims),), Elements(dims))


@operator("Range")
def range_(call: OpenVinoCall) -> Value:
    """Numbers from ``start`` to ``stop`` (exclusive), in steps."""
    numbers = reshaping.counted(call)
    return call.output(numbers.shape, numbers.content)


@operator("CumSum")
def cumulated(call: OpenVinoCall) -> Value:
    """The cumulative sum along an axis."""
    dims = call.shape(0)
    for axis in call.numbers(1) or ():
        call.axes_of(dims, [axis])
    return call.output(dims)


# Selection by value.


@operator("NonZero")
def non_zero(call: OpenVinoCall) -> Value:
    """The indices of the nonzero elements; their number depends on data."""
    dims = call.shape(0)
    return call.output(
        (len(dims), call.fresh("count", f"the count of nonzero elements of {call.input_name(0)}", by=[0]))
    )


@operator("TopK")
def top_k_(call: OpenVinoCall) -> Sequence[Value]:
    """The k largest elements along an axis of at least k."""
    count = call.size_in(1, "k")
    # "K (0) must be greater or equal to 1", where ONNX and LiteRT return nothing.
    call.at_most(1, count, "k must be at least 1")
    shape = indexing.top_k(call, call.shape(0), call.integer("axis", -1), count)
    return call.output(shape), call.output(shape, position=1)


@operator("OneHot", elements=(2, 3))
def one_hot_(call: OpenVinoCall) -> Value:
    """A new axis for the classes."""
    return call.output(indexing.one_hot(call, call.shape(0), call.integer("axis", -1), call.size_in(1, "depth")))


@operator("NonMaxSuppression")
def non_max_suppression(call: OpenVinoCall) -> Sequence[Value]:
    """The selected boxes; their number depends on data."""
    boxes, scores = call.rank(0, (3,), "boxes"), call.rank(1, (3,), "scores")
    call.equal(boxes[0], scores[0], "boxes and scores must have the same batch")
    call.equal(boxes[1], scores[2], "there must be a score for each box")
    call.equal(boxes[2], 4, "a box must be 4 numbers")
    if call.version < 5:
        call.give_up("before version 5 the output has its maximum length")
    count = call.fresh("count", "the number of selected boxes")
    return call.output((count, 3)), call.output((count, 3), position=1), call.output((1,), position=2)


@operator("RandomUniform", elements=Decider.DATA)
def random_uniform(call: OpenVinoCall) -> Value:
    """Random numbers in a shape given by an input."""
    return call.output(call.input_sizes(0))


@operator("Multinomial", elements=Decider.DATA)
def multinomial(call: OpenVinoCall) -> Value:
    """Samples for each row of the input."""
    rows = call.shape(0)[:-1]
    count = call.input_sizes(1)
    return call.output((*rows, *count))
