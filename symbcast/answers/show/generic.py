"""The answer for generic sizes, next to one for all sizes that is undecided or long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.answers.show.document import Conjunction, Field, Span, field
from symbcast.core.logic.formulas import all_of

if TYPE_CHECKING:
    from symbcast.answers.explanation.names import Namer
    from symbcast.core.program.whole.generic import Generic
    from symbcast.core.program.whole.program import Program


def generic_field(found: Generic[Program] | None, namer: Namer, *, is_open: bool) -> Field:
    """Return what holds from some sizes on; ``is_open`` says that the answer for smaller sizes is undecided.

    Otherwise that answer is exact but long, and the assumption that makes it short is suggested.
    """
    if found is None:
        return field("")
    clauses = found.program.clauses
    short = Span(namer.formula(all_of(clauses)), True, math=Conjunction(tuple(map(namer.renamed_formula, clauses))))
    where = Span(namer.formula(all_of(found.bounds)), True)
    if is_open:
        return field("large sizes", (Span("for "), where, Span(": exact: "), short), _REST)
    return field("shorter", (Span("if "), where, Span(" may be assumed: "), short))


_REST = (Span("smaller sizes: not analysed"),)
