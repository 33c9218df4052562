"""What follows from an answer: `implies`, `proves`, `equivalent`, and where operands are stretched."""

from __future__ import annotations

import json

import pytest

import symbcast as sb

# Questions of public threads, with their answers.


def test_a_batch_that_may_be_1_is_stretched():
    """tvm#20218: a broadcast of (n, 4) beside (2, 4) that was replaced by the sizes of one side, wrong at n = 1."""
    found = sb.broadcast("n, 4", "2, 4").expands("A", 0)
    assert (found.verdict, str(found.condition), found.known) == (sb.Verdict.SOMETIMES, "n == 1", "")
    assert sb.broadcast("n, 4", "2, 4", assume="n >= 2").expands("A", 0).verdict is sb.Verdict.NEVER


def test_a_symbol_as_a_size_or_as_something_to_expand():
    """iree#7898: x of (d,) broadcast to (d, d) by dims = [1], of which it was not known that d does not expand."""
    result = sb.broadcast("d", "d, d", rule="stablehlo-broadcast-in-dim", broadcast_dimensions=(1,))
    assert result.expands("operand", 1).known == "nonexpanding"
    assert "known_nonexpanding_dimensions = array<i64: 0>" in result.to_stablehlo()


def test_tokens_of_an_expert():
    """stablehlo#2833: (tokens, 4096) to the joint shape with (tokens, 4096), which is a copy."""
    env = sb.ShapeEnv()
    gate = env.broadcast("tokens, 4096", "tokens, 4096", origin="gate")
    env.broadcast(gate, "tokens, 4096", origin="scaled")
    assert {env.expands("scaled", n, axis).known for n in (0, 1) for axis in (0, 1)} == {"nonexpanding"}


def test_strict_symbolic_shapes():
    """torch-mlir#2496: under the assumption that no symbol is 1, a dimension never means a broadcast."""
    shapes = ("batch, T, 64", "batch, S, 1")
    result = sb.broadcast(*shapes)
    assert result.expands("B", 1).verdict is sb.Verdict.SOMETIMES
    strict = sb.broadcast(*shapes, min_size=2)
    assert [strict.expands("B", axis).verdict for axis in range(3)] == [
        sb.Verdict.NEVER,
        sb.Verdict.NEVER,
        sb.Verdict.ALWAYS,
    ]
    assert strict.implies("T == S")
    assert not result.implies("T == S")


# Entailment.


def test_implies():
    result = sb.broadcast("N, 3", "M, 1", assume="N >= 2")
    assert result.implies("N == M or M == 1")
    assert not result.implies("N == M")
    assert result.implies(sb.Condition("M <= N"))
    assert sb.broadcast("2", "3").implies("N == 7")
    assert sb.broadcast("N", "N").implies(True)


def test_a_program_proves_more_than_its_operations():
    env = sb.ShapeEnv(assume=["T >= 2", "S >= 2"])
    scores = env.broadcast("batch, T, S", "batch, 1, T", origin="mask")
    assert env.implies("T == S")
    env.broadcast(scores, "K, 1, 1", origin="scale")
    assert env.implies("K == batch or K == 1 or batch == 1")
    assert not env.implies("K == batch")


def test_implies_says_where_it_is_undecided():
    with pytest.raises(sb.UndecidedError):
        sb.broadcast("N**3 + M**3", "K**3", min_size=2).implies("N == 1")


def test_labels_mean_the_same_in_a_relation():
    assert sb.broadcast("?a, 3", "?b, 3", assume="?a >= 2").implies("?a == ?b or ?b == 1")


@pytest.mark.parametrize("other", ["N == M", None, 3, ("N", "M"), sb.Condition("N == M")])
def test_equivalent_takes_answers(other):
    for pair in ((sb.broadcast("N", "M"), other), (other, sb.ShapeEnv())):
        with pytest.raises(sb.ShapeTypeError, match="is not an answer; pass the result of"):
            sb.equivalent(*pair)


def test_equivalent():
    assert sb.equivalent(sb.broadcast("N, 3", "M, 1"), sb.broadcast("M, 1", "N, 3"))
    assert sb.equivalent(sb.broadcast("N, 3", "M, 1"), sb.broadcast("N, 1", "M, 3"))
    assert not sb.equivalent(sb.broadcast("N, 3", "M, 1"), sb.broadcast("N, 3", "M, 3", "K, 1"))
    # The same condition, and another output.
    assert not sb.equivalent(
        sb.broadcast("N", "N, M", rule="unidirectional"), sb.broadcast("N", "M, N", rule="unidirectional")
    )
    assert not sb.equivalent(sb.broadcast("N"), sb.broadcast("N, 1"))
    assert sb.equivalent(sb.broadcast("2", "3"), sb.broadcast("4", "5"))
    assert sb.equivalent(sb.broadcast("N", "M", assume="N >= 2"), sb.broadcast("N", "M", rule="pdpd"))
    assert not sb.equivalent(sb.broadcast("N", "M"), sb.broadcast("N", "M", rule="pdpd"))


def test_equivalent_programs():
    envs = [sb.ShapeEnv(), sb.ShapeEnv()]
    envs[0].equal("N", "M")
    envs[0].equal("M", "K")
    envs[1].equal("N, N", "K, M")
    assert sb.equivalent(*envs)
    envs[1].equal("N", 3)
    assert not sb.equivalent(*envs)


def test_equivalent_keeps_what_users_know_of_their_symbols():
    import sympy

    N = sympy.Symbol("N", integer=True, positive=True)
    assert sb.equivalent(sb.broadcast((N, 2), (1, 2)), sb.broadcast("N, 2", "1, 2"))
    assert sb.broadcast((N, 2), (1, 2)).implies("N >= 1")


def test_assumptions_that_contradict_each_other():
    with pytest.raises(sb.AssumptionError):
        sb.equivalent(sb.broadcast("N", "M", assume="N < 2"), sb.broadcast("N", "M", assume="N > 3"))


# Expansion.


def test_operands_and_axes_are_named_in_any_way():
    result = sb.broadcast("N, 3", "N, M", rule="bidirectional")
    assert result.expands("target", -1) == result.expands(1, 1)
    for wrong in ("data2", 2, -1, True):
        with pytest.raises(sb.ShapeTypeError, match="these are 0 to 1, or data, target"):
            result.expands(wrong, 0)
    for wrong in (2, -3, "0"):
        with pytest.raises(sb.ShapeTypeError, match="these are -2 to 1"):
            result.expands(0, wrong)
    with pytest.raises(sb.ShapeTypeError, match="rank 0"):
        sb.broadcast("()", "()").expands(0, 0)


def test_operations_are_named_in_any_way():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "1", origin="add")
    env.broadcast("N, 3", "1", origin="twice")
    env.broadcast("N, 3", "1", origin="twice")
    env.equal("N", "M", origin="same")
    found = env.expands("add", "B", 0)
    assert found == env.expands(0, 1, 0) == env.expands(env.operations[0], 1, -2)
    assert str(found) == "B of add on axis 0 (-2): stretched when N != 1"
    assert str(env.expands("twice#2", "B", 0)) == "B of twice on axis 0 (-2): stretched when N != 1"
    for wrong, message in (
        ("twice", "write the number, such as 1"),
        ("same", "is not a broadcast of this program; its broadcasts are"),
        (9, "is not a broadcast of this program; its broadcasts are"),
    ):
        with pytest.raises(sb.ShapeTypeError, match=message):
            env.expands(wrong, 0, 0)


def test_nothing_is_stretched_where_nothing_broadcasts():
    with pytest.raises(sb.IncompatibleShapesError):
        sb.broadcast("2", "3").expands(0, 0)
    with pytest.raises(sb.IncompatibleShapesError):
        sb.broadcast("2", "3").to_stablehlo()
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("2", "3", origin="add")
    with pytest.raises(sb.IncompatibleProgramError):
        env.expands("add", 0, 0)


def test_forms_of_an_expansion():
    found = sb.broadcast("n, 4", "2, 4").expands("A", 0)
    assert json.loads(json.dumps(found.to_dict())) == {
        "operation": "",
        "operand": "A",
        "axis": 0,
        "rank": 2,
        "verdict": "sometimes",
        "condition": "n == 1",
        "known": "",
        "reason": "",
    }
    assert "n is 1" in found.explain()
    assert "stretched for some sizes" in found._repr_html_()
    assert found.condition.guard()(n=1)
    with pytest.raises(TypeError, match="compare its"):
        bool(found)
    always = sb.broadcast("1", "2").expands(0, 0)
    assert (str(always), always.condition.verdict) == ("A on axis 0 (-1): always stretched", sb.Verdict.ALWAYS)
    assert str(sb.broadcast("2", "2").expands(0, 0)) == "A on axis 0 (-1): never stretched"


def test_axes_that_lie_on_one_axis_of_the_output():
    result = sb.broadcast("N, M", "5", rule="explicit", axes=(0, 0), flavour="openvino")
    found = result.expands("data", 0)
    assert found.condition.equivalent("N == 1 or M == 1", assume=result.condition)
    with pytest.raises(sb.DimensionError, match="StableHLO maps each axis"):
        result.to_stablehlo()


def test_an_operation_is_found_by_itself():
    env = sb.ShapeEnv()
    env.broadcast("N", "M", origin="add")
    env.broadcast("N", "K", origin="add")
    with pytest.raises(sb.ShapeTypeError, match="several operations have this name: write the number"):
        env.expands("add", 0, 0)
    found = [env.expands(op, 1, 0).condition for op in env.operations]
    assert list(map(str, found)) == ["N != 1 and M == 1", "N != 1 and K == 1"]
