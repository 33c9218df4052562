"""The report on an exported program as a document: the graph's report, and the sizes that the guards accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.answers.show.document import Document, Field, Room, field, fields, whole, words
from symbcast.core.characters import shorten_end
from symbcast.graphs.report.presentation import model_document

if TYPE_CHECKING:
    from symbcast.graphs.report.answer import GraphAnswer
    from symbcast.torch.guards.guards import Guards

# How many guard clauses are shown on a screen.
SHOWN = 6


def document(report: GraphAnswer, guards: Guards, refusal: str | None, room: Room = Room.SCREEN) -> Document:
    """Return the document of a report; ``refusal`` is torch's message about the dimensions that it refused."""
    more = fields(_guards(guards, refusal, SHOWN if room is Room.SCREEN else 1000, bool(report._shown)))
    return model_document(report, room, more=(more,))


def _guards(guards: Guards, refusal: str | None, shown: int, has_sizes: bool) -> Iterator[Field]:
    """Yield fields for torch's guards, the sizes that it fixed, and why it refused the given dynamic shapes."""
    clauses = guards.clauses
    head = f"{len(guards)} guard{'s' * (len(guards) != 1)} of torch"
    if clauses:
        for n, clause in enumerate(clauses[:shown]):
            where = words(f"from {clause.where}" if clause.where else "")
            yield field("and" if n else "torch wants", whole(clause.text), where)
        more = len(clauses) - shown
        text = f"{head}, which come{'s' * (len(guards) == 1)} to {len(clauses)} clause{'s' * (len(clauses) != 1)}"
        yield field("that is", words(f"{text}; .guards.clauses has {more} more" if more > 0 else text), most=2)
    elif guards.open:
        yield field("torch wants", words("what cannot be read of its guards"), most=1)
    elif not has_sizes:
        text = "no axis is dynamic; check(..., dynamic_shapes=...) makes axes dynamic, as in torch.export"
        yield field("all fixed", words(text), most=2)
    else:
        yield field("torch wants", words("nothing about sizes that are not fixed"), most=1)
    for name, guard in list(guards.open.items())[:shown]:
        yield field("open", words(f"{name}: the guard {guard.text} cannot be read"), most=2)
    fixed = [str(s) for s in guards.specialised if s.was_open]
    yield field("torch fixed", words("; ".join(fixed)), most=2)
    if refusal is not None:
        said = "torch did not export it as requested; .suggest() has what it accepts"
        # The guards of the program that it did export already show the broken constraints above.
        head = "" if "Constraints violated" in refusal else shorten_end(refusal.partition("\n")[0], 200)
        yield field("refused", words(f"{said}. It said: {head}" if head else said), most=4)
