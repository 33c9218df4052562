"""Runs models with sequences, and with what may be there, in ONNX Runtime and in onnx's reference evaluator.

    python tests/onnx/record_sequences.py

Each row has a model, the names of sizes, and ``runs``: sizes, the shapes that ONNX Runtime gives for the outputs there,
and those that the reference evaluator gives; null where they fail. A sequence that is an input has as many tensors as
``<input>_length`` says.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from itertools import product
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from recorded_nodes import DATA, in_a_process

HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'
FEW = range(4)
STATE = "(int64 i, bool c, seq(float[?, ?]) s) => (bool co, seq(float[?, ?]) t)"


def rows():
    """Give each model as text, with the sizes to run it at."""
    two = "g (float[N, A] x, float[M, B] y) => (float[P, Q] z)"
    for axis in (0, 1):
        yield f"{two} {{ s = SequenceConstruct(x, y) z = ConcatFromSequence<axis = {axis}>(s) }}", (FEW,) * 4
    one = "g (float[N, A] x, float[M, B] y) => (float[P, Q, R] z)"
    yield f"{one} {{ s = SequenceConstruct(x, y) z = ConcatFromSequence<axis = -1, new_axis = 1>(s) }}", (FEW,) * 4
    yield f"{one} {{ s = SequenceConstruct(x) z = ConcatFromSequence<axis = 3, new_axis = 1>(s) }}", ((1,),) * 4
    cut = "g (float[N, 3] x) => (float[P, Q] z)"
    for index in (-3, -1, 0, 2):
        at = f"i = Constant<value_int = {index}>() z = SequenceAt(s, i)"
        yield f"{cut} {{ s = SplitToSequence<axis = 0>(x) {at} }}", (range(6),)
        yield f"{cut} {{ n = Constant<value_int = 2>() s = SplitToSequence<axis = 0>(x, n) {at} }}", (range(8),)
        yield f"{cut} {{ n = Constant<value_ints = [2, 3, 1]>() s = SplitToSequence(x, n) {at} }}", ((5, 6, 7),)
    line = "g (float[N, 3] x) => (float[P] z)"
    last = "i = Constant<value_int = -1>() z = SequenceAt(s, i)"
    yield f"{line} {{ s = SplitToSequence<axis = 0, keepdims = 0>(x) {last} }}", (FEW,)
    whole = "z = ConcatFromSequence<axis = 0>(s)"
    for size in (1, 2, 3):
        given = f"n = Constant<value_int = {size}>() s = SplitToSequence<axis = 0, keepdims = 0>(x, n)"
        rank = "float[P]" if size == 1 else "float[P, Q]"
        yield f"g (float[N, 3] x) => ({rank} z) {{ {given} {whole} }}", (range(7),)
    yield f"{cut} {{ n = Constant<value_ints = [2, 2]>() s = SplitToSequence<keepdims = 0>(x, n) {whole} }}", ((3, 4),)
    fixed = "n = Constant<value_int = 2>() s = SplitToSequence<axis = 0>(x, n)"
    yield (
        f"g (float[5, A] x) => (float[P, Q] z) {{ {fixed} i = Constant<value_int = 2>() z = SequenceAt(s, i) }}",
        (FEW,),
    )
    pair = "g (float[N, A] x, float[M, A] y, float[K] k) => (float[P, Q] z)"
    index = "n = Shape(k) one = Constant<value_int = 1>() i = Sub(n, one) j = Squeeze(i)"
    for step in ("t = SequenceInsert(s, y, j)", "t = SequenceErase(s, j)", "t = SequenceErase(s)"):
        for kept in (-1, 0):
            got = f"l = Constant<value_int = {kept}>() z = SequenceAt(t, l)"
            yield f"{pair} {{ {index} s = SequenceConstruct(x, y) {step} {got} }}", ((2,), (1,), (3,), range(6))
    yield f"{pair} {{ {index} s = SequenceConstruct(x, y) z = SequenceAt(s, j) }}", ((2,), (1,), (3,), range(4))
    yield f"{cut} {{ s = SequenceEmpty() t = SequenceInsert(s, x) {whole.replace('(s)', '(t)')} }}", (FEW,)
    yield f"{cut} {{ s = SequenceEmpty() {whole} }}", ((1,),)
    none = "s = SequenceConstruct(x) t = SequenceErase(s) u = SequenceErase(t) n = SequenceLength(u) z = Expand(x, n)"
    yield f"{cut} {{ {none} }}", ((1,),)
    length = "n = SequenceLength(s) r = Constant<value_ints = [-1]>() e = Reshape(n, r) z = Expand(x, e)"
    threes = "k = Constant<value_int = 3>() s = SplitToSequence(y, k)"
    yield f"g (float[1] x, float[N, 2] y) => (float[P] z) {{ {threes} {length} }}", (range(8),)
    yield from in_graphs()
    yield from that_may_be_there()


def in_graphs():
    turns = "h = Shape(k) n = Squeeze(h) c = Constant<value = bool {1}>()"
    head = "g (float[K] k, float[N, 2] x, float[M, 2] y) => (float[P, Q] z)"
    body = "<body = b (int64 i, bool c, seq(float[A, B]) s) => (bool co, seq(float[A, B]) t) { co = Identity(c) %s }>"
    for first, step in (
        ("SequenceEmpty()", "t = SequenceInsert(s, x)"),
        ("SequenceConstruct(y)", "t = SequenceInsert(s, y)"),
        ("SequenceConstruct(y, y, y)", "t = SequenceErase(s)"),
        ("SequenceConstruct(x, y)", "t = Identity(s)"),
        ("SequenceConstruct(x)", "u = SequenceInsert(s, x) t = SequenceInsert(u, x)"),
    ):
        yield (
            f"{head} {{ {turns} e = {first} l = Loop(n, c, e) {body % step} z = ConcatFromSequence<axis = 0>(l) }}",
            (FEW, (2,), (1, 3)),
        )
    add = "t = SequenceInsert(s, x)"
    stacked = "z = ConcatFromSequence<axis = 1, new_axis = 1>(l)"
    yield (
        "g (float[K] k, float[N, 2] x) => (float[P, Q, R] z) "
        f"{{ {turns} e = SequenceEmpty() l = Loop(n, c, e) {body % add} {stacked} }}",
        (FEW, FEW),
    )
    each = "j = Identity(i) v = SequenceAt(s, j) t = Identity(v)"
    every = f"<body = b (int64 i, bool c) => (bool co, float[A, B] t) {{ co = Identity(c) {each} }}>"
    yield (
        "g (float[N, 2] x) => (float[P, Q, R] z) { s = SplitToSequence(x) n = SequenceLength(s) "
        f"c = Constant<value = bool {{1}}>() z = Loop(n, c) {every} }}",
        (range(1, 4),),
    )
    whole = "z = ConcatFromSequence<axis = 0>(s)"
    mapped = "<body = b (float[A, B] e, float[C, D] f) => (float[E, F] o) { o = MatMul(e, f) }>"
    matrices = "g (float[N, 2] x, float[M, B] y) => (float[P, Q] z)"
    yield (
        f"{matrices} {{ q = SequenceConstruct(x, x) s = SequenceMap(q, y) {mapped} {whole} }}",
        ((1, 2), (1, 2, 3), (1, 3)),
    )
    yield (
        f"{matrices} {{ q = SplitToSequence(x) s = SequenceMap(q, y) {mapped} z = ConcatFromSequence<axis = 0>(s) }}",
        (FEW, (1, 2, 3), (1, 3)),
    )
    both = "<body = b (float[A, B] e, float[C, D] f) => (float[E, F] o) { o = Add(e, f) }>"
    yield (
        f"{matrices} {{ q = SplitToSequence(x) r = SplitToSequence(y) s = SequenceMap(q, r) {both} {whole} }}",
        (FEW, FEW, (1, 2, 3)),
    )
    yield (
        f"g (seq(float[N, 2]) x, float[M, 2] y) => (float[P, Q] z) {{ s = SequenceInsert(x, y) {whole} }}",
        (FEW, FEW, FEW),
    )
    yield (
        "g (seq(float[N, 2]) x) => (float[P, Q] z) { i = Constant<value_int = 2>() z = SequenceAt(x, i) }",
        (FEW, range(5)),
    )
    choice = "b = Shape(k) o = Constant<value_int = 2>() d = Squeeze(b) c = Greater(d, o)"
    yield (
        f"g (float[K] k, float[N, 2] x) => (float[P, Q] z) {{ {choice} s = If(c) "
        "<then_branch = t () => (seq(float[A, B]) u) { u = SequenceConstruct(x, x) }, "
        f"else_branch = f () => (seq(float[A, B]) u) {{ u = SequenceConstruct(x, x, x) }}> {whole} }}",
        (range(1, 5), FEW),
    )


def that_may_be_there():
    yield (
        "g (float[N, 2] x, float[M, 2] y) => (float[P, Q] z) "
        "{ o = Optional(x) e = OptionalGetElement(o) z = Add(e, y) }",
        (FEW, FEW),
    )
    choice = "b = Shape(k) w = Constant<value_int = 2>() d = Squeeze(b) c = Greater(d, w)"
    yield (
        f"g (float[K] k, float[N] x, float[M] y) => (float[P] z) {{ {choice} o = Optional(x) "
        "h = OptionalHasElement(o) a = And(h, c) z = If(a) "
        "<then_branch = t () => (float[A] u) { e = OptionalGetElement(o) u = Add(e, y) }, "
        "else_branch = f () => (float[A] u) { u = Identity(y) }> }",
        ((2, 3), (1, 2, 3), (1, 2, 3)),
    )


def filled(declared, sizes):
    """Return zeros for an input."""
    kind = declared.type
    is_many = kind.HasField("sequence_type")
    tensor = (kind.sequence_type.elem_type if is_many else kind).tensor_type
    shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
    one = np.zeros(shape, np.float32)
    return [one] * sizes[f"{declared.name}_length"] if is_many else one


def named(model):
    """Return the names of the sizes of a model."""
    found = []
    for declared in model.graph.input:
        kind = declared.type
        if kind.HasField("sequence_type"):
            found.append(f"{declared.name}_length")
            kind = kind.sequence_type.elem_type
        found += [d.dim_param for d in kind.tensor_type.shape.dim if d.dim_param]
    return list(dict.fromkeys(found))


def run(model, bindings):
    """Return the shapes of the outputs in ONNX Runtime at each of some sizes; a run that ends the process has none."""
    found = in_a_process(_run, model, bindings)
    return found or [(in_a_process(_run, model, [sizes]) or [None])[0] for sizes in bindings]


def _run(model, bindings):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # the runtime refuses the model whatever the sizes
        return [None] * len(bindings)
    return [_shapes(model, sizes, lambda feeds: session.run(None, feeds)) for sizes in bindings]


def _shapes(model, sizes, call):
    try:
        return [list(a.shape) for a in call({i.name: filled(i, sizes) for i in model.graph.input})]
    except Exception:  # the errors have no class in common
        return None


def refer(model, bindings):
    """Return the shapes of the outputs in onnx's reference evaluator at each of some sizes."""
    evaluator = ReferenceEvaluator(model)
    return [_shapes(model, sizes, lambda feeds: evaluator.run(None, feeds)) for sizes in bindings]


if __name__ == "__main__":
    with gzip.GzipFile(DATA / "sequences.jsonl.gz", "wb", mtime=0) as file:
        for text, ranges in rows():
            model = onnx.parser.parse_model(HEAD + text)
            symbols = named(model)
            sizes = list(product(*ranges))
            bindings = [dict(zip(symbols, values, strict=True)) for values in sizes]
            runs = list(zip(sizes, run(model, bindings), refer(model, bindings), strict=True))
            row = {"model": base64.b64encode(model.SerializeToString()).decode(), "symbols": symbols, "runs": runs}
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
            print(sum(r[1] is not None for r in runs), sum(r[2] is not None for r in runs), len(runs), text)
