"""Plain text: rows of cells aligned."""

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
