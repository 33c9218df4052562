"""Single nodes of OpenVINO, held against what OpenVINO did with them at every small size (`record_nodes.py`)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("openvino")

from openvino_answers import accepts, differs, shape_at
from openvino_nodes import model, names, rows

import symbcast.openvino

DATA = Path(__file__).parents[1] / "data" / "openvino" / "nodes.jsonl.gz"
RECORDED = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()[1:]]

PDPD_SUBTRACTED = (
    "what is subtracted with an axis is broadcast without it on the CPU: OpenVINO's document sides with us"
)


def known_fault(row):
    """Return why the CPU's answers about a node are not taken, where they are a fault of its own."""
    if row["op"] == "Subtract" and row["attributes"].get("auto_broadcast") == "pdpd":
        return PDPD_SUBTRACTED
    return ""


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_node_runs_where_openvino_runs_it_and_gives_the_same_shapes(number):
    """It runs where the CPU infers it and ``reshape`` takes it; the inference has the word on shapes."""
    row = RECORDED[number]
    if known_fault(row):
        pytest.skip(known_fault(row))
    report = symbcast.openvino.check(model(row), min_size=min(n for sizes, _, _ in row["runs"] for n in (*sizes, 1)))
    assert [u for u in report.unanalysed if not u.is_about_data] == []
    for sizes, inferred, reshaped in row["runs"]:
        at = dict(zip(names(row), sizes, strict=True))
        assert accepts(report, at) == (inferred is not None and reshaped is not None), (row["op"], at)
        if accepts(report, at):
            told = [shape_at(s, at) for s in report.outputs.values()]
            assert not any(map(differs, told, inferred)), (row["op"], at, told, inferred)


def test_every_node_of_the_table_was_recorded():
    kept = [{key: row[key] for key in ("op", "opset", "attributes", "inputs")} for row in RECORDED]
    wanted = [{key: row[key] for key in ("op", "opset", "attributes", "inputs")} for row in rows()]
    assert kept == wanted
