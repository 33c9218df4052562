"""Answers as JSON: plain data, the same on every run, its text readable again."""

import json

import pytest

import symbcast as sb

KEYS = [
    "version",
    "rule",
    "operands",
    "symbols",
    "assumptions",
    "min_size",
    "verdict",
    "shape",
    "condition",
    "clauses",
    "unproven",
    "reason",
    "witness",
    "counterexample",
    "conflict",
    "account",
]

CALLS = [
    (("N, 3", "M, 1"), {}),
    (("N", "N"), {}),
    (("N", "3"), {"assume": "N % 8 == 0"}),
    (("3", "4"), {}),
    (("3", "3"), {}),
    ((), {}),
    (("a", "b", "c"), {}),
    (("N//2", "N"), {}),
    (("2..5, ?", "3, 4"), {}),
    (("'a b', x.y", "3, 4"), {"min_size": 1}),
    (("N*M", "K*L"), {}),
    (("C", "N, C, H"), {"rule": "explicit", "axes": (1,)}),
    (("N - M", "3"), {}),
    (((9223372036854775807,), (2,)), {}),
]


@pytest.mark.parametrize(("shapes", "options"), CALLS)
def test_is_plain_data(shapes, options):
    data = sb.broadcast(*shapes, **options).to_dict()
    assert list(data) == KEYS
    assert json.loads(json.dumps(data)) == data
    assert json.dumps(data) == json.dumps(sb.broadcast(*shapes, **options).to_dict())


@pytest.mark.parametrize(("shapes", "options"), CALLS)
def test_texts_read_back(shapes, options):
    result = sb.broadcast(*shapes, **options)
    data = result.to_dict()
    assert [sb.shape(text).rank for text in data["operands"]] == [s.rank for s in result.operands]
    assert (data["shape"] is None) == (result.verdict is sb.Verdict.NEVER)
    read, whole = sb.Condition(data["condition"]), result.guard()
    for given in (data[key] for key in ("witness", "counterexample") if data[key]):
        assert read.guard()({s.name: given[s.name] for s in read.symbols}) is whole(given)


def test_equivalent_after_a_round_trip():
    result = sb.broadcast("N//2, M, 6", "N, 3, K")
    again = sb.broadcast("N, M, K", assume=result.to_dict()["condition"])
    whole = sb.broadcast("N//2, M, 6", "N, 3, K", assume=result.to_dict()["condition"])
    assert whole.verdict is sb.Verdict.ALWAYS
    assert again.verdict is sb.Verdict.ALWAYS


def test_conflict_names_its_place():
    data = sb.broadcast("N, 4", "M, 3").to_dict()
    assert data["condition"] == "False"
    assert data["conflict"] == [
        {
            "requirement": "compatible(4, 3)",
            "operands": [0, 1],
            "axis": 1,
            "rank": 2,
            "rule": "numpy",
            "operation": None,
            "reason": "sizes must be equal or 1",
        }
    ]


def test_the_names_of_formats_do_not_change_with_the_modules():
    """Data that an earlier release wrote must stay readable: a name of a format is no name of a module."""
    env = sb.ShapeEnv()
    env.broadcast("N", "M")
    compared = sb.compare("N", "M", rules=["numpy", "none"])
    assert env.to_dict()["format"] == "symbcast.program"
    assert json.loads(env.report("json"))["format"] == "symbcast.report"
    assert compared.to_dict()["format"] == "symbcast.comparison"
