"""Tensors whose data lie beside a model: the small ones are read, weights are left where they are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnx.parser import parse_model

import symbcast as sb
from symbcast.onnx.reader import load_model

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
reshaping (float[N, C] x) => (float[] y) <int64[3] target = {0, -1, 2}> { y = Reshape(x, target) }
"""
MODEL = parse_model(TEXT)


def with_external_target(folder: Path, **entries) -> Path:
    """Write the model with the data of its initializer in a file, or with other entries about where they are."""
    model = onnx.ModelProto()
    model.CopyFrom(MODEL)
    held = model.graph.initializer[0]
    data = numpy_helper.to_array(held).tobytes()
    held.CopyFrom(TensorProto(name=held.name, dims=held.dims, data_type=held.data_type, raw_data=data))
    set_external_data(held, **{"location": "target.data", "offset": 16, "length": len(data), **entries})
    held.ClearField("raw_data")
    folder.mkdir(exist_ok=True)
    (folder / "target.data").write_bytes(bytes(16) + data + bytes(16))
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def target_of(path) -> list[int] | None:
    held = load_model(path)[1].graph.initializer[0]
    return None if held.data_location == TensorProto.EXTERNAL else numpy_helper.to_array(held).tolist()


def test_small_tensors_beside_the_model_are_read(tmp_path):
    path = with_external_target(tmp_path)
    assert target_of(path) == [0, -1, 2]
    assert str(sb.onnx.check(path).shapes["y"]) == str(sb.onnx.check(MODEL).shapes["y"])
    assert target_of(onnx_ir.load(path)) == [0, -1, 2]


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "missing.data"},
        {"location": ""},
        {"location": "."},
        {"location": "../target.data"},
        {"location": "link.data"},
        {"location": "a\0b"},
        {"offset": 40},
        {"offset": -1},
        {"offset": "x"},
        {"length": 8},
        {"length": -1},
    ],
    ids=str,
)
def test_what_is_not_there_or_not_the_models_is_not_read(entries, tmp_path):
    with_external_target(tmp_path)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.data").symlink_to(tmp_path / "target.data")
    assert target_of(_with_entries(inner, entries)) is None


def _with_entries(folder, entries):
    path = with_external_target(folder)
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        entry.value = str(entries.get(entry.key, entry.value))
    path.write_bytes(model.SerializeToString())
    return path


def test_an_absolute_location_is_not_read(tmp_path):
    assert target_of(_with_entries(tmp_path, {"location": str(tmp_path / "target.data")})) is None


def test_a_cache_of_links_is_read(tmp_path):
    path = with_external_target(tmp_path / "blobs")
    cache = tmp_path / "snapshot"
    cache.mkdir()
    for name in ("model.onnx", "target.data"):
        (cache / name).symlink_to(path.parent / name)
    assert target_of(cache / "model.onnx") == [0, -1, 2]


def large_model() -> onnx.ModelProto:
    """Return a model of 3 GB, with two weights and a target in a file beside it."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in [("x", ["N", 16384]), ("y", None)])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["z"]),
        helper.make_node("Reshape", ["z", "target"], ["y"]),
    ]
    held = []
    end = 0
    for name, kind, dims in [("w", 1, (16384, 49152)), ("b", 1, (49152,)), ("target", 7, (3,))]:
        length = int(np.prod(dims)) * (8 if kind == 7 else 4)
        tensor = TensorProto(name=name, data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": "weights.data", "offset": end, "length": length}.items():
            tensor.external_data.add(key=key, value=str(value))
        end += length
        held.append(tensor)
    return helper.make_model(
        helper.make_graph(nodes, "large", [x], [y], held), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )


def test_weights_of_gigabytes_are_left_where_they_are(tmp_path):
    path = tmp_path / "large.onnx"
    path.write_bytes(large_model().SerializeToString())
    assert [str(d) for d in sb.onnx.check(path).shapes["z"]] == ["N", "49152"]
    with (tmp_path / "weights.data").open("wb") as file:
        file.truncate(16384 * 49152 * 4 + 49152 * 4)  # sparse: it takes no room
        file.seek(0, os.SEEK_END)
        file.write(np.array([-1, 3, 16384]).tobytes())
    report = sb.onnx.check(path)
    assert [str(d) for d in report.shapes["y"]] == ["N", "3", "16384"]
    assert not report.unanalysed
