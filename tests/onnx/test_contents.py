"""What is known of elements: ramps and stacks listed, and lists taken for ramps."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper
from onnx.external_data_helper import set_external_data

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at
from symbcast.onnx.protobuf import TensorConstant
from symbcast.operators.values.contents import (
    MAX_ELEMENTS,
    ConstantNumbers,
    Elements,
    IndexRamp,
    RampStack,
    SizeRatio,
    as_ramp,
    as_ratio,
    from_array,
    listed,
    ratio,
    sizes_of,
)

N, M = symbol("N"), symbol("M")

dims = st.one_of(st.integers(-3, 3), st.sampled_from([N, M, multiply(2, N), add(N, M, -1)]))
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def ramps(draw):
    """A static shape and a ramp over it."""
    shape = draw(shapes)
    return shape, IndexRamp(draw(dims), tuple(draw(dims) for _ in shape))


def indices(shape):
    return itertools.product(*map(range, shape))


@given(ramps())
def test_a_ramp_is_listed_in_row_major_order(drawn):
    shape, ramp = drawn
    items = listed(ramp, shape)
    for sizes in ({N: 2, M: 5}, {N: 0, M: 1}):
        start, strides = size_at(ramp.start, sizes), [size_at(s, sizes) for s in ramp.strides]
        array = np.full(shape, start)
        for axis, stride in enumerate(strides):
            array += stride * np.arange(shape[axis]).reshape([-1 if n == axis else 1 for n in range(len(shape))])
        assert [size_at(i, sizes) for i in items] == array.ravel().tolist()


@given(ramps())
def test_what_is_listed_is_a_ramp_again(drawn):
    """Strides along axes of 1 are lost, which nothing tells from 0."""
    shape, ramp = drawn
    items = listed(ramp, shape)
    again = as_ramp(Elements(items), shape)
    if items:
        assert listed(again, shape) == items
        assert all(a == b or size == 1 for a, b, size in zip(again.strides, ramp.strides, shape, strict=True))
    else:
        assert again is None


@given(shapes, st.lists(dims, min_size=27, max_size=27))
def test_only_what_is_a_ramp_is_taken_for_one(shape, items):
    items = tuple(items[: len(list(indices(shape)))])
    found = as_ramp(Elements(items), shape)
    assert found is None or listed(found, shape) == items


@given(shapes, st.lists(st.tuples(dims, st.tuples(dims, dims, dims)), min_size=1, max_size=3))
def test_a_stack_is_its_ramps_side_by_side(shape, parts):
    stack = RampStack(tuple(IndexRamp(start, strides[: len(shape)]) for start, strides in parts))
    columns = [listed(part, shape) for part in stack.parts]
    found = listed(stack, (*shape, len(parts)))
    assert found == tuple(item for line in zip(*columns, strict=True) for item in line)


def test_a_stack_of_one_is_a_ramp():
    stack = RampStack((IndexRamp(N, (1, M)),))
    assert as_ramp(stack, (N, M, 1)) == IndexRamp(N, (1, M, 0))
    assert as_ramp(RampStack((IndexRamp(N, (1,)), IndexRamp(M, (1,)))), (N, 2)) is None


@pytest.mark.parametrize("shape", [(2,), (), (2, 2), (3, 0)])
def test_elements_that_do_not_fit_their_shape_are_none(shape):
    assert listed(Elements((N, 1, 2)), shape) is None
    assert as_ramp(Elements((1, 2, 3)), shape) is None


def test_where_elements_lie_must_be_known():
    content = Elements((1, 2, 3, 4))
    assert listed(content, (N,)) == (1, 2, 3, 4)  # there are as many as there are
    assert listed(content, (N, M)) is None
    assert listed(IndexRamp(0, (1,)), (N,)) is None
    assert listed(None, (3,)) is None
    assert listed(IndexRamp(0, (0,)), (MAX_ELEMENTS + 1,)) is None


def test_sizes_are_integers():
    assert sizes_of(Elements((N, 2)), (2,)) == (N, 2)
    assert sizes_of(Elements((N, None)), (2,)) is None
    assert sizes_of(Elements((N, SizeRatio(N, 2))), (2,)) is None


# Constants.


@given(st.integers(-5, 5), st.lists(st.integers(-3, 3), min_size=2, max_size=2))
def test_long_constants_that_count_are_ramps(start, strides):
    array = start + strides[0] * np.arange(40)[:, None] + strides[1] * np.arange(30)
    assert from_array(array) == IndexRamp(start, tuple(strides))


def test_other_long_constants_are_kept():
    array = np.arange(2000) ** 2
    found = from_array(array)
    assert isinstance(found, ConstantNumbers)
    assert found.array is array
    assert isinstance(from_array(np.zeros(2000, np.float64)), ConstantNumbers)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.bool_])
def test_integers_are_read(dtype):
    tensor = numpy_helper.from_array(np.array([[0, 1], [1, 0]], dtype))
    assert TensorConstant(tensor).content == Elements((0, 1, 1, 0))


def test_real_numbers_are_read_where_they_are_short_fractions():
    numbers = np.array([2, 0.75, 0.1, np.inf, np.nan, 1e30], np.float32)
    assert TensorConstant(numpy_helper.from_array(numbers)).content == Elements(
        (2, SizeRatio(3, 4), None, None, None, None)
    )


def test_what_is_not_read():
    text = onnx.helper.make_tensor("t", onnx.TensorProto.STRING, [1], [b"text"])
    long = numpy_helper.from_array(np.zeros(MAX_ELEMENTS + 1, np.float32))
    outside = numpy_helper.from_array(np.zeros(3, np.int64), "outside")
    set_external_data(outside, "elsewhere.bin")
    broken = onnx.TensorProto(data_type=onnx.TensorProto.INT64, dims=[3], raw_data=b"12345")
    assert [TensorConstant(t).content for t in (text, long, outside, broken)] == [None] * 4


# Real numbers.

counts = st.one_of(st.integers(0, 12), st.sampled_from([N, multiply(6, N), add(multiply(4, N), 2), multiply(N, M)]))


@given(counts, st.one_of(st.integers(1, 6), st.just(N)))
def test_a_ratio_is_a_size_where_it_can_be(above, below):
    found = ratio(above, below)
    for sizes in ({N: 1, M: 3}, {N: 4, M: 2}):
        expected = Fraction(size_at(above, sizes), size_at(below, sizes))
        parts = as_ratio(found)
        assert Fraction(size_at(parts.above, sizes), size_at(parts.below, sizes)) == expected
