"""Corners of models, one in each: what the report says is held against what ONNX Runtime does."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx import parser
from running import assert_agreement
from steps import calls

import symbcast as sb

_AS_FLOATS = "n = Shape(x) f = Cast<to = 1>(n) k = Constant<value_floats = [41.0]>()"

MODELS = {
    # In 32-bit floats 1/41*41 is less than 1, and (7/3)**2*9 less than 49.
    "quotient times its divisor": f"""g (float[N] x) => (y) {{ {_AS_FLOATS}
        d = Div(f, k) e = Mul(d, k) i = Cast<to = 7>(e) y = ConstantOfShape(i) }}""",
    "power of a quotient": """g (float[N] x) => (y) <float three = {3}, float two = {2}, float nine = {9}> {
        n = Shape(x) f = Cast<to = 1>(n)
        d = Div(f, three) p = Pow(d, two) e = Mul(p, nine) i = Cast<to = 7>(e) y = ConstantOfShape(i) }""",
    "sum of quotients": f"""g (float[N] x) => (y) {{ {_AS_FLOATS}
        d = Div(f, k) e = Add(d, d) s = Sub(e, d) t = Mul(s, k) i = Cast<to = 7>(t) y = ConstantOfShape(i) }}""",
    # Integers that wrap around.
    "many in 32 bits": """g (float[N] x) => (y) <int32[1] m = {2000000000}, int64[1] five = {5}, int64[1] no = {0}> {
        n = Shape(x) i = Cast<to = 6>(n) p = Mul(i, m) q = Cast<to = 7>(p)
        r = Max(q, no) s = Min(r, five) y = ConstantOfShape(s) }""",
    "below none in 8 bits": """g (float[N] x) => (y) <uint8[1] two = {2}> {
        n = Shape(x) i = Cast<to = 2>(n) d = Sub(i, two) s = Cast<to = 7>(d) y = ConstantOfShape(s) }""",
    "beyond 16 bits": """g (float[N] x) => (y) <int64[1] many = {32767}> {
        n = Shape(x) m = Add(n, many) i = Cast<to = 5>(m) s = Cast<to = 7>(i) t = Abs(s) y = ConstantOfShape(t) }""",
    # Sizes divided by sizes that may be 0.
    "quotient by 0": """g (float[N] x) => (y) <int64[1] three = {3}> {
        n = Shape(x) d = Div(n, three) q = Div(n, d) y = Identity(x) }""",
    "remainder by 0": """g (float[N] x) => (y) <int64[1] three = {3}> {
        n = Shape(x) d = Sub(n, three) q = Mod(n, d) y = Identity(x) }""",
    "difference without its sign": """g (float[N] x, float[M] w) => (y) {
        n = Shape(x) m = Shape(w) d = Sub(n, m) a = Abs(d) y = ConstantOfShape(a) }""",
    "size between bounds": """g (float[N] x, float[M] w) => (y) <int64 low = {2}, int64 high = {4}> {
        n = Shape(x) c = Clip(n, low, high) z = ConstantOfShape(c) y = Add(z, w) }""",
    # Axes that there are not, or twice.
    "softmax": "g (float[N, M] x) => (y) { y = Softmax<axis = 2>(x) }",
    "hardmax": "g (float[N, M] x) => (y) { y = Hardmax<axis = -3>(x) }",
    "logarithm of softmax": "g (float[N, M] x) => (y) { y = LogSoftmax<axis = -2>(x) }",
    "norm": "g (float[N, M] x) => (y) { y = LpNormalization<axis = 2>(x) }",
    "sums": "g (float[N, M] x) => (y) <int64 a = {2}> { y = CumSum(x, a) }",
    "sums along two axes": "g (float[N, M] x) => (y) <int64[2] a = {0, 1}> { y = CumSum(x, a) }",
    "one axis cut twice": """g (float[N, M] x) => (y) <int64[2] s = {0, 1}, int64[2] e = {2, 3}, int64[2] a = {0, -2}> {
        y = Slice(x, s, e, a) }""",
    "no axis taken out": "g (float[2, 1] x, float[N] w) => (y) <int64[0] a = {}> { s = Squeeze(x, a) y = Add(s, w) }",
    # What must be one number, or a line of them.
    "axis that is no line": "g (float[N, 1] x) => (y) <int64 a = {1}> { y = Squeeze(x, a) }",
    "axis put in": "g (float[N, 1] x) => (y) <int64 a = {1}> { y = Unsqueeze(x, a) }",
    "axes put in": "g (float[N, 1] x) => (y) <int64[1, 1] a = {1}> { y = Unsqueeze(x, a) }",
    "axis of a sum": "g (float[N, M] x) => (y) <int64 a = {1}> { y = ReduceSum(x, a) }",
    "bounds": "g (float[N] x) => (y) <float[2] low = {0, 1}> { y = Clip(x, low) }",
    "bound": "g (float[N] x) => (y) <float[1] low = {0}> { y = Clip(x, low) }",
    "starts": "g (float[N] x) => (y) <int64 s = {1}, int64 e = {2}> { y = Slice(x, s, e) }",
    "parts": "g (float[N] x) => (y) <int64 s = {1}> { y = Split(x, s) }",
    "shape of an expansion": "g (float[N] x) => (y) <int64 s = {4}> { y = Expand(x, s) }",
    "shape of a constant": "g (float[N] x) => (z) <int64 s = {4}> { y = ConstantOfShape(s) z = Add(x, y) }",
    "shape in two axes": "g (float[N] x) => (z) <int64[1, 1] s = {4}> { y = ConstantOfShape(s) z = Add(x, y) }",
    "another shape": "g (float[N] x) => (y) <int64 s = {4}> { y = Reshape(x, s) }",
    "repeats": "g (float[N] x) => (y) <int64 s = {4}> { y = Tile(x, s) }",
    "count": "g (float[N] x) => (y) <int64 k = {1}> { y, i = TopK(x, k) }",
    "limit": """g (float[N, M] x) => (y) <int64 a = {0}, int64 b = {1}> { n = Shape(x) y = Range(a, n, b) }""",
    "several truth values": """g (float[N, M] x) => (y) <int64 three = {3}> {
        n = Shape(x) c = Less(n, three)
        y = If(c) <then_branch = t () => (a) { a = Identity(x) }, else_branch = e () => (b) { b = Neg(x) }> }""",
    "parts by sizes and by number": "g (float[N] x) => (y) <int64[1] s = {2}> { y = Split<num_outputs = 1>(x, s) }",
    "more parts than are taken": "g (float[N] x) => (y) { y, z = Split<num_outputs = 3>(x) }",
    # The runtime has no kernel for it: what it runs is the definition, which broadcasts.
    "groups": """g (float[1, C, H] x, float[S] s, float[B] b) => (y) {
        y = GroupNormalization<num_groups = 2>(x, s, b) }""",
    "frames of real numbers": """g (float[B, T] x) => (y) <int64 step = {2}, float[4] w = {1, 1, 1, 1}> {
        y = STFT(x, step, w) }""",
    "goes on and on": """g (float[N] x) => (y) <int64 two = {2}> {
        y = Loop(two, , x) <body = b (int64 i, bool c, float[K] v) => (d, w) {
            d = Identity(c) w = Concat<axis = 0>(v, v) }> }""",
}
SIZES = {"below none in 8 bits": (1, 2, 3, 255, 256, 300), "groups": (1, 2, 3, 4)}
OPSETS = {"frames of real numbers": 17}


@pytest.mark.parametrize("name", MODELS)
def test_the_runtime_agrees(name):
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["": {OPSETS.get(name, 18)}]> {MODELS[name]}')
    report = sb.onnx.check(model, runtime="onnxruntime")
    dims = [d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param]
    names = list(dict.fromkeys(dims))
    points = [
        dict(zip(names, sizes, strict=True)) for sizes in product(SIZES.get(name, range(1, 7)), repeat=len(names))
    ]
    assert_agreement(model, report, points)


def test_a_node_that_runs_at_no_sizes_is_no_open_question():
    model = parser.parse_model("""<ir_version: 9, opset_import: ["": 18]>
        g (float[N, M] x) => (y) { h = Softmax<axis = 2>(x) y = Relu(h) }""")
    report = sb.onnx.check(model)
    assert report.verdict is sb.Verdict.NEVER
    assert [left.node for left in report.unanalysed] == []


def test_many_nodes_of_one_name():
    model = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g (float[N] x) => (y) { y = Relu(x) }')
    del model.graph.node[:]
    for n in range(20_000):
        node = model.graph.node.add(op_type="Relu", name="relu")
        node.input.append(f"v{n}" if n else "x")
        node.output.append(f"v{n + 1}")
    model.graph.node[-1].output[:] = ["y"]
    with calls() as steps:
        assert sb.onnx.check(model).outputs["y"] == sb.Shape((sb.symbol("N"),))
    assert steps.count < 150 * 20_000
