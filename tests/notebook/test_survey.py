"""Surveys against brute force: each cell against the rule itself, each program against its condition."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import programs
import pytest
import questions
import small_models
import sympy
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from steps import calls

import symbcast as sb
from symbcast.answers.explanation.evidence import Alignment, at_sizes
from symbcast.core.algebra.formulas import FALSE, holds
from symbcast.core.programs.conditions import plain_answer
from symbcast.notebook.surveys import MAX_CELLS, Outcome, Survey, survey
from symbcast.notebook.words import missing_text

SIZES = range(6)
WORKS, FAILS, EXCLUDED = Outcome.WORKS, Outcome.FAILS, Outcome.EXCLUDED


def points(found: Survey):
    """Yield each cell with all sizes there, by name."""
    for j, row in enumerate(found.rows):
        assert len(row) == len(found.sizes[0])
        for i, cell in enumerate(row):
            at = (i, j)[: len(found.names)]
            varying = {name: sizes[n] for name, sizes, n in zip(found.names, found.sizes, at, strict=True)}
            sizes = {**varying, **found.fixed}
            yield {**sizes, **{name: eval(text, dict(sizes)) for name, text in found.following.items()}}, cell


def drawn_axes(data, names):
    """Draw one name or two for the axes, and sizes for some of the others."""
    order = data.draw(st.permutations(names))
    x, y = order[0], order[1] if len(order) > 1 and data.draw(st.booleans()) else None
    others = [name for name in order if name not in (x, y)]
    fixed = {name: data.draw(st.sampled_from(SIZES)) for name in others if data.draw(st.booleans())}
    return x, y, fixed


def labels(found, cell):
    return [found.blames[n].label for n in cell.blamed]


def blamed_axes(result, sizes, no_sizes):
    """Return the axes of what fails, None for the ranks, from the operands at these sizes."""
    concrete = at_sizes(plain_answer(result), sizes)
    if concrete is None:
        return no_sizes
    alignment = Alignment(concrete)
    broken = [c for c in concrete.constraints if not holds(c.requirement)]
    return {
        axis
        for c in broken
        for axis in ([None] if c.requirement == FALSE and c.origin.axis is None else alignment.axes_of(c))
    }


def no_size_axes(question, result, sizes):
    """Return the axes with a dimension that is negative or has no value."""
    places = Alignment(plain_answer(result)).places.of
    bad = set()
    for operand, shape in enumerate(question.shapes):
        for axis, text in enumerate(shape):
            value = programs.value(text, sizes)
            if value is None or value < 0:
                bad.add(places[operand][axis])
    return bad


@given(questions.questions(), st.data())
def test_every_cell_is_what_the_rule_says(question, data):
    try:
        result = question.ask()
    except sb.AssumptionError:
        reject()
    names = list(result.guard().names.values())
    if not names:
        with pytest.raises(sb.BindingError, match="all sizes here are integers"):
            survey(result, "a", None, SIZES)
        return
    x, y, fixed = drawn_axes(data, names)
    found = survey(result, x, y, SIZES, fixed=fixed)
    assert found.names == ((x,) if y is None else (x, y))
    assert len(found.rows) == (1 if y is None else len(SIZES))
    assert fixed.items() <= found.fixed.items()
    assert {*found.names, *found.fixed, *found.following} == {*names}
    for sizes, cell in points(found):
        try:
            expected = (WORKS, result.evaluate(sizes))
        except sb.BindingError:
            expected = (EXCLUDED, None)
        except sb.IncompatibleShapesError:
            expected = (FAILS, None)
        assert cell[:2] == expected, sizes
        axes = {found.blames[n].axis for n in cell.blamed}
        no_sizes = no_size_axes(question, result, sizes)
        if cell.outcome is not FAILS:
            assert axes == set()
        elif no_sizes:
            assert no_sizes <= axes
        else:
            assert axes == blamed_axes(result, sizes, no_sizes)
        assert list(cell.blamed) == sorted({*cell.blamed})


@given(programs.programs(longest=6), st.data())
def test_every_cell_of_a_program_is_what_its_condition_says(program, data):
    run = program.run()
    env = run.env
    if not env.symbols:
        return
    x, y, fixed = drawn_axes(data, list(env.names.values()))
    found = survey(env, x, y, SIZES, fixed=fixed)
    guard, whole = env.guard(), env.guard(with_assumptions=True)
    by_name = {name: s for s, name in plain_answer(env).shown.items()}
    for sizes, cell in points(found):
        given_sizes = {name: sizes[name] for name in env.names.values()}
        assert cell.shape is None
        assert (cell.outcome is WORKS) == whole(given_sizes), sizes
        if cell.outcome is FAILS:
            assert not guard(given_sizes)
            assert cell.blamed
        first = first_failure(run, {by_name[name]: size for name, size in sizes.items()})
        if first is not None:
            assert (labels(found, cell) == [first]) == (cell.outcome is FAILS), sizes


def first_failure(run, point):
    """Return the first step that the operations, done one after another on integers, refuse; None where none is."""
    allowed, valid, outputs = run.outcome(point)
    if not allowed or valid or any(point[s] not in run.sizes_of(s) for s in point):
        return None
    for number in run.kept:
        if run.program.steps[number].kind not in ("assume", "require") and number not in outputs:
            broken = number
            break
    else:
        broken = None
    scope = {name: point[s] for s, name in plain_answer(run.env).shown.items()}
    for number in run.kept:
        step = run.program.steps[number]
        if number == broken or (step.kind == "require" and not programs.holds(step.text, scope)):
            return f"step{number}"
    return None


def test_what_is_said_of_the_first_example():
    found = survey(sb.broadcast("N, 3", "M, 1"), "N", "M", range(4), y_sizes=range(1, 3))
    assert found.sizes == ((0, 1, 2, 3), (1, 2))
    assert [[cell.outcome for cell in row] for row in found.rows] == [[WORKS] * 4, [FAILS, WORKS, WORKS, FAILS]]
    assert [cell.shape for cell in found.rows[0]] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert labels(found, found.rows[1][0]) == ["axis 0 (-2)"]
    assert found.fixed == {}


FOUND = [
    (("N, K", "M, K + 1"), {}, {"N": 2, "M": 3, "K": 5}, FAILS, ["axis 0 (-2)", "axis 1 (-1)"]),
    (("N - 1, M", "3, 4"), {}, {"N": 0, "M": 4}, FAILS, ["axis 0 (-2)"]),
    (("N // K, M", "3, 4"), {}, {"N": 3, "M": 4, "K": 0}, FAILS, ["axis 0 (-2)"]),
    (("N", "N, M"), {"rule": "none"}, {"N": 3, "M": 3}, FAILS, ["ranks"]),
    (("N, M", "K"), {"rule": "unidirectional"}, {"N": 1, "M": 1, "K": 1}, FAILS, ["ranks"]),
    (("N", "M, K"), {"rule": "paddle", "min_rank": 2}, {"N": 2, "M": 1, "K": 3}, FAILS, ["ranks", "axis 1 (-1)"]),
    (("N, M", "K, 3"), {"rule": "pdpd", "axis": 1}, {"N": 2, "M": 2, "K": 2}, FAILS, ["axis 2 (past the end)"]),
    (("N, 3", "M, 4"), {}, {"N": 2, "M": 2}, FAILS, ["axis 1 (-1)"]),
    (("N", "M"), {"assume": "N < M"}, {"N": 2, "M": 2}, EXCLUDED, []),
    (("N", "M"), {"min_size": 1}, {"N": 0, "M": 1}, EXCLUDED, []),
    (("2..5", "N"), {}, {"?0": 1, "N": 1}, EXCLUDED, []),
    (("?, 3", "?, 1"), {}, {"?0": 2, "?1": 3}, FAILS, ["axis 0 (-2)"]),
]


@pytest.mark.parametrize(("shapes", "options", "sizes", "outcome", "blamed"), FOUND, ids=str)
def test_who_is_to_blame(shapes, options, sizes, outcome, blamed):
    (x, i), (y, j), *others = sizes.items()
    found = survey(sb.broadcast(*shapes, **options), x, y, [i], y_sizes=[j], fixed=dict(others))
    ((cell,),) = found.rows
    assert cell.outcome is outcome
    assert labels(found, cell) == blamed


def test_sizes_that_are_not_given_are_the_smallest_that_fit():
    result = sb.broadcast("N, K", "M, L", assume=["K >= 2", "L % 3 == 0"])
    assert survey(result, "N", "M", SIZES).fixed == {"K": 3, "L": 3}
    assert survey(result, "N", "M", SIZES, fixed={"K": 6}).fixed == {"K": 6, "L": 6}
    clash = sb.broadcast("N, K, 3", "M, K, 4", assume="K >= 5")
    assert survey(clash, "N", "M", SIZES).fixed == {"K": 5}, "of no sizes the least that are assumed"
    tied = sb.broadcast("N", "M", assume=sb.Condition("K > L"))
    assert survey(tied, "N", "M", SIZES, fixed={"K": 0}).fixed == {"K": 0, "L": 1}
    assert {cell.outcome for _, cell in points(survey(tied, "N", "M", SIZES, fixed={"K": 0}))} == {EXCLUDED}


def test_symbols_stand_for_their_names():
    N, M = sympy.Symbol("N"), sympy.Symbol("M", positive=True)
    result = sb.broadcast((N, 3), (M, 1))
    found = survey(result, N, M, np.arange(3), y_sizes=(np.int64(0), 1))
    assert found == survey(result, "N", "M", [0, 1, 2], y_sizes=[0, 1])
    assert [cell.outcome for cell in found.rows[0]] == [EXCLUDED] * 3
    assert all(type(size) is int for sizes in found.sizes for size in sizes)
    once = survey(result, "N", "M", iter(range(3)))
    assert once.sizes == ((0, 1, 2), (0, 1, 2))


def test_no_solver_has_to_decide():
    result = sb.broadcast("a**3 + b**3", "c**3 - 42")
    found = survey(result, "a", "b", range(9), fixed={"c": 4})
    assert {
        sizes["a"] + sizes["b"] for sizes, cell in points(found) if cell.outcome is WORKS and 0 not in cell.shape
    } == {1}


def test_the_operation_that_a_program_stops_at_is_to_blame():
    env = sb.ShapeEnv()
    added = env.broadcast("N, 1", "M, T", origin="add")
    env.broadcast(added, "S, T", origin="mask")
    env.broadcast("T", "4", origin="other")
    found = survey(env, "N", "M", SIZES, fixed={"T": 3, "S": 1})
    assert labels(found, found.rows[2][3]) == ["add"]
    found = survey(env, "N", "S", SIZES, fixed={"T": 4, "M": 1})
    assert labels(found, found.rows[2][3]) == ["mask"]
    assert [blame.axis for blame in found.blames] == [None] * 3


def test_programs_that_nothing_allows():
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N, 3", "M, 3", origin="fine")
    env.equal("N", "4", origin="four")
    env.equal("N", "5", origin="five")
    found = survey(env, "N", "M", SIZES)
    assert {cell.outcome for _, cell in points(found)} == {FAILS}
    assert labels(found, found.rows[5][5]) == ["four"]
    assert labels(found, found.rows[4][4]) == ["five"]


MODELS = ["mask", "even", "concat", "never", "table", "several", "clash", "data", "cache", "branch", "forced"]


@pytest.mark.parametrize("name", MODELS)
def test_models_are_valid_where_their_guard_says(name):
    pytest.importorskip("onnx")
    report = sb.onnx.check(small_models.small_model(name), min_size=0)
    env = report._checked.conditions.inputs
    names = [n for s, n in env.shown.items() if s not in report._checked.asker.origins]
    found = survey(report, names[0], names[1] if len(names) > 1 else None, SIZES)
    assert {*found.names, *found.fixed} == {*names}
    nodes = {node for f in report.findings if not f.is_about_data for node in (f.node, *f.origins)}
    for sizes, cell in points(found):
        if cell.outcome is EXCLUDED:
            continue
        assert (cell.outcome is WORKS) == report.guard()(sizes), sizes
        assert bool(cell.blamed) == (cell.outcome is FAILS)
    assert not nodes or nodes & {blame.label for blame in found.blames}


PAIR = sb.broadcast("N, K", "M, 1", assume=sb.Condition("L >= 2"))
BAD = [
    ((PAIR, "n", "M", SIZES), {}, sb.BindingError, ["no size here is named 'n'", "did you mean 'N'?"]),
    ((PAIR, "N", "MM", SIZES), {}, sb.BindingError, ["'MM'", "did you mean 'M'?"]),
    ((PAIR, sympy.Symbol("Q"), None, SIZES), {}, sb.BindingError, ["'Q'"]),
    ((PAIR, ["N"], None, SIZES), {}, sb.BindingError, ["['N'] is not the name of a size"]),
    ((PAIR, 3, None, SIZES), {}, sb.BindingError, ["no size here is named '3'"]),
    ((PAIR, "N", "N", SIZES), {}, sb.BindingError, ["N is named for both axes", "leave the second out"]),
    ((PAIR, "N", None, SIZES), {"y_sizes": SIZES}, sb.BindingError, ["for a second symbol, but no second symbol"]),
    ((PAIR, "N", "M", []), {}, sb.BindingError, ["the sizes of N are empty", "write range(17)"]),
    ((PAIR, "N", "M", SIZES), {"y_sizes": range(0)}, sb.BindingError, ["the sizes of M are empty"]),
    ((PAIR, "N", "M", 5), {}, sb.BindingError, ["5 are not sizes of N", "write range(17)"]),
    ((PAIR, "N", "M", "123"), {}, sb.BindingError, ["'123' are not sizes of N"]),
    ((PAIR, "N", "M", {1: 2}), {}, sb.BindingError, ["are not sizes of N"]),
    ((PAIR, "N", "M", [1, -1]), {}, sb.BindingError, ["N=-1 is not a size"]),
    ((PAIR, "N", "M", [1, True]), {}, sb.BindingError, ["N=True is not a size"]),
    ((PAIR, "N", "M", [2**63]), {}, sb.DimensionError, ["a size is at most 2**63 - 1"]),
    ((PAIR, "N", "M", SIZES), {"y_sizes": [0.5]}, sb.BindingError, ["M=0.5 is not a size"]),
    ((PAIR, "N", "M", range(501)), {}, sb.BindingError, ["501 by 501 sizes give 251,001 cells", "at most 250,000"]),
    ((PAIR, "N", None, range(10**9)), {}, sb.BindingError, ["more than 250,000 sizes of N", "use a step"]),
    ((PAIR, "N", "M", SIZES), {"fixed": {"J": 2}}, sb.BindingError, ["no size here is named 'J'"]),
    ((PAIR, "N", "M", SIZES), {"fixed": {"K": -2}}, sb.BindingError, ["K=-2 is not a size"]),
    ((PAIR, "N", "M", SIZES), {"fixed": {"M": 2}}, sb.BindingError, ["M cannot both vary and be fixed at 2"]),
    ((PAIR, "N", "M", SIZES), {"fixed": [2]}, sb.BindingError, ["[2] is not a mapping of names to sizes"]),
    ((sb.broadcast((2,), (3,)), "N", None, SIZES), {}, sb.BindingError, ["all sizes here are integers"]),
    ((sb.ShapeEnv(), "N", None, SIZES), {}, sb.BindingError, ["there is nothing to vary"]),
    ((PAIR, "N", range(3), SIZES), {}, sb.BindingError, ["range(0, 3) is not the name of a size"]),
    ((PAIR, None, "M"), {}, sb.BindingError, ["no symbol is left for the first axis"]),
    (("N, 3", "N", None, SIZES), {}, sb.ShapeTypeError, ["'N, 3' (str) is not a result"]),
]


@pytest.mark.parametrize(("arguments", "options", "error", "pieces"), BAD)
def test_what_cannot_be_surveyed(arguments, options, error, pieces):
    with pytest.raises(error) as caught:
        survey(*arguments, **options)
    for piece in pieces:
        assert piece in str(caught.value)


def test_without_names_the_condition_says_which_symbols():
    result = sb.broadcast("batch, heads, T", "batch, 1, S")
    assert survey(result).names == ("T", "S")
    assert survey(result, fixed={"T": 3}).names == ("batch", "S")
    assert survey(result, "S", range(3)) == survey(result, "S", None, range(3))
    assert survey(result, "S", range(3)).sizes == ((0, 1, 2),)


def test_the_symbols_of_a_large_program_are_chosen_at_once():
    env = sb.ShapeEnv()
    for n in range(3000):
        env.broadcast(f"a{n}, T", f"b{n}, 1", origin=f"op{n}")
    assert env.witness() is not None
    with calls() as steps:
        assert survey(env, sizes=range(3)).names == ("a0", "b0")
    assert steps.count < 2_000 * 3000


def test_the_largest_survey():
    found = survey(sb.broadcast("N", "3"), "N", None, range(MAX_CELLS))
    assert [size for size, cell in zip(found.sizes[0], found.rows[0], strict=True) if cell.outcome is WORKS] == [1, 3]


def test_surveys_import_neither_matplotlib_nor_numpy():
    code = """
import sys, symbcast as sb
assert not any(m.startswith("symbcast.notebook") for m in sys.modules)
from symbcast.notebook.surveys import survey
survey(sb.broadcast("N, 3", "M, 1"), "N", "M", range(5))
assert not {"matplotlib", "numpy", "anywidget", "ipywidgets", "IPython"} & set(sys.modules)
assert set(sb.notebook.__all__) == set(dir(sb.notebook))
try:
    sb.notebook.plots_of_mine
except AttributeError as error:
    assert "plots_of_mine" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def conditional(question):
    """Return the answer to a question that works at some sizes up to 64 and fails at others; draw another one else."""
    try:
        result = question.ask()
    except sb.AssumptionError:
        reject()
    works, fails = result.witness(), result.counterexample()
    if (
        result.verdict is not sb.Verdict.SOMETIMES
        or not works
        or not fails
        or max(*works.values(), *fails.values()) > 64
    ):
        reject()
    return result


@settings(max_examples=60)
@given(questions.questions())
def test_both_outcomes_are_shown_where_both_exist(question):
    result = conditional(question)
    found = survey(result)
    assert found.outcomes >= {WORKS, FAILS}
    assert all(len(sizes) <= 66 for sizes in found.sizes)


SHOWN = [
    # All of these were green: the second symbol was one that the first is added to, and the others were 1.
    (("batch, heads, T, T + P", "batch, 1, 1, S"), {}, ("T", "S"), {"batch": 1, "heads": 1, "P": 1}, {}),
    (("N, M", "K, M"), {}, ("N", "K"), {"M": 1}, {}),
    (("a, b", "3, c"), {"assume": ["a == b", "c == 2*b"]}, ("a", "b"), {}, {"c": "2*b"}),
    (("N", "M"), {"assume": "N >= 2000"}, ("N", "M"), {}, {}),
    (("N", "M"), {"assume": "N % 64 == 0"}, ("N", "M"), {}, {}),
    (("N, M", "48, M"), {"assume": "N != 1"}, ("N", "M"), {}, {}),
    (("N, M", "1000, M"), {"assume": "N != 1"}, ("N", "M"), {}, {}),
    (("N", "3"), {}, ("N",), {}, {}),
]


@pytest.mark.parametrize(("shapes", "options", "names", "fixed", "following"), SHOWN, ids=str)
def test_what_is_shown_of_an_answer(shapes, options, names, fixed, following):
    found = survey(sb.broadcast(*shapes, **options))
    assert (found.names, found.fixed, found.following) == (names, fixed, following)
    assert found.outcomes >= {WORKS, FAILS}
    assert all(len(sizes) <= 66 for sizes in found.sizes)


def test_programs_and_models_show_both_outcomes():
    env = sb.ShapeEnv(assume="S >= 40")
    env.broadcast("batch, T, T + P", "batch, 1, S", origin="scores")
    env.broadcast("T", "64", origin="positions")
    assert survey(env).outcomes >= {WORKS, FAILS}
    pytest.importorskip("onnx")
    for name in ("mask", "even", "concat", "cache"):
        report = sb.onnx.check(small_models.small_model(name))
        assert report.verdict is sb.Verdict.SOMETIMES
        assert survey(report).outcomes >= {WORKS, FAILS}, name


def test_what_a_survey_misses_is_said():
    result = sb.broadcast("T, T + P", "1, S")
    assert missing_text(result, survey(result)) == ""
    green = survey(result, "T", "P", fixed={"S": 1})
    assert missing_text(result, green) == "nothing fails at these sizes; it fails at T=1, P=1, S=3"
    red = survey(result, "T", "P", range(5, 8), fixed={"S": 4})
    assert missing_text(result, red) == "nothing works at these sizes; it works at T=1, P=1, S=1"
    never, always = sb.broadcast("N, 3", "M, 4"), sb.broadcast("N", "1")
    assert missing_text(never, survey(never)) == missing_text(always, survey(always)) == ""
