"""The recorded answers of documents and runtimes, and the call that asks symbcast the same question."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
FULL = os.environ.get("SYMBCAST_ORACLE")


def document_examples():
    return json.loads((DATA / "document_examples.json").read_text())["examples"]


def lines(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def runtimes():
    return lines(Path(FULL) / "concrete.jsonl.gz" if FULL else DATA / "runtimes.jsonl.gz")


def symbolic():
    rows = lines(Path(FULL) / "symbolic.jsonl.gz" if FULL else DATA / "symbolic.jsonl.gz")
    return [row for row in rows if row["truth"]]


_AS_NUMPY = ("numpy", "variadic", "where", "multidirectional", "select_numpy")
_AS_UNIDIRECTIONAL = ("broadcast_to", "b3_numpy")
_TARGET_FIRST = ("unidirectional", "prelu")


def question(rule, attrs, shapes, flavour=None):
    """Return rule, shapes and attributes of the call that asks what a recorded row asks."""
    flavoured = {"flavour": flavour} if flavour else {}
    if rule in _AS_NUMPY:
        return "numpy", shapes, {}
    if rule in _AS_UNIDIRECTIONAL:
        return "unidirectional", shapes, {}
    if rule in _TARGET_FIRST:
        return "unidirectional", shapes[::-1], {}
    if rule == "broadcast_to_minus1":
        data, target = shapes
        keep = tuple(axis for axis, size in enumerate(target) if size == -1)
        return "unidirectional", [data, [1 if size == -1 else size for size in target]], {"keep": keep}
    if rule in ("explicit", "b3_explicit"):
        return "explicit", shapes, {"axes": tuple(attrs["axes"]), **flavoured}
    if rule == "pdpd":
        return "pdpd", shapes, {**attrs, **flavoured}
    if rule == "onnx_legacy6":
        return "onnx-legacy", shapes, {**attrs, **flavoured}
    return {"expand": "bidirectional"}.get(rule, rule), shapes, {}
