"""Modules held against StableHLO's recorded answers, which ``record_*.py`` in this folder made."""

from __future__ import annotations

import pytest

pytest.importorskip("jaxlib")

from stablehlo.scores import counted, rows
from stablehlo.survey import RUNS, known_leniency, outcomes

SAMPLE = {"testdata": 17, "verifier": 13, "functions": 9}
"""Of every file, each so many rows are run by default."""


def wrong(kind, row):
    """Return the outcomes of a row that are wrong."""
    _, found = outcomes(kind, row)
    return [o for o in found if o.kind not in ("agrees", "open") and not known_leniency(row["name"], o)]


@pytest.mark.parametrize("kind", RUNS)
def test_a_sample_agrees_with_stablehlo(kind):
    for row in rows(f"{kind}.jsonl.gz")[:: SAMPLE[kind]]:
        assert wrong(kind, row) == [], row["name"]


@pytest.mark.parametrize("kind", RUNS)
def test_all_agree_with_stablehlo(kind):
    for row in rows(f"{kind}.jsonl.gz"):
        assert wrong(kind, row) == [], row["name"]


def test_all_modules_of_testdata_are_wholly_analysed():
    for row in rows("testdata.jsonl.gz"):
        report, found = outcomes("testdata", row)
        assert report.unanalysed == (), row["name"]
        assert "dynamlic" in row["name"] or counted(found)["open"] == 0, row["name"]
