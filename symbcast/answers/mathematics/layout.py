"""Building blocks of LaTeX formulas and answers: brackets, dots, rows of arrays, delimiters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

MOST = 12
"""The most terms, factors, members or sizes to show in one expression."""
OMITTED = r"\ldots"
"""What replaces parts that are not shown."""
_GAP = r"\\[6pt]"


def displayed(latex: str) -> str:
    """Return a formula in the delimiters that notebooks typeset."""
    return rf"$\displaystyle {latex}$"


def array(columns: str, rows: Iterable[str], end: str = r" \\ ") -> str:
    """Return rows as an array; ``columns`` gives the alignment of each column."""
    return rf"\begin{{array}}{{{columns}}} {end.join(rows)} \end{{array}}"


def row(cells: Sequence[str]) -> str:
    """Return a row of cells."""
    return " & ".join(cells)


def stacked(parts: Iterable[str]) -> str:
    """Return parts under each other, with some space between; empty parts are skipped."""
    return array("l", [p for p in parts if p], rf" {_GAP} ")


def some(items: Sequence[T], write: Callable[[T], str]) -> list[str]:
    """Return items as text, with dots for the middle ones if there are many; only the items shown are written."""
    if len(items) <= MOST:
        return list(map(write, items))
    return [*map(write, items[: MOST - 2]), OMITTED, write(items[-1])]


def call(name: str, arguments: Sequence[str]) -> str:
    """Return a function applied to arguments."""
    called = rf"\{name}" if name in ("max", "min") else rf"\operatorname{{{name}}}"
    return f"{called}{brackets(', '.join(arguments))}"


def brackets(latex: str) -> str:
    """Return brackets around a formula, as tall as the formula."""
    return rf"\left({latex}\right)" if r"\frac" in latex else f"({latex})"
