"""Loops whose number of iterations sizes decide: what a report says of them, held against ONNX Runtime."""

import json
import subprocess
import sys
from itertools import product

import pytest

import symbcast as sb

onnx = pytest.importorskip("onnx")

HALVED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n, d] x, float[m] y) => (float[A, B] out) <int64 most = {9223372036854775807}, int64[1] axis = {1}> {
  shape = Shape<end = 1>(x)  first = Squeeze(shape)  three = Constant<value = int64 {3}>()
  more = Greater(first, three)
  last, size = Loop(most, more, x, first)
    <body = b (int64 i, bool c, float[r, d] xi, int64 ni) => (bool co, float[s, d] xo, int64 no) {
      two = Constant<value = int64 {2}>()  half = Div(ni, two)  axes = Constant<value_ints = [0]>()
      end = Unsqueeze(half, axes)  zero = Constant<value_ints = [0]>()  one = Constant<value_ints = [1]>()
      behind = Constant<value_ints = [9223372036854775807]>()
      left = Slice(xi, zero, end, zero, one)  rest = Sub(ni, half)  start = Unsqueeze(rest, axes)
      right = Slice(xi, start, behind, zero, one)  xo = Add(left, right)
      bound = Constant<value = int64 {3}>()  co = Greater(half, bound)  no = Identity(half)
    }>
  rows = Unsqueeze(y, axis)  out = Concat<axis = 1>(last, rows)
}"""

WITHOUT_FIRST = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[m] y) => (float[A] out) <int64 most = {9223372036854775807}> {
  size = Size(x)  two = Constant<value = int64 {2}>()  more = Greater(size, two)
  last = Loop(most, more, x)
    <body = b (int64 i, bool c, float[r] xi) => (bool co, float[s] xo) {
      one = Constant<value_ints = [1]>()  behind = Constant<value_ints = [99]>()  zero = Constant<value_ints = [0]>()
      xo = Slice(xi, one, behind, zero)  left = Size(xo)  bound = Constant<value = int64 {2}>()
      co = Greater(left, bound)
    }>
  out = Add(last, y)
}"""

DOUBLED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[m] y) => (float[A] out) <int64 most = {9223372036854775807}> {
  size = Size(x)  five = Constant<value = int64 {5}>()  more = Less(size, five)
  last = Loop(most, more, x)
    <body = b (int64 i, bool c, float[r] xi) => (bool co, float[s] xo) {
      xo = Concat<axis = 0>(xi, xi)  left = Size(xo)  bound = Constant<value = int64 {5}>()  co = Less(left, bound)
    }>
  out = Mul(last, y)
}"""

COUNTED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n] x, float[m] y) => (float[A] out) {
  turns = Size(y)  go = Constant<value = bool {1}>()
  last = Loop(turns, go, x)
    <body = b (int64 i, bool c, float[r] xi) => (bool co, float[s] xo) {
      xo = Concat<axis = 0>(xi, xi)  co = Identity(c)
    }>
  eight = Constant<value_ints = [8]>()  out = Reshape(last, eight)
}"""

MODELS = {"halved": HALVED, "without first": WITHOUT_FIRST, "doubled": DOUBLED, "counted": COUNTED}

RUN = """
import json, sys, numpy, onnx, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
text, cases = json.load(sys.stdin)
session = onnxruntime.InferenceSession(onnx.parser.parse_model(text).SerializeToString(), options)
found = []
for shapes in cases:
    try:
        feeds = {i.name: numpy.ones(s, numpy.float32) for i, s in zip(session.get_inputs(), shapes)}
        found.append(list(session.run(None, feeds)[0].shape))
    except Exception:
        found.append(None)
print(json.dumps(found))
"""


def shapes_at(text, sizes):
    """Return what ONNX Runtime returns at sizes, each time in the same process of its own."""
    inputs = onnx.parser.parse_model(text).graph.input
    dims = [[d.dim_param for d in i.type.tensor_type.shape.dim] for i in inputs]
    cases = [[[at[d] for d in shape] for shape in dims] for at in sizes]
    given = json.dumps([text, cases])
    done = subprocess.run([sys.executable, "-c", RUN], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def drawn(text):
    """Return all sizes of a model up to a limit."""
    return [{"n": n, "m": m, **({"d": 2} if ", d]" in text else {})} for n, m in product(range(1, 10), range(1, 5))]


@pytest.mark.parametrize("name", MODELS)
def test_sizes_decide_how_often_a_loop_runs(name):
    """A guard never guesses there, and with known sizes each iteration is followed."""
    pytest.importorskip("onnxruntime")
    model, sizes = onnx.parser.parse_model(MODELS[name]), drawn(MODELS[name])
    report = sb.onnx.check(model, runtime="onnxruntime")
    guard, told = report.guard(), []
    for at, found in zip(sizes, shapes_at(MODELS[name], sizes), strict=True):
        try:
            told.append(guard(at))
            assert told[-1] is (found is not None), at
        except sb.UndecidedError:
            told.append(None)
        known = sb.onnx.check(model, runtime="onnxruntime", bind=at)
        assert known.verdict is (sb.Verdict.NEVER if found is None else sb.Verdict.ALWAYS), at
        assert found is None or known.outputs["out"].dims == tuple(found), at
    assert None in told
    assert report.verdict is sb.Verdict.SOMETIMES


def test_where_a_loop_does_not_run_is_exact():
    report = sb.onnx.check(onnx.parser.parse_model(HALVED), runtime="onnxruntime")
    assert all(report.guard()(n=n, m=m, d=1) is (n == m) for n, m in product(range(1, 4), repeat=2))
    text = str(report.explain())
    assert "n == m and n <= 3" in text
    assert "all other sizes: " in text


@pytest.mark.parametrize(
    ("limit", "innermost"), [('""', "Relu(v1)"), ("t", "Relu(v1)"), ("t", "Concat<axis = 0>(v1, v1)")]
)
def test_loops_within_each_other_are_not_all_followed(limit, innermost):
    """Each iteration of one would follow those of all within it: without an end, or 20**4 of them."""
    body = f"w0 = {innermost}"
    for n in range(1, 5):
        inner = f"(int64 i{n}, bool k{n}, float[r{n}] v{n}) => (bool l{n}, float[s{n}] w{n - 1})"
        body = f'w{n} = Loop({limit}, "", v{n + 1}) <body = b{n} {inner} {{ l{n} = Identity(k{n})  {body} }}>'
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[n] v5) => (float[A] w4) <int64 t = {20}>'
    assert sb.onnx.check(onnx.parser.parse_model(f"{head} {{ {body} }}")).verdict is sb.Verdict.ALWAYS
