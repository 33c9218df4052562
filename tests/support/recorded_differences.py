"""Differences between ONNX Runtime and the documents, and recorded runs that show them."""

from __future__ import annotations

import base64
import gzip
import json
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import onnx
from onnx_backend import at, is_refused
from recorded_nodes import checked, disagreement, is_closed, recorded

import symbcast.onnx
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.declarations import RuntimeDifference

DATA = Path(__file__).parents[1] / "data" / "onnx"
FILES = ("differences", "windows", "resampling", "nodes", "sequences", "contrib")
NAMED = {
    name: value
    for module in [m for n, m in sys.modules.items() if n.startswith("symbcast.onnx.operators.")]
    for name, value in vars(module).items()
    if isinstance(value, RuntimeDifference)
}


@cache
def rows(name):
    """Return the rows of a file of recorded runs."""
    if name in ("nodes", "sequences"):
        with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
            return [json.loads(line) for line in lines]
    return recorded(name) if (DATA / f"{name}.jsonl.gz").exists() else []


def operators(row):
    """Return the operators whose run a row holds."""
    if "op" in row:
        return {row["op"]}
    return {node.op_type for node in onnx.load_from_string(base64.b64decode(row["model"])).graph.node}


@contextmanager
def without(name):
    """Have the documents asked about one difference, and ONNX Runtime about all others."""
    does = NodeCall.does
    NodeCall.does = lambda call, asked: asked is not NAMED[name] and does(call, asked)
    try:
        yield
    finally:
        NodeCall.does = does


def is_right(row):
    """Return whether the answer about a row's node is that of its run."""
    if "op" in row:
        return disagreement(row, 0) is None
    model = onnx.load_from_string(base64.b64decode(row["model"]))
    report = symbcast.onnx.check(model, min_size=0, runtime="onnxruntime")
    for values, outputs, *_ in row["runs"]:
        sizes = dict(zip(row["symbols"], values, strict=True))
        if is_refused(report, sizes) != (outputs is None):
            return False
        for output, declared in zip(outputs or (), model.graph.output, strict=False):
            shape = report.shapes[declared.name]
            found = None if shape is None else [at(d, sizes) for d in shape]
            if found is not None and any(
                a != b and not getattr(b, "free_symbols", None) for a, b in zip(output, found, strict=True)
            ):
                return False
    return True


def shown_by(name):
    """Return the file and the number of the first row that a difference is needed for; None where there is none."""
    asking = set(NAMED[name].operators.split())
    for file in FILES:
        for number, row in enumerate(rows(file)):
            if asking & operators(row) and is_needed(name, row):
                return [file, number]
    return None


def is_needed(name, row):
    """Return whether a row is answered rightly with a difference, and without it wrongly, or left open."""
    with without(name):
        before = is_right(row), is_answered(row)
    return is_right(row) and not (before[0] and (before[1] or not is_answered(row)))


def is_answered(row):
    """Return whether no size of an output is left open."""
    if "op" not in row or not any(row["outputs"]):
        return True
    shapes = checked(row, 0).shapes
    return all(shapes[f"out{n}"] is not None for n in range(row.get("count", 1))) and is_closed(row)
