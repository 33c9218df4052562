"""Chains of reshapes whose targets may be 0: the condition is short, and as the runtime has it."""

from __future__ import annotations

import itertools

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


@pytest.mark.parametrize(("levels", "base"), [(1, 2), (2, 2), (3, 2), (4, 2), (2, 3)])
def test_the_condition_of_a_chain_is_short_and_exact(levels, base):
    import onnxruntime

    model = chain(levels, base)
    report = sb.onnx.check(model, runtime="onnxruntime")
    assert not report.unanalysed and len(str(report.condition)) <= 30
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    guard = report.guard()
    for batch, height, width in itertools.product((1, 2), [*range(1, 10), 12, 16, 32], [*range(1, 10), 16, 27, 32]):
        assert guard({"B": batch, "H": height, "W": width}) == runs(session, batch, height, width)
