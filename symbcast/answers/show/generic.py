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
    from symbcast.core.program.parts.small_sizes import Small
    from symbcast.core.program.whole.program import Program

_CASES = 6
"""At most this many cases of small sizes are shown."""


def generic_field(program: Program, namer: Namer, *, is_open: bool) -> Field:
    """Return what holds from some sizes on; ``is_open`` says that the answer for all sizes at once is undecided.

    Then the answers for smaller sizes follow, as far as they are known. Otherwise the answer for all sizes is exact but
    long, and the assumption that makes it short is suggested; smaller sizes follow if all parts together are shorter.
    """
    parts = program.parts
    if parts is None:
        return field("")
    clauses = parts.large.program.clauses
    short = Span(namer.formula(all_of(clauses)), True, math=Conjunction(tuple(map(namer.renamed_formula, clauses))))
    where = Span(namer.formula(all_of(parts.large.bounds)), True)
    if is_open:
        return field("large sizes", (Span("for "), where, Span(": exact: "), short), *_smaller(parts.small, namer))
    large = (Span("if "), where, Span(" may be assumed: "), short)
    smaller = list(_smaller(parts.small, namer))
    written = sum(len(span.text) for line in (large, *smaller) for span in line)
    is_whole = parts.small.is_complete and len(parts.small.cases) <= _CASES
    is_shorter = written < len(namer.formula(all_of(program.clauses)))
    return field("shorter", large, *(smaller if is_whole and is_shorter else ()))


def _smaller(found: Small, namer: Namer) -> Iterator[Line]:
    """Yield a line for each case of smaller sizes in which some work, and one for the others."""
    if not found.cases:
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
