"""Operators that select by value; data often decide how many elements are selected."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from symbcast.core.algebra.arithmetic import maximum, multiply
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.logic.formulas import any_of, negate
from symbcast.graphs.operators.expected_shapes import expect, expect_line, expect_numbers
from symbcast.graphs.values.contents import MAX_ELEMENTS, Elements, Ramp, is_size, listed
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.elementwise.recurrent import check_lengths
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import NON_ZERO_SCALAR, ONE_HOT_DEPTH, ONE_HOT_VALUES
from symbcast.operators.context import Dims
from symbcast.operators.selecting.selection import one_hot, top_k

INT64 = 7


@operator("NonZero")
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
    return Value((maximum((rank, 1)) if call.does(NON_ZERO_SCALAR) else rank, count), INT64)


def _places_of_known(call: NodeCall, dims: Dims) -> Value | None:
    """Return the indices if the elements are known; exporters count elements of a tensor filled with one number."""
    content = call.value(0).content
    if isinstance(content, Ramp) and not any(content.strides) and isinstance(content.start, int) and content.start:
        every = Ramp(0, (0, 1)) if len(dims) == 1 else None
        return Value((len(dims), multiply(*dims)), INT64, every)
    items, sizes = listed(content, dims), numbers_of(dims)
    if items is None or sizes is None or not all(isinstance(i, int) for i in items):
        return None
    places = [index for index, item in zip(product(*map(range, sizes)), items, strict=True) if item]
    content = Elements(tuple(n for axis in zip(*places, strict=True) for n in axis))
    return Value((len(dims), len(places)), INT64, content if len(content.items) <= MAX_ELEMENTS else None)


@operator("Compress")
def compress(call: NodeCall) -> Value:
    """The slices that a condition selects; data decide how many."""
    dims = call.shape(0)
    axis = call.attribute("axis")
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
    most = multiply(*dims) if axis is None else dims[whole]
    count = call.fresh("count", f"the number of distinct elements of {call.input_name(0)}", by=[0], most=most)
    shape = (count,) if axis is None else (*dims[:whole], count, *dims[whole + 1 :])
    if axis is not None:
        leading, trailing = dims[:whole], dims[whole + 1 :]
        is_safe = any_of([call.empty((*leading, dims[whole])), negate(call.empty(trailing))])
        crashes(call, is_safe, "the slices are empty")
    one = Value((count,), INT64)
    return Value(shape, call.dtype()), one, Value((most,), INT64), one


@operator("OneHot")
def one_hot_(call: NodeCall) -> Value:
    """A new axis for the classes."""
    dims = call.shape(0)
    expect_numbers(call, 1)
    depth = (call.elements(1) or (None,))[0]
    if not is_size(depth):
        depth = call.fresh("depth", f"what {call.input_name(1)} holds", by=[1])
    if call.does(ONE_HOT_VALUES):
        expect(call, 2, "the values", (2,))
    least = 1 if call.does(ONE_HOT_DEPTH) else 0
    return Value(one_hot(call, dims, call.integer("axis", -1), depth, least=least), call.dtype(2))


@operator("TopK")
def top_k_(call: NodeCall) -> Sequence[Value]:
    """The k greatest along an axis, which must be at least k long."""
    dims = call.shape(0)
    if call.version >= 10:
        expect_line(call, 1)
        expect_numbers(call, 1)
    count: object = call.integer("k") if call.version < 10 else (call.elements(1) or (None,))[0]
    if not is_size(count):
        count = call.fresh("k", f"what {call.input_name(1)} holds", by=[1])
    shape = top_k(call, dims, call.integer("axis", -1), count)
    return Value(shape, call.dtype()), Value(shape, INT64)


@operator("ReverseSequence")
def reverse_sequence(call: NodeCall) -> Value:
    """Each sequence of a batch reversed up to its own length."""
    dims = call.shape(0)
    lengths = call.rank(1, (1,), "sequence_lens")
    axes = call.integer("batch_axis", 1), call.integer("time_axis")
    if len(dims) < 2 or set(axes) not in ({0, 1}, {0, -1}) or axes[0] == axes[1]:
        call.refuse("batch_axis and time_axis must be the first two axes")
    batch, time = (call.axis(axis, len(dims)) for axis in axes)
    call.equal(lengths[0], dims[batch], "sequence_lens must have one number for each of the batch")
    check_lengths(call, 1, dims[time])
    return Value(dims, call.dtype())
