"""What JAX's own tests and tracker ask of sizes: the recorded answers, some of which are worked out again."""

import json

import pytest

pytest.importorskip("jax")

from paths import jax_cases

import symbcast as sb

ROWS = {r["name"]: r for r in json.loads(jax_cases.RECORD.read_text("utf-8"))}
AGAIN = [name for name in ROWS if name.startswith("thread_")][::3] + list(ROWS)[15::12]


def test_no_case_is_told_of_wrongly():
    assert list(ROWS) == list(jax_cases.CASES)
    outcomes = [r["outcome"] for r in ROWS.values()]
    assert outcomes.count("exact") >= 85
    assert set(outcomes) <= {"exact", "incomplete"}


def test_those_of_threads_are_exact_in_a_few_paths_and_exported():
    for name, found in ROWS.items():
        if name.startswith("thread_"):
            assert found["outcome"] == "exact", name
            assert found["constraints"] is not None, name
            assert found["paths"] <= (20 if name.endswith("free") else 10), name


@pytest.mark.parametrize("name", AGAIN)
def test_a_case_is_what_was_recorded(name):
    found, told = jax_cases.row(name), ROWS[name]
    assert (found["outcome"], found["paths"], found["wrong"]) == (told["outcome"], told["paths"], told["wrong"])
    assert sb.Condition(found["condition"]).equivalent(told["condition"], min_size=1)
    assert (found["constraints"] is None) is (told["constraints"] is None)
