"""Chains of reshapes whose targets may be 0: the condition is short, and as the runtime has it."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from onnx_chains import chain

import symbcast as sb

pytest.importorskip("onnxruntime")


def runs(session, *sizes) -> bool:
    """Return whether the runtime takes an input of these sizes."""
    try:
        session.run(None, {"x": np.zeros(sizes, np.float32)})
    except Exception:  # onnxruntime raises its own kinds
        return False
    return True


def session_of(model):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def generic(text: str) -> tuple[str, str]:
    """Return from which sizes on an explanation has a short condition, and the condition."""
    text = " ".join(text.split())
    return re.search(
        r"(?:shorter if|large sizes for) (.+?)(?: may be assumed|: exact): (.+?) (?:condition|smaller|for) ", text
    ).groups()


@pytest.mark.parametrize("levels", [1, 2, 6])
def test_the_condition_for_generic_sizes_is_short_and_exact(levels):
    model = chain(levels, infers=True)
    report = sb.onnx.check(model, runtime="onnxruntime")
    where, condition = generic(report.explain())
    first = 2**levels
    assert where == f"H >= {first} and W >= {first}" and len(condition) < 40 * levels
    session, guard = session_of(model), sb.Condition(condition).guard()
    for height, width in itertools.product([first, first + 1, 2 * first, 3 * first + first // 2, 5 * first], repeat=2):
        assert guard({"H": height, "W": width}) == runs(session, 1, height, width)


def test_a_verdict_about_some_sizes_alone_says_which_were_not_analysed():
    report = sb.onnx.check(chain(6, infers=True))
    assert report.verdict is sb.Verdict.SOMETIMES
    start = "for H >= 64 and W >= 64: exact; smaller sizes: exact, but not analysed for "
    assert report.reason.startswith(start)
    left, _ = report.reason.removeprefix(start).split(", because ")
    assert all(sb.Condition(where).implies("not (H >= 64 and W >= 64)") for where in left.split(", "))
    assert report.witness() == {"B": 1, "H": 1, "W": 1} and report.guard()(B=1, H=1, W=1)


def test_a_chain_without_an_answer_for_all_sizes_ends():
    report = sb.onnx.check(chain(7, 3, infers=True), runtime="onnxruntime")
    assert report.verdict is sb.Verdict.SOMETIMES and report.guard()(**report.witness())


@pytest.mark.parametrize(("levels", "base"), [(1, 2), (2, 2), (3, 2), (5, 2), (2, 3), (7, 3), (6, 5)])
def test_the_condition_of_a_chain_is_short_and_exact(levels, base):
    model = chain(levels, base)
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert not report.unanalysed and len(str(report.condition)) <= 34
    session, guard = session_of(model), report.guard()
    for batch, height, width in itertools.product((1, 2), [*range(1, 10), 12, 16, 32], [*range(1, 10), 16, 27, 32]):
        assert guard({"B": batch, "H": height, "W": width}) == runs(session, batch, height, width)
