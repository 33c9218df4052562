"""The commands about cases, solutions and repairs."""

import json

import pytest

from symbcast.cli import app
from symbcast.cli.terminal import Exit

run = app.run


def test_cases(capsys):
    assert run(["cases", "N, 3", "M, 1"]) == Exit.ALWAYS
    assert "1     N == 1 and M != 1  (M, 3)  (0, 1), (1, 0)  N=1, M=2" in capsys.readouterr().out
    assert run(["cases", "N", "M", "--format", "json", "--limit", "2"]) == Exit.ALWAYS
    data = json.loads(capsys.readouterr().out)
    assert (data["complete"], [c["guard"] for c in data["cases"]]) == (False, ["N == M", "N == 1 and M != 1"])
    assert run(["cases", "3", "4"]) == Exit.FAILS


@pytest.mark.parametrize(
    ("language", "line"), [("python", "def dispatch(N, M):"), ("cpp", "int dispatch(std::int64_t N")]
)
def test_dispatch(capsys, language, line):
    assert run(["cases", "N", "M", "--dispatch", language]) == Exit.ALWAYS
    assert line in capsys.readouterr().out


def test_solve(capsys):
    assert run(["solve", "?, 3", "N, 1", "--out", "5, 3"]) == Exit.ALWAYS
    assert "example      ?0=1, N=5: (1, 3) with (5, 1)" in capsys.readouterr().out
    assert run(["solve", "N, 3", "4", "--out", "5, 3", "--format", "json"]) == Exit.FAILS
    assert json.loads(capsys.readouterr().out)["verdict"] == "never"


def test_repair(capsys):
    assert run(["repair", "N, C, H, W", "C"]) == Exit.ALWAYS
    out = capsys.readouterr().out
    assert "repair 1     reshape B to (C, 1, 1)\n             always valid, output (N, C, H, W)\n" in out
    assert run(["repair", "N", "N, 1", "--limit", "1", "--format", "json"]) == Exit.ALWAYS
    data = json.loads(capsys.readouterr().out)
    assert [r["code"]["torch"] for r in data["repairs"]] == ["b.squeeze(1)"] and len(data["surprises"]) == 1
    assert run(["repair", "N, 3", "3"]) == Exit.ALWAYS
    assert "none is needed" in capsys.readouterr().out


def test_attributes_of_rules_are_options(capsys):
    assert run(["cases", "N, C, H, W", "C", "--rule", "pdpd", "--axis", "1"]) == Exit.ALWAYS
    assert "1 case;" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["cases", "repair", "solve"])
def test_wrong_usage(capsys, command):
    assert run([command, "N", "M +", "--out", "3"][: 3 if command != "solve" else 5]) == Exit.USAGE
    assert run([command]) == Exit.USAGE
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cases", "N", "M", "--limit", "0"], "--limit 0: write the maximum number of answers, 1 or more"),
        (["repair", "2", "3", "--limit", "-1"], "--limit -1: write the maximum number of answers, 1 or more"),
        (["cases", "N", "--min-size", "-1"], "--min-size -1: a size is not negative"),
        (["solve", "N", "--out", "3", "--min-size", "-1"], "--min-size -1: a size is not negative"),
        (["solve", "N", "M"], 'give the wanted output: symbcast solve N M --out "5, 3"'),
        (["cases", "N", "M", "--assume", "N >= 2", "M >= 2"], '"M >= 2" is an assumption; write --assume "M >= 2"'),
        (["repair", "N", "M", "--rule", "pdpd(axis=1"], "no ')' ends its attributes"),
        (["cases", "N", "M", "--axis", "1"], "rule 'numpy' has no attribute 'axis'; --axis is for pdpd"),
    ],
)
def test_wrong_values(capsys, arguments, message):
    assert run(arguments) == Exit.USAGE
    assert message in capsys.readouterr().err.replace("\n  tip: ", "; ")
