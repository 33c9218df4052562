"""The recorded survey of real functions; those of `numpy.linalg` are traced again, and held to the record."""

import json
from pathlib import Path

import pytest
from paths import survey

ROWS = {r["name"]: r for r in json.loads((Path(__file__).parents[1] / "data" / "survey.json").read_text("utf-8"))}
AGAIN = [name for name in ROWS if name.startswith("numpy.linalg")]


def test_no_recorded_function_is_told_of_wrongly():
    outcomes = [r["outcome"] for r in ROWS.values()]
    assert len(outcomes) >= 60
    assert outcomes.count("exact") >= 45
    assert set(outcomes) <= {"exact", "incomplete"}


@pytest.mark.parametrize("name", AGAIN)
def test_a_trace_is_what_was_recorded(name):
    module, _, function = name.rpartition(".")
    found = survey.row(name, getattr(survey.importlib.import_module(module), function), ROWS[name]["arguments"])
    assert {k: found[k] for k in ("outcome", "condition", "right")} == {
        k: ROWS[name][k] for k in ("outcome", "condition", "right")
    }
