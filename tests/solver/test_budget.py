"""A caller's clock: the only one that can stop an answer, and only where it was asked for."""

from __future__ import annotations

import pytest

import symbcast as sb
from symbcast.core import effort
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import EffortSpentError
from symbcast.core.solver.f3_linear import branch_and_bound
from symbcast.core.solver.f3_linear.z3_solver import some_point
from symbcast.core.solver.points import GivenUpError, SmallestPointQuestion
from symbcast.core.text import parse_formula

SYMBOLS = tuple(map(symbol, "xyz"))
FOURTH_POWERS = [parse_formula(t) for t in ("x*x*x*x + y*y*y*y == z*z*z*z", "x >= 1", "y >= 1")]


def ask():
    return sb.broadcast("3*x + 5*y", "7*z + 4", rule="none", assume=["x < y"])


def test_a_spent_budget_stops_the_searches():
    with effort.within(0) as limit:
        with pytest.raises(GivenUpError):
            some_point(SYMBOLS, [parse_formula("x + y == z")])
        with pytest.raises(EffortSpentError), effort.budget_share(effort.EVIDENCE):
            branch_and_bound.smallest_point(
                SmallestPointQuestion(SYMBOLS, {}, [parse_formula("x + y == z")], dict.fromkeys(SYMBOLS, 1))
            )
    assert limit.spent
    assert some_point(SYMBOLS, [parse_formula("x + y == z")]) is not None


def test_only_a_budget_names_the_clock():
    with effort.within(0):
        stopped = sb.broadcast("x*x*x*x + y*y*y*y", "z*z*z*z", rule="none", assume=["x >= 1", "y >= 1"])
        assert stopped.reason == "the budget of 0 s was spent"
    counted = sb.broadcast("x*x*x*x + y*y*y*y", "z*z*z*z", rule="none", assume=["x >= 1", "y >= 1"])
    assert counted.verdict is sb.Verdict.UNKNOWN
    assert " on products of sizes: " in counted.reason


def test_an_ample_budget_changes_nothing():
    with effort.within(60) as limit:
        result = ask()
        said = result.verdict, result.witness(), result.counterexample()
    assert not limit.spent
    result = ask()
    assert said == (result.verdict, result.witness(), result.counterexample())


def test_an_outer_budget_stays_in_force():
    with effort.within(0) as outer, effort.within(60) as inner, pytest.raises(GivenUpError):
        some_point(SYMBOLS, FOURTH_POWERS)
    assert inner.spent
    assert outer.spent
    assert effort.current_budget() is None
