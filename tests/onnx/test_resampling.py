"""What ONNX Runtime made of single nodes that pad, crop and resample, and what symbcast says of them."""

from fractions import Fraction

import numpy as np
import pytest
from recorded_nodes import checked, disagreement, floats, is_closed, node, recorded, values

from symbcast.operators.resizing import MAX_SCALED, SINGLE, scale_of

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
    return "values" in given and all(scale_of(n, SINGLE).exact for n in given["values"])


@pytest.mark.parametrize("below", [1, 2, 3, 5, 7, 10, 12, 100])
def test_exact_scales_are_what_32_bit_floats_make_of_every_size(below):
    sizes = np.arange(MAX_SCALED)
    exact = 0
    for above in range(1, 3 * below):
        number = np.float32(above / below)
        scale = scale_of(float(number), SINGLE)
        rounded = (number * sizes.astype(np.float32)).astype(np.int64)
        is_fraction = np.array_equal(rounded, sizes * above // below)
        if scale.exact:
            assert Fraction(scale.above, scale.below) == Fraction(above, below)
            assert is_fraction
        exact += scale.exact
    assert exact >= below // 2


@pytest.mark.parametrize(("runtime", "length"), [("spec", "11744051*H//16777216"), ("onnxruntime", "7*H//10")])
def test_a_scale_is_the_float_in_the_document_and_a_rounded_product_in_the_runtime(runtime, length):
    row = node("Resize", 19, {}, [floats("H"), None, values([0.7], "float")])
    assert str(checked(row, 1, runtime).shapes["out0"]) == f"({length},)"


def test_the_document_keeps_what_is_not_padded():
    cut = node("Pad", 19, {}, [floats("H"), values([-3, 2], "int64")])
    assert [str(checked(cut, 0, runtime).condition) for runtime in ("spec", "onnxruntime")] == ["H >= 3", "H >= 1"]
