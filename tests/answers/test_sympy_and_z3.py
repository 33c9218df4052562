"""What sympy and z3 say of an answer: the raw constraints and the condition mean the same to them as to us."""

from __future__ import annotations

import itertools

import pytest
import questions
import sympy
import z3
from hypothesis import example, given, settings
from sympy.logic.inference import satisfiable

import symbcast as sb
from symbcast.core.verdicts import Verdict


def points(question):
    """Return whether a broadcast works at small sizes that its assumptions allow."""
    inside = (
        (sizes, output is not None) for sizes, output in question.outcomes() if max(sizes.values(), default=0) < 5
    )
    return list(itertools.islice(inside, 60))


def truth(boolean, sizes):
    """Return whether a sympy Boolean holds at sizes."""
    at = {s: sympy.Integer(sizes[s.name]) for s in boolean.free_symbols}
    found = boolean.xreplace(at).simplify() if at else boolean
    assert found in (sympy.true, sympy.false), found
    return bool(found)


@settings(max_examples=20)  # sympy takes up to a second for each
@given(questions.questions())
@example(questions.Question("numpy", [["a//2 + 1"], ["b"]], {}, ["a >= 2"]))
@example(questions.Question("numpy", [["a", "3"], ["b", "a"], ["c", "b"]]))
def test_sympy_agrees_about_the_raw_constraints(question):
    try:
        result = question.ask()
    except (sb.AssumptionError, sb.RuleArgumentError):
        return
    raw = sympy.And(*(c.sympy for c in result.constraints))
    simplified = [raw, sympy.simplify(raw), sympy.simplify(result.condition), result.condition.sympy]
    for sizes, works in points(question):
        assert [truth(boolean, sizes) for boolean in simplified] == [works] * 4, (sizes, simplified)
    if satisfiable(raw) is False:
        assert result.verdict is Verdict.NEVER


@given(questions.questions())
@example(questions.Question("numpy", [["a*b"], ["max(a, b)"]]))
def test_z3_agrees_about_the_condition(question):
    try:
        result = question.ask()
    except (sb.AssumptionError, sb.RuleArgumentError):
        return
    condition, names, known = result.to_z3()
    for sizes, works in points(question):
        solver = z3.Solver()
        solver.add(known, *(names[name] == size for name, size in sizes.items() if name in names))
        assert solver.check(condition if works else z3.Not(condition)) == z3.sat, sizes
        assert solver.check(z3.Not(condition) if works else condition) == z3.unsat, sizes
    if result.verdict is not Verdict.UNKNOWN:
        solver = z3.Solver()
        solver.set("timeout", 2000)
        solver.add(known)
        can_hold, can_fail = solver.check(condition), solver.check(z3.Not(condition))
        assert can_hold == z3.unknown or (can_hold == z3.sat) is (result.verdict is not Verdict.NEVER)
        assert can_fail == z3.unknown or (can_fail == z3.sat) is (result.verdict is not Verdict.ALWAYS)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("N == M or N != M and N == 1 or N != M and N != 1 and M == 1", "N == M or N == 1 or M == 1"),
        ("(N % 4 == 0 or N % 4 == 2) and M >= N", "N <= M and N % 2 == 0"),
        ("N == 2 or N == 1 and N == 2", "N == 2"),
    ],
)
def test_simplify_of_sympy_is_ours(text, short):
    condition = sb.Condition(text)
    assert sympy.simplify(condition) == sympy.simplify(condition.sympy) == condition.simplified().sympy
    assert condition.simplified().sympy == sb.Condition(short).sympy
    again = condition.sympy.func(*condition.sympy.args)
    assert again == condition.sympy and hash(again) == hash(condition.sympy)


def test_a_solver_of_sympy_finds_the_sizes_of_a_raw_constraint():
    (constraint,) = sb.broadcast("2*N", "6").constraints[-1:]
    (N,) = constraint.sympy.free_symbols
    solved = sympy.Union(
        *(sympy.solveset(r, N, sympy.S.Naturals0) for r in constraint.sympy.args or [constraint.sympy])
    )
    guard = sb.broadcast("2*N", "6").condition.guard()
    assert [n in solved for n in range(9)] == [guard(N=n) for n in range(9)]


def test_constraints_have_origins_in_every_kind_of_answer():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 1", origin="add")
    env.require("N % 2 == 0", origin="even")
    assert [(c.origin.operation, c.code) for c in env.constraints] == [("add", "join")] * 2 + [("even", "required")]
    assert (
        str(env.constraints[-1].sympy) == "Eq(Mod(N, 2), 0)" and env.constraints[0].sympy == env.constraints[0].formula
    )


def test_an_expression_of_z3_can_be_negated():
    """A join of many sizes is spelled out: a constant that exists where they join says nothing when negated."""
    condition, names, known = sb.Condition("compatible(N, M, K, L, P, 3) and N//M >= 1").to_z3()
    solver = z3.Solver()
    solver.add(known, *(names[n] == 3 for n in "NMKLP"))
    assert solver.check(condition) == z3.sat and solver.check(z3.Not(condition)) == z3.unsat
    with pytest.raises(sb.UnknownRankError):
        sb.broadcast("*batch, N", "M").to_z3()
