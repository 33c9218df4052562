"""What a text says where its terms cancel: names, bounds and divisors stay part of the question.

`properties/test_meaning.py` holds random texts against brute force.
"""

import json
import pickle

import pytest

import symbcast as sb
from symbcast.core.text import parse_dim

NEVER, SOMETIMES, ALWAYS = sb.Verdict.NEVER, sb.Verdict.SOMETIMES, sb.Verdict.ALWAYS

# Each: two shapes, the verdict, when they broadcast, and a witness.
BROADCASTS = {
    ("(?b:3..6) - ?b", "?b, 1"): (ALWAYS, None, {"?b": 3}),
    ("(?a:2..)*0, 3", "?a, 3"): (NEVER, None, None),
    ("min(0, (?a:2..))", "?a"): (NEVER, None, None),
    ("(M//N)*0", "N"): (SOMETIMES, "N == 1", {"M": 1, "N": 1}),
    ("(M % N)*0 + 1", "K"): (SOMETIMES, "N >= 1", {"M": 1, "N": 1, "K": 1}),
    ("0//N", "1"): (SOMETIMES, "N >= 1", {"N": 1}),
    ("N//N - N//N", "K"): (SOMETIMES, "N >= 1 and (K == 0 or K == 1)", {"N": 1, "K": 1}),
    ("broadcast(N, M)*0", "1"): (SOMETIMES, "N == M or N == 1 or M == 1", {"N": 1, "M": 1}),
    ("N - N, K", "1"): (ALWAYS, None, {"N": 1, "K": 1}),
    ("N**0", "M*0"): (ALWAYS, None, {"N": 1, "M": 1}),
    ("N % 1", "M"): (SOMETIMES, "M <= 1", {"N": 1, "M": 1}),
}


@pytest.mark.parametrize("shapes", BROADCASTS, ids=", ".join)
def test_what_cancels_is_asked_still(shapes):
    verdict, condition, witness = BROADCASTS[shapes]
    result = sb.broadcast(*shapes)
    assert (result.verdict, result.witness()) == (verdict, witness)
    assert result.certify()
    if condition is not None:
        assert result.condition.equivalent(condition)


def test_names_that_cancel_take_sizes():
    result = sb.broadcast("N - N, K")
    assert result.evaluate(N=1, K=2) == (0, 2)
    assert result.guard()(N=1, K=2)
    assert result.shape == sb.shape("0, K"), "the output says what comes out"


def test_programs_conditions_and_assumptions_keep_what_cancels():
    env = sb.ShapeEnv()
    assert env.broadcast("(M//N)*0 + 4, K", "1, 3") == (4, 3)
    assert env.reshape("K*0 + 4, P", "2, -1")[0] == 2
    assert env.condition.implies("N >= 1")
    assert set(env.witness()) == {"M", "N", "K", "P"}
    assert not sb.Condition("(M//N)*0 == 0").guard()(M=1, N=0)
    assert sb.Condition("not (M//N)*0 == 1").guard()(M=1, N=0)  # the complement of what is false there
    assert {str(s) for s in sb.Condition("N - N == 0").symbols} == {"N"}
    assert sb.broadcast("K, M", "1", assume="(M//K)*0 == 0").witness() == {"K": 1, "M": 1}
    assert sb.broadcast("K", "3", assume="(6//K)*0 == 0", min_size=0).counterexample() == {"K": 2}


@pytest.mark.parametrize("text", ["N - N, K", "(M//N)*0", "0//N + 3", "?a - ?a, ?a", "(?b:3..6) - ?b", "N//N - N//N"])
def test_shapes_keep_it_through_text_pickle_and_sympy(text):
    found = sb.shape(text)
    assert sb.shape(str(found)) == found
    assert pickle.loads(pickle.dumps(found)) == found
    assert sb.shape(tuple(found)).dims == found.dims
    assert sb.shape("1, 2") != found != sb.shape("0")


@pytest.mark.parametrize("text", ["N + M - M//1 + M", "min(N, 3)*2", "(N//2)*2 // 2", "N//(M + 1)", "2*N//(2*M)"])
def test_nothing_is_added_where_nothing_is_lost(text):
    assert "% 1" not in str(parse_dim(text))


LOST = [
    "K <= max(K, 2)",
    "min(K, N) <= K",
    "K == K",
    "K < min(K, 3) or N == 3",
    "N == 3 and K - K == 0",
    "K >= 1 or True",
]


@pytest.mark.parametrize("text", LOST)
def test_names_of_a_condition_do_not_vanish(text: str) -> None:
    condition = sb.Condition(text)
    for kind in (condition, condition.simplified(), ~~condition, pickle.loads(pickle.dumps(condition))):
        sizes = {name: 3 for name in ("K", "N") if name in text}
        assert set(kind.guard().parameters) == set(sizes)
        assert kind.guard()(**sizes)
        (box,) = kind.contract(K="1..4").boxes
        assert set(box) == set(sizes) and box["K"] == range(1, 5)


@pytest.mark.parametrize("text", LOST)
def test_names_of_a_requirement_do_not_vanish(text: str) -> None:
    env = sb.ShapeEnv()
    env.require(text)
    again = sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict())))
    for program in (env, again, env.fork(), pickle.loads(pickle.dumps(env))):
        names = {name for name in ("K", "N") if name in text}
        assert set(map(str, program.symbols)) == names
        assert program.guard()(**dict.fromkeys(names, 3))
        for case in program.cases():
            assert case.condition.guard()(**dict.fromkeys(names, 3))
