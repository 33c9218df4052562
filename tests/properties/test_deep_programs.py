"""Programs that work at hidden sizes: every answer is what integers say, and z3 proves it."""

from __future__ import annotations

import deep_programs
import pytest
from kinds import ANSWERS

import symbcast as sb
from symbcast.core.programs.certificates import answer_claims, proof_question
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.text import parse_formula
from symbcast.core.verdicts import Verdict


@pytest.mark.parametrize("number", range(1, 21))
def test_a_drawn_program_works_where_it_does_on_integers(number):
    faults, _ = deep_programs.held(number)
    assert not faults


@pytest.mark.parametrize("number", range(24, 30))
def test_z3_refutes_nothing_about_a_drawn_program(number):
    recorded = deep_programs.Recorded(deep_programs.Program(number))
    certificate = recorded.env.certify()
    proofs = {claim.proof.value for claim in certificate.claims}
    assert "refuted" not in proofs, str(certificate)
    assert certificate or all(claim.reason for claim in certificate.claims if claim.proof.value == "undecided")


@pytest.mark.parametrize("first", range(30, 120, 30))
def test_z3_refutes_nothing_about_many_drawn_programs(first):
    for number in range(first, first + 30):
        test_z3_refutes_nothing_about_a_drawn_program(number)


def wrong(text, verdict=Verdict.SOMETIMES):
    """Return the claims about an answer that shows another condition than the program's."""
    env = sb.ShapeEnv()
    env.broadcast("W", "max(M, N//K) - 4")
    env.require("W % 7 == 4")
    question = proof_question(plain_answer(env))
    return [(claim.proof.value, claim.text) for claim in answer_claims(question, [parse_formula(text)], verdict)]


def test_a_wrong_answer_is_refuted():
    whole = "K >= 1 and max(M, N//K) >= 4 and compatible(W, max(M, N//K) - 4) and W % 7 == 4"
    assert {proof for proof, _ in wrong(whole)} == {"proved"}
    assert wrong(whole.replace("K >= 1 and ", "")) == wrong(whole)  # a quotient by 0 is in no comparison that holds
    assert wrong(whole.replace("max(M, N//K) - 4)", "N//K - 4)"))[0][0] == "refuted"
    assert wrong("W % 7 == 4")[1] == ("refuted", "wherever the condition holds, the constraints do")
    assert ("refuted", "the constraints cannot fail") in wrong(whole, Verdict.ALWAYS)
    assert ("refuted", "the constraints cannot hold together") in wrong(whole, Verdict.NEVER)


def test_each_kind_of_answer_is_certified():
    for kind in ("broadcast", "program", "model", "function", "paths", "solution"):
        certificate = ANSWERS[kind]().certify()
        assert certificate and len(certificate.claims) >= 4, (kind, str(certificate))
    assert sb.Condition("N//M == 2 or N % K == 1").certify()
    undecided = sb.Condition("N**5 + M**5 == K**5 and N*M*K >= 1").certify()
    assert not undecided and all(claim.proof.value != "refuted" for claim in undecided.claims)
    assert all(claim.reason for claim in undecided.claims if claim.proof.value == "undecided")
