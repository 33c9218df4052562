"""What the documents of operators bound, and sizes written by what their node requires."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

import onnx
import sympy

import symbcast as sb


def check(graph, runtime="spec", opset=17):
    """Return the answer about a graph in onnx's text format."""
    domains = f'"" : {opset}, "com.microsoft" : 1'
    model = onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{domains}]> g {graph}")
    return sb.onnx.check(model, runtime=runtime)


REFUSED = {
    "a past key without its value": (
        23,
        "(float[B, 2, L, 4] q, float[B, 2, P, 4] p) => (float[] y, float[] k, float[] v) "
        '{ y, k, v = Attention(q, q, q, "", p) }',
    ),
    "a window of -2": (25, "(float[B, 2, L, 4] q) => (float[] y) { y = Attention<left_window_size = -2>(q, q, q) }"),
    "heads beside four axes": (25, "(float[B, 2, L, 4] q) => (float[] y) { y = Attention<q_num_heads = 2>(q, q, q) }"),
    "scores of no kind": (
        24,
        "(float[B, 2, L, 4] q) => (float[] y, float[] a, float[] b, float[] s) "
        "{ y, a, b, s = Attention<qk_matmul_output_mode = 4>(q, q, q) }",
    ),
    "an output_shape below 0": (
        17,
        "(float[1, 1, H, W] x, float[1, 1, 3, 3] w) => (float[] y) { y = ConvTranspose<output_shape = [-1, 6]>(x, w) }",
    ),
    "a negative number of bands": (
        17,
        "(float low) => (float[] y) <int64 bands = {-1}, int64 length = {16}, int64 rate = {8192}> "
        "{ y = MelWeightMatrix(bands, length, rate, low, low) }",
    ),
    "an order that is neither 1 nor 2": (17, "(float[N] x) => (float[] y) { y = LpNormalization<p = 3>(x) }"),
}


@pytest.mark.parametrize("graph", REFUSED)
def test_what_the_document_bounds_is_refused(graph):
    opset, text = REFUSED[graph]
    assert check(text, opset=opset).verdict is sb.Verdict.NEVER


def test_shapes_that_must_be_one_are():
    report = check("(float[A, 3] a, float[B, 3] b) => (float[] y) { y = SwiGLU(a, b) }", opset=28)
    assert str(report.condition) == "A == B"


def test_a_loss_has_a_weight_for_each_class():
    graph = "(float[N, C, D] x, int64[M, E] t, float[K] w) => (float[] y) { y = NegativeLogLikelihoodLoss(x, t, w) }"
    report = check(graph)
    assert {str(sb.Condition(part)) for part in report.condition.clauses} == {"N == M", "D == E", "C == K"}
    assert report.shapes["y"] == sb.shape("")


SLICE = """(float[N] x) => (float[] y)
<int64[1] last = {-1}, int64[1] end = {9223372036854775807}, int64[1] axis = {0}> {
    y = Slice(x, last, end, axis, last)
}"""


def test_the_greatest_end_in_negative_steps_is_the_whole_axis_in_the_runtime_alone():
    assert check(SLICE).shapes["y"] == sb.shape("0")
    assert check(SLICE, "onnxruntime").shapes["y"] == sb.shape("N")


RESIZE = """(float[1, 1, H, 27] x) => (float[] y) <int64[2] sizes = {7, 90}> {
    y = Resize<mode = "nearest", keep_aspect_ratio_policy = "POLICY", axes = [2, 3]>(x, "", "", sizes)
}"""


@pytest.mark.parametrize(
    ("policy", "sizes"), [("not_larger", {6: (7, 32), 1: (3, 90)}), ("not_smaller", {6: (20, 90)})]
)
def test_a_ratio_that_is_kept_is_exact_in_the_document(policy, sizes):
    shape = check(RESIZE.replace("POLICY", policy), opset=18).shapes["y"]
    found = {
        n: tuple(int(sympy.sympify(d).subs(dict.fromkeys(sympy.sympify(d).free_symbols, n))) for d in shape[2:])
        for n in sizes
    }
    assert found == sizes


WRITTEN = {
    "a kernel_shape beside weights of any size": (
        "(float[N, C, 28, W] x, float[M, C, a, b] w) => (float[] y) "
        "{ y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }",
        "(N, M, 28, W)",
    ),
    "a number of regions that another input has": (
        "(float[N, C, H, W] x, float[R, 4] r, int64[7] b) => (float[] y) { y = RoiAlign(x, r, b) }",
        "(7, C, 1, 1)",
    ),
    "a quotient that is whole": (
        "(float[N, c] x) => (float[] y) <int64[3] cut = {0, 2, -1}, int64[2] flat = {0, -1}> "
        "{ z = Reshape(x, cut)  y = Reshape(z, flat) }",
        "(N, c)",
    ),
    "a part of a quotient that is whole": (
        "(float[N, c] x) => (float[] y) <int64[4] cut = {0, 2, 3, -1}, int64[3] flat = {0, 2, -1}> "
        "{ z = Reshape(x, cut)  y = Reshape(z, flat) }",
        "(N, 2, floor(c/2))",
    ),
    "a quotient by a size": (
        "(float[N, T] x) => (float[] y) <int64[1] first = {0}, int64[1] rest = {-1}> "
        "{ n = Shape<end = 1>(x)  s = Concat<axis = 0>(n, n, rest)  z = Reshape(x, s)  t = Concat<axis = 0>(n, rest) "
        "y = Reshape(z, t) }",
        "(N, T)",
    ),
}


@pytest.mark.parametrize("graph", WRITTEN)
def test_sizes_are_written_by_what_is_required(graph):
    text, shape = WRITTEN[graph]
    assert str(tuple(check(text).shapes["y"])) == shape


def test_an_assumed_multiple_is_used_too():
    flat = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[c] x) => (float[] y) <int64[1] two = {2}> {
        n = Shape(x)
        half = Div(n, two)
        part = ConstantOfShape(half)
        y = Concat<axis = 0>(part, part)
    }"""
    assert str(sb.onnx.check(onnx.parser.parse_model(flat), assume="c % 2 == 0").shapes["y"]) == "(c,)"


def test_a_bias_of_unknown_rank_leaves_the_output_known():
    graph = """(float[N, K] x, float[K, M] w, int64[n] s, float[P] d) => (float[] y, float[] z) {
        c = Reshape(d, s)
        y = Gemm(x, w, c)
        z = LayerNormalization(x, c)
    }"""
    report = check(graph)
    assert report.shapes["y"] == sb.shape("N, M")
    assert report.shapes["z"] == sb.shape("N, K")
    assert any(u.op_type == "Gemm" for u in report.unanalysed)


def test_a_transform_along_an_axis_that_is_data_keeps_the_sizes():
    graph = '(float[N, M, 1] x, int64 axis) => (float[] y) { y = DFT(x, "", axis) }'
    assert check(graph, opset=20).shapes["y"] == sb.shape("N, M, 2")
