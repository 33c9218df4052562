"""Certificates of runs: z3 proves the condition from the decisions and requirements of the paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import all_of, any_of, at_most, clauses
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.program.whole.certificate import Question, certified, evidence

if TYPE_CHECKING:
    from symbcast.core.verdicts import Verdict
    from symbcast.paths.conclusions.conclusions import Conclusions


def certify_run(conclusions: Conclusions, verdict: Verdict, left_open: str) -> Certificate:
    """Return z3's verdict on the answer about a run; ``left_open`` says what is not covered, empty if nothing.

    What is raw are the paths: the run returns wherever all steps of one of them hold that ended with a value.
    """
    found = conclusions.exploration
    returning = [all_of(step.formula for step in o.steps) for o in found.outcomes if o.works]
    least = conclusions.scope.min_size
    known = assumed(conclusions.names, conclusions.scope.assumptions, 0 if found.data else least)
    question = Question(
        conclusions.names,
        [*known, *(at_most(least, s) for s in conclusions.scope.names if least)],
        [any_of(returning)],
        clauses(conclusions.formula),
        verdict,
        (conclusions.witness(), conclusions.counterexample()),
    )
    claims = certified(question, is_sufficient=not found.data)
    if found.data:
        reason = "z3 is not asked about data"
        claims.append(Claim("wherever the condition holds, suitable data exist", Proof.UNDECIDED, reason))
    else:
        claims += evidence(question)
    if left_open:
        claims.append(Claim("every path was followed", Proof.UNDECIDED, left_open))
    return Certificate(tuple(claims))
