"""Certificates of conditions: z3 proves the verdict, and that the simplified form is the same condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import SequenceSymbol
from symbcast.core.logic.formulas import clauses
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.program.sizes.assumptions import check_min_size, read_assumptions
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.program.statements.statement import names_in
from symbcast.core.program.whole.certificate import Question, certified, evidence
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import UndecidedError

if TYPE_CHECKING:
    from symbcast.core.program.sizes.assumptions import Assumptions
    from symbcast.core.program.statements.statement import Statement


def certify_condition(statement: Statement, assume: Assumptions, min_size: int) -> Certificate:
    """Return z3's verdict on what is said of a condition, from its formula as it was read."""
    given = read_assumptions(assume)
    known = [s for a in given for s in symbols_in(a.formula)]
    names = {s: names_in(statement).get(s, s.name) for s in (*names_in(statement), *known)}
    if any(isinstance(s, SequenceSymbol) for s in names):
        reason = "the condition is about sequences of axes"
        return Certificate((Claim("the simplified condition is the same", Proof.UNDECIDED, reason),))
    question = Question(
        names,
        assumed(names, given, check_min_size(min_size)),
        clauses(statement.formula),
        clauses(statement.simplified(assume, min_size).formula),
        statement.verdict_under(assume, min_size),
        (None, None),
    )
    claims = certified(question)
    try:
        points = statement.witness(assume, min_size), statement.counterexample(None, assume, min_size)
    except UndecidedError as error:
        return Certificate((*claims, Claim("the verdict", Proof.UNDECIDED, str(error))))
    ones = dict.fromkeys(names.values(), max(1, min_size))
    shown = [None if sizes is None else {**ones, **sizes} for sizes in points]
    return Certificate((*claims, *evidence(question._replace(points=(shown[0], shown[1])))))
