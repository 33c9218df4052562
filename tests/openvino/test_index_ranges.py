"""Indices out of range on the CPU: which operators refuse them, held against inference in a process of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("openvino")

from openvino_nodes import floats, held, model
from recorded_nodes import in_a_process

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


@pytest.mark.parametrize("name", ROWS)
def test_an_index_out_of_range_is_refused_where_the_runtime_refuses_it(name):
    inputs, attributes, opset, condition = ROWS[name]
    row = {"op": name.split()[0], "opset": f"opset{opset}", "inputs": inputs, "attributes": attributes}
    report = sb.openvino.check(model(row), min_size=1)
    assert str(report.condition) == condition
    for size in range(1, 5):
        assert report.condition.guard()({"x0_dim_0": size} if condition.startswith("x0") else {}) == in_a_process(
            infers, row, size
        )


def infers(row, size):
    """Return whether OpenVINO infers the node at a size; run in a process of its own."""
    import numpy as np
    import openvino as ov

    try:
        ov.Core().compile_model(model(row), "CPU")([np.zeros(size, np.float32)])
    except RuntimeError:
        return False
    return True
