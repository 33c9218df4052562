"""Single operators, held against what LiteRT did with them at small sizes (`record_nodes.py`)."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from pathlib import Path

import pytest

pytest.importorskip("tflite")

from openvino_answers import accepts, differs, shape_at

DATA = Path(__file__).parents[1] / "data" / "litert" / "nodes.jsonl.gz"
RECORDED = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()] if DATA.exists() else []


def faults(row):
    """Yield what an answer says differently from LiteRT, which works only where no process ended."""
    import symbcast.litert

    report = symbcast.litert.check(b64decode(row["model"]), min_size=0)
    for note in report.unanalysed:
        if not note.is_about_data:
            yield str(note)
    for sizes, real in row["runs"]:
        at = dict(zip(row["names"], sizes, strict=True))
        works = isinstance(real, list)
        if accepts(report, at) != works:
            yield f"{at}: LiteRT {'gives ' + str(real) if works else 'fails'}, and symbcast says otherwise"
        elif works:
            told = [None if s is None else shape_at(s, at) for s in report.outputs.values()]
            if any(map(differs, told, real)):
                yield f"{at}: LiteRT gives {real}, and symbcast says {told}"


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_an_operator_runs_where_litert_runs_it_and_gives_the_same_shapes(number):
    assert not list(faults(RECORDED[number])), RECORDED[number]["op"]
