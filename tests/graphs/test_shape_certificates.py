"""Certificates of models: z3 proves that the shapes shown are those that the rules of the nodes give."""

from __future__ import annotations

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")
from symbcast.graphs.walking.facts import SizeFacts  # noqa: E402

SPLIT = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N, H] x) => (float[A, B, C] y, float[D, E] z) {
  heads = Constant<value_ints = [0, 4, -1]>()
  y = Reshape(x, heads)
  flat = Constant<value_ints = [0, -1]>()
  z = Reshape(y, flat)
}"""
ADDED = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N, 1] x, float[M, 3] w) => (float[A, B] y) {
  y = Add(x, w)
}"""


def report_of(text, **options):
    return sb.onnx.check(onnx.parser.parse_model(text), **options)


@pytest.mark.parametrize("text", [SPLIT, ADDED])
@pytest.mark.parametrize("min_size", [0, 1])
def test_the_shapes_of_outputs_are_proved(text, min_size):
    report = report_of(text, min_size=min_size)
    found = report.certify()
    for name in report.outputs:
        (claim,) = (c for c in found.claims if c.text.startswith(f"output {name} is "))
        assert claim.proof.value == "proved", str(claim)
        assert str(report.outputs[name]) in claim.text
    assert found, str(found)


def test_a_simplification_that_is_wrong_is_refuted(monkeypatch):
    written = SizeFacts._written
    monkeypatch.setattr(SizeFacts, "_written", lambda self, dim: written(self, dim) + 1)
    refuted = [c for c in report_of(SPLIT).certify().claims if c.proof.value == "refuted"]
    assert [c.text.split(" is ")[0] for c in refuted] == ["output y", "output z"]
    assert all(c.reason for c in refuted)
