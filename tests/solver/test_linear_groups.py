"""Groups of symbols tied by arithmetic, and the refuting of products, against brute force."""

from __future__ import annotations

import itertools
import random
from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from solver.expressions import (
    SYMBOLS,
    comparison,
    expressions,
    integer,
    name,
    of_dims,
    of_parts,
    points,
    smallness,
    statements,
)
from steps import calls, z3_checks

import symbcast as sb
from symbcast.core.algebra.arithmetic import floor_divide
from symbcast.core.algebra.formulas import FALSE, Compatible, all_of, any_of, at_most, equal, literals, negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import Satisfiability
from symbcast.core.solver import incremental as growing
from symbcast.core.solver import points as samples
from symbcast.core.solver import search
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f2_one_size.clauses import clauses_of
from symbcast.core.solver.f3_linear.equations import can_be_satisfied
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker
from symbcast.core.solver.f4_products import refutation
from symbcast.core.solver.linear_groups import LinearGroup
from symbcast.core.solver.size_sets import ALL, NOT_ONE, SizeSet

a, b, c = SYMBOLS
TWO = SYMBOLS[:2]
POINTS = points(2, 14)

domains = st.sampled_from(
    [ALL, ALL, SizeSet.interval(1, None), NOT_ONE, SizeSet.of([1, 2, 5]), SizeSet.residues(2, [0])]
)
linear = statements(
    expressions(2, operators="+-", divisors=(2, 3), functions=("min", "max"), max_leaves=3), max_leaves=3
)
products = statements(expressions(2, operators="+*", divisors=(2,), max_leaves=3), max_leaves=2)
assumed = st.lists(statements(expressions(2, operators="+", divisors=(), max_leaves=2), max_leaves=2), max_size=1)


@st.composite
def groups(draw, formulas):
    return {
        "domains": dict(zip(TWO, draw(st.tuples(domains, domains)), strict=True)),
        "assumed": draw(assumed),
        "asked": draw(st.lists(formulas, min_size=1, max_size=3)),
    }


def compound(group):
    formulas = [[s.formula for s in group[part]] for part in ("assumed", "asked")]
    return LinearGroup(TWO, group["domains"], *formulas, dict.fromkeys(TWO, 1))


def inside(group):
    """Return the points that domains and assumptions allow, and the truth of what is asked at each."""
    allowed = [
        p
        for p in POINTS
        if all(size in s for size, s in zip(p, group["domains"].values(), strict=True))
        and all(statement.at(p) for statement in group["assumed"])
    ]
    return [(p, all(s.at(p) for s in group["asked"])) for p in allowed]


def check(group):
    made, found = compound(group), inside(group)
    assume(found)
    truths = [valid for _, valid in found]
    test = predicate(all_of(made.clauses), TWO)
    for point, valid in found:
        assert bool(test(*point)) is valid, point
    if made.satisfiable is False:
        assert not any(truths)
    if made.violable is False:
        assert all(truths)
    check_evidence(group, made, found)
    return made


def check_evidence(group, made, found):
    for sizes, valid in ((made.witness(), True), (made.counterexample(), False)):
        known = min((smallness(p) for p, truth in found if truth is valid), default=None)
        if sizes is None:
            assert known is None
            continue
        point = tuple(sizes[s] for s in TWO)
        assert all(size in s for size, s in zip(point, group["domains"].values(), strict=True))
        assert all(statement.at(point) for statement in group["assumed"])
        assert all(s.at(point) for s in group["asked"]) is valid
        if known is not None and made.reason == "":
            assert smallness(point) <= known
            assert smallness(point) == known or max(point) >= 14


@given(groups(linear))
@example({"domains": {a: SizeSet.of([0, 1]), b: ALL}, "assumed": [], "asked": [of_dims(True, [name("a"), name("b")])]})
def test_a_linear_group_is_decided_as_brute_force_does(group):
    made = check(group)
    assert made.satisfiable is not None
    assert made.violable is not None
    assert not made.unproven


@given(groups(products))
def test_a_group_with_products_is_right_in_what_it_decides(group):
    check(group)


def possible(group, formulas):
    """Return z3's own word on some formulas in the group, a session of its own asked."""
    from symbcast.core.solver.f2_one_size.set_formulas import set_formula

    known = [set_formula(s, sizes) for s, sizes in group["domains"].items()]
    known += [s.formula for s in group["assumed"]]
    return on_worker(lambda: Session(TWO, known).check(formulas))


@given(st.one_of(groups(linear), groups(products)))
def test_every_clause_is_needed_or_unproven(group):
    made = compound(group)
    assume(made.satisfiable)
    for clause in made.clauses:
        others = [other for other in made.clauses if other is not clause]
        if clause not in made.unproven:
            assert possible(group, [*others, negate(clause)]) is not Satisfiability.UNSATISFIABLE, clause


@st.composite
def crowds(draw, formulas):
    """Draw a few formulas among many that they imply: sums of them, weaker ones, alternatives with others."""
    group = draw(groups(formulas))
    few = group["asked"]
    others = draw(st.lists(formulas, min_size=1, max_size=4))
    implied = [s for s in others if all(s.at(p) or not all(f.at(p) for f in few) for p in POINTS)]
    weaker = [of_parts(False, [f, s]) for f in few for s in others]
    crowd = list(itertools.islice(itertools.cycle([*implied, *weaker, *few]), 60))
    random.Random(draw(st.integers(0, 99))).shuffle(crowd)
    group["asked"] = crowd
    return group


@given(crowds(linear))
def test_of_many_formulas_those_needed_are_left(group):
    made = check(group)
    assert not made.unproven
    if made.satisfiable:
        assert made.violable is bool(made.clauses)
    for clause in made.clauses if made.satisfiable else ():
        others = [other for other in made.clauses if other is not clause]
        assert possible(group, [*others, negate(clause)]) is Satisfiability.SATISFIABLE
        rest = [any_of(x for x in literals(clause) if x is not y) for y in literals(clause)]
        for y, fewer in zip(literals(clause), rest, strict=True):
            if fewer != FALSE:
                assert possible(group, [*others, y, negate(fewer)]) is Satisfiability.SATISFIABLE, (clause, y)


@given(crowds(products))
def test_of_many_formulas_with_products_what_is_decided_is_right(group):
    check(group)


@contextmanager
def as_if_symbols_were_many():
    """Let every group take the way of those with many symbols: questions about what is near, z3 for smallest sizes."""
    limits = ((growing, "_FEW_SYMBOLS"), (search, "_FEW_SEARCHED"), (search, "_FEW_REPAIRED"))
    with ExitStack() as stack:
        for module, limit in limits:
            stack.enter_context(mock.patch.object(module, limit, 0))
        stack.enter_context(mock.patch.object(samples, "MOST_POINTS", 3))
        yield


@given(groups(linear))
def test_groups_of_many_symbols_are_decided_alike(group):
    expected = compound(group)
    with as_if_symbols_were_many():
        made = check(group)
        for of in (made, expected):
            assert not of.unproven
        assert made.clauses == expected.clauses
        assert (made.satisfiable, made.violable) == (expected.satisfiable, expected.violable)
        for sizes in ("witness", "counterexample", "base"):
            assert getattr(made, sizes)() == getattr(expected, sizes)()


@given(groups(products))
def test_groups_of_many_symbols_with_products_are_right_in_what_they_decide(group):
    with as_if_symbols_were_many():
        made = compound(group)
        test = predicate(all_of(made.clauses), TWO)
        truths = [valid for _, valid in inside(group)]
        assert [bool(test(*point)) for point, _ in inside(group)] == truths
        assert not (made.satisfiable is False and any(truths))
        assert not (made.violable is False and not all(truths))
        for sizes, valid in ((made.witness(), True), (made.counterexample(), False)):
            if sizes is not None:
                assert all(s.at(tuple(sizes.values())) for s in group["asked"]) is valid


@given(statements(expressions(2, divisors=(2, 3), functions=("min", "max")), max_leaves=2), domains, domains)
def test_what_can_always_be_met(statement, first, second):
    sizes = {a: first, b: second}
    for clause in clauses_of(statement.formula):
        if can_be_satisfied(clause, a, sizes):
            test = predicate(clause, TWO)
            for other in second.first(8):
                assert any(test(size, other) for size in first.first(200)), (clause, other)


@given(st.lists(linear, min_size=1, max_size=8), domains, domains)
def test_what_is_left_is_what_a_pass_from_the_last_leaves(statements_given, first, second):
    """Of conjuncts without alternatives, which are not sharpened, each goes that all others left imply."""
    plain = [s for s in statements_given if all(len(literals(c)) == 1 for c in clauses_of(s.formula))]
    group = {"domains": {a: first, b: second}, "assumed": [], "asked": plain}
    kept = list(dict.fromkeys(c for s in plain for c in clauses_of(s.formula)))
    assume(plain and possible(group, kept) is Satisfiability.SATISFIABLE)
    for clause in list(reversed(kept)):
        others = [c for c in kept if c is not clause]
        if possible(group, [*others, negate(clause)]) is Satisfiability.UNSATISFIABLE:
            kept = others
    made = compound(group).clauses
    if made != kept:  # a clash may be left as one clause, or as its three comparisons
        tests = predicate(all_of(made), TWO), predicate(all_of(kept), TWO)
        assert all(bool(tests[0](*point)) == bool(tests[1](*point)) for point, _ in inside(group))


@given(st.one_of(groups(linear), groups(products)), linear)
def test_what_is_implied_holds_everywhere(group, statement):
    made = compound(group)
    if made.implies(statement.formula):
        assert all(statement.at(point) for point, valid in inside(group) if valid)


@given(groups(linear), expressions(2, operators="+-", max_leaves=2))
def test_a_constant_is_one(group, expression):
    made = compound(group)
    value = made.constant(expression.dim)
    if value is not None:
        assert all(expression.at(point) == value for point, valid in inside(group) if valid)


LONG = points(3, 13)


@given(
    st.lists(
        statements(expressions(3, operators="+-*", divisors=(2,), max_leaves=3), max_leaves=2), min_size=1, max_size=3
    )
)
@example([comparison("==", name("a"), integer(2)), comparison("==", name("b"), integer(3))])
def test_what_is_refuted_has_no_solution(statements_given):
    if refutation.refuted([s.formula for s in statements_given]):
        assert not any(all(s.at(p) for s in statements_given) for p in LONG)


@pytest.mark.parametrize(
    ("text", "impossible"),
    [
        ("a*a == 2", True),
        ("a*a == 2*b*b + 3", True),
        ("a*a == 2*b*b + 1", False),  # 3 and 2
        ("a*a == 4*b + 2", True),
        ("a*b == b*a + 1", True),
        ("a == b + 2 and a*b == 8", False),  # 4 and 2
        ("a == b + 2 and a*b == 9", True),
        ("a*a + b*b == 3", True),
        ("a*a + b*b == 3 or a*b == 1", False),
        ("a*b == 6 and a == 4", True),
        ("a*b == 6 and a == 3", False),
        ("a*b == 0 and a >= 1 and b >= 1", True),
        ("a*b + 1 == 0", True),
    ],
)
def test_refuting_products(text, impossible):
    formula = sb.Condition(text).formula
    assert refutation.refuted([formula, at_most(0, a)]) is impossible
    assert any(predicate(formula, TWO)(*p) for p in points(2, 30)) is not impossible


def test_formulas_without_products_are_left_to_z3():
    assert not refutation.refuted([sb.Condition("2*a == 3").formula])


def test_a_large_group():
    """Three hundred symbols in a chain of sums: one group, decided whole."""
    symbols = [symbol(f"n{n}") for n in range(300)]
    asked = [equal(second, first + 1) for first, second in itertools.pairwise(symbols)]
    with calls() as steps, z3_checks() as checks:
        made = LinearGroup(symbols, {}, [], asked, dict.fromkeys(symbols, 1))
        assert made.satisfiable
        assert made.violable
        assert len(made.clauses) == 299
        assert made.witness() == {s: n + 1 for n, s in enumerate(symbols)}
        assert made.counterexample() == dict.fromkeys(symbols, 1)
    assert steps.count < 2_500_000
    assert checks.count < 20


def test_a_thousand_clauses_of_which_a_few_imply_the_rest():
    drawn = random.Random(0)
    d, e = map(symbol, "de")
    known = [(c, a + b), (d, 2 * c + 1), (e, floor_divide(d, 2) + a)]
    asked = [equal(*pair) for pair in known]
    for _ in range(1000):
        (first, second), (third, fourth) = drawn.sample(known, 2)
        k, m, n = (drawn.randint(1, 5) for _ in range(3))
        left, right = k * first + m * third, k * second + m * fourth
        asked.append(drawn.choice([equal(left, right), at_most(left, right + n), Compatible((left + n, right + n))]))
    drawn.shuffle(asked)
    with calls() as steps, z3_checks() as checks:
        made = LinearGroup([*SYMBOLS, d, e], {}, [], asked, dict.fromkeys([*SYMBOLS, d, e], 1))
    assert steps.count < 5_000_000
    assert checks.count < 100
    assert len(made.clauses) == 3
    assert not made.unproven
    for pair in known:
        assert made.implies(equal(*pair))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(b == 4 or (b <= 3 and c <= d)) and c <= d", "b <= 4 and c <= d"),
        ("(b == 1 or (b == 0 and c <= d)) and c <= d", "(b == 0 or b == 1) and c <= d"),
        ("(b % 4 == 0 or (b % 4 == 2 and c <= d)) and c <= d", "b % 2 == 0 and c <= d"),
    ],
)
def test_alternatives_that_are_left_for_one_size_are_its_set(text, expected):
    env = sb.ShapeEnv()
    env.require(text)
    assert str(env.condition) == expected
