"""Which axes of the broadcasts of real models are proved to expand, or not to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import symbcast as sb

pytest.importorskip("onnx")

MODELS = Path(__file__).parents[1] / "data" / "onnx" / "models"


def axes(env):
    """Yield what is said of each operand on each axis of the output of each broadcast."""
    for op in env.operations:
        if op.kind == "broadcast":
            ranks = [len(s) for s in op.operands]
            for operand in range(len(ranks)):
                for axis in range(op.rule.places(ranks).rank):
                    yield env.stretch(op, operand, axis)


def test_the_share_of_axes_that_are_proved():
    """The figures stand in `symbcast/comparison/README.md`."""
    known, verdicts = Counter(), Counter()
    for path in sorted(MODELS.glob("*.onnx.gz")):
        env = sb.onnx.check(path, runtime="onnxruntime")._checked.env
        for found in axes(env):
            known[found.known] += 1
            verdicts[found.verdict] += 1
    assert known == {"nonexpanding": 831, "expanding": 413, "": 8}
    assert verdicts == {sb.Verdict.NEVER: 831, sb.Verdict.SOMETIMES: 259, sb.Verdict.ALWAYS: 162}
