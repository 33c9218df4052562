"""Laws of the renderers: all of a document is in each rendering, in order, aligned, and no wider than it may be."""

import json
import re
from io import StringIO

import pytest
from hypothesis import given, settings
from pages import Page, answer, check_latex
from programs import programs
from questions import questions
from rich.cells import cell_len
from rich.console import Console

import symbcast as sb
from symbcast.answers.show import broadcast, html, latex, program, terminal
from symbcast.answers.show import document as text
from symbcast.answers.show import document as values
from symbcast.answers.show import json as data
from symbcast.answers.show.document import (
    Document,
    Fields,
    Lines,
    Part,
    Records,
    Room,
    Row,
    Span,
    Table,
    Tone,
    code,
    field,
    fields,
    heading,
    plain,
    words,
)
from symbcast.core.characters import visible
from symbcast.core.programs.conditions import plain_answer

WIDTHS = (20, 40, 80, 120)


def rows_of(*rows):
    return tuple(Row(name, tuple(Span(c, True, Tone.FINE) for c in cells)) for name, cells in rows)


CELLS = [f"c{n}" * (n % 7 + 1) for n in range(40)]
MADE = {
    "nothing": Document((), None, ()),
    "title": Document(heading("a rule", "valid"), Tone.FINE, ()),
    "lines": Document((), None, (Lines((words("one two"), code("N == 1")), is_set_in=True), Lines((), is_faint=True))),
    "wide": Document(
        heading("a subject " * 9, "undecided"),
        Tone.UNDECIDED,
        (
            Table(
                "wide",
                rows_of(*((name, [f"c{n}" * (n % 7 + 1) for n in range(40)]) for name in ("first", "批次 second"))),
            ),
            fields([field("long", words("word " * 70), code("x" * 90)), field("", words("批次" * 50))]),
        ),
    ),
    "ragged": Document(
        (),
        Tone.IMPOSSIBLE,
        (
            Table(
                "ragged",
                (Row("head", (Span("a"), Span("b")), Part.HEAD), Row("x", ()), Row("", (Span("y" * 30),))),
                ((Span("ok", tone=Tone.FINE), "all is well"),),
                "l",
            ),
            Lines((words("below"),)),
        ),
    ),
    "records": Document(
        words("title"),
        Tone.CONDITIONAL,
        (
            Records("nothing", ("head",), ()),
            Records("two", ("head", "other", "third"), ((field("a", words("1"), lead="lead "), field("b")),) * 2),
            fields([]),
        ),
    ),
}


def said(document, in_table=True):
    """Return the texts of a document in order, as far as they are lines: labels, leads, lines, titles."""
    return [squeezed(visible(content)) for content in _said(document, in_table)]


def _said(document, in_table):
    yield plain(document.title)
    for block in document.blocks:
        match block:
            case Lines(lines):
                yield from map(plain, lines)
            case Fields(found):
                for f in found:
                    yield from (f.label, *text.field_texts(f))
            case Records(_, heads, records):
                if in_table:
                    used = [any(f.lines for r in records for f in r[n : n + 1]) for n in range(len(heads))]
                    yield from (head for head, is_used in zip(heads, used, strict=True) if is_used)
                for f in (f for record in records for f in record if f.lines):
                    yield from map(plain, f.lines) if in_table else (f.label, *text.field_texts(f))
            case Table(_, rows, legend):
                yield from (cell.text for row in rows for cell in row.cells)
                yield from (part for mark, meaning in legend for part in (mark.text, meaning))


def squeezed(content):
    return re.sub(r"\s", "", content)


def drawn(document, width, **options):
    console = Console(file=StringIO(), width=width, color_system=None, **options)
    terminal.draw(document, console)
    return console.file.getvalue()


def check_document(document):
    """Hold every rendering of a document to the laws."""
    check_text(document)
    check_html(document)
    check_latex_of(document)
    json.dumps(data.render(document))
    for width in WIDTHS:
        check_terminal(document, width)


def check_text(document):
    made = text.render(document)
    for content in said(document, in_table=False):
        assert content in squeezed(made)
    for block in document.blocks:
        if isinstance(block, Table):
            check_aligned(block)
    for line in text.render(document, 60).split("\n"):
        is_wrapped = not any(isinstance(b, Table) for b in document.blocks) and line not in (plain(document.title),)
        assert len(line) <= 60 or not is_wrapped or any(isinstance(b, Lines) for b in document.blocks)


def check_aligned(table):
    """Each column is as wide in every line, and its cells stand at the side that they are aligned to."""
    lines = text.aligned([(row.label, [c.text for c in row.cells]) for row in table.rows], table.align)
    end = 2 + max((len(row.label) for row in table.rows), default=0)
    for n in range(table.columns):
        cells = [row.cells[n].text if n < len(row.cells) else "" for row in table.rows]
        start, end = end + 2, end + 2 + max(map(len, cells))
        for line, cell in zip(lines, cells, strict=True):
            found = line[start:end].ljust(end - start)
            assert found == (cell.ljust(end - start) if table.alignment(n) == "l" else cell.rjust(end - start))
            assert not line[start - 2 : start].strip()


def check_html(document):
    page = Page(html.render(document))
    for content in said(document):
        assert content in squeezed(page.text)
    for rows in page.tables:
        assert len({len(row) for row in rows}) <= 1 or "ragged" in [
            b.name for b in document.blocks if isinstance(b, Table)
        ]


def check_latex_of(document):
    made = check_latex(latex.render(document))
    for span in (
        s for b in document.blocks if isinstance(b, Fields) for f in b.fields for line in f.lines for s in line
    ):
        if span.math is None and len(span.text) < latex.WIDTH:
            assert [w for w in re.findall(r"[A-Za-z]+", span.text) if w not in made] == []


def check_terminal(document, width):
    made = drawn(document, width)
    for line in made.split("\n"):
        assert cell_len(line) <= width
        assert line == line.rstrip()
    for block in document.blocks:
        if isinstance(block, Fields):
            for f in block.fields:
                for content in (f.label, *text.field_texts(f)):
                    assert squeezed(content) in squeezed(made)
        elif isinstance(block, Table):
            legend = [part for mark, meaning in block.legend for part in (mark.text, meaning)]
            # A cell that is wider than the terminal goes on below itself, beside what goes on of others.
            cells = [c.text for row in block.rows for c in row.cells if cell_len(c.text) < width // 2 - 4]
            assert [c for c in (*cells, *legend) if squeezed(c) not in squeezed(made)] == []


@pytest.mark.parametrize("name", MADE)
def test_laws(name):
    check_document(MADE[name])


@settings(max_examples=60)
@given(questions())
def test_laws_for_results(question):
    result = answer(question)
    check_document(broadcast.broadcast_document(plain_answer(result)))
    check_document(broadcast.broadcast_document(plain_answer(result), Room.PAGE))
    check_document(values.condition_document(sb.Condition(result).formula))
    assert result.explain() == text.render(broadcast.broadcast_document(plain_answer(result)))


@settings(max_examples=30)
@given(programs())
def test_laws_for_programs(asked):
    check_document(program.program_document(plain_answer(asked.run().env)))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_wide_table_goes_on_below_itself(width):
    names = ", ".join(f"size{n}" for n in range(12))
    result = sb.broadcast(names, names)
    made = drawn(broadcast.broadcast_document(plain_answer(result)), width)
    tables = [part for part in made.split("\n\n") if part.startswith("  axis")]
    assert len(tables) == {20: 12, 40: 3, 80: 2, 120: 1}[width]
    for part in tables:
        lines = part.split("\n")
        assert [line.split()[0] for line in lines[:5]] == ["axis", "from", "A", "B", "output"]
        assert len({len(line) for line in lines[:5]}) == 1
    assert [int(n) for part in tables for n in part.split("\n")[0].split()[1:]] == list(range(12))


def test_what_fits_is_drawn_as_text_is():
    for shapes in (["N, 3", "M, 1"], ["3", "4"], ["()"], ["2, 3", "3, 4"]):
        document = broadcast.broadcast_document(plain_answer(sb.broadcast(*shapes)))
        assert drawn(document, 100) == f"{text.render(document)}\n"


def test_colours_say_what_marks_do():
    console = Console(file=StringIO(), width=100, force_terminal=True, color_system="standard", legacy_windows=False)
    terminal.draw(broadcast.broadcast_document(plain_answer(sb.broadcast("N, 3, 2", "4, 4, 2"))), console)
    made = console.file.getvalue()
    assert re.search(r"\x1b\[32m *ok\x1b\[0m", made) and re.search(r"\x1b\[31m *x\x1b\[0m", made)
    assert made.startswith("\x1b[1;31mnumpy: valid for no sizes")
    assert re.sub(r"\x1b\[[0-9;]*m", "", made) == f"{sb.broadcast('N, 3, 2', '4, 4, 2').explain()}\n"


def test_wild_names_steer_no_terminal():
    result = sb.broadcast((sb.symbol("a\x1b[2Jb\u202e\n"), 3), (sb.symbol("[red]"), 1))
    made = drawn(broadcast.broadcast_document(plain_answer(result)), 40)
    assert "\x1b" not in made and "\u202e" not in made
    assert "[red]" in made
