"""Arithmetic on dimensions, and what is known of how large they are: brute force over small sizes."""

from __future__ import annotations

import itertools
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.bounds import Bounds, exact_quotient
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at

A, B, C = symbols = tuple(map(symbol, "abc"))
POINTS = [dict(zip(symbols, sizes, strict=True)) for sizes in itertools.product(range(5), repeat=3)]

leaves = st.one_of(st.integers(-3, 4), st.sampled_from(symbols), st.sampled_from(symbols))
divisors = st.integers(1, 4)


def _grown(parts):
    two = st.tuples(parts, parts)
    return st.one_of(
        two.map(lambda p: add(*p)),
        two.map(lambda p: subtract(*p)),
        two.map(lambda p: multiply(*p)),
        st.tuples(parts, divisors).map(lambda p: floor_divide(*p)),
        st.tuples(parts, divisors).map(lambda p: modulo(*p)),
        two.map(lambda p: Bounds({}).larger(*p)),
        two.map(lambda p: Bounds({}).smaller(*p)),
    )


dims = st.recursive(leaves, _grown, max_leaves=5)
factors = st.one_of(st.integers(1, 6), st.sampled_from(symbols), st.sampled_from(symbols), st.just(add(A, 1)))


@given(dims, dims, divisors)
def test_arithmetic_is_that_of_integers(left, right, divisor):
    made = [add(left, right), subtract(left, right), multiply(left, right)]
    divided = [floor_divide(left, divisor), ceil_divide(left, divisor), modulo(left, divisor)]
    for sizes in POINTS:
        a, b = size_at(left, sizes), size_at(right, sizes)
        assert [size_at(d, sizes) for d in made] == [a + b, a - b, a * b]
        assert [size_at(d, sizes) for d in divided] == [a // divisor, -(-a // divisor), a % divisor]


@given(dims)
def test_what_is_made_is_in_normal_form(dim):
    assert isinstance(dim, int) or not dim.is_constant
    assert isinstance(subtract(dim, dim), int)


@given(dims, dims)
def test_equal_polynomials_are_one_object(left, right):
    """Sums and products in another order, and products spread out."""
    assert add(left, right) == add(right, left)
    assert multiply(left, right) == multiply(right, left)
    assert multiply(left, add(right, 1)) == add(multiply(left, right), left)


@given(st.lists(factors, max_size=4), st.lists(factors, max_size=3))
def test_an_exact_quotient_is_one_wherever_no_divisor_is_0(above, below):
    found = exact_quotient(tuple(above), tuple(below))
    assert found is not None or below
    for sizes in POINTS:
        over, under = (prod(size_at(d, sizes) for d in dims) for dims in (above, below))
        if found is not None and under:
            assert size_at(found, sizes) * under == over, (found, sizes)


@given(st.lists(factors, max_size=4), st.lists(factors, max_size=3))
def test_what_was_multiplied_is_divided_again(kept, taken):
    assert exact_quotient((*kept, *taken), tuple(taken)) == multiply(*kept)


@pytest.mark.parametrize(
    ("above", "below", "quotient"),
    [
        ((A, B), (A,), B),
        ((multiply(A, B, 6),), (multiply(A, 3),), multiply(B, 2)),
        ((add(multiply(A, B), A),), (A,), add(B, 1)),
        ((A, 3), (2,), None),
        ((A,), (B,), None),
        ((add(A, 1), B), (add(A, 1),), B),
        ((multiply(2, add(A, 1)),), (add(A, 1),), 2),
        ((), (), 1),
        ((0,), (A,), 0),
    ],
)
def test_quotients(above, below, quotient):
    assert exact_quotient(above, below) == quotient


def at_least(low, sizes):
    return all(sizes[s] >= low[s] for s in symbols)


lows = st.fixed_dictionaries({s: st.integers(0, 3) for s in symbols})


@given(dims, dims, lows, st.integers(-3, 5))
def test_bounds_are_true(left, right, low, number):
    bounds = Bounds(low)
    least, above, below = bounds.least(left), bounds.is_at_least(left, number), bounds.is_at_most(left, right)
    for sizes in POINTS:
        if at_least(low, sizes):
            a, b = size_at(left, sizes), size_at(right, sizes)
            assert least is None or a >= least
            assert a >= number or not above
            assert a <= b or not below


@given(dims, dims, lows)
def test_the_smaller_and_the_larger(left, right, low):
    bounds = Bounds(low)
    smaller, larger = bounds.smaller(left, right), bounds.larger(left, right)
    for sizes in POINTS:
        if at_least(low, sizes):
            pair = size_at(left, sizes), size_at(right, sizes)
            assert (size_at(smaller, sizes), size_at(larger, sizes)) == (min(pair), max(pair))


@given(st.lists(st.integers(-2, 3), min_size=4, max_size=4), lows)
def test_the_least_of_a_sum_is_exact(numbers, low):
    """Of what grows with every size; what shrinks with one has no least."""
    total = add(numbers[0], *(multiply(n, s) for n, s in zip(numbers[1:], symbols, strict=True)))
    exact = numbers[0] + sum(n * low[s] for n, s in zip(numbers[1:], symbols, strict=True))
    assert Bounds(low).least(total) == (exact if min(numbers[1:]) >= 0 else None)


def test_what_is_learnt_later_counts():
    bounds = Bounds({})
    assert not bounds.is_at_least(subtract(A, 2), 0)
    bounds.learn(A, 2)
    assert bounds.is_at_least(subtract(A, 2), 0)
    bounds.learn(A, 1)
    assert bounds.least(A) == 2
