"""Front ends: one of three operations has the walk, the condition, the findings, the formats and the command line."""

import json
import subprocess
import sys
from itertools import product

import jsonschema
import pytest
from toy_front_end import FRONT_END, REGISTERED

from symbcast.cli import Exit, run
from symbcast.graphs import registry
from symbcast.graphs.check import check_graph, names_in, read_question
from symbcast.graphs.inputs import NOTHING

MODEL = {
    "inputs": {"x": "N, 8", "w": "K, 4", "b": "M, 4", "more": "L, R"},
    "nodes": [
        ["matmul", ["x", "w"], "p", {}],
        ["add", ["p", "b"], "s", {}],
        ["concat", ["s", "more"], "all", {"axis": 0}],
    ],
    "outputs": ["all"],
}


@pytest.fixture
def toy(monkeypatch):
    """Register the front end for a test."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry._all.cache_clear()
    registry.register(REGISTERED)
    yield
    registry._all.cache_clear()


def written(tmp_path, model=MODEL):
    path = tmp_path / "model.toy"
    path.write_text(json.dumps(model), encoding="utf-8")
    return path


def ask(path, *assume, **known):
    asked = read_question(FRONT_END, assume, **known)
    return FRONT_END.report(check_graph(FRONT_END, FRONT_END.read(path, asked.runtime), asked))


def test_the_condition_is_exact(tmp_path):
    report = ask(written(tmp_path))
    assert report.verdict.value == "sometimes"
    assert str(report.shapes["p"]) == "(N, 4)"
    guard = report.guard()
    for n, k, m, r in product(range(1, 5), (1, 8), range(1, 5), (1, 4)):
        runs = k == 8 and r == 4 and (n == m or 1 in (n, m))
        assert guard(N=n, K=k, M=m, L=1, R=r) is runs


def test_what_a_caller_knows_is_taken_in(tmp_path):
    report = ask(written(tmp_path), "N == M", bind={"K": 8, "R": 4})
    assert (report.verdict.value, str(report.outputs["all"])) == ("always", "(L + N, 4)")
    assert names_in(FRONT_END, FRONT_END.read(written(tmp_path), "toy"), NOTHING).inputs == ("x", "w", "b", "more")


def test_an_operator_that_is_not_there_leaves_the_answer_open(tmp_path):
    report = ask(written(tmp_path, {"inputs": {"x": "N"}, "nodes": [["sort", ["x"], "y", {}]], "outputs": ["y"]}))
    assert report.verdict.value == "unknown"
    assert [(u.op_type, u.reason) for u in report.unanalysed] == [("sort", "the operator is not supported here")]


def test_its_data_fit_the_schema(tmp_path):
    report = ask(written(tmp_path))
    jsonschema.validate(report.to_dict(), report.json_schema())
    assert report.to_dict()["runtime"] == "toy"
    assert "what a toy does" in report.explain()


@pytest.mark.usefixtures("toy")
def test_the_command_line_reads_its_files(tmp_path, capsys):
    path = written(tmp_path)
    assert run(["model", str(path), "--bind", "K=8", "--bind", "R=4", "--fail-on", "never"]) == Exit.ALWAYS
    shown = capsys.readouterr().out
    assert "N equals M" in shown or "M equals N" in shown or "equal or 1" in shown
    assert run(["model", str(path), "--runtime", "spec"]) == Exit.USAGE
    assert "--runtime spec: it is toy" in capsys.readouterr().err
    assert run(["model", str(path), "--confirm"]) == Exit.USAGE
    assert "not for models of toy" in capsys.readouterr().err


@pytest.mark.parametrize(("module", "blocked"), [("openvino", "onnx"), ("torch", "onnx"), ("onnx", "openvino")])
def test_a_front_end_loads_no_other(module, blocked):
    pytest.importorskip(module)
    lines = [
        "import sys",
        f"sys.modules[{blocked!r}] = None",
        "import symbcast",
        f"import symbcast.{module}.front_end",
        f"found = [m for m in sys.modules if m.startswith('symbcast.{blocked}')]",
        "assert not found, found",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
