"""Certificates of models: z3 proves the condition on the inputs from the requirements that the nodes' rules stated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import sequences_of
from symbcast.core.logic.formulas import clauses
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.program.whole.certificate import Question, certified, evidence, raw_constraints
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.verdicts import Verdict
    from symbcast.graphs.model import Checked


def certify_model(checked: Checked, verdict: Verdict, left_open: str) -> Certificate:
    """Return z3's verdict on the answer about a model; ``left_open`` says what is not covered, empty if nothing."""
    env, inputs = checked.env, checked.conditions.inputs
    if sequences_of(env.shown):
        return Certificate((_undecided("the condition of the model", "an input has an unknown rank"),))
    raw, by_data = raw_constraints(env), checked.asker.origins.keys()
    names = {**{s: s.name for f in raw for s in symbols_in(f)}, **env.shown}
    question = Question(
        names,
        assumed(names, env.assumptions, env.min_size),
        raw,
        [c for c in clauses(checked.conditions.condition.formula) if by_data.isdisjoint(symbols_in(c))],
        verdict,
        (inputs.witness(), inputs.counterexample()),
    )
    is_of_inputs = not any(by_data & symbols_in(f).keys() for f in raw)
    claims = certified(question, is_sufficient=is_of_inputs)
    if is_of_inputs and names.keys() == inputs.shown.keys():
        claims += evidence(question)
    elif not is_of_inputs:
        claims.append(_undecided("wherever the condition holds, suitable data exist", "z3 is not asked about data"))
    if left_open:
        claims.append(_undecided("the constraints are all that the model requires", left_open))
    return Certificate(tuple(claims))


def _undecided(text: str, reason: str) -> Claim:
    return Claim(text, Proof.UNDECIDED, reason)
