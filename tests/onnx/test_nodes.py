"""Single nodes held against what ONNX Runtime did with them at some sizes."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("onnx")

import onnx
from onnx_backend import at, is_refused

import symbcast.onnx

PARTS = 6
RECORDED = Path(__file__).parents[1] / "data" / "onnx" / "nodes.jsonl.gz"


@pytest.fixture(scope="module")
def records():
    with gzip.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_node_runs_where_it_ran_and_has_the_shapes_it_had(records, part):
    for record in records[part::PARTS]:
        model = onnx.load_from_string(base64.b64decode(record["model"]))
        report = symbcast.onnx.check(model, min_size=0, runtime="onnxruntime")
        shapes = [report.shapes[o.name] for o in model.graph.output]
        for values, outputs in record["runs"]:
            sizes = dict(zip(record["symbols"], values, strict=True))
            what = (onnx.printer.to_text(model.graph.node[-1]), sizes, outputs)
            assert is_refused(report, sizes) == (outputs is None), what
            for shape, output in zip(shapes, outputs or (), strict=False):
                if shape is not None:
                    found = [at(dim, sizes) for dim in shape]
                    assert all(
                        size == dim or getattr(dim, "free_symbols", None)
                        for size, dim in zip(output, found, strict=True)
                    ), what
