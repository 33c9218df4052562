"""Consequences of an answer: relations that hold wherever it is valid, and equivalent answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.core.advice import with_advice
from symbcast.core.algebra.formulas import TRUE, Formula, all_of, negate
from symbcast.core.algebra.symbols import Unknown, sequences_of, without_clashes
from symbcast.core.algebra.terms import Symbol
from symbcast.core.programs.assumptions import Assumption, assumed_formulas, assumption_set
from symbcast.core.programs.broadcast_call import BroadcastCall, PublicAnswer
from symbcast.core.programs.conditions import (
    ConditionLike,
    ConditionSizes,
    QuestionFormulas,
    Refutation,
    Statement,
    named_sizes,
    plain_answer,
    refuting_sizes,
)
from symbcast.core.programs.program import Program
from symbcast.core.rules.laws import same_open_output, same_output
from symbcast.core.solver.budget import call_about, one_call
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.normal_form import replace_in_formula
from symbcast.errors import ShapeTypeError, UndecidedError, UnknownRankError

Answer: TypeAlias = BroadcastCall | Program
Names: TypeAlias = Mapping[Symbol, Symbol]
"""What each size of an answer is called in a question about several answers."""


@one_call
def implies(answer: Answer, relation: ConditionLike) -> bool:
    """Return whether a relation holds at all sizes at which an answer is valid under its assumptions.

    Raises `UndecidedError` if this is beyond the limits.
    """
    return _beyond(answer, relation)[0].is_impossible


@one_call
def counterexample(answer: Answer, relation: ConditionLike) -> dict[str, int] | None:
    """Return the smallest valid sizes of an answer at which a relation does not hold; None if there are none.

    Raises `UndecidedError` if this is beyond the limits.
    """
    refutation, names = _beyond(answer, relation)
    return refutation.witness(names)


def _beyond(answer: Answer, relation: ConditionLike) -> tuple[Refutation, Mapping[Symbol, str]]:
    """Return where an answer is valid and a relation does not hold, and the names of sizes there."""
    # Of sizes that the answer does not know, nothing is known; axes of sequences have its least size.
    return refuting_sizes(Statement(answer), relation, _known(answer), 0, answer.min_size)


@one_call
def is_valid_exactly_where(answer: Answer, relation: ConditionLike) -> bool:
    """Return whether an answer is valid exactly where a relation holds, among the sizes that its assumptions allow.

    Raises `UndecidedError` if this is beyond the limits.
    """
    return implies(answer, relation) and Statement(relation).implies(Statement(answer), _known(answer))


@with_advice
@one_call
def equivalent(first: Answer | PublicAnswer, second: Answer | PublicAnswer) -> bool:
    """Return whether two answers are valid at the same sizes; of two broadcasts, also whether the outputs are equal.

    Only sizes that the assumptions of both allow are compared; names, and labels that a user gave to unknowns,
    mean the same in both. Raises `UndecidedError` if this is beyond the limits, `AssumptionError` if no sizes
    meet the assumptions of both, and `ShapeTypeError` for an argument that is not an answer.

    >>> by_numpy = BroadcastCall.of(["N", "M"], "numpy", {}, "N >= 2", 0)
    >>> equivalent(by_numpy, BroadcastCall.of(["N", "M"], "pdpd", {}, (), 0))
    True
    """
    left, right = plain_answer(first), plain_answer(second)
    for answer in (left, right):
        if not isinstance(answer, (BroadcastCall, Program)):
            hint = "pass the result of sb.broadcast or a ShapeEnv; for conditions use sb.Condition(...).equivalent(...)"
            raise ShapeTypeError(answer, "an answer", hint)
    with call_about(right):
        return _equivalent(left, right)


def _equivalent(first: Answer, second: Answer) -> bool:
    ours = named_sizes(first)
    theirs = _beside(named_sizes(second), ours)
    known = [Assumption(f) for f in (*_assumed(first, ours), *_assumed(second, theirs))]
    order = dict.fromkeys((*ours.values(), *theirs.values()))
    left, right = (_put(all_of(answer.clauses), names) for answer, names in ((first, ours), (second, theirs)))
    if sequences_of(order):
        outputs: Formula = TRUE
        if isinstance(first, BroadcastCall) and isinstance(second, BroadcastCall):
            outputs = _put(same_open_output(first.emission.output, second.emission.output), {**theirs, **ours})
        formulas = QuestionFormulas((), [left, right, outputs], [a.formula for a in known])
        of_both = ConditionSizes(order, formulas, 0, _least_of_both(first, second))
        ways = ((left, right), (right, left), (left, outputs))
        return all(Refutation(of_both, holds, fails).is_impossible for holds, fails in ways)
    sizes = assumption_set(order, known, 0)
    for asked_for in ([left, negate(right)], [right, negate(left)]):
        if not _never(Decision(sizes, asked_for)):
            return False
    if not (isinstance(first, BroadcastCall) and isinstance(second, BroadcastCall)):
        return True
    # Outputs are compared only where both are valid: elsewhere there is none.
    same = _put(same_output(first.emission.output, second.emission.output), {**theirs, **ours})
    return _never(Decision(sizes, [left, negate(same)]))


def _least_of_both(first: Answer, second: Answer) -> int:
    """Return the minimum size of axes of sequences, which must be the same in both answers."""
    least = first.min_size
    if second.min_size != least:
        raise UnknownRankError("equivalent", "answers with two min_size", "give both the same min_size")
    return least


def _never(decision: Decision) -> bool:
    """Return whether nothing satisfies a decision; raise `UndecidedError` if that is undecided."""
    if decision.satisfiable is None:
        raise UndecidedError(decision.reason)
    return not decision.satisfiable


def _beside(theirs: Names, ours: Names) -> Names:
    """Return the names of sizes, shown next to those of another answer: unknowns with the same user label match."""
    labelled = {s.name: s for s in ours.values() if isinstance(s, Unknown) and not s.name[1:].isdecimal()}
    placed = without_clashes(theirs.values(), ours.values())
    return {s: labelled.get(n.name, n) if isinstance(n, Unknown) else placed.get(n, n) for s, n in theirs.items()}


def _assumed(answer: Answer, names: Names) -> Sequence[Formula]:
    """Return all assumptions of an answer: those implied for each size, and the explicit ones."""
    renamed = _renamed(names)
    return [
        replace_in_formula(formula, renamed) for formula in assumed_formulas(names, answer.assumptions, answer.min_size)
    ]


def _known(answer: Answer) -> list[Statement]:
    return list(map(Statement, _assumed(answer, named_sizes(answer))))


def _put(formula: Formula, names: Names) -> Formula:
    return replace_in_formula(formula, _renamed(names))


def _renamed(names: Names) -> dict[Any, Any]:
    return {s: n for s, n in names.items() if s is not n}
