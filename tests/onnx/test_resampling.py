"""What ONNX Runtime made of single nodes that pad, crop and resample, and what symbcast says of them."""

from fractions import Fraction

import numpy as np
import pytest
from recorded_nodes import disagreement, is_closed, recorded

from symbcast.onnx.operators.scaling import MAX_SCALED, scale_of_number

ROWS = recorded("resampling")
OPERATORS = sorted({row["op"] for row in ROWS})


@pytest.mark.parametrize("min_size", [0, 1])
@pytest.mark.parametrize("op", OPERATORS)
def test_the_condition_and_the_shapes_are_those_of_the_runtime(op, min_size):
    rows = [row for row in ROWS if row["op"] == op]
    assert rows
    assert [d for d in (disagreement(row, min_size) for row in rows) if d] == []


def test_sizes_are_left_open_only_where_floats_decide_them():
    for row in ROWS:
        if any(row["outputs"]) and not is_closed(row):
            assert row["op"] == "Resize"
            assert "keep_aspect_ratio_policy" in row["attributes"] or not _is_exact(row), row


def _is_exact(row):
    (given,) = [i for i in row["inputs"][1:] if i and i["type"] == "float" and i.get("shape") != [0]]
    return "values" in given and all(scale_of_number(n).exact for n in given["values"])


@pytest.mark.parametrize("below", [1, 2, 3, 5, 7, 10, 12, 100])
def test_exact_scales_are_what_32_bit_floats_make_of_every_size(below):
    sizes = np.arange(MAX_SCALED)
    exact = 0
    for above in range(1, 3 * below):
        number = np.float32(above / below)
        scale = scale_of_number(float(number))
        rounded = (number * sizes.astype(np.float32)).astype(np.int64)
        is_fraction = np.array_equal(rounded, sizes * above // below)
        if scale.exact:
            assert Fraction(scale.above, scale.below) == Fraction(above, below)
            assert is_fraction
        exact += scale.exact
    assert exact >= below // 2
