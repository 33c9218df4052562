"""What follows from an answer: relations that hold wherever it is valid, and answers that say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

from symbcast.broadcasting.outputs import same_output
from symbcast.logic.formulas import Formula
from symbcast.program.call import Call
from symbcast.program.premises import own_set
from symbcast.program.program import Program
from symbcast.program.statement import ConditionLike, Statement, named_formula, names_of
from symbcast.solver.budget import asked
from symbcast.solver.normal_form import put_in
from symbcast.solver.set_formulas import describe

T = TypeVar("T")

Answer: TypeAlias = Call | Program


def implies(answer: Answer, relation: ConditionLike) -> bool:
    """Return whether a relation holds at all sizes at which an answer is valid under its assumptions.

    Raises `UndecidedError` where that is beyond the limits.
    """
    return _within(answer, lambda: Statement(answer).implies(relation, assume=list(assumed(answer))))


def equivalent(first: Answer, second: Answer) -> bool:
    """Return whether two answers are valid at the same sizes; of two broadcasts, also whether the outputs are equal.

    That is asked of the sizes that the assumptions of both allow. Raises `UndecidedError` where it is beyond the
    limits, and `AssumptionError` where no sizes meet the assumptions of both.
    """
    return _within(first, lambda: _within(second, lambda: _equivalent(first, second)))


def _equivalent(first: Answer, second: Answer) -> bool:
    ours, theirs = Statement(first), Statement(second)
    known = [*assumed(first), *assumed(second)]
    if not ours.equivalent(theirs, assume=known):
        return False
    if not (isinstance(first, Call) and isinstance(second, Call)):
        return True
    same = same_output(first.emission.output, second.emission.output)
    return (ours & theirs).implies(Statement(put_in(same, {**names_of(first), **names_of(second)})), assume=known)


def assumed(answer: Answer) -> Iterator[Statement]:
    """Yield what an answer takes for granted, of each size by itself and in so many words, the sizes by their names."""
    names = names_of(answer)
    scope = answer if isinstance(answer, Program) else answer.scope
    formulas: list[Formula] = []
    if scope is not None:
        formulas += [describe(s, own_set(s, scope.min_size)) for s in names]
        formulas += [a.formula for a in scope.assumptions]
    for formula in formulas:
        yield Statement(named_formula(formula, answer))


def _within(answer: Answer, question: Callable[[], T]) -> T:
    """Return the answer to a question, in the seconds that its subject gives each question."""
    return asked(answer.budget, question, lambda _: None)
