"""Shapes and conditions, which belong to no answer, as documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.explanation.words import in_words
from symbcast.answers.show.document import NOTHING, Conjunction, Dims, Document, Lines, Span, code
from symbcast.core.characters import clipped
from symbcast.core.logic.formulas import Formula, clauses
from symbcast.core.text.printing import formula_text, shape_text

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

LONGEST = 1000


def shape_document(dims: Sequence[Dim]) -> Document:
    """Return a shape as text has it."""
    return Document((), None, (Lines((code(shape_text(dims), Dims(tuple(dims)), LONGEST),)),))


def condition_document(condition: Formula) -> Document:
    """Return a condition: its formula, and below it what that says in words."""
    formula = code(formula_text(condition), Conjunction(clauses(condition)), LONGEST)
    said = Span(clipped(in_words(condition, Namer.of({})), LONGEST), math=NOTHING)
    return Document((), None, (Lines((formula,)), Lines(((said,),), is_faint=True)))
