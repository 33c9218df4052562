"""Equal products taken apart: the same truth at all sizes, and conditions that people can read."""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb

FACTORS = [
    "A", "B", "C", "3", "(A + 1)", "(B + C)", "4*(A//4)", "2*(B//2)", "3*((A + B)//3)", "min(A, B)", "min(B, C, 2)",
    "max(A, 2)", "max(B, C)", "(C//2)", "2*((C + 1)//2)", "6*(A*B//6)", "(A % 3)", "5*((B + 2)//5)", "(max(A, 3) - 3)",
]  # fmt: skip
DIVIDED = ["A*(B//A)", "C*((A + B)//C)", "(B//A)", "(C % A)", "A*C*(B//(A*C))", "(A + 1)*(C//(A + 1))", "A*(A*B//C)"]
SIZES = list(itertools.product(range(8), repeat=3))


def drawn(number):
    """Return two products as text: some factors are in both, as they are or as what they are at most."""
    draw = random.Random(number)
    left = draw.sample(FACTORS, draw.randint(1, 3))
    right = [draw.choice([f, *FACTORS[:3]]) for f in left] + draw.sample(FACTORS, draw.randint(0, 1))
    return "*".join(left), "*".join(draw.sample(right, len(right)))


@pytest.mark.parametrize("number", range(150))
def test_what_is_said_of_two_products_holds_where_they_are_equal(number):
    left, right = drawn(number)
    said = sb.Condition(f"{left} == {right}").simplified().guard()
    names = said.parameters
    for sizes in random.Random(number).sample(SIZES, 120):
        values = dict(zip("ABC", sizes, strict=True))
        holds = eval(f"({left}) == ({right})", {"min": min, "max": max}, values)
        assert said(**{n: values[n] for n in names}) == holds, (left, right, values)


@pytest.mark.parametrize("number", range(60))
def test_products_of_quotients_by_sizes_are_equal_only_where_they_have_values(number):
    draw = random.Random(number)
    left = draw.sample(DIVIDED, draw.randint(1, 2))
    right = [draw.choice([f, *FACTORS[:3]]) for f in left] + draw.sample(FACTORS[:6], draw.randint(0, 1))
    operator = draw.choice(["==", "!="])
    text = f"{'*'.join(left)} {operator} {'*'.join(right)}"
    guard = sb.Condition(text).simplified().guard()
    for sizes in draw.sample(SIZES, 120):
        values = dict(zip("ABC", sizes, strict=True))
        try:
            holds = eval(text, {"min": min}, values)
        except ZeroDivisionError:
            holds = False
        assert guard(**{n: values[n] for n in guard.parameters}) == holds, (text, values)


@pytest.mark.parametrize(
    ("condition", "short"),
    [
        ("H*W == p*p*(H//p)*(W//p) and H >= 1 and W >= 1 and p >= 1", "H % p == 0 and W % p == 0 and p >= 1"),
        ("C == G*(C//G)", "C % G == 0"),
        ("B*T == E*(B*T//E)", "B*T % E == 0"),
        ("H*N*W == 256*N*(H//16)*(W//16) and N >= 1 and H >= 1 and W >= 1", "H % 16 == 0 and W % 16 == 0"),
        ("M == min(M, N)", "M <= N"),
        ("M == max(M, N)", "N <= M"),
        ("K*M == K*min(M, N)", "K == 0 or M <= N"),
        ("(C + 1)*H == 4*(C + 1)*(H//4)", "H % 4 == 0"),
        ("B*N == B*M", "M == N or B == 0"),
        ("max(A, 1)*B == B", "A <= 1 or B == 0"),
        ("H*W == 16*(H//16)*W and W >= 1", "H % 16 == 0"),
    ],
)
def test_products_are_told_by_their_factors(condition, short):
    found = sb.Condition(condition).simplified()
    assert found.equivalent(condition)
    known = " and ".join(c for c in condition.split(" and ") if ">=" in c)
    wanted = sb.Condition(f"{short} and {known}" if known else short).simplified()
    assert found.equivalent(wanted) and len(str(found)) <= len(str(wanted)) and "//" not in str(found)


def drawn_joins(number):
    """Return a condition of joins, spelled out or not, products and bounds."""
    draw, parts = random.Random(number), []
    for _ in range(draw.randint(2, 5)):
        a, b, c, d = draw.sample("ABCD", 4)
        spelled = [f"({a} == {b} or {b} == 1 or {a} == 1)", f"({a} == {b} or {a} == 1)"]
        others = [f"compatible({a}, {b})", f"{a} >= {draw.randint(0, 3)}", f"({c}*{a} == {b}*{d} or {a} == 1)"]
        parts.append(draw.choice(spelled + others))
    return " and ".join(parts)


def compatible(*sizes):
    return len({size for size in sizes if size != 1}) <= 1


@pytest.mark.parametrize("number", range(40))
def test_joins_beside_products_are_as_short_as_they_get(number):
    text = drawn_joins(number)
    found = sb.Condition(text).simplified()
    assert found.simplified() == found
    said = found.guard()
    for sizes in itertools.product(range(4), repeat=4):
        values = dict(zip("ABCD", sizes, strict=True))
        holds = eval(text, {"compatible": compatible}, values)
        assert said(**{n: values[n] for n in said.parameters}) == holds, (text, values)


@pytest.mark.parametrize(
    "condition",
    [
        "compatible(C, D) and (A == C or C == 1 or A == 1) and compatible(B, C) and compatible(A, B)",
        "A >= 2 and (A*D == C*C or D == 1) and compatible(B, C) and compatible(C, D)",
        "(D == A or D == 1) and (D*A == C*C or A == 1) and (B == C or C == 1 or B == 1) and compatible(B, D)",
    ],
)
def test_a_simplified_condition_stays_as_it_is(condition):
    found = sb.Condition(condition).simplified()
    assert found.simplified() == found


def test_patches_of_an_image():
    env = sb.ShapeEnv()
    env.reshape("N, 3, H, W", ("N", 3, "H//16", 16, "W//16", 16))
    assert env.condition.equivalent("H % 16 == 0 and W % 16 == 0 or N == 0 or H == 0 or W == 0")
    assert "//" not in str(env.condition)
    assumed = sb.ShapeEnv(assume=["H % 16 == 0", "W % 16 == 0"])
    assumed.reshape("N, 3, H, W", ("N", 3, "H//16", 16, "W//16", 16))
    assert assumed.verdict is sb.Verdict.ALWAYS


SIGNED = [
    "(A - 2)",
    "(B - 1)",
    "(3 - C)",
    "(2*(C//2) - 3)",
    "(A - B)",
    "A",
    "(B//2)",
    "(C % 3)",
    "(A + 2*B - 3)",
    "(B + 1)",
]


def drawn_inequality(number):
    """Return the text of an inequality of products: factors of either sign, and a number beside them."""
    draw = random.Random(number)
    factors = "*".join(draw.choices(SIGNED, k=draw.randint(2, 3)))
    other = draw.choice(["0", "0", "1", "-1", "A", "B*C"])
    return f"{draw.choice(['', '', '-'])}{factors} {draw.choice(['>=', '>', '<=', '<', '==', '!='])} {other}"


@pytest.mark.parametrize("number", range(60))
def test_an_inequality_of_products_holds_where_the_signs_of_their_factors_say(number):
    text = drawn_inequality(number)
    said = sb.Condition(text).simplified().guard()
    for sizes in random.Random(number).sample(SIZES, 120):
        values = dict(zip("ABC", sizes, strict=True))
        assert said(**{n: values[n] for n in said.parameters}) == eval(text, {}, values), (text, values)


@pytest.mark.parametrize(
    ("condition", "assumed", "short"),
    [
        ("16*(S//8) + B <= 8*B*(S//8) + 2", "S >= 8", "B >= 2"),
        ("2*S + B <= B*S + 2", "S >= 2", "B >= 2"),
        ("A + B <= A*B", "A >= 1 and B >= 1", "A >= 2 and B >= 2"),
        ("W <= H*W", "W >= 1", "H >= 1"),
        ("A*B + 2 == 2*A + B", "A >= 2", "B == 2"),
        ("(H//4)*(W//4) + 6 < 2*(H//4) + 3*(W//4)", "H >= 16", "W <= 7"),
        ("A*B*C >= A*B", "C >= 1", "True"),
    ],
)
def test_a_product_that_one_sign_decides_is_one_bound(condition, assumed, short):
    assert str(sb.Condition(condition).simplified(assumed)) == short


def test_an_encoder_whose_blocks_and_batch_bound_each_other():
    """Reshapes of a model with windows of 8 require products of the batch and the number of windows."""
    env = sb.ShapeEnv(min_size=1)
    for text in ("2*S + B <= B*S + 2", "S % 8 == 0", "2*B + S//8 <= B*(S//8) + 2"):
        env.require(text)
    assert env.equivalent("B >= 2 and S >= 16 and S % 8 == 0")
    assert len(str(env.condition)) <= len("B >= 2 and S >= 16 and S % 8 == 0")
