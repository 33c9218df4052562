"""What ONNX Runtime made of single nodes that slide windows, and what symbcast says of them."""

import pytest
from onnx import shape_inference
from recorded_nodes import checked, compiled, disagreement, floats, is_closed, model, node, recorded, zeros

ROWS = recorded("windows")
OPERATORS = sorted({row["op"] for row in ROWS})


@pytest.mark.parametrize("min_size", [0, 1])
@pytest.mark.parametrize("op", OPERATORS)
def test_the_condition_and_the_shapes_are_those_of_the_runtime(op, min_size):
    rows = [row for row in ROWS if row["op"] == op]
    assert rows
    assert [d for d in (disagreement(row, min_size) for row in rows) if d] == []


def _shape(op, size, runtime, **attributes):
    """Return the length that an operator makes of a line at a size; None where the condition says no."""
    inputs = [floats(1, 2, "H"), *([zeros(3, 2, 3)] if op == "Conv" else [])]
    if op != "Conv":
        attributes["kernel_shape"] = [3]
    row = node(op, 22, attributes, inputs)
    report = checked(row, 0, runtime)
    accepts, length = (compiled(e, ["H"]) for e in (report.condition, report.shapes["out0"][2]))
    return length(size) if accepts(size) else None


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool", "Conv"])
def test_the_document_rounds_down_where_the_runtime_does_not(op):
    as_documented = [_shape(op, size, "spec", strides=[2]) for size in range(8)]
    as_run = [_shape(op, size, "onnxruntime", strides=[2]) for size in range(8)]
    assert as_documented == [None, 0, 0, 1, 1, 2, 2, 3]
    assert as_run == [None, *((None, None) if op == "Conv" else (0, 1)), 1, 1, 2, 2, 3]


def test_the_document_says_what_inference_says_of_windows_that_fit():
    size = 40
    rows = [
        row for row in ROWS if row["op"] in ("MaxPool", "AveragePool", "LpPool", "Conv") and row["symbols"] == ["H"]
    ]
    compared = 0
    for row in rows:
        is_simple = "ceil_mode" not in row["attributes"] and not {"pads", "auto_pad"} <= row["attributes"].keys()
        if row["inputs"][0]["shape"] != [1, 2, "H"] or not is_simple or not any(row["outputs"]):
            continue
        proto = model(row)
        proto.graph.input[0].type.tensor_type.shape.dim[2].dim_value = size
        (output,) = shape_inference.infer_shapes(proto, strict_mode=True).graph.output[:1]
        inferred = [d.dim_value for d in output.type.tensor_type.shape.dim]
        found = checked(row, 1, "spec").shapes["out0"]
        assert [compiled(d, ["H"])(size) for d in found] == inferred, row
        compared += 1
    assert compared > 400


def test_no_size_is_left_open():
    assert all(is_closed(row) for row in ROWS if any(row["outputs"]))
