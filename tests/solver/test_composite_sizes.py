"""Products and operations that are all that a condition says about their sizes are solved as one size."""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb

SIZES = list(itertools.product(range(9), repeat=3))


def holds(text, sizes):
    """Return whether a condition holds by Python's own arithmetic."""
    return eval(text, {"min": min, "max": max}, dict(zip("HWN", sizes, strict=True)))


@pytest.mark.parametrize(
    ("given", "short"),
    [
        (["H*W % 16 == 0", "(H*W//16) % 3 == 0"], "H*W % 48 == 0"),
        (["H*W == 4*((H*W + 3)//4)"], "H*W % 4 == 0"),
        (["4*(((H//4)*(W//3) + 3)//4) == (H//4)*(W//3)"], "(H//4)*(W//3) % 4 == 0"),
        (["min(H*W, 1) == 0 or H*W == min(H*W, 1) + 1 or H*W == 1"], "H*W <= 2"),
        (["H*N*W % 16 == 0", "H*N*W//16 == H"], "N*W == 16 or H == 0"),
        (["N >= 1", "H*W % 4 == 0", "(H*W//4) % N == 0"], "N >= 1 and H*W % (4*N) == 0"),
        (["H % 3125 == 0", "(H//3125) % 5 == 0"], "H % 15625 == 0"),
        (
            ["H >= 4", "W >= 4", "H*W % ((H//2)*W) == 0", "(H*W//((H//2)*W))*(H//2)*W % ((H//4)*(W//4)) == 0"],
            "W >= 4 and H >= 4 and H*W % (W*(H//2)) == 0 and H*W % ((H//4)*(W//4)) == 0",
        ),
    ],
)
def test_conditions_about_one_product_are_one_condition(given, short):
    env = sb.ShapeEnv()
    env.require(*given)
    assert len(str(env.condition)) <= len(short) and not env.unproven
    assert env.condition.simplified().equivalent(short) or str(env.condition) == short


def drawn(number):
    """Return a condition about some composite sizes, most of them alone in their conjunct."""
    draw = random.Random(number)
    size = draw.choice(["H*W", "(H//2)*W", "H*N*W", "min(H, W)", "(H*W)", "max(H - 2, 0)*W", "(H + W)//2"])

    def term(size):
        kind = draw.choice(
            ["{}", "{}//3", "{} % 4", "min({}, 2)", "3*{}", "2*{} + 1", "max({} - 3, 0)", "4*(({} + 3)//4)"]
        )
        return kind.format(f"({size})")

    def literal():
        about = size if draw.random() < 0.8 else draw.choice("HWN")
        other = term(about) if draw.random() < 0.5 else str(draw.randint(0, 6))
        return f"{term(about)} {draw.choice(['==', '==', '<=', '!=', '>='])} {other}"

    return " and ".join(f"({' or '.join(literal() for _ in range(draw.randint(1, 3)))})" for _ in range(2))


@pytest.mark.parametrize("number", range(60))
def test_the_answer_is_that_of_all_sizes(number):
    text = drawn(number)
    env = sb.ShapeEnv(on_conflict="record")
    env.require(*(f"{size} >= 0" for size in "HWN"), text)
    guard = env.guard()
    assert [guard(**dict(zip("HWN", sizes, strict=True))) for sizes in SIZES] == [holds(text, s) for s in SIZES], text
