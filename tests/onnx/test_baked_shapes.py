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
