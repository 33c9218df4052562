"""Tables with a heading over each column: what is asked, by whom, where it fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symbcast.display.html.elements import RULE, cell, row, scrolling, table, text

_PLACE = "padding:4px 18px 4px 0;text-align:left;vertical-align:top;white-space:normal;min-width:9em"
_CELL = f"{_PLACE};border-bottom:1px solid {RULE}"
_HEAD = f"{_CELL};white-space:nowrap;opacity:.75"


def headed_table(heads: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """Return a table of cells that are HTML already, under heads that are text; it scrolls where it is too wide."""
    lines = [row(cell(text(head), _HEAD, "th", scope="col") for head in heads)]
    lines += [row(cell(content, _CELL) for content in cells) for cells in rows]
    return scrolling(table(lines, label, "border-collapse:collapse"), "margin:0 0 8px")
