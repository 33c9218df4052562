"""Small models in which random ones were once answered wrongly, held against ONNX Runtime at all small sizes."""

from __future__ import annotations

import pytest

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from parsed_models import parsed, points
from running import assert_agreement

import symbcast as sb

FOUND = {
    "an operator by its definition, of whose outputs one is taken": """
        g (float[N, N] x) => (float[] y) {
            i = ArgMax<axis = 1, keepdims = 0>(x)
            y = SoftmaxCrossEntropyLoss<reduction = "none">(x, i)
        }""",
    "Concat does not look at tensors that hold nothing": """
        g (float[N, 3] x, float[M, 2] y) => (float[] z) <int64[1] zero = {0}, int64[1] one = {1}> {
            none = Slice(x, zero, zero, one)
            z = Concat<axis = 1>(none, y)
        }""",
    "Split in too many parts": """
        g (float[N] x) => (float[] a, float[] b, float[] c) { a, b, c = Split<num_outputs = 3>(x) }""",
    "Split that does not say in how many parts": "g (float[N] x) => (float[] a, float[] b) { a, b = Split(x) }",
    "a number whose operand is of a size that a 1 decides": """
        g (float[N, M] x, float[3] w) => (float[] z) <int64[1] zero = {0}, int64[1] one = {1}> {
            whole = Shape(x)
            n = Gather(whole, zero)
            ones = ConstantOfShape<value = int64[1] {1}>(n)
            m = Gather(whole, one)
            s = Add(m, ones)
            z = ConstantOfShape(s)
        }""",
    "the product of a batch by nothing": """
        g (float[N, 2, 3] x, float[M, N, 2, 4] y) => (float[] z) <int64[1] zero = {0}, int64[1] two = {2}> {
            a = Slice(x, zero, zero, two)
            b = Slice(y, zero, zero, two)
            z = MatMul(a, b)
        }""",
    "no rows and a vector": """
        g (float[N, M] x, float[M] y, int64[N] i) => (float[] z) <int64[1] one = {1}, int64[1] far = {9}> {
            part = Slice(x, one, far)
            z = MatMul(part, y)
        }""",
    "a -1 beside a 0 that keeps no size": """
        g (float[N, M] x) => (float[] z) <int64[1] one = {1}, int64[1] rest = {-1}> {
            whole = Shape(x)
            n = Shape<start = 0, end = 1>(x)
            before = Sub(n, one)
            part = Slice(x, one, whole, one)
            target = Concat<axis = 0>(before, rest)
            nothing = Slice(x, n, n)
            z = Reshape<allowzero = 1>(nothing, target)
        }""",
    "a size that is worked out to be -1": """
        g (float[N, M] x) => (float[] z) <int64[1] three = {3}, int64[1] two = {2}> {
            n = Shape<start = 0, end = 1>(x)
            before = Sub(n, three)
            target = Concat<axis = 0>(before, two)
            z = Reshape(x, target)
        }""",
    "indices of slices that hold nothing": """
        g (float[N, M] x, float[K] y) => (float[] z) <int64[1, 1] two = {2}, int64[1] zero = {0}, int64[1] one = {1}> {
            k = Shape(y)
            none = Sub(k, one)
            part = Slice(x, zero, none, one)
            z = GatherND(part, two)
        }""",
    "the greatest of three sizes": """
        g (float[N] x, float[M] y) => (float[] z) <int64[1] two = {2}> {
            n = Shape(x)
            m = Shape(y)
            most = Max(n, m, two)
            z = ConstantOfShape(most)
        }""",
    "what follows a Reshape that cannot be": """
        g (float[N] x) => (float[] z) <int64[1] one = {1}, int64[1] three = {3}> {
            made = ConstantOfShape(one)
            bad = Reshape(made, three)
            turned = Transpose(bad)
            z = Add(turned, x)
        }""",
    "a diagonal": 'g (float[N, M] x) => (float[] z) { z = Einsum<equation = "ii->i">(x) }',
    "an ellipsis of two lengths": """
        g (float[N, M, K] x, float[K, M] y) => (float[] z) { z = Einsum<equation = "...ij,...jk->...ik">(x, y) }""",
    "a join with a size that a condition makes a number": """
        g (float[N] x) => (float[] z) <int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}> {
            n = Shape(x)
            less = Sub(n, one)
            capped = Min(less, two)
            wide = Concat<axis = 0>(x, x)
            target = Concat<axis = 0>(three, capped)
            stretched = Expand(wide, target)
            z = LayerNormalization(stretched, wide)
        }""",
    "sizes by cases": """
        g (float[N] x, float[M] y) => (float[] z) <int64[1] two = {2}, int64[1] three = {3}> {
            n = Shape(x)
            m = Shape(y)
            is_two = Equal(n, two)
            chosen = Where(is_two, three, m)
            made = ConstantOfShape(chosen)
            z = Add(made, x)
        }""",
    "a quotient of less than 0": """
        g (float[N, M] x) => (float[] z) <int64[1] three = {3}, int64[1] two = {2}, int64[1] one = {1}> {
            n = Shape<start = 0, end = 1>(x)
            less = Sub(n, three)
            half = Div(less, two)
            counts = Concat<axis = 0>(half, one)
            z = Tile(x, counts)
        }""",
    "a loop that grows by what it does not have when it does not run": """
        g (float[N] x, float[3] y) => (float[] z) <bool yes = {1}, int64 zero = {0}, int64 one = {1}> {
            n = Shape(x)
            scalar = Gather(n, zero)
            turns = Sub(scalar, one)
            z = Loop(turns, yes, y) <body = b (int64 i, bool on, float[] v) => (bool still, float[] w) {
                sum = Add(x, y)
                w = Concat<axis = 0>(v, sum)
                still = Identity(on)
            }>
        }""",
    "a loop whose second value grows by the first": """
        g (float[N] x) => (float[] a, float[] b) <bool yes = {1}, int64 two = {2}> {
            a, b = Loop(two, yes, x, x) <
                body = b (int64 i, bool on, float[] v, float[] w) => (bool still, float[] p, float[] q) {
                    p = Concat<axis = 0>(v, x)
                    q = Concat<axis = 0>(w, v)
                    still = Identity(on)
                }
            >
        }""",
    "a loop that grows by what data decide": """
        g (float[N] x) => (float[] a, float[] sum) <bool yes = {1}, int64 two = {2}> {
            a = Loop(two, yes, x) <body = b (int64 i, bool on, float[] v) => (bool still, float[] w) {
                found = NonZero(v)
                reals = Cast<to = 1>(found)
                flat = Squeeze(reals)
                w = Concat<axis = 0>(v, flat)
                still = Identity(on)
            }>
            sum = Identity(a)
        }""",
    "a state that becomes another one in the first turn": """
        g (float[3, N] x) => (float[] y, float[] z) {
            y, z = Scan<num_scan_inputs = 1, scan_input_axes = [1],
                        body = b (float[] v, float[] part) => (float[] w, float[] out) {
                w = Add(v, part)
                out = Identity(part)
            }>(x, x)
        }""",
    "the greatest of nothing": """
        g (float[N, M] x) => (int64[] z) <int64[2] ones = {1, 1}, int64[2] far = {9, 9}, int64[2] axes = {0, 1}> {
            part = Slice(x, ones, far, axes)
            z = ArgMax<axis = 0>(part)
        }""",
    "a class at least": """
        g (float[N] x, int64[2] i) => (float[] z) <int64[1] one = {1}, float[2] values = {0, 1}> {
            n = Shape(x)
            depth = Sub(n, one)
            z = OneHot(i, depth, values)
        }""",
    "sizes of a branch within a branch": """
        g (float[N, M] x, float[2] w) => (float[] z)
        <int64 two = {2}, int64 zero = {0}, int64 one = {1}, int64[1] three = {3}, int64[1] single = {1}> {
            whole = Shape(x)
            n = Gather(whole, zero)
            m = Gather(whole, one)
            is_large = Greater(n, two)
            is_single = Equal(m, one)
            y = If(is_large) <
                then_branch = large () => (float[] p) {
                    p = If(is_single) <
                        then_branch = t () => (float[] r) {
                            size = Shape<start = 0, end = 1>(x)
                            less = Sub(size, three)
                            r = ConstantOfShape(less)
                        },
                        else_branch = e () => (float[] s) { s = ConstantOfShape(single) }
                    >
                },
                else_branch = small () => (float[] q) { q = ConstantOfShape(three) }
            >
            z = Mul(y, w)
        }""",
    "an If of two ranks in a function": """
        g (float[N, M] x, float[M] w) => (float[] z) {
            y = local.Slim(x)
            z = Add(y, w)
        }
        <domain: "local", opset_import: ["" : 18]>
        Slim (x) => (y) {
            one = Constant<value_int = 1>()
            zero = Constant<value_int = 0>()
            axes = Constant<value_ints = [0]>()
            whole = Shape(x)
            n = Gather(whole, zero)
            is_one = Equal(n, one)
            y = If(is_one) <
                then_branch = t () => (float[] p) { p = Squeeze(x, axes) },
                else_branch = e () => (float[] q) { q = Identity(x) }
            >
        }""",
}


OF_OPSET_20 = {
    "a grid, for which the channels do not count": """
        g (float[N, 2, 3] x) => (float[] z) <int64[1] two = {2}, int64[2] image = {2, 3}> {
            n = Shape<start = 0, end = 1>(x)
            channels = Sub(n, two)
            size = Concat<axis = 0>(n, channels, image)
            z = AffineGrid(x, size)
        }""",
    "a transform of a length that is given and may be 0": """
        g (float[N, 4, 1] x) => (float[] z) <int64 one = {1}> {
            n = Shape<start = 0, end = 1>(x)
            s = Squeeze(n)
            length = Sub(s, one)
            z = DFT(x, length)
        }""",
    "a transform of a signal that may be empty": "g (float[2, N, 1] x) => (float[] z) { z = DFT(x) }",
}


ENDS_THE_RUNTIME = ("Scan", "Einsum")
"""Operators that make ONNX Runtime divide by 0 where they are given nothing."""


def check(text, least, opset=18):
    model = parsed(text, opset)
    report = sb.onnx.check(model, min_size=least, runtime="onnxruntime")
    assert not [u for u in report.unanalysed if "could not be analysed" in u.reason]
    assert_agreement(model, report, points(model, range(least, 5)))


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found(text):
    check(text, least=1)


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_found_where_sizes_may_be_0(text):
    if any(op_type in text for op_type in ENDS_THE_RUNTIME):
        pytest.skip("the runtime ends at once where there is nothing")
    check(text, least=0)


@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("text", OF_OPSET_20.values(), ids=OF_OPSET_20)
def test_found_of_later_versions(text, least):
    check(text, least, opset=20)
