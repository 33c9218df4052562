"""What is open about an answer, as fields: first that it is open, then what is proved to work and to fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.show.document import Field, Line, Span, conjunction, field, words
from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import FALSE, TRUE, clauses

if TYPE_CHECKING:
    from symbcast.answers.explanation.names import Namer
    from symbcast.core.account import Account, Open, Sizes

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
        return field("works when", *conjunction(clauses(account.works), namer))
    return field("works at", _at(account.working)) if account.working else field("works when", words(_NOT_PROVED))


def _failing(account: Account, namer: Namer) -> Field:
    """Return the sizes that fail: a short condition is negated, a long one follows "unless"."""
    text = namer.formula(account.needed)
    if account.needed == TRUE:
        return field("fails at", _at(account.failing)) if account.failing else field("fails when", words(_NOT_PROVED))
    if account.needed == FALSE or len(text) > _NEGATED:
        return field("fails unless", *conjunction(clauses(account.needed), namer))
    return field("fails when", (Span(namer.formula(account.fails), True),))


def _at(points: Sequence[Sizes]) -> Line:
    return (Span("; ".join(sizes_text(point, 6) for point in points[:_SHOWN]), True),)
