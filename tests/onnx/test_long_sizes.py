"""Chains of reshapes whose targets may be 0: the condition is short, and as the runtime has it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from onnx import parser

import symbcast as sb

pytest.importorskip("onnxruntime")


def chain(levels: int, base: int = 2):
    """Return a model that folds H and W by a base, several times; a size that becomes 0 keeps the one before."""
    lines = ["s = Shape(x)"]
    lines += [f"{name} = Slice(s, i{n}, i{n + 1}, i0)" for n, name in enumerate("bhw")]
    numbers = {f"i{n}": n for n in range(4)}
    before = "x"
    for level in range(1, levels + 1):
        numbers |= {f"d{level}": base**level, f"e{level}": base ** (2 * level)}
        lines += [f"h{level} = Div(h, d{level})", f"w{level} = Div(w, d{level})"]
        lines += [f"t{level} = Concat<axis = 0>(b, h{level}, w{level}, e{level})"]
        lines += [f"y{level} = Reshape({before}, t{level})"]
        before = f"y{level}"
    constants = ", ".join(f"int64[1] {name} = {{{number}}}" for name, number in numbers.items())
    graph = f"g (float[B, H, W] x) => (float[P, Q, R, S] {before}) <{constants}> {{\n" + "\n".join(lines) + "\n}"
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{graph}')


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
