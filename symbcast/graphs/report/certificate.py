"""Certificates of models: z3 proves the condition on the inputs from the requirements that the nodes' rules stated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import mentions_rest, sequences_of
from symbcast.core.logic.formulas import any_of, clauses, equal, negate
from symbcast.core.program.calls.certificate import Certificate, Claim, Proof
from symbcast.core.program.sizes.premises import assumed
from symbcast.core.program.whole.certificate import Question, certified, evidence, proved, raw_constraints
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.text.printing import shape_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.graphs.model import Checked
    from symbcast.operators.context import Dims


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
    if verdict is not Verdict.NEVER:
        claims += _of_shapes(checked)
    if left_open:
        claims.append(_undecided("the constraints are all that the model requires", left_open))
    return Certificate(tuple(claims))


def _of_shapes(checked: Checked) -> list[Claim]:
    """Return the claims about outputs, and about other values whose sizes were simplified.

    Another walk leaves sizes as the rules of the nodes write them. Where all requirements of that walk hold, both must
    be equal.
    """
    text = "the shapes are those of the nodes' rules"
    try:
        plain = checked.again(is_plain=True)
    except SymbcastError as error:
        return [_undecided(text, str(error))]
    if not _has_same_cases(checked, plain):
        return [_undecided(text, "sizes that depend on cases have other names without simplification")]
    raw, questions, open_ = raw_constraints(plain.env), {}, []
    for name, dims, ruled in _shapes(checked, plain):
        claim = f"{name} is {shape_text(tuple(dims))}"
        if ruled is None or len(ruled) != len(dims):
            open_.append(_undecided(claim, "its rank is known only after simplification"))
        else:
            questions[claim] = [*raw, any_of(negate(equal(a, b)) for a, b in zip(dims, ruled, strict=True))]
    met = [*raw, *(f for fs in questions.values() for f in fs), *(a.formula for a in plain.env.assumptions)]
    names = {**{s: s.name for f in met for s in symbols_in(f)}, **plain.env.shown}
    known = assumed(names, plain.env.assumptions, plain.env.min_size)
    return [*proved(Question(names, known, raw, (), Verdict.UNKNOWN, (None, None)), questions), *open_]


def _has_same_cases(checked: Checked, plain: Checked) -> bool:
    """Return whether no size with a name of its own means one thing in one walk and another in the other."""
    found, ruled = checked.asker.cases, plain.asker.cases
    return all(ruled[size] == case for size, case in found.items() if size in ruled) and all(
        checked.asker.origins[size] == text
        for size, text in plain.asker.origins.items()
        if size in checked.asker.origins
    )


def _shapes(checked: Checked, plain: Checked) -> Iterator[tuple[str, Dims, Dims | None]]:
    """Yield each output, and the first of the other values with a simplified shape: its name, and both shapes."""
    outputs = checked.model.graph.outputs
    ruled = {**plain.walk.inner, **plain.walk.top.values}
    met = set()
    for name, value in {**checked.walk.inner, **checked.walk.top.values}.items():
        dims, other = value.shape, ruled[name].shape if name in ruled else None
        if dims is None or any(map(mentions_rest, dims)):
            continue
        is_output = name in outputs
        if is_output or (dims != other and (dims, other) not in met):
            met.add((dims, other))
            yield f"{'output' if is_output else 'value'} {name}", dims, other


def _undecided(text: str, reason: str) -> Claim:
    return Claim(text, Proof.UNDECIDED, reason)
