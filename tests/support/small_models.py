"""Small models, each with one thing to be found in it; their nodes are called n0, n1, ... in order."""

import numpy as np
from onnx import numpy_helper, parser

_HEAD = '<ir_version: 8, opset_import: ["": 17, "com.example": 1]>'

TEXTS = {
    # A batch that an export fixed at 1.
    "baked": "g (float[N, 4, 2] x) => (float[A, B] y) <int64[2] size = {1, 8}> { y = Reshape(x, size) }",
    # Two sizes, and a Reshape that only one size of the first gets through, together with what follows it.
    "forced": """g (float[T, B, 2] x, float[7, B, 2] w) => (float[A, B, 2] y) <int64[3] size = {7, -1, 2}> {
            r = Reshape(x, size)
            y = Concat<axis = 0>(r, w)
        }""",
    # A table of positions that ends at 5.
    "table": """g (int64[B, T] ids) => (float[B, T, 2] y) <int64[1] zero = {0}, int64[1] one = {1}> {
            found = Gather(words, ids)
            whole = Shape(ids)
            two = Constant<value_ints = [2]>()
            end = Slice(whole, one, two, zero)
            part = Slice(places, zero, end, one)
            y = Add(found, part)
        }""",
    "mask": "g (float[B, T] x, float[C, S] mask) => (float[B, T] y) { y = Add(x, mask) }",
    "even": "g (float[N, H] x) => (float[N, K] y) { a, b = Split<axis = 1>(x)  y = Mul(a, b) }",
    "concat": "g (float[N, 3] x, float[M, 3] y) => (float[N, K] z) { z = Concat<axis = 1>(x, y) }",
    "largest": "g (float[N, C] x) => (float[N, 5] v, int64[N, 5] i) <int64[1] k = {5}> { v, i = TopK(x, k) }",
    "cache": """g (float[B, P, 2] past, float[B, S, 2] now, float[T] mask) => (float[K] y, int64[K] i) {
            all = Concat<axis = 1>(past, now)
            count = Shape<start = 1, end = 2>(all)
            y, i = TopK(mask, count)
        }""",
    "never": "g (float[N, 3] x, float[4, M] y) => (float[N, M] z) { z = MatMul(x, y) }",
    # Nodes that can hold one by one, and not together where N is 2 or more.
    "clash": """g (float[N] x, float[3] a, float[4] b) => (float[K] y) {
            n = Shape(x)
            c = Expand(a, n)
            d = Expand(b, n)
            y = Identity(d)
        }""",
    "always": "g (float[N, C, H] x, float[H] b) => (float[N, C, H] y) { s = Add(x, b)  y = Softmax(s) }",
    "unknown_op": "g (float[N, 4] x) => (float[N, 4] y) { h = com.example.Odd(x)  y = Add(h, x) }",
    # How many elements are not 0 is not for shapes to say.
    "data": """g (float[N] x, float[2, M] w) => (float[3, K] y) {
            i = NonZero(x)
            f = Cast<to = 1>(i)
            y = Concat<axis = 0>(w, f)
        }""",
    "several": """g (float[B, T, 6] x, float[S, 6] w, float[C, U] m) => (float[B, T, U] y) <int64[1] one = {1}> {
            h = Transpose<perm = [1, 0]>(w)
            p = MatMul(x, h)
            a, b, c = Split<axis = 1>(x)
            q = Unsqueeze(m, one)
            y = Add(p, q)
        }""",
    "branch": """g (bool flag, float[N, 4] x, float[M, 4] z) => (float[K, 4] y) {
            y = If(flag) <
                then_branch = t () => (float[A, 4] s) { u = Add(x, z)  s = Relu(u) },
                else_branch = e () => (float[A, 4] s) { s = Identity(x) }
            >
        }""",
    "unnamed": "g (float[?, 3] x, float[?, 3] y) => (float[?, 3] z) { s = Sub(x, y)  z = Tanh(s) }",
    # What is to be seen on a page is not to be run there.
    "markup": "g (float[N] x, float[M] y) => (float[N] z) { z = Add(x, y) }",
}

HELD = {"table": {"words": (9, 2), "places": (1, 5, 2)}}
"""The tables of zeros that models hold, by name, with their shapes."""

RUNNABLE = [name for name in TEXTS if name != "unknown_op"]


def small_model(name):
    """Return one of the models."""
    model = parser.parse_model(f"{_HEAD} {TEXTS[name]}")
    for table, dims in HELD.get(name, {}).items():
        model.graph.initializer.append(numpy_helper.from_array(np.zeros(dims, np.float32), table))
    if name == "markup":
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "<b>N"
        model.graph.input[1].name = model.graph.node[0].input[1] = "<i>y</i>"
        model.graph.name = "<script>alert(1)</script>"
    return named(model)


def named(model):
    """Return a model with its nodes called n0, n1, ... and those in branches by the branch: then_branch_0, ..."""
    pending = [("n", model.graph)]
    for prefix, graph in pending:
        for number, node in enumerate(graph.node):
            node.name = f"{prefix}{number}"
            pending += [(f"{a.name}_", a.g) for a in node.attribute if a.g.node]
    return model
