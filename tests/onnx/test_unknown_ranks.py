"""Values of unknown rank: what is known of their last axes, beside what ONNX Runtime makes of inputs of any rank."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

import numpy as np
import onnx as onnx_package
import pytest
from onnx import TensorProto, helper, numpy_helper

import symbcast as sb
from symbcast import onnx

ort = pytest.importorskip("onnxruntime")
jsonschema = pytest.importorskip("jsonschema")
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
    "sum": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "relu": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "product": "(*x[:-1], 5)",
    "reduced": "(*x[:-2], broadcast(N, x[-2]))",
    "kept": "(*x[:-2], broadcast(N, x[-2]), 1)",
    "both": "(*x[:-2], broadcast(N, x[-2]), 6)",
    "greater": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "where": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "softmax": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "column": "(*x[:-2], broadcast(N, x[-2]), 3, 1)",
    "row": "(*x[:-2], broadcast(N, x[-2]), 3)",
    "shape": "(rank(x),)",
    "size": "()",
}


def evaluated(text, sizes):
    """Return a shape at some sizes, None where it speaks of others."""
    result = sb.broadcast(text)
    needed = result.witness()
    return result.evaluate({k: sizes[k] for k in needed}) if needed.keys() <= sizes.keys() else None


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
    assert str(report.shapes["x"]) == "(*x,)"
    assert report.condition.equivalent("x[-1] == 3 and (N == x[-2] or x[-2] == 1 or N == 1)")
    assert not report.unanalysed
    data = report.to_dict()
    jsonschema.validate(json.loads(json.dumps(data)), report.json_schema())
    assert (data["shapes"]["product"], data["witness"]) == (["*x[:-1]", 5], {"x": [3], "N": 1})


@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 3), (2, 4, 3), (2, 1, 3), (1, 2, 1, 3), (0, 3), (2, 0, 1, 3)])
@pytest.mark.parametrize("n", [1, 4])
def test_they_are_what_onnx_runtime_makes_of_inputs_of_any_rank(shape, n):
    session = ort.InferenceSession(model().SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"x": np.ones(shape, np.float32), "z": np.ones((n, 3), np.float32), "weights": np.ones((3, 5), np.float32)}
    if shape[-2:-1] not in ((), (1,), (n,)) and n != 1:
        with pytest.raises(Exception, match=r"."):
            session.run(None, feeds)
        return
    found = dict(zip(KNOWN, session.run(None, feeds), strict=True))
    for name, text in KNOWN.items():
        assert evaluated(text, {"x": shape, "N": n}) == found[name].shape, name


def test_normalised_data_have_the_channels_of_the_scale_unless_they_may_be_a_vector():
    def output(channels):
        declared = [helper.make_tensor_value_info("x", FLOAT, None)]
        declared += [helper.make_tensor_value_info(name, FLOAT, [channels]) for name in "sbmv"]
        node = helper.make_node("BatchNormalization", ["x", *"sbmv"], ["y"])
        graph = helper.make_graph([node], "g", declared, [helper.make_tensor_value_info("y", FLOAT, None)])
        return onnx.check(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])).shapes["y"]

    assert str(output(8)) == "(?, 8, ...)"
    assert str(output("C")) == str(output(1)) == "(*x,)"


INPUTS = {"w": ["N", 3], "v": [3], "b": [2, 3], "k": [2, 3, 1], "scale": [2]}
NUMBERS = {"last": [-1], "first": [0], "back": [-2], "two": [2], "ends": [0, 1, 1, 0], "shape": [2, 3], "twice": [2, 1]}
NODES_ALONE = {
    "Relu": ("Relu(x)", {}),
    "Cast": ("Cast(x)", {"to": TensorProto.FLOAT}),
    "Add": ("Add(x, w)", {}),
    "Where": ("Where(c, x, w)", {}),
    "PRelu": ("PRelu(x, v)", {}),
    "Expand": ("Expand(x, shape)", {}),
    "MatMul": ("MatMul(x, w)", {}),
    "MatMul by a vector": ("MatMul(x, v)", {}),
    "Gemm of a bias": ("Gemm(b, m, x)", {}),
    "Gemm by": ("Gemm(b, x)", {"transB": 1}),
    "Conv": ("Conv(x, k)", {}),
    "MaxPool": ("MaxPool(x)", {"kernel_shape": [2]}),
    "BatchNormalization": ("BatchNormalization(x, scale, scale, scale, scale)", {}),
    "LayerNormalization": ("LayerNormalization(x, v)", {}),
    "Softmax": ("Softmax(x)", {"axis": -2}),
    "ReduceSum": ("ReduceSum(x, last)", {"keepdims": 0}),
    "ReduceMean": ("ReduceMean(x, back)", {}),
    "ReduceMax of all": ("ReduceMax(x)", {"keepdims": 0}),
    "ArgMax": ("ArgMax(x)", {"axis": -1, "keepdims": 0}),
    "CumSum": ("CumSum(x, axis)", {}),
    "TopK": ("TopK(x, two)", {}),
    "Squeeze": ("Squeeze(x, last)", {}),
    "Unsqueeze": ("Unsqueeze(x, back)", {}),
    "Concat": ("Concat(x, w)", {"axis": -1}),
    "Concat with itself": ("Concat(x, x)", {"axis": -2}),
    "Split": ("Split(x)", {"axis": -1, "num_outputs": 1}),
    "Slice": ("Slice(x, first, two, last)", {}),
    "Gather": ("Gather(x, axis)", {"axis": -1}),
    "Gather by": ("Gather(w, i)", {"axis": 0}),
    "Transpose": ("Transpose(x)", {"perm": [1, 0]}),
    "Pad": ("Pad(x, ends)", {}),
    "Tile": ("Tile(x, twice)", {}),
    "Einsum": ("Einsum(x, w)", {"equation": "...i,ji->...j"}),
    "Einsum of letters": ("Einsum(x)", {"equation": "ij->ji"}),
    "Trilu": ("Trilu(x)", {}),
    "DepthToSpace": ("DepthToSpace(x)", {"blocksize": 1}),
    "NonZero": ("NonZero(x)", {}),
    "Shape": ("Shape(x)", {"start": -1}),
    "Flatten": ("Flatten(x)", {"axis": 1}),
    "Reshape": ("Reshape(x, shape)", {}),
    "Transpose backwards": ("Transpose(x)", {}),
}
LEFT = {"BatchNormalization", "Flatten", "Reshape", "Transpose backwards", "Shape", "ReduceSum", "ReduceMean", "ArgMax"}
"""Those of which something is left open: they look at the first axes, or at all together, or do so of a number."""


def alone(text, attributes):
    op_type, _, given = text.rstrip(")").partition("(")
    names = given.split(", ")
    types = {"c": TensorProto.BOOL, "i": INT64}
    shapes = {"x": None, "c": None, "i": None, "m": [3, 4], **INPUTS}
    inputs = [
        helper.make_tensor_value_info(n, types.get(n, FLOAT), shapes[n]) for n in dict.fromkeys(names) if n in shapes
    ]
    held = [helper.make_tensor(n, INT64, [len(v)], v) for n, v in NUMBERS.items() if n in names]
    held += [helper.make_tensor("axis", INT64, [], [-1])] if "axis" in names else []
    outputs = ["y", "indices"] if op_type == "TopK" else ["y"]
    node = helper.make_node(op_type, names, outputs, **attributes)
    dtype = {"ArgMax": INT64, "NonZero": INT64, "Shape": INT64}.get(op_type, FLOAT)
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", dtype, None)], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), inputs


@pytest.mark.parametrize("case", NODES_ALONE)
def test_a_node_runs_where_it_is_said_to_for_inputs_of_any_rank(case):
    made, inputs = alone(*NODES_ALONE[case])
    report = onnx.check(made, runtime="onnxruntime")
    assert any(not u.is_about_data for u in report.unanalysed) == (case in LEFT), report.unanalysed
    guard, output = report.guard(open=True), report.shapes["y"]
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    shapes = [s for rank in range(5) for s in product((1, 2, 3), repeat=rank)]
    kinds = {FLOAT: np.float32, INT64: np.int64, TensorProto.BOOL: np.bool_}
    tried = set()
    for shape, n in product(shapes, (1, 2, 3)):
        sizes = {"x": shape, "c": (), "i": shape, "N": n}
        feeds = {}
        for declared in inputs:
            kind = declared.type.tensor_type
            dims = tuple(d.dim_value or n for d in kind.shape.dim) if kind.HasField("shape") else sizes[declared.name]
            feeds[declared.name] = np.full(dims, kind.elem_type != INT64, dtype=kinds[kind.elem_type])
        try:
            found = session.run(None, feeds)[0].shape
        except Exception:  # of whatever kind the runtime's bindings make of it
            found = None
        told = {name: sizes[name] for name in guard.parameters}
        works = guard(told)
        assert works == (found is not None) or (works and case in LEFT), (shape, n, found, report.condition)
        if found is not None and output is not None:
            known = evaluated(output, {**sizes, "y_count": found[-1] if found else 0})
            assert known is None or known == found, (shape, n, found, output)
        tried.add(works)
    assert True in tried


@pytest.mark.parametrize("runtime", ["spec", "onnxruntime"])
@pytest.mark.parametrize("case", NODES_ALONE)
def test_what_is_said_of_all_ranks_is_said_of_each(case, runtime):
    made, inputs = alone(*NODES_ALONE[case])
    report = onnx.check(made, runtime=runtime, min_size=0)
    guard, output = report.guard(open=True), report.shapes["y"]
    is_left = any(not u.is_about_data for u in report.unanalysed)
    opened = [i.name for i in inputs if not i.type.tensor_type.HasField("shape")]
    for shape in (s for rank in range(4) for s in product((0, 1, 2, 3), repeat=rank)):
        shapes = {name: () if name == "c" else shape for name in opened}
        bind = {"N": 3} if any(i.name == "w" for i in inputs) else None
        each = onnx.check(made, runtime=runtime, min_size=0, shapes=shapes, bind=bind)
        assert each.verdict in (sb.Verdict.ALWAYS, sb.Verdict.NEVER) or each.unanalysed
        works = guard({k: {**shapes, "N": 3}[k] for k in guard.parameters})
        if each.verdict is sb.Verdict.ALWAYS or not is_left:
            assert works == (each.verdict is not sb.Verdict.NEVER), (shape, report.condition, each.verdict)
        found = each.shapes["y"]
        if works and output is not None and found is not None and found.is_concrete:
            assert evaluated(output, {**shapes, "N": 3}) in (None, tuple(found)), (shape, output, found)


def test_a_caller_says_what_is_known_of_an_input_of_unknown_rank():
    made, _ = alone("MatMul(x, w)", {})
    report = onnx.check(made, shapes={"x": "*batch, T, d"}, assume="batch[-1] == 2")
    assert str(report.shapes["y"]) == "(*batch, T, 3)"
    assert str(report.condition) == "d == N"
    assert report.assumptions == ("batch[-1] == 2", "x of shape (*batch, T, d)")
    assert report.guard()(batch=(2,), T=1, d=4, N=4)
    # Of an input whose rank the model declares, an ellipsis stands for the axes that are left.
    declared, _ = alone("Add(w, v)", {})
    assert str(onnx.check(declared, shapes={"w": "..., 3"}).shapes["y"]) == "(N, 3)"
    for wrong, how in [
        ({"w": "*batch, 3"}, {}),
        ({"w": "..., 3, 3, 3"}, {}),
        ({"w": "..., 4"}, {}),
        ({"v": "..., 3"}, {"min_size": 2}),
    ]:
        with pytest.raises(sb.BindingError):
            onnx.check(declared, shapes=wrong, **how)
    with pytest.raises(sb.AssumptionError, match="which the model does not have"):
        onnx.check(made, assume="rank(other) == 2")
    assert onnx.check(made, assume="rank(x) == 3").shapes["y"].rank is None


def test_names_of_sequences_are_no_names_of_sizes():
    made, _ = alone("MatMul(x, w)", {})
    made.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "x"
    assert str(onnx.check(made).condition) == "rank(x_) >= 1 and x_[-1] == x"


def test_runs_confirm_what_is_said_of_inputs_of_unknown_rank():
    made, _ = alone("Add(x, w)", {})
    report = onnx.check(made, runtime="onnxruntime")
    assert [c.agrees for c in report.confirm()] == [True] * (1 + len(report.findings))
    assert report.findings[0].sizes_there == "(2,) and (1, 3)"
    assert "x[-1] is 1 or 3" in report.explain() and report._repr_html_()


def test_values_whose_rank_data_decide_keep_what_is_known_of_their_ends():
    made, _ = alone("Reshape(x, wanted)", {})
    made.graph.input.append(helper.make_tensor_value_info("wanted", INT64, ["n"]))
    made.graph.input.append(helper.make_tensor_value_info("m", FLOAT, ["M", 4]))
    made.graph.node.append(helper.make_node("Add", ["y", "m"], ["z"]))
    made.graph.node.append(helper.make_node("Gemm", ["y", "m"], ["g"]))
    report = onnx.check(made)
    assert str(report.shapes["y"]) == "None"
    assert str(report.shapes["z"]) == "(...1[:-2], broadcast(...1[-2], M), 4)"
    assert str(report.shapes["g"]) == "(y_dim_0, 4)"
    assert report.verdict is sb.Verdict.UNKNOWN
    assert [u.node for u in report.unanalysed] == ["y", "z", "g"]


with (Path(__file__).parents[1] / "data" / "unknown_rank_nodes.tsv").open(encoding="utf-8", newline="") as _file:
    PEERS = list(csv.DictReader(_file, delimiter="\t"))


def peer_answer(row):
    """Return the outputs, the condition and how many nodes are left of a model of one node; of no model, its error."""
    values = dict(zip("abcdefghij", json.loads(row["inputs"]), strict=False))
    inputs, held = [], []
    for name, value in values.items():
        if value is not None and "value" in value:
            found = np.array(value["value"], dtype=helper.tensor_dtype_to_np_dtype(value["dtype"]))
            held.append(numpy_helper.from_array(found, name))
        elif value is not None:
            inputs.append(helper.make_tensor_value_info(name, value["dtype"], value["shape"]))
    outputs = [f"o{n}" for n in range(int(row["outputs"]))]
    given = ["" if value is None else name for name, value in values.items()]
    node = helper.make_node(row["op"], given, outputs, **json.loads(row["attributes"]))
    told = [onnx_package.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph([node], "g", inputs, told, held)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", int(row["opset"]))], ir_version=10)
    try:
        report = onnx.check(made)
    except sb.SymbcastError as error:
        return type(error).__name__, "", ""
    left = sum(not u.is_about_data for u in report.unanalysed)
    return "; ".join(str(report.shapes[name]) for name in outputs), str(report.condition), str(left)


@pytest.mark.parametrize("row", PEERS, ids=lambda row: row["test"])
def test_questions_of_others(row):
    assert peer_answer(row) == (row["shapes"], row["condition"], row["left"])
