"""The answer for large sizes, and those for smaller sizes, where the answer for all sizes is undecided or long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.public.conditions import Condition
from symbcast.core.logic.formulas import all_of
from symbcast.core.program.statements.statement import of_answer

if TYPE_CHECKING:
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.whole.program import Program
    from symbcast.core.verdicts import Verdict


class PartialCase(NamedTuple):
    """The answer for some sizes.

    Attributes:
        where: the sizes that it is about.
        condition: when these work.
        verdict: whether they work always, sometimes or never.
    """

    where: Condition
    condition: Condition
    verdict: Verdict


class GenericAnswer(NamedTuple):
    """The answer for sizes from some bounds on, which is short, and those for smaller sizes.

    Attributes:
        large: the answer for sizes from some bounds on.
        exceptions: the answers for smaller sizes. No two are about the same sizes.
        unanalysed: the smaller sizes for which effort did not suffice; if there are none, the parts are the answer for
            all sizes.
    """

    large: PartialCase
    exceptions: tuple[PartialCase, ...]
    unanalysed: tuple[Condition, ...]


def generic_of(program: Program) -> GenericAnswer | None:
    """Return the answer of a program for large sizes; None if that for all sizes is decided and short."""
    parts = program.parts
    if parts is None:
        return None

    def condition(formula: Formula) -> Condition:
        return of_answer(Condition, formula, program)

    large, small = parts.large, parts.small
    return GenericAnswer(
        PartialCase(
            condition(all_of(large.bounds)), condition(all_of(large.program.clauses)), large.program.decided_verdict
        ),
        tuple(PartialCase(condition(c.where), condition(all_of(c.clauses)), c.verdict) for c in small.cases),
        tuple(map(condition, small.unanalysed)),
    )
