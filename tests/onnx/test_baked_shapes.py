"""The fix names all constants that bake the same size, and no constant that does not."""

from __future__ import annotations

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")

MODEL = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N, 4] x) => (float[A, B, C] z)
<int64[3] s0 = {1, 2, 2}, int64[2] s1 = {SECOND}, int64[3] s2 = {1, 1, 4}> {
  a = Reshape(x, s0)
  b = Transpose<perm = [0, 2, 1]>(a)
  c = Reshape(b, s1)
  MIDDLE
}"""


def fix(second, middle):
    report = sb.onnx.check(onnx.parser.parse_model(MODEL.replace("SECOND", second).replace("MIDDLE", middle)))
    assert str(report.condition) == "N == 1"
    return report.findings[0].fix


def test_all_constants_that_fix_a_size_are_named():
    assert fix("1, 4", "z = Reshape(c, s2)") == (
        "the shape [1, 2, 2] baked into initializer s0 fixes N (x axis 0) at 1: export it with that size dynamic,"
        " and s1 and s2, which fix it too"
    )


def test_a_constant_that_leaves_the_size_open_is_not_named():
    assert fix("1, -1", "z = Reshape(c, s2)").endswith("dynamic, and s2, which fixes it too")
    assert fix("1, -1", "d = ReduceSum(c)\n  z = Expand(d, s2)").endswith("export it with that size dynamic")


def test_a_finding_lists_every_constant_that_alone_requires_the_same():
    count = 40
    nodes = "\n".join(f"  r{k} = Reshape(x, s{k})  t{k} = Relu(r{k})" for k in range(count))
    constants = ", ".join(f"int64[2] s{k} = {{{1 + k % 2}, {8 // (1 + k % 2)}}}" for k in range(count))
    outputs = ", ".join(f"float[A{k}, B{k}] t{k}" for k in range(count))
    others = "\n  u = Reshape(x, free)  v = Reshape(x, six)"
    text = f"""<ir_version: 8, opset_import: ["" : 18]>
      g (float[N, 4] x) => ({outputs})
      <{constants}, int64[2] free = {{-1, 4}}, int64[2] six = {{0, 4}}> {{\n{nodes}{others}\n}}"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert str(report.condition) == "N == 2"
    (finding,) = report.findings
    assert [b.constant for b in finding.baked] == [f"s{k}" for k in range(count)]
    assert {b.sizes for b in finding.baked} == {(1, 8), (2, 4)}
    assert report.to_dict()["findings"][0]["baked"][1] == {
        "node": finding.baked[1].node, "op_type": "Reshape", "constant": "s1", "sizes": [2, 4]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "constants", "named"),
    [
        ("float[H] x, float[2] m", "", ""),
        ("float[H] x", ", float[2] m = {1, 2}", ": initializer m of shape (2,) has no more"),
    ],
)
def test_paddings_do_not_fix_the_size_of_what_they_pad(inputs, constants, named):
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => (float y)
      <int64[2] pads = {{0, 0}}{constants}> {{ p = Pad(x, pads)  y = Add(p, m) }}"""
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert report.findings[0].fix == f"keep H (x axis 0) at most 2{named}"


ONES = ", ".join("1" * 20)


@pytest.mark.parametrize(
    ("inputs", "constants", "nodes", "suggested"),
    [
        # A weight is as wide as it is: the other side must fit.
        ("float[N,4] x, float[K,3] w", "", "y = MatMul(x, w)", "give K (w axis 0) the size 4"),
        (
            "float[N,5] u, float[K,3] w",
            f"float[5,4] p = {{{ONES}}}",
            "x = MatMul(u, p)  r = Relu(x)  y = MatMul(r, w)",
            "give K (w axis 0) the size 4, as initializer p of shape (5, 4) has",
        ),
        (
            "float[N,K] x",
            f"float[5,4] w = {{{ONES}}}",
            "y = Gemm(x, w)",
            "give K (x axis 1) the size 5, as initializer w of shape (5, 4) has",
        ),
        # A table or a mask that is joined with a size can be exported with another one.
        (
            "float[N,T] x",
            "float[1,6] p = {1, 1, 1, 1, 1, 1}",
            "y = Concat<axis=0>(x, p)",
            "initializer p of shape (1, 6) fixes T (x axis 1) at 6: export it with a dynamic axis",
        ),
        (
            "float[N,T] x",
            "bool[1,6] m = {1, 1, 1, 0, 0, 0}, float zero = {0}",
            "y = Where(m, x, zero)",
            "give T (x axis 1) the size 1 or 6, or export initializer m of shape (1, 6) with a dynamic axis",
        ),
        (
            "float[N,T] x",
            "bool[6] m = {1, 1, 1, 0, 0, 0}, float zero = {0}, int64[1] front = {0}",
            "n = Not(m)  k = Unsqueeze(n, front)  y = Where(k, x, zero)",
            "give T (x axis 1) the size 1 or 6, or export initializer m of shape (6,) with a dynamic axis",
        ),
        ("float[N,T] x, float[N,6] z", "", "y = Add(x, z)", "give T (x axis 1) the size 1 or 6"),
    ],
)
def test_a_fix_names_the_side_that_is_baked_in(inputs, constants, nodes, suggested):
    held = f" <{constants}>" if constants else ""
    text = f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float[A, B] y){held} {{ {nodes} }}'
    report = sb.onnx.check(onnx.parser.parse_model(text))
    assert [finding.fix for finding in report.findings] == [suggested]
