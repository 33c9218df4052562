"""Runs single nodes that no other file of recorded runs has, and keeps which run shows each difference.

A difference is what ONNX Runtime does otherwise than the documents: see `RuntimeDifference` in
`symbcast.onnx.operators.declarations`.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from itertools import product
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import onnx
from recorded_differences import DATA, NAMED, shown_by
from recorded_nodes import floats, node, run, sized, values, zeros

MICROSOFT = "com.microsoft"
FEW = range(3)


def integers(*shape, kind="int64"):
    return {"shape": list(shape), "type": kind}


def number(item, kind="int64"):
    return {"shape": [], "type": kind, "values": [item]}


def rows():
    """Give every row of one node."""
    yield sized(node("Squeeze", 13, {}, [floats(1, 3, 1), values([], "int64")]))
    crop = {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"}
    roi = values([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 1.0], "float")
    yield sized(node("Resize", 13, crop, [floats(1, 1, "H", 4), roi, values([1.0, 1.0, 2.0, 1.0], "float")]), (2, 3))
    yield sized(node("Concat", 13, {"axis": 0}, [floats("N", "A"), floats("M", "B")]), FEW, FEW, (2, 3), (2, 3))
    yield sized(node("Split", 18, {"num_outputs": 3}, [floats("N")], 3), range(8))
    depth = {"sizes": ["D"], "type": "int64"}
    yield sized(node("OneHot", 11, {}, [integers(2), depth, zeros(2)]), FEW)
    small = {"kind": "uint8"}
    two = [integers("N", 3, **small), integers(3, 2, **small), integers("P", **small)]
    yield sized(node("MatMulInteger", 10, {}, two), (1, 2), (1, 2, 3))
    stack = [integers(2, 4, 3, **small), integers(2, 3, 2, **small), None, integers("P", **small)]
    yield sized(node("MatMulInteger", 10, {}, stack), (1, 2, 3))
    yield sized(node("STFT", 17, {}, [floats(1, "N"), number(2), None, number(4)]), (4, 5, 6))
    weights = [zeros(1, 2, 3), zeros(1, 2, 2)]
    yield sized(node("RNN", 14, {"hidden_size": 2, "layout": 1}, [floats("B", "T", 3), *weights]), (1, 2), (1, 2))
    yield sized(node("RNN", 14, {"hidden_size": 2}, [floats("T", "B", 3), *weights]), FEW, FEW)
    gates = [zeros(1, 6, 3), zeros(1, 6, 2)]
    yield sized(node("GRU", 14, {"hidden_size": 2}, [floats("T", "B", 3), *gates]), FEW, FEW)
    yield sized(node("RNN", 14, {}, [floats("T", "B", 3), *weights]), (1, 2), (1, 2))
    yield sized(node("ArgMax", 13, {"axis": 0}, [floats("N", "M")]), FEW, FEW)
    yield sized(node("LayerNormalization", 17, {}, [floats("N", "M"), floats("M")]), FEW, FEW)
    yield sized(
        node("GroupNormalization", 21, {"num_groups": 2}, [floats(1, 4, "H"), floats("C"), floats("C")]),
        (2,),
        range(1, 5),
    )
    five = {"shape": [1, 1], "type": "int64", "values": [5]}
    yield sized(node("GatherND", 13, {}, [floats(2, "N"), five]), FEW)
    boxes = [floats(1, "N", 4), floats(1, 1, "N"), zeros(2, kind="int64"), zeros(2), zeros(2)]
    yield sized(node("NonMaxSuppression", 11, {}, boxes), (1, 2))
    yield sized(node("Attention", 23, {}, [floats(1, 2, "L", 4), floats(1, 2, "S", 4), floats(1, 2, "S", 4)]), FEW, FEW)
    yield sized(node("Softmax", 9, {"axis": 2}, [floats("N", 3)]), (1, 2))
    yield sized(node("Div", 14, {}, [integers("N", kind="int32"), values([0], "int32")]), (1, 2))
    yield sized(node("Trilu", 1, {}, [floats("N", 3)], domain=MICROSOFT), FEW)
    yield sized(node("PRelu", 16, {}, [floats(3), floats("A", 3)]), (1, 2))
    yield sized(node("MatMul", 13, {}, [floats(1, 2, 3), floats("B", 3, 2)]), FEW)
    norm = [floats(1, 2, "N"), floats(1, 2, "N"), floats("N")]
    yield sized(node("SkipLayerNormalization", 1, {}, norm, domain=MICROSOFT), FEW)
    norm = [floats("A", 2, 3), floats("B", 2, 3), floats(3)]
    yield sized(node("SkipLayerNormalization", 1, {}, norm, domain=MICROSOFT), (1, 2, 3), (1, 2, 3))
    yield sized(node("NonZero", 13, {}, [floats()]))
    yield from of_few_elements()
    yield from bounded()


def of_few_elements():
    """Give rows of operators that treat sizes of 0 or 1 in their own way."""
    small = {"kind": "uint8"}
    yield sized(node("ReduceMax", 20, {}, [integers("N", "M", kind="bool"), values([1], "int64")]), FEW, FEW)
    rotated = {"num_heads": 1, "do_rotary": 1}
    yield sized(node("Attention", 1, rotated, [floats(1, "L", 4), zeros(4, 12), zeros(12)], domain=MICROSOFT), FEW)
    window = [integers(1, 1, 3, 3, **small), integers(1, 1, "A", 2, **small)]
    yield sized(node("ConvInteger", 10, {}, window), range(5))
    skip = [floats("N", 3, 4), floats("M", 3, 4), floats(4)]
    yield sized(node("SkipLayerNormalization", 1, {}, skip, domain=MICROSOFT), FEW, FEW)
    state = [floats(1, 2, "L"), floats("M", 1, 3), None, floats(1, 2, "P")]
    yield sized(node("CausalConvWithState", 27, {}, state, 2), FEW, (1, 2, 4), FEW)
    yield sized(node("CumSum", 14, {}, [floats("N", "M"), number(2)]), FEW, FEW)
    yield sized(node("Multinomial", 7, {"sample_size": 2}, [floats("N", "M")]), FEW, FEW)
    yield sized(node("OneHot", 11, {}, [integers(2), number(3), floats("N")]), range(4))


def bounded():
    """Give rows of attributes and inputs at the bounds of what they may be."""
    greatest = [values([2**63 - 1], "int64"), values([0], "int64"), values([-1], "int64")]
    yield sized(node("Slice", 13, {}, [floats("N"), values([-1], "int64"), *greatest]), range(5))
    greatest = [values([2**31 - 1], "int32"), values([0], "int32"), values([-2], "int32")]
    yield sized(node("Slice", 13, {}, [floats("N"), values([-2], "int32"), *greatest]), range(5))
    for domain in ("", MICROSOFT):
        caches = [floats("M", 2), floats("M", 2)]
        ids = integers("B", "S")
        given = [floats("B", 2, "S", 4), *([ids, *caches] if domain else [*caches, ids])]
        yield sized(node("RotaryEmbedding", 1 if domain else 23, {}, given, domain=domain), (1, 2), range(4), range(4))
    for rank, size in ((3, 3), (4, 3), (4, 2), (4, 0), (5, 3)):
        yield sized(node("LRN", 13, {"size": size}, [floats(*"NCHWD"[:rank])]), *[(1, 2)] * rank)
    for rank in (2, 3):
        inputs = [floats(*"NCH"[:rank]), floats("C"), floats("D")]
        yield sized(node("InstanceNormalization", 6, {}, inputs), *[(1, 2)] * (rank + 1))
    for order in (0, 1, 3):
        yield sized(node("LpNormalization", 22, {"p": order}, [floats("N", "M")]), FEW, FEW)
    for length, low, high in ((16, 0.0, 4096.0), (16, 0.0, 5000.0), (16, -1.0, 4096.0), (1, 0.0, 4096.0)):
        edges = [{"shape": [], "type": "float", "values": [edge]} for edge in (low, high)]
        bands = {"sizes": ["N"], "type": "int64"}
        yield sized(node("MelWeightMatrix", 17, {}, [bands, number(length), number(8192), *edges]), FEW)
    for asked in ([-1, 6], [0, 6], [6, -1], [3, 6]):
        wide = {"output_shape": asked, "strides": [2, 2]}
        yield sized(node("ConvTranspose", 11, wide, [floats(1, 1, "H", 3), zeros(1, 1, 3, 3)]), range(4))
    yield from bounded_attention()
    yield from bounded_indices()


def bounded_attention():
    """Give rows of attention at the bounds of what its inputs and attributes may be."""
    operands = [floats("B", 2, "L", 4), floats("B", 2, "S", 4), floats("B", 2, "S", 4)]
    past = floats("B", 2, "P", 4)
    for more in ([], [None, past, past], [None, past], [None, None, past]):
        yield sized(node("Attention", 23, {}, [*operands, *more], 3), (1, 2), (1, 2), (1, 2), *[FEW] * bool(more))
    heads = ({"q_num_heads": 2}, {"q_num_heads": 3}, {"q_num_heads": -1}, {"q_num_heads": 2, "kv_num_heads": 1})
    for attributes in (*heads, {"left_window_size": -2}, {"scale": -1.0}, {"scale": 0.5}):
        for opset in (24, 25):
            yield sized(node("Attention", opset, attributes, operands), (1,), (1, 2), (1, 2))
    for mode in (3, 4):
        yield sized(node("Attention", 24, {"qk_matmul_output_mode": mode}, operands, 4), (1,), (1, 2), (1, 2))


def bounded_indices():
    """Give rows of indices, axes and lengths at their bounds."""
    yield sized(node("GatherND", 13, {"batch_dims": 1}, [floats("A", 3), integers("B", 1)]), range(4), range(7))
    batch = [floats("A", "X", 3), integers("B", "K", 1)]
    yield sized(node("GatherND", 13, {"batch_dims": 2}, batch), (1, 2), (1, 2, 3), (1, 2), (1, 2, 3))
    for rank in (1, 2):
        scores = [floats("N", "C", *["H"] * (rank - 1)), integers("M", *["H"] * (rank - 1)), floats("C")]
        loss = node("NegativeLogLikelihoodLoss", 13, {"reduction": "none"}, scores)
        yield sized(loss, (1, 2), (1, 2), *[(1, 2)] * rank)
    for axes, is_kept in (([-2], 1), ([1], 1), ([0, -1], 1)):
        reduced = [floats("A", "B", 2), values(axes, "int64")]
        yield sized(node("ReduceMean", 18, {"keepdims": is_kept}, reduced), FEW, FEW)
    for taken in ([2, 0], [-1], [0, 0, 0], []):
        features = [floats("N", "M"), values(taken, "int64")]
        yield sized(node("ArrayFeatureExtractor", 1, {}, features, domain="ai.onnx.ml"), FEW, range(4))
    yield sized(node("ArrayFeatureExtractor", 1, {}, [floats("N"), integers("K")], domain="ai.onnx.ml"), FEW, FEW)
    for sizes, policy in (([7, 90], "not_larger"), ([31, 20], "not_smaller")):
        keep = {"mode": "nearest", "keep_aspect_ratio_policy": policy, "axes": [2, 3]}
        yield sized(node("Resize", 18, keep, [floats(1, 1, 6, 27), None, None, values(sizes, "int64")]))
    yield sized(node("STFT", 17, {}, [floats("B", 6, 1), number(2)]), FEW)
    yield sized(node("Split", 18, {}, [floats("N"), values([], "int64")], 2), range(4))


RESHAPE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[M, N] x) => (float[A, B] y) {
  m = Shape<end = 1>(x)
  rest = Constant<value_ints = [-1]>()
  shape = Concat<axis = 0>(m, rest)
  y = Reshape<allowzero = 1>(x, shape)
}"""
LOOP = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T] t, float[N] x) => (float[L] last, float[A, B] ys) {
  n = Shape(t)
  m = Squeeze(n)
  c = Constant<value = bool {1}>()
  last, ys = Loop(m, c, x) <body = b (int64 i, bool ci, float[P] xi) => (bool co, float[Q] xo, float[R] y) {
    co = Identity(ci)
    xo = Identity(xi)
    y = Identity(xi)
  }>
}"""
SCAN = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T, 2] t, float[2] x) => (float[L] last, float[A, B] ys) {
  last, ys = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] so, float[2] y) {
    so = Add(s, e)
    y = Identity(so)
  }> (x, t)
}"""
STATE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T, 2] t, float[N] x) => (float[L] last, float[A, B] ys) {
  last, ys = Scan <num_scan_inputs = 1, body = b (float[M] s, float[2] e) => (float[K] so, float[2] y) {
    so = Add(s, e)
    y = Identity(e)
  }> (x, t)
}"""
DECLARED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[T, P] t, float[N, M] x) => (float[L, K] last, float[A, B] ys) {
  last, ys = Scan <num_scan_inputs = 1, body = b (float[Q, 2] s, float[E] e) => (float[R, S] so, float[3] y) {
    so = Identity(s)
    y = Identity(e)
  }> (x, t)
}"""


def graphs():
    """Give every model whose node has a graph in it."""
    import numpy as np
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    for text, symbols in (
        (RESHAPE, {"M": FEW, "N": FEW}),
        (LOOP, {"T": FEW, "N": FEW}),
        (SCAN, {"T": FEW}),
        (STATE, {"T": (0, 1), "N": (1, 2)}),
        (DECLARED, {"T": (1, 2), "P": (2, 3), "N": (1, 2), "M": (1, 2)}),
    ):
        model = onnx.parser.parse_model(text)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        runs = []
        for sizes in product(*symbols.values()):
            at = dict(zip(symbols, sizes, strict=True))
            feeds = {
                i.name: np.zeros([at.get(d.dim_param, d.dim_value) for d in i.type.tensor_type.shape.dim], np.float32)
                for i in model.graph.input
            }
            try:
                outputs = [list(o.shape) for o in session.run(None, feeds)]
            except Exception:  # the runtime's errors have no class in common
                outputs = None
            runs.append([list(sizes), outputs])
        yield {"model": base64.b64encode(model.SerializeToString()).decode(), "symbols": list(symbols), "runs": runs}


if __name__ == "__main__":
    with gzip.GzipFile(DATA / "differences.jsonl.gz", "wb", mtime=0) as file:
        for row in rows():
            row["outputs"] = run(row, row["sizes"])
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        for row in graphs():
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
    found = {name: shown_by(name) for name in NAMED}
    print("not shown by a run:", [name for name, place in found.items() if place is None])
    (DATA / "differences.json").write_text(json.dumps(found, indent=1) + "\n")
