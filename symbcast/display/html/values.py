"""Shapes and conditions, which belong to no answer, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.display.html.elements import code, element, text

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.programs.statement import Statement

LONGEST = 1000


def shape_html(shape: Sequence[Dim]) -> str:
    """Return a shape as text has it."""
    return element("div", code(str(shape), LONGEST), _BLOCK)


def condition_html(condition: Statement) -> str:
    """Return a condition: its formula, and below it what that says in words."""
    from symbcast.explaining.naming import Namer
    from symbcast.explaining.words import in_words

    formula = element("div", code(str(condition), LONGEST))
    said = in_words(condition.formula, Namer.of({}))
    return element("div", f"{formula}{element('div', text(said, LONGEST), 'opacity:.75')}", _BLOCK)


_BLOCK = "line-height:1.5;text-align:left"
