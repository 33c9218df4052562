"""What is open about an answer, as fields: first that it is open, then what is proved to work and to fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.words import in_words, saying
from symbcast.answers.show.document import LONGEST, Conjunction, Field, Line, Span, field, said, whole, words
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import FALSE, TRUE, AllOf, AnyOf
from symbcast.core.solver.sets.residue_formulas import literal_count
from symbcast.core.solver.sets.set_formulas import gathered

if TYPE_CHECKING:
    from symbcast.answers.explanation.names import Namer
    from symbcast.core.account import Account, Open, Sizes
    from symbcast.core.logic.formulas import Formula

LONG = 160
"""Longer conditions have a line for each clause or case."""
_PARTS = 6
"""How many clauses or cases of a long condition are shown."""
_SHOWN = 4
_NOT_PROVED = "not proved for any sizes"
_NEGATED = 60
"""The maximum length of a condition that is shown negated; a longer one is easier to read as it is."""


def open_fields(account: Account, namer: Namer) -> Iterator[Field]:
    """Yield what works, what fails and what is open; nothing if everything is decided.

    If the condition, which the caller shows, decides each size, only the open question is shown.
    """
    if not account.open:
        return
    if not account.is_open:
        yield field("open", *(words(f"{_question(account)}: {part.reason}") for part in account.open))
        return
    yield _working(account, namer)
    yield _failing(account, namer)
    is_all = account.works == FALSE and account.needed == TRUE and not account.working and not account.failing
    yield field("open", *_open(account.open, namer, "all sizes" if is_all else "all other sizes"))


def _question(account: Account) -> str:
    if account.working:
        return "whether any sizes fail"
    return "whether any sizes work" if account.failing else "whether any sizes work, and whether any fail"


def _open(parts: Sequence[Open], namer: Namer, rest: str) -> Iterator[Line]:
    for part in parts[:_SHOWN]:
        where = rest if part.where in (TRUE, FALSE) else namer.formula(part.where)
        yield Span(where, part.where not in (TRUE, FALSE)), *words(f": {part.reason}")
    if len(parts) > _SHOWN:
        yield words(f"and {len(parts) - _SHOWN} more reasons; .account.open and JSON have them all")


def _working(account: Account, namer: Namer) -> Field:
    """Return the sizes that are proved to work, or else points that work."""
    if account.works != FALSE:
        return field("works when", *condition_lines(account.works, namer, ".account.works", in_code=True))
    return field("works at", _at(account.working)) if account.working else field("works when", words(_NOT_PROVED))


def _failing(account: Account, namer: Namer) -> Field:
    """Return the sizes that fail: a short condition is negated, a long one follows "unless"."""
    text = namer.formula(account.needed)
    if account.needed == TRUE:
        return field("fails at", _at(account.failing)) if account.failing else field("fails when", words(_NOT_PROVED))
    if account.needed == FALSE or len(text) > _NEGATED:
        return field("fails unless", *condition_lines(account.needed, namer, ".condition", in_code=True))
    return field("fails when", (Span(namer.formula(account.fails), True),))


def condition_lines(formula: Formula, namer: Namer, place: str, *, in_code: bool = False) -> Iterator[Line]:
    """Yield a condition: a short one in words, a long one with a clause or case on each line; nothing is cut.

    ``place`` is where code finds all of a condition that is shown in part.
    """
    formula = gathered(formula)
    if not isinstance(formula, AllOf | AnyOf) or len(namer.formula(formula)) <= LONG:
        yield _one_line(formula, namer, in_code)
        return
    word, kind = ("and", "clause") if isinstance(formula, AllOf) else ("or", "case")
    for number, part in enumerate(formula.parts[:_PARTS]):
        yield (Span(f"{word} "), *_part(part, namer, place)) if number else _part(part, namer, place)
    left = len(formula.parts) - _PARTS
    if left > 0:
        yield words(f"{word} {left} more {kind}{'s' * (left > 1)}; {place} has all")


def _one_line(formula: Formula, namer: Namer, in_code: bool) -> Line:
    text, math = namer.formula(formula), Conjunction((namer.renamed_formula(formula),))
    is_code = in_code or _is_nested(formula, namer)
    return whole(text, math) if is_code else said(in_words(formula, namer), text, math)


def _part(formula: Formula, namer: Namer, place: str) -> Line:
    is_nested = isinstance(formula, AllOf | AnyOf)
    text = f"({namer.formula(formula)})" if is_nested else namer.formula(formula)
    if len(text) <= LONGEST or not is_nested:
        return whole(text, Conjunction((namer.renamed_formula(formula),)))
    return words(f"a condition of {literal_count(formula)} comparisons, which {place} has")


def _is_nested(formula: Formula, namer: Namer) -> bool:
    """Return whether words for a formula would need parentheses."""
    if not isinstance(formula, AllOf | AnyOf) or saying(formula, namer) is not None:
        return False
    return any(isinstance(part, AllOf | AnyOf) and saying(part, namer) is None for part in formula.parts)


def _at(points: Sequence[Sizes]) -> Line:
    return (Span("; ".join(sizes_text(point, 6) for point in points[:_SHOWN]), True),)
