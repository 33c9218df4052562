"""Sizes put in, units and repeats taken out: the truth stays."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import NAMES, SYMBOLS, broadcast, expressions, integer, name, of_dims, points, statements

from symbcast.core.algebra.arithmetic import floor_divide, join, modulo, replace_symbols
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    all_of,
    equal,
    one_or_equal,
)
from symbcast.core.algebra.sympy_conversion import from_sympy
from symbcast.core.solver.evaluation import (
    as_relation,
    in_normal_form,
    normal_conjuncts,
    predicate,
    replace_in_formula,
    symbols_in,
)
from symbcast.core.solver.f1_names.relations import Joinable, OneWay, SameSize

a, b, c = SYMBOLS
POINTS = points(3, 5)
plain = st.one_of(st.sampled_from(NAMES).map(name), st.integers(0, 3).map(integer))
dims = st.one_of(plain, expressions(3, divisors=(2, 3), functions=("min", "max")))
formulas = statements(dims, most=5)
values = st.dictionaries(st.sampled_from(SYMBOLS), st.integers(0, 4), max_size=3)


@given(formulas)
@example(of_dims(True, [integer(2), integer(3), name("a")]))
@example(of_dims(False, [integer(1), name("a"), name("a"), integer(2)]))
def test_a_normal_formula_has_the_same_truth(statement):
    test = predicate(in_normal_form(statement.formula), SYMBOLS)
    for sizes in POINTS:
        assert bool(test(*sizes)) is statement.at(sizes), sizes


@given(formulas)
def test_normal_is_idempotent(statement):
    once = in_normal_form(statement.formula)
    assert in_normal_form(once) == once


@given(st.lists(formulas, max_size=3))
def test_flattened_formulas_are_their_conjunction(given_statements):
    found = normal_conjuncts(s.formula for s in given_statements)
    assert TRUE not in found
    assert len(set(found)) == len(found)
    test = predicate(all_of(found), SYMBOLS)
    for sizes in POINTS:
        assert bool(test(*sizes)) is all(s.at(sizes) for s in given_statements), sizes


@given(formulas, values)
def test_putting_sizes_in_is_evaluating_there(statement, known):
    test = predicate(replace_in_formula(statement.formula, known), SYMBOLS)
    for sizes in POINTS:
        there = [known.get(s, size) for s, size in zip(SYMBOLS, sizes, strict=True)]
        assert bool(test(*sizes)) is statement.at(there), sizes


@given(formulas, st.sampled_from(SYMBOLS), st.sampled_from(SYMBOLS))
def test_putting_a_symbol_in_is_evaluating_there(statement, old, new):
    test = predicate(replace_in_formula(statement.formula, {old: new}), SYMBOLS)
    for sizes in POINTS:
        at = dict(zip(SYMBOLS, sizes, strict=True))
        assert bool(test(*sizes)) is statement.at([at[new] if s == old else at[s] for s in SYMBOLS]), sizes


def test_symbols_are_exchanged_at_once():
    """a for b and b for a: the second does not see what the first put in."""
    assert replace_symbols(a + 2 * b, {a: b, b: a}) == b + 2 * a


@given(formulas)
def test_the_symbols_of_a_formula_are_those_its_truth_can_depend_on(statement):
    mentioned = list(symbols_in(statement.formula))
    assert len(set(mentioned)) == len(mentioned)
    test = predicate(replace_in_formula(statement.formula, dict.fromkeys(mentioned, 2)), ())
    assert bool(test()) is statement.at((2, 2, 2))


@pytest.mark.parametrize(
    ("dim", "known"),
    [
        (join((a, b)), {a: 2, b: 3}),
        (join((a, b, c)), {a: 0, b: 2}),
        (floor_divide(a, b), {a: 7, b: 0}),
        (modulo(a, b), {a: 7, b: 0}),
        (floor_divide(a + 1, b - c), {a: 7, b: 2, c: 2}),
    ],
    ids=str,
)
def test_what_is_undefined_at_the_sizes_is_left_undefined(dim, known):
    """A join of 2 and 3 or a quotient by 0 has no size; that is for a constraint to say, not for an error."""
    put = replace_in_formula(Comparison("==", dim, 4), known)
    assert not any(predicate(put, SYMBOLS)(*sizes) for sizes in POINTS)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (Compatible((a, 1, a)), TRUE),
        (Compatible((a, 3)), one_or_equal(a, 3)),
        (Compatible((2, 3, a)), FALSE),
        (Compatible((a, 2 * b, b + b, 1)), Compatible((a, 2 * b))),
        (one_or_equal(a, 1), equal(a, 1)),
        (one_or_equal(1, a), TRUE),
        (one_or_equal(2, a), equal(a, 2)),
        (one_or_equal(a, a), TRUE),
        (Comparison("==", (a + 1) * b, a * b + b), TRUE),
        (Comparison("<=", a, a), TRUE),
        (Comparison("<", a, a), FALSE),
        (AllOf((TRUE, AnyOf((FALSE, equal(a, 2))))), equal(a, 2)),
    ],
    ids=str,
)
def test_normal_forms(formula, expected):
    assert in_normal_form(formula) == expected


@pytest.mark.parametrize(
    ("formula", "relation"),
    [
        (Compatible((a, b, c)), Joinable((a, b, c))),
        (equal(a, b), SameSize(a, b)),
        (one_or_equal(a, b), OneWay(a, b)),
        (Compatible((a, 2 * b)), None),
        (equal(a, 2), None),
        (one_or_equal(a, b + 1), None),
        (AnyOf((equal(a, 1), equal(b, c))), None),
        (Comparison("<=", a, b), None),
    ],
    ids=str,
)
def test_which_formulas_the_graph_relates(formula, relation):
    assert as_relation(formula) == relation


@given(st.lists(plain, min_size=2, max_size=5))
def test_a_join_in_normal_form_has_the_same_truth(members):
    formula = in_normal_form(Compatible(tuple(m.dim for m in members)))
    test = predicate(formula, SYMBOLS)
    for sizes in POINTS:
        try:
            broadcast(*(m.at(sizes) for m in members))
            defined = True
        except ArithmeticError:
            defined = False
        assert bool(test(*sizes)) is defined


def test_a_dimension_that_sympy_leaves_constant_is_decided():
    """(N + 1)**2 - N**2 - 2*N is 1, though sympy does not see it."""
    N = sympy.Symbol("N")
    one = from_sympy((N + 1) ** 2 - N**2 - 2 * N)
    assert in_normal_form(Comparison("==", one, 3)) == FALSE
    assert in_normal_form(Comparison("==", one, 1)) == TRUE
    assert in_normal_form(one_or_equal(one, 3)) == TRUE
