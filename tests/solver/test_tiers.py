"""``explain(trace=True)`` says which tier of the solver decided, and about which sizes."""

from __future__ import annotations

import pytest

import symbcast as sb
from symbcast.core.effort import Tier
from symbcast.core.programs.conditions import plain_answer, tiers_and_verdict

CASES = {
    Tier.F0: (("2, 3", "1, 3"), []),
    Tier.F1: (("N, 3", "M, 1"), ["N", "M"]),
    Tier.F2: (("N % 2", "2"), ["N"]),
    Tier.F3: (("2*M + N", "7"), ["M", "N"]),
    Tier.F4: (("M*N", "7"), ["M", "N"]),
}


@pytest.mark.parametrize("tier", CASES)
def test_a_broadcast_names_its_tier(tier):
    shapes, names = CASES[tier]
    result = sb.broadcast(*shapes)
    assert plain_answer(result).tiers == {tier: names}
    last = result.explain(trace=True).splitlines()[-1]
    assert last.startswith(f"decided by   {tier.name}, {tier.value}")
    assert all(name in last for name in names)
    assert "decided by" not in result.explain()


def test_sizes_that_nothing_ties_are_decided_each_by_their_own_tier():
    result = sb.broadcast("A, N // 2, 2*P, X*Y, free", "B, 3, Q + 1, Y, 1", assume="A >= 2")
    assert plain_answer(result).tiers == {Tier.F1: ["A", "B"], Tier.F2: ["N"], Tier.F3: ["P", "Q"], Tier.F4: ["X", "Y"]}


def test_what_clashes_in_one_name_needs_no_other_tier():
    result = sb.broadcast("N, 2*A + B", "3, 7", assume="N % 2 == 0")
    assert result.verdict is sb.Verdict.NEVER
    assert plain_answer(result).tiers == {Tier.F2: ["N"]}


def test_what_the_effort_did_not_suffice_for_was_decided_by_none():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symbcast.core.solver.decision.DECIDED", 1)
        result = sb.broadcast("2*N + M", "7")
        # Two points show the verdict: no tier decided it.
        assert (result.verdict, plain_answer(result).tiers) == (sb.Verdict.SOMETIMES, {})
        assert "decided by" not in result.explain(trace=True)


def test_a_program_and_a_condition_name_their_tiers():
    env = sb.ShapeEnv()
    env.broadcast("N, M", "M, N")
    assert plain_answer(env).tiers == {Tier.F1: ["N", "M"]}
    env.require("a*b == 12")
    assert plain_answer(env).tiers == {Tier.F1: ["N", "M"], Tier.F4: ["a", "b"]}
    assert env.explain(trace=True).splitlines()[-2:] == [
        "decided by   F1, names, joins and equalities: N and M",
        "             F4, products of sizes and symbolic divisors: a and b",
    ]
    condition = sb.Condition("K <= 4 and A == B and a*b == 12")
    assert tiers_and_verdict(condition)[0] == {Tier.F1: ["A", "B"], Tier.F2: ["K"], Tier.F4: ["a", "b"]}
    assert tiers_and_verdict(condition, "a == 3")[0] == {Tier.F1: ["A", "B"], Tier.F2: ["K", "b"]}
    assert condition.explain(trace=True).startswith(condition.explain())


def test_the_tiers_are_the_same_whatever_was_asked_before():
    env = sb.ShapeEnv()
    for n in range(3):
        env.require(f"a{n} + 2*b{n} == 7")
    before = plain_answer(env).tiers
    env.witness(), env.counterexample(), env.condition
    assert plain_answer(env).tiers == before == {Tier.F3: ["a0", "b0", "a1", "b1", "a2", "b2"]}


def test_what_a_join_equals_needs_no_solver_if_it_is_a_part_of_it():
    env = sb.ShapeEnv(assume="N >= 1 and A >= 1 and B >= 1")
    env.broadcast("N, N", "A, B")
    env.require("broadcast(B, N) == N")
    env.require("broadcast(A, B, N) == broadcast(A, N)")
    assert plain_answer(env).tiers == {Tier.F1: ["N", "A", "B"]}
    assert env.condition.equivalent("compatible(A, N) and (B == 1 or B == N)")


def test_products_of_joins_and_of_their_members_are_compared_factor_by_factor():
    env = sb.ShapeEnv(min_size=1)
    env.broadcast("N, M", "A, B")
    env.require("12*broadcast(A, N)*broadcast(B, M) % (A*M) == 0")
    env.require("broadcast(A, N)*broadcast(B, M) == A*M")
    env.require("M + P == M + Q")
    assert plain_answer(env).tiers == {Tier.F1: ["N", "A", "M", "B", "P", "Q"]}
    assert env.condition.equivalent("(N == 1 or N == A) and (B == 1 or B == M) and P == Q")


def test_assumptions_from_an_iterator_are_read_once():
    condition, assume = sb.Condition("N**3 + M**3 == K**3"), ["N == 2", "M == 1"]
    told = condition.explain(assume, 1, trace=True)
    assert "decided by" in told
    assert condition.explain(iter(assume), 1, trace=True) == told
