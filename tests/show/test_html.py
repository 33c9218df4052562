"""HTML displays: well made, harmless whatever is in a name, and saying what the text says."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from pages import HOSTILE, Page, answer
from questions import questions

import symbcast as sb
from symbcast.answers.show import broadcast, program
from symbcast.answers.show.document import LONGEST, Document, Fields, Lines, code, plain
from symbcast.answers.show.html import render, text
from symbcast.core.characters import quoted_name, shorten_end, sizes_text, visible
from symbcast.core.programs.conditions import plain_answer


def shown(content):
    return visible(shorten_end(content, LONGEST))


def field_rows(document):
    """Return the rows that the fields of a document have in a page."""
    (found,) = [block for block in document.blocks if isinstance(block, Fields)]
    return [[f.label, "".join(shown(plain(line)) for line in f.lines)] for f in found.fields]


def check_result(result):
    made = Page(result._repr_html_())
    said = broadcast.broadcast_document(plain_answer(result))
    assert made.text.startswith(plain(said.title))
    assert all(row in made.tables[-1] for row in field_rows(said))
    assert len({len(row) for row in made.tables[0]}) == 1
    assert ("output" in [row[0] for row in made.tables[0]]) is (result.shape is not None)
    return made


@settings(max_examples=150)
@given(questions())
def test_a_result_says_what_its_text_says(question):
    check_result(answer(question))


def test_each_part_of_an_answer_is_there():
    made = check_result(sb.broadcast("N, 3", "M, 1", assume="N >= 2", min_size=1))
    assert made.tables == [
        [
            ["axis", "0", "1"],
            ["from end", "-2", "-1"],
            ["A", "N", "3"],
            ["B", "M", "1"],
            ["output", "N", "3"],
            ["fits", "?", "ok"],
        ],
        [
            ["valid when", "M is 1 or equals NM == 1 or M == N"],
            ["assuming", "N >= 2; every size is at least 1"],
            ["fails at", "N=2, M=3: axis 0 (-2) has 2 and 3 (sizes must be equal or 1)"],
            ["works at", "N=2, M=1: output (2, 3)"],
            ["fix", 'assume "M == N" if that is known'],
        ],
    ]
    assert "ok fine, ? depends on the sizes" in made.text


@pytest.mark.parametrize(
    ("shapes", "attributes", "rows"),
    [
        ([], {}, [["output", "()"]]),
        (["()", "()"], {}, [["A", "()"], ["B", "()"], ["output", "()"]]),
        (["()"], {"rule": "paddle", "min_rank": 1}, [["A", "()"]]),
    ],
)
def test_scalars_have_a_column(shapes, attributes, rows):
    assert Page(sb.broadcast(*shapes, **attributes)._repr_html_()).tables[0] == rows


def test_what_is_refused_says_why():
    made = check_result(sb.broadcast("2, 3", "4, 3"))
    assert ["fits", "x", "ok"] in made.tables[0]
    assert ["impossible", "axis 0 (-2) has 2 and 4 (sizes must be equal or 1)"] in made.tables[1]
    assert "output" not in made.text


def test_many_axes_and_operands_are_elided():
    many = ", ".join(f"N{n}" for n in range(15))
    made = check_result(sb.broadcast(*[many] * 29, many.replace("N14", "4")))
    assert "..." in made.tables[0][0] and any(row[0].startswith("... ") for row in made.tables[0])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text(name):
    result = sb.broadcast((sb.symbol(name), 3), ("M", 1), assume=[f"{quoted_name(name)} >= 2"])
    made = check_result(result)
    assert ["A", shown(quoted_name(name)), "3"] in made.tables[0]
    shape = sb.shape((sb.symbol(name), 2))
    assert Page(shape._repr_html_()).text == shown(str(shape))
    condition = sb.Condition(result)
    assert Page(condition._repr_html_()).text.startswith(shown(str(condition)))
    assert Page(text(name)).text == Page(of_code(name)).text == visible(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_an_origin_is_text(name):
    env = sb.ShapeEnv(assume=[f"{quoted_name(name)} >= 1"])
    env.broadcast((sb.symbol(name), 3), ("M", 1), origin=name)
    made = Page(env._repr_html_())
    assert f"{visible(name)}: numpy of ({quoted_name(name)}, 3), (M, 1)" in made.tables[0][1][1]
    assert repr(env).isprintable() and repr(result_of(name)).isprintable()
    assert all(line.isprintable() for line in env.explain().split("\n"))


def result_of(name):
    return sb.broadcast((sb.symbol(name), 3), ("M", 1))


def test_a_program_says_what_its_text_says():
    env = sb.ShapeEnv(assume="batch >= 1")
    env.broadcast("batch, T, S", "batch, 1, T", origin="mask")
    env.broadcast("batch", "heads", origin="scores")
    made = Page(env._repr_html_())
    assert made.text.startswith("2 operations over 4 sizes: valid for some sizes under the assumptions")
    assert made.tables[0] == [
        ["must hold", "needed by", "fails at", "fix"],
        [
            "T and S are equal, or one of them is 1",
            "mask: numpy of (batch, T, S), (batch, 1, T)",
            sizes_text(env.findings[0].counterexample),
            'assume "T == S" if that is known',
        ],
        [
            "batch and heads are equal, or one of them is 1",
            "scores: numpy of (batch,), (heads,)",
            sizes_text(env.findings[1].counterexample),
            'assume "batch == heads" if that is known',
        ],
    ]
    labels = Counter(row[0] for row in made.tables[1])
    assert labels == Counter(["together", "assuming", "fails at", "works at"])
    assert all(row in made.tables[1] for row in field_rows(program.program_document(plain_answer(env))))


def test_what_fails_in_a_program_fails_there():
    env = sb.ShapeEnv()
    for n in range(20):
        env.broadcast(f"a{n}, T", f"b{n}, 1", origin=f"op{n}")
    rows = Page(env._repr_html_()).tables[0][1:]
    assert len(rows) == program.SHOWN
    assert all(f"a{n}=2, b{n}=3" in row[2] for n, row in enumerate(rows))


def test_programs_without_requirements():
    assert Page(sb.ShapeEnv()._repr_html_()).text == "0 operations over 0 sizes: valid for all sizes"
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast("N", "2", origin="first")
    env.require("N >= 3")
    made = Page(env._repr_html_())
    assert env.verdict is sb.Verdict.NEVER
    assert made.tables == [
        [["impossible", "first: numpy of (N,), (2,) requires N == 1 or N == 2require_1: require N >= 3"]]
    ]


def test_a_large_program_has_a_small_page():
    env = sb.ShapeEnv()
    for n in range(3000):
        env.broadcast(f"a{n}, T", f"b{n}, S", origin=f"op{n}")
    made = env._repr_html_()
    assert len(made) < 40_000
    assert "2989 more; .findings and JSON list them all" in Page(made).text


def of_code(name):
    return render(Document((), None, (Lines((code(name),)),)))


def test_displays_are_not_imported_before_they_are_needed():
    run = """
import sys, symbcast
def loaded(): return [n for n in ("symbcast.answers.show", "sympy", "z3") if n in sys.modules]
print(loaded())
result = symbcast.broadcast((2, 3), (2, 1))
result._repr_html_(), result._repr_latex_(), result.shape._repr_html_(), result.shape._repr_latex_()
print(loaded())
"""
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['symbcast.answers.show']"]
