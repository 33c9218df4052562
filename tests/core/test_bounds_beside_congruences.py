"""Bounds, quotients and extremes beside congruences: each is written as the sizes that are left have it."""

from __future__ import annotations

import random
from itertools import product

import pytest

import symbcast as sb

SIMPLIFIED = {
    "a >= 121 and a % 8 == 0": "a >= 128 and a % 8 == 0",
    "a <= 121 and a % 8 == 0 and a + b >= 12": "a <= 120 and a % 8 == 0 and a + b >= 12",
    "a//8 >= 15 and a % 8 == 0": "a >= 120 and a % 8 == 0",
    "a != 121 and a % 8 == 0 and b != a": "a % 8 == 0 and b != a",
    "a % 8 == 0 and (a >= 121 or b == a)": "a % 8 == 0 and (a >= 128 or b == a)",
    "a % 4 == 0 and (a <= 14 or 2*b > a)": "a % 4 == 0 and (a <= 12 or a < 2*b)",
    "b % 8 == 7 and (a != b or (b + 1)//8 != 19)": "b % 8 == 7 and (a != b or b != 151)",
    "b % 8 == 1 and (a < 31 or 2*b <= 26)": "b % 8 == 1 and (b <= 9 or a < 31)",
    "b % 3 != 0 and b + 1 != 12": "b != 11 and b % 3 != 0",
    "x != (y + 63)//64 and 57 <= y and y <= 64": "x != 1 and y >= 57 and y <= 64",
}


@pytest.mark.parametrize("text", SIMPLIFIED)
def test_a_bound_is_one_of_the_sizes_that_are_left(text):
    assert str(sb.Condition(text).simplified()) == SIMPLIFIED[text]


@pytest.mark.parametrize("first", range(0, 12, 4))
def test_the_simplified_condition_holds_at_the_same_sizes(first):
    for seed in range(first, first + 4):
        text = condition(random.Random(seed))
        given, simplified = (sb.Condition(text).guard(), sb.Condition(text).simplified().guard())
        for a, b in product(range(41), repeat=2):
            sizes = {"a": a, "b": b}
            assert given(**sizes) == simplified(**{name: sizes[name] for name in simplified.parameters}), (text, a, b)


def condition(chance):
    """Return congruences of some sizes, and disjunctions of comparisons."""
    clauses = []
    for size in chance.sample("ab", chance.choice((1, 1, 2))):
        step = chance.choice((2, 3, 4, 8))
        clauses.append(f"{size} % {step} {chance.choice(('==', '==', '!=', '<='))} {chance.choice((0, 1, step - 1))}")
    counts = [chance.choice((1, 2, 2)) for _ in range(chance.choice((1, 1, 2)))]
    clauses += [f"({' or '.join(_literal(chance) for _ in range(count))})" for count in counts]
    return " and ".join([*clauses, "a + b >= 0"])


def _literal(chance):
    a, b = chance.sample("ab", 2)
    step, shift = chance.choice((2, 3, 5, 8)), chance.randint(1, 9)
    left = chance.choice((a, a, f"{a}//{step}", f"({a} + {shift})//{step}", f"2*{a}"))
    right = chance.choice((str(chance.randint(0, 40)),) * 4 + (b, f"min({a}, {b})", f"max({b} - {shift}, 0)"))
    return f"{left} {chance.choice(('<=', '>=', '<', '>', '==', '!='))} {right}"


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_an_extreme_compares_with_its_member_as_the_others_do(kind, operator):
    for text in (f"{kind}(M, N, 3) {operator} M", f"M {operator} {kind}(M, N)"):
        found = sb.Condition(text)
        assert kind not in str(found)
        guard = found.guard()
        for m, n in product(range(6), repeat=2):
            sizes = {"M": m, "N": n}
            expected = eval(text, {"min": min, "max": max, **sizes})
            assert guard(**{name: sizes[name] for name in guard.parameters}) == expected


def test_a_size_that_equals_a_min_of_itself_is_the_least():
    assert str(sb.Condition("M == min(M, N)")) == "M <= N"
