"""Definitions set aside, against the same groups decided without that, and against brute force."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbcast.core.algebra.arithmetic import join as join_of
from symbcast.core.algebra.formulas import Compatible, equal, with_values
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver import linear_groups as compound
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f3_linear.equations import set_aside, with_defined_sizes
from symbcast.core.text import parse_formula
from symbcast.core.verdicts import Verdict

SYMBOLS = tuple(map(symbol, "abcd"))
TERMS = ["a + 1", "2*a", "b//2", "a + b", "b - 1", "c % 3", "max(a, c)", "3", "c + d", "a*b", "broadcast(a, b)"]
TERMS += ["broadcast(b, c)", "broadcast(a, 2*b)", "broadcast(a, b, c) + d", "broadcast(c, d)", "d//a"]
formulas = st.one_of(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(TERMS)).map(lambda p: f"{p[0]} == {p[1]}"),
    st.sampled_from(
        ["a <= b", "c != 1", "a == 1 or b == c", "d >= 2", "compatible(a, 2*b, c)", "a != broadcast(b, c)"]
    ),
    st.sampled_from(["compatible(a, b, c)", "compatible(b, c)", "compatible(c, d)", "compatible(b, c, d)"]),
).map(parse_formula)


@given(st.lists(formulas, min_size=1, max_size=5), st.sampled_from([0, 50]))
def test_the_answer_is_the_same(given_formulas, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compound, "_MANY", many)
        the_answer_is_the_same([*map(with_values, given_formulas)])


def the_answer_is_the_same(given_formulas):
    decision = Decision(AssumptionSet(SYMBOLS, {}, ()), given_formulas)
    held = []
    for sizes in itertools.product(range(7), repeat=4):
        at = dict(zip(SYMBOLS, sizes, strict=True))
        holds = all(holds_at(f, at) for f in given_formulas)
        assert all(holds_at(c, at) for c in decision.clauses) is holds
        held.append(holds)
    if any(held):
        assert decision.verdict in (Verdict.ALWAYS, Verdict.SOMETIMES, Verdict.UNKNOWN)
    if decision.verdict is Verdict.NEVER:
        assert not any(held)


SETS = ["a, b", "b, c", "c, d", "a, b, c", "b, c, d", "a, b, c, d"]
joins = st.one_of(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(SETS)).map(lambda p: f"{p[0]} == broadcast({p[1]})"),
    st.sampled_from(SETS).map(lambda names: f"compatible({names})"),
).map(lambda text: with_values(parse_formula(text)))


@given(st.lists(joins, min_size=1, max_size=5))
def test_the_clauses_are_those_of_the_whole(given_formulas):
    """They are also in the same order, with the same evidence."""
    decision = Decision(AssumptionSet(SYMBOLS, {}, ()), given_formulas)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compound, "set_aside", lambda formulas, *_: ([], list(formulas)))
        whole = Decision(AssumptionSet(SYMBOLS, {}, ()), given_formulas)
        found = whole.clauses, whole.verdict, whole.witness(), whole.counterexample()
    if not whole.reason and not whole.evidence_reason:
        assert (decision.clauses, decision.verdict, decision.witness(), decision.counterexample()) == found


@given(st.lists(formulas, min_size=1, max_size=5), st.tuples(*[st.integers(0, 9)] * 4))
def test_definitions_can_be_met_whatever_the_other_sizes_are(given_formulas, sizes):
    definitions, others = set_aside(given_formulas, (), {})
    assert sorted(map(str, [*(d.formula for d in definitions), *others])) == sorted(map(str, given_formulas))
    at = dict(zip(SYMBOLS, sizes, strict=True))
    if not all(holds_at(f, at) for f in others if isinstance(f, Compatible)):
        return  # joins have no value
    met = with_defined_sizes(definitions, at)
    assert all(holds_at(d.formula, met) for d in definitions)
    assert [holds_at(f, met) for f in others] == [holds_at(f, at) for f in others]


def test_a_thousand_definitions_leave_nothing_to_decide():
    names = [symbol(f"s{n}") for n in range(1_000)]
    chain = [parse_formula(f"{new} == {old} + {n % 3}") for n, (old, new) in enumerate(itertools.pairwise(names))]
    decision = Decision(AssumptionSet(names, {}, ()), chain)
    assert decision.verdict is Verdict.SOMETIMES
    assert len(decision.clauses) == 999
    assert all(holds_at(f, decision.witness()) for f in chain)
    assert not all(holds_at(f, decision.counterexample()) for f in chain)


@pytest.mark.parametrize("layers", [20, 40])
def test_a_chain_of_joins_is_its_longest_join_and_definitions(layers):
    """What a residual network requires: each layer joins one size more, and a size of the next is that join."""
    columns, rows = ([symbol(f"{letter}{n}") for n in range(layers)] for letter in "cr")
    joins = [join_of(columns[: n + 1]) for n in range(1, layers)]
    chain = [f for n, join in enumerate(joins, 1) for f in (Compatible(tuple(columns[: n + 1])), equal(join, rows[n]))]
    decision = Decision(AssumptionSet([*columns, *rows], {}, ()), chain)
    assert decision.verdict is Verdict.SOMETIMES
    assert not decision.unproven
    assert len(decision.clauses) == layers
    assert [c for c in decision.clauses if isinstance(c, Compatible)] == [Compatible(tuple(columns))]
    assert set(decision.witness().values()) == {1}
