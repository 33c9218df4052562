"""The answer for generic sizes, next to one for all sizes that is undecided or long, and those for smaller sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.answers.show.document import Conjunction, Field, Line, Span, field
from symbcast.core.logic.formulas import all_of
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.answers.explanation.names import Namer
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.whole.exceptions import Exceptions
    from symbcast.core.program.whole.program import Program

_CASES = 6
"""At most this many cases of small sizes are shown."""


def generic_field(program: Program, namer: Namer, *, is_open: bool) -> Field:
    """Return what holds from some sizes on; ``is_open`` says that the answer for all sizes at once is undecided.

    Then the answers for smaller sizes follow, as far as they are known. Otherwise the answer for all sizes is exact but
    long, and the assumption that makes it short is suggested.
    """
    found = program.generic
    if found is None:
        return field("")
    clauses = found.program.clauses
    short = Span(namer.formula(all_of(clauses)), True, math=Conjunction(tuple(map(namer.renamed_formula, clauses))))
    where = Span(namer.formula(all_of(found.bounds)), True)
    if is_open:
        large = (Span("for "), where, Span(": exact: "), short)
        return field("large sizes", large, *_smaller(program.exceptions, namer))
    return field("shorter", (Span("if "), where, Span(" may be assumed: "), short))


def _smaller(found: Exceptions | None, namer: Namer) -> Iterator[Line]:
    """Yield a line for each case of smaller sizes in which some work, and one for the others."""
    if found is None or not found.cases:
        yield (Span("smaller sizes: not analysed"),)
        return
    working = [case for case in found.cases if case.verdict is not Verdict.NEVER]
    for case in working[:_CASES]:
        yield (*_said(case.where, namer), *_answer(case.verdict, case.clauses, namer))
    if len(working) > _CASES:
        yield (Span(f"and {len(working) - _CASES} more cases; .generic.exceptions in Python has them all"),)
    if found.unanalysed:
        left = ", ".join(namer.formula(where) for where in found.unanalysed[:_CASES])
        more = f" and {len(found.unanalysed) - _CASES} more" if len(found.unanalysed) > _CASES else ""
        yield (Span("not analysed: "), Span(left, True), Span(more))
    if len(working) < len(found.cases):
        yield (Span(f"{'other smaller' if working or found.unanalysed else 'smaller'} sizes: never"),)


def _said(where: Formula, namer: Namer) -> Line:
    return Span("for "), Span(namer.formula(where), True), Span(": ")


def _answer(verdict: Verdict, clauses: tuple[Formula, ...], namer: Namer) -> Line:
    return (Span("always"),) if verdict is Verdict.ALWAYS else (Span(namer.formula(all_of(clauses)), True),)
