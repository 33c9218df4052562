"""`symbcast prove` and `symbcast expand`: what they print, and how they end."""

import json

import pytest

import symbcast as sb
from symbcast.cli.app import run
from symbcast.cli.terminal import Exit


def printed(capsys, *arguments):
    status = run(arguments)
    return status, capsys.readouterr().out


def test_relations_are_proved_or_refuted_at_the_smallest_sizes(capsys):
    status, out = printed(capsys, "prove", "N, 3", "M, 1", "--that", "N == M", "--that", "N == M or N == 1 or M == 1")
    assert status == Exit.FAILS
    assert "refuted      N == M\n             at N=1, M=2" in out
    assert "proved       N == M or N == 1 or M == 1" in out


def test_what_is_proved_ends_well_and_what_is_open_says_so(capsys):
    assert printed(capsys, "prove", "N", "M", "--assume", "N >= 2", "--that", "M == 1 or M == N")[0] == Exit.ALWAYS
    status, out = printed(capsys, "prove", "N**3 + M**3", "K**3", "--min-size", "2", "--that", "N == M")
    assert (status, "undecided    N == M" in out) == (Exit.UNDECIDED, True)


def test_relations_of_ranks_are_proved_and_refuted(capsys):
    status, text = printed(capsys, "prove", "*a, N", "2, 3", "--that", "rank(a) >= 0", "--that", "rank(a) >= 1")
    assert (status, "proved       rank(a) >= 0" in text, "at a=(), N=1" in text) == (1, True, True)
    assert printed(capsys, "prove", "*a, N", "3", "--that", "rank(b) == 0")[0] == 2


def test_relations_as_data(capsys):
    status, out = printed(capsys, "prove", "?, 3", "?, 1", "--that", "?0 == ?1", "--that", "1 == 1", "--format", "json")
    assert status == Exit.FAILS
    first, second = json.loads(out)["relations"]
    assert first == {"relation": "?0 == ?1", "holds": False, "counterexample": {"?0": 1, "?1": 2}, "reason": ""}
    assert (second["holds"], second["counterexample"]) == (True, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prove", "N", "M"], 'say what to prove: symbcast prove N M --that "N == M"'),
        (["prove", "N", "M", "--that", "Q == 1"], "no size here is named 'Q'; the sizes are N, M"),
        (["prove", "N", "M", "--that", "N"], "expected a relation such as 'N >= 2'"),
        (["prove", "--that", "N == 1"], "give one shape or more"),
        (["prove", "N", "M", "--that"], '--that needs a value; write --that "N == M"'),
        (["expand"], "give one shape or more"),
        (["expand", "2", "3", "--format", "stablehlo"], "numpy cannot broadcast these shapes"),
        (["expand", "2", "3", "--format", "mlir"], "It is one of text, json or stablehlo"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    assert run(arguments) == Exit.USAGE
    assert message in capsys.readouterr().err.replace("\n  tip: ", "; ")


def test_every_axis_of_every_operand_is_told(capsys):
    result = sb.broadcast("n, 4", "2, 1", "3, 1, 1")
    status, out = printed(capsys, "expand", "n, 4", "2, 1", "3, 1, 1", "--format", "json")
    assert status == Exit.ALWAYS
    assert json.loads(out)["expansions"] == [result.expands(o, a).to_dict() for o in range(3) for a in range(3)]
    assert "when n == 1" in printed(capsys, "expand", "n, 4", "2, 1", "3, 1, 1")[1]


def test_expansions_of_what_is_never_valid_say_why(capsys):
    status, out = printed(capsys, "expand", "2", "3")
    assert (status, "axis 0 (-1) has 2 and 3" in out) == (Exit.FAILS, True)


def test_stablehlo_is_that_of_the_result(capsys):
    assert printed(capsys, "expand", "n", "2", "--format", "stablehlo")[1] == sb.broadcast("n", "2").to_stablehlo()


def test_sizes_at_which_a_condition_does_not_follow():
    valid = sb.Condition(sb.broadcast("N", "M"))
    assert valid.counterexample("N == M") == {"N": 1, "M": 2}
    assert valid.counterexample("N == M", assume="M >= 2") == {"N": 1, "M": 2}
    assert valid.counterexample("N == M", assume=["M >= 2", "N >= 2"]) is None
    assert sb.Condition("False").counterexample("N == M") is None
