"""Each difference between ONNX Runtime and the documents of ONNX, held against a run that shows it."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

pytest.importorskip("onnx")

from recorded_differences import DATA, NAMED, is_needed, is_right, operators, rows

import symbcast.onnx

SHOWN = json.loads((DATA / "differences.json").read_text())
SOURCES = sorted(Path(symbcast.onnx.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", NAMED)
def test_a_recorded_run_is_answered_wrongly_without_the_difference(name):
    file, number = SHOWN[name]
    row = rows(file)[number]
    assert operators(row) & set(NAMED[name].operators.split())
    assert is_needed(name, row)


def test_every_difference_is_asked_for_by_an_operator():
    used = {
        node.id
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert set(NAMED) == set(SHOWN) == used & set(NAMED)


@pytest.mark.parametrize("number", range(len(rows("differences"))))
def test_what_was_recorded_for_the_differences_is_answered_rightly(number):
    assert is_right(rows("differences")[number])
