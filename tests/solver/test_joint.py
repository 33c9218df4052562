"""Questions about one name and several moduli, held against every size of a whole period or of a long range."""

from __future__ import annotations

from math import prod
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.arithmetic import add, modulo, multiply
from symbcast.core.algebra.formulas import Comparison
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver import residues as congruences
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f2_one_size.piecewise import NotPeriodicError
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.univariate import solution_set
from symbcast.core.solver.f3_linear import z3_solver as smt
from symbcast.core.solver.size_sets import SizeSet

V = sb.Verdict
a = symbol("a")
TESTS = {"==": lambda x, y: x == y, "!=": lambda x, y: x != y, "<=": lambda x, y: x <= y, "<": lambda x, y: x < y}
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


def joined(*sizes):
    return len({s for s in sizes if s != 1}) <= 1


@pytest.fixture(autouse=True)
def no_solver():
    """Questions about one name are decided without a solver."""
    with patch.object(smt.Session, "check", side_effect=AssertionError("asked z3")):
        yield


@given(
    st.lists(
        st.tuples(st.integers(-3, 3).filter(bool), st.integers(1, 3), st.integers(0, 4), st.integers(2, 15)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(list(TESTS)),
    st.integers(-20, 30),
)
def test_a_sum_of_remainders_is_compared_exactly(parts, operator, bound):
    total = add(*[multiply(*[c, modulo(add(*[multiply(*[k, a]), s]), m)]) for c, k, s, m in parts])
    try:
        found = solution_set(Comparison(operator, total, bound))
    except NotPeriodicError:
        return
    for size in (*range(700), 10**6 + 7, 2**40 + 5, 2**62 + 11):
        value = sum(c * ((k * size + s) % m) for c, k, s, m in parts)
        assert (size in found) is TESTS[operator](value, bound), size


@given(st.integers(1, 5), st.integers(0, 9), st.integers(2, 60_000), st.integers(-2, 60_000), st.booleans())
def test_one_congruence_of_any_modulus(slope, offset, modulus, wanted, is_equal):
    remainder = modulo(add(*[multiply(*[slope, a]), offset]), modulus)
    try:
        found = solution_set(Comparison("==" if is_equal else "!=", remainder, wanted))
    except NotPeriodicError:
        return
    for size in (*range(50), modulus, wanted, wanted + 3 * modulus, 10**12 + 1):
        if size >= 0:
            assert (size in found) is (((slope * size + offset) % modulus == wanted) is is_equal), size


def test_eight_assumed_congruences():
    result = sb.broadcast("N", "M", assume=[f"N % {p} == 1" for p in PRIMES])
    assert result.verdict is V.SOMETIMES
    assert result.witness() == {"N": 1, "M": 1}
    assert result.counterexample() == {"N": 1 + prod(PRIMES), "M": 2}
    assert str(sb.Condition(result)) == "N == M or N == 1 or M == 1"


@pytest.mark.parametrize("primes", [(2, 3, 5, 7), (2, 3, 5, 7, 11), (4, 9, 5), (6, 35), (2, 3, 5, 7, 11, 13, 17)])
def test_remainders_as_operands(primes):
    result = sb.broadcast(*[f"N % {p}" for p in primes])
    assert result.verdict is V.SOMETIMES
    assert result.witness() == {"N": 1}
    assert result.counterexample() == {"N": next(n for n in range(1, 99) if not joined(*(n % p for p in primes)))}
    condition, outputs = sb.Condition(result), []
    for n in range(min(prod(primes), 3000)):
        valid = joined(*(n % p for p in primes))
        assert condition.guard()(N=n) is valid, n
        if valid:
            outputs.append((n, max((n % p for p in primes if n % p != 1), default=1)))
    for n, size in outputs[:40]:
        assert result.evaluate(N=n) == (size,), n


def test_seven_remainders_are_asked_for_as_given():
    result = sb.broadcast(*[f"N % {p}" for p in PRIMES[:7]])
    assert str(sb.Condition(result)) == f"compatible({', '.join(f'N % {p}' for p in PRIMES[:7])})"
    told = result.explain()
    assert "that are not 1 are equal" in str(told)


def test_two_long_moduli():
    result = sb.broadcast("N", "M", assume=["N % 1009 == 1", "N % 1013 == 1"])
    assert result.witness() == {"N": 1, "M": 1}
    assert result.counterexample() == {"N": 1 + 1009 * 1013, "M": 2}
    env = sb.ShapeEnv()
    env.require("N % 1009 == 1")
    env.require("N % 1013 == 1")
    assert env.verdict is V.SOMETIMES
    assert str(env.condition) == "N % 1009 == 1 and N % 1013 == 1"
    assert env.witness() == {"N": 1}
    assert env.counterexample() == {"N": 2}


def test_two_long_remainders_as_operands():
    result = sb.broadcast("N % 1009", "N % 1013")
    condition = sb.Condition(result)
    assert result.witness() == {"N": 1}
    assert result.counterexample() == {"N": 1009}
    for n in (*range(990, 1030), *range(1009 * 1013 - 20, 1009 * 1013 + 1020), 1009 * 7 + 1, 10**15):
        assert condition.guard()(N=n) is joined(n % 1009, n % 1013), n


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        ("N % 1009 == 1 and N % 1013 == 1 and N % 2 == 0 and N < 1022118", V.NEVER),
        ("N % 1009 == 1 and N % 1013 == 1 and N % 2 == 0 and N <= 1022118", V.SOMETIMES),
        ("N % 1009 == 1009", V.NEVER),
        ("N % 1009 != N % 1013 or N % 1009 == N % 1013", V.ALWAYS),
        ("N % 6 == 1 and N % 4 == 2", V.NEVER),
        (" and ".join(f"N % {p} == {p - 1}" for p in PRIMES) + f" and N < {prod(PRIMES) - 1}", V.NEVER),
        (" and ".join(f"N % {p} == {p - 1}" for p in PRIMES) + f" and N < {prod(PRIMES)}", V.SOMETIMES),
        (" or ".join(f"N % {p} == 0" for p in PRIMES) + " or N >= 2 or N == 1", V.ALWAYS),
    ],
)
def test_the_bounds_of_joint_congruences(asked, verdict):
    assert sb.Condition(asked).verdict is verdict


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (" or ".join(f"N == {7 * i}" for i in range(300)), "N <= 2093 and N % 7 == 0"),
        ("N == 0 or N == 2 or N == 4", "N == 0 or N == 2 or N == 4"),
        ("N % 7 == 1 and N % 64 != 3", "N % 64 != 3 and N % 7 == 1"),
        ("N % 64 != 3 or N % 81 < 9", "N % 64 != 3 or N % 81 < 9"),
        ("N % 1009 == 3 and N % 1013 != 5 and N >= 10", "N >= 1012 and N % 1009 == 3 and N % 1013 != 5"),
        ("N % 9699690 == 1", "N % 9699690 == 1"),
    ],
)
def test_words(asked, words):
    condition = sb.Condition(asked)
    simplified = condition.simplified()
    assert str(simplified) == words
    for n in (*range(2200), 10**9 + 7, 1009 * 1013 + 3):
        assert simplified.guard()(N=n) is condition.guard()(N=n), n
    assert simplified.simplified() == simplified


@given(st.sets(st.integers(0, 2309), max_size=300), st.integers(0, 40))
def test_sets_too_large_for_short_words_are_written_out(residues, low):
    members = SizeSet.residues(2310, residues) & SizeSet.interval(low, None)
    with patch.object(congruences, "MAX_STEPS", 3):
        congruences.pattern_intersection.cache_clear()
        congruences.pattern_union.cache_clear()
        written = predicate(set_formula(a, members), (a,))
    assert [written(n) for n in range(2400)] == [n in members for n in range(2400)]


def test_what_is_known_of_a_modulus_is_not_said_again():
    condition = sb.Condition("N % 2 == 1 and N % 1009 == 4 and N % 1013 == 4")
    assert str(condition.simplified("N % 2 == 1 and N % 1009 == 4")) == "N % 1013 == 4"
    implied = sb.Condition(" and ".join(f"N % {p} != 0" for p in PRIMES))
    assert implied.implies("N % 30 != 15")
    assert not implied.implies("N % 23 != 0")
    assert implied.equivalent(sb.Condition(str(implied)))


@pytest.mark.parametrize("count", [60, 300])
def test_three_hundred_alternatives(count):
    given_sizes = " or ".join(f"N == {7 * i}" for i in range(count))
    result = sb.broadcast("N", "M", assume=[given_sizes])
    assert result.witness() == {"N": 7, "M": 1}
    assert result.counterexample() == {"N": 7, "M": 2}
    env = sb.ShapeEnv()
    env.require(given_sizes)
    assert env.witness() == {"N": 7}
    assert env.counterexample() == {"N": 1}
