"""Certificates of runs: z3 proves the condition from the decisions and requirements of the paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import Formula, all_of, any_of, at_most, clauses, negate
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.program.whole.certificate import Question, certified, evidence, proved

if TYPE_CHECKING:
    from symbcast.core.verdicts import Verdict
    from symbcast.paths.conclusions.conclusions import Conclusions


def certify_run(conclusions: Conclusions, verdict: Verdict, left_open: str) -> Certificate:
    """Return z3's verdict on the answer about a run; ``left_open`` says what is not covered, empty if nothing.

    What is raw are the paths: the run returns wherever all steps of one of them hold that ended with a value. If some
    were not followed, the condition is what the run needs: where it does not hold, a path fails.
    """
    found = conclusions.exploration
    returning = any_of(all_of(step.formula for step in o.steps) for o in found.outcomes if o.works)
    least = conclusions.scope.min_size
    known = assumed(conclusions.names, conclusions.scope.assumptions, 0 if found.data else least)
    question = Question(
        conclusions.names,
        [*known, *(at_most(least, s) for s in conclusions.scope.names if least)],
        [returning],
        clauses(conclusions.formula),
        verdict,
        (conclusions.witness(), conclusions.counterexample()),
    )
    is_exact = found.is_complete and not found.data
    claims = certified(question, is_sufficient=is_exact)
    if found.data:
        claims.append(Claim("wherever the condition holds, suitable data exist", Proof.UNDECIDED, _DATA))
    elif is_exact:
        claims += evidence(question)
        claims += _of_results(conclusions, question)
    else:
        claims += _of_followed(conclusions, question, returning)
    if left_open:
        claims.append(Claim("every path was followed", Proof.UNDECIDED, left_open))
    return Certificate(tuple(claims))


_DATA = "z3 is not asked about data"


def _of_results(conclusions: Conclusions, question: Question) -> list[Claim]:
    """Return the claim about each result: the sizes shown for it are those of the paths that return it."""
    questions = {}
    for where, end, _ in conclusions.cases(are_working=True):
        paths = conclusions.paths_to(end)
        differ = any_of([all_of([where, negate(paths)]), all_of([paths, negate(where)])])
        questions[f"{end.value} is returned where it is said to be, and nowhere else"] = [differ]
    return proved(question, questions)


def _of_followed(conclusions: Conclusions, question: Question, returning: Formula) -> list[Claim]:
    """Return the claims about the sizes that are proved to work and to fail, though some paths were not followed."""
    failing = any_of(all_of(s.formula for s in b.steps) for b in conclusions.failing if b.end.kind == "error")
    needed, works = all_of(question.condition), conclusions.works
    questions = {
        "at the sizes proved to work, a path returns": [works, negate(returning)],
        "where the condition does not hold, a path fails": [negate(needed), negate(failing)],
    }
    return proved(question, questions)
