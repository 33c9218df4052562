"""Reports of models pickle, and paths that no file has are errors with the path."""

from __future__ import annotations

import pickle

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")

MODEL = """<ir_version: 8, opset_import: ["" : 18]>
g (float[N, H] x, float[K, 3] w) => (float[A, B] z) {
  shape = Constant<value_ints = [0, 4, -1]>()
  y = Reshape(x, shape)
  flat = Constant<value_ints = [0, -1]>()
  u = Reshape(y, flat)
  z = MatMul(u, w)
}"""


@pytest.mark.parametrize("options", [{}, {"min_size": 0}, {"assume": "N >= 2"}, {"bind": {"K": 8}}])
def test_a_report_of_a_model_pickles(options):
    report = sb.onnx.check(onnx.parser.parse_model(MODEL), **options)
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report) and str(again.explain()) == str(report.explain())
    assert again.to_dict() == report.to_dict()
    assert again.guard()(N=2, H=8, K=8) and not again.guard()(N=2, H=8, K=7)
    assert str(again.certify()) == str(report.certify())
    assert again.implies("K == H") and again.verdict is report.verdict


@pytest.mark.parametrize("name", ["a\ud800b", "a\udc80b", "x" * 5000, "a\0b", "missing"])
@pytest.mark.parametrize(
    "front_end, library, ending",
    [
        ("onnx", "onnx", ".onnx"),
        ("openvino", "openvino", ".xml"),
        ("stablehlo", "jaxlib", ".mlir"),
        ("torch", "torch", ".pt2"),
    ],
)
def test_a_path_that_no_file_has_is_an_error_with_the_path(front_end, library, ending, name):
    pytest.importorskip(library)
    with pytest.raises(sb.ModelError) as caught:
        getattr(sb, front_end).check(name + ending)
    assert name in caught.value.source or repr(name)[1:-1] in caught.value.source
    assert str(caught.value).encode()
