"""Operations that comparisons beside them decide: the same truth at all sizes, with fewer operations."""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb

TERMS = ["A", "B", "C", "2", "3", "A + 1"]
SIZES = list(itertools.product(range(7), repeat=3))


def drawn(number):
    """Return a condition of comparisons, some of which decide operations in others."""
    draw = random.Random(number)

    def operation():
        kind = draw.choice(["min({}, {})", "max({}, {})", "({})//3", "({}) % 4", "min({}, {}, 4)"])
        return kind.format(*(draw.choice(TERMS) for _ in range(kind.count("{}"))))

    def comparison():
        sides = [draw.choice([operation(), draw.choice(TERMS)]), draw.choice(TERMS)]
        return f"{sides[0]} {draw.choice(['==', '<=', '<', '!=', '>='])} {sides[1]}"

    clauses = [" or ".join(comparison() for _ in range(draw.randint(1, 3))) for _ in range(draw.randint(1, 3))]
    return " and ".join(f"({clause})" for clause in clauses)


@pytest.mark.parametrize("number", range(150))
def test_a_simplified_condition_holds_at_the_same_sizes(number):
    text = drawn(number)
    found = sb.Condition(text).simplified().guard()
    names = found.parameters
    for sizes in SIZES:
        values = dict(zip("ABC", sizes, strict=True))
        holds = eval(text, {"min": min, "max": max}, values)
        assert found(**{n: values[n] for n in names}) == holds, (text, values)


@pytest.mark.parametrize(
    ("condition", "short"),
    [
        ("M <= N or min(M, N) == 1 or M == 1", "M <= N or N == 1 or M == 1"),
        ("max(M, N) == K and M <= N", "K == N and M <= N"),
        ("N//4 + M == K and N < 4", "M == K and N <= 3"),
        ("N % 5 == M and N < 5", "M == N and N <= 4"),
        ("max(A - 2, 0) == B and A >= 3", "A == B + 2 and A >= 3"),
    ],
)
def test_operations_that_are_decided_go(condition, short):
    found = sb.Condition(condition).simplified()
    assert found.equivalent(condition) and found.equivalent(short)
    assert len(str(found)) <= len(short) and not any(kind in str(found) for kind in ("min", "max", "//", "%"))


@pytest.mark.parametrize(
    ("condition", "short"),
    [
        ("n % 3 == 0 and n >= 3 and k*n % (3*(n//3)) == 0", "n >= 3 and n % 3 == 0"),
        ("n % 3 == 0 and n >= 6 and m == n//3 and k == k*n//(3*m)", "n >= 6 and n == 3*m"),
        ("n % 3 == 1 and m == n//3 and k == 6*m + 2", "n == 3*m + 1 and k == 6*m + 2"),
        ("n % 3 == 1 and k == 3*(n//3) + 1", "n % 3 == 1 and k == n"),
    ],
)
def test_a_quotient_times_its_divisor_is_the_dividend_where_the_remainder_is_known(condition, short):
    found = sb.Condition(condition).simplified()
    assert found.equivalent(condition) and found.equivalent(short)
    assert len(str(found)) <= len(short) and "//" not in str(found)


@pytest.mark.parametrize(
    ("condition", "short"),
    [
        ("M == max((D + P)//3, 2) and (D + P)//3 >= 5", "M >= 5 and M == (D + P)//3"),
        ("M == min(A//B, 7) and A//B <= 7 and B >= 1", "B >= 1 and M <= 7 and M == A//B"),
    ],
)
def test_comparisons_of_quotients_decide_extremes(condition, short):
    found = sb.Condition(condition).simplified()
    assert found.equivalent(condition) and found.equivalent(short)
    assert len(str(found)) <= len(short) and not any(kind in str(found) for kind in ("min", "max"))


QUOTIENTS = ["a//b", "a//3", "b//2", "(a + b)//2", "a % b", "b*(a//b)", "(a//b)//n", "a - b*(a//b)"]


def drawn_extremes(number):
    """Return the clauses of a condition, each a list of comparisons, with extremes of quotients and bounds of these."""
    draw = random.Random(number)

    def comparison():
        value, other = draw.choice(QUOTIENTS), draw.choice(["1", "2", "3", "b", "a//2"])
        if draw.random() < 0.5:
            value = f"{draw.choice(['min', 'max'])}({value}, {other})"
        return f"{value} {draw.choice(['==', '<=', '>=', '!='])} {draw.choice(['0', '2', '3', 'n', 'a'])}"

    return [[comparison() for _ in range(draw.choice([1, 1, 1, 2]))] for _ in range(draw.randint(1, 4))]


@pytest.mark.parametrize("number", range(25))
def test_conditions_of_extremes_and_quotients_hold_at_the_same_sizes(number):
    drawn = drawn_extremes(number)
    text = " and ".join(f"({' or '.join(clause)})" for clause in drawn)
    guard = sb.Condition(text).simplified().guard()
    for sizes in itertools.product(range(5), repeat=3):
        values = dict(zip("abn", sizes, strict=True))
        holds = all(any(_holds(leaf, values) for leaf in clause) for clause in drawn)
        assert guard(**{n: values[n] for n in guard.parameters}) == holds, (text, values)


def _holds(comparison, values):
    try:
        return eval(comparison, {"min": min, "max": max}, values)
    except ZeroDivisionError:
        return False


def test_a_slice_beside_what_it_is_added_to():
    traced = sb.trace(lambda x, y: x[: len(y)] + y, "N", "M").condition
    assert traced.equivalent("M <= N or N == 1 or M == 1") and "min" not in str(traced)


@pytest.mark.parametrize("term", ["min(b, b//2)", "max(b, b//2) + 1", "min(b, 2*b, c)", "max(b//3, b)//2"])
@pytest.mark.parametrize("rule", ["numpy", "none", "unidirectional"])
def test_a_condition_does_not_depend_on_an_assumption_about_another_size(term, rule):
    shapes = ["a, d", f"{term}, d"]
    alone, beside = (sb.broadcast(*shapes, rule=rule, assume=assumed) for assumed in ((), "a != 77"))
    assert str(alone.condition) == str(beside.condition)
