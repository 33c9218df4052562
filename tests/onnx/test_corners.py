"""Corners of models, one in each: ONNX Runtime runs just where the condition holds, and every shape is the real one."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx import parser
from running import assert_agreement

import symbcast as sb

_SHAPE_AS_FLOATS = "n = Shape(x) f = Cast<to = 1>(n) k = Constant<value_floats = [41.0]>()"

MODELS = {
    # In 32-bit floats 1/41*41 is less than 1, and (7/3)**2*9 less than 49.
    "quotient times its divisor": f"""g (float[N] x) => (y) {{ {_SHAPE_AS_FLOATS}
        d = Div(f, k) e = Mul(d, k) i = Cast<to = 7>(e) y = ConstantOfShape(i) }}""",
    "power of a quotient": """g (float[N] x) => (y) <float three = {3}, float two = {2}, float nine = {9}> {
        n = Shape(x) f = Cast<to = 1>(n)
        d = Div(f, three) p = Pow(d, two) e = Mul(p, nine) i = Cast<to = 7>(e) y = ConstantOfShape(i) }""",
    "sum of quotients": f"""g (float[N] x) => (y) {{ {_SHAPE_AS_FLOATS}
        d = Div(f, k) e = Add(d, d) s = Sub(e, d) t = Mul(s, k) i = Cast<to = 7>(t) y = ConstantOfShape(i) }}""",
    # Integers that wrap around.
    "many in 32 bits": """g (float[N] x) => (y)
        <int32[1] many = {2000000000}, int64[1] five = {5}, int64[1] none = {0}> {
        n = Shape(x) i = Cast<to = 6>(n) p = Mul(i, many) q = Cast<to = 7>(p)
        r = Max(q, none) s = Min(r, five) y = ConstantOfShape(s) }""",
    "below none in 8 bits": """g (float[N] x) => (y) <uint8[1] two = {2}> {
        n = Shape(x) i = Cast<to = 2>(n) d = Sub(i, two) s = Cast<to = 7>(d) y = ConstantOfShape(s) }""",
    "beyond 16 bits": """g (float[N] x) => (y) <int64[1] many = {32767}> {
        n = Shape(x) m = Add(n, many) i = Cast<to = 5>(m) s = Cast<to = 7>(i) t = Abs(s) y = ConstantOfShape(t) }""",
}
SIZES = {"below none in 8 bits": (1, 2, 3, 255, 256, 300)}


@pytest.mark.parametrize("name", MODELS)
def test_the_runtime_agrees(name):
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {MODELS[name]}')
    report = sb.onnx.check(model, runtime="onnxruntime")
    names = list(dict.fromkeys(d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim))
    points = [
        dict(zip(names, sizes, strict=True)) for sizes in product(SIZES.get(name, range(1, 9)), repeat=len(names))
    ]
    assert_agreement(model, report, points)
