"""Building dimensions: the value is Python's, for every small size, and no fault of sympy's shows."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import NAMES, SYMBOLS, binary, call, expressions, integer, name, points
from steps import calls

from symbcast.core.algebra.arithmetic import FUNCTIONS, add, floor_divide, maximum, modulo, multiply, replace_symbols
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.sympy_conversion import from_sympy, to_sympy
from symbcast.errors import DimensionError

a, b, c = SYMBOLS
POINTS = points(3, 6)
dims = expressions(3, divisors=(2, 3, 4, 6, -2, -3), functions=("min", "max"), symbolic=True, max_leaves=5)
two, three, four, six = map(integer, (2, 3, 4, 6))
N, M = name("a"), name("b")


def at(dim, sizes):
    """Return a dimension's value by putting integers into what sympy holds for it, and letting sympy work."""
    if isinstance(dim, int):
        return dim
    return to_sympy(dim).xreplace({to_sympy(s): sympy.Integer(n) for s, n in zip(SYMBOLS, sizes, strict=True)})


@given(dims)
@example(binary("%", call("max", [binary("*", two, N), four]), six))  # sympy: 0
@example(binary("//", call("max", [binary("*", two, N), four]), six))  # sympy: a fraction
@example(binary("%", binary("*", M, binary("%", N, four)), three))  # sympy: squares the inner remainder
@example(binary("%", binary("-", integer(0), N), binary("*", two, N)))  # sympy: -N
@example(binary("//", binary("*", N, M), M))  # sympy: N, which has a value where M is 0
@example(binary("%", binary("%", N, six), four))
@example(binary("//", binary("-", integer(0), N), three))
@example(binary("%", N, integer(-3)))
def test_what_is_built_has_the_value_that_python_computes(expression):
    for sizes in POINTS:
        try:
            expected = expression.at(sizes)
        except ZeroDivisionError:
            continue
        found = at(expression.dim, sizes)
        assert found == expected, (sizes, found)


@given(st.lists(st.one_of(st.integers(-5, 5), st.sampled_from(SYMBOLS)), max_size=6))
def test_sums_and_products_of_many(members):
    texts = [m if isinstance(m, int) else NAMES[SYMBOLS.index(m)] for m in members]
    for sizes in points(3, 4):
        values = [m if isinstance(m, int) else sizes[NAMES.index(m)] for m in texts]
        assert at(add(*members), sizes) == sum(values)
        product = 1
        for number in values:
            product *= number
        assert at(multiply(*members), sizes) == product


@pytest.mark.parametrize(
    "kind", [{"even": True}, {"odd": True}, {"positive": True, "even": True}, {"prime": True}], ids=str
)
@pytest.mark.parametrize("by", [2, 3, 4, 6, 10])
def test_assumptions_of_a_symbol_do_not_mislead_sympy(kind, by):
    """sympy 1.14 takes an even size over 6 for an integer."""
    n = sympy.Symbol("n", nonnegative=True, integer=True, **kind)
    try:
        read = from_sympy(n)
    except DimensionError:
        assert kind == {"prime": True}
        return
    for size in [size for size in range(1, 40) if sympy.Symbol("n", **kind).is_even in (None, size % 2 == 0)]:
        for factor, shift in ((1, 0), (2, 1), (3, 4)):
            value = {n: sympy.Integer(size)}
            dividend = add(multiply(factor, read), shift)
            quotient, remainder = (sympy.sympify(to_sympy(f(dividend, by))) for f in (floor_divide, modulo))
            assert quotient.xreplace(value) == (factor * size + shift) // by
            assert remainder.xreplace(value) == (factor * size + shift) % by


def test_cancelling_a_symbol_would_forget_that_it_may_be_zero():
    assert to_sympy(a) * to_sympy(b) // to_sympy(b) == sympy.floor(to_sympy(a))
    assert floor_divide(a * b, b) != a
    assert modulo(a * b, b) != 0


@pytest.mark.parametrize("function", ["min", "max"])
@given(members=st.lists(st.one_of(st.integers(0, 5), st.sampled_from(SYMBOLS)), min_size=1, max_size=7))
def test_extrema_of_many(function, members):
    built = FUNCTIONS[function](members)
    fold = {"min": min, "max": max}[function]
    for sizes in points(3, 4):
        values = [m if isinstance(m, int) else sizes[SYMBOLS.index(m)] for m in members]
        assert at(built, sizes) == fold(values)


def test_long_text_stays_cheap():
    many = [symbol(f"n{n}") for n in range(300)]
    with calls() as steps:
        assert len(add(*many).coefficients) == 300
        assert [len(m) for m in multiply(*many).coefficients] == [300]
        assert len(FUNCTIONS["max"](many).args) == 300
        assert len(FUNCTIONS["broadcast"](many).args) == 300
    assert steps.count < 500_000


def test_unknowns_are_exchanged_and_nothing_else():
    old, new, other = Unknown("?0", 2, 5), Unknown("?1", 2, 5), Unknown("?2")
    assert replace_symbols(old, {old: new, other: other}) is new
    assert replace_symbols(2 * old + a, {old: new}) == 2 * new + a
    assert replace_symbols(floor_divide(old, 2) * other, {old: new, other: old}) == floor_divide(new, 2) * old
    assert replace_symbols(maximum((3, old)), {old: new}) == maximum((3, new))
    assert replace_symbols(7, {}) == 7
    assert replace_symbols(a + 1, {old: new}) == a + 1
