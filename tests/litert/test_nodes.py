"""Single operators, and drawn models of a few, held against what LiteRT did with them at small sizes.

`record_nodes.py` and `drawn_models.py` record it. Where ai-edge-litert is installed, operators are run again.
"""

from __future__ import annotations

import gzip
import json
import random
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("tflite")

from litert_oracle import Oracle, outcome
from openvino_answers import accepts, differs, shape_at

DATA = Path(__file__).parents[1] / "data" / "litert"


def lines(name):
    path = DATA / name
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()] if path.exists() else []


RECORDED, DRAWN = lines("nodes.jsonl.gz"), lines("drawn.jsonl.gz")


def faults(row, *, may_data_fail=False):
    """Yield what an answer says differently from LiteRT, which works only where no process ended.

    With ``may_data_fail``, data may stop a run that the sizes allow, if the answer says that there are such data.
    """
    import symbcast.litert

    report = symbcast.litert.check(b64decode(row["model"]), min_size=0)
    for note in report.unanalysed:
        if not note.is_about_data:
            yield str(note)
    has_data = may_data_fail and (bool(report.unanalysed) or str(report.data_condition) != "True")
    for sizes, real in row["runs"]:
        at = dict(zip(row["names"], sizes, strict=True))
        works = isinstance(real, list)
        if accepts(report, at) != works and not (has_data and not works):
            yield f"{at}: LiteRT {'gives ' + str(real) if works else 'fails'}, and symbcast says otherwise"
        elif works:
            told = [None if s is None else shape_at(s, at) for s in report.outputs.values()]
            if any(map(differs, told, real)):
                yield f"{at}: LiteRT gives {real}, and symbcast says {told}"


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_an_operator_runs_where_litert_runs_it_and_gives_the_same_shapes(number):
    assert not list(faults(RECORDED[number])), RECORDED[number]["op"]


@pytest.mark.parametrize("number", range(len(DRAWN)))
def test_a_few_operators_run_where_litert_runs_them_and_give_the_same_shapes(number):
    assert not list(faults(DRAWN[number], may_data_fail=True)), number


# How many of an operator's recorded sizes are run again.
LIVE = 3


def inputs_at(row, sizes):
    """Return the shapes of a recorded model's inputs at sizes, by name."""
    import symbcast.litert

    graph = symbcast.litert.front_end.read(b64decode(row["model"])).graph
    at = dict(zip(row["names"], sizes, strict=True))
    return {
        name: [at.get(f"{name}_dim_{axis}", d) for axis, d in enumerate(tensor.shape)]
        for name, tensor in zip(graph.inputs, graph.tensors, strict=True)
    }


@pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
def test_litert_does_today_what_was_recorded():
    """A child process runs each operator at a few of its sizes, and the answer is held against that."""
    draw = random.Random(3)
    with Oracle() as oracle:
        for row in RECORDED:
            drawn = draw.sample(row["runs"], min(LIVE, len(row["runs"])))
            content = b64decode(row["model"])
            live = [[sizes, outcome(content, sizes, inputs_at(row, sizes), {}, oracle)] for sizes, _ in drawn]
            assert not list(faults({**row, "runs": live})), row["op"]
