"""The stand-in for ONNX Runtime's symbolic shape tool, held against that tool, and the pass of onnx-ir."""

from __future__ import annotations

import gzip
import inspect
import json
import logging
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx.parser import parse_model
from symbolic_shape_tool import dims_of, graphs_of, inferred, shapes_of

import symbcast as sb
from symbcast.onnx.symbolic_shape_infer import SymbolicShapeInference, main

DATA = Path(__file__).parents[1] / "data" / "onnx"
RECORDED = json.loads(gzip.decompress((DATA / "symbolic_shape_infer.json.gz").read_bytes()))
RUNS = json.loads(gzip.decompress((DATA / "models" / "runs.json.gz").read_bytes()))
HEAD = '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> '
infer = SymbolicShapeInference.infer_shapes


def model_of(text):
    model = parse_model(HEAD + text)
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


def stored(name):
    return onnx.load_model_from_string(gzip.decompress((DATA / "models" / f"{name}.onnx.gz").read_bytes()))


# Against the tool.


FUNCTIONS = {"floor": math.floor, "ceiling": math.ceil, "Max": max, "Min": min, "max": max, "min": min}
FUNCTIONS |= {"broadcast": lambda *sizes: next((s for s in sizes if s != 1), 1), "Fraction": Fraction}


def at(dims, sizes):
    """Return a shape at some sizes; None for axes that they do not decide."""
    return [dim if isinstance(dim, int) or dim is None else evaluated(dim, sizes) for dim in dims]


def evaluated(text, sizes):
    # Names may have dots and numbers in them, so they get others.
    numbered = {name: f"size_{n}_" for n, name in enumerate(sorted(sizes, key=len, reverse=True))}
    for name, other in numbered.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", other, text)
    exact = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)\b", r"Fraction('\1')", text)
    try:
        return eval(exact, {"__builtins__": {}}, {**FUNCTIONS, **{numbered[name]: sizes[name] for name in sizes}})
    except NameError:
        return None


def sizes_of_names(inputs, shapes, sizes):
    """Return the sizes of the names in the shapes of inputs; None if these do not allow the sizes of a run."""
    names = {}
    for own, dims in ((shapes[name], dims) for name, dims in inputs.items()):
        for dim, axis in zip(own, dims, strict=True):
            size = sizes[axis] if isinstance(axis, str) else axis
            if (dim if isinstance(dim, int) else names.setdefault(dim, size)) != size:
                return None
    return names


def compared(name, auto_merge):
    """Yield each value, the tool's shape of it, ours, and the real one, at the sizes of runs that worked."""
    model = stored(name)
    inputs = {i.name: dims_of(i) for i in model.graph.input}
    theirs = RECORDED[name][str(auto_merge).lower()]["shapes"]
    ours = shapes_of(infer(model, auto_merge=auto_merge))
    for run in (run for run in RUNS[name] if not run["error"]):
        names = [sizes_of_names(inputs, shapes, run["sizes"]) for shapes in (theirs, ours)]
        for value, dims in theirs.items():
            assert value in ours, "the tool knows a shape that we do not"
            if None not in names and value not in inputs:
                shapes = [at(d, n) for d, n in zip((dims, ours[value]), names, strict=True)]
                yield value, *shapes, run["shapes"].get(value)


WRONG = {("ppocr_v4_det", True): 22}
"""How many values the tool gives a shape that a run contradicts: sizes that it merged, though they may differ."""


@pytest.mark.parametrize("auto_merge", [False, True])
@pytest.mark.parametrize("name", RECORDED)
def test_what_the_tool_knows_we_know_as_exactly(name, auto_merge):
    wrong = set()
    for value, theirs, ours, real in compared(name, auto_merge):
        if real is not None:
            assert len(ours) == len(real)
            assert all(size in (None, true) for size, true in zip(ours, real, strict=True))
        other = ours if real is None else real
        if len(theirs) != len(other) or any(
            None not in pair and pair[0] != pair[1] for pair in zip(theirs, other, strict=True)
        ):
            wrong.add(value)
        else:
            assert all(ours_at is not None for size, ours_at in zip(theirs, ours, strict=True) if size is not None)
    assert len(wrong) == WRONG.get((name, auto_merge), 0)


@pytest.mark.parametrize("name", ["bilstm", "unet_ct", "wespeaker"])
def test_the_tool_says_what_is_recorded(name, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)  # where the tool leaves an incomplete model
    for merge in (False, True):
        error, shapes = inferred(stored(name), merge)
        assert {"error": error, "shapes": shapes} == RECORDED[name][str(merge).lower()]


def test_a_size_that_float16_rounds_is_unknown():
    pytest.importorskip("onnxruntime")
    model = model_of("""g (float[H] x) => (float[a] y) <float zero = {0.0}, float one = {1.0}> {
        s = Shape(x)  q = Squeeze(s)  h = Cast <to = 10> (q)  f = Cast <to = 1> (h)  y = Range(zero, f, one) }""")
    assert inferred(model, False)[1]["y"] == ["H"]  # H = 2049 gives 2048 elements
    assert shapes_of(infer(model))["y"] == ["y_length"]


# Options.


def test_it_takes_what_the_tool_takes():
    tool = pytest.importorskip("onnxruntime.tools.symbolic_shape_infer").SymbolicShapeInference
    assert inspect.signature(infer).parameters.keys() == inspect.signature(tool.infer_shapes).parameters.keys()
    ours, theirs = (inspect.signature(f).parameters.values() for f in (infer, tool.infer_shapes))
    assert [p.default for p in ours] == [p.default for p in theirs]


def test_names_that_must_be_equal_are_merged():
    model = model_of("g (float[N, 4] x, float[M, 4] y, float[K, 4] z, float[3, 4] w) => (float[] r, float[] s) "
                     "{ r = Add(x, y)  s = Add(z, w) }")  # fmt: skip
    assert shapes_of(infer(model))["r"] == ["broadcast(M, N)", 4]
    merged = shapes_of(infer(model, auto_merge=True))
    assert [merged[n] for n in "xyzrs"] == [["N", 4], ["N", 4], [3, 4], ["N", 4], [3, 4]]


def test_computed_sizes_that_may_differ_are_not_merged():
    model = model_of("""g (float[H] x, float[W] y) => (float[] r) <int64[1] one = {1}, int64[1] end = {9999999999}> {
        s = Slice(x, one, end)  r = Add(s, y) }""")
    assert shapes_of(infer(model, auto_merge=True))["r"] == ["broadcast(W, H - 1)"]


def test_merging_that_leaves_no_sizes_is_left_out():
    model = model_of(
        "g (float[N] x, float[3] y, float[4] z) => (float[] r, float[] s) { r = Add(x, y)  s = Add(x, z) }"
    )
    assert shapes_of(infer(model, auto_merge=True))["x"] == shapes_of(infer(model))["x"]


SLICED = """g (float[N, 4] x) => (float[] y) <int64[1] s = {0}, int64[1] e = {1000}, int64[1] a = {0}> {
    y = Slice(x, s, e, a) }"""


@pytest.mark.parametrize(
    ("int_max", "size"), [(2**31 - 1, "min(N, 1000)"), (1001, "min(N, 1000)"), (1000, "N"), (9, "N")]
)
def test_slices_that_end_at_the_greatest_size_end_at_the_end(int_max, size):
    assert shapes_of(infer(model_of(SLICED), int_max))["y"] == [size, 4]


def test_a_minimum_of_other_sizes_stays():
    model = model_of("""g (float[N, N] x) => (float[] y) <int64[1] s = {0}, int64[1] e = {1000}, int64[1] a = {0},
        int64[1] flat = {-1}> { f = Reshape(x, flat)  y = Slice(f, s, e, a) }""")
    assert shapes_of(infer(model, 100))["y"] == ["min(N**2, 1000)"]
    assert shapes_of(infer(model, 31))["y"] == ["N**2"]


UNKNOWN = "g (float[N, 4] x) => (float[] z, float[] w) { h = own.A(x)  y = Add(h, x)  z = own.B(y)  w = Relu(z) }"


def test_an_unknown_operator_leaves_shapes_incomplete():
    with pytest.raises(sb.ModelError, match=r"Incomplete symbolic shape inference: .* after h \(A\), y \(Add\)"):
        infer(model_of(UNKNOWN))


def test_ranks_after_unknown_operators_are_guessed():
    model = model_of(UNKNOWN)
    made = infer(model, guess_output_rank=True)
    shapes = shapes_of(made)
    assert (shapes["h"], shapes["z"]) == (["h_dim_0", "h_dim_1"], ["z_dim_0", "z_dim_1"])
    assert shapes["y"] == ["broadcast(N, h_dim_0)", 4] and shapes["w"] == shapes["z"]
    assert [node.op_type for node in made.graph.node] == ["A", "Add", "B", "Relu"]
    assert [value.name for value in made.graph.input] == ["x"]
    onnx.checker.check_model(made)


def test_values_of_branches_and_their_constants_have_shapes():
    model = model_of("""g (bool c, float[N] x) => (float[] y) { y = If (c) <
        then_branch = t () => (float[] a) { k = Constant <value = float[1] {2.0}> ()  a = Mul(x, k) },
        else_branch = e () => (float[] b) { r = Relu(x)  b = Neg(r) }> }""")
    inner = {v.name: dims_of(v) for g in graphs_of(infer(model).graph) for v in (*g.value_info, *g.output)}
    assert (inner["k"], inner["a"], inner["r"]) == ([1], ["N"], ["N"])


def test_the_model_is_not_changed_and_others_raise():
    model = model_of(SLICED)
    before = model.SerializeToString()
    infer(model, 5, True, True)
    assert model.SerializeToString() == before
    with pytest.raises(sb.ModelError, match="no sizes work: y: "):
        infer(model_of("g (float[2] x, float[3] z) => (float[] y) { y = Add(x, z) }"))
    with pytest.raises(sb.ShapeTypeError, match="a model"):
        infer(7)


def test_what_is_logged(caplog):
    with caplog.at_level(logging.DEBUG):
        infer(model_of(SLICED), verbose=0)
        assert not caplog.records
        infer(model_of(UNKNOWN), guess_output_rank=True, verbose=3)
    assert "Relu" in caplog.text


# The command.


def test_the_command_writes_a_model(tmp_path, capsys):
    source, target = tmp_path / "in.onnx", tmp_path / "out" / "out.onnx"
    source.write_bytes(model_of(SLICED).SerializeToString())
    assert main(["--input", str(source), "--auto_merge", "--int_max", "1000"]) == 0
    assert main(["--input", str(source), "--output", str(target)]) == 1
    assert "No such file or directory" in capsys.readouterr().err
    target.parent.mkdir()
    assert main(["--input", str(source), "--output", str(target), "--int_max", "1000"]) == 0
    assert shapes_of(onnx.load(target))["y"] == ["N", 4]


def test_the_command_is_a_module(tmp_path):
    source = tmp_path / "in.onnx"
    source.write_bytes(model_of(UNKNOWN).SerializeToString())
    command = [sys.executable, "-m", "symbcast.onnx.symbolic_shape_infer", "--input", str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "") and "Incomplete symbolic shape inference" in run.stderr
    assert "Traceback" not in run.stderr and "Warning" not in run.stderr


def with_weights(folder):
    model = model_of("m (float[N, 1024] x) => (float[] y) <float[1024, 4] w> { y = MatMul(x, w) }")
    del model.graph.initializer[:]
    del model.graph.input[1:]
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [1024, 4], bytes(16384), raw=True))
    folder.mkdir()
    onnx.save_model(model, folder / "in.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    return folder / "in.onnx"


def test_weights_come_along(tmp_path, capsys):
    source, target = with_weights(tmp_path / "a"), tmp_path / "out.onnx"
    assert main(["--input", str(source), "--output", str(target)]) == 0
    onnx.checker.check_model(target)
    assert len(onnx.load(target).graph.initializer[0].raw_data) == 16384
    beside = ["--save_as_external_data", "--all_tensors_to_one_file", "--external_data_location", "data"]
    assert main(["--input", str(source), "--output", str(target), *beside]) == 0
    assert (tmp_path / "data").stat().st_size == 16384
    (source.parent / "weights").unlink()
    assert main(["--input", str(source)]) == 0
    assert main(["--input", str(source), "--output", str(target)]) == 1
    assert "weights" in capsys.readouterr().err


# A declaration of a weight that is out of date.


@pytest.mark.parametrize(("version", "is_read"), [(3, False), (4, True), (9, True)])
def test_old_declarations_of_weights_count_in_old_models_only(version, is_read):
    model = model_of("g (float[N, 3] x) => (float[] y) <float[3] w = {1.0, 2.0, 3.0}> { y = Mul(x, w) }")
    model.ir_version = version
    model.graph.value_info.append(helper.make_tensor_value_info("w", TensorProto.FLOAT16, [3]))
    if is_read:
        assert shapes_of(infer(model))["y"] == ["N", 3]
    else:
        with pytest.raises(sb.ModelError, match="different element type"):
            infer(model)
