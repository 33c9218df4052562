"""Effort is counted once for each call, and what was asked before does not show."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

import symbcast as sb
from symbcast.core import effort

LIMITS = ("decided", "reduced", "evidence", "conflict", "shortened", "refuted", "sampled")

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
    with effort.counted_call() as counter:
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
        with effort.counted_call() as counter:
            assert (part(), part()) == ("done", "done")
            assert counter.used == used
    assert len(worked) == 1
    assert effort.Stage(30, work, lambda: "open", lambda: None)() == "open"


def test_what_lacks_effort_in_one_call_is_found_in_the_next():
    def work() -> str:
        effort.charge(50)
        return "done"

    part = effort.Stage(50, work, lambda: "open", lambda: None)
    with effort.counted_call() as counter:
        counter.left = 49
        assert part() == "open"
        assert counter.is_cut
    with effort.counted_call():
        assert part() == "done"


SHAPES = ("N*M, K", "K*N + 2, M//N")


def program() -> sb.ShapeEnv:
    env = sb.ShapeEnv()
    env.reshape(env.broadcast(*SHAPES), ["K*N", -1])
    env.require("M*N <= K*K + 3")
    return env


CALLS = {
    "broadcast": lambda: sb.broadcast(*SHAPES, assume="N*M >= K"),
    "shape": lambda: sb.broadcast(*SHAPES).shape,
    "require": lambda: sb.broadcast(*SHAPES, assume="N == 1 and M == 1 and K == 2").require(),
    "explain": lambda: sb.broadcast(*SHAPES).explain(),
    "repr": lambda: repr(sb.broadcast(*SHAPES)),
    "html": lambda: sb.broadcast(*SHAPES)._repr_html_(),
    "to_dict": lambda: sb.broadcast(*SHAPES).to_dict(),
    "conflict": lambda: sb.broadcast("N*N + 2, 3", "1 - N*0, 4").conflict,
    "implies": lambda: sb.broadcast(*SHAPES).implies("N*M == K*N + 2 or N*M == 1"),
    "equivalent": lambda: sb.equivalent(sb.broadcast(*SHAPES), sb.broadcast(*reversed(SHAPES))),
    "expands": lambda: sb.broadcast(*SHAPES).expands(0, -1),
    "repairs": lambda: sb.broadcast(*SHAPES).repairs(),
    "surprises": lambda: sb.broadcast(*SHAPES).surprises,
    "cases": lambda: sb.broadcast(*SHAPES).cases(),
    "certify": lambda: sb.broadcast(*SHAPES).certify(),
    "guard": lambda: sb.broadcast(*SHAPES).guard(),
    "to_cpp": lambda: sb.broadcast(*SHAPES).to_cpp(),
    "compare": lambda: sb.compare(*SHAPES, rules=["numpy", "none"]).explain(),
    "groups": lambda: sb.compare(*SHAPES, rules=["numpy", "none"]).groups,
    "region": lambda: sb.compare(*SHAPES, rules=["numpy", "none"]).pairs[0].only_first.condition,
    "relation": lambda: sb.relation("numpy", "none", 1),
    "solve": lambda: sb.solve(*SHAPES, out="N, M").explain(),
    "broadcastable_to": lambda: sb.broadcastable_to("N*M, K"),
    "verdict": lambda: sb.Condition("N*M == K").verdict,
    "condition implies": lambda: sb.Condition("N*M == K").implies("K == M*N"),
    "condition equivalent": lambda: sb.Condition("N*M == K").equivalent("K == M*N"),
    "condition counterexample": lambda: sb.Condition("N*M == K").counterexample("K*N == M"),
    "simplified": lambda: sb.Condition("N*M == K and (N == 1 or M == K)").simplified(),
}
PROGRAM_CALLS = {
    "verdict": lambda env: env.verdict,
    "explain": lambda env: env.explain(),
    "html": lambda env: env._repr_html_(),
    "witness": lambda env: env.witness(),
    "counterexample": lambda env: env.counterexample(),
    "findings": lambda env: env.findings,
    "report": lambda env: env.report(),
    "to_dict": lambda env: env.to_dict(),
    "cases": lambda env: env.cases(),
    "cases explain": lambda env: env.cases(limit=3).explain(),
    "proves": lambda env: env.implies("N*M <= K*K + 3"),
    "expands": lambda env: env.expands(0, 0, -1),
    "guard": lambda env: env.guard(),
}


@pytest.fixture
def opened(monkeypatch) -> list[effort.Effort]:
    """Return a list of the counters that are opened while no other one is in force."""
    found: list[effort.Effort] = []

    class Noted(effort.Effort):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if effort.current() is None:
                found.append(self)

    monkeypatch.setattr(effort, "Effort", Noted)
    return found


def assert_each_is_a_call(opened, most):
    assert all(counter.is_call for counter in opened), "a part of an answer was worked out outside a call"
    assert len(opened) <= most


def number_of_calls(name):
    """Return how many public calls there are in an entry of `CALLS`: the rules of a comparison are compared later."""
    return 2 if name in ("compare", "region", "groups", "require", "solve", "broadcast", "equivalent") else 1


@pytest.mark.parametrize("name", CALLS)
def test_a_public_call_has_one_counter(opened, name):
    with suppress(sb.UndecidedError):
        CALLS[name]()
    assert_each_is_a_call([c for c in opened if c.used], number_of_calls(name))


@pytest.mark.parametrize("name", PROGRAM_CALLS)
def test_a_question_about_a_program_has_one_counter(opened, name):
    env = program()
    opened.clear()
    with suppress(sb.UndecidedError):
        PROGRAM_CALLS[name](env)
    assert_each_is_a_call([c for c in opened if c.used], 2 if name == "cases explain" else 1)


def test_the_documented_limits_are_those_of_the_code():
    text = (Path(sb.__file__).parent / "core" / "solver" / "README.md").read_text()
    (paragraph,) = (part for part in text.split("\n\n") if part.startswith("**Effort**"))
    for name, limit in [("call", effort.CALL), *((n, getattr(effort, n.upper())) for n in LIMITS)]:
        assert f"{limit:,} ({name})" in paragraph, (name, limit)


def test_evidence_says_where_it_is_the_smallest_found():
    env = sb.ShapeEnv()
    env.require("14336//M <= M")
    assert env.witness() == {"M": 120}
    assert str(env.condition) == "M >= 120"
    assert not env.evidence_reason
    env = sb.ShapeEnv()
    env.require("1000000000000000009//(M*K) <= M*K + K%7")
    assert env.evidence_reason
    assert "the smallest found" in env.explain()


HARD_ALONE = "H*H*H == W*W + 2*K and K*H*W == H*H + W"


def test_what_a_clause_decides_alone_needs_no_effort_of_the_question(monkeypatch):
    monkeypatch.setattr("symbcast.core.solver.decision.DECIDED", 1_000)
    env = sb.ShapeEnv(assume=["W >= 3"])
    for text in ("(H + 3)//4 + W*H >= 0", "H*W >= 3*H or W*W*H == 8", *HARD_ALONE.split(" and ")):
        env.require(text)
    assert env.verdict is sb.Verdict.UNKNOWN
    assert env.equivalent(HARD_ALONE) and len(env.condition.clauses) == 2
    assert sb.Condition(f"{HARD_ALONE} and H//3 + H*W < 0").verdict is sb.Verdict.NEVER
