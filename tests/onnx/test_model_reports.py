"""Reports about real models: short, true at the sizes they name, and confirmed by ONNX Runtime."""

import gzip
from functools import cache
from pathlib import Path

import jsonschema
import onnx
import pytest

import symbcast as sb
from symbcast import onnx as models

FOLDER = Path(__file__).parents[1] / "data" / "onnx" / "models"
NAMES = sorted(path.name.removesuffix(".onnx.gz") for path in FOLDER.glob("*.onnx.gz"))

BLAMED = {
    "bert": (
        {"node_add_18", "node_GatherND_75"},
        "give attention_mask axis 0 the size of input_ids axis 0 (s86 = s10)",
    ),
    "bilstm": ({"node_Reshape_296"}, "baked into"),
    "gpt2": ({"node_embedding_1", "node_matmul_1"}, "attention_mask axis 0"),
    "llama_past": ({"/m/model/Gather_4"}, "attention_mask axis 1"),
    "resnet50": ({"n173"}, "baked into initializer OC2_DUMMY_1 fixes"),
    "unet_ct": ({"node_cat_2"}, "to a multiple of 8"),
}
"""Nodes that ONNX Runtime names when the model fails, and words of what is to be done about it."""


@cache
def report(name: str) -> sb.onnx.ModelReport:
    data = gzip.decompress((FOLDER / f"{name}.onnx.gz").read_bytes())
    return models.check(onnx.load_model_from_string(data), runtime="onnxruntime")


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_fits_on_a_screen(name):
    lines = report(name).explain().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    for finding in report(name).findings[:1]:
        assert finding.sizes_there.partition(" beside ")[0][:40] in report(name).explain()


@pytest.mark.parametrize("name", NAMES)
def test_the_guard_tells_where_it_fails(name):
    found = report(name)
    guard = found.guard()
    assert guard(found.witness())
    for finding in found.findings:
        if not finding.is_about_data:
            assert not guard(finding.counterexample)


@pytest.mark.parametrize("name", NAMES)
def test_data_are_as_the_schema_says(name):
    jsonschema.validate(report(name).to_dict(), models.ModelReport.json_schema())


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_model_is_a_model(name):
    made = report(name).annotate()
    onnx.checker.check_model(made)
    shapes = report(name).shapes
    declared = {v.name for v in (*made.graph.value_info, *made.graph.output)}
    assert {n for node in made.graph.node for n in node.output if n and shapes[n] is not None} <= declared


@pytest.mark.parametrize("name", NAMES)
def test_the_runtime_agrees(name):
    pytest.importorskip("onnxruntime")
    for confirmation in report(name).confirm():
        assert confirmation.agrees is not False, str(confirmation)
        assert confirmation.agrees or (confirmation.reason and name not in BLAMED), str(confirmation)


@pytest.mark.parametrize("name", sorted(BLAMED))
def test_the_node_is_named_and_what_to_do(name):
    nodes, words = BLAMED[name]
    found = report(name).findings
    assert nodes <= {share.node for f in found for share in (f, *f.together)}
    assert words in " ".join(report(name).explain().split())
