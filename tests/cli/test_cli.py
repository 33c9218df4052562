"""The command line: what it prints, where, and with which exit status."""

import json
import os
import subprocess
import sys

import pytest

from symbcast.cli import Exit, main, run

STATUSES = [
    (["N, 3", "1"], Exit.ALWAYS),
    (["N, 3", "M, 1"], Exit.FAILS),
    (["N, 3", "M, 1", "--fail-on", "never"], Exit.ALWAYS),
    (["N, 3", "M, 4", "--fail-on", "never"], Exit.FAILS),
    (["N, C, H", "C", "--rule", "pdpd", "--axis", "1"], Exit.ALWAYS),
    (["N, C, H", "C", "--rule", "pdpd", "--axis", "-1"], Exit.FAILS),
    (["C, D", "C, H, D", "--rule", "explicit", "--axes", "0,2"], Exit.ALWAYS),
    (["C, D", "C, H, D", "--rule=explicit", "--axes", "0", "--axes", "2"], Exit.ALWAYS),
    (["2, N", "2, 1", "--rule", "unidirectional", "--keep", "1"], Exit.ALWAYS),
    (["--rule", "onnx-legacy", "--broadcast", "1", "2, 3", "3"], Exit.ALWAYS),
    (["()", "3", "--rule", "paddle", "--min-rank", "1"], Exit.FAILS),
    (["2", "2", "--rule", "pdpd", "--flavour", "openvino"], Exit.ALWAYS),
    (["N", "M", "--assume", "N == M", "--min-size", "1"], Exit.ALWAYS),
    (["?a, 3", "M, 3", "--assume", "?a >= 2"], Exit.FAILS),
    (["*b, N", "N", "--assume", "rank(b) <= 2"], Exit.ALWAYS),
    (["b (h w)", "b 1", "--dialect", "einops"], Exit.ALWAYS),
    (["-1, 3", "?, 1"], Exit.FAILS),
    (["--", "-N + 5", "1"], Exit.FAILS),
    (["()", "()"], Exit.ALWAYS),
    (["--", "-1", "1"], Exit.ALWAYS),
    (["[N, 3]", "(3,)"], Exit.ALWAYS),
    (["N**3 + M**3", "K**3", "--min-size", "2"], Exit.UNDECIDED),
]


def test_a_name_of_an_assumption_that_no_shape_has_is_noted(capsys):
    assert run(["check", "batch, 3", "M, 3", "--assume", "bacth == 8*k"]) == Exit.USAGE
    assert run(["check", "N, 3", "M, 3", "--assume", "N == 8*k"]) == Exit.FAILS
    assert "note: k is no size of these shapes" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("arguments", "status"), STATUSES)
def test_status(arguments, status, capsys):
    assert run(["check", *arguments]) == status
    out, err = capsys.readouterr()
    assert out
    assert not err
    assert "\x1b" not in out


WRONG = [
    (["N,,3", "3"], "unexpected ','"),
    (["N", "--rule", "nump"], "did you mean 'numpy'"),
    (["N", "--axis", "1"], "has no attribute 'axis'"),
    (["N", "--axis", "x"], "--axis"),
    (["N", "--axis"], "--axis"),
    (["N", "M", "--rule", "explicit", "--axes", "a"], "write axes as --axes 0,2"),
    (["N", "M", "--rule", "explicit"], "needs --axes\n  tip: write --axes 0,2"),
    (["N", "--assume", "N >="], "    N >=\n        ^"),
    (["N", "--assume", "N < 2", "--assume", "N > 3"], "contradict"),
    (["N", "--format", "xml"], "xml"),
    (["N", "--dialect", "klingon"], "klingon"),
    (["N", "--min-size", "-1"], "not negative"),
    (["N", "--bogus", "3"], "--bogus"),
    ([], "give one shape or more"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_usage_is_one_message_on_stderr(arguments, message, capsys):
    assert run(["check", *arguments]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) <= 4


def test_unknown_command(capsys):
    assert run(["chekc"]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert not out
    assert "chekc" in err


def test_json(capsys):
    assert run(["check", "N, 3", "M, 1", "--format", "json"]) == Exit.FAILS
    assert json.loads(capsys.readouterr().out)["condition"] == "N == M or N == 1 or M == 1"


def test_rules(capsys):
    assert run(["rules"]) == Exit.ALWAYS
    text = capsys.readouterr().out
    assert "also called  onnx, onnx-multidirectional: ONNX Broadcasting.md, of one shape or more" in text
    assert "tensorflow: tf.broadcast_static_shape, of 2 shapes" in text
    assert "axes= (required), flavour='document'" in text
    assert run(["rules", "--format", "json"]) == Exit.ALWAYS
    assert [rule["name"] for rule in json.loads(capsys.readouterr().out)][:2] == ["numpy", "none"]


def test_main_exits():
    with pytest.raises(SystemExit) as caught:
        main(["check", "2", "3"])
    assert caught.value.code == 1


def test_help_shows_an_example_that_works(capsys):
    import shlex

    assert run(["--help"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("Example: "))
    assert run(shlex.split(line.removeprefix("Example: symbcast "))) == Exit.FAILS


def test_interrupt_is_quiet(monkeypatch, capsys):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("symbcast.answers.public.result.broadcast", interrupted)
    assert run(["check", "N"]) == Exit.INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_colour_is_for_terminals_only(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    run(["check", "N, 3", "M, 4"])
    coloured = capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    run(["check", "N, 3", "M, 4"])
    plain = capsys.readouterr().out
    import re

    assert "\x1b[" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_no_line_is_longer_than_there_are_columns(columns, is_terminal, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    run(["check", "batch, heads, T, T, C", "batch, 1, S, 1, C", "max(N, M), 3", "--assume", "batch >= 1"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    said = " ".join(out.split())
    assert all(part in said for part in ("batch", "heads", "operand 2", "fails at", "batch >= 1", "if they are known"))
    assert "\x1b" not in out


@pytest.mark.parametrize("columns", [None, "", "0", "wide"])
def test_what_goes_to_a_file_is_the_text(columns, monkeypatch, capsys):
    import symbcast as sb

    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    run(["check", "N, 3", "M, 1"])
    assert capsys.readouterr().out == f"{sb.broadcast('N, 3', 'M, 1').explain()}\n"


def test_json_has_the_explanation(capsys):
    run(["check", "N, 3", "M, 1", "--format", "json"])
    told = json.loads(capsys.readouterr().out)["explanation"]
    assert told["title"] == "numpy: valid for some sizes" and told["tone"] == "conditional"
    table, fields = told["blocks"]
    assert [row["label"] for row in table["rows"]] == ["axis", "from end", "A", "B", "output", "fits"]
    assert [field["label"] for field in fields["fields"]] == ["valid when", "fails at", "works at", "fix"]


def started(*arguments, **environment):
    import os

    command = [sys.executable, "-m", "symbcast", *arguments]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, timeout=60, check=False)


def test_module_runs():
    done = started("check", "-1, 3", "?, 1")
    assert done.returncode == Exit.FAILS
    assert done.stdout.startswith(b"numpy: valid for some sizes")
    assert done.stderr == b""


def test_ascii_terminal():
    done = started("check", "h\u00f6he, 3", "b", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C.UTF-8")
    assert done.returncode == Exit.FAILS
    assert b"h\\xf6he" in done.stdout
    assert done.stderr == b""


def test_closed_pipe_is_quiet():
    command = f"{sys.executable} -m symbcast rules | true"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False)
    assert done.stderr == b""


def test_help_and_version_import_no_solver():
    script = (
        "import sys; from symbcast.cli import run; run(['--version']); run(['check', '--help']);"
        "print([m for m in ('sympy', 'z3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[0] == "0.3.0"
    assert done.stdout.splitlines()[-1] == "[]"


ONE_STEP = """
import time
from symbcast.cli.terminal import Bar, print_text

with Bar(1, "thinking"):
    time.sleep({seconds})
    print_text("the answer")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("seconds", [0, 1.5])
def test_work_over_a_second_shows_a_clock_until_its_answer(seconds):
    import pty

    ours, theirs = pty.openpty()
    environment = {**{k: v for k, v in os.environ.items() if k != "CI"}, "TERM": "xterm-256color"}
    command = [sys.executable, "-c", ONE_STEP.format(seconds=seconds)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as done:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:
            pass  # the other end is closed
    os.close(ours)
    text = seen.decode()
    assert done.returncode == 0 and ("thinking" in text) is (seconds > 1)
    assert text.split("the answer")[1].strip() == ""
    if seconds > 1:
        assert text.rindex("thinking") < text.rindex("\x1b[2K") < text.index("the answer")


def test_work_over_a_second_shows_nothing_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-c", ONE_STEP.format(seconds=1.2)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("the answer\n", "")
