"""The pass of onnx-ir that writes shapes into a model, alone and among other passes."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx_ir.passes.common import IdentityEliminationPass, ShapeInferencePass, TopologicalSortPass

import symbcast as sb
from symbcast.adapters import onnx_ir as adapter
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at
from symbcast.onnx import passes
from symbcast.onnx.passes import SymbolicShapeInferencePass

MODELS = Path(__file__).parents[1] / "data" / "onnx" / "models"
HEAD = '<ir_version: 9, opset_import: ["" : 18]> '


def model_of(text):
    return ir.from_onnx_text(HEAD + text)


def stored(name):
    return ir.from_proto(onnx.load_model_from_string(gzip.decompress((MODELS / f"{name}.onnx.gz").read_bytes())))


def shapes_of(model):
    return {v.name: v.shape for g in model.graphs() for node in g for v in node.outputs}


@pytest.mark.parametrize("name", ["bilstm", "silero_vad", "unet_ct"])
def test_it_writes_what_the_report_says(name):
    model, shapes = stored(name), SymbolicShapeInferencePass(runtime="onnxruntime")
    assert shapes(model).model is model
    written, names = shapes_of(model), {}
    for value, shape in shapes.report.shapes.items():
        if shape is None or written.get(value) is None:
            continue
        for dim, size in zip(shape.dims, adapter.read(written[value]).dims, strict=True):
            names.setdefault(size, set()).add(dim)
    known = {s.name for dims in names.values() for d in dims if not isinstance(d, int) for s in d.symbols()}
    for size, dims in names.items():
        (dim,) = dims
        if isinstance(size, int) or {s.name for s in size.symbols()} <= known:
            for number in (64, 97, 640):
                sizes = {symbol(n): number + len(n) for n in known}
                assert size_at(size, sizes) == size_at(dim, sizes)
    assert not shapes(model).modified


def test_it_works_between_other_passes():
    model = model_of("""g (float[N, T, D] x) => (float[a, b, c, d] z) <int64[4] wanted = {0, 0, 8, -1}> {
        i = Identity(x)  y = Reshape(i, wanted)  z = Relu(y) }""")
    shapes = SymbolicShapeInferencePass(assume=["D % 8 == 0"])
    result = ir.passes.Sequential(ShapeInferencePass(), IdentityEliminationPass(), shapes, TopologicalSortPass())(model)
    assert result.modified and result.model is model
    assert {n: str(s) for n, s in shapes_of(model).items()} == dict.fromkeys("yz", "[N,T,8,floor(D/8)]")
    assert shapes.report.verdict is sb.Verdict.ALWAYS
    assert not shapes(model).modified


def test_sizes_that_onnx_ir_cannot_express_share_a_name():
    model = model_of(
        "g (float[N] x, float[M] y) => (float[a] z, float[b] w) { z = Add(x, y)  w = Concat <axis = 0> (z, x) }"
    )
    SymbolicShapeInferencePass()(model)
    assert {n: str(s) for n, s in shapes_of(model).items()} == {"z": "[z_dim_0]", "w": "[w_dim_0]"}
    model = model_of("g (float[N] x, float[M] y) => (float[a] z, float[b] w) { z = Add(x, y)  w = Relu(z) }")
    SymbolicShapeInferencePass()(model)
    assert {n: str(s) for n, s in shapes_of(model).items()} == {"z": "[z_dim_0]", "w": "[z_dim_0]"}


def test_inputs_get_names_and_what_is_bound():
    model = model_of(
        'g (float["", 4] x, float["a-b", K] y) => (float[p, q] r, float[s, t] u) { r = Relu(x)  u = Neg(y) }'
    )
    SymbolicShapeInferencePass(bind={"K": 3})(model)
    assert [str(v.shape) for v in model.graph.inputs] == ["[x_dim_0,4]", "[a-b,3]"]
    assert [str(v.shape) for v in model.graph.outputs] == ["[x_dim_0,4]", "[a-b,3]"]


def test_names_of_sizes_that_data_decide_stay():
    model = model_of(
        "g (float[N] x) => (int64[1, found] i, float[1, found] f) { i = NonZero(x)  f = Cast <to = 1> (i) }"
    )
    SymbolicShapeInferencePass()(model)
    assert [str(v.shape) for v in model.graph.outputs] == ["[1,found]"] * 2


def test_values_of_branches_have_shapes():
    model = model_of("""g (bool c, float[N] x) => (float[y1] y) { y = If (c) <
        then_branch = t () => (float[a1] a) { k = Concat <axis = 0> (x, x)  a = Neg(k) },
        else_branch = e () => (float[b1] b) { r = Relu(x)  b = Concat <axis = 0> (r, r) }> }""")
    SymbolicShapeInferencePass()(model)
    assert {n: str(s) for n, s in shapes_of(model).items()} == {
        "y": "[2*N]", "k": "[2*N]", "a": "[2*N]", "r": "[N]", "b": "[2*N]",
    }  # fmt: skip


def test_errors_are_those_of_the_check():
    model = model_of("g (float[N] x) => (float[a] y) { y = Relu(x) }")
    with pytest.raises(ir.passes.PassError) as error:
        ir.passes.Sequential(SymbolicShapeInferencePass(bind={"Q": 1}))(model)
    assert isinstance(error.value.__cause__, sb.BindingError)


# Weights.


def unread():
    raise AssertionError("the weights were read")


def with_weight(tensor):
    """Return a model that multiplies by a weight."""
    model = model_of("g (float[N, 1024] x, float[1024, 1024] w) => (float[a, b] y) { y = MatMul(x, w) }")
    weight = model.graph.inputs.pop()
    weight.const_value = tensor
    model.graph.register_initializer(weight)
    return model, weight


def test_weights_in_memory_are_not_read_and_stay():
    tensor = ir.LazyTensor(unread, ir.DataType.FLOAT, ir.Shape([1024, 1024]), name="w")
    model, weight = with_weight(tensor)
    SymbolicShapeInferencePass()(model)
    assert str(model.graph.outputs[0].shape) == "[N,1024]"
    assert weight.const_value is tensor
    with pytest.raises(sb.BindingError):
        SymbolicShapeInferencePass(bind={"Q": 1})(model)
    assert weight.const_value is tensor


def test_weights_in_files_are_not_read(tmp_path):
    model, _ = with_weight(ir.tensor(np.ones((1024, 1024), np.float32), name="w"))
    ir.save(model, tmp_path / "m.onnx", external_data="weights")
    (tmp_path / "weights").unlink()
    loaded = ir.load(tmp_path / "m.onnx")
    SymbolicShapeInferencePass()(loaded)
    assert str(loaded.graph.outputs[0].shape) == "[N,1024]"
    assert isinstance(loaded.graph.initializers["w"].const_value, ir.ExternalTensor)


def test_without_onnx_ir_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx_ir", None)
    with pytest.raises(sb.MissingExtraError, match=r"symbcast\[onnx-ir\]"):
        importlib.reload(passes)
    monkeypatch.undo()
    importlib.reload(passes)
