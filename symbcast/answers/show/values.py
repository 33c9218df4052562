"""Standalone shapes and conditions as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer
from symbcast.answers.explanation.words import in_words
from symbcast.answers.show.document import (
    NOTHING,
    Conjunction,
    Dims,
    Document,
    Lines,
    Span,
    code,
    field,
    fields,
    whole,
    words,
)
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import Formula, clauses
from symbcast.core.text.printing import formula_text, shape_text

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.answer import Tier

LONGEST = 1000


def shape_document(dims: Sequence[Dim]) -> Document:
    """Return a shape as a document, written as in text."""
    return Document((), None, (Lines((code(shape_text(dims), Dims(tuple(dims)), LONGEST),)),))


def with_tiers(document: Document, tiers: Mapping[Tier, Sequence[str]]) -> Document:
    """Return a document that also shows which tiers of the solver decided, and for which sizes."""
    said = (f"{tier.name}, {tier.value}{': ' if names else ''}{listed(names)}" for tier, names in tiers.items())
    return document.replace(blocks=(*document.blocks, fields([field("decided by", *map(words, said))])))


def condition_document(condition: Formula) -> Document:
    """Return a condition: its formula, and below it its meaning in words."""
    text, meaning = formula_text(condition), in_words(condition, Namer.of({}))
    below = ((Span(meaning, math=NOTHING),),) if len(meaning) <= LONGEST else ()
    return Document((), None, (Lines((whole(text, Conjunction(clauses(condition))),)), Lines(below, is_faint=True)))
