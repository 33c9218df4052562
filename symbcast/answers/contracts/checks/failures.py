"""Sizes in some ranges at which a condition fails: the smallest for each clause, with the operation behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from symbcast.answers.contracts.proof import within
from symbcast.answers.contracts.search.space import decision_in
from symbcast.core.logic.formulas import FALSE, Formula, all_of, any_of, equal, negate
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.linear.z3_solver import some_point
from symbcast.core.solver.sets.smallest import GivenUpError

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import Question
    from symbcast.answers.contracts.search.largest import Found
    from symbcast.core.algebra.symbols import Symbol

    Ranges: TypeAlias = Mapping[Symbol, range]


_FEW = 8
"""Up to this many boxes, the smallest sizes outside them are sought."""


@dataclass(frozen=True)
class Failure:
    """Sizes that are left out, and why.

    Attributes:
        sizes: The smallest such sizes; None if they were not found within the limits.
        clause: The clause that fails there, as text; empty if the sizes work but the form cannot include them.
        node: The operation at which a run with these sizes stops, or the line of code; empty if it is an assumption or
            unknown.
        reason: A sentence.
        requirement: What this operation requires by itself, as text: the clause, or less where later ones require more.
        origin: The first operation that requires the whole clause; empty if that is unknown.
    """

    sizes: dict[str, int] | None
    clause: str
    node: str
    reason: str
    requirement: str = ""
    origin: str = ""

    def __str__(self) -> str:
        return self.reason


def failures_in(question: Question, ranges: Ranges) -> tuple[list[Failure], str]:
    """Return a failure for each clause that some sizes in the ranges violate, and why that is open, if it is."""
    found, why = [], ""
    for clause, text in question.required:
        decision = decision_in(ranges, [negate(clause)])
        if decision is None or decision.impossible:
            continue
        sizes = decision.witness()
        if decision.satisfiable is None and sizes is None:
            why = why or decision.reason
            continue
        found.append(_failure(question, ranges, sizes, clause, text))
    return found, why


def undecided_in(question: Question, ranges: Ranges) -> Failure | None:
    """Return sizes in the ranges that are neither proved to work nor proved to fail; None if there are none."""
    if question.partial is None:
        return None
    decision = decision_in(ranges, [question.partial.undecided])
    if decision is None or decision.impossible:
        return None
    sizes = decision.witness()
    at = None if sizes is None else _all(question, ranges, sizes, question.partial.undecided)
    shown = "" if at is None else f" at {_shown(at, question.partial.undecided, question) or 'all sizes'}"
    return Failure(at, "", "", f"open{shown}: {question.partial.reason}")


def _failure(
    question: Question, ranges: Ranges, sizes: Mapping[Symbol, int] | None, clause: Formula, text: str
) -> Failure:
    at = None if sizes is None else _all(question, ranges, sizes, clause)
    origin = question.origin(clause)
    stop = None if at is None else question.stop(at)
    node, requirement = (origin, text) if stop is None else stop
    if clause == FALSE:
        return Failure(
            at, text, node, f"no sizes satisfy the condition{f' ({node})' if node else ''}", requirement, origin
        )
    about = "" if at is None else f" at {_shown(at, clause, question)}"
    reason = f"{text} fails{about}{f' ({node})' if node else ''}"
    if origin and origin != node:
        reason = f"{text} ({origin}) fails{about}: a run stops at {node}"
    return Failure(at, text, node, reason, requirement, origin)


def _shown(sizes: Mapping[str, int], clause: Formula, question: Question) -> str:
    about = [question.names[s] for s in symbols_in(clause)]
    return ", ".join(f"{name}={sizes[name]}" for name in about)


def _all(question: Question, ranges: Ranges, sizes: Mapping[Symbol, int], clause: Formula) -> dict[str, int]:
    """Return sizes of all names: the others are such that, if possible, no other clause fails."""
    others = [c for c, _ in question.clauses if c != clause]
    fixed = {**ranges, **{s: range(n, n + 1) for s, n in sizes.items()}}
    decision = decision_in(fixed, others)
    rest = decision.witness() if decision is not None and not decision.impossible else None
    point = {**{s: r[0] for s, r in fixed.items()}, **(rest or {})}
    return {name: point[s] for s, name in question.names.items()}


def smallest_left(question: Question, ranges: Ranges, found: Found) -> Failure | None:
    """Return the smallest sizes in the ranges that work and are in no box; None if there are none."""
    relations = [equal(s, expression) for s, expression in found.derived.items()]
    outside = negate(all_of([any_of(map(within, found.boxes)), *relations]))
    if len(found.boxes) > _FEW:
        sizes = _some_left(question, ranges, outside)
    else:
        decision = decision_in(ranges, [question.formula, outside])
        sizes = None if decision is None or decision.impossible else decision.witness()
    if sizes is None:
        return None
    point = {**{s: r[0] for s, r in ranges.items()}, **sizes}
    at = {name: point[s] for s, name in question.names.items()}
    free = [name for s, name in question.names.items() if len(ranges[s]) > 1]
    shown = ", ".join(f"{name}={at[name]}" for name in free)
    return Failure(at, "", "", f"other sizes work too, such as {shown}, but the form does not express them")


def _some_left(question: Question, ranges: Ranges, outside: Formula) -> Mapping[Symbol, int] | None:
    """Return any sizes that work and are in no box: the smallest take a second for a hundred boxes."""
    try:
        return some_point(tuple(ranges), [within(ranges), question.formula, outside])
    except GivenUpError:
        return None


def ends_work(question: Question, ranges: Ranges) -> bool:
    """Return whether all least sizes together work, and all greatest ones: what a profile's ends show."""
    holds = predicate(all_of([question.formula]), tuple(ranges))
    return all(holds(*(r[end] for r in ranges.values())) for end in (0, -1))
