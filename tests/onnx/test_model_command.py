"""``symbcast model``: what it says in words, what it writes, and with which exit status it ends."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from model_files import HEAD
from onnx.parser import parse_model

import symbcast as sb
from symbcast.cli import Exit, run
from symbcast.graphs.check import check_graph

STATUSES = [
    (["always.onnx"], Exit.ALWAYS),
    (["sometimes.onnx"], Exit.FAILS),
    (["sometimes.onnx", "--fail-on", "never"], Exit.ALWAYS),
    (["sometimes.onnx", "--fail-on", "unknown"], Exit.FAILS),
    (["sometimes.onnx", "--assume", "N == M"], Exit.ALWAYS),
    (["sometimes.onnx", "--assume=N >= 2", "--assume", "M == 1"], Exit.ALWAYS),
    (["sometimes.onnx", "--assume", "-N + M == 0"], Exit.ALWAYS),
    (["sometimes.onnx", "--bind", "N=4", "--bind", "M=1"], Exit.ALWAYS),
    (["sometimes.onnx", "--bind", "N = 4", "--bind=M=3"], Exit.FAILS),
    (["sometimes.onnx", "--bind", "N=0", "--bind", "M=0", "--min-size", "0"], Exit.ALWAYS),
    (["never.onnx"], Exit.FAILS),
    (["never.onnx", "--fail-on", "never"], Exit.FAILS),
    (["unknown.onnx"], Exit.UNDECIDED),
    (["unknown.onnx", "--fail-on", "unknown"], Exit.FAILS),
    (["unknown.onnx", "--fail-on", "never"], Exit.UNDECIDED),
    (["always.onnx", "unknown.onnx"], Exit.UNDECIDED),
    (["always.onnx", "unknown.onnx", "never.onnx"], Exit.FAILS),
    (["always.onnx", "sometimes.onnx", "--bind", "M=1"], Exit.ALWAYS),
    (["always.onnx", "broken.onnx"], Exit.USAGE),
    (["broken.onnx", "never.onnx"], Exit.USAGE),
    (["."], Exit.USAGE),
    (["--runtime", "onnxruntime", "--", "always.onnx"], Exit.ALWAYS),
]


@pytest.mark.parametrize(("arguments", "status"), STATUSES, ids=[" ".join(s[0]) for s in STATUSES])
@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_status(arguments, status, format, models, capsys):
    assert run(["model", f"--format={format}", *arguments]) == status
    out, err = capsys.readouterr()
    assert out or (format == "github" and status is Exit.ALWAYS)
    assert "\x1b" not in out
    assert bool(err) == (status is Exit.USAGE and format in ("json", "sarif"))


WRONG = [
    ([], "give one model or more, or a folder of them"),
    (["--bogus", "always.onnx"], "--bogus"),
    (["always.onnx", "--format", "xml"], "xml"),
    (["always.onnx", "--runtime", "tvm"], "tvm"),
    (["always.onnx", "--fail-on", "always"], "always"),
    (["always.onnx", "--min-size", "-1"], "not negative"),
    (["always.onnx", "-j", "x"], "-j"),
    (["always.onnx", "--jobs", "-2"], "give 1 or more processes, or 0 for one per core"),
    (["always.onnx", "--bind", "N"], "write a name and its size, as in --bind"),
    (["always.onnx", "--bind", "N="], "write a name and its size"),
    (["always.onnx", "--bind", "=4"], "write a name and its size"),
    (["always.onnx", "--bind", "N=-4"], "a size is not negative"),
    (["always.onnx", "--bind", "N=M"], "M is not a number; write --bind N=4"),
    (["always.onnx", "--bind", "N=0"], "sizes are at least 1; add --min-size 0"),
    (["always.onnx", "--bind", "N=1", "--bind", "N=2"], "N is 1 already"),
    (["always.onnx", "--bind", "batch=1"], "no size in these models is named 'batch'; There is N"),
    (["sometimes.onnx", "--bind", "n=1"], "no size in these models is named 'n'; did you mean 'N'? There are N and M"),
    (["sometimes.onnx", "always.onnx", "--bind", "K=1"], "'K'; There are N and M"),
    (["always.onnx", "--assume", "batch >= 2"], "no size in these models is named 'batch'"),
    (["always.onnx", "--assume", "N >="], "    N >=\n        ^"),
    (["always.onnx", "--assume", "N < 2", "--assume", "N > 3"], "contradict"),
    (["always.onnx", "--assume", "N == 0"], "contradict"),
    (["always.onnx", "never.onnx", "--output", "always.onnx"], "is a file; name a folder for several models"),
    (["always.onnx", "--output", "always.onnx"], "would write over always.onnx"),
    (["always.onnx", "never.onnx", "--output", "."], "would write over always.onnx"),
    (["always.onnx", "always.onnx.gz", "--output", "out"], "would write both always.onnx and always.onnx.gz"),
    (["missing.onnx"], "missing.onnx: there is no such file"),
    (["broken.onnx"], "broken.onnx: is text, not an ONNX model"),
    (["empty"], "empty: is a folder without models (.onnx, .mlir, .pt2, .tflite, or .xml of OpenVINO)"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(w[0]) for w in WRONG])
def test_wrong_usage_is_one_message_on_stderr(arguments, message, models, capsys):
    Path("empty").mkdir()
    assert run(["model", *arguments]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert message.lower() in err.replace("\n  tip: ", "; ").lower()
    assert len(err.splitlines()) <= 4


def test_text_is_the_report_in_words(models, capsys):
    run(["model", "sometimes.onnx"])
    assert capsys.readouterr().out == f"{sb.onnx.check('sometimes.onnx').explain()}\n"


def test_several_models_are_summed_up(models, capsys):
    run(["model", "."])
    out, err = capsys.readouterr()
    assert not err
    reports, table = out.split("\nmodel ")
    told = ["always", "broken", "never", "sometimes", "unknown"]
    assert [line.partition(".")[0] for line in reports.splitlines() if ".onnx: " in line] == told
    rows = [line.split()[:2] for line in table.splitlines()[1:-1]]
    assert rows == [[f"{name}.onnx", {"unknown": "undecided"}.get(name, name)] for name in told]
    assert table.splitlines()[-1] == "5 models: 1 always, 1 sometimes, 1 never, 1 undecided, 1 broken"


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_reports_are_as_wide_as_the_terminal(columns, models, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    run(["model", "sometimes.onnx", "unknown.onnx", "broken.onnx"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    said = " ".join(out.split())
    assert all(
        label in said for label in ("runs when", "needed by", "not checked", "3 models: 1 sometimes, 1 undecided")
    )


def test_folders_are_searched_and_nothing_is_checked_twice(models, capsys):
    inner = Path("sub/deeper")
    inner.mkdir(parents=True)
    for name in ("b.onnx", "a.ONNX", "notes.txt"):
        (inner / name).write_bytes(Path("always.onnx").read_bytes())
    Path("broken.onnx").unlink()
    run(["model", "sub", "never.onnx", ".", "--format", "json"])
    sources = [m["source"] for m in json.loads(capsys.readouterr().out)["models"]]
    nested = [str(inner / "a.ONNX"), str(inner / "b.onnx")]
    assert sources == [*nested, "never.onnx", "always.onnx", "sometimes.onnx", "unknown.onnx"]


# What is written.


def test_output_of_one_model_is_a_file(models):
    assert run(["model", "sometimes.onnx", "--output", "new/out.onnx"]) == Exit.FAILS
    made = onnx.load("new/out.onnx")
    (info,) = made.graph.value_info
    assert info.name == "h"
    assert [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim] == ["N", 3]
    onnx.checker.check_model(made)


def test_output_of_several_models_is_a_folder(models):
    Path("sub").mkdir()
    Path("sub/always.onnx").write_bytes(Path("always.onnx").read_bytes())
    Path("sub/zipped.onnx.gz").write_bytes(gzip.compress(Path("never.onnx").read_bytes()))
    assert run(["model", ".", "sub/zipped.onnx.gz", "--output", "out"]) == Exit.USAGE
    written = sorted(str(p) for p in Path("out").rglob("*") if p.is_file())
    names = ["always.onnx", "never.onnx", "sometimes.onnx", "sub/always.onnx", "sub/zipped.onnx", "unknown.onnx"]
    assert written == [f"out/{name}" for name in names]


def test_output_of_a_folder_with_one_model_is_a_folder(models):
    Path("sub").mkdir()
    Path("sub/one.onnx").write_bytes(Path("always.onnx").read_bytes())
    assert run(["model", "sub", "--output", "out"]) == Exit.ALWAYS
    assert Path("out/one.onnx").is_file()


def test_output_that_cannot_be_written_is_said_and_the_report_stays(models, capsys):
    Path("file").write_text("")
    assert run(["model", "always.onnx", "--output", "file/out.onnx"]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out.startswith("always.onnx: runs for all sizes")
    assert "always.onnx: the annotated model cannot be written to file/out.onnx: " in err


def test_weights_that_stay_behind_are_told_of(models, capsys):
    model = parse_model(HEAD + "m (float[N, 1024] x) => (float[] y) <float[1024, 1024] w> { y = MatMul(x, w) }")
    del model.graph.initializer[:]
    held = model.graph.initializer.add(name="w", data_type=1, dims=[1024, 1024], data_location=1)
    held.external_data.add(key="location", value="weights.bin")
    Path("model.onnx").write_bytes(model.SerializeToString())
    run(["model", "model.onnx", "--output", "beside.onnx"])
    assert not capsys.readouterr().err
    run(["model", "model.onnx", "--output", "out/model.onnx"])
    assert capsys.readouterr().err == "note: out/model.onnx needs weights.bin next to it; copy it from this folder\n"


MEMORY = HEAD + "m (float[N, 1024] x) => (float[N, 1024] y) { y = Relu(x) }"


def test_memory_is_what_bounds_says(models, capsys):
    Path("memory.onnxtxt").write_text(MEMORY)
    assert run(["model", "memory.onnxtxt", "--memory", "--assume", "N <= 256"]) == Exit.ALWAYS
    out = capsys.readouterr().out
    assert "2097152 bytes alive at once (2 MiB)" in out and "always 4096" not in out
    assert "constants, such as weights" in out
    run(["model", "memory.onnxtxt", "--memory"])
    assert 'assume "N <= ' in capsys.readouterr().out
    run(["model", "memory.onnxtxt", "--memory", "--assume", "N <= 256", "--format", "json"])
    (answer,) = json.loads(capsys.readouterr().out)["models"]
    expected = sb.onnx.check("memory.onnxtxt", assume=["N <= 256"]).bounds().to_dict()
    assert answer["verdict"] == "always" and answer["memory"]["alive"] == expected["alive"]


@pytest.mark.parametrize("more", [["--guard", "python"], ["--free", "N"], ["--format", "sarif"]])
def test_memory_is_an_answer_of_its_own(more, models, capsys):
    assert run(["model", "always.onnx", "--memory", *more]) == Exit.USAGE
    assert f"leave {' '.join(more) if more[0] == '--format' else more[0]} out" in capsys.readouterr().err


def test_a_freed_model_that_is_not_run_says_so(models, monkeypatch, capsys):
    Path("fixed.onnxtxt").write_text(HEAD + "m (float[1, 4] x) => (float[1, 4] y) { y = Relu(x) }")
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "onnxruntime" else real(name, *a))
    assert run(["model", "fixed.onnxtxt", "--free", "N", "--output", "free.onnx"]) == Exit.ALWAYS
    assert "note: the new model was not run" in capsys.readouterr().err


# The real runtime.


def test_confirm_says_what_the_runtime_does(models, capsys):
    pytest.importorskip("onnxruntime")
    assert run(["model", "sometimes.onnx", "--confirm"]) == Exit.FAILS
    lines = capsys.readouterr().out.splitlines()
    assert [line[:21] for line in lines if "agrees" in line] == ["runtime      agrees: ", "             agrees: "]
    assert all(len(line) <= 100 for line in lines)
    run(["model", "sometimes.onnx", "--confirm", "--format", "json"])
    (told,) = json.loads(capsys.readouterr().out)["models"]
    assert [(r["expected"], r["agrees"]) for r in told["confirmations"]] == [("runs", True), ("add_1", True)]


def test_a_runtime_that_does_not_agree_fails(models, monkeypatch, capsys):
    from symbcast.onnx.report import Confirmation

    disagreeing = Confirmation({"N": 1}, "runs", "error", False, "it failed")
    monkeypatch.setattr("symbcast.onnx.report.ModelReport.confirm", lambda self: (disagreeing,))
    for format in ("text", "json"):
        assert run(["model", "always.onnx", "--confirm", "--format", format]) == Exit.FAILS
    capsys.readouterr()
    assert run(["model", "always.onnx", "--confirm", "--format", "github"]) == Exit.FAILS
    assert capsys.readouterr().out.startswith("::error file=always.onnx,title=the model::ONNX Runtime DISAGREES: ")


@pytest.mark.parametrize(("extra", "options"), [("onnx", []), ("onnxruntime", ["--confirm"])])
def test_the_extra_is_named(extra, options, models, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, extra, None)
    assert run(["model", "always.onnx", *options]) == Exit.USAGE
    assert f"pip install '.[{extra}]'" in capsys.readouterr().err


# What goes wrong.


def test_a_fault_of_its_own_stops_nothing(models, monkeypatch, capsys):
    def check(front_end, model, asked):
        return check_graph(front_end, model, asked) if "always" not in model.source else {}["key"]

    monkeypatch.setattr("symbcast.cli.model_examination.check_graph", check)
    assert run(["model", "always.onnx", "never.onnx", "--format", "json"]) == Exit.USAGE
    data = json.loads(capsys.readouterr().out)
    assert [m["verdict"] for m in data["models"]] == ["never"]
    assert "the check itself failed (KeyError: 'key', at test_model_command.py:" in data["errors"][0]["problem"]


def test_sizes_against_assumptions_are_told_of_where_the_model_has_them(models, capsys):
    arguments = ["always.onnx", "sometimes.onnx", "--assume", "M >= 5", "--bind", "M=4", "--format", "json"]
    assert run(["model", *arguments]) == Exit.USAGE
    data = json.loads(capsys.readouterr().out)
    assert [m["source"] for m in data["models"]] == ["always.onnx"]
    assert [e["source"] for e in data["errors"]] == ["sometimes.onnx"]
    assert "contradict each other: M >= 5, M == 4" in data["errors"][0]["problem"]


def test_help_shows_an_example(capsys):
    assert run(["model", "--help"]) == 0
    out = capsys.readouterr().out
    assert 'symbcast model encoder.onnx --assume "batch >= 1"' in out
    assert all(option in out for option in ("--bind", "--confirm", "--fail-on", "--output", "-j"))


def test_help_imports_neither_solver_nor_onnx():
    script = (
        "import sys; from symbcast.cli import run; run(['model', '--help']);"
        "print([m for m in ('sympy', 'z3', 'onnx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


MODELS = Path(__file__).parents[1] / "data/onnx/models"


@pytest.mark.parametrize(
    ("language", "line"),
    [("python", "def guard("), ("cpp", "bool guard("), ("smtlib", "(define-fun"), ("mlir", "func")],
)
def test_a_guard_of_a_model_is_printed_alone(language, line, capsys):
    path = MODELS / "ppocr_v4_det.onnx.gz"
    assert run(["model", str(path), "--guard", language, "--fail-on", "never"]) == Exit.ALWAYS
    out, err = capsys.readouterr()
    assert line in out
    assert out.startswith(("def ", '"""', "#include", ";", "//", "(", "module")) and err == ""


def test_a_guard_says_which_nodes_it_does_not_cover(tmp_path, capsys):
    model = parse_model(
        '<ir_version: 9, opset_import: ["" : 18, "own" : 1]> '
        "g (float[N, 3] x) => (float[A, B] y) { z = own.Twist(x)  y = Add(z, x) }"
    )
    onnx.save(model, tmp_path / "own.onnx")
    assert run(["model", str(tmp_path / "own.onnx"), "--guard", "python"]) == Exit.UNDECIDED
    out, err = capsys.readouterr()
    assert "def guard(" in out
    assert "the guard does not cover" in err


def test_one_guard_is_for_one_model(tmp_path, capsys):
    paths = [str(MODELS / f"{name}.onnx.gz") for name in ("ppocr_v4_det", "detect")]
    assert run(["model", *paths, "--guard", "cpp"]) == Exit.USAGE
    assert "--guard is about one model" in capsys.readouterr().err


def test_all_prints_every_requirement_output_and_value(tmp_path, capsys):
    names = "ABCDEFGH"
    inputs = ", ".join(f"float[{n}] x{n}, float[{n}2] y{n}" for n in names)
    outputs = ", ".join(f"float[{n}3] z{n}" for n in names)
    nodes = " ".join(f"z{n} = Add(x{n}, y{n})" for n in names)
    text = f'<ir_version: 9, opset_import: ["" : 18]> g ({inputs}) => ({outputs}) {{ {nodes} }}'
    onnx.save(parse_model(text), tmp_path / "wide.onnx")
    for option, whole in ((), False), (("--all",), True):
        run(["model", str(tmp_path / "wide.onnx"), *option])
        out = capsys.readouterr().out
        assert all(f"{n} and {n}2 are equal" in out and f"z{n} (broadcast({n}, {n}2),)" in out for n in names) == whole
        assert ("more; --all, or .findings in Python, lists them" in out) != whole


def test_the_memory_of_a_model_begins_with_what_grows_fastest(capsys):
    run(["model", str(MODELS / "ppocr_v4_det.onnx.gz"), "--memory"])
    rows = capsys.readouterr().out.splitlines()[3:]
    assert "conv2d_451.tmp_0" in rows[0] and any("--all, or .values in Python, lists them" in row for row in rows)
    run(["model", str(MODELS / "ppocr_v4_det.onnx.gz"), "--memory", "--all"])
    assert sum("float32" in row for row in capsys.readouterr().out.splitlines()) == 331
