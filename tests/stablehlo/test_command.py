"""``symbcast model`` on StableHLO modules: functions by name, and the options of all models."""

import json

import pytest

pytest.importorskip("jaxlib")

from symbcast.cli import Exit, run

TWO = """
func.func @encode(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
func.func @decode(%x: tensor<?x8xf32> loc("x"), %y: tensor<?x8xf32> loc("y")) -> tensor<?x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "two.mlir"
    path.write_text(TWO)
    return str(path)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--function", "encode"], Exit.ALWAYS),
        (["--function", "decode"], Exit.FAILS),
        (["--function=decode", "--fail-on", "never"], Exit.ALWAYS),
        (["--function=decode", "--assume", "x_0 == y_0"], Exit.ALWAYS),
        (["--function=decode", "--bind", "x_0=3", "--bind", "y_0=3"], Exit.ALWAYS),
        (["--function=decode", "--shapes", "x=N, 8", "--shapes", "y=N, 8", "-j", "2"], Exit.ALWAYS),
        (["--function=decode", "--runtime", "unasserted"], Exit.FAILS),
        (["--function", "encode", "--function", "decode"], Exit.USAGE),
    ],
)
def test_the_status_is_that_of_the_function(module, options, status):
    assert run(["model", module, *options]) == status


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "has no function main, but encode, decode; choose one by name (function=, or --function)"),
        (["--function", "main"], "has no function main; its functions are encode, decode"),
        (["--function=decode", "--confirm"], "--confirm is not for models of stablehlo; omit it"),
        (["--function=decode", "--output", "{folder}/out.mlir"], "--output is not for models of stablehlo; omit it"),
        (["--function=decode", "--bind", "z=3"], "no size in these models is named 'z'; there are x_0 and y_0"),
    ],
)
def test_what_cannot_be_done_is_said(module, tmp_path, capsys, options, problem):
    assert run(["model", module, *(o.format(folder=tmp_path) for o in options)]) == Exit.USAGE
    assert problem in " ".join(capsys.readouterr().err.replace("\n  tip:", ";").split())
    assert not (tmp_path / "out.mlir").exists()


def test_models_without_functions_by_name_refuse_the_option(tmp_path, capsys):
    pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    path.write_bytes(b"")
    assert run(["model", str(path), "--function", "main"]) == Exit.USAGE
    assert "--function is not for models of onnx; omit it for this model" in capsys.readouterr().err


def test_the_answer_about_another_function_is_not_resumed(module, tmp_path):
    results = str(tmp_path / "results.jsonl")
    assert run(["model", module, "--function", "encode", "--results", results]) == Exit.ALWAYS
    assert run(["model", module, "--function", "decode", "--results", results, "--resume"]) == Exit.FAILS


def test_findings_have_their_line_in_sarif(module, capsys):
    run(["model", module, "--function", "decode", "--format", "sarif"])
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("two.mlir")
    assert place["region"]["startLine"] == 6


def test_json_has_the_answer_about_the_function(module, capsys):
    run(["model", module, "--function", "decode", "--format", "json"])
    (report,) = json.loads(capsys.readouterr().out)["models"]
    assert (report["verdict"], report["condition"]) == ("sometimes", "x_0 == y_0")
