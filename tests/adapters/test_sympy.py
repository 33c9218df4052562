"""Sympy out: the same sizes with sympy's functions alone. Sympy in: what is a dimension."""

from __future__ import annotations

import itertools

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, broadcast, call, expressions, integer, name

import symbcast as sb
from symbcast.adapters import sympy as adapter
from symbcast.core.algebra.sympy_conversion import to_sympy
from symbcast.core.algebra.sympy_functions import broadcast as join
from symbcast.core.algebra.sympy_functions import floordiv, mod
from symbcast.core.shapes import shape_of
from symbcast.core.solver.evaluation import value_function

anything = expressions(
    3, divisors=(2, 3, 6, -2), functions=("min", "max", "broadcast"), symbolic=True, max_leaves=4
).filter(lambda e: not isinstance(e.dim, int))
sizes = st.tuples(*[st.integers(0, 6)] * 3)
N, M = sb.symbol("N"), sb.symbol("M")


def at(point):
    return {to_sympy(s): sympy.Integer(size) for s, size in zip(SYMBOLS, point, strict=True)}


@given(anything, st.lists(sizes, min_size=1, max_size=8))
@example(call("max", [name("a"), integer(4)]), [(0, 0, 0), (5, 0, 0)])
def test_written_dimensions_have_the_same_sizes(expression, points):
    (written,) = adapter.write(shape_of((expression.dim,)))
    assert not written.has(join, floordiv, mod)
    for point in points:
        try:
            expected = expression.at(point)
        except ArithmeticError:
            continue
        assert written.xreplace(at(point)) == expected, point


@given(expressions(3, divisors=(2, 3, 4), max_leaves=5).filter(lambda e: not isinstance(e.dim, int)))
def test_what_is_written_without_joins_is_read_back(expression):
    (back,) = adapter.read(adapter.write(shape_of((expression.dim,)))).dims
    compiled = value_function(back, SYMBOLS)
    for point in itertools.product(range(7), repeat=3):
        assert compiled(*point) == expression.at(point), point


@pytest.mark.parametrize("text", ["N, 3", "()", "(N + 1)//2, N % 3", "min(N, M), max(N, 3)", "N**2*M - 1", "?, 2..5"])
def test_shapes_are_read_back(text):
    shape = sb.shape(text)
    assert adapter.read(adapter.write(shape)) == shape


@pytest.mark.parametrize(("of", "at"), [("max(2*N, 4)//6", 7), ("M*(N % 4) % 3", 6), ("-N % (2*N)", 5), ("6 // N", 0)])
def test_what_sympy_evaluates_wrongly_is_left_to_the_sizes(of, at):
    (written,) = adapter.write(of)
    values = {N: sympy.Integer(at), M: sympy.Integer(5)}
    expected = {"max(2*N, 4)//6": 2, "M*(N % 4) % 3": 1, "-N % (2*N)": 5, "6 // N": sympy.zoo}[of]
    assert written.xreplace(values) == expected


def test_even_sizes_are_divided_rightly():
    even = sympy.Symbol("e", even=True, nonnegative=True)
    (written,) = adapter.write((floordiv(even, 6),))
    assert [written.xreplace({even: sympy.Integer(k)}) for k in (0, 4, 6, 10)] == [0, 0, 1, 1]


def test_the_join_of_three_is_the_one_that_is_not_1():
    (written,) = adapter.write("broadcast(a, b, c)")
    for point in [(1, 1, 1), (1, 4, 1), (1, 0, 1), (5, 5, 1)]:
        assert written.xreplace(at(point)) == broadcast(*point)


def test_other_symbols_are_put_in():
    theirs = sympy.Symbol("n", integer=True, positive=True)
    assert adapter.write("N + 1, M", {N: theirs}) == (theirs + 1, M)


def test_symbols_are_kept_and_their_assumptions_honoured():
    n = sympy.Symbol("n", integer=True, positive=True)
    shape = adapter.read([n, sympy.floor(n / 2), sympy.Integer(3), 4])
    assert shape[0] == n  # sympy makes equal symbols anew when its cache is full
    assert shape == sb.shape((n, sympy.floor(n / 2), 3, 4))
    assert sb.broadcast(shape[:1], (5,), assume=sympy.Le(n, 1)).verdict is sb.Verdict.ALWAYS


@pytest.mark.parametrize(
    ("dims", "error", "says"),
    [
        ([N / 2], sb.DimensionError, "//"),
        ([sympy.sqrt(N)], sb.DimensionError, "exponent"),
        ([sympy.sin(N)], sb.DimensionError, "sin"),
        ([sympy.Piecewise((M, sympy.Eq(N, 1)), (N, True))], sb.DimensionError, r"broadcast\(N, M\)"),
        ([sympy.Symbol("x", negative=True, integer=True)], sb.DimensionError, "non-negative"),
        ([sympy.Integer(-3)], sb.DimensionError, "negative"),
        ([sympy.true], sb.ShapeTypeError, "not a dimension"),
    ],
)
def test_what_is_no_dimension_says_why(dims, error, says):
    with pytest.raises(error, match=says):
        adapter.read(dims)
