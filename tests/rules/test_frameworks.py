"""What the frameworks that lend a rule its name answered, asked again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import symbcast as sb

DATA = Path(__file__).parents[1] / "data" / "frameworks.jsonl.gz"


def rows(system):
    with gzip.open(DATA, "rt") as file:
        return [row for row in map(json.loads, file) if row["system"] == system]


def answer(shapes, rule, **attributes):
    try:
        result = sb.broadcast(*map(tuple, shapes), rule=rule, **attributes)
    except sb.RuleArgumentError:
        return None
    return list(result.shape) if result.verdict is sb.Verdict.ALWAYS else None


@pytest.mark.parametrize(("system", "count"), [("torch", 321), ("jax", 321), ("tensorflow", 321)])
def test_the_names_of_the_numpy_rule(system, count):
    asked = rows(system)
    assert len(asked) == count
    assert [row for row in asked if answer(row["shapes"], system) != row["out"]] == []


def test_stablehlo():
    """Its own verifier, on shapes and dimensions right and wrong."""
    asked = rows("stablehlo")
    assert len(asked) == 516
    rule = "stablehlo-broadcast-in-dim"
    wrong = [
        row
        for row in asked
        if answer(row["shapes"], rule, broadcast_dimensions=row["broadcast_dimensions"]) != row["out"]
    ]
    assert wrong == []


def test_the_example_of_stablehlos_document():
    result = sb.broadcast("1, 3", "2, 3, 2", rule="stablehlo-broadcast-in-dim", broadcast_dimensions=(2, 1))
    assert result.require() == (2, 3, 2)


def test_names_differ_in_how_many_shapes_they_take():
    assert sb.broadcast(rule="torch").shape == sb.broadcast(rule="jax").shape == ()
    with pytest.raises(sb.RuleArgumentError, match="takes at least 2 shapes"):
        sb.broadcast("N", rule="tensorflow")
    with pytest.raises(sb.RuleArgumentError, match="takes at most 2 shapes, not 3; write rule='numpy'"):
        sb.broadcast("N", "M", "K", rule="tensorflow")
    with pytest.raises(sb.RuleArgumentError, match="takes at least one shape"):
        sb.broadcast(rule="onnx-multidirectional")
