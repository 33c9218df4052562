"""A condition is wrapped and never cut, in every rendering of every answer."""

import re
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser
from pages import Page, check_latex
from rich.console import Console

import symbcast as sb
from symbcast.answers.explanation.words import Namer
from symbcast.answers.show import document as text
from symbcast.answers.show import html, latex, terminal
from symbcast.answers.show.document import Document, Fields, conjunction, field
from symbcast.cli import run
from symbcast.core.algebra.formulas import clauses

LONG = " or ".join(f"(rows == {n} and columns % {n} == 0 and channels // {n} >= {n + 1})" for n in range(2, 20))
"""A condition of one clause, longer than any limit on words."""


def squeezed(shown):
    return re.sub(r"\s+", "", shown)


def drawn(document, width):
    console = Console(width=width, file=StringIO(), highlight=False, color_system=None)
    terminal.draw(document, console)
    return console.file.getvalue()


def document_of(condition):
    found = conjunction(clauses(condition.formula), Namer.of({}))
    return Document((), None, (Fields((field("condition", *found),)),))


@st.composite
def conditions(draw):
    """Conditions of up to 30 clauses; some of the clauses are long."""
    count = draw(st.integers(1, 30))
    names = [f"size_{n}" for n in range(8)]
    pairs = st.tuples(st.sampled_from(names), st.sampled_from(names), st.integers(2, 9))
    parts = [draw(st.lists(pairs, min_size=1, max_size=14)) for _ in range(count)]
    texts = [" or ".join(f"{a} % {n} == {b} // {n}" for a, b, n in part) for part in parts]
    return sb.Condition(" and ".join(f"({t})" for t in texts))


@settings(max_examples=40, deadline=None)
@given(conditions(), st.sampled_from([20, 60, 100]))
def test_every_rendering_has_all_of_a_condition(condition, width):
    document, whole = document_of(condition), squeezed(str(condition))
    assert whole in squeezed(text.render(document, width).replace("condition", "", 1))
    assert whole in squeezed(drawn(document, width).replace("condition", "", 1))
    assert whole in squeezed(Page(html.render(document)).text)
    shown = check_latex(latex.render(document))
    assert r"\ldots" not in shown
    assert max(map(len, text.render(document, width).splitlines())) <= width


def test_wrapped_text_parses_back():
    condition = sb.Condition(LONG)
    lines = condition.explain().splitlines()
    assert len(lines) > 5 and max(map(len, lines)) <= 100
    assert sb.Condition(" ".join(lines)) == condition


def test_the_long_clause_of_an_answer_is_shown_once_and_whole():
    env = sb.ShapeEnv()
    env.require(LONG)
    whole = squeezed(str(env.condition))
    assert whole in squeezed(env.explain()) and "..." not in env.explain()
    assert whole in squeezed(Page(env._repr_html_()).text)
    assert r"\ldots" not in check_latex(env._repr_latex_())


def test_a_broadcast_of_many_shapes_has_its_whole_condition():
    names = [f"input_{n}_batch" for n in range(9)]
    result = sb.broadcast(*[f"{name}, T_{name}" for name in names])
    assert squeezed(str(result.condition)) in squeezed(result.explain())
    with pytest.raises(sb.ConditionalBroadcastError) as raised:
        result.require()
    assert squeezed(str(result.condition)) in squeezed(str(raised.value))


def test_a_guard_of_cases_is_whole_in_a_pipe(capsys):
    assert run(["cases", *(f"height_{n}, width_{n}" for n in range(3))]) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown
    division = sb.broadcast(*(f"height_{n}, width_{n}" for n in range(3))).cases()
    table = shown.splitlines()[2:]
    guards = [line for line in table if line.startswith("  ")]
    start = guards[0].index("guard")
    end = guards[0].index("output")
    column = squeezed("".join(line[start:end] for line in guards[1:]))
    assert all(squeezed(str(case.condition)) in column for case in list(division)[:27])


def test_a_model_has_its_whole_condition():
    sizes = ", ".join(f"height_of_{n}" for n in "abcdefghijkl")
    model = parser.parse_model(
        f'<ir_version: 9, opset_import: ["" : 18]> g (float[{sizes}] x, float[{sizes.replace("height", "width")}] y)'
        " => (float[] z) { z = Add(x, y) }"
    )
    report = sb.onnx.check(model)
    whole = squeezed(str(report.condition))
    assert len(whole) > 500
    assert whole in squeezed(report.explain()) and whole in squeezed(Page(report._repr_html_()).text)
    assert repr(report).endswith("sometimes if 12 clauses hold>")


def test_a_traced_function_has_its_whole_condition():
    def summed(*arrays):
        return sum(np.sum(a + b) for a, b in pairwise(arrays))

    report = sb.trace(summed, *(f"size_of_the_array_{n}" for n in range(9)))
    assert squeezed(str(report.condition)) in squeezed(report.explain())


def test_one_line_has_a_condition_or_its_length():
    condition = sb.Condition(LONG)
    guard = condition.guard()
    assert "..." not in repr(guard) and "a condition of" in repr(guard)
    result = sb.broadcast(*[f"input_{n}_batch, T_{n}" for n in range(9)])
    assert repr(result).endswith("if 2 clauses hold>")
