"""Plain text that can be shown: rows of cells aligned, and characters that would not print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A label and its cells; a row of the wrong length is a mistake, an empty cell is a blank."""

    label: str
    cells: tuple[str, ...]


def aligned(rows: Sequence[Row], indent: int = 2) -> list[str]:
    """Return rows as lines: labels at the left, the cells of each column under each other at their right ends.

    >>> aligned([Row("A", ("2", "N")), Row("long", ("", "13"))])
    ['  A     2   N', '  long     13']
    """
    label_width = max((len(r.label) for r in rows), default=0)
    columns = max((len(r.cells) for r in rows), default=0)
    widths = [max(len(r.cells[n]) for r in rows if n < len(r.cells)) for n in range(columns)]
    lines = []
    for row in rows:
        cells = "".join(f"  {cell:>{width}}" for cell, width in zip(row.cells, widths, strict=False))
        lines.append(f"{' ' * indent}{row.label:<{label_width}}{cells}".rstrip())
    return lines


def visible(text: str) -> str:
    r"""Return a text on one line, every character that does not print as itself written as Python escapes it.

    So line breaks do not break a line, and characters that turn the direction of writing do not turn it.

    >>> print(visible("N" + chr(10) + "M" + chr(0x202E)))
    N\nM\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
