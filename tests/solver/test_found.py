"""Questions that were once answered wrongly, or not at all: what z3 and evaluation say of the answer."""

from __future__ import annotations

import itertools

import pytest
import sympy
from solver.expressions import smallness
from steps import calls, z3_checks

import symbcast as sb
from symbcast.core.algebra.formulas import all_of
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import formula_from_sympy
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.solver.evaluation import predicate

ALWAYS, SOMETIMES, NEVER = sb.Verdict.ALWAYS, sb.Verdict.SOMETIMES, sb.Verdict.NEVER
n = sympy.Symbol("n")


def even(name):
    return sympy.Symbol(name, even=True, nonnegative=True)


def odd(name):
    return sympy.Symbol(name, odd=True, nonnegative=True)


# Shapes, assumptions, the verdict.
CASES = {
    "a quotient by what may be 0, all sizes sampled": (["b", "2//a"], ["b <= 3", "a <= 3"], SOMETIMES),
    "a quotient in a quotient": (["7//(a//4)", "a"], [], SOMETIMES),
    "a quotient by a known 0": (["a//b", "5"], ["a == 7", "b == 0"], NEVER),
    "an assumed quotient asks for its divisor": (["a", "0"], ["b // a == 2"], SOMETIMES),
    "an assumed remainder asks for its divisor": (["a", "0"], ["b % a == 0"], SOMETIMES),
    "an assumed quotient has a value": (["a", "3"], ["b // b == a"], ALWAYS),
    "an assumed join has a value": (["a", "4"], ["broadcast(3, a) >= 2", "a != 1"], NEVER),
    "an assumed join is defined": (["a, b", "3, 5"], ["broadcast(a, b) >= 2"], SOMETIMES),
    "a join of known sizes": (["broadcast(a, b)", "5"], ["a == 2", "b == 3"], NEVER),
    "a join that clashes with an assumption": (["broadcast(a, 3)", "b"], ["a == 4"], NEVER),
    "a join beside a number": (["broadcast(a, 3)", "4"], [], NEVER),
    "a remainder by 0 in a maximum": (["max(b, a % a)", "3"], ["a == 0"], NEVER),
    "a counterexample with a 0 alone": (["a", "b"], ["a <= 1"], SOMETIMES),
    "sizes far apart": (["a", "b"], ["a == 1 or a >= 10000", "b == 1 or b >= 10000"], SOMETIMES),
    "a long search with nothing to find": (["b", "0"], ["b < a", "a < 2"], ALWAYS),
    "a finite size last": (["c", "a%3"], ["a <= 1"], SOMETIMES),
    "two periods that multiply to a long one": (["a % 64", "a % 81", "5"], [], SOMETIMES),
    "assumed periods": (["a", "5"], ["a % 64 == 0", "a % 81 == 0"], NEVER),
    "equal sizes of different periods": (["a", "b"], ["a % 64 == 0", "b % 81 == 0"], SOMETIMES),
    "an even size modulo 6": ([(even("a"),), (4,)], [sympy.Ne(even("a") % 4, 2)], SOMETIMES),
    "an even size over 6": ([(even("a"), 5), (even("a"), "a//6")], [], SOMETIMES),
    "an even size is even": ([(even("a"),), ("b",)], [], SOMETIMES),
    "an odd size modulo 9": ([(odd("a"),), ("b",)], ["a % 9 == 4"], SOMETIMES),
    "even sizes multiplied": ([(even("a") * even("b"),), (even("b"),), ("c",)], [], SOMETIMES),
    "odd sizes added": ([(odd("a") + odd("b"),), (3,)], [], NEVER),
    "sympy leaves 1 unseen": ([((n + 1) ** 2 - n**2 - 2 * n,), (3,)], [], ALWAYS),
}


@pytest.fixture(scope="module")
def answers():
    """Ask each question once."""
    made = {}

    def ask(case):
        if case not in made:
            shapes, assume, _ = CASES[case]
            made[case] = sb.broadcast(*shapes, assume=assume)
        return made[case]

    return ask


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_and_its_certificate(answers, case):
    result = answers(case)
    assert result.verdict is CASES[case][2]
    certificate = result.certify()
    assert certificate, str(certificate)


@pytest.mark.parametrize("case", CASES)
def test_the_evidence_meets_the_assumptions(answers, case):
    result = answers(case)
    symbols = tuple(plain_answer(result).shown)
    assumed = predicate(all_of(a.formula for a in result.assumptions), symbols)
    asked = predicate(all_of(c.requirement for c in plain_answer(result).constraints), symbols)
    for sizes, valid in ((result.witness(), True), (result.counterexample(), False)):
        assert (sizes is None) is (result.verdict is (NEVER if valid else ALWAYS))
        if sizes is not None:
            values = [sizes[name] for name in plain_answer(result).shown.values()]
            assert assumed(*values)
            assert bool(asked(*values)) is valid
            for s, size in zip(symbols, values, strict=True):
                assert s.parity in (None, size % 2)


@pytest.mark.parametrize("case", CASES)
def test_the_shown_condition_is_the_answer(answers, case):
    """The sympy Boolean is true exactly where the clauses hold, among sizes that the assumptions leave."""
    result = answers(case)
    symbols = tuple(plain_answer(result).shown)
    clauses, shown = (
        predicate(all_of(result.clauses), symbols),
        predicate(formula_from_sympy(result.condition.sympy), symbols),
    )
    assumed = predicate(all_of(a.formula for a in result.assumptions), symbols)
    for sizes in itertools.product(range(9), repeat=len(symbols)):
        if assumed(*sizes) and all(s.parity in (None, size % 2) for s, size in zip(symbols, sizes, strict=True)):
            assert bool(clauses(*sizes)) is bool(shown(*sizes)), sizes


def test_answers_come_soon():
    """Each of these once took seconds to search for what is not there."""
    for case in ("a long search with nothing to find", "a finite size last", "sizes far apart"):
        shapes, assume, _ = CASES[case]
        sb.broadcast(*shapes, assume=assume).witness()  # imports what it needs
        with calls() as steps, z3_checks() as checks:
            result = sb.broadcast(*shapes, assume=assume)
            assert (result.witness() or result.counterexample()) is not None
            result.counterexample()
        assert steps.count < 100_000
        assert checks.count < 10


def test_the_smallest_counterexample_may_be_where_something_is_undefined():
    """2//(a//2) has no value at 1: that is where it fails first."""
    result = sb.broadcast("2//(a//2)", "a%4", assume="a < 4")
    failing = [s for s in range(4) if s < 2 or not sb.Condition(f"compatible(2//({s}//2), {s % 4})").guard()()]
    assert result.counterexample() == {"a": min(failing, key=lambda s: smallness((s,)))}


def test_a_witness_is_made_of_sizes():
    """No size is above 2**63 - 1, so 2*N has none where N is 2**62 or more."""
    result = sb.broadcast("2*a", "b", assume=["a >= 4611686018427387904", "b >= 2"])
    witness = result.witness()
    assert witness is None or result.evaluate(witness)


def test_quotients_of_even_symbols_are_read():
    """sympy says a/2 for the half of an even size, not floor(a/2)."""
    result = sb.broadcast((sympy.floor(even("a") / 2),), (3,))
    assert result.verdict is SOMETIMES


def test_a_name_that_a_user_gave_is_not_another_sizes_label():
    first, second = sympy.Dummy("N"), sympy.Dummy("N")
    result = sb.broadcast((first,), (second,), ("N_1",))
    assert plain_answer(result).shown[symbol("N_1")] == "N_1"


@pytest.mark.parametrize(
    "kind", [{"prime": True}, {"composite": True}, {"nonpositive": True, "integer": True}], ids=str
)
def test_witness_and_condition_agree_whatever_a_symbol_is_assumed_to_be(kind):
    """sympy decides p == 1 by what it knows of p; the witness must not be where it says the condition fails."""
    p = sympy.Symbol("p", **kind)
    try:
        result = sb.broadcast((p,), (3,))
    except sb.DimensionError:
        return
    witness = result.witness()
    if witness is not None:
        assert result.condition.subs(p, witness["p"]) == sympy.true


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["B*S % n == 0", "m*n == B*S"], "B*S == m*n"),
        (["2*s % n == 0", "s == n"], "n == s"),
        (["B*S % n == 0", "m*n == B*S + 1"], "B*S % n == 0 and B*S + 1 == m*n"),
    ],
)
def test_a_division_comes_out_even_where_an_equation_says_so(asked, told):
    env = sb.ShapeEnv([f"{name} >= 1" for name in "BSmns"])
    for condition in asked:
        env.require(condition)
    assert str(env.condition) == told
