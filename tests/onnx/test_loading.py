"""Models as they come: what is read of them, and what is said of files that are none."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import onnx
import onnx_ir
import pytest
from google.protobuf import json_format, text_format
from onnx import numpy_helper
from onnx.parser import parse_model

import symbcast as sb
from symbcast.onnx.reader import load_model

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
reshaping (float[N, C] x) => (float[] y) <int64[3] target = {0, -1, 2}> { y = Reshape(x, target) }
"""
MODEL = parse_model(TEXT)
BYTES = MODEL.SerializeToString()


def without(*fields):
    model = onnx.ModelProto()
    model.CopyFrom(MODEL)
    for field in fields:
        model.ClearField(field)
    return model


def renamed(old: bytes, new: bytes) -> bytes:
    assert len(old) == len(new)
    assert old in BYTES
    return BYTES.replace(old, new)


AFTER_GRAPH = len(without("opset_import").SerializeToString())
LARGE = onnx.ModelProto()
LARGE.CopyFrom(MODEL)
LARGE.doc_string = "long " * 10_000

BAD = [
    ("empty", b"", "the file is empty; fetch it or export it again"),
    ("cut in the graph", BYTES[:-30], "is not an ONNX model, or is truncated or damaged"),
    ("cut before the graph", BYTES[:2], "is not an ONNX model, or is truncated or damaged"),
    ("cut after the graph", BYTES[:AFTER_GRAPH], "the model names no operator set; it may be truncated"),
    ("no graph", without("graph").SerializeToString(), "is not an ONNX model"),
    ("no IR version", without("ir_version").SerializeToString(), "is not an ONNX model"),
    ("no operator set", without("opset_import").SerializeToString(), "the model names no operator set"),
    ("a graph alone", MODEL.graph.SerializeToString(), "is not an ONNX model"),
    ("a tensor", MODEL.graph.initializer[0].SerializeToString(), "is not an ONNX model"),
    ("names that are none", renamed(b"Reshape", b"\xff" * 7), "names that are not valid text; it is damaged"),
    ("sizes whose names are none", renamed(b"\x01N", b"\x01\xff"), "names that are not valid text"),
    ("random bytes that parse", b"\x4a\x01\x00", "is not an ONNX model"),
    ("text", b"hello, world\n", "is text, not an ONNX model"),
    ("text in another script", ("\u0436" * 400).encode(), "is text, not an ONNX model"),
    ("a Git LFS pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a Git LFS pointer"),
    ("a web page", b"<!DOCTYPE html><html><body>not found</body></html>", "is a web page"),
    ("XML", b"<?xml version='1.0'?><net/>", "is XML"),
    (
        "a pickle",
        pickle.dumps({"weight": [1.0]}),
        "is a Python pickle, such as PyTorch writes; export the model to ONNX",
    ),
    ("a zip", None, "is a zip archive, such as PyTorch"),
    ("gzip", gzip.compress(BYTES), "is compressed by gzip; unzip it"),
    ("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(64), "is an HDF5 file"),
    ("GGUF", b"GGUF\x03" + bytes(64), "is a GGUF file"),
    ("TFLite", b"\x1c\0\0\0TFL3" + bytes(64), "is a LiteRT (TensorFlow Lite) model"),
    ("ORT", b"\x1c\0\0\0ORTM" + bytes(64), "in ONNX Runtime's own format; give the ONNX file"),
    ("safetensors", b'\x20\0\0\0\0\0\0\0{"w":{"dtype":"F32"}}', "in the safetensors format"),
    ("zeros", bytes(100), "is not an ONNX model"),
]


@pytest.mark.parametrize(("content", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_file_that_is_no_model_is_said_to_be_what_it_is(content, message, tmp_path):
    path = tmp_path / "model.onnx"
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data.pkl", b"")
    else:
        path.write_bytes(content)
    with pytest.raises(sb.ModelError) as caught:
        sb.onnx.check(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert caught.value.source == str(path)


def test_every_truncation_and_no_whole_model_is_refused(tmp_path):
    path = tmp_path / "model.onnx"
    for size in range(len(BYTES)):
        path.write_bytes(BYTES[:size])
        with pytest.raises(sb.ModelError):
            load_model(path)
    path.write_bytes(BYTES)
    assert load_model(path) == (str(path), MODEL)


def test_damage_is_an_error_or_a_model(tmp_path):
    path = tmp_path / "model.onnx"
    for place in range(len(BYTES)):
        for value in (0, 1, 0x7F, 0xFF):
            path.write_bytes(BYTES[:place] + bytes([value]) + BYTES[place + 1 :])
            try:
                source, model = load_model(path)
            except sb.ModelError:
                continue
            assert source == str(path)
            assert model.HasField("graph")


BAD_PATHS = [
    ("nothing.onnx", "there is no such file"),
    ("", "'': is not a path"),
    ("folder.onnx", "is a folder; give a model file in it"),
    ("file.onnx/model.onnx", "cannot be read: Not a directory"),
    ("loop.onnx", "cannot be read: Too many levels"),
    ("a\0b.onnx", "is not a path"),
    ("/dev/null", "is not a file"),
    ("text.onnx.gz", "is not gzip-compressed, although its name says so"),
    ("cut.onnx.gz", "is truncated or damaged: it cannot be unzipped"),
    ("damaged.onnx.gz", "is truncated or damaged: it cannot be unzipped"),
    ("large.onnx", "has 2 GB or more, which an ONNX file cannot hold; export it with its weights in a file"),
    ("other.json", "is not a model in the format of .json: "),
    ("broken.onnxtxt", "is not a model in the format of .onnxtxt: "),
    ("broken.textproto", "is not a model in the format of .textproto: "),
]


@pytest.mark.parametrize(("name", "message"), BAD_PATHS)
def test_a_path_that_leads_to_no_model(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    zipped = gzip.compress(LARGE.SerializeToString())
    Path("folder.onnx").mkdir()
    Path("file.onnx").write_bytes(BYTES)
    Path("loop.onnx").symlink_to("loop.onnx")
    Path("text.onnx.gz").write_bytes(b"hello")
    Path("cut.onnx.gz").write_bytes(zipped[:-10])
    Path("damaged.onnx.gz").write_bytes(zipped[:40] + bytes(20) + zipped[60:])
    Path("other.json").write_bytes(b'{"a": [1, \xff]}')
    Path("broken.onnxtxt").write_text(TEXT.replace("Reshape(", "Reshape)"))
    Path("broken.textproto").write_text("graph { node { op_type: } }")
    with Path("large.onnx").open("wb") as file:
        file.truncate(2**31)  # sparse: it takes no room
    with pytest.raises(sb.ModelError) as caught:
        load_model(name)
    assert message in str(caught.value)


WRITTEN = {
    "model.onnx": BYTES,
    "model.pb": BYTES,
    "model": BYTES,
    "model.onnx.gz": gzip.compress(BYTES),
    "model.onnxtxt": TEXT.encode(),
    "model.json": json_format.MessageToJson(MODEL).encode(),
    "model.textproto": text_format.MessageToString(MODEL).encode(),
    "model.textproto.gz": gzip.compress(text_format.MessageToString(MODEL).encode()),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_formats(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(WRITTEN[name])
    assert load_model(path) == (str(path), MODEL)
    assert load_model(str(path)) == (str(path), MODEL)
    assert load_model(os.fsencode(path).decode()) == (str(path), MODEL)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'wb').write({BYTES!r})"]):
        assert load_model(path)[1] == MODEL


def test_a_proto_is_used_as_it_is():
    before = MODEL.SerializeToString()
    source, model = load_model(MODEL)
    assert model is MODEL
    assert source == "reshaping"
    sb.onnx.check(MODEL)
    assert MODEL.SerializeToString() == before


def test_an_onnx_ir_model_is_read():
    source, model = load_model(onnx_ir.from_proto(MODEL))
    assert source == "reshaping"
    assert [n.op_type for n in model.graph.node] == ["Reshape"]
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [0, -1, 2]


@pytest.mark.parametrize("model", [None, 3, b"model.onnx", MODEL.graph, object()], ids=lambda m: type(m).__name__)
def test_other_things_are_no_models(model):
    with pytest.raises(sb.ShapeTypeError, match=r"is not a model; give the path of one, an onnx\.ModelProto"):
        load_model(model)


@pytest.mark.parametrize(("fields", "message"), [(("graph",), "no graph"), (("opset_import",), "no operator set")])
def test_a_proto_that_is_no_model(fields, message):
    with pytest.raises(sb.ModelError, match=message):
        load_model(without(*fields))


def test_a_model_from_before_operator_sets():
    model = without("opset_import")
    model.ir_version = 2
    assert load_model(model)[1] is model


def test_several_models_are_for_check_many():
    with pytest.raises(sb.ShapeTypeError, match=r"is not a model; for several models, write check_many\(\[\.\.\.\]\)"):
        load_model([MODEL])


def test_the_extra_is_named(monkeypatch):
    for module in [m for m in sys.modules if m.partition(".")[0] == "onnx"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(sb.MissingExtraError, match=r"symbcast\.onnx needs the extra onnx: .* '\.\[onnx\]'"):
        load_model("model.onnx")
