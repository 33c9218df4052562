"""Equal sizes are one object: laws of quotients and remainders, held against integers too."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at, value_at
from symbcast.core.text import parse_dim

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


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a - b*(a//b)", "a % b"),
        ("h*a - h*b*(a//b) + 1", "h*(a % b) + 1"),
        ("n + 3 - 4*((n + 1)//4)", "(n + 1) % 4 + 2"),
        ("b*(a//b) + a % b - a", "0*(a % b) + 0*(a//b)"),
        ("2*b*(a//b) + 2*(a % b)", "2*a + 0*(a % b)"),
        ("(a//n)//k", "a//(n*k)"),
        ("(a//2)//k", "a//(2*k)"),
        ("(a//k)//2", "a//(2*k)"),
        ("(2*n) % 2", "n - n"),
    ],
)
def test_quotients_and_remainders_have_one_form(text, normal):
    assert parse_dim(text) is parse_dim(normal)
    assert "% 1" not in str(parse_dim(text))


def test_a_division_by_0_stays_in_a_sum():
    assert str(add(N, floor_divide(M, 0))) == "M//0 + N"


def _term(draw: random.Random, depth: int = 3) -> str:
    if not depth or draw.random() < 0.15:
        return draw.choice(["a", "b", "n", "1", "2", "a*b", "(a + 1)"])
    x, factor = _term(draw, depth - 1), draw.choice(["", "n*", "2*"])
    by, other = draw.choices(["a", "b", "n", "(a*b)", "(b + 1)", "2", "3", "4", "(b - 1)", "(n*n)"], k=2)
    forms = [
        f"(({x})//{by})",
        f"(({x}) % {by})",
        f"({factor}({x}) - {factor}{by}*(({x})//{by}))",
        f"({factor}{by}*(({x})//{by}) + {factor}(({x}) % {by}) {draw.choice(['', '+ 1', '- a'])})",
        f"((({x})//{by})//{other})",
    ]
    return draw.choice([*forms, f"({x} {draw.choice('+-*')} {_term(draw, depth - 1)})"])


@pytest.mark.parametrize("seed", range(60))
def test_terms_have_the_values_that_python_gives_the_text(seed):
    text = _term(random.Random(seed))
    dim = parse_dim(text)
    for sizes in itertools.product(range(5), repeat=3):
        point = dict(zip("abn", sizes, strict=True))
        try:
            value = eval(text, dict(point))
        except ZeroDivisionError:
            value = None
        assert value_at(dim, {symbol(name): size for name, size in point.items()}) == value, (text, point)
