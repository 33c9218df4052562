"""The answer about one broadcast as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.display.html.elements import COLOURS as VERDICT_COLOURS
from symbcast.display.html.elements import (
    ISOLATED,
    MONO,
    RULE,
    answer,
    cell,
    element,
    ground,
    heading,
    row,
    scrolling,
    table,
    text,
)
from symbcast.display.html.sections import section_table
from symbcast.display.palette import CONDITIONAL, FINE, IMPOSSIBLE, UNDECIDED
from symbcast.display.text import Row
from symbcast.explaining import report
from symbcast.explaining.alignment import Alignment, Mark
from symbcast.explaining.table import MEANINGS, OperandTable

if TYPE_CHECKING:
    from symbcast.programs.call import Call

COLOURS = {
    Mark.FINE: FINE,
    Mark.CONDITIONAL: CONDITIONAL,
    Mark.IMPOSSIBLE: IMPOSSIBLE,
    Mark.UNDECIDED: UNDECIDED,
}

CELLS_WIDTH = 400
"""How many characters a row may have: where they are more than the page takes, the table scrolls."""

_LABEL = "padding:1px 12px 1px 0;text-align:left;vertical-align:baseline;white-space:nowrap"
_CELL = f"padding:1px 10px;text-align:right;vertical-align:baseline;white-space:pre;{ISOLATED};{MONO};font-size:.95em"
_FAINT = "opacity:.75"
_ABOVE = f"border-top:1px solid {RULE}"


def page(result: Call) -> str:
    """Return the whole answer: the verdict, the operands in a table, and what is to be said below it."""
    return answer(
        result.verdict,
        heading(*report.heading(result)),
        operand_table(result),
        section_table(report.sections(result)),
    )


def operand_table(result: Call) -> str:
    """Return the operands under each other, a column an axis, with the output, a mark under each axis and a legend."""
    made = OperandTable(Alignment(result), cells_width=CELLS_WIDTH)
    label = "the operands, aligned"
    style = "border-collapse:separate;border-spacing:3px 0"
    rows = _rows(made) if made.axes else _scalar_rows(made, VERDICT_COLOURS[result.verdict])
    # The spacing stands before the first column, too: it is taken back there.
    shown = scrolling(table(rows, label, style), "margin:0 0 8px -3px")
    return f"{shown}{element('div', _legend(made), 'margin:-4px 0 8px')}" if made.axes else shown


def _rows(made: OperandTable) -> Iterator[str]:
    heads = made.header
    yield _row(heads[0], [f"{_FAINT}"] * len(made.axes), "th", scope="col")
    yield _row(heads[1], [f"{_FAINT}"] * len(made.axes))
    grounds = ["" if a is None else ground(COLOURS[made.mark_of[a]]) for a in made.axes]
    below = [style and f"{style};{_ABOVE}" for style in grounds]
    for operand in made.operands:
        yield _row(operand, grounds)
    if made.output is not None:
        yield _row(made.output, below)
    yield _row(Row("fits", made.marks.cells), below)


def _scalar_rows(made: OperandTable, colour: str) -> Iterator[str]:
    for operand in made.operands:
        yield _row(Row(operand.label, ("()",)), [ground(colour)])
    if made.output is not None:
        yield _row(Row(made.output.label, ("()",)), [f"{ground(colour)};{_ABOVE}"])


def _row(shown: Row, styles: Sequence[str], tag: str = "td", **attributes: str) -> str:
    label = cell(text(shown.label), _LABEL, "th", scope="row")
    cells = (
        cell(text(content), f"{_CELL};{style}", tag, **attributes)
        for content, style in zip(shown.cells, styles, strict=True)
    )
    return row((label, *cells))


def _legend(made: OperandTable) -> str:
    return ", ".join(f"{_chip(mark)} {text(MEANINGS[mark])}" for mark in made.used_marks)


def _chip(mark: Mark) -> str:
    style = f"{MONO};font-size:.95em;padding:0 6px;{ground(COLOURS[mark])}"
    return element("span", text(mark.value), style)
