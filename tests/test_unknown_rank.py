"""Shapes of unknown rank: ``...`` and ``*batch``; brute force is in `properties/test_rank_laws.py`."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path

import pytest
import sympy

import symbcast as sb
from symbcast.report.json import json_schema

V = sb.Verdict
with (Path(__file__).parent / "data" / "unknown_rank.tsv").open(encoding="utf-8", newline="") as _file:
    PEERS = list(csv.DictReader(_file, delimiter="\t"))


# Shapes.


@pytest.mark.parametrize(
    "text",
    [
        "(..., 3)",
        "(...,)",
        "(*batch, N, 3)",
        "(N, *rest)",
        "(N, ..., 3)",
        "(*batch[:-2], 4, N)",
        "(...0[:-1], broadcast(...0[-1], N))",
        "(broadcast(*a, *b[:-1]), N)",
        "(*'a b', 3)",
        "(batch[-1], rank(batch))",
    ],
)
def test_what_is_printed_is_read_again(text):
    shape = sb.shape(text)
    assert str(shape) == text
    assert sb.shape(str(shape)) == shape
    assert hash(sb.shape(str(shape))) == hash(shape)
    assert pickle.loads(pickle.dumps(shape)) == shape


def test_a_shape_of_unknown_rank_is_indexed_from_the_end_that_is_known():
    shape = sb.shape("*batch, N, 3")
    assert shape.rank is None
    assert (shape[-1], str(shape[-2]), tuple(map(str, shape[-2:]))) == (3, "N", ("N", "3"))
    assert sb.shape("N, ...")[0] == sb.symbol("N")
    for wrong in (-3, 0, slice(None), slice(0, 1)):
        with pytest.raises(IndexError, match="its rank is not known"):
            shape[wrong]
    for wrong in (len, list, bool):
        with pytest.raises(TypeError, match="not known"):
            wrong(shape)


def test_python_and_other_notations_say_it_too():
    assert sb.shape((..., 3)) == sb.shape("..., 3") == sb.shape("... 3", dialect="einops")
    assert sb.shape("tensor<*xf32>") == sb.shape("...")
    assert sb.shape(("*batch", "N")) == sb.shape("*batch N", dialect="jaxtyping") != sb.shape("*rest, N")
    assert sb.shape("*_ c", dialect="jaxtyping") == sb.shape("..., c")
    batch, last = sb.shape("*batch"), (3,)
    assert (batch + last, last + batch) == (sb.shape("*batch, 3"), sb.shape("3, *batch"))
    for wrong in (lambda: sb.shape((..., ...)), lambda: sb.shape("*a") + sb.shape("*b")):
        with pytest.raises(sb.ShapeTypeError, match="one sequence of axes"):
            wrong()


def test_one_name_is_a_size_or_a_sequence():
    with pytest.raises(sb.DimensionError, match="a size and a sequence of axes"):
        sb.broadcast("*batch, 3", "batch")
    with pytest.raises(sb.DimensionError, match="a size and a sequence of axes"):
        sb.broadcast("batch, 3", "*batch")


# Answers.


def test_right_aligned_rules_keep_what_is_known():
    assert str(sb.broadcast("..., 3", "N").shape) == "(..., 3)"
    assert str(sb.broadcast("..., 3", "N").condition) == "Eq(N, 1) | Eq(N, 3)"
    assert str(sb.broadcast("*batch, N", "*batch, M").shape) == "(*batch, broadcast(M, N))"
    result = sb.broadcast("*batch, N", "2, 3")
    assert str(result.shape) == "(*batch[:-1], 2, 3)"
    assert result.witness() == {"batch": (), "N": 1}
    assert result.evaluate(batch=(5, 1), N=3) == result.evaluate({"*batch": [5, 1], sb.symbol("N"): 3}) == (5, 2, 3)
    with pytest.raises(sb.IncompatibleShapesError, match="would be 3 beside 2"):
        result.evaluate(batch=(3,), N=1)
    assert result.certify()


def test_conditions_speak_of_ranks_and_of_single_axes():
    result = sb.broadcast("*data, N", "*target, 3, 4", rule="unidirectional")
    texts = {"rank(data) <= rank(target) + 1", "data[-1] == 1 or data[-1] == 3", "N == 1 or N == 4"}
    assert texts < set(result.to_dict()["clauses"])
    assert str(result.shape) == "(*target, 3, 4)"
    assumed = sb.broadcast("*data, N", "*target, 3, 4", rule="unidirectional", assume=["rank(data) == 0", "N == 4"])
    assert assumed.verdict is V.ALWAYS
    again = sb.broadcast("*data, N", "*target, 3, 4", rule="unidirectional", assume=sympy.Eq(sb.symbol("N"), 4))
    assert again.verdict is V.SOMETIMES


def test_a_condition_in_sympy_can_be_assumed_again():
    result = sb.broadcast("*batch, N", "2, 3")
    assert sb.broadcast("*batch, N", "2, 3", assume=result.condition).verdict is V.ALWAYS


def test_sequences_are_assumed_to_be_the_same_or_to_broadcast():
    assert sb.broadcast("*a, N", "*b, M", assume=["*a == *b", "N == M"]).verdict is V.ALWAYS
    result = sb.broadcast("*a, N", "*b, 2, M", assume="compatible(*a[:-1], *b)")
    assert str(result.condition) == "(Eq(a[-1], 1) | Eq(a[-1], 2)) & (Eq(M, 1) | Eq(N, 1) | Eq(N, M))"
    assert result.evaluate(a=(3, 2), b=(3,), N=1, M=4) == (3, 2, 4)
    with pytest.raises(sb.BindingError, match="against the assumption"):
        result.evaluate(a=(3, 2), b=(4,), N=1, M=4)
    with pytest.raises(sb.AssumptionError):
        sb.broadcast("*a, N", "3", assume="rank(a) >= 1001")
    env = sb.ShapeEnv(assume="*a == *b")
    env.broadcast("*a, 3", "*b, 3")
    assert env.verdict is V.ALWAYS
    for how in ({"assume": "*a >= 2"}, {"assume": "*a == *b", "min_size": 2}):
        with pytest.raises(sb.AssumptionError, match="need not be so of axes that are not there"):
            sb.broadcast("*a, N", "*b, M", **how)
    for say in (env.assume, env.require):
        with pytest.raises(sb.AssumptionError, match="need not be so of axes that are not there"):
            say("*a >= 2")
    joined = sb.broadcast("*a", "*b", assume="compatible(*a, *b)", min_size=2)
    assert joined.verdict is V.ALWAYS


def test_a_rank_that_is_assumed_ends_the_sequence():
    assert str(sb.broadcast("*a, N", "2, 3", assume="rank(a) == 1").shape) == "(2, 3)"
    assert str(sb.broadcast("*a, N", "*b", assume="rank(a) == 0").shape) == "(*b[:-1], broadcast(N, b[-1]))"
    # Where the least size is 2, what is before the named axes is not an axis of size 1, but none.
    result = sb.broadcast("N, N", "()", "*a", assume="rank(a) == 2", min_size=2)
    assert str(result.shape) == "(N, N)"


def test_a_least_size_is_that_of_axes_that_are_there():
    result = sb.broadcast("*a", "*b", rule="paddle", min_rank=1, min_size=2, assume="rank(a) >= 1")
    # An axis that only b has is beside no axis of a, however great the sizes are.
    assert result.guard()(a=(2,), b=(2, 2))
    assert result.evaluate(a=(2,), b=(3, 2)) == (3, 2)
    with pytest.raises(sb.BindingError, match="below min_size"):
        result.evaluate(a=(1,), b=(2,))


def test_a_sequence_beside_itself_is_tried_up_to_a_rank():
    result = sb.broadcast("*a, N", "*a")
    assert result.verdict is V.SOMETIMES
    assert result.to_dict()["condition"] == "compatible(*a, *a[:-1]) and (N == a[-1] or N == 1 or a[-1] == 1)"
    assert str(result.shape) == "(broadcast(*a, *a[:-1]), broadcast(N, a[-1]))"
    assert "ranks were tried up to" in result.reason
    assert result.evaluate(result.witness()) is not None
    with pytest.raises(sb.IncompatibleShapesError):
        result.evaluate(result.counterexample())
    assert sb.broadcast("*a, N", "*a", rule="none").verdict is V.NEVER


def test_sizes_in_front_of_a_sequence_are_for_rules_that_count_from_there():
    result = sb.broadcast("N, C, *rest", "D", rule="pdpd", axis=1)
    assert (str(result.shape), str(result.condition)) == ("(N, C, *rest)", "Eq(D, 1) | Eq(D, C)")
    assert str(sb.broadcast("N, *rest", "M, *rest").shape) == "(broadcast(M, N), *rest)"
    assert sb.broadcast("*data", "2, 3, 4", rule="explicit", axes=(0, 2)).evaluate(data=(2, 1)) == (2, 3, 4)
    for shapes, how in [
        (("N, *rest", "*rest"), {}),
        (("N, *rest", "2, 3"), {}),
        (("*a", "2"), {"rule": "pdpd", "axis": 0}),
        (("*a", "*b"), {"rule": "pdpd", "flavour": "openvino"}),
        (("*a", "*b"), {"rule": "onnx-legacy", "broadcast": 1}),
        (("2", "*b"), {"rule": "unidirectional", "keep": (0,)}),
        (("2", "*b"), {"rule": "explicit", "axes": (0,)}),
    ]:
        with pytest.raises(sb.RuleArgumentError, match=r"rank of .* is not known"):
            sb.broadcast(*shapes, **how)


def test_labels_tell_sequences_apart():
    result = sb.broadcast("..., 3", "..., N", "...a, 1")
    assert set(result.witness()) == {"...0", "...1", "...a", "N"}
    assert str(result.shape) == "(broadcast(...0, ...1, ...a), 3)"
    # A label in text is that of one sequence throughout; those without a name get others.
    assert str(sb.broadcast("..., 3", "...0, N").shape) == "(broadcast(...0, ...1), 3)"
    x = sb.shape("..., 3")
    assert sb.broadcast(x, x, "3").verdict is V.ALWAYS
    assert sb.broadcast(x, sb.shape("..., 3")).verdict is V.SOMETIMES


def test_what_is_asked_of_known_ranks_alone_says_so():
    result = sb.broadcast("*batch, N", "2, 3")
    asked = [
        sb.broadcast("*a, N", "*b, N").cases,
        sb.broadcast("*a, N", "*a").cases,
        sb.broadcast("N, *a", "N, *a").cases,
        result.cases().to_cpp,
        lambda: sb.broadcast("*a, N", "*a").surprises,
        result.to_stablehlo,
        result.to_cpp,
        result.to_smtlib,
        result.to_mlir,
        lambda: sb.broadcast("*a, N", "*a").expands("A", -1),
        lambda: sb.broadcast("N, *a", "M, *a").expands("A", -1),
        lambda: sb.broadcastable_to("*a, 3"),
        lambda: sb.compare("*a", "3", rules=["numpy", "none"]),
        lambda: sb.trace(lambda x, y: x + y, "*a, 3", "3"),
        lambda: sb.explore_paths(lambda sizes: 0, "*a, N"),
    ]
    for question in asked:
        with pytest.raises(sb.UnknownRankError, match="the rank is not known in"):
            question()


def test_there_is_a_case_for_each_rank_and_one_from_a_rank_on():
    cases = sb.broadcast("*batch, N", "4, 3", assume="N == 3").cases()
    assert [(str(c.guard), str(c.shape)) for c in cases] == [
        ("rank(batch) == 0", "(4, 3)"),
        ("batch[-1] == 4", "(*batch[:-1], 4, 3)"),
        ("rank(batch) >= 1 and batch[-1] == 1", "(*batch[:-1], 4, 3)"),
    ]
    assert [str(c.strides[0]) for c in cases] == ["(0, 1)", "(12, 3, 1)", "(3, 0, 1)"]
    assert cases[1].stretched == ((False, False, False), (True, False, False))
    assert cases[1].witness() == {"batch": (4,), "N": 3} and cases.is_complete and cases.naive is None
    assert cases.find(batch=(7, 1), N=3) is cases[2] and cases.find(batch=(5,), N=3) is None
    assert all(claim.proof.value == "proved" for claim in cases.certify().claims)
    space = {}
    exec(cases.to_python(), space)
    assert [space["dispatch"](axes, 3) for axes in ((), (4,), (6, 1), (5,), (-1,))] == [0, 1, 2, -1, -1]
    assert "batch=(4,)" in str(cases) and "rank(batch)" in cases._repr_html_()
    schema = pytest.importorskip("jsonschema")
    schema.validate(json.loads(json.dumps(cases.to_dict())), cases.json_schema())


def test_cases_of_sequences_that_meet_need_a_greatest_rank_of_one():
    cases = sb.broadcast("*a, N", "*b, N", assume="rank(b) <= 1").cases()
    assert [str(c.shape) for c in cases] == [
        "(N,)",
        "(b[-1], N)",
        "(*a[:-1], a[-1], N)",
        "(*a[:-1], a[-1], N)",
        "(*a[:-1], b[-1], N)",
        "(*a[:-1], a[-1], N)",
    ]
    with pytest.raises(sb.UnknownRankError, match=r'where \*a and \*b meet: .*"rank\(b\) <= 2"'):
        sb.broadcast("*a, N", "*b, N").cases()


def test_a_wanted_output_says_which_ranks_give_it():
    found = sb.solve("*a, N", "3", out="2, 3")
    assert str(found.condition) == "rank(a) == 1 and a[-1] == 2 and (N == 1 or N == 3)"
    assert (found.example(), found.shapes()) == ({"a": (2,), "N": 1}, ((2, 1), (3,)))
    assert "wanted                 2   3" in found.explain() and found._repr_html_()
    schema = pytest.importorskip("jsonschema")
    schema.validate(json.loads(json.dumps(found.to_dict())), found.json_schema())
    assert sb.solve("*a, N", "M", out="*a, 5").condition.implies("N == 5 or M == 5")
    # What leaves a shape as it is.
    other = sb.solve("*a, 3", "...b", out="*a, 3")
    assert other.condition.holds({"a": (4, 2), "...b": (2, 1)}) and not other.condition.holds(
        {"a": (2,), "...b": (1, 2, 3)}
    )
    assert sb.solve("*a, 3", out="2").verdict is V.NEVER
    assert sb.solve("*a", "*b", rule="none", out="3, 4").example() == {"a": (3, 4), "b": (3, 4)}
    assert str(sb.solve("N, C, *r", "C", rule="pdpd", axis=1, out="2, 3, *r").condition) == "N == 2 and C == 3"
    with pytest.raises(sb.RuleArgumentError, match="sizes stand before a sequence"):
        sb.solve("N, C, *r", "C", rule="pdpd", axis=1, out="2, 3, 4")
    with pytest.raises(sb.UnknownRankError, match=r"ask solve\(target, .* any rank"):
        sb.broadcastable_to("*a, 3")


def test_surprises_speak_of_axes_that_are_there():
    found = [(s.kind, s.text, s.axis, s.sizes) for s in sb.broadcast("*a, 2", "*b, M, 2").surprises]
    assert found == [
        (
            "stretch",
            "where an axis of *a[:-1] of A is 1, it is stretched onto *b of B",
            -3,
            {"a": (1, 1), "b": (2,), "M": 1},
        ),
        (
            "stretch",
            "where an axis of *b of B is 1, it is stretched onto *a[:-1] of A",
            -3,
            {"a": (2, 1), "b": (1,), "M": 1},
        ),
        ("stretch", "where a[-1] is 1, axis -2 of A is stretched onto M of B", -2, {"a": (1,), "b": (1,), "M": 2}),
        ("stretch", "where M is 1, axis -2 of B is stretched onto a[-1] of A", -2, {"a": (2,), "b": (1,), "M": 1}),
    ]
    (outer,) = sb.broadcast("N", "*a, N, 1").surprises
    assert (outer.kind, outer.axis, outer.sizes["N"]) == ("outer-product", -1, 2)
    assert sb.broadcast("*a, N, M", "*a, N, M").surprises == sb.broadcast("*a, N", "2, 3").surprises == ()


def test_repairs_edit_the_known_end():
    (repair,) = sb.broadcast("*a, 3, N", "*a, N").repairs()
    assert (repair.text, repair.code["numpy"]) == ("reshape B to (*a, 1, N)", "b[..., None, :]")
    assert repair.shape.rank is None and "b[..., None, :]" in sb.broadcast("*a, 3, N", "*a, N").explain()
    (assumed,) = sb.broadcast("*a, N", "2, 3").repairs()
    assert assumed.kind == "assume" and not assumed.code
    assert [r.kind for r in sb.broadcast("N, *a", "M, *a").repairs()] == ["assume", "assume"]


def test_cases_of_programs_of_unknown_rank():
    env = sb.ShapeEnv()
    x = env.matmul("*batch, T, d", "d, 64", origin="projection")
    env.broadcast(x, "8, 1, 64", origin="bias")
    cases = env.cases(hints=[{"batch": (3, 1), "T": 1, "d": 4}, {"batch": (8,)}, "batch[-1] == 1"])
    assert [(str(c.guard), c.hints) for c in cases] == [
        ("rank(batch) >= 1 and batch[-1] == 1", (0, 2)),
        ("batch[-1] == 8", (1,)),
        ("rank(batch) == 0", (2,)),
    ]
    assert str(cases[2].shapes["bias"]) == "(8, T, 64)" and cases.certify()
    with pytest.raises(sb.BindingError, match=r"batch=\(3,\), T=1, has no valid sizes"):
        env.cases(hints=[{"batch": (3,), "T": 1}])


def test_an_answer_is_told_and_written_down():
    result = sb.broadcast("*a, N", "*b")
    text = result.explain()
    assert "on each axis *a and *b[:-1] are equal, or one of them is 1" in text
    assert "fails at     a=(), N=2, b=(3,): axis 0 (-1) would be 2 beside 3" in text
    data = json.loads(json.dumps(result.to_dict()))
    assert (data["symbols"], data["counterexample"]) == (["*a", "N", "*b"], {"a": [], "N": 2, "b": [3]})
    again = pickle.loads(pickle.dumps(result))
    assert (again.condition, again.shape) == (result.condition, result.shape)
    assert "compatible" in result.to_python() and "broadcast" in result._repr_html_() and result._repr_latex_()


@pytest.mark.parametrize("row", PEERS, ids=lambda row: f"{row['test']}: {row['shapes']}")
def test_questions_of_others(row):
    how = {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(row["attributes"]).items()}
    shapes = row["shapes"].split("; ")
    if row["verdict"] == "error":
        with pytest.raises(getattr(sb, row["shape"])):
            sb.broadcast(*shapes, rule=row["rule"], **how)
        return
    found = sb.broadcast(*shapes, rule=row["rule"], **how).to_dict()
    assert (found["verdict"], found["shape"]["text"], found["condition"]) == (
        row["verdict"],
        row["shape"],
        row["condition"],
    )


# Programs.


def test_programs_take_shapes_of_unknown_rank():
    env = sb.ShapeEnv(assume="T >= 2")
    x = env.broadcast("*batch, N", "2, 3", origin="a")
    y = env.broadcast(x, "*rest, 3", origin="b")
    z = env.broadcast(y, "T, 4, 1, 1", origin="c")
    assert list(map(str, (x, y, z))) == [
        "(*batch[:-1], 2, 3)",
        "(broadcast(*batch[:-1], *rest[:-1]), 2, 3)",
        "(broadcast(*batch[:-3], *rest[:-3]), T, 4, 2, 3)",
    ]
    assert env.verdict is V.SOMETIMES
    assert env.guard()(env.witness()) and not env.guard()(env.counterexample())
    assert [r.origins[0].name for r in env.requirements()][:2] == ["a", "a"]
    assert sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict()))).condition == env.condition
    assert pickle.loads(pickle.dumps(env)).condition == env.condition
    assert "axis -3" in env.explain()
    assert env.report("text") and env.report("sarif") and env.report("github") and env._repr_html_()
    schema = pytest.importorskip("jsonschema")
    schema.validate(json.loads(env.report("json")), json_schema())
    schema.validate(json.loads(json.dumps(env.to_dict())), env.json_schema())


def test_requirements_and_assumptions_of_programs_speak_of_ranks():
    env = sb.ShapeEnv()
    env.broadcast("*a, N", "3", origin="x")
    env.require("rank(a) >= 2 and a[-1] == 4", origin="y")
    assert env.witness() == {"a": (1, 4), "N": 1}
    env.assume("rank(a) == 2")
    assert set(map(str, env.requirements())) == {"N == 1 or N == 3 [x]", "a[-1] == 4 [y]"}
    assert [str(c.guard) for c in env.cases()] == ["a[-1] == 4 and N == 3", "a[-1] == 4 and N == 1"]
    assert str(env.expands("x", "A", -1)) == "A of x on axis -1: stretched when N == 1"
    env = sb.ShapeEnv()
    env.broadcast("*a, N", "*a", origin="x")
    for question in (env.to_cpp, env.cases, lambda: env.expands("x", "A", -1)):
        with pytest.raises(sb.UnknownRankError):
            question()


def test_what_programs_prove_holds_at_all_ranks():
    env = sb.ShapeEnv(assume="rank(b) >= 1")
    env.broadcast("*a, N", "*b, 3", origin="x")
    env.require("a[-1] == 4", origin="y")
    assert env.proves("compatible(*a, *b)") and env.proves("rank(a) >= 1") and env.proves("b[-1] == 1 or b[-1] == 4")
    assert not env.proves("*a == *b") and not env.proves("N == 3")
    other = sb.ShapeEnv(assume="rank(b) >= 1")
    other.broadcast("*b, 3", "*a, N")
    assert not sb.equivalent(env, other)
    other.require("a[-1] == 4 and rank(a) >= 1")
    assert sb.equivalent(env, other)


def test_conditions_speak_of_sequences():
    valid = sb.Condition(sb.broadcast("*batch, N", "2, 3"))
    assert valid.holds(batch=(5, 1), N=3) and not valid.holds(batch=(3,), N=3)
    assert valid.guard()(batch=(5, 2), N=1)
    assert valid.implies("batch[-1] <= 2") and valid.counterexample("N == 3") == {"batch": (), "N": 1}
    joined = sb.Condition("compatible(*a, *b)") & "a[-1] == 2 and b[-1] == 2"
    assert str(joined.simplified()) == "a[-1] == 2 and compatible(*a[:-1], *b[:-1]) and b[-1] == 2"
    assert joined.simplified().equivalent(joined) and joined.simplified().simplified() == joined.simplified()
    assert sb.Condition("rank(a) >= 1").verdict() is V.SOMETIMES
    assert sb.Condition(sb.broadcast("*a, N", "*a")).verdict() is V.SOMETIMES
    with pytest.raises(sb.UndecidedError, match="ranks were tried up to"):
        sb.broadcast("*a, N", "*a").implies("N >= 0")
    with pytest.raises(sb.DimensionError, match="a size and a sequence"):
        sb.Condition("*a == 1") & "a == 2"
    with pytest.raises(sb.AssumptionError, match="need not be so of axes that are not there"):
        sb.Condition("*a >= 2").verdict()


def test_alternatives_about_sequences_say_that_they_are_about_each_axis():
    plain = sb.Condition("rank(a) >= 1 and (*a == *b or *a == 1 or N == 2)")
    assert str(plain) == "rank(a) >= 1 and each(*a == *b or *a == 1 or N == 2)"
    assert sb.Condition(str(plain)) == plain
    # One axis may be equal, and another be 1.
    assert plain.holds(a=(2, 1), b=(2, 3), N=1) and not plain.holds(a=(2, 2), b=(2, 3), N=1)
    assert str(sb.Condition("each == 1 or compatible(*a, *b)")) == "each(each == 1 or compatible(*a, *b))"
    assert str(sb.Condition("*a == *b and N == 1")) == "*a == *b and N == 1"
    assert r"\operatorname{each}({*}a = {*}b \lor {*}a = 1 \lor N = 2)" in plain._repr_latex_()
    assert "each" not in sb.Condition("*a == *b and (N == 1 or N == 2)")._repr_latex_()
    for wrong in ("each(N == 1)", "each(N == 1) or *a == 1", "each(True)"):
        with pytest.raises(sb.ShapeSyntaxError, match="nothing here is about the axes of a sequence"):
            sb.Condition(wrong)


def test_sequences_without_a_name_are_told_apart_in_conditions():
    first, second = (sb.Condition(sb.broadcast("..., N", other)) for other in ("2, 3", "4, 3"))
    assert str(first & second) == (
        "(...0[-1] == 1 or ...0[-1] == 2) and (N == 1 or N == 3) and (...1[-1] == 1 or ...1[-1] == 4)"
    )
    assert first.implies("...0[-1] == 1 or ...0[-1] == 2") and not first.implies(second)
    alike, named = sb.broadcast("..., N", "2, 3"), sb.broadcast("...a, N", "2, 3")
    assert not sb.equivalent(alike, sb.broadcast("..., N", "2, 3"))
    assert sb.equivalent(named, sb.broadcast("...a, N", "2, 3"))


def test_operands_are_stretched_on_the_axes_of_the_known_end():
    result = sb.broadcast("*a, N", "2, 3")
    assert [str(result.expands("A", axis)) for axis in (-1, -2)] == [
        "A on axis -1: stretched when N == 1",
        "A on axis -2: stretched when a[-1] == 1",
    ]
    assert result.expands("B", -2).verdict is V.NEVER and result.expands("A", -1).rank is None
    for wrong in (-3, 0):
        with pytest.raises(sb.ShapeTypeError, match="these are -2 to -1"):
            result.expands("A", wrong)
    with pytest.raises(sb.ShapeTypeError, match="no axis is known by itself"):
        sb.broadcast("*a", "*b").expands("A", -1)


def test_a_program_refuses_what_cannot_hold_beside_the_rest():
    env = sb.ShapeEnv()
    assert str(env.equal("*a, N", "*b, 3, 4")) == "(*a[:-1], 3, 4)"
    with pytest.raises(sb.IncompatibleProgramError, match=r"a\[-1\] == 1 or a\[-1\] == 7"):
        env.broadcast("*a", "2, 7", origin="x")
    assert env.verdict is V.SOMETIMES


def test_operators_that_count_axes_from_the_end_take_shapes_of_unknown_rank():
    env = sb.ShapeEnv()
    assert str(env.matmul("*a, N, K", "*b, K, M")) == "(broadcast(*a, *b), N, M)"
    assert str(env.reduce("*a, N, K", axes=-1, keepdims=True)) == "(*a, N, 1)"
    assert str(env.reduce("*a, N")) == "()"
    assert str(env.concat(["*a, N, K", "*a, N, L"], axis=-1)) == "(*a, N, K + L)"
    assert str(env.unsqueeze("*a, N", axes=-1)) == "(*a, N, 1)"
    assert str(env.squeeze("*a, 1, K", axes=-2)) == "(*a, K)"
    for wrong in (
        lambda: env.matmul("*a, K", "K, M"),
        lambda: env.reduce("*a, N", axes=0),
        lambda: env.reduce("*a, N", axes=-2),
        lambda: env.concat(["*a, N", "2, L"], axis=-1),
        lambda: env.transpose("*a, N, K"),
        lambda: env.reshape("*a, N", (-1,)),
        lambda: env.unsqueeze("*a, N", axes=-3),
    ):
        with pytest.raises(sb.OperatorError):
            wrong()
