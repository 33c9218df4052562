"""Repeated nodes: a model has the same report whether or not nodes that differ only in names are examined once."""

from __future__ import annotations

import gzip
from pathlib import Path

import onnx
import pytest
from hypothesis import given, note, settings
from random_models.models import FAMILIES, RandomModel, random_models

import symbcast as sb
from symbcast.graphs.walking.walk import Repeats
from symbcast.onnx.session.initialization import _Initialization

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
few = settings(max_examples=max(settings().max_examples // 10, 1))


def thrice(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with the graph of another three times, on the same inputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    given = {i.name for i in model.graph.input}
    for n in (2, 3):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        onnx.compose.add_prefix_graph(copy.graph, f"again{n}_", rename_inputs=False, inplace=True)
        made.graph.node.extend(copy.graph.node)
        made.graph.output.extend(o for o in copy.graph.output if o.name not in given)
        made.graph.value_info.extend(copy.graph.value_info)
        held = {t.name for t in made.graph.initializer}
        made.graph.initializer.extend(t for t in copy.graph.initializer if t.name not in held)
    return made


def answers(model: onnx.ModelProto) -> list[object]:
    found: list[object] = []
    for runtime in ("onnxruntime", "spec"):
        try:
            report = sb.onnx.check(model, runtime=runtime)
        except sb.SymbcastError as error:
            found.append(str(error))
            continue
        found += [report.verdict, report.condition, dict(report.shapes), list(map(str, report.findings))]
        found += [list(map(str, report.unanalysed)), str(report)]
    return found


def check(model: onnx.ModelProto) -> None:
    repeated = answers(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Repeats, "key", lambda *_: None)
        patch.setattr(_Initialization, "_key", lambda *_: None)
        assert repeated == answers(model)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_models_have_the_same_report(family):
    def each(model: RandomModel) -> None:
        note(str(model))
        check(thrice(model.proto))

    few(given(random_models(family))(each))()


@pytest.mark.parametrize("name", ["bert", "bilstm", "conformer", "llama_past", "silero_vad"])
def test_real_models_have_the_same_report(name):
    check(onnx.load_model_from_string(gzip.decompress((FOLDER / f"{name}.onnx.gz").read_bytes())))


def test_each_copy_has_the_shapes_of_the_first():
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
    g (float[N, K] x, float[M] z) => (float[A, B] y) <int64[2] wanted = {-1, 4}> {
        r = Reshape(x, wanted)
        y = Add(r, z)
    }""")
    report = sb.onnx.check(thrice(model))
    assert report.condition == sb.onnx.check(model).condition
    assert report.shapes["y"] == report.shapes["again2_y"] == report.shapes["again3_y"]


def test_functions_of_one_name_are_told_apart_by_their_overload():
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 20, "d" : 1]>
    g (float[N] x) => (float[A] y, float[B] z, float[C] w) { y = d.f(x)  z = d.f(x)  w = d.f(x) }
    <domain: "d", opset_import: ["" : 20]> f (x) => (y) { y = Add(x, x) }
    <domain: "d", opset_import: ["" : 20]> f (x) => (y) { y = Concat<axis=0>(x, x) }""")
    for place, overload in ((model.functions, "ab"), (model.graph.node, "aab")):
        for one, name in zip(place, overload, strict=True):
            one.overload = name
    report = sb.onnx.check(model)
    assert (report.shapes["y"], report.shapes["z"], report.shapes["w"]) == (*[sb.shape("N")] * 2, sb.shape("2*N"))
