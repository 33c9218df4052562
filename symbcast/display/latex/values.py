"""Shapes and conditions, which belong to no answer, as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.display.latex.formulas import clause_lines, shape_latex
from symbcast.display.latex.layout import array, displayed

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.programs.statement import Statement


def shape_display(shape: Sequence[Dim]) -> str:
    r"""Return a shape as a notebook sets it.

    >>> print(shape_display((2, 3)))
    $\displaystyle (2, 3)$
    """
    return displayed(shape_latex(shape))


def condition_display(condition: Statement) -> str:
    """Return a condition as a notebook sets it, a line for each conjunct."""
    lines = clause_lines(condition.clauses) or [r"\text{True}"]
    return displayed(lines[0] if len(lines) == 1 else array("l", lines))
