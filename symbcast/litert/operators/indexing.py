"""Operators that read and write elements by index, select by value, or make tensors whose length data decide."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import all_of, any_of, at_most
from symbcast.graphs.walking.gathering_and_slicing import check_rows, gathered, index_length
from symbcast.graphs.walking.reshaping import expect_line, requested_shape
from symbcast.graphs.walking.unknown_ranks import required_numbers
from symbcast.litert.call import LiteRtCall, operator
from symbcast.operators.indexing import gather, gather_nd, one_hot, scatter_nd, top_k, within
from symbcast.operators.operator import Dims, expect_shape
from symbcast.operators.values.value import FIRST, Decider, Value


@operator("GATHER", elements=FIRST)
def gather_(call: LiteRtCall) -> Value:
    """Slices of the data along an axis, selected by indices; the first ``batch_dims`` axes are batches."""
    data, indices = call.shape(0), call.shape(1)
    axis, batch = call.axis(call.integer("axis"), len(data)), call.integer("batch_dims")
    batch = batch + len(indices) if batch < 0 else batch
    shape = gather(call, data, indices, axis, batch)
    _check_rows(call, data, axis)
    return call.output(shape, None if batch else gathered(call.value(0), call.value(1), axis, call.bounds))


def _check_rows(call: LiteRtCall, data: Dims, axis: int) -> None:
    """Require that indices be rows of an axis; they are read once for each position on the axes before it."""
    before, indices, size = data[:axis], call.shape(1), data[axis]
    if call.is_positive(before):
        check_rows(call, 1, size, f"axis {axis} of the data")
    elif numbers := call.numbers(1):
        within(call, min(numbers), max(numbers), size, before, from_end=False)
    elif numbers is None:
        empty = call.empty((*before, *indices))
        call.require(any_of([empty, at_most(1, size)]), f"axis {axis} of the data must have rows")
        call.note_data(f"the numbers in {call.input_name(1)}, which are data, must be rows of axis {axis}", 1)


@operator("EMBEDDING_LOOKUP")
def embedding_lookup(call: LiteRtCall) -> Value:
    """Rows of a table, selected by a line of indices."""
    table = call.shape(1)
    expect_line(call, 0)
    call.refuse_if(len(table) < 2, "the table must have at least two axes")
    check_rows(call, 0, table[0], "the table")
    return call.output((*call.shape(0), *table[1:]))


@operator("GATHER_ND", elements=FIRST)
def gather_nd_(call: LiteRtCall) -> Value:
    """Slices of the data, each selected by a row of the indices."""
    data, indices = call.shape(0), call.shape(1)
    shape = gather_nd(call, data, indices, index_length(call, indices))
    full = all_of([at_most(1, d) for d in data])
    call.require(any_of([call.empty(indices), full]), "there must be elements to select")
    _check_columns(call, 1, data)
    return call.output(shape)


def _check_columns(call: LiteRtCall, position: int, dims: Dims) -> None:
    """Require that each number of index vectors be within its axis; note it where they are data."""
    numbers, length = call.numbers(position), index_length(call, call.shape(position))
    if numbers is None:
        call.note_data(f"the indices in {call.input_name(position)}, which are data, must be within the axes", position)
    for n, size in enumerate(dims[:length] if numbers else ()):
        column = (numbers or [])[n::length]
        within(call, min(column), max(column), size, (), from_end=False)


@operator("SCATTER_ND", elements=(1,))
def scatter_nd_(call: LiteRtCall) -> Value:
    """A tensor of zeros, of a given shape, with some slices replaced."""
    indices, updates = call.shape(0), call.shape(1)
    expect_line(call, 2)
    dims = requested_shape(call, 2)
    scatter_nd(call, dims, indices, updates, index_length(call, indices))
    _check_columns(call, 0, dims)
    return call.output(dims)


@operator("ONE_HOT", elements=(2, 3))
def one_hot_(call: LiteRtCall) -> Value:
    """A new axis for the classes."""
    return call.output(one_hot(call, call.shape(0), call.integer("axis"), call.size_in(1, "depth"), least=0))


@operator("TOPK_V2")
def top_k_(call: LiteRtCall) -> Sequence[Value]:
    """The k largest elements along the last axis, which must have as many; none if k is negative."""
    # A k of -1 works at every size, and takes none.
    shape = top_k(call, call.shape(0), -1, call.bounds.larger(call.size_in(1, "k"), 0))
    return call.output(shape), call.output(shape, position=1)


# Lengths that data decide.


@operator("WHERE")
def where(call: LiteRtCall) -> Value:
    """The indices of the elements that are true, one row for each."""
    dims = call.shape(0)
    count = call.fresh("count", f"the count of true elements of {call.input_name(0)}", by=[0], most=multiply(1, *dims))
    return call.output((count, len(dims)))


@operator("UNIQUE")
def unique(call: LiteRtCall) -> Sequence[Value]:
    """The distinct elements of a line, and the position of each element among them."""
    (size,) = call.rank(0, (1,), "the data")
    count = call.fresh("count", f"the count of distinct elements of {call.input_name(0)}", by=[0], most=size)
    return call.output((count,)), call.output((size,), position=1)


@operator("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def non_max_suppression(call: LiteRtCall) -> Sequence[Value]:
    """The selected boxes, padded to their largest number, and their count; V5 has their scores too."""
    boxes, scores = call.rank(0, (2,), "the boxes"), call.rank(1, (1,), "the scores")
    call.equal(boxes[1], 4, "a box must be 4 numbers")
    call.equal(boxes[0], scores[0], "there must be a score for each box")
    most = call.size_in(2, "most")
    call.is_size(most, "the largest number of boxes must not be negative")
    shapes: list[Dims] = [(most,)] * (len(call.node.outputs) - 1)
    return [call.output(dims, position=n) for n, dims in enumerate([*shapes, ()])]


@operator("SEGMENT_SUM")
def segment_sum(call: LiteRtCall) -> Value:
    """The sums of rows that have the same number in a line, which data decide."""
    dims = call.shape(0)
    call.refuse_if(not dims, "the data must have rows")
    expect_shape(call, "the numbers of segments", call.shape(1), (dims[0],))
    count = call.fresh("segments", f"the count of segments in {call.input_name(1)}", by=[1], most=dims[0])
    call.note_data(f"the numbers in {call.input_name(1)}, which are data, must ascend from 0 in steps of 1", 1)
    return call.output((count, *dims[1:]))


@operator("UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD")
def unsorted_segment(call: LiteRtCall) -> Value:
    """The slices that have the same number, reduced to one each."""
    dims, numbers = call.shape(0), call.shape(1)
    call.refuse_if(len(numbers) > len(dims), "there must be no more axes of numbers than of data")
    call.same_shape(numbers, dims[: len(numbers)], "the numbers must have the first axes of the data")
    count = call.size_in(2, "segments")
    call.is_size(count, "the number of segments must not be negative")
    call.note_data(f"the numbers in {call.input_name(1)}, which are data, must be less than the count of segments", 1)
    return call.output((count, *dims[len(numbers) :]))


# Matrices with a given diagonal, sparse tensors, buckets and random numbers.


@operator("MATRIX_DIAG", elements=FIRST)
def matrix_diag(call: LiteRtCall) -> Value:
    """Square matrices with the last axis as their diagonals."""
    dims = call.shape(0)
    call.refuse_if(not dims, "the input must have an axis")
    return call.output((*dims, dims[-1]))


@operator("SPARSE_TO_DENSE", elements=(2, 3))
def sparse_to_dense(call: LiteRtCall) -> Value:
    """A tensor of a given shape with one number, and others at some indices."""
    indices, values = call.rank(0, (0, 1, 2), "the indices"), call.rank(2, (0, 1), "the values")
    expect_line(call, 1)
    dims = requested_shape(call, 1)
    if len(indices) == 2:
        call.equal(indices[1], len(dims), "an index must have a number for each axis")
    else:
        call.refuse_if(len(dims) != 1, "indices of one number need an output of one axis")
    if values and indices:
        call.equal(values[0], indices[0], "there must be a value for each index")
    call.note_data(f"the indices in {call.input_name(0)}, which are data, must be within the axes", 0)
    return call.output(dims)


@operator("BUCKETIZE")
def bucketize(call: LiteRtCall) -> Value:
    """The number of a bucket for each element."""
    return call.output(call.shape(0))


@operator("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", elements=Decider.DATA)
def random(call: LiteRtCall) -> Value:
    """Random numbers in a given shape."""
    expect_line(call, 0)
    return call.output(requested_shape(call, 0))


@operator("MULTINOMIAL", elements=Decider.DATA)
def multinomial(call: LiteRtCall) -> Value:
    """Samples for each row."""
    rows, classes = call.rank(0, (2,), "the logits")
    call.at_most(1, classes, "there must be at least one class")
    return call.output((rows, call.size_in(1, "samples")))


# Complex numbers.


@operator("RFFT2D")
def rfft2d(call: LiteRtCall) -> Value:
    """The half of a spectrum of real images, which are cut to the lengths or padded with zeros."""
    dims = call.shape(0)
    call.refuse_if(len(dims) < 2, "the input must have two axes or more")
    expect_shape(call, "the lengths", call.shape(1), (2,))
    rows, columns = required_numbers(call, 1)
    call.refuse_if(any(n < 1 or n & (n - 1) for n in (rows, columns)), "the lengths must be powers of two")
    return call.output((*dims[:-2], rows, columns // 2 + 1))
