"""A model under a caller's budget: what was found before the seconds were over, and what was not analysed."""

from __future__ import annotations

import pytest
from onnx import parser

import symbcast as sb
from symbcast.core import effort as clock


def long_model(nodes: int):
    lines = ["y0 = Add(x, w)"] + [f"y{n} = Relu(y{n - 1})" for n in range(1, nodes)]
    text = f"g (float[N, 4] x, float[M, 4] w) => (float[K, 4] y{nodes - 1}) {{\n" + "\n".join(lines) + "\n}"
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{text}')


@pytest.fixture
def stopping(monkeypatch):
    """Let a budget be over at the fifth look at the clock."""
    looks = []

    def over(self):
        looks.append(self)
        if len(looks) < 5:
            return False
        self.spend()
        return True

    monkeypatch.setattr(clock.Budget, "over", over)


def test_what_was_found_is_returned(stopping):
    report = sb.onnx.check(long_model(20), budget=60)
    assert report.verdict is sb.Verdict.UNKNOWN and report.reason == "the budget of 60 s was spent"
    assert report.shapes["y0"] is not None and report.shapes["y19"] is None
    assert report.condition.implies("N == M or N == 1 or M == 1")
    (first, *_, last) = report.unanalysed
    assert first.reason == "the budget of 60 s was spent before this node" and last.op_type == "Relu"
    assert "the budget of 60 s was spent" in report.explain()


def test_a_budget_that_suffices_changes_nothing():
    report, free = sb.onnx.check(long_model(20), budget=60), sb.onnx.check(long_model(20))
    assert report.verdict is free.verdict is sb.Verdict.SOMETIMES and not report.unanalysed
    assert str(report.condition) == str(free.condition)
