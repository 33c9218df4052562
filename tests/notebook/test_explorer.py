"""The explorer without its page: fields in, data for the page out."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
import sympy
from hypothesis import given, reject
from hypothesis import strategies as st
from questions import Question as Asked
from questions import questions

import symbcast as sb

pytest.importorskip("anywidget")

from symbcast.answers.explanation.evidence import AxisMark
from symbcast.answers.show.axis_steps import axis_steps_at
from symbcast.core.programs.conditions import plain_answer
from symbcast.notebook.explorer.fields import question_of
from symbcast.notebook.explorer.question import ExplorerQuestion, FieldError, fixed_question

BAD_FIELDS = [
    (ExplorerQuestion(("N, 3 +", "M")), "shape 0", FieldError("the text ends too early; expected a dimension", 6, 6)),
    (ExplorerQuestion(("N", "M,, 1")), "shape 1", FieldError("unexpected ','; expected a dimension", 2, 3)),
    (ExplorerQuestion(("N", "M"), assume="  N >= 2 and"), "assume", 12),
    (ExplorerQuestion(("N", "M"), assume="N >= 2 and N < 1"), "assume", "this assumption is never true"),
    (ExplorerQuestion(("N", "M"), assume="? >= 2"), "assume", "give it the same label"),
    (ExplorerQuestion(("N", "M"), min_size=-1), "min_size", "a size is not negative"),
    (ExplorerQuestion(("N", "M", "K"), "pdpd"), "rule", "takes 2 shapes (A, B), not 3"),
    (ExplorerQuestion(("N", "M"), "explicit"), "attribute axes", "needs axes="),
    (ExplorerQuestion(("N", "M"), "explicit", {"axes": "7"}), "attribute axes", "outside the target's axes"),
    (ExplorerQuestion(("N", "M"), "pdpd", {"axis": "one"}), "attribute axis", "axis='one' is not an integer"),
    (ExplorerQuestion(("N", "M"), "explicit", {"axes": "0, x"}), "attribute axes", "'x' is not an integer"),
    (ExplorerQuestion(("N", "M"), "pdpd", {"flavour": "vanilla"}), "attribute flavour", "'vanilla' is not offered"),
    (
        ExplorerQuestion(("N", "M"), "onnx-legacy", {"broadcast": "1", "axis": "-99999", "flavour": "openvino"}),
        "attribute axis",
        "ones",
    ),
    (ExplorerQuestion(("N, C", "C"), "pdpd", {"axis": "7"}), "attribute axis", "write an axis from 0 to"),
    (ExplorerQuestion(("N", "N"), "paddle", {"min_rank": "-1"}), "attribute min_rank", "is negative"),
    (ExplorerQuestion(("N", "M"), compare_with="nump"), "compare_with", "did you mean 'numpy'"),
    (ExplorerQuestion(("N", "M"), compare_with="pdpd(axis=1"), "compare_with", "no ')' ends its attributes '(axis=1'"),
    (ExplorerQuestion(("N", "M"), compare_with="pdpd(axis=x)"), "compare_with", "axis='x' is not an integer"),
    (ExplorerQuestion(("N", "M"), compare_with="numpy(axis=1)"), "compare_with", "axis= is for pdpd and onnx-legacy"),
    (ExplorerQuestion(("N", "M"), compare_with="explicit"), "compare_with", "needs axes="),
]


@pytest.mark.parametrize(("question", "field", "said"), BAD_FIELDS)
def test_a_fault_is_told_at_its_field(question: ExplorerQuestion, field: str, said: Any) -> None:
    result, faults = question.ask()
    assert result is None
    assert list(faults) == [field]
    if isinstance(said, FieldError):
        assert faults[field] == said
    elif isinstance(said, int):
        assert faults[field].start == said
    else:
        assert said in faults[field].message


def test_all_faulty_fields_are_told_at_once() -> None:
    _, faults = ExplorerQuestion(("N,", "3 +", "M"), assume="N >", min_size=-2).ask()
    assert set(faults) == {"shape 1", "assume", "min_size"}


def answer_to(asked: Asked) -> sb.Result:
    try:
        return asked.ask()
    except sb.AssumptionError:
        reject()  # assumptions that contradict each other: no question


@given(questions())
def test_a_result_as_text_asks_the_same_question(asked: Asked) -> None:
    result = answer_to(asked)
    question = question_of(result)
    again, faults = question.ask()
    assert faults == {}
    assert again is not None
    assert again.verdict is result.verdict
    if len(_names(again)) < len(_names(result)):
        # What was known of sizes that the shapes do not have is left out.
        said = re.findall(r"\w+", " ".join((*question.shapes, question.assume)))
        assert set(_names(again)) == {*_names(result)} & {*said} != {*_names(result)}
        return
    # A product is written in the order of its names, so names may appear in another order: `b*a` is `a*b`.
    are_equal = set(_names(result)) == set(_names(again))
    names = dict(zip(_names(result), _names(result) if are_equal else _names(again), strict=True))
    for sizes in (result.witness(), result.counterexample()):
        if sizes:
            bound = {names[name]: size for name, size in sizes.items()}
            assert axis_steps_at(plain_answer(again), bound).shape == axis_steps_at(plain_answer(result), sizes).shape
    assert eval(question.call(), {"sb": sb}).verdict is result.verdict


def _names(result: sb.Result) -> list[str]:
    return list(plain_answer(result).shown.values())


@given(questions())
def test_a_working_says_what_evaluation_does(asked: Asked) -> None:
    result = answer_to(asked)
    for sizes in (result.witness(), result.counterexample()):
        if sizes is None or (result.symbols and not sizes):
            continue
        working = axis_steps_at(plain_answer(result), sizes)
        try:
            assert working.shape == result.evaluate(sizes)
            assert all(step.mark is AxisMark.FINE for step in working.steps)
            assert [step.output for step in working.steps if step.axis != "over"] == [str(d) for d in working.shape]
        except sb.IncompatibleShapesError:
            assert working.shape is None
            assert working.problem or any(step.mark is AxisMark.IMPOSSIBLE and step.reason for step in working.steps)


@given(questions())
def test_a_fix_as_fields_asks_a_better_question(asked: Asked) -> None:
    result = answer_to(asked)
    fixed = fixed_question(result)
    if fixed is None:
        return
    again, faults = fixed[1].ask()
    assert faults == {}
    assert again is not None
    assert again.verdict is sb.Verdict.ALWAYS or result.verdict is sb.Verdict.NEVER is not again.verdict


def test_the_page_gets_the_fields_with_the_fix() -> None:
    explorer = sb.notebook.explore("2, 3", "2")
    assert explorer.answer["fix"]["text"] == "reshape B to (2, 1)"
    for name, value in explorer.answer["fix"]["fields"].items():
        setattr(explorer, name, value)
    assert explorer.result is not None
    assert explorer.result.verdict is sb.Verdict.ALWAYS
    assert explorer.answer["fix"] is None
    assert sb.notebook.explore("N", "M", rule="pdpd", axis=0).answer["fix"]["fields"]["attributes"] == {"axis": "0"}


def test_own_symbols_and_unknowns_become_text() -> None:
    n = sympy.Symbol("n", integer=True, positive=True)
    shared = sb.Unknown("?0", 2, 5)
    explorer = sb.notebook.explore((n, shared), (1, shared + 1), assume=n < 9)
    assert explorer.shapes == ["n, ?0", "1, ?0 + 1"]
    assert explorer.assume == "n >= 1 and ?0 >= 2 and ?0 <= 5 and n < 9"
    assert explorer.result is not None
    assert explorer.result.verdict is sb.Verdict.NEVER


@pytest.mark.parametrize(
    ("arguments", "keywords", "call"),
    [
        (("N, 3", "M"), {}, 'sb.broadcast("N, 3", "M")'),
        ((), {}, 'sb.broadcast("N, 3", "M, 1")'),
        (("N", "M"), {"assume": ["N >= 2", "M == 1 or M == 4"]}, None),
        (((4, "N"), "M"), {"rule": "pdpd", "axis": 1}, 'sb.broadcast("4, N", "M", rule="pdpd", axis=1)'),
        (("N", "M, N"), {"rule": "explicit", "axes": (1,)}, 'sb.broadcast("N", "M, N", rule="explicit", axes=(1,))'),
        (("N", "M"), {"rule": "Expand"}, None),
        (("()", "2"), {}, 'sb.broadcast("()", "2")'),
        (("()", "N"), {"rule": "explicit", "axes": ()}, 'sb.broadcast("()", "N", rule="explicit", axes=())'),
        (("N", "M"), {"rule": "explicit", "axes": range(1)}, 'sb.broadcast("N", "M", rule="explicit", axes=(0,))'),
        (
            ("N", "M"),
            {"rule": "onnx-legacy", "broadcast": True},
            'sb.broadcast("N", "M", rule="onnx-legacy", broadcast=1)',
        ),
        (("N", "M"), {"rule": "broadcast-to"}, 'sb.broadcast("N", "M", rule="unidirectional")'),
        (("N", "M"), {"axis": 1}, None),
        (("N", "M"), {"rule": "explicit", "axes": 0}, None),
        ((sb.broadcast("N", "M"),), {"assume": "N >= 2"}, None),
    ],
)
def test_opening(arguments: tuple[Any, ...], keywords: dict[str, Any], call: str | None) -> None:
    try:
        asked = sb.broadcast(*arguments or ("N, 3", "M, 1"), **keywords)
    except sb.SymbcastError as error:
        with pytest.raises(type(error)):
            sb.notebook.explore(*arguments, **keywords)
        return
    explorer = sb.notebook.explore(*arguments, **keywords)
    assert explorer.result is not None
    assert str(sb.Condition(explorer.result)) == str(sb.Condition(asked))
    if call is not None:
        assert explorer.checked["call"] == call
    assert str(sb.Condition(eval(explorer.checked["call"], {"sb": sb}))) == str(sb.Condition(asked))


def test_the_state_is_copied_whole() -> None:
    state = {"over": ["K", "M"], "sizes": {"N": 3}, "up_to": 7, "shade": 1, "compare_with": "none"}
    first = sb.notebook.explore("N, C", "C, K", "M, 1", assume="C >= 2", **state)
    again = eval(first.checked["explorer_call"], {"sb": sb})
    assert again.checked["explorer_call"] == first.checked["explorer_call"]
    for shown in ("map", "working", "sizes"):
        assert again.checked[shown] == first.checked[shown]


def test_no_shapes_are_copied_as_no_shapes() -> None:
    explorer = sb.notebook.explore(sb.broadcast(assume=sb.Condition("N >= 3")))
    again = eval(explorer.checked["explorer_call"], {"sb": sb})
    assert again.shapes == []
    assert again.checked["sizes"] == explorer.checked["sizes"]


@pytest.mark.parametrize("sizes", [{"N": -1}, {"N": 2.7}, {"N": "x"}, {"N": True}, {"N": 2**53}, [2]])
def test_what_are_no_sizes(sizes: Any) -> None:
    with pytest.raises(sb.BindingError):
        sb.notebook.explore("N", sizes=sizes)


def test_rules_are_set_by_any_of_their_names() -> None:
    explorer = sb.notebook.explore("N", "M, N")
    explorer.rule = "broadcast-to"
    assert explorer.rule == "unidirectional"
    with pytest.raises(sb.UnknownRuleError):
        explorer.rule = "Expand"


def test_symbols_of_the_map_that_are_gone_or_named_twice() -> None:
    explorer = sb.notebook.explore("N", "M", "K", over=["gone", "K", "K", "N", "M"])
    assert explorer.checked["map"]["axes"] == ["K", "N"]


def test_sizes_that_a_page_cannot_count_are_told_exactly() -> None:
    large = 2**53 + 1
    checked = sb.notebook.explore("N, M", "N, 1", assume=f"N >= {large}").checked
    assert checked["sizes"] == [["N", "N", str(large)], ["M", "M", "3"]]
    assert checked["bound"] == f"N={large}, M=3"
    (row,) = sb.notebook.explore(f"M*{large}").checked["map"]["rows"]
    assert row[3] == ["works", str(3 * large), f"({3 * large},)"]


@pytest.mark.parametrize("moved", "NMK")
def test_sizes_that_are_equal_move_together(moved: str) -> None:
    checked = sb.notebook.explore("N, M", "K, 1", assume="N == M and M == K", sizes={moved: 5}).checked
    assert checked["bound"] == "N=5, M=5, K=5"
    assert "output <code" in checked["working"]


def test_names_that_do_not_print() -> None:
    turned, long = sympy.Symbol("\u202eN\n"), sympy.Symbol("long" * 40)
    checked = sb.notebook.explore((turned, long)).checked
    labels = [label for _, label, _ in checked["sizes"]]
    assert labels[0] == r"\u202eN\n"
    assert len(labels[1]) == 40
    assert checked["bound"].isprintable()


def test_ranks_that_are_refused_where_there_is_no_axis() -> None:
    result = sb.broadcast("()", "N", rule="paddle", min_rank=1)
    assert axis_steps_at(plain_answer(result), {"N": 2}).problem == "A: rank 0 is below min_rank=1"
    checked = sb.notebook.explore(result).checked
    assert "A: rank 0 is below min_rank=1" in checked["working"]
    assert [blame["label"] for blame in checked["map"]["blames"]] == ["fails because of the ranks"]


def test_an_axis_far_from_all_others_is_one_axis() -> None:
    explorer = sb.notebook.explore("N, 3", "M", rule="onnx-legacy", broadcast=1, axis=10**39)
    assert explorer.answer["verdict"] == "sometimes"
    assert [step.axis for step in axis_steps_at(plain_answer(explorer.result), {"N": 2, "M": 1}).steps] == [
        "0",
        "1",
        "over",
    ]


@given(questions(), st.dictionaries(st.sampled_from("abz"), st.integers(0, 5)), st.lists(st.sampled_from("abz")))
def test_every_state_is_shown_as_it_is(asked: Asked, sizes: dict[str, int], over: list[str]) -> None:
    result = answer_to(asked)
    explorer = sb.notebook.explore(result, sizes=sizes, over=over, up_to=3)
    checked = explorer.checked
    assert eval(checked["call"], {"sb": sb})._repr_html_() == explorer.result._repr_html_()
    bound = {name: int(size) for name, _, size in checked["sizes"]}
    assert all(bound[name] == size for name, size in sizes.items() if name in bound)
    if checked["map"] is None:
        assert not bound
        return
    following = re.findall(r"(\w+) = (\w+)(?:,|$)", checked["map"]["fixed"])  # sizes that assumptions tie to the axes
    for j, row in enumerate(checked["map"]["rows"]):
        for i, cell in enumerate(row):
            shown = [sizes[n] for sizes, n in zip(checked["map"]["sizes"], (i, j), strict=False)]
            here = {**bound, **dict(zip(checked["map"]["axes"], shown, strict=True))}
            here |= {name: here[axis] for name, axis in following if axis in here}
            assert cell[0] == _outcome(explorer.result, here)
            if cell[0] == "works":
                assert cell[2] == str(explorer.result.evaluate(here))


def _outcome(result: sb.Result, sizes: dict[str, int]) -> str:
    try:
        result.evaluate(sizes)
    except sb.BindingError:
        return "excluded"
    except sb.IncompatibleShapesError:
        return "fails"
    return "works"


def test_the_map_is_what_evaluation_says() -> None:
    explorer = sb.notebook.explore("N - 1, 3", "M, 1", assume="M != 5", up_to=8)
    shown = explorer.checked["map"]
    assert shown["axes"] == ["N", "M"]
    assert shown["rank"] == 2
    for m, row in zip(shown["sizes"][1], shown["rows"], strict=True):
        for n, cell in zip(shown["sizes"][0], row, strict=True):
            try:
                shape = explorer.result.evaluate(N=n, M=m)
                assert cell == ["works", str(shape[0]), str(shape)]
            except sb.BindingError:
                assert cell == ["excluded"]
                assert m == 5
            except sb.IncompatibleShapesError:
                assert cell[0] == "fails"
                assert shown["blames"][cell[1]]["label"] == "fails on axis 0 (-2)"


@given(questions(), st.sampled_from(["numpy", "none", "pdpd(axis=0)", "explicit(axes=(0,))"]))
def test_another_rule_is_compared_on_the_same_shapes(asked: Asked, other: str) -> None:
    result = answer_to(asked)
    explorer = sb.notebook.explore(result, compare_with=other)
    shown = explorer.answer["comparison"]
    question = question_of(result)
    assumed = question.assume or ()
    again = sb.compare(*question.shapes, rules=[result.rule, other], assume=assumed, min_size=question.min_size)
    drawn = again._repr_html_()
    if any(region.reason for pair in again.pairs for region in pair.regions.values()):
        reject()  # the effort of a call decides more or less of a comparison, as it asks for less or more
    assert shown == drawn
    assert shown in explorer._repr_mimebundle_()[0]["text/html"]


def test_the_comparison_follows_its_field() -> None:
    explorer = sb.notebook.explore("N, C", "C", rule="pdpd", axis=1)
    assert explorer.answer["comparison"] == ""
    explorer.compare_with = " broadcast-to "
    assert "pdpd(axis=1)" in explorer.answer["comparison"]
    assert "broadcast-to refuses" in explorer.answer["comparison"]
    explorer.compare_with = "broadcast-"
    assert explorer.result is None
    assert list(explorer.checked["faults"]) == ["compare_with"]
    explorer.compare_with = ""
    assert explorer.answer["comparison"] == ""


def test_another_rule_that_takes_no_such_shapes_refuses_them() -> None:
    explorer = sb.notebook.explore("N", "M", "K", compare_with=sb.broadcast("N", "M", rule="pdpd").rule)
    assert explorer.compare_with == "pdpd"
    assert explorer.result is not None
    assert "takes 2 shapes (A, B), not 3" in explorer.answer["comparison"]


@pytest.mark.parametrize(("rule", "error"), [("nump", sb.UnknownRuleError), ("explicit", sb.RuleArgumentError)])
def test_another_rule_that_there_is_not(rule: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        sb.notebook.explore("N", "M", compare_with=rule)


def test_python_sets_what_the_page_shows() -> None:
    explorer = sb.notebook.explore("N", "M")
    serial = explorer.checked["serial"]
    explorer.shapes = ["N", "("]
    assert explorer.result is None
    assert explorer.checked == {
        "serial": serial + 1,
        "faults": {"shape 1": ["the text ends too early; expected a dimension", 1, 1]},
    }
    assert repr(explorer) == "<Explorer numpy of 'N', '('; shape 1: the text ends too early; expected a dimension>"
    explorer.shapes = ["N", "1"]
    assert explorer.answer["verdict"] == "always"
    assert explorer.answer["serial"] == explorer.checked["serial"] == serial + 2
    assert repr(explorer) == "<Explorer numpy: always (N,)>"


def test_the_map_is_where_sizes_can_be() -> None:
    explorer = sb.notebook.explore("N", "M", assume="N >= 64 and M == 100", up_to=4)
    assert explorer.checked["map"]["sizes"] == [[64, 65, 66, 67, 68], [100, 101, 102, 103, 104]]
    assert {name: size for name, _, size in explorer.checked["sizes"]} == {"N": "64", "M": "100"}


def test_no_symbols_no_map() -> None:
    explorer = sb.notebook.explore("2, 3", "4, 1")
    assert explorer.checked["map"] is None
    assert explorer.answer["html"].count("sizes must be equal or 1") == 1
    assert explorer.checked["working"] == "", "the answer has the operands already"


def test_it_begins_where_something_works() -> None:
    explorer = sb.notebook.explore("batch, heads, T, K", "batch, 1, S - 1, T", assume="T >= 3")
    cells = [cell for row in explorer.checked["map"]["rows"] for cell in row]
    assert any(cell[0] == "works" for cell in cells)
    assert any(cell[0] == "fails" for cell in cells)


def test_what_goes_to_the_page_is_json() -> None:
    explorer = sb.notebook.explore("'<b>', 2..5", "M, 1")
    for trait in ("rules", "checked", "answer"):
        json.dumps(getattr(explorer, trait))
    assert "<b>" not in explorer.answer["html"]
    assert "&lt;b&gt;" in explorer.answer["html"]
    assert "<b>" not in explorer.checked["working"]


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("symbcast.notebook.explorer.widget")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(vars(sb.notebook), "Explorer", raising=False)  # a name is loaded once
    for ask in (lambda: sb.notebook.explore("N", "M"), lambda: sb.notebook.Explorer):
        with pytest.raises(sb.MissingExtraError, match=r"pip install '\.\[notebook\]'"):
            ask()


def test_a_page_that_only_displays_has_the_answer_and_a_picture() -> None:
    explorer = sb.notebook.explore("batch, heads, T, T + P", "batch, 1, 1, S")
    data, _ = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert explorer.answer["html"] in data["text/html"]
    assert (
        'alt="Plot of where it works and where it fails, for sizes of T (0 to 12) and S (0 to 12)' in data["text/html"]
    )
    numbers, _ = sb.notebook.explore("2, 3", "4, 1")._repr_mimebundle_()
    assert "<img" not in numbers["text/html"]


def test_a_map_goes_up_to_4096_in_steps() -> None:
    shown = sb.notebook.explore("N", "M", up_to=10**6).checked["map"]
    assert shown["up_to"] == 4096
    assert shown["steps"] == "N: 0 to 4096, every 128th size; M: 0 to 4096, every 128th size"
    assert all(len(sizes) == 33 for sizes in shown["sizes"])


def test_the_map_is_saved(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    explorer = sb.notebook.explore("N, 3", "M, 1")
    explorer.save(tmp_path / "map.svg")
    assert "fails on axis 0" in (tmp_path / "map.svg").read_text()
    for shapes, why in ((["3", "3"], "the shapes have no symbols"), (["N,, 1", "3"], "a field is invalid")):
        explorer.shapes = shapes
        with pytest.raises(sb.BindingError, match=why):
            explorer.save(tmp_path / "none.svg")
