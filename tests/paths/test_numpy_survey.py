"""The recorded survey of NumPy's functions and writers; some that are right are traced and held again."""

import json

import pytest
from paths.numpy_survey import RECORD, ROWS, row

FOUND = {r["name"]: r for r in json.loads(RECORD.read_text("utf-8"))}
RIGHT = [r for r in ROWS if FOUND[r[0]]["outcome"] == "right"]


def test_no_recorded_function_is_told_of_wrongly():
    assert list(FOUND) == [r[0] for r in ROWS]
    assert len(RIGHT) >= 150
    assert {r["outcome"] for r in FOUND.values()} == {"right", "unknown"}
    assert all(r["reason"] for r in FOUND.values() if r["outcome"] == "unknown")


@pytest.mark.parametrize("chosen", RIGHT[::12], ids=lambda r: r[0])
def test_a_function_is_as_it_was_recorded(chosen):
    found = row(*chosen)
    assert (found["outcome"], found["wrong"]) == ("right", [])
