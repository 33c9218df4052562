"""Conditions as values: their algebra, and what is decided about them."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import assume, example, given
from hypothesis import strategies as st
from solver.expressions import NAMES, SYMBOLS, binary, expressions, integer, name, of_dims, of_parts, points, statements

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, literals, negate
from symbcast.core.effort import Satisfiability
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker

Condition = sb.Condition
POINTS = points(3, 6)
small = expressions(3, operators="+-", divisors=(2, 3), functions=("max",), max_leaves=2)
formulas = statements(small, most=4, max_leaves=3)
TEXTS = ["a >= 2", "a == b", "a != 1 and b != 1", "a % 2 == 0", "b <= 4 or c == 1", "compatible(a, b, c)"]


def truth(condition):
    test = predicate(condition.formula, SYMBOLS)
    return [bool(test(*sizes)) for sizes in POINTS]


def unsatisfiable(*formulas_given):
    """Return whether z3 proves that the formulas cannot hold together."""
    return on_worker(lambda: Session(SYMBOLS, ()).check(formulas_given)) is Satisfiability.UNSATISFIABLE


@given(formulas, formulas)
def test_the_operators_are_those_of_truth(left, right):
    x, y = Condition(left.formula), Condition(right.formula)
    pairs = list(zip(truth(x), truth(y), strict=True))
    assert truth(x & y) == [p and q for p, q in pairs]
    assert truth(x | y) == [p or q for p, q in pairs]
    assert truth(~x) == [not p for p, _ in pairs]
    assert truth(x >> y) == [q or not p for p, q in pairs]


@given(formulas, formulas)
def test_de_morgan(left, right):
    x, y = Condition(left.formula), Condition(right.formula)
    assert (~(x & y)).equivalent(~x | ~y)
    assert (~(x | y)).equivalent(~x & ~y)
    assert (~~x).equivalent(x)


@given(formulas, formulas)
@example(of_dims(True, [name("a"), name("b"), name("c")]), of_dims(True, [name("a"), name("b")]))
def test_implication_is_decided(left, right):
    """Where it is claimed it holds at every point; where it is denied z3 has a point."""
    x, y = Condition(left.formula), Condition(right.formula)
    shown = all(q or not p for p, q in zip(truth(x), truth(y), strict=True))
    implied = x.implies(y)
    assert implied <= shown
    assert implied is unsatisfiable(x.formula, negate(y.formula))


@given(formulas, st.sampled_from(TEXTS))
def test_to_assume_is_to_conjoin(statement, text):
    x = Condition(statement.formula)
    assert x.implies("a <= b", assume=text) is (x & Condition(text)).implies("a <= b")
    assert (x.verdict_under(assume=text) is sb.Verdict.NEVER) is ((x & Condition(text)).verdict is sb.Verdict.NEVER)


@given(formulas)
def test_the_verdict_is_decided(statement):
    x = Condition(statement.formula)
    found = set(truth(x))
    never, always = unsatisfiable(x.formula), unsatisfiable(negate(x.formula))
    expected = sb.Verdict.NEVER if never else sb.Verdict.ALWAYS if always else sb.Verdict.SOMETIMES
    assert x.verdict is expected
    if len(found) == 2:
        assert expected is sb.Verdict.SOMETIMES


@given(formulas, st.sampled_from(["True", *TEXTS]), st.sampled_from([0, 1]))
def test_simplifying_proves_equivalent(statement, assumption, min_size):
    """Before and after agree at every point that is assumed: by brute force and by z3."""
    before = Condition(statement.formula)
    after = before.simplified(assumption, min_size)
    assumed = Condition(assumption)
    for sizes, p, q, r in zip(POINTS, truth(before), truth(after), truth(assumed), strict=True):
        if r and min(sizes) >= min_size:
            assert p is q, (sizes, after)
    known = [assumed.formula, *(Condition(f"{n} >= {min_size}").formula for n in NAMES)]
    assert unsatisfiable(*known, before.formula, negate(after.formula))
    assert unsatisfiable(*known, after.formula, negate(before.formula))


CLASH = of_parts(
    True,
    [
        of_dims(False, [name("a"), binary("+", name("a"), name("c")), binary("//", name("a"), integer(2)), name("c")]),
        of_dims(True, [name("a"), integer(0)]),
    ],
)


@given(formulas)
@example(CLASH)
def test_nothing_in_a_simplified_condition_is_redundant(statement):
    """z3 finds a point that tells the condition from itself without any one clause."""
    after = Condition(statement.formula).simplified()
    assume(after.verdict is sb.Verdict.SOMETIMES)
    for clause in after.clauses:
        others = [other for other in after.clauses if other is not clause]
        assert not unsatisfiable(*others, negate(clause)), clause


@given(formulas)
def test_no_alternative_of_a_simplified_condition_is_idle(statement):
    """Every disjunct of a clause over several symbols can be the one that holds it."""
    after = Condition(statement.formula).simplified()
    assume(after.verdict is sb.Verdict.SOMETIMES)
    for clause in after.clauses:
        for literal in literals(clause):
            rest = [other for other in literals(clause) if other is not literal]
            others = [other for other in after.clauses if other is not clause]
            assert not unsatisfiable(*others, literal, *map(negate, rest)), (clause, literal)


@given(formulas, st.tuples(*[st.integers(0, 2**62)] * 3))
def test_holds_is_the_truth(statement, sizes):
    condition = Condition(statement.formula)
    given = {s.name: sizes[NAMES.index(s.name)] for s in condition.symbols}
    assert condition.guard()(given) is condition.guard()(**given) is statement.at(sizes)


@given(formulas)
def test_text_and_sympy_say_the_same(statement):
    condition = Condition(statement.formula)
    assert truth(Condition(str(condition))) == truth(condition)
    assert truth(Condition(condition.sympy)) == truth(condition)


def test_a_result_is_where_it_is_valid():
    valid = Condition(sb.broadcast("a, 3", "b, c"))
    assert valid.equivalent("compatible(a, b) and (c == 1 or c == 3)")
    assert Condition("a == b and c == 3").implies(valid)
    assert not valid.implies("a == b")
    assert valid.implies("a == b", assume=["a >= 2", "b >= 2"])
    assert (valid & "a != 1" & "b != 1").simplified().implies("a == b")


def test_users_symbols_are_bound_by_name():
    n = sympy.Symbol("a")
    assert Condition(sympy.Eq(n, 3)) == Condition("a == 3")
    assert Condition(n >= 2).implies("a != 1")
    assert Condition("a == 2").implies(n < 3, assume=sympy.Symbol("a", positive=True, integer=True) < 9)


def test_equality_is_of_writing():
    assert Condition("a == b") == Condition("a == b")
    assert hash(Condition("a == b")) == hash(Condition("a == b"))
    assert Condition("a == b") != Condition("b == a")
    assert Condition("a == b").equivalent("b == a")
    assert Condition("a == b") != "a == b"
    assert Condition(True).clauses == ()
    assert [s.name for s in Condition("c == a or b >= 2").symbols] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: bool(Condition("a == b")), TypeError),
        (lambda: Condition("a == "), sb.ShapeSyntaxError),
        (lambda: Condition(3), sb.ShapeTypeError),
        (lambda: Condition(None), sb.ShapeTypeError),
        (lambda: Condition("a == b") & 3, sb.ShapeTypeError),
        (lambda: Condition("a == b").guard()(a=3), sb.BindingError),
        (lambda: Condition("a == b").implies("a >= 1", assume=["b >= 2", "b < 2"]), sb.AssumptionError),
        (lambda: Condition("a == b").verdict_under(min_size=-1), sb.SymbcastError),
        (lambda: Condition("a == b").verdict_under(min_size="1"), sb.ShapeTypeError),
    ],
)
def test_wrong_use_is_an_error_that_says_so(wrong, error):
    with pytest.raises(error) as caught:
        wrong()
    assert str(caught.value)


def test_many_symbols():
    """A chain of forty equalities implies that the ends are equal."""
    chain = all_of(Condition(f"n{n} == n{n + 1}").formula for n in range(40))
    assert Condition(chain).implies("n0 == n40")
    assert not Condition(chain).implies("n0 == 1")
    assert len(Condition(chain).simplified().clauses) == 40


def test_every_size_of_the_question_is_accepted():
    """Sizes that the answer does not mention are ignored; a name that was never asked about is an error."""
    answer = Condition(sb.broadcast("N, K", "M, 1"))
    assert answer.guard()(N=3, M=3, K=7) and not answer.guard()(N=3, M=4, K=7)
    assert (Condition("N == M") & "K >= 0 and K == 2 or K != 2").simplified().guard()(N=1, M=1, K=5)
    assert (~Condition("N >= 0 and M == 1")).simplified().guard()(N=2, M=2)
    assert Condition("N == 1").simplified(assume="Z >= 2").guard()(N=1, Z=4)
    env = sb.ShapeEnv()
    env.broadcast("N, K", "M, 1")
    assert Condition(env).guard()(N=1, M=2, K=3)
    with pytest.raises(sb.BindingError, match="'Q'"):
        answer.guard()(N=3, M=3, Q=3)
    with pytest.raises(sb.BindingError, match="no size was given for M"):
        answer.guard()(N=3, K=3)


def test_labelled_unknowns_are_known_to_assumptions():
    answer = sb.broadcast("?a, N", "?b, M", assume=["?a >= 2"])
    valid = Condition(answer)
    assert not valid.implies("N == M", assume=answer.assumptions)
    assert valid.implies("?b == 1 or ?a == ?b", assume=answer.assumptions)
    assert Condition("N == 3").implies("N >= 2", assume=answer.assumptions)
    assert Condition("?a == 2").implies("?a >= 1") and not Condition("?a == 2").implies("?b >= 1")
    assert (valid & "?b >= 2").implies("?a == ?b", assume=answer.assumptions)
    with pytest.raises(sb.AssumptionError, match="no size here is named"):
        valid.verdict_under(assume="?z >= 3")


@pytest.mark.parametrize(
    "requirements",
    [
        [
            "B == broadcast(D, C)",
            "C == broadcast(D, F)",
            "broadcast(B, D) == 1 or C == A",
            "compatible(C, D, F, B)",
            "compatible(A, E)",
        ],
        [
            "B*B == broadcast(G, F)*broadcast(C, A)",
            "broadcast(A, C) == broadcast(E, B)",
            "D == broadcast(G, F)",
            "broadcast(B, C) == broadcast(C, E)",
            "C == broadcast(C, A)",
            "broadcast(B, G) == broadcast(B, C)",
        ],
    ],
)
def test_the_condition_of_a_program_means_what_its_text_says(requirements):
    """A comparison of a join requires that the join has a value, also where no conjunct says so."""
    env = sb.ShapeEnv()
    for requirement in requirements:
        env.require(requirement)
    found, read = env.condition, sb.Condition(str(env.condition))
    assert all(found.implies(requirement) for requirement in requirements)
    assert found.equivalent(read) and (~found).equivalent(~read)
    assert (found | ~found).verdict is sb.Verdict.ALWAYS
