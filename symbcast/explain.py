"""Answers in words: `explain` in full, `headline` for an exception's message, `one_line` for a repr."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from symbcast.explaining.fixes import Fix, fix
from symbcast.explaining.report import Line, explanation, headline_lines, summary

if TYPE_CHECKING:
    from symbcast.programs.call import Call

__all__ = ["Fix", "Line", "explain", "explanation", "fix", "headline", "one_line"]


def explain(result: Call) -> str:
    """Return the answer in words: the operands aligned, the condition, an example, and a fix.

    >>> import symbcast
    >>> print(explain(symbcast.broadcast("N, 3", "M, 1")))
    numpy: valid for some sizes
    <BLANKLINE>
      axis                    0   1
      from end               -2  -1
      A                       N   3
      B                       M   1
      output    broadcast(M, N)   3
                              ?  ok    ok fine, ? depends on the sizes
    <BLANKLINE>
    valid when   N and M are equal, or one of them is 1
                 N == M or N == 1 or M == 1
    fails at     N=2, M=3: axis 0 (-2) would be 2 beside 3 (sizes must be equal or 1)
    works at     N=1, M=1: output (1, 3)
    fix          assume "N == M" if that is known
    """
    return "\n".join(line.text for line in explanation(result))


def headline(result: Call, binding: Mapping[str, int] | None = None) -> str:
    """Return the answer in a few lines; with ``binding``, why it fails at those sizes."""
    return "\n".join(headline_lines(result, binding))


def one_line(result: Call) -> str:
    """Return the answer on one line.

    >>> import symbcast
    >>> one_line(symbcast.broadcast("N", "3"))
    'numpy: sometimes (3,) if N == 1 or N == 3'
    """
    return summary(result)
