"""The law of the library: every answer is what brute force finds, for every binding."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume as given_that
from hypothesis import example, given
from hypothesis import strategies as st
from questions import Question, dims, pure_assumptions, pure_dims, questions

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, any_of, literals
from symbcast.core.algebra.sympy_conversion import formula_from_sympy
from symbcast.core.solver.evaluation import predicate, value_function

V = sb.Verdict


def asked(question):
    """Ask; a contradiction among the assumptions must be one."""
    try:
        return question.ask()
    except sb.AssumptionError:
        assert not list(question.outcomes())
        given_that(False)


def symbols_of(result):
    return tuple(result.guard().names)


def size_key(sizes):
    return sum(size == 0 for size in sizes), sum(sizes), tuple(sizes)


def check(question):
    result = asked(question)
    symbols = symbols_of(result)
    condition = predicate(formula_from_sympy(result.condition.sympy), symbols)
    output = result.shape
    values = [value_function(d, symbols) for d in output.dims] if output is not None else None
    order = list(result.guard().names.values())
    smallest = {}
    for binding, expected in question.outcomes():
        sizes = [binding[name] for name in order]
        valid = expected is not None
        assert bool(condition(*sizes)) is valid, (binding, result.condition, expected)
        if valid:
            assert tuple(value(*sizes) for value in values) == expected, (binding, output)
        smallest[valid] = min(smallest.get(valid, (99,)), size_key(sizes))
    check_verdict(result, smallest)
    check_evidence(question, result, order, smallest)
    return result


def check_verdict(result, smallest):
    assert result.verdict is not V.UNKNOWN, result.reason
    if True in smallest:
        assert result.verdict in (V.ALWAYS, V.SOMETIMES)
    if False in smallest:
        assert result.verdict in (V.NEVER, V.SOMETIMES)
    assert (result.shape is None) is (result.verdict is V.NEVER)


def check_evidence(question, result, order, smallest):
    """Witness and counterexample are there when they should be, are what they say, and are smallest."""
    witness, counterexample = result.witness(), result.counterexample()
    assert (witness is None) is (result.verdict is V.NEVER)
    assert (counterexample is None) is (result.verdict is V.ALWAYS)
    for sizes, valid in ((witness, True), (counterexample, False)):
        if sizes is None or not order:
            continue
        found = dict(outcome_at(question, sizes))
        assert (found["output"] is not None) is valid
        if valid in smallest and max(sizes.values()) <= 6:
            assert size_key([sizes[name] for name in order]) == smallest[valid]


def outcome_at(question, sizes):
    scope = dict(sizes, max=max)
    assert all(eval(a, scope) for a in question.assume)
    assert all(size >= question.min_size for size in sizes.values())
    concrete = [tuple(eval(d, scope) for d in s) for s in question.shapes]
    yield "output", question.reference(concrete)


@given(questions())
@example(Question("explicit", [["(b+1)*(b+1)", "b*a%3"], ["1", "a*a", "b*b"]], {"axes": (1, 2)}))
@example(Question("numpy", [["b", "4"], ["4", "b%3", "a+a"]], {}, ["a % 3 == 1", "1 <= a <= 4"]))
@example(Question("pdpd", [["a", "b+1", "c"], ["b", "1"]], {"axis": 0}, ["a != 1"]))
def test_the_answer_is_what_brute_force_finds(question):
    check(question)


@given(questions())
def test_z3_certifies_the_answer(question):
    certificate = asked(question).certify()
    assert certificate, str(certificate)


@given(questions(dims=pure_dims, assumptions=pure_assumptions))
def test_no_clause_of_a_pure_condition_is_redundant(question):
    """Dropping any clause changes the truth at some sizes.

    Small models: of a formula of equalities, sizes among its constants, 1 and a few fresh ones tell all. With the
    residues modulo 2 and 3 of the assumptions, 0..12 holds two fresh ones of every kind.
    """
    result = asked(question)
    clauses = result.clauses
    if result.verdict is V.NEVER or not clauses:
        return
    symbols = symbols_of(result)
    assumed = predicate(all_of(a.formula for a in result.assumptions), symbols)
    points = [p for p in itertools.product(range(question.min_size, 13), repeat=len(symbols)) if assumed(*p)]
    whole = predicate(all_of(clauses), symbols)
    for position, clause in enumerate(clauses):
        rest = predicate(all_of(c for n, c in enumerate(clauses) if n != position), symbols)
        assert any(bool(rest(*p)) is not bool(whole(*p)) for p in points), clause


@given(questions(dims=pure_dims, assumptions=pure_assumptions))
def test_no_literal_of_a_pure_condition_is_idle(question):
    """Every alternative of a clause is needed somewhere: without it the condition would hold for fewer sizes."""
    result = asked(question)
    symbols = symbols_of(result)
    clauses = result.clauses
    assumed = predicate(all_of(a.formula for a in result.assumptions), symbols)
    points = [p for p in itertools.product(range(question.min_size, 13), repeat=len(symbols)) if assumed(*p)]
    for position, clause in enumerate(clauses):
        others = predicate(all_of(c for n, c in enumerate(clauses) if n != position), symbols)
        for literal in literals(clause) if len(literals(clause)) > 1 else ():
            fewer = predicate(any_of(x for x in literals(clause) if x is not literal), symbols)
            holds = predicate(literal, symbols)
            assert any(others(*p) and holds(*p) and not fewer(*p) for p in points), (clause, literal)


@given(questions(assumptions=st.just([])))
def test_more_assumptions_never_change_a_decided_answer(question):
    """A verdict of always or never stays under any further assumption that leaves some sizes."""
    verdict = question.ask().verdict
    if verdict in (V.ALWAYS, V.NEVER):
        question.assume = ["a >= 1", "b != 3"]
        assert question.ask().verdict is verdict


@given(questions())
def test_evaluate_is_what_the_rule_gives(question):
    result = asked(question)
    for binding, expected in itertools.islice(question.outcomes(), 0, None, 37):
        if expected is None:
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(binding)
        else:
            assert result.evaluate(binding) == expected


@given(questions(dims=dims))
def test_asking_again_gives_the_same(question):
    first, second = asked(question), asked(question)
    assert repr(first) == repr(second)
    assert str(first.condition) == str(second.condition)
    assert first.witness() == second.witness()
    assert first.counterexample() == second.counterexample()
