"""Comparisons in canonical form and formulas in clauses: the same truth, fewer ways to write it."""

from __future__ import annotations

import random
from math import gcd, prod

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, comparison, expressions, integer, name, points, statements

from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    all_of,
    clauses,
    literals,
    negate,
)
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import term
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f2_one_size.clauses import (
    MOST_CLAUSES,
    PAIRWISE_UP_TO,
    _factors,
    _shared_factors,
    canonical_comparison,
    clauses_of,
    with_canonical_literals,
)

a, b, c = SYMBOLS
POINTS = points(3, 6)
polynomials = expressions(3, divisors=(), max_leaves=5)
dims = expressions(3, divisors=(2, 3, -2), functions=("min", "max"))
comparisons = st.builds(comparison, st.sampled_from(["==", "!=", "<=", "<"]), dims, dims)


def agrees(formula, statement, bindings=POINTS):
    test = predicate(formula, SYMBOLS)
    for sizes in bindings:
        assert bool(test(*sizes)) is statement.at(sizes), (sizes, formula)


@given(comparisons)
@example(comparison("<", name("a"), integer(1)))
def test_a_canonical_comparison_has_the_same_truth(statement):
    agrees(canonical_comparison(statement.formula), statement)


@given(comparisons)
def test_canonical_is_idempotent_and_in_lowest_terms(statement):
    once = canonical_comparison(statement.formula)
    if once in (TRUE, FALSE):
        return
    assert canonical_comparison(once) == once
    difference = term(once.left) - term(once.right)
    coefficients = [*difference.coefficients.values()]
    assert gcd(*coefficients) == 1
    assert once.operator in ("==", "!=", "<=", "<")
    for side in (once.left, once.right):
        assert all(factor > 0 for factor in term(side).coefficients.values())


@given(polynomials, polynomials, st.integers(1, 4), st.integers(-3, 3))
def test_one_comparison_is_written_one_way(left, right, factor, shift):
    """Scaling both sides, adding to both and (where it is symmetric) exchanging them changes nothing."""
    x, y = term(left.dim), term(right.dim)
    moved = [(side.scaled(factor) + term(shift)).dim() for side in (x, y)]
    for operator in ("==", "!=", "<="):
        assert canonical_comparison(Comparison(operator, *moved)) == canonical_comparison(
            Comparison(operator, left.dim, right.dim)
        )
    for operator in ("==", "!="):
        assert canonical_comparison(Comparison(operator, right.dim, left.dim)) == canonical_comparison(
            Comparison(operator, left.dim, right.dim)
        )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (Comparison("==", 2 * a, 3), FALSE),
        (Comparison("!=", 2 * a, 3), TRUE),
        (Comparison("==", a + b, -1), FALSE),
        (Comparison("<=", 0, a * b), TRUE),
        (Comparison("<", a, 0), FALSE),
        (Comparison("<=", 2 * a, 5), Comparison("<=", a, 2)),
        (Comparison("<", 2 * a, 5), Comparison("<=", a, 2)),
        (Comparison("<", 4 * a, 4 * b), Comparison("<", a, b)),
        (Comparison("<=", 2 * a + 1, 2 * b), Comparison("<", a, b)),
        (Comparison("<=", 1, a), Comparison("<=", 1, a)),
        (Comparison("<=", a + 2, b), Comparison("<=", a + 2, b)),
        (Comparison("==", 5, a), Comparison("==", a, 5)),
        (Comparison("==", a - b, 0), Comparison("==", a, b)),
        (Comparison("==", b, a), Comparison("==", a, b)),
        (Comparison("==", (a + 1) * (a + 1), a * a + 2 * a + 1), TRUE),
    ],
    ids=str,
)
def test_canonical_forms(written, expected):
    assert canonical_comparison(written) == expected


@given(statements(dims, most=4))
def test_simplified_has_the_same_truth(statement):
    agrees(with_canonical_literals(statement.formula), statement)


@given(statements(expressions(3, divisors=(), operators="*-+", max_leaves=6), most=2))
@example(comparison("==", integer(0), name("a")))
def test_products_are_factored_without_loss(statement):
    agrees(with_canonical_literals(statement.formula), statement)


def test_an_equation_of_a_product_falls_apart():
    assert with_canonical_literals(Comparison("==", a * b, 0)) == AnyOf(
        (Comparison("==", a, 0), Comparison("==", b, 0))
    )
    assert with_canonical_literals(Comparison("!=", a * b, 0)) == AllOf(
        tuple(canonical_comparison(Comparison("!=", s, 0)) for s in (a, b))
    )
    parts = with_canonical_literals(Comparison("==", a * b, a)).parts
    assert set(parts) == {Comparison("==", a, 0), Comparison("==", b, 1)}


def test_symbols_that_all_monomials_share_are_factors_as_sympy_finds_them():
    draw, compared = random.Random(3), 0
    for _ in range(80):
        monomials = (prod(draw.choices((a, b, c), k=draw.randint(0, 2)), start=a) for _ in range(draw.randint(1, 3)))
        value = term(sum(draw.choice((-3, -2, 1, 2)) * m for m in monomials))
        if value.is_constant or value.is_linear:
            continue
        found, expected = (
            {part for f in work(value) for part in clauses(negate(with_canonical_literals(Comparison("==", f, 0))))}
            for work in (_shared_factors, _factors)
        )
        assert found == expected, value
        compared += 1
    assert compared > 40
    assert with_canonical_literals(Comparison("==", a * a, 0)) == Comparison("==", a, 0)


@given(statements(dims, max_leaves=6))
def test_clauses_together_have_the_same_truth(statement):
    found = clauses_of(statement.formula)
    agrees(all_of(found), statement)


@given(statements(expressions(3, divisors=()), max_leaves=5))
def test_clauses_are_disjunctions_of_literals(statement):
    for clause in clauses_of(statement.formula):
        assert len(clauses(clause)) == 1
        if prod(len(clauses(literal)) for literal in literals(clause)) > MOST_CLAUSES:
            continue  # distributing would make too many: it is left whole
        for literal in literals(clause):
            assert isinstance(literal, (Comparison, Compatible, Clashing)) or clause == FALSE


def test_what_would_grow_too_large_is_left_whole():
    symbols = [symbol(f"n{n}") for n in range(16)]
    pairs = zip(symbols[::2], symbols[1::2], strict=True)
    wide = AnyOf(tuple(AllOf((Comparison("==", x, 2), Comparison("==", y, 3))) for x, y in pairs))
    assert len(clauses_of(wide)) == 1


@pytest.mark.parametrize("count", [PAIRWISE_UP_TO, PAIRWISE_UP_TO + 1])
def test_long_joins_stay_whole(count):
    members = tuple(symbol(f"n{n}") for n in range(count))
    whole = clauses_of(Compatible(members)) == [Compatible(members)]
    assert whole is (count > PAIRWISE_UP_TO)
