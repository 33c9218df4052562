"""A caller's budget: only then may a clock leave an answer open, and what it stopped is not kept."""

from __future__ import annotations

import pickle

import pytest

import symbcast as sb
from symbcast.core import effort as clock

HARD = ("N*M*K + 3", "K*N + M*M + 7*N", "M*M*K + N")


@pytest.fixture
def over(monkeypatch):
    """Every budget is over at once."""
    monkeypatch.setattr(clock.Budget, "over", lambda self: bool(self.spend()) or True)


def test_what_the_clock_stops_is_unknown_and_names_it(over):
    result = sb.broadcast(*HARD, budget=0.25)
    assert result.verdict in (sb.Verdict.UNKNOWN, sb.Verdict.SOMETIMES)
    assert "0.25 s" in result.reason


def test_what_the_clock_stopped_is_not_kept(monkeypatch):
    result = sb.broadcast("a + b + 1", "c", assume="c < a", budget=5)
    with monkeypatch.context() as patched:
        patched.setattr(clock.Budget, "over", lambda self: bool(self.spend()) or True)
        patched.setattr(clock.Budget, "milliseconds", 1)
        result.verdict  # noqa: B018 - it is asked while no time is left
    free = sb.broadcast("a + b + 1", "c", assume="c < a")
    assert (result.verdict, result.clauses, result.reason) == (free.verdict, free.clauses, "")
    assert (result.witness(), result.counterexample()) == (free.witness(), free.counterexample())


def test_a_program_says_the_same_with_time_enough():
    told = []
    for budget in (None, 60):
        env = sb.ShapeEnv(assume="N >= 2", budget=budget)
        env.broadcast("N, 2*M + K", "M, K + 4", origin="add")
        env.require("M % 2 == 0 or K == N")
        told.append((env.verdict, env.clauses, env.witness(), env.counterexample(), env.reason, env.findings[0]))
        assert env.budget == budget
        assert pickle.loads(pickle.dumps(env)).budget == budget
    assert told[0][:5] == told[1][:5]


@pytest.mark.parametrize("budget", [0, -1, True, "1", float("nan"), [1]], ids=repr)
def test_what_is_no_budget_is_refused(budget):
    for ask in (
        lambda: sb.broadcast("N + 1", "M", budget=budget),
        lambda: sb.ShapeEnv(budget=budget),
        lambda: sb.compare("N", "M", budget=budget),
    ):
        with pytest.raises(sb.ShapeTypeError, match="budget"):
            ask()


def test_plain_questions_take_a_budget_too():
    assert sb.broadcast("N", "M", budget=1).verdict is sb.Verdict.SOMETIMES
    assert sb.broadcast((2, 3), (1, 3), budget=1).shape == (2, 3)


def test_the_clock_stops_a_comparison_of_rules(over):
    found = sb.compare(*HARD[:2], rules=["numpy", "none"], budget=0.25)
    (pair,) = found.pairs
    assert found.budget == found.answers[0].result.budget == 0.25
    assert pair.order is sb.Order.UNKNOWN
    assert "0.25 s" in pair.reason


def test_what_the_clock_stopped_in_a_comparison_is_not_kept(monkeypatch):
    shapes = ("a + b + 1", "c + 2*d")
    found = sb.compare(*shapes, rules=["numpy", "none"], budget=60)
    with monkeypatch.context() as patched:
        patched.setattr(clock.Budget, "over", lambda self: bool(self.spend()) or True)
        patched.setattr(clock.Budget, "milliseconds", 1)
        found.pairs[0].order, found.explain()
    free = sb.compare(*shapes, rules=["numpy", "none"])
    assert found.pairs[0].order is free.pairs[0].order
    assert found.explain() == free.explain()


def test_a_relation_of_rules_takes_a_budget():
    assert sb.relation("numpy", "none", rank=2, budget=60).order is sb.Order.REFINED_BY
    with pytest.raises(sb.ShapeTypeError, match="budget"):
        sb.relation("numpy", "none", budget=0)
