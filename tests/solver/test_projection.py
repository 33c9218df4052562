"""What is left of a condition when what data decide is taken out of it: brute force over small sizes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import Comparison, all_of, any_of, at_most, equal, negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f4_products.projection import project

A, B, X, Y = symbols = tuple(map(symbol, ("a", "b", "x", "y")))
OWN = frozenset((X, Y))
SIZES = range(4)
FAR = range(24)
"""Sizes that data may decide: beyond what the comparisons below can tell apart."""


@dataclass(frozen=True)
class Linear:
    """A comparison of a sum of multiples of the sizes and a number with 0."""

    operator: str
    factors: tuple[int, ...]
    number: int

    def formula(self):
        terms = [multiply(f, s) for f, s in zip(self.factors, symbols, strict=True)]
        return Comparison(self.operator, add(self.number, *terms), 0)

    def holds(self, sizes):
        total = self.number + sum(f * s for f, s in zip(self.factors, sizes, strict=True))
        return {"==": total == 0, "!=": total != 0, "<=": total <= 0, "<": total < 0}[self.operator]


operators = st.sampled_from(["==", "==", "<=", "<", "!="])
ones = st.sampled_from([1, -1])
some = st.sampled_from([0, 0, 1, -1])
small = st.integers(-2, 2)


def literals(x, y):
    return st.builds(Linear, operators, st.tuples(some, some, x, y), small)


def conditions(literal, clauses=4, length=3):
    return st.lists(st.lists(literal, min_size=1, max_size=length), min_size=1, max_size=clauses)


of_one = conditions(literals(st.one_of(ones, st.just(0)), st.just(0)), clauses=3, length=2)
"""Few and short enough for nothing to be let go."""
of_two = conditions(literals(st.integers(-2, 2), some))


def projected(clauses):
    return project([any_of(literal.formula() for literal in clause) for clause in clauses], OWN, (), {}).inputs


def some_data(clauses, a, b, ys=range(1)):
    """Return whether the clauses hold for some sizes that data decide."""
    return any(
        all(any(literal.holds((a, b, x, y)) for literal in clause) for clause in clauses)
        for x, y in itertools.product(FAR, ys)
    )


def holds(formulas, a, b):
    return all(holds_at(f, {A: a, B: b}) for f in formulas)


@given(of_one)
@example([[Linear("<=", (-1, 0, 1, 0), 0)], [Linear("<=", (0, 1, -1, 0), 0)]])
@example([[Linear("==", (-1, 0, 1, 0), 0), Linear("==", (0, 0, 1, 0), -1)], [Linear("!=", (0, -1, 1, 0), 0)]])
def test_of_one_size_by_itself_it_is_exact(clauses):
    left = projected(clauses)
    for a, b in itertools.product(SIZES, repeat=2):
        assert holds(left, a, b) is some_data(clauses, a, b), (a, b, left)


@given(of_two)
def test_of_several_sizes_it_is_implied(clauses):
    left = projected(clauses)
    for a, b in itertools.product(SIZES, repeat=2):
        if some_data(clauses, a, b, range(8)):
            assert holds(left, a, b), (a, b, left)


@given(of_two)
def test_nothing_that_data_decide_is_left(clauses):
    assert all(OWN.isdisjoint(symbols_in(f)) for f in projected(clauses))


@given(conditions(literals(st.just(0), st.just(0))))
def test_what_speaks_of_no_data_stays(clauses):
    asked = [any_of(literal.formula() for literal in clause) for clause in clauses]
    assert project(asked, OWN, (), {}).inputs == tuple(asked)


@given(of_one, st.integers(0, 3))
def test_what_is_assumed_of_data_counts(clauses, least):
    asked = [any_of(literal.formula() for literal in clause) for clause in clauses]
    left = project(asked, OWN, [at_most(least, X)], {}).inputs
    speaks = any(literal.factors[2] for clause in clauses for literal in clause)
    assumed = [[Linear("<=", (0, 0, -1, 0), least)]] if speaks else []
    for a, b in itertools.product(SIZES, repeat=2):
        assert holds(left, a, b) is some_data([*clauses, *assumed], a, b), (a, b, left)


@given(of_one, literals(st.just(0), st.just(0)), st.integers(0, 2), st.sampled_from([A, B, 0, 3]))
def test_a_size_by_cases_is_what_it_is_in_each(clauses, chosen, shift, other):
    """x is ``a + shift`` where a comparison of a and b holds, and another size elsewhere."""
    formula = chosen.formula()
    yes, no = add(A, shift), other
    asked = [any_of(literal.formula() for literal in clause) for clause in clauses]
    assumed = [any_of([negate(formula), equal(X, yes)]), any_of([formula, equal(X, no)])]
    left = project(asked, OWN, assumed, {X: (formula, yes, no)}).inputs
    for a, b in itertools.product(SIZES, repeat=2):
        x = a + shift if chosen.holds((a, b, 0, 0)) else {A: a, B: b}.get(other, other)
        expected = all(any(literal.holds((a, b, x, 0)) for literal in clause) for clause in clauses)
        assert holds(left, a, b) is expected, (a, b, left)


def test_many_clauses_are_let_go_of_in_good_time():
    chain = [any_of([equal(X, add(A, n)), at_most(add(B, n), X)]) for n in range(40)]
    left = project(chain, OWN, (), {}).inputs
    assert holds_at(all_of(left), {A: 5, B: 0})
