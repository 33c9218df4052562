"""Documents as LaTeX: one formula, for MathJax and for LaTeX with amsmath and amssymb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from symbcast.answers.mathematics.formulas import clause_lines, pieces_latex, shape_latex, sizes_latex
from symbcast.answers.mathematics.layout import array, displayed, row, stacked
from symbcast.answers.show.document import (
    Block,
    Conjunction,
    Dims,
    Document,
    Field,
    Fields,
    Line,
    Lines,
    Math,
    Part,
    Pieces,
    Records,
    Row,
    Sizes,
    Span,
    Table,
    plain,
)
from symbcast.core.algebra.latex_names import text_latex
from symbcast.core.characters import visible

WIDTH = 100
"""Start a new row after this many characters of words: typesetters do not break formulas."""
_RULE = r"\hline "


def render(document: Document) -> str:
    r"""Return a document as LaTeX: blocks in order, labels next to their lines.

    >>> from symbcast.answers.show.document import words
    >>> print(render(Document((), None, (Lines((words("50%"),)),))))
    $\displaystyle \text{50}\%$
    """
    rows = [_text(plain(document.title))[0]] if document.title else []
    for block in document.blocks:
        rows += _block(block)
    if len(rows) == 1 and not document.title:
        return displayed(rows[0])
    return displayed(stacked(rows))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Fields(found):
            yield _labelled(found)
        case Records(_, _, records):
            yield _labelled([field for record in records for field in record])
        case Lines(lines, is_set_in):
            rows = [row for line in lines for row in _rows(line)]
            rows = [rf"\quad {row}" for row in rows] if is_set_in else rows
            yield rows[0] if len(rows) == 1 else array("l", rows) if rows else ""
        case Table():
            yield from _table(block)


def _labelled(fields: Sequence[Field]) -> str:
    """Return labels, each with one or more rows; empty if there are none."""
    rows = []
    for field in fields:
        for n, line in enumerate(field.lines):
            lead = () if n or not field.lead else (Span(field.lead),)
            rows += [(field.label, latex) for latex in _rows((*lead, *line))]
    shown = ((label if not n or rows[n - 1][0] is not label else "", latex) for n, (label, latex) in enumerate(rows))
    return array("ll", [row((text_latex(label), latex)) for label, latex in shown]) if rows else ""


def _rows(line: Line) -> list[str]:
    """Return a line: words in as many rows as they need, a condition in a row for each of its conjuncts."""
    match line:
        case (Span(math=Conjunction(clauses)),):
            return clause_lines(clauses) or [r"\text{True}"]
    if all(span.math is None for span in line):
        return _text(plain(line))
    latex = "".join(_span(span) for span in line)
    return [latex] if latex else []


def _text(content: str) -> list[str]:
    return [text_latex(part) for part in wrap(visible(content), WIDTH, break_on_hyphens=False)]


def _span(span: Span) -> str:
    if span.math is not None:
        return _math(span.math)
    return text_latex(span.text) if len(span.text) <= WIDTH else _stacked(_text(span.text))


def _stacked(rows: Sequence[str]) -> str:
    """Return rows as one formula."""
    return array("l", rows) if len(rows) > 1 else "".join(rows)


def _math(math: Math) -> str:
    match math:
        case Conjunction(clauses):
            return _stacked(clause_lines(clauses))
        case Sizes(values):
            return sizes_latex(values)
        case Dims(dims):
            return shape_latex(dims)
        case Pieces(pieces):
            return pieces_latex(pieces)


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    columns = "".join(table.alignment(n) for n in range(table.columns))
    rows: list[str] = []
    before = Part.HEAD
    for shown in table.rows:
        rule = _RULE if rows and shown.part is not before else ""
        rows.append(f"{rule}{_table_row(shown)}")
        before = shown.part
    yield array(f"l|{columns}", rows)
    if table.legend:
        yield text_latex(table.legend_text)


def _table_row(shown: Row) -> str:
    return row((text_latex(shown.label), *map(_span, shown.cells)))
