"""Shapes of unknown rank: ``...`` and ``*batch``; brute force is in `properties/test_rank_laws.py`."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path

import pytest
import sympy

import symbcast as sb
from symbcast.answers.program_report import report_schema

V = sb.Verdict
with (Path(__file__).parents[1] / "data" / "unknown_rank.tsv").open(encoding="utf-8", newline="") as _file:
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
    assert str(sb.broadcast("..., 3", "N").condition) == "N == 1 or N == 3"
    assert str(sb.broadcast("*batch, N", "*batch, M").shape) == "(*batch, broadcast(M, N))"
    result = sb.broadcast("*batch, N", "2, 3")
    assert str(result.shape) == "(*batch[:-1], 2, 3)"
    assert result.witness() == {"batch": (), "N": 1}
    assert result.evaluate(batch=(5, 1), N=3) == result.evaluate({"*batch": [5, 1], sb.symbol("N"): 3}) == (5, 2, 3)
    with pytest.raises(sb.IncompatibleShapesError, match="has 3 and 2"):
        result.evaluate(batch=(3,), N=1)
    assert result.certify()


def test_sizes_of_axes_are_given_as_a_tuple():
    result = sb.broadcast("*batch, N", "2, 3")
    guard, condition = result.guard(), sb.Condition(result)
    for wrong, said in [
        ({"batch": 2, "N": 1}, "a sequence of axes, not one size"),
        ({"batch": "2", "N": 1}, "a sequence of axes, not one size"),
        ({"batch": {2, 3}, "N": 1}, "a sequence of axes, not one size"),
        ({"batch": sb.shape("..."), "N": 1}, "a sequence of axes, not one size"),
        ({"batch": (2.0,), "N": 1}, r"batch\[0\]=2.0 is not a size"),
        ({"batch": (-1,), "N": 1}, r"batch\[0\]=-1 is not a size"),
        ({"batch": (1,) * 1001, "N": 1}, "no sequence has more than 1000"),
        ({"batch": (2,), "*batch": (1,), "N": 1}, "given twice"),
        ({"batch": (2,), "N": (1,)}, "is not a size"),
        ({"batch": (2,)}, "no size was given for N"),
        ({"N": 1}, r"write \w+\(N=1, batch=\(2, 2\)\)"),
        ({"batch": (2,), "N": 1, "M": 1}, "the sizes are N, batch"),
        ({"bacth": (2,), "N": 1}, "did you mean 'batch'"),
    ]:
        for at in (result.evaluate, guard, condition.guard()):
            with pytest.raises(sb.BindingError, match=said):
                at(wrong)
    with pytest.raises(sb.BindingError, match=r"write guard\(batch=\(2,\), N=1\)"):
        guard((2,), 1)
    for name in ("*a", "my batch", "lambda"):
        result = sb.broadcast(f"*'{name}', N", "2, 3")
        assert result.evaluate(result.witness()) == (2, 3) and result.guard()({name: (5, 2), "N": 3})
        with pytest.raises(sb.IncompatibleShapesError):
            result.evaluate(result.counterexample())
    both = sb.broadcast("'*a', N", "*a, 3")
    assert both.evaluate({"*a": 2, "a": (5, 1), "N": 1}) == (5, 2, 3)


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
    assert str(result.condition) == "(a[-1] == 1 or a[-1] == 2) and (N == M or N == 1 or M == 1)"
    assert result.evaluate(a=(3, 2), b=(3,), N=1, M=4) == (3, 2, 4)
    with pytest.raises(sb.BindingError, match="contradicts the assumption"):
        result.evaluate(a=(3, 2), b=(4,), N=1, M=4)
    with pytest.raises(sb.AssumptionError):
        sb.broadcast("*a, N", "3", assume="rank(a) >= 1001")
    env = sb.ShapeEnv(assume="*a == *b")
    env.broadcast("*a, 3", "*b, 3")
    assert env.verdict is V.ALWAYS
    for how in ({"assume": "*a >= 2"}, {"assume": "*a == *b", "min_size": 2}):
        with pytest.raises(sb.AssumptionError, match="might not hold for axes that do not exist"):
            sb.broadcast("*a, N", "*b, M", **how)
    for say in (env.assume, env.require):
        with pytest.raises(sb.AssumptionError, match="might not hold for axes that do not exist"):
            say("*a >= 2")
    joined = sb.broadcast("*a", "*b", assume="compatible(*a, *b)", min_size=2)
    assert joined.verdict is V.ALWAYS


def test_what_is_assumed_of_all_axes_is_certified_of_each_that_is_told_apart():
    result = sb.broadcast("*a, N", "*b, 3, 0", assume="compatible(*a, *b)", min_size=1)
    assert result.verdict is V.SOMETIMES and result.certify()
    assert sb.broadcast("*a", "*b, 3", "1", assume=["*a == *b", "b[-1] == 2"]).certify()


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


def test_sizes_are_asked_for_where_a_sequence_lies_under_itself():
    result = sb.broadcast("*a, 0", "*a, N - 1, 1")
    assert not result.guard()(a=(), N=0) and not sb.Condition(result).guard()(a=(), N=0)
    # A quotient is not worked out where it has no value.
    result = sb.broadcast("*b, N, N, 4//N", "*b, 1, M")
    assert str(result.shape) == "(broadcast(*b, *b[:-1]), broadcast(N, b[-1]), N, broadcast(M, 4//N))"
    assert sb.broadcast("*a, N - 1", "*a", assume="N == 0").verdict is V.NEVER


def test_a_rule_that_names_axes_asks_for_as_many():
    result = sb.broadcast("M, *data, N", "2, 3, 4", rule="explicit", axes=(0, 1, 2))
    assert str(sb.Condition(result)) == (
        "(M == 1 or M == 2) and rank(data) == 1 and (data[-1] == 1 or data[-1] == 3) and (N == 1 or N == 4)"
    )
    assert result.evaluate(M=1, data=(3,), N=1) == (2, 3, 4)
    for axes in ((), (0,)):
        with pytest.raises(sb.RuleArgumentError, match="for data of rank 2"):
            sb.broadcast("M, *data, N", "2, 3, 4", rule="explicit", axes=axes)
    result = sb.broadcast("*data", "2, 3, 4", rule="explicit", axes=(0, 2))
    with pytest.raises(sb.IncompatibleShapesError, match="names 2 axes for data of rank 1"):
        result.evaluate(result.counterexample())
    assert "fails at     data=(1,): axes=(0, 2) names 2 axes for data of rank 1" in result.explain()
    assert result.certify()


def test_sizes_in_front_of_a_sequence_are_for_rules_that_count_from_there():
    result = sb.broadcast("N, C, *rest", "D", rule="pdpd", axis=1)
    assert (str(result.shape), str(result.condition)) == ("(N, C, *rest)", "D == 1 or D == C")
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


def test_a_size_that_is_called_like_an_axis_is_another_in_sympy_too():
    for name in ("batch[-1]", "*batch", "rank(batch)", "...0"):
        shapes = sb.shape((sb.symbol(name), 3)), "2, 3"
        condition = sb.broadcast(*shapes).condition
        assert str(sb.Condition(condition)) == f"'{name}' == 1 or '{name}' == 2"
        assert sb.broadcast(*shapes, assume=condition).verdict is V.ALWAYS
    assert sb.shape(tuple(sb.shape("'batch[-1]', 3"))) == sb.shape("'batch[-1]', 3") != sb.shape("batch[-1], 3")
    assert sb.broadcast("'batch[-1]', 3", "batch[-1], 3").condition != sympy.true
    assert sb.shape("'a[-1]'*a[-1]") == sb.shape("a[-1]*'a[-1]'")
    # Sequences without a name are themselves in sympy, as unknown sizes are.
    first, second = (sb.broadcast("..., N", other).condition for other in ("2, 3", "4, 3"))
    assert str(sb.Condition(first & second)) == (
        "(...0[-1] == 1 or ...0[-1] == 2) and (N == 1 or N == 3) and (...1[-1] == 1 or ...1[-1] == 4)"
    )
    assert sb.broadcast("..., N", "2, 3", assume=first).verdict is V.ALWAYS
    assert pickle.loads(pickle.dumps(first)) == first


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
        lambda: sb.trace(lambda a: a.ndim, "*a, 3"),
        lambda: sb.explore_paths(len, "*a"),
    ]
    for question in asked:
        with pytest.raises(sb.UnknownRankError, match="the rank is not known in"):
            question()


def test_there_is_a_case_for_each_rank_and_one_from_a_rank_on():
    cases = sb.broadcast("*batch, N", "4, 3", assume="N == 3").cases()
    assert [(str(c.condition), str(c.shape)) for c in cases] == [
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
    assert (found.witness(), found.shapes) == ({"a": (2,), "N": 1}, ((2, 1), (3,)))
    assert "wanted                 2   3" in found.explain() and found._repr_html_()
    schema = pytest.importorskip("jsonschema")
    schema.validate(json.loads(json.dumps(found.to_dict())), found.json_schema())
    assert sb.solve("*a, N", "M", out="*a, 5").condition.implies("N == 5 or M == 5")
    # What leaves a shape as it is.
    other = sb.solve("*a, 3", "...b", out="*a, 3")
    assert other.condition.guard()({"a": (4, 2), "...b": (2, 1)}) and not other.condition.guard()(
        {"a": (2,), "...b": (1, 2, 3)}
    )
    assert sb.solve("*a, 3", out="2").verdict is V.NEVER
    assert sb.solve("*a", "*b", rule="none", out="3, 4").witness() == {"a": (3, 4), "b": (3, 4)}
    assert str(sb.solve("N, C, *r", "C", rule="pdpd", axis=1, out="2, 3, *r").condition) == "N == 2 and C == 3"
    with pytest.raises(sb.RuleArgumentError, match="sizes precede a sequence"):
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
    assert [(str(c.condition), c.hints) for c in cases] == [
        ("rank(batch) >= 1 and batch[-1] == 1", (0, 2)),
        ("batch[-1] == 8", (1,)),
        ("rank(batch) == 0", (2,)),
    ]
    assert str(cases[2].shapes["bias"]) == "(8, T, 64)" and cases.certify()
    with pytest.raises(sb.BindingError, match=r"T=1, batch=\(3,\)\) admits no valid sizes"):
        env.cases(hints=[{"batch": (3,), "T": 1}])


def test_an_answer_is_told_and_written_down():
    result = sb.broadcast("*a, N", "*b")
    text = result.explain()
    assert "on each axis *a and *b[:-1] are equal, or one of them is 1" in text
    assert "fails at     a=(), N=2, b=(3,): axis 0 (-1) has 2 and 3" in text
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
    assert [f.origins[0] for f in env.findings][:2] == ["a", "a"]
    assert sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict()))).condition == env.condition
    assert pickle.loads(pickle.dumps(env)).condition == env.condition
    assert "axis -3" in env.explain()
    assert env.report("text") and env.report("sarif") and env.report("github") and env._repr_html_()
    schema = pytest.importorskip("jsonschema")
    schema.validate(json.loads(env.report("json")), report_schema())
    schema.validate(json.loads(json.dumps(env.to_dict())), env.json_schema())


def test_an_axis_that_an_operand_names_itself_stays_one():
    # Of a, there may be no axis: that named is there all the same.
    for shapes in (("1, N", "*a"), ("1, N", "..., 1")):
        env = sb.ShapeEnv()
        out = env.broadcast(*shapes)
        for again in (env.broadcast("()", out, rule="unidirectional"), env.equal(out, out)):
            assert again == out
            names = {"a": (), "...0": (), "N": 1}
            held = sb.broadcast(again)
            assert held.evaluate({n: size for n, size in names.items() if n in held.witness()}) == (1, 1)
    assert str(sb.broadcast("3", "*a[:-1], a[-1], 3", rule="unidirectional").shape) == "(*a[:-1], a[-1], 3)"


def test_requirements_and_assumptions_of_programs_speak_of_ranks():
    env = sb.ShapeEnv()
    env.broadcast("*a, N", "3", origin="x")
    env.require("rank(a) >= 2 and a[-1] == 4", origin="y")
    assert env.witness() == {"a": (1, 4), "N": 1}
    env.assume("rank(a) == 2")
    assert {(f.text, f.origins) for f in env.findings} == {("N == 1 or N == 3", ("x",)), ("a[-1] == 4", ("y",))}
    assert [str(c.condition) for c in env.cases()] == ["a[-1] == 4 and N == 3", "a[-1] == 4 and N == 1"]
    assert str(env.expands("x", "A", -1)) == "A of x on axis -1: stretched when N == 1"
    env = sb.ShapeEnv()
    env.broadcast("*a, N", "*a", origin="x")
    for question in (env.to_cpp, env.cases, lambda: env.expands("x", "A", -1)):
        with pytest.raises(sb.UnknownRankError):
            question()


def test_a_program_names_a_sequence_once_in_what_is_written_down():
    env = sb.ShapeEnv(assume="rank(a) == 2")
    env.broadcast("..., N, a[-1]", "*a")
    data = json.loads(json.dumps(env.to_dict()))
    assert [(s["name"], "sequence" in s) for s in data["symbols"]] == [("a", True), ("...0", True), ("N", False)]
    assert sb.ShapeEnv.from_dict(data).condition == env.condition


def test_what_programs_prove_holds_at_all_ranks():
    env = sb.ShapeEnv(assume="rank(b) >= 1")
    env.broadcast("*a, N", "*b, 3", origin="x")
    env.require("a[-1] == 4", origin="y")
    assert env.implies("compatible(*a, *b)") and env.implies("rank(a) >= 1") and env.implies("b[-1] == 1 or b[-1] == 4")
    assert not env.implies("*a == *b") and not env.implies("N == 3")
    other = sb.ShapeEnv(assume="rank(b) >= 1")
    other.broadcast("*b, 3", "*a, N")
    assert not sb.equivalent(env, other)
    other.require("a[-1] == 4 and rank(a) >= 1")
    assert sb.equivalent(env, other)


def test_conditions_speak_of_sequences():
    valid = sb.Condition(sb.broadcast("*batch, N", "2, 3"))
    assert valid.guard()(batch=(5, 1), N=3) and not valid.guard()(batch=(3,), N=3)
    assert valid.guard()(batch=(5, 2), N=1)
    assert valid.implies("batch[-1] <= 2") and valid.counterexample("N == 3") == {"batch": (), "N": 1}
    joined = sb.Condition("compatible(*a, *b)") & "a[-1] == 2 and b[-1] == 2"
    assert str(joined.simplified()) == "a[-1] == 2 and compatible(*a[:-1], *b[:-1]) and b[-1] == 2"
    assert joined.simplified().equivalent(joined) and joined.simplified().simplified() == joined.simplified()
    assert sb.Condition("rank(a) >= 1").verdict is V.SOMETIMES
    assert sb.Condition(sb.broadcast("*a, N", "*a")).verdict is V.SOMETIMES
    with pytest.raises(sb.UndecidedError, match="ranks were tried up to"):
        sb.broadcast("*a, N", "*a").implies("N >= 0")
    with pytest.raises(sb.DimensionError, match="a size and a sequence"):
        sb.Condition("*a == 1") & "a == 2"
    with pytest.raises(sb.AssumptionError, match="might not hold for axes that do not exist"):
        sb.Condition("*a >= 2").verdict_under()


def test_alternatives_about_sequences_say_that_they_are_about_each_axis():
    plain = sb.Condition("rank(a) >= 1 and (*a == *b or *a == 1 or N == 2)")
    assert str(plain) == "rank(a) >= 1 and each(*a == *b or *a == 1 or N == 2)"
    assert sb.Condition(str(plain)) == plain
    # One axis may be equal, and another be 1.
    assert plain.guard()(a=(2, 1), b=(2, 3), N=1) and not plain.guard()(a=(2, 2), b=(2, 3), N=1)
    assert str(sb.Condition("each == 1 or compatible(*a, *b)")) == "each(each == 1 or compatible(*a, *b))"
    assert str(sb.Condition("*a == *b and N == 1")) == "*a == *b and N == 1"
    assert r"\operatorname{each}({*}a = {*}b \lor {*}a = 1 \lor N = 2)" in plain._repr_latex_()
    assert "each" not in sb.Condition("*a == *b and (N == 1 or N == 2)")._repr_latex_()
    for wrong in ("each(N == 1)", "each(N == 1) or *a == 1", "each(True)"):
        with pytest.raises(sb.ShapeSyntaxError, match="this mentions no axes of a sequence"):
            sb.Condition(wrong)


def test_witnesses_of_relations_that_are_no_joins_hold_on_every_axis():
    # Beyond the axes of b, the size beside is 1: each of these allows a 1 of a there, and no 2.
    for relation in ("each(*a == 1 or *b == 2)", "*a <= *b"):
        assumed = [relation, "rank(a) == 3", "rank(b) == 1"]
        found = sb.Condition(" and ".join(assumed)).counterexample("*a == 1")
        assert found == {"a": (1, 1, 2), "b": (2,)}
        assert sb.Condition(relation).guard()(found)
        result = sb.broadcast("*a, 3", "*b, N", assume=assumed)
        assert result.evaluate(result.witness()) is not None
    assert sb.broadcast("*a", "*b", min_size=2).implies("rank(a) >= 0")
    # No axis of size 2 or more is 1.
    with pytest.raises(sb.AssumptionError, match="existing axes, whose sizes are at least 2"):
        sb.Condition("*a == 1").implies("rank(a) == 0", min_size=2)
    with pytest.raises(sb.UnknownRankError, match="simplified"):
        sb.Condition("rank(a) == 2").simplified(min_size=2)


@pytest.mark.parametrize(
    "text, said",
    [
        ("not *a == *b", "a relation of all axes cannot be negated"),
        ("N == 1 and not each(*a == *b or *a == 1)", "a relation of all axes cannot be negated"),
        ("... == 1", "names no sequence of axes"),
        ("*a == broadcast(..., *b)", "names no sequence of axes"),
        ("rank(*a) == 1", "'rank' takes the name of a sequence of axes"),
        ("*'...a' == 1", "does not begin with '...'"),
    ],
)
def test_what_says_nothing_of_axes_is_refused(text, said):
    with pytest.raises(sb.ShapeSyntaxError, match=said):
        sb.Condition(text)


def test_space_stands_where_it_does_elsewhere():
    assert sb.shape("rank ( 'a b' ), a [ - 1 ], *a [ : -2 ]") == sb.shape("rank('a b'), a[-1], *a[:-2]")
    assert str(sb.Condition("not rank( a ) == 2 or not a[ -1 ] == 1")) == "rank(a) != 2 or a[-1] != 1"


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
    with pytest.raises(sb.ShapeTypeError, match="no single axis is known"):
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
    assert str(env.matmul("*a, K", "K, M")) == "(*a, M)"
    assert sb.Condition(env).equivalent("compatible(*a, *b)")


TAKEN_OUT = [
    (lambda e: e.transpose("..., 3", (1, 0)), "(3, ...0[-1])", "rank(...0) == 1"),
    (lambda e: e.transpose("*a, N", (..., -1, -2)), "(*a[:-1], N, a[-1])", "rank(a) >= 1"),
    (lambda e: e.transpose("N, *a, M", (-1, ..., 0)), "(M, *a, N)", "True"),
    (lambda e: e.matmul("*a", "3, M"), "(*a[:-1], M)", "rank(a) >= 1 and a[-1] == 3"),
    (lambda e: e.reduce("*a, N", axes=-2), "(*a[:-1], N)", "rank(a) >= 1"),
    (lambda e: e.reduce("N, *a", axes=0), "(*a,)", "True"),
    (lambda e: e.concat(["*a, N", "2, L"], axis=-1), "(2, L + N)", "rank(a) == 1 and a[-1] == 2"),
    (lambda e: e.concat(["*a, N", "*b, L"], axis=-1), "(*a, L + N)", "rank(a) == rank(b) and *a == *b"),
    (lambda e: e.stack(["*a, N", "*b, N"]), "(2, *a, N)", "rank(a) == rank(b) and *a == *b"),
    (lambda e: e.unsqueeze("*a, N", axes=(0, -3)), "(1, *a[:-1], 1, a[-1], N)", "rank(a) >= 1"),
    (lambda e: e.reshape("*a, T, 768", ("*a", "T", 12, 64)), "(*a, T, 12, 64)", "True"),
    (lambda e: e.reshape("*a, T, 8", ("*a", 2, -1)), "(*a, 2, 4*T)", "*a >= 1"),
    (lambda e: e.flatten("*a, N", start=-2), "(*a[:-1], N*a[-1])", "rank(a) >= 1"),
    (lambda e: e.flatten("*a", start=-1), "(*a[:-1], a[-1])", "True"),
    (lambda e: e.gather("50000, d", "*i"), "(*i, d)", "True"),
    (lambda e: e.gather("V, *a", "2"), "(2, *a)", "V >= 1"),
    (lambda e: e.slice("*a, N", 0, 2, axes=-2), "(*a[:-1], min(a[-1], 2), N)", "rank(a) >= 1"),
    (lambda e: e.pad("*a, N", [(1, 0), 0]), "(a[-1] + 1, N)", "rank(a) == 1"),
    (lambda e: e.split("*a, N", 2, axis=-1)[1], "(*a, N//2)", "N % 2 == 0"),
    # A shape of fewer axes than there are repeats has axes of size 1 in front.
    (lambda e: e.tile("*a, N", "2, 3"), "(*a[:-1], 2*a[-1], 3*N)", "True"),
    (
        lambda e: e.expand("*a", "2, 3"),
        "(2, 3)",
        "rank(a) <= 2 and (a[-1] == 1 or a[-1] == 3) and (a[-2] == 1 or a[-2] == 2)",
    ),
    (lambda e: e.einsum("...ij,jk->...ik", "*a, N, 3", "3, 4"), "(*a, N, 4)", "True"),
    (lambda e: e.einsum("...ij,jk->...ik", "*a, 3", "3, 4"), "(*a, 4)", "rank(a) >= 1"),
    (lambda e: e.einsum("...i->i", "*a, N"), "(N,)", "rank(a) == 0"),
    (lambda e: e.conv("*x", "8, 3, 3"), "(x[-3], 8, x[-1] - 2)", "rank(x) == 3 and x[-1] >= 3 and x[-2] == 3"),
    (lambda e: e.pool("N, *x", "2"), "(N, x[-2], x[-1] - 1)", "rank(x) == 2 and x[-1] >= 2"),
]
"""What takes axes out of a sequence, or says how many it has: the output, and what is asked."""


@pytest.mark.parametrize(("ask", "output", "condition"), TAKEN_OUT)
def test_operators_take_axes_out_of_sequences_and_ask_that_they_be_there(ask, output, condition):
    env = sb.ShapeEnv()
    assert str(ask(env)) == output
    assert sb.Condition(env).equivalent(condition)
    data = json.loads(json.dumps(env.to_dict()))
    again = sb.ShapeEnv.from_dict(data)
    assert str(again.condition) == str(env.condition) and again.to_dict() == data
    assert env.explain() and (env.report("text") or env.verdict is V.ALWAYS)


def test_two_ranks_of_one_sequence_clash():
    env = sb.ShapeEnv()
    env.transpose("*a, 3", (1, 0), origin="first")
    with pytest.raises(sb.IncompatibleProgramError, match=r"rank\(a\) == 2"):
        env.transpose("*a, 3", (2, 1, 0), origin="second")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda e: e.transpose("*a, N, K"), "takes no operand of unknown rank"),
        (lambda e: e.transpose("2, 3, N, *a", (1, 0)), "takes an operand of rank 2"),
        (lambda e: e.transpose("N, *a", (..., -1, -2)), "the last 2 axes of"),
        (lambda e: e.matmul("N, K", "*b, M"), "the last 2 axes of"),
        (lambda e: e.reduce("*a, N", axes=0), "the first axis of"),
        (lambda e: e.reduce("*a, N", keepdims=True), "takes no operand of unknown rank"),
        (lambda e: e.flatten("*a, N"), "takes no operand of unknown rank"),
        (lambda e: e.reshape("*a, 4", (-1, 4)), "the same sequence of them"),
        (lambda e: e.reshape("*a, N, K", "*a, M"), "at all sizes, or one size must be -1"),
        (lambda e: e.reshape("N, *a, K", ("*a", 0, -1), zero_copies=True), "in the same place"),
        (lambda e: e.concat(["N, *a", "M, *b"]), "the same axes before the same sequence"),
        (lambda e: e.concat(["*a, 2, 3", "4"], axis=-1), "ranks"),
        (lambda e: e.gather("*a, 5", "*b", axis=-1), "two sequences of axes"),
        (lambda e: e.gather("*a, N", "2", axis=-1), "depends on an unknown number of elements"),
        (lambda e: e.expand("N, *a", "2, 3"), "the alignment of the axes depends on it"),
        (lambda e: e.split("*a, N", "*parts", axis=-1), "the number of parts"),
        (lambda e: e.pad("*a, N", 1), "takes no operand of unknown rank"),
        (lambda e: e.conv("*x", "*w"), "takes no operand of unknown rank"),
        (lambda e: e.einsum("...i,...i", "*a, N"), "terms"),
        (lambda e: e.transpose("A, B", (..., ...)), "more than one ellipsis"),
    ],
)
def test_what_no_one_answer_can_be_given_to_is_refused(ask, words):
    env = sb.ShapeEnv()
    with pytest.raises(sb.OperatorError, match=words):
        ask(env)
    assert not env.operations


def test_a_failure_is_told_where_sizes_of_axes_beside_it_have_no_value():
    env = sb.ShapeEnv(min_size=2, on_conflict="record")
    env.matmul("3, M", "*b, N, N")
    env.broadcast("*b, N", "*b")
    env.broadcast("*b, 3, M", "(broadcast(*b, *b[:-1]), M)")
    assert "?" in env.report("text") and env.findings and env.explain()
