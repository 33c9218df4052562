"""Operators of ONNX Runtime's own, held against its runs; and by their documents where its processor has none."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

import onnx
from recorded_nodes import disagreement, is_closed, recorded

import symbcast as sb

ROWS = recorded("contrib")


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[f"{n}-{row['op']}" for n, row in enumerate(ROWS)])
def test_a_node_is_answered_as_it_ran(number):
    row = ROWS[number]
    assert disagreement(row, 1 if row["op"] in SIZES_FROM_1 else 0) is None
    if any(row["outputs"]):
        assert is_closed(row)


SIZES_FROM_1 = {"MatMulBnb4"}
"""Operators that ONNX Runtime looks at less closely where there is nothing."""

DOCUMENTED = {
    "NhwcConv<kernel_shape = [3, 3]>(a, b)": ("N, H, W, 4", "6, 4, 3, 3", "N, H - 2, W - 2, 6"),
    "NhwcFusedConv<kernel_shape = [1, 1]>(a, b)": ("N, H, W, 4", "6, 4, 1, 1", "N, H, W, 6"),
    "GemmFastGelu(a, b)": ("N, S, 4", "4, 6", "N, S, 6"),
    'FusedMatMulActivation<activation = "Relu", transB = 1>(a, b)': ("N, S, 4", "6, 4", "N, S, 6"),
    "ComplexMul(a, b)": ("N, 3, 2", "N, 1, 2", "N, 3, 2"),
    "TorchEmbedding(a, b)": ("V, 8", "N, S", "N, S, 8"),
    'PackedMultiHeadAttention<num_heads = 2>(a, "", "", "", b, c)': ("T, 2, 3, 8", "B, S", "T, 16"),
    "RestorePadding(a, b)": ("T, H", "B, S", "B, S, H"),
    "QMoE(a, b, c)": ("N, S, 8", "N*S, 4", "N, S, 8"),
    "ReduceSumInteger<axes = [1], keepdims = 0>(a)": ("N, S, 4", "1", "N, 4"),
    "IsAllFinite(a, b)": ("N", "M", ""),
}


@pytest.mark.parametrize("call", DOCUMENTED)
def test_what_no_processor_runs_has_the_documented_shape(call):
    first, second, output = DOCUMENTED[call]
    size = second.replace("N*S", "R")
    text = f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    g (float[{first}] a, float[{size}] b, float[Q] c) => (float[] y) {{ y = com.microsoft.{call} }}"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert report.shapes["y"] == sb.shape(output)
