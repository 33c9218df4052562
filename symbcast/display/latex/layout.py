"""What answers in LaTeX are laid out with: rows of arrays, and the signs around the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symbcast.display.latex.names import text_latex

_GAP = r"\\[6pt]"


def displayed(latex: str) -> str:
    """Return a formula as what notebooks set."""
    return rf"$\displaystyle {latex}$"


def array(columns: str, rows: Iterable[str], end: str = r" \\ ") -> str:
    """Return rows as an array; ``columns`` says how each column is aligned."""
    return rf"\begin{{array}}{{{columns}}} {end.join(rows)} \end{{array}}"


def row(cells: Sequence[str]) -> str:
    """Return a row of cells."""
    return " & ".join(cells)


def stacked(parts: Iterable[str]) -> str:
    """Return parts under each other, with some space between; nothing is made of an empty one."""
    return array("l", [p for p in parts if p], rf" {_GAP} ")


def labelled(sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return labels with one or more lines beside each; empty where there are none."""
    rows = [
        row((text_latex(label) if n == 0 else "", line)) for label, lines in sections for n, line in enumerate(lines)
    ]
    return array("ll", rows) if rows else ""
