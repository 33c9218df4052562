"""Conjunctions of linear constraints, against brute force on a box, and far beyond one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solver.expressions import smallness
from steps import z3_checks

import symbcast as sb
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.f3_linear.integer_programming import NODES, Tableau, smallest_point, some_point
from symbcast.core.solver.points import GivenUpError, SmallestPointQuestion

NAMES = "abc"
SYMBOLS = [symbol(name) for name in NAMES]
MOST = 6
BOX = [at_most(s, MOST) for s in SYMBOLS]

names = st.sampled_from(NAMES)
numbers = st.integers(-7, 7)
divided = st.builds("(({}*{} + {}*{} + {}) {} {})".format, numbers, names, numbers, names, numbers,
                    st.sampled_from(["//", "%"]), st.integers(2, 5))  # fmt: skip
parts = st.builds("({})*{}".format, numbers, st.one_of(names, names, divided))
sums = st.lists(parts, min_size=1, max_size=3).map(" + ".join)
rows = st.builds("{} {} {}".format, sums, st.sampled_from(["==", "<=", "<", "!=", ">="]), st.integers(-20, 40))


def formulas(texts):
    return [sb.Condition(text).formula for text in texts]


@given(st.lists(rows, min_size=1, max_size=4), st.tuples(*[st.integers(1, 3)] * 3))
def test_the_smallest_point_is_what_brute_force_finds(texts, weights):
    box = itertools.product(range(MOST + 1), repeat=3)
    points = [p for p in box if all(eval(text, {}, dict(zip(NAMES, p, strict=True))) for text in texts)]
    expected = min(points, key=lambda p: smallness(p, weights), default=None)
    asked = [*formulas(texts), *BOX]
    found = smallest_point(SmallestPointQuestion(SYMBOLS, {}, asked, dict(zip(SYMBOLS, weights, strict=True))), NODES)
    assert (None if found is None else tuple(found[s] for s in SYMBOLS)) == expected
    assert (some_point(SYMBOLS, asked, NODES) is None) is (expected is None)


def ones(symbols):
    return dict.fromkeys(symbols, 1)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["12343*a + 98765*b + 55557*c + 77773*d == 100000007"], (16, 870, 9, 172)),
        (["123456791*a + 987654321*b + 555555557*c == 10000000000037"], None),
        (["3*a - 3*b >= 1", "3*a - 3*b <= 2"], None),
        ([f"{10**17}*a - {10**17 - 1}*b == 1"], (1, 1)),
        (["a // 7 == b", "a % 7 == 3", "b % 11 == 5", "a >= 1000"], (1039, 148)),
    ],
)
def test_large_coefficients_are_decided(texts, expected):
    asked = formulas(texts)
    symbols = [symbol(name) for name in "abcd" if any(name in text for text in texts)]
    found = smallest_point(SmallestPointQuestion(symbols, {}, asked, ones(symbols)))
    assert (None if found is None else tuple(found[s] for s in symbols)) == expected


def test_what_is_not_linear_is_left_to_others():
    for text in ("a*b == 7", "a//b == 2", "max(a, b) == 3"):
        with pytest.raises(GivenUpError):
            some_point(SYMBOLS, formulas([text]))


def test_the_search_ends_by_counted_branches():
    with pytest.raises(GivenUpError):
        some_point(SYMBOLS, formulas(["12343*a + 98765*b + 55557*c == 100000007"]), 0)


LINEAR = [
    "a - 8*((b + 2*c + 3) % 64) + 9*d + 4*c == 5781",
    "(c + d + 3) % 32 + 6*d - 7*a - 5*b == -4165",
    "-5*a - 4*b + 4*((c + 2*b + 8) // 16) + 2*d == -3604",
    "10*d - 9*b - 6*a > -4063",
    "3*b + 10*a + 5*d + 7*((c + 5*a + 7) // 4) > 14793",
]


def test_a_program_of_linear_requirements_leaves_nothing_open():
    """z3 reached its limit on these."""
    env = sb.ShapeEnv()
    for text in LINEAR:
        env.require(text)
    with z3_checks() as checks:
        assert env.verdict is sb.Verdict.SOMETIMES
        assert not env.unproven
        assert not env.reason
        assert all(eval(text, {}, env.witness()) for text in LINEAR)
    assert checks.count < 10


def test_the_least_point_of_a_polyhedron_comes_first_in_order():
    """Of ``x + y >= 3`` with equal cost, the point of least x."""
    tableau = Tableau([[0, 1, 1], [0, 1, 0], [0, 0, 1], [-3, 1, 1]], 3, [1, 2, 3], [])
    assert tableau.solve()
    assert tableau.point() == (3, 0, 3)


def test_coordinates_are_short_where_sizes_are_cheapest_and_not_where_a_remainder_ends():
    """A remainder by 2 costs next to nothing, but ends at 1: as if it went on, 20,000 branches did not do."""
    equations = [
        "-281*a + 690*b + -997*c + -935*e + 733*d == 283077673942",
        "(212*d + -920*e + -37*c + 639*b + 770*a)//2 + 63*b + 54*a + 433*e + -259*c + 555*d == 196720609342",
        "467*a + -762*b + -821*c + 220*e + 769*d == -378434961908",
    ]
    symbols = [symbol(name) for name in "abcde"]
    found = smallest_point(SmallestPointQuestion(symbols, {}, formulas(equations), ones(symbols)), nodes=20)
    assert found == dict(zip(symbols, [49175389, 485573327, 38273335, 33462, 16738], strict=True))
