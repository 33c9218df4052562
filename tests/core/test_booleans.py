"""Formulas as sympy Booleans and back: the truth survives."""

from __future__ import annotations

import pickle

import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, expressions, name, of_dims, points, statements
from solver.expressions import compatible as broadcasts

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    Clashing,
    Comparison,
    Compatible,
    equal,
    negate,
    with_values,
)
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import compatible, formula_from_sympy, formula_to_sympy
from symbcast.core.algebra.sympy_conversion import to_sympy as to_sympy_dim
from symbcast.core.solver.evaluation import predicate
from symbcast.errors import AssumptionError, DimensionError, ShapeTypeError

a, b, c = map(to_sympy_dim, SYMBOLS)
X, Y, Z = SYMBOLS
SEVEN = tuple(symbol(f"s{n}") for n in range(7))
POINTS = points(3, 4)
dims = expressions(3, divisors=(2, 3, -2), functions=("min", "max"))
formulas = statements(dims, most=5)


def truth(boolean, sizes):
    """Return the truth that sympy finds by putting integers in."""
    found = boolean.xreplace({s: sympy.Integer(n) for s, n in zip((a, b, c), sizes, strict=True)})
    assert found in (sympy.true, sympy.false), found
    return bool(found)


@given(formulas)
@example(of_dims(False, [name("a"), name("b"), name("c")]))
def test_the_boolean_is_true_where_the_formula_holds(statement):
    boolean = formula_to_sympy(statement.formula)
    for sizes in POINTS:
        assert truth(boolean, sizes) is statement.at(sizes), (sizes, boolean)


@given(formulas)
def test_there_and_back_the_truth_is_the_same(statement):
    test = predicate(formula_from_sympy(formula_to_sympy(statement.formula)), SYMBOLS)
    for sizes in POINTS:
        assert bool(test(*sizes)) is statement.at(sizes), sizes


@given(formulas)
def test_the_negation_is_sympys(statement):
    negated = formula_to_sympy(negate(statement.formula))
    assert all(truth(negated, sizes) is not statement.at(sizes) for sizes in POINTS)
    read = predicate(formula_from_sympy(sympy.Not(formula_to_sympy(statement.formula))), SYMBOLS)
    assert all(bool(read(*sizes)) is not statement.at(sizes) for sizes in POINTS)


@given(st.lists(formulas, max_size=3))
def test_a_conjunction_is_of_all(given_statements):
    boolean = formula_to_sympy(AllOf(tuple(s.formula for s in given_statements)))
    for sizes in points(3, 3):
        assert truth(boolean, sizes) is all(s.at(sizes) for s in given_statements)


@given(st.lists(st.one_of(st.integers(0, 3), st.sampled_from((a, b, c))), max_size=5))
def test_compatible_is_that_the_sizes_broadcast(members):
    boolean = compatible(*map(sympy.sympify, members))
    for sizes in POINTS:
        values = [m if isinstance(m, int) else sizes[(a, b, c).index(m)] for m in members]
        assert truth(boolean, sizes) is broadcasts(*values)
    assert boolean == compatible(*map(sympy.sympify, reversed(members)))
    spelled_out = boolean.rewrite(sympy.And)
    assert not spelled_out.has(compatible)
    assert all(truth(spelled_out, sizes) is truth(boolean, sizes) for sizes in points(3, 3))


def test_compatible_in_sympy():
    joined = compatible(a, b, c)
    assert compatible(a, 1, b, a) == compatible(a, b)
    assert compatible(a) == compatible() == sympy.true
    assert compatible(2, 3, a) == sympy.false
    assert joined.subs({a: 1, b: 3, c: 3}) == sympy.true
    assert joined.free_symbols == {a, b, c}
    assert str(joined) == "compatible(a, b, c)"
    assert not joined.rewrite(sympy.And).has(compatible)
    assert pickle.loads(pickle.dumps(joined)) == joined


@pytest.mark.parametrize(
    ("written", "formula"),
    [
        (True, TRUE),
        (sympy.false, FALSE),
        (a >= 2, Comparison("<=", 2, X)),
        (a > b, Comparison("<", Y, X)),
        (sympy.Eq(a, b), equal(X, Y)),
        (sympy.Implies(sympy.Eq(a, 2), sympy.Eq(b, 3)), None),
        (sympy.Eq(2 * a - 7, -1), None),
        (sympy.And(a >= 2, sympy.Or(a < b, sympy.Ne(b, 5))), None),
        (~compatible(a, b, c), Clashing((X, Y, Z))),
        (compatible(a, b, c), Compatible((X, Y, Z))),
    ],
    ids=str,
)
def test_what_users_write(written, formula):
    found = formula_from_sympy(written)
    assert formula is None or found == formula
    test = predicate(found, SYMBOLS)
    assert all(bool(test(*sizes)) is truth(sympy.sympify(written), sizes) for sizes in points(3, 7))


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (sympy.Xor(a > 2, b > 2), AssumptionError),
        (sympy.Symbol("p"), ShapeTypeError),
        (a + 1, ShapeTypeError),
        ("a > 2", ShapeTypeError),
        (None, ShapeTypeError),
        (sympy.Eq(a / 2, b), DimensionError),
        (sympy.Eq(sympy.sqrt(a), b), DimensionError),
    ],
    ids=str,
)
def test_what_is_no_assumption_is_refused(written, error):
    with pytest.raises(error):
        formula_from_sympy(written)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Comparison("<=", 2, X), "a >= 2"),
        (Comparison("<", 2, X), "a > 2"),
        (Compatible((X, Y)), "Eq(a, 1) | Eq(a, b) | Eq(b, 1)"),
        (Clashing((X, Y)), "Ne(a, 1) & Ne(a, b) & Ne(b, 1)"),
        (Compatible((X, Y, 3)), "(Eq(a, 1) | Eq(a, 3)) & (Eq(b, 1) | Eq(b, 3)) & (Eq(a, 1) | Eq(a, b) | Eq(b, 1))"),
        (Compatible(SEVEN), "compatible(s0, s1, s2, s3, s4, s5, s6)"),
        (Clashing(SEVEN), "~compatible(s0, s1, s2, s3, s4, s5, s6)"),
        (AllOf((equal(X, 2), equal(Y, 3))), "Eq(a, 2) & Eq(b, 3)"),
        (TRUE, "True"),
        (FALSE, "False"),
    ],
    ids=str,
)
def test_how_a_formula_is_shown(formula, text):
    assert str(formula_to_sympy(formula)) == text


def test_a_long_join_is_one_term():
    members = tuple(symbol(f"n{n}") for n in range(200))
    assert len(formula_to_sympy(Compatible(members)).args) == 200


gaps = expressions(3, operators="+", divisors=(2,), functions=("max", "broadcast"), symbolic=True, max_leaves=4)


@settings(max_examples=25)
@given(statements(gaps, most=4))
def test_where_a_condition_holds_its_boolean_does_too(statement):
    """Also where something in it has no value: a divisor is 0, or sizes do not broadcast."""
    for condition in (Condition(with_values(statement.formula)), ~Condition(with_values(statement.formula))):
        boolean = condition.sympy
        for sizes in points(3, 4):
            given_sizes = dict(zip((a, b, c), sizes, strict=True))
            held = condition.guard()({s: n for s, n in given_sizes.items() if s in condition.symbols})
            assert boolean.subs(given_sizes) == sympy.sympify(held), (condition, sizes)


@pytest.mark.parametrize(
    "text",
    [
        "a == 0 or b == 0 or 6//a == max(2*b, a//b)",
        "c == 0 or max(2 % c, b + 1) != 1 or b//4 == a",
        "max(broadcast(c, 3), 1) < b",
        "(b != 4 and b != 1) or not compatible(0, a, broadcast(b, 4))",
        "not compatible(a, broadcast(b, c), c//a)",
        "broadcast(a, broadcast(b, 2)) == c % broadcast(a, b)",
    ],
)
def test_joins_and_divisions_that_have_no_value_somewhere(text):
    for condition in (Condition(text), ~Condition(text)):
        for sizes in points(3, 5):
            given_sizes = {s: n for s, n in zip((a, b, c), sizes, strict=True) if s in condition.symbols}
            assert condition.sympy.subs(given_sizes) == sympy.sympify(condition.guard()(given_sizes)), sizes


def test_symbols_are_those_that_sympy_makes():
    ours, theirs = (
        to_sympy_dim(symbol("never_used_before")),
        sympy.Symbol("never_used_before", integer=True, nonnegative=True),
    )
    assert (ours, hash(ours), ours.assumptions0) == (theirs, hash(theirs), theirs.assumptions0)
    assert formula_to_sympy(equal(symbol("never_used_before"), 1)) == sympy.Eq(theirs, 1, evaluate=False)
    assert ours - theirs == 0
