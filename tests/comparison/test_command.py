"""`symbcast compare`."""

from __future__ import annotations

import json

import pytest

from symbcast.cli import Exit, run

STATUSES = [
    (["N, 3", "M, 1", "--rule", "numpy", "--rule", "paddle"], Exit.ALWAYS),
    (["N, 3", "M, 1", "--rule", "numpy", "--rule", "pdpd"], Exit.FAILS),
    (["N, 3", "M, 1", "--rule", "numpy", "--rule", "pdpd", "--assume", "N >= 2"], Exit.ALWAYS),
    (["N, C, H", "C", "--rule", "pdpd(axis=1)", "--rule=numpy"], Exit.FAILS),
    (["N, 3", "M, 1", "--rule", "numpy", "--rule", "pdpd", "--fail-on", "neither"], Exit.ALWAYS),
    (["N, 3", "M", "--rule", "numpy", "--rule", "pdpd(axis=0)", "--fail-on", "neither"], Exit.FAILS),
    (["-1, 3", "3"], Exit.FAILS),
    (["--rule", "numpy", "--rule", "paddle", "--rank", "2"], Exit.ALWAYS),
    (["--rule", "numpy", "--rule", "unidirectional", "--rank", "2"], Exit.FAILS),
    (["N**3 + M**3, 2", "K**3, 1", "--rule", "numpy", "--rule", "none", "--min-size", "2"], Exit.UNDECIDED),
]


@pytest.mark.parametrize(("arguments", "status"), STATUSES)
@pytest.mark.parametrize("options", [[], ["--format", "json"]], ids=["text", "json"])
def test_status(arguments, status, options, capsys):
    assert run(["compare", *arguments, *options]) == status
    out, err = capsys.readouterr()
    assert out
    assert not err
    if options:
        json.loads(out)


WRONG = [
    ([], "give shapes, each in quotes"),
    (["N", "--rule", "nump"], "did you mean 'numpy'"),
    (["N", "M", "--rank", "2"], "give it without shapes"),
    (["--rank", "2", "--rule", "numpy"], "--rank compares two rules"),
    (["--rank", "99", "--rule", "numpy", "--rule", "none"], "--rank 99: write a highest rank from 0 to 8"),
    (["N", "M", "--ruls", "numpy"], "did you mean --rule"),
    (["", "M"], "is empty"),
    (["N", "M", "--assume", "Q > 1"], "mentions no size of these shapes"),
    (["N", "M", "--min-size", "-1"], "a size is not negative"),
    (["N", "M", "--rule", "pdpd(axis=-7)"], "write -1 for the right"),
    (["N", "M", "--rule", "numpy"], "such as symbcast compare N M --rule numpy --rule pdpd"),
    (["N", "M", "--rule", "numpy", "--rule", "pdpd(axis=1"], "no ')' ends its attributes '(axis=1'"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_usage(arguments, message, capsys):
    assert run(["compare", *arguments]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert not out
    assert message in err


def test_many_rules_are_compared_on_a_line_each(capsys):
    run(["compare", "N, 3", "M, 1"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("compared  ") for line in lines) == 10 and not any("one alone" in li for li in lines)
    assert lines[-1].startswith("sizes        compare two rules, such as numpy and none, to see at which sizes")
    run(["compare", "N, 3", "M, 1", "--rule", "numpy", "--rule", "pdpd"])
    assert any("one alone    numpy: N is 1, and M is not 1" in line for line in capsys.readouterr().out.splitlines())
