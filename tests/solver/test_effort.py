"""Effort is counted once for each call, and what was asked before does not show."""

from __future__ import annotations

import pytest

import symbcast as sb
from symbcast import effort

HARD = ("N*M*K + 3", "K*N + M*M + 7*N", "M*M*K + N")
ONE_CHARGE = 100_000
"""More than any single charge of these questions."""


def test_what_no_sizes_allow_is_refused_within_the_effort():
    env = sb.ShapeEnv()
    value = env.matmul("[K, max(K, W * S)]", "[max(S, (1*K) % 16), (5*M + 7*T + 5*H)//7]")
    half, _ = env.split(value, 2, -1)
    reshaped = env.reshape(value, ["(97*T + 97*K + 3*S)//2", "(12*S + 1021*H)//3", -1])
    env.require("(H == 3 or M == 31 or M == 14)")
    env.split(half, 2, -1)
    env.split(reshaped, 2, -1)
    with pytest.raises(sb.IncompatibleProgramError):
        env.broadcast("[K, H, W]", reshaped)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: sb.broadcast(*HARD).clauses,
        lambda: sb.broadcast(*HARD).witness(),
        lambda: sb.Condition("x >= 1").implies("(x + y + z)//x == (y + z)//x + 1"),
    ],
)
def test_the_counter_never_exceeds_its_limit_by_more_than_a_charge(ask):
    with effort.call() as counter:
        ask()
    assert counter.used <= effort.CALL + ONE_CHARGE


def test_what_was_asked_before_does_not_show():
    first, second = sb.broadcast(*HARD), sb.broadcast(*HARD)
    told = first.verdict, first.clauses, first.witness(), first.counterexample()
    assert (second.counterexample(), second.witness(), second.clauses, second.verdict) == told[::-1]


def test_a_share_stops_at_its_limit_and_is_paid_once():
    worked: list[int] = []

    def work() -> str:
        worked.append(1)
        effort.charge(40)
        return "done"

    part = effort.Stage(50, work, lambda: "open", lambda: None)
    for used in (40, 40):
        with effort.call() as counter:
            assert (part(), part()) == ("done", "done")
            assert counter.used == used
    assert len(worked) == 1
    assert effort.Stage(30, work, lambda: "open", lambda: None)() == "open"


def test_what_lacks_effort_in_one_call_is_found_in_the_next():
    part = effort.Stage(50, lambda: "done", lambda: "open", lambda: None)
    with effort.call() as counter:
        counter.left = 49
        assert part() == "open"
        assert counter.is_cut
    with effort.call():
        assert part() == "done"


def test_evidence_says_where_it_is_the_smallest_found():
    env = sb.ShapeEnv()
    env.require("1000000000000000009//M <= M")
    assert env.witness() == {"M": 10**9}
    assert not env.evidence_reason
    env = sb.ShapeEnv()
    env.require("1000000000000000009//(M*K) <= M*K + K%7")
    assert env.evidence_reason
    assert "the smallest found" in env.explain()
