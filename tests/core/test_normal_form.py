"""Equal sizes are one object: laws of quotients and remainders, held against integers too."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at

N, M = symbols = tuple(map(symbol, "NM"))
POINTS = [dict(zip(symbols, sizes, strict=True)) for sizes in itertools.product(range(9), repeat=2)]

factors = st.integers(1, 6)
polynomials = st.lists(st.integers(-7, 7), min_size=4, max_size=4).map(
    lambda c: add(multiply(c[0], N), multiply(c[1], M), multiply(c[2], N, M), c[3])
)
parts = st.one_of(
    polynomials,
    st.tuples(polynomials, factors).map(lambda p: add(modulo(*p), N)),
    st.tuples(polynomials, factors).map(lambda p: multiply(2, floor_divide(*p))),
)


@given(parts, factors, factors, st.integers(0, 5))
@example(multiply(N, M), 32, 7, 0)
def test_a_common_factor_comes_out_of_a_remainder(dim, factor, divisor, rest):
    found = modulo(add(multiply(factor, dim), rest % factor), factor * divisor)
    assert found is add(multiply(factor, modulo(dim, divisor)), rest % factor) or isinstance(found, int)
    for sizes in POINTS:
        value = factor * size_at(dim, sizes) + rest % factor
        assert size_at(found, sizes) == value % (factor * divisor)


@given(parts, factors)
def test_quotient_and_remainder_make_up_the_whole(dim, divisor):
    quotient, rest = floor_divide(dim, divisor), modulo(dim, divisor)
    for sizes in POINTS:
        assert divmod(size_at(dim, sizes), divisor) == (size_at(quotient, sizes), size_at(rest, sizes))


@given(parts)
def test_half_of_a_size_padded_to_an_even_size_is_whole(dim):
    padded = add(dim, modulo(dim, 2))
    half = floor_divide(padded, 2)
    assert all(2 * size_at(half, sizes) == size_at(padded, sizes) for sizes in POINTS)


@pytest.mark.parametrize("dim", [N, add(N, M), floor_divide(add(N, 3), 4), multiply(N, M)], ids=str)
def test_half_of_a_size_padded_to_an_even_size_is_one_quotient(dim):
    assert floor_divide(add(dim, modulo(dim, 2)), 2) is floor_divide(add(dim, 1), 2)
