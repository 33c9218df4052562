"""The laws of one call: whatever is asked, the answer is what integers say."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import strategies
from properties.laws import V, answered, at, check_evidence, check_verdict, condition_of, shown
from properties.strategies import Question, questions

import symbcast as sb

KINDS = {
    "names": strategies.pure,
    "one name": strategies.one_name,
    "sums": strategies.linear,
    "nested": strategies.nested,
    "large": strategies.large,
    "products": strategies.products,
}
of_every_kind = pytest.mark.parametrize("kind", KINDS)
small = questions(names=(1, 3), rank=2, operands=3, depth=2, most=2)
"""Those of which a law looks at many answers."""


def answer(question: Question) -> sb.Result:
    return answered(question, question.ask)


@of_every_kind
@given(st.data())
def test_the_answer_is_what_integers_say(kind, data):
    """Verdict, condition, shape, witness and counterexample are right at every point."""
    question = data.draw(KINDS[kind])
    result = answer(question)
    outcomes = list(question.outcomes())
    check_verdict(question, result.verdict, result.reason, outcomes)
    described = result.to_dict()
    condition = condition_of(result)
    for sizes, outputs in outcomes:
        assert condition(sizes) is (outputs is not None), (sizes, described["condition"])
        if outputs is not None:
            assert [shown(described["shape"]["text"], sizes)] == outputs, (sizes, described["shape"])
    check_evidence(question, result, described["symbols"], outcomes)
    if question.is_linear:
        assert not result.unproven, result.reason


@of_every_kind
@given(st.data())
def test_z3_certifies_the_answer(kind, data):
    question = data.draw(KINDS[kind])
    certificate = answer(question).certify()
    proofs = {claim.proof.value for claim in certificate.claims}
    assert "refuted" not in proofs, str(certificate)
    assert certificate or not question.is_linear, str(certificate)


@of_every_kind
@given(st.data())
def test_a_copy_answers_alike(kind, data):
    question = data.draw(KINDS[kind])
    result = answer(question)
    before = result.to_dict()
    for made in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert made.operands == result.operands
        assert hash(made.operands) == hash(result.operands)
        assert made.rule == result.rule
        assert made.to_dict() == before
    kept = [sb.Condition(result)] if result.shape is None else [sb.Condition(result), result.shape]
    for value in [*kept, *result.operands]:
        for made in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert made == value
            assert hash(made) == hash(value)
            assert str(made) == str(value)


@of_every_kind
@given(st.data())
def test_a_program_of_one_operation_answers_as_the_call(kind, data):
    question = data.draw(KINDS[kind])
    result = answer(question)
    env = question.program()
    assert env.verdict is result.verdict
    names = result.to_dict()["symbols"]
    order = list(env.names.values())
    if [name for name in order if name in names] == names:
        for found, expected in ((env.witness(), result.witness()), (env.counterexample(), result.counterexample())):
            assert found == (None if expected is None else {**dict.fromkeys(order, 1), **expected})
    else:
        # A program meets its assumptions first, so its sizes appear in another order.
        check_evidence(question, env, order, list(question.outcomes()))
    condition = condition_of(result)
    guard = env.guard()
    for sizes, _ in question.outcomes():
        assert guard(**{name: sizes.get(name, 1) for name in order}) is condition(sizes), sizes


ASKED = {
    "verdict": lambda r: r.verdict,
    "shape": lambda r: str(r.shape),
    "condition": lambda r: str(r.condition),
    "clauses": lambda r: [str(sb.Condition(c)) for c in r.clauses],
    "witness": lambda r: r.witness(),
    "counterexample": lambda r: r.counterexample(),
    "conflict": lambda r: [str(c) for c in r.conflict],
    "reason": lambda r: r.reason,
    "explanation": lambda r: r.explain(),
}


@given(strategies.every, st.permutations(list(ASKED)), small)
def test_the_order_of_questions_changes_no_answer(question, order, other):
    result = answer(question)
    first = {name: ask(result) for name, ask in ASKED.items()}
    with contextlib.suppress(sb.SymbcastError):
        other.ask().to_dict()
    again = answer(question)
    second = {name: ASKED[name](again) for name in order}
    # What the reason tells grows with what was asked, but ends the same.
    first["reason"], second["reason"] = result.reason, again.reason
    assert first == second


@given(small)
def test_sympy_evaluates_the_condition_to_what_holds(question):
    result = answer(question)
    condition = sb.Condition(result)
    negated = ~condition
    for sizes, _ in itertools.islice(question.outcomes(), 0, None, 41):
        for given_condition in (condition, negated):
            expected = given_condition.guard()({s.name: sizes[s.name] for s in given_condition.symbols})
            bound = {s: sizes[s.name] for s in given_condition.sympy.free_symbols}
            assert bool(given_condition.sympy.subs(bound)) is expected, (given_condition, bound)


@given(strategies.every)
def test_evaluate_gives_what_the_rule_gives(question):
    result = answer(question)
    names = result.to_dict()["symbols"]
    for sizes, outputs in itertools.islice(question.outcomes(), 0, None, 37):
        given_sizes = {name: sizes[name] for name in names}
        if outputs is None:
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(given_sizes)
        else:
            assert [result.evaluate(given_sizes)] == outputs


@given(strategies.every)
def test_the_answer_is_plain_data_that_reads_back(question):
    result = answer(question)
    data = result.to_dict()
    assert json.loads(json.dumps(data)) == data
    if any("?" in name for name in data["symbols"]):
        return
    written, condition = sb.Condition(data["condition"]), condition_of(result)
    for sizes, _ in question.outcomes():
        assert written.guard()({s.name: sizes[s.name] for s in written.symbols}) is condition(sizes), sizes


@given(small)
def test_a_simplified_condition_is_simple(question):
    """Simplifying again changes nothing, and the two hold at the same sizes."""
    result = answer(question)
    once = sb.Condition(result).simplified(question.texts, question.min_size)
    assert once.simplified(question.texts, question.min_size) == once
    condition = condition_of(once)
    for sizes, outputs in question.outcomes():
        assert condition(sizes) is (outputs is not None), (sizes, once)


@given(strategies.solvable)
def test_every_size_of_the_question_is_accepted(question):
    """A condition may hold at sizes that simplification has removed from it; those of the question are all welcome."""
    result = answer(question)
    condition = sb.Condition(result)
    for sizes, outputs in itertools.islice(question.outcomes(), 5):
        assert condition.guard()({name: sizes[name] for name in result.to_dict()["symbols"]}) is (outputs is not None)


@given(strategies.solvable)
def test_what_can_never_be_is_explained_by_a_conflict(question):
    """The constraints of the conflict hold together at no point, and all but one of them somewhere or unknown."""
    result = answer(question)
    assert bool(result.conflict) is (result.verdict is V.NEVER)
    if not result.conflict:
        return
    conditions = [condition_of(c.requirement) for c in result.conflict]
    names = result.to_dict()["symbols"]
    for sizes, _ in question.outcomes():
        known = at(question, {name: sizes[name] for name in names})
        assert not all(condition(known) for condition in conditions), (sizes, result.conflict)
    assumed = question.texts
    if len(result.conflict) > 1:
        for one in result.conflict:
            rest = sb.Condition(True)
            for c in result.conflict:
                rest = rest if c is one else rest & sb.Condition(c.requirement)
            assert "?" in question.text or rest.verdict_under(assumed, question.min_size) is not V.NEVER, one
