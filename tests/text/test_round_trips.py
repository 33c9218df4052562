"""Answers that leave the process: pickled, copied, or written as JSON, and read again."""

import copy
import json
import pickle

import pytest

import symbcast as sb

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy, "copy": copy.copy}

QUESTIONS = {
    "integers": (("2, 3", "1, 3"), {}),
    "names": (("N, 3", "M, 1"), {}),
    "unknowns": (("?, 2..5, N", "N, ?, 1"), {}),
    "labels": (("?a, 3", "K, ?a + N"), {"assume": "?a >= 2"}),
    "assumptions": (("N, 3", "M, 1"), {"assume": "N >= 2"}),
    "products": (("N*K, T", "M, 8*S"), {"assume": ["N*K >= M", "T % 8 == 0"], "min_size": 1}),
    "ranks": (("*batch, N", "*batch, M"), {"assume": ["N >= 2", "rank(batch) <= 2"]}),
}


def asked(name):
    shapes, options = QUESTIONS[name]
    return sb.broadcast(*shapes, **options)


def program():
    env = sb.ShapeEnv(assume=["batch >= 1", "T % 8 == 0", "T*K == 4*S"])
    env.broadcast("batch, T", "batch, S", origin="mask")
    env.broadcast("?, 3", "K, 1", origin="scale")
    return env


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_results_are_equal_after_a_round_trip(name, copied):
    result = asked(name)
    again = copied(result)
    assert again == result and hash(again) == hash(result)
    assert again.to_dict() == result.to_dict()


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "ranks"])
def test_comparisons_and_solutions_are_equal_after_a_round_trip(name, copied):
    shapes, options = QUESTIONS[name]
    for answer in (sb.compare(*shapes, rules=["numpy", "none"], **options), sb.solve(*shapes, out="..., 3", **options)):
        again = copied(answer)
        assert again == answer and hash(again) == hash(answer)
        assert again.to_dict() == answer.to_dict()


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("subject", [*QUESTIONS, "program"])
def test_cases_are_equal_after_a_round_trip(subject, copied):
    cases = (program() if subject == "program" else asked(subject)).cases()
    texts = [(str(case), case.witness(), case.shapes) for case in cases]
    again = copied(cases)
    assert again == cases and hash(again) == hash(cases)
    assert [(str(case), case.witness(), case.shapes) for case in again] == texts
    assert again.to_dict() == cases.to_dict()
    one = copied(cases[-1])
    assert one == cases[-1] and hash(one) == hash(cases[-1]) and str(one) == texts[-1][0]


def test_answers_to_other_questions_are_not_equal():
    results = [asked(name) for name in QUESTIONS]
    results += [sb.broadcast("N, 3", "M, 1", rule="none"), sb.broadcast("N, 3", "M, 1", min_size=1)]
    results += [sb.broadcast("N, 3", "M, 1", assume="N >= 3"), sb.broadcast("N, 3", "M, 1", budget=1.0)]
    for n, first in enumerate(results):
        assert [first == second for second in results] == [n == m for m in range(len(results))]
    assert sb.broadcast("N, 3", "M, 1") == asked("names")
    assert sb.broadcast("?, 3") != sb.broadcast("?, 3"), "each ? is a size of its own"
    assert sb.compare("N", "M", rules=["numpy"]) != sb.compare("N", "M", rules=["none"])
    assert sb.compare("N", "M", rules=["numpy"]) != sb.compare("N", "K", rules=["numpy"])
    assert sb.solve("N", "M", out="3") != sb.solve("N", "M", out="4")
    assert asked("names").cases() != asked("assumptions").cases()
    assert asked("names") != "names" and asked("names").cases() != ()


LARGE = 2**63 - 1
COMPUTED = {
    "flattened": lambda env: env.reshape(f"{LARGE}, 4", "-1"),
    "joined": lambda env: env.concat([f"{LARGE}, N", "4, N"], axis=0),
    "padded": lambda env: env.pad(f"{LARGE}", [(1, 1)]),
    "repeated": lambda env: env.tile(f"{LARGE}, N", (4, 1)),
    "windows": lambda env: env.conv(f"1, 3, {LARGE}, 5", "4, 3, 1, 1", padding=5),
    "required": lambda env: env.require(f"N == {LARGE}*{LARGE}") or env.broadcast("4*N", "M"),
    "products": lambda env: env.reshape(", ".join([str(LARGE)] * 60), "-1"),
}


@pytest.mark.parametrize("record", COMPUTED.values(), ids=COMPUTED)
def test_programs_with_sizes_beyond_64_bits_are_read_again(record):
    env = sb.ShapeEnv()
    record(env)
    data = json.loads(json.dumps(env.to_dict()))
    again = sb.ShapeEnv.from_dict(data)
    assert again.to_dict() == data
    assert [op.output for op in again.operations] == [op.output for op in env.operations]


def test_sizes_beyond_64_bits_that_a_user_writes_are_refused():
    with pytest.raises(sb.ShapeSyntaxError, match="at most 2\\*\\*63 - 1"):
        sb.broadcast(f"{2**63}")
