"""Answers in words: `explain` in full, `headline` for an exception's message, `one_line` for a repr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from symbcast.explaining.fixes import Fix, fix
from symbcast.explaining.report import Line, explanation, headline_lines, summary

if TYPE_CHECKING:
    from symbcast.result import Result

__all__ = ["Fix", "Line", "explain", "explanation", "fix", "headline", "one_line"]


def explain(result: Result) -> str:
    """Return the answer in words: the operands aligned, the condition, an example, and a fix.

    >>> import symbcast
    >>> print(explain(symbcast.broadcast("N, 3", "M, 1")))
    numpy: valid for some sizes
    <BLANKLINE>
    ...
    """
    return "\n".join(line.text for line in explanation(result))


def headline(result: Result, binding: Mapping[str, int] | None = None) -> str:
    """Return the answer in a few lines; with ``binding``, why it fails at those sizes."""
    return "\n".join(headline_lines(result, binding))


def one_line(result: Result) -> str:
    """Return the answer on one line.

    >>> import symbcast
    >>> one_line(symbcast.broadcast("N", 3))
    'numpy: sometimes (3,) if N == 3 or N == 1'
    """
    return summary(result)
