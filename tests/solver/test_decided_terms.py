"""Formulas simplified by the sets of single symbols, and equal products as products of sets: held against all sizes."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import comparison, expressions, integer, name, statements

import symbcast as sb
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import term
from symbcast.core.solver.evaluation import holds_at, predicate, value_function
from symbcast.core.solver.f2_one_size.decided_terms import DecidedTerms, is_greatest
from symbcast.core.solver.f2_one_size.set_products import boxes_of
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.text import parse_dim, parse_formula

a, b = map(symbol, "ab")
SIZES = range(26)
sets = st.one_of(
    st.tuples(st.integers(1, 8), st.integers(0, 7)).map(lambda r: SizeSet.residues(r[0], [r[1]])),
    st.tuples(st.integers(0, 9), st.integers(0, 14)).map(lambda r: SizeSet.interval(r[0], r[0] + r[1])),
    st.integers(0, 9).map(lambda low: SizeSet.interval(low, None)),
)
factors = st.sampled_from(
    [
        "{0}",
        "{0}//2",
        "({0} + 1)//2",
        "4*({0}//4)",
        "min({0}, 5)",
        "max({0} - 2, 0)",
        "max(min({0}//2 + 2 - {0}//4, 4), 1)",
        "1",
        "3",
    ]
)
products = st.tuples(factors, factors).map(lambda f: multiply(*map(parse_dim, (f[0].format("a"), f[1].format("b")))))


@given(statements(expressions(2, divisors=(2, 3, 4), functions=("min", "max", "broadcast"), symbolic=True)), sets, sets)
@example(comparison("==", name("a"), integer(0)), SizeSet.residues(2, [1]), SizeSet.residues(2, [1]))
def test_a_formula_holds_at_the_same_sizes_of_the_sets(statement, first, second):
    found = DecidedTerms({a: first, b: second}).formula(statement.formula)
    holds, still = (predicate(f, (a, b)) for f in (statement.formula, found))
    for point in itertools.product(SIZES, repeat=2):
        if point[0] in first and point[1] in second and _is_defined(statement, point):
            assert holds(*point) is still(*point), (point, found)


def _is_defined(statement, point):
    try:
        statement.at(point)
    except ArithmeticError:
        return False
    return True


@given(products, products, sets, sets)
def test_equal_products_are_the_union_of_their_products_of_sets(left, right, first, second):
    formula = equal(left, right)
    boxes = boxes_of(formula, {a: first, b: second})
    holds = predicate(formula, (a, b))
    for point in itertools.product(SIZES, repeat=2) if boxes is not None else ():
        if point[0] in first and point[1] in second:
            inside = any(all(n in box.get(s, SIZES) for s, n in zip((a, b), point, strict=True)) for box in boxes)
            assert inside is holds(*point), point


@given(products, products, sets, sets)
def test_the_greatest_product_is_the_join_where_there_is_one(greater, less, first, second):
    if is_greatest(greater, less, {a: first, b: second}):
        values = [value_function(term(d).dim(), (a, b)) for d in (greater, less)]
        for point in itertools.product(SIZES, repeat=2):
            x, y = (value(*point) for value in values)
            if point[0] in first and point[1] in second and (x == y or 1 in (x, y)):
                assert x == (y if x == 1 else x), point


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("M*(((H + 7)//8)//((H + 15)//16)) == 4", "M == 2"),
        ("((H + 7)//8 + M) % ((H + 15)//16) == 0", "(M + 2*(H//16)) % (H//16) == 0"),
        ("M*(((H + 7)//8) % ((H + 15)//16)) <= 4", "True"),
        ("(H % 16)*(M//(W//8)) <= W", "W//8 != 0"),
        ("M*((W + 1)//(W//8)) % M <= 2", "M != 0 and W//8 != 0"),
    ],
)
def test_quotients_by_terms_are_decided_and_divisors_are_kept_from_0(text, wanted):
    H, M, W = map(symbol, "HMW")
    sets = {H: SizeSet.residues(16, [0]) & SizeSet.interval(1, None), W: SizeSet.interval(1, None)}
    formula = parse_formula(text)
    found = DecidedTerms(sets).formula(formula)
    assert len(str(sb.Condition(found))) <= len(text)
    for h, m, w in itertools.product([16, 32, 48, 160], range(20), [1, 7, 8, 9, 20]):
        at = {H: h, M: m, W: w}
        assert holds_at(formula, at) is holds_at(found, at) is holds_at(parse_formula(wanted), at), at


@pytest.mark.parametrize(
    ("requirements", "condition"),
    [
        (["H % 8 == 0", "((H + 7)//8)*N == (H//8)*M"], "H % 8 == 0 and (M == N or H == 0)"),
        (
            ["2*((H + 15)//16) == (H + 7)//8", "((H + 7)//8)*((W + 7)//8) == 4*((H + 15)//16)*((W + 15)//16)"],
            "(H % 16 == 0 or H % 16 >= 9) and (H == 0 or W % 16 == 0 or W % 16 >= 9)",
        ),
        (["A % 8 == 0", "B == min(A, 121)", "A >= 121"], "A % 8 == 0 and A >= 128 and B == 121"),
    ],
)
def test_sizes_that_others_decide_are_not_in_a_condition(requirements, condition):
    env = sb.ShapeEnv(on_conflict="record")
    for text in requirements:
        env.require(text)
    assert env.equivalent(condition)
    assert len(str(env.condition)) <= len(condition), env.condition


def test_a_cropped_table_is_added_where_it_has_as_many_rows():
    """Cropped at 12 around the centre; the start is rounded down and the end up."""
    env = sb.ShapeEnv(on_conflict="record", min_size=1)
    rows, columns = (f"max(min({s}//2 + 6 - {s}//4, 12) - max(6 - ({s}//2 + 1)//2, 0), 0)" for s in "HW")
    env.require(f"(H//2)*(W//2)*C == ({rows})*({columns})*C")
    guard = env.guard()
    for H, W in itertools.product(range(1, 61), repeat=2):
        table = [max(min(s // 2 + 6 - s // 4, 12) - max(6 - (s // 2 + 1) // 2, 0), 0) for s in (H, W)]
        assert guard(H=H, W=W, C=1) is (table[0] * table[1] == (H // 2) * (W // 2)), (H, W)
    assert len(str(env.condition)) <= 330


@pytest.mark.parametrize(
    ("shapes", "given"),
    [
        (("N", "M", "N//2*2"), "N % 2 == 0"),
        (("N", "M", "(N - 1)//3*3 + 1"), "N % 3 == 1"),
        (("broadcast(N, M)", "N//2*2"), "N % 2 == 0"),
    ],
)
def test_an_output_repeats_no_size_that_assumptions_make_equal(shapes, given):
    """Conditions have no such size any more, so what they say of outputs is asked without it too."""
    result = sb.broadcast(*shapes, assume=given)
    assert "//" not in str(result.shape)
    for n, m in itertools.product(range(7), repeat=2):
        if result.guard()(N=n, M=m):
            assert result.evaluate(N=n, M=m) == sb.broadcast((n,), (m,)).shape.dims
