"""Values of unknown rank: what is known of their last axes, beside what ONNX Runtime makes of inputs of any rank."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import symbcast as sb
from symbcast import onnx

ort = pytest.importorskip("onnxruntime")
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

NODES = [
    helper.make_node("Constant", [], ["last"], value_ints=[-1]),
    helper.make_node("Add", ["x", "z"], ["sum"]),
    helper.make_node("Relu", ["sum"], ["relu"]),
    helper.make_node("MatMul", ["x", "weights"], ["product"]),
    helper.make_node("ReduceSum", ["relu", "last"], ["reduced"], keepdims=0),
    helper.make_node("ReduceMax", ["relu", "last"], ["kept"], keepdims=1),
    helper.make_node("Concat", ["relu", "sum"], ["both"], axis=-1),
    helper.make_node("Greater", ["kept", "relu"], ["greater"]),
    helper.make_node("Where", ["greater", "relu", "x"], ["where"]),
    helper.make_node("Softmax", ["where"], ["softmax"]),
    helper.make_node("Unsqueeze", ["relu", "last"], ["column"]),
    helper.make_node("Squeeze", ["column", "last"], ["row"]),
    helper.make_node("Shape", ["x"], ["shape"]),
    helper.make_node("Size", ["x"], ["size"]),
]
KNOWN = {
    "sum": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "relu": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "product": "(...0[:-1], 5)",
    "reduced": "(...0[:-2], broadcast(...0[-2], N))",
    "kept": "(...0[:-2], broadcast(...0[-2], N), 1)",
    "both": "(...0[:-2], broadcast(...0[-2], N), 6)",
    "greater": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "where": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "softmax": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "column": "(...0[:-2], broadcast(...0[-2], N), 3, 1)",
    "row": "(...0[:-2], broadcast(...0[-2], N), 3)",
    "shape": "(shape_rank,)",
    "size": "()",
}


def model():
    inputs = [("x", None), ("z", ["N", 3]), ("weights", [3, 5])]
    declared = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs]
    types = {"greater": TensorProto.BOOL, "shape": INT64, "size": INT64}
    outputs = [helper.make_tensor_value_info(name, types.get(name, FLOAT), None) for name in KNOWN]
    graph = helper.make_graph(NODES, "unknown", declared, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def test_the_ends_of_values_of_unknown_rank_are_known():
    report = onnx.check(model())
    assert {name: str(report.shapes[name]) for name in KNOWN} == KNOWN
    assert report.shapes["x"] is None
    assert report.verdict is sb.Verdict.UNKNOWN  # what the nodes ask was not looked at
    data = report.to_dict()
    assert data["shapes"]["product"] == ["...0[:-1]", 5]
    assert "product" in report.explain() or report.explain()


@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 3), (2, 4, 3), (2, 1, 3), (1, 2, 1, 3), (0, 3), (2, 0, 1, 3)])
@pytest.mark.parametrize("n", [1, 4])
def test_they_are_what_onnx_runtime_makes_of_inputs_of_any_rank(shape, n):
    session = ort.InferenceSession(model().SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {
        "x": np.ones(shape, np.float32),
        "z": np.ones((n, 3), np.float32),
        "weights": np.ones((3, 5), np.float32),
    }
    if shape[-2:-1] not in ((), (1,), (n,)) and n != 1:
        with pytest.raises(Exception, match=r"."):
            session.run(None, feeds)
        return
    found = dict(zip(KNOWN, session.run(None, feeds), strict=True))
    for name, text in KNOWN.items():
        if name != "shape":
            result = sb.broadcast(text)
            sizes = {"...0": shape, "N": n}
            assert result.evaluate({k: sizes[k] for k in result.witness()}) == found[name].shape, name


def test_normalised_data_have_the_channels_of_the_scale_unless_they_may_be_a_vector():
    def output(channels):
        declared = [helper.make_tensor_value_info("x", FLOAT, None)]
        declared += [helper.make_tensor_value_info(name, FLOAT, [channels]) for name in "sbmv"]
        node = helper.make_node("BatchNormalization", ["x", *"sbmv"], ["y"])
        graph = helper.make_graph([node], "g", declared, [helper.make_tensor_value_info("y", FLOAT, None)])
        return onnx.check(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])).shapes["y"]

    assert str(output(8)) == "(?, 8, ...)"
    assert output("C") is None and output(1) is None
