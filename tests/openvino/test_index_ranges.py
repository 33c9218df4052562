"""Indices out of range on the CPU: which operators refuse them, held against inference in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("openvino")

from openvino_nodes import floats, held, model

import symbcast as sb

ROWS = {
    "GatherElements": ([floats(None), held([2, 0])], {"axis": 0}, 6, "x0_dim_0 >= 3"),
    "GatherElements from the end": ([floats(None), held([-2])], {"axis": 0}, 6, "x0_dim_0 >= 2"),
    "ScatterElementsUpdate": ([floats(None), held([2]), held([1.0], "f32"), held(0)], {}, 3, "x0_dim_0 >= 3"),
    "ScatterUpdate": ([floats(None), held([2]), held([1.0], "f32"), held(0)], {}, 3, "x0_dim_0 >= 3"),
    "ScatterUpdate from the end": ([floats(None), held([-1]), held([1.0], "f32"), held(0)], {}, 3, "False"),
    "Gather": ([floats(None), held([5]), held(0)], {"batch_dims": 0}, 8, "True"),
}
"""Nodes that index an axis of open size, and the condition from size 1 on."""


SIZES = range(1, 5)

INFER = """
import json, sys
import numpy as np
import openvino as ov
from openvino_nodes import model
row, sizes = json.load(sys.stdin)
for size in sizes:
    try:
        ov.Core().compile_model(model(row), "CPU")([np.zeros(size, np.float32)])
    except RuntimeError:
        print(json.dumps(False))
    else:
        print(json.dumps(True))
"""


@pytest.mark.parametrize("name", ROWS)
def test_an_index_out_of_range_is_refused_where_the_runtime_refuses_it(name):
    inputs, attributes, opset, condition = ROWS[name]
    row = {"op": name.split()[0], "opset": f"opset{opset}", "inputs": inputs, "attributes": attributes}
    report = sb.openvino.check(model(row), min_size=1)
    assert str(report.condition) == condition
    guard = report.condition.guard()
    assert [guard({"x0_dim_0": n} if condition.startswith("x0") else {}) for n in SIZES] == inferred(row)


def inferred(row):
    """Return whether OpenVINO infers the node at each size, in a new process: a fork would copy the threads' locks."""
    done = subprocess.run(
        [sys.executable, "-c", INFER],
        input=json.dumps([row, list(SIZES)]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(__file__).parents[1] / f) for f in (".", "support"))},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
