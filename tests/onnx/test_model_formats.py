"""What ``symbcast model`` says to other programs: JSON, SARIF and the commands of GitHub's workflows."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import jsonschema
import onnx
import pytest

import symbcast as sb
from symbcast.answers import outcomes
from symbcast.answers.explanation.words import Namer
from symbcast.answers.outcomes import CheckOutcome
from symbcast.cli import Exit, run
from symbcast.core.algebra.formulas import at_most
from symbcast.graphs.report.findings import Finding
from symbcast.graphs.report.presentation import notice_of
from symbcast.onnx.report import Confirmation, disagreements

SCHEMA = Path(__file__).parents[1] / "data" / "sarif-2.1.0.schema.json.gz"


def test_json_is_one_document(models, capsys):
    assert run(["model", "broken.onnx", "sometimes.onnx", "always.onnx", "--format", "json"]) == Exit.USAGE
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert data["models"] == [sb.onnx.check(f"{name}.onnx").to_dict() for name in ("sometimes", "always")]
    (error,) = data["errors"]
    assert error["source"] == "broken.onnx"
    assert error["problem"] == "is text, not an ONNX model"
    assert err == f"error: broken.onnx: {error['problem']}\n  tip: {error['hint']}\n"


def test_sarif_is_valid_and_says_it_all(models, capsys):
    Path("a b#c.onnx").write_bytes(Path("never.onnx").read_bytes())
    run(["model", ".", str(models / "always.onnx"), "--format", "sarif"])
    log = json.loads(capsys.readouterr().out)
    schema = json.loads(gzip.decompress(SCHEMA.read_bytes()))
    jsonschema.validate(log, schema)
    (found,) = log["runs"]
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    told = [
        (
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            r["ruleId"],
            r["level"],
            r["locations"][0].get("logicalLocations", [{"name": ""}])[0]["name"],
        )
        for r in found["results"]
    ]
    assert told == [
        ("a%20b%23c.onnx", "broadcast", "error", "y"),
        ("never.onnx", "broadcast", "error", "y"),
        ("sometimes.onnx", "broadcast", "warning", "add_1"),
        ("unknown.onnx", "unanalysed", "note", "h"),
        ("unknown.onnx", "unanalysed", "note", "y"),
        ("unknown.onnx", "undecided", "note", ""),
    ]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in found["results"])
    artifacts = [a["location"]["uri"] for a in found["artifacts"]]
    assert artifacts[-1] == (models / "always.onnx").as_uri()
    for r in found["results"]:
        artifact = r["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifacts[artifact["index"]] == artifact["uri"]
    (invocation,) = found["invocations"]
    assert not invocation["executionSuccessful"]
    (problem,) = invocation["toolExecutionNotifications"]
    assert problem["message"]["text"].startswith("broken.onnx: is text, not an ONNX model")
    log["runs"][0]["results"][0]["level"] = "bad"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, schema)


def test_github_annotates_the_files(models, capsys):
    run(["model", ".", "--format", "github"])
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split("::")[1] for line in lines]
    assert heads == [
        "error file=broken.onnx,title=the model could not be checked",
        "error file=never.onnx,title=Mul y",
        "warning file=sometimes.onnx,title=Add add_1",
        "notice file=unknown.onnx,title=the model",
        "notice file=unknown.onnx,title=nodes that were not analysed",
    ]
    message = lines[2].split("::", 2)[2]
    assert "%0Afails at N=" in message
    assert "operands: h (N, 3), b (M, 1)" in message


def test_what_is_about_data_and_what_the_runtime_denies_has_its_place_in_each_format():
    k, n = sb.shape("K, N").dims
    finding = Finding(
        operation="n",
        kind="TopK",
        operands=(("a", None), ("b", sb.shape("N")), ("c", sb.shape("2"))),
        contents=(None, None, (n, -1)),
        shown=(0, 1, 2),
        formula=at_most(k, n),
        text="K <= N",
        words="K is at most N",
        failing={"N": 1, "K": 2},
        is_about_data=True,
    )
    notice = notice_of(finding, "warning", Namer.of({}))
    text = "data must be such that K is at most N\noperands: a of unknown shape, b (N,), c = [N, -1]"
    assert (notice.kind.id, *notice[1:]) == ("TopK", "note", "n", "TopK", f"{text}\nfails at N=1, K=2", None)
    denied = Confirmation({"N": 1}, "runs", "error", False, "it failed")
    outcome = CheckOutcome("m.onnx", "always", notices=(notice, *disagreements([denied])), subject="the model")
    log = outcomes.sarif_document([outcome])
    jsonschema.validate(log, json.loads(gzip.decompress(SCHEMA.read_bytes())))
    (found,) = log["runs"]
    assert [r["defaultConfiguration"]["level"] for r in found["tool"]["driver"]["rules"]] == ["warning", "error"]
    assert [r["level"] for r in found["results"]] == ["note", "error"]
    assert list(outcomes.github_commands(outcome)) == [
        f"::notice file=m.onnx,title=TopK n::{text}%0Afails at N=1, K=2".replace("\n", "%0A"),
        "::error file=m.onnx,title=the model::ONNX Runtime DISAGREES: at N=1 it should run; it failed: error",
    ]


def test_what_has_a_meaning_in_a_command_is_escaped(models, capsys):
    model = onnx.load("sometimes.onnx")
    model.graph.node[1].name = "a,b:c\n50%"
    Path("x,y.onnx").write_bytes(model.SerializeToString())
    run(["model", "x,y.onnx", "--format", "github"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::warning file=x%2Cy.onnx,title=Add a%2Cb%3Ac%0A50%25::")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_names_that_are_no_text(format, models, capfd):
    inner = Path(os.fsdecode(b"sub/\xff"))
    inner.mkdir(parents=True)
    (inner / "m.onnx").write_bytes(Path("never.onnx").read_bytes())
    assert run(["model", "sub", "never.onnx", "--format", format, "-j", "2"]) == Exit.FAILS
    out, err = capfd.readouterr()
    assert not err
    assert {"text": "sub/\\udcff/", "github": "sub/\\udcff/", "json": "sub/\\udcff/", "sarif": "sub/%FF/"}[
        format
    ] in out


def test_what_steers_terminals_is_shown_as_escapes(models, capsys):
    model = onnx.load("sometimes.onnx")
    model.graph.node[1].name = "a\x1b[2Jb\r"
    Path("sometimes.onnx").write_bytes(model.SerializeToString())
    run(["model", "sometimes.onnx", "never.onnx"])
    out = capsys.readouterr().out
    assert "a\\x1b[2Jb" in out
    assert "\x1b" not in out
    assert "\r" not in out
