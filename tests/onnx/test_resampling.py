"""What ONNX Runtime made of single nodes that pad, crop and resample, and what symbcast says of them."""

import pytest
from recorded_nodes import disagreement, recorded

ROWS = recorded("resampling")
OPERATORS = sorted({row["op"] for row in ROWS})


@pytest.mark.parametrize("min_size", [0, 1])
@pytest.mark.parametrize("op", OPERATORS)
def test_the_condition_and_the_shapes_are_those_of_the_runtime(op, min_size):
    rows = [row for row in ROWS if row["op"] == op]
    assert rows
    assert [d for d in (disagreement(row, min_size) for row in rows) if d] == []
