"""Definitions set aside, against the same groups decided without that, and against brute force."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.decision import linear_groups as compound
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import Knowledge
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.satisfiability.definitions import completed, set_aside
from symbcast.core.text import parse_formula
from symbcast.core.verdicts import Verdict

SYMBOLS = tuple(map(symbol, "abcd"))
TERMS = ["a + 1", "2*a", "b//2", "a + b", "b - 1", "c % 3", "max(a, c)", "3", "c + d", "a*b"]
formulas = st.one_of(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(TERMS)).map(lambda p: f"{p[0]} == {p[1]}"),
    st.sampled_from(["a <= b", "c != 1", "a == 1 or b == c", "d >= 2", "compatible(a, 2*b, c)"]),
).map(parse_formula)


@pytest.fixture(autouse=True)
def always_looked_for(monkeypatch):
    monkeypatch.setattr(compound, "_MANY", 0)


@given(st.lists(formulas, min_size=1, max_size=5))
def test_the_answer_is_the_same(given_formulas):
    decision = Decision(Knowledge(SYMBOLS, {}, ()), given_formulas)
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


@given(st.lists(formulas, min_size=1, max_size=5), st.tuples(*[st.integers(0, 9)] * 4))
def test_definitions_can_be_met_whatever_the_other_sizes_are(given_formulas, sizes):
    definitions, others = set_aside(given_formulas, (), {})
    assert sorted(map(str, [*(d.formula for d in definitions), *others])) == sorted(map(str, given_formulas))
    at = dict(zip(SYMBOLS, sizes, strict=True))
    met = completed(definitions, at)
    assert all(holds_at(d.formula, met) for d in definitions)
    assert [holds_at(f, met) for f in others] == [holds_at(f, at) for f in others]


def test_a_thousand_definitions_leave_nothing_to_decide():
    names = [symbol(f"s{n}") for n in range(1_000)]
    chain = [parse_formula(f"{new} == {old} + {n % 3}") for n, (old, new) in enumerate(itertools.pairwise(names))]
    decision = Decision(Knowledge(names, {}, ()), chain)
    assert decision.verdict is Verdict.SOMETIMES
    assert len(decision.clauses) == 999
    assert all(holds_at(f, decision.witness()) for f in chain)
    assert not all(holds_at(f, decision.counterexample()) for f in chain)
