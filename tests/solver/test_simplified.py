"""Simplified conditions: few clauses, nothing redundant, the same truth, and nothing left to simplify."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, expressions, points, statements

import symbcast as sb
from symbcast.core.algebra.formulas import (
    AllOf,
    AnyOf,
    Comparison,
    all_of,
    any_of,
    clauses,
    equal,
    literal_count,
    negate,
)
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import Satisfiability
from symbcast.core.solver.evaluation import predicate, symbols_in
from symbcast.core.solver.f2_one_size.clauses import canonical_comparison
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker

Condition = sb.Condition
POINTS = points(3, 6)

compared = st.tuples(
    st.sampled_from("abc"), st.sampled_from(["==", "!=", "<=", "<", ">="]), st.sampled_from(["a", "b", "c", *"0123"])
).filter(lambda parts: parts[0] != parts[2])
case = st.lists(compared.map(" ".join), min_size=1, max_size=4).map(" and ".join)
unions = st.lists(case.map("({})".format), min_size=1, max_size=7).map(" or ".join)
formulas = statements(expressions(3, divisors=(2, 3), functions=("max",), max_leaves=2), most=4, max_leaves=5)
conditions = st.one_of(unions.map(Condition), formulas.map(lambda s: Condition(s.formula)))


def truth(condition):
    test = predicate(condition.formula, SYMBOLS)
    return [bool(test(*sizes)) for sizes in POINTS]


def equivalent(left, right, known=()):
    """Return whether z3 proves two formulas equal."""
    apart = any_of([all_of([left, negate(right)]), all_of([negate(left), right])])
    symbols = tuple(symbols_in(apart))
    return on_worker(lambda: Session(symbols, known).check([apart])) is Satisfiability.UNSATISFIABLE


def weakenings(formula):
    """Yield the formula with each of its literals, and each of its inner parts, left out."""
    if isinstance(formula, (AllOf, AnyOf)):
        join = all_of if isinstance(formula, AllOf) else any_of
        for n, part in enumerate(formula.parts):
            rest = [*formula.parts[:n], *formula.parts[n + 1 :]]
            yield join(rest)
            for weaker in weakenings(part):
                yield join([*rest, weaker])


def depth(formula):
    return 1 + max(map(depth, formula.parts), default=0) if isinstance(formula, (AllOf, AnyOf)) else 0


@given(conditions)
@example(Condition("a < b and b < 2"))
@example(Condition("a == 1 and b == 2 or a == 3 and b == 4"))
@example(Condition("a != 2 or b == 1 or c == 0"))
def test_simplifying_again_changes_nothing(condition):
    once = condition.simplified()
    assert once.simplified() == once


@given(conditions)
def test_the_truth_is_the_same(condition):
    after = condition.simplified()
    assert truth(after) == truth(condition)
    assert equivalent(condition.formula, after.formula)


@given(unions, st.sampled_from(["a == b", "a != 1 and b != 1", "a % 2 == 0", "b <= 4 or c == 1", "a < b"]))
def test_under_assumptions_the_truth_is_the_same_where_they_hold(text, assumption):
    before, assumed = Condition(text), Condition(assumption)
    after = before.simplified(assumption)
    assert all(p is q for p, q, r in zip(truth(before), truth(after), truth(assumed), strict=True) if r)
    assert equivalent(before.formula, after.formula, [assumed.formula])
    assert after.simplified(assumption) == after


@given(unions)
def test_no_literal_and_no_part_can_be_left_out(text):
    after = Condition(text).simplified()
    assume(after.verdict is sb.Verdict.SOMETIMES)
    for weaker in weakenings(after.formula):
        assert not equivalent(after.formula, weaker), weaker


def length(formula):
    """How many literals a formula has; that a size is 0 or 1 counts as one, as ``<= 1`` does, which it is said for."""
    if not isinstance(formula, (AllOf, AnyOf)):
        return 1
    both = [p for p in formula.parts if isinstance(p, Comparison) and p.operator == "==" and p.right == 0]
    said = isinstance(formula, AnyOf) and sum(equal(p.left, 1) in formula.parts for p in both)
    return sum(map(length, formula.parts)) - said


@given(unions)
@example("(a == 1 and a >= b)")
def test_it_is_no_longer_than_what_was_given(text):
    """A disjunction or a conjunction, with the literals that were given where they serve."""
    given_one = Condition(text)
    after = given_one.simplified()
    assert length(after.formula) <= length(given_one.formula)
    assert depth(after.formula) <= 3


def clauses_about(names):
    """Return conjunctions of up to two clauses about some sizes, and disjunctions about them."""
    sides = [*names, *names, *"012"]
    literal = st.tuples(st.sampled_from(names), st.sampled_from(["==", "!=", "<=", "=="]), st.sampled_from(sides))
    literal = literal.filter(lambda parts: parts[0] != parts[2]).map(" ".join)
    clause = st.lists(literal, min_size=1, max_size=3).map(" or ".join).map("({})".format)
    alternative = st.lists(literal, min_size=1, max_size=2).map(" and ".join).map("({})".format)
    return st.tuples(st.lists(clause, max_size=2), st.lists(alternative, min_size=1, max_size=2))


@st.composite
def bridged(draw):
    """Draw conditions that one disjunction alone ties together, as those where one rule accepts and another not."""
    parts = [draw(clauses_about(names)) for names in ("ab", "cd")]
    any_of_them = " or ".join(alternative for _, alternatives in parts for alternative in alternatives)
    return " and ".join([*(clause for found, _ in parts for clause in found), f"({any_of_them})"])


SMALL = list(itertools.product(range(6), repeat=4))


@given(bridged())
@example("(a == b or a == 1 or b == 1) and (c == d or c == 1 or d == 1) and (b != 1 and a != b or d != 1 and c != d)")
@example("(a == b or a == 1) and (c == d) and (a == 0 and b == 1 or c != d)")
def test_sizes_that_one_disjunction_ties_are_simplified_apart(text):
    given_one = Condition(text)
    after = given_one.simplified()
    tests = [predicate(c.formula, tuple(map(symbol, "abcd"))) for c in (given_one, after)]
    assert [sizes for sizes in SMALL if bool(tests[0](*sizes)) is not bool(tests[1](*sizes))] == []
    assert equivalent(given_one.formula, after.formula)
    assert after.simplified() == after
    if after.verdict is sb.Verdict.SOMETIMES:
        for weaker in weakenings(after.formula):
            assert not equivalent(after.formula, weaker), weaker


def test_names_do_not_show():
    text = "({0} == {1} or {0} == 1) and ({2} == {3} or {3} == 1) and ({0} != {1} or {2} != {3})"
    said = [str(Condition(text.format(*names)).simplified()) for names in ("abcd", "zyxw", "dbca")]
    assert said == [text.format(*names) for names in ("abcd", "zyxw", "dbca")]


def test_the_shorter_of_conjunction_and_disjunction():
    cases = "a == 1 and b == 2 or a == 3 and b == 4 or a == 5 and b == 6"
    assert str(Condition(cases).simplified()) == "(a == 1 and b == 2) or (a == 3 and b == 4) or (a == 5 and b == 6)"
    product = "a == 1 and c == 3 or a == 1 and d == 4 or b == 2 and c == 3 or b == 2 and d == 4"
    assert str(Condition(product).simplified()) == "(a == 1 or b == 2) and (c == 3 or d == 4)"
    shared = "a == 1 and b == 2 and c == 2 or a == 1 and b == 3 and c == 3 or a == 1 and b == 4 and c == 4"
    assert str(Condition(shared).simplified()).startswith("a == 1 and ((b == 2 and c == 2) or ")


def paths(names, order):
    """Return the cases of a tree of branches that joins sizes one after the other, trying its tests in an order."""
    found = []

    def walk(left, joined, taken):
        if not left:
            found.append(" and ".join(taken))
            return
        tests = [(f"{joined} == {left[0]}", joined), (f"{joined} == 1", left[0]), (f"{left[0]} == 1", joined)]
        failed = []
        for test, then in (tests[n] for n in order):
            walk(left[1:], then, [*taken, *failed, test])
            failed.append(test.replace("==", "!="))

    walk(names[1:], names[0], [])
    return " or ".join(f"({case})" for case in found)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("names", ["NM", "NMK", "NMKP"])
def test_the_paths_of_a_join_are_one_join(names, order):
    after = Condition(paths(names, order)).simplified()
    assert after.equivalent(f"compatible({', '.join(names)})")
    assert after.simplified() == after
    assert len(after.clauses) == 1
    assert {s.name for s in after.symbols} == set(names)


def test_pairs_that_are_not_all_there_are_no_larger_join():
    after = Condition("compatible(A, B) and compatible(B, C) and compatible(C, D) and compatible(D, A)").simplified()
    assert len(after.clauses) == 4
    after = Condition("compatible(A, B, C) and compatible(B, C, D) and compatible(A, D) and E >= 2").simplified()
    assert str(after) == "compatible(A, B, C, D) and E >= 2"


PATHS = ["N == M", "N != M and N == 1", "N != M and N != 1 and M == 1"]


@pytest.mark.parametrize("cases", list(itertools.permutations(PATHS)))
def test_in_any_order_of_the_cases(cases):
    after = Condition(" or ".join(f"({case})" for case in cases)).simplified()
    assert set(str(after).split(" or ")) == {"N == M", "N == 1", "M == 1"}


@pytest.mark.parametrize(
    ("given_one", "simple"),
    [
        ("N == M or N == 1 or M == 1", "N == M or N == 1 or M == 1"),
        ("K < y and y < 2", "K == 0 and y == 1"),
        ("N > M or N == 7 and M < 7", "M < N"),
        ("N >= 2 and (N == M or N != M and M == 1)", "N >= 2 and (N == M or M == 1)"),
        ("a == 1 and b == 2 or a != 1 and b == 2", "b == 2"),
        ("a == b or a != b", "True"),
        ("a < b and b < a or a == c and a != c", "False"),
        ("a // b == 2 or b == 0", "b == 0 or a//b == 2"),
        ("2*K - 6 == K or N == 3", "K == 6 or N == 3"),
        ("64 == T and (b + 1 != 1 or c == 2)", "T == 64 and (b >= 1 or c == 2)"),
    ],
)
def test_how_it_reads(given_one, simple):
    after = Condition(given_one).simplified()
    assert str(after) == simple
    assert after.equivalent(given_one)


def test_given_literals_are_preferred():
    after = Condition("N > M and (K < 3 or K < 3 and M == 1) or N > M and K == 5 and M < K").simplified()
    given_ones = {
        canonical_comparison(f) for t in ("N > M", "K < 3", "K == 5", "M < K") for f in clauses(Condition(t).formula)
    }

    def leaves(formula):
        return [formula] if isinstance(formula, Comparison) else [f for part in formula.parts for f in leaves(part)]

    assert {canonical_comparison(f) for f in leaves(after.formula)} <= given_ones
    assert "M < N" in str(after)


@pytest.mark.parametrize(("names", "seed", "most"), [("abc", 0, 200), ("abc", 1, 200), ("abcd", 2, 600)])
def test_a_hundred_cases_of_six_literals(names, seed, most):
    """With more than three names, the effort for one form does not suffice to shorten them: they stay exact."""
    draw = random.Random(seed)

    def literal():
        left = draw.choice(names)
        right = draw.choice([*(n for n in names if n != left), str(draw.randint(0, 6))])
        return f"{left} {draw.choice(['==', '!=', '<=', '>='])} {right}"

    union = Condition(" or ".join("(" + " and ".join(literal() for _ in range(6)) + ")" for _ in range(100)))
    after = union.simplified()
    assert literal_count(after.formula) <= most
    assert after.simplified() == after
    assert equivalent(union.formula, after.formula)


def test_several_hundred_paths():
    """Each of 200 sizes has a case of its own; one more case swallows a third of them."""
    cases = [f"(a == {n} and b == {n + 1} and c >= {n % 3})" for n in range(200)]
    after = Condition(" or ".join([*cases, "(b == a + 1 and c >= 2)"])).simplified()
    assert (
        after.guard()(a=199, b=200, c=2) and not after.guard()(a=199, b=200, c=0) and after.guard()(a=300, b=301, c=2)
    )
    assert after.simplified() == after


def test_a_whole_quotient_of_sizes_is_at_least_1_and_multiplies_out():
    env = sb.ShapeEnv(min_size=1)
    env.require("eb*seq % batch == 0")
    q = "(eb*seq//batch)"
    env.require(f"4*batch*{q} % ({q} + 4 - 4*min({q}, 1)) == 0")
    env.require(f"4*batch*{q} == (4*eb*seq//({q} + 4 - 4*min({q}, 1)))*{q}")
    assert str(env.condition) == "eb*seq % batch == 0"
    env.require(f"{q}*batch + N == eb*M")
    assert str(env.condition) == "eb*seq % batch == 0 and eb*seq + N == M*eb"
