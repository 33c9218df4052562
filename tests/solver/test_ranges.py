"""Quotients and remainders that ranges of sizes decide, and remainders that join, held against integers."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import tinygrad_texts

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import term
from symbcast.core.solver.evaluation import holds_at, value_at
from symbcast.core.solver.f2_one_size.decided_terms import DecidedTerms
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.text import parse_dim, parse_formula

NAMES = "abcd"
NUMBERS = (1, 2, 2, 3, 3, 4, 5, 6, 8, 9, 10, 12, 18)


def drawn_ranges(draw: random.Random) -> dict[str, range]:
    """Return a small range of sizes for each name."""
    starts = {name: draw.choice([0, 0, 0, 1, 2, 5]) for name in NAMES}
    return {name: range(low, low + draw.choice([1, 2, 2, 3, 4, 6, 8])) for name, low in starts.items()}


def drawn_sum(draw: random.Random, depth: int) -> str:
    """Return a sum of multiples of sizes, quotients and remainders."""
    parts = [drawn_part(draw, depth) for _ in range(draw.randint(1, 3))]
    number = draw.choice(["", "", f" + {draw.randint(1, 12)}", f" - {draw.randint(1, 9)}"])
    return f" {draw.choice('++-')} ".join(parts) + number


def drawn_part(draw: random.Random, depth: int) -> str:
    factor = draw.choice(["", "", f"{draw.choice(NUMBERS)}*", f"{draw.choice(NAMES)}*"])
    if depth == 0 or draw.random() < 0.3:
        return f"{factor}{draw.choice(NAMES)}"
    symbolic = draw.choice(NAMES), f"({draw.choice('23')}*b)", "(c - 3)"
    by = draw.choice([*map(str, (*NUMBERS, *NUMBERS)), *symbolic])
    inner, n = drawn_sum(draw, depth - 1), draw.choice(NUMBERS)
    forms = [
        f"(({inner})//{by})",
        f"(({inner}) % {by})",
        f"((({inner}) % {by}) + {by}*((({inner})//{by}) % {n}))",
        f"({n}*((({inner})//{by}) % {n}) + {n}*{n}*(({inner})//({n}*{by})))",
        f"((({inner}) % ({n}*{by}))//{by})",
        f"((({inner})//{by} + {n}) % {n} + {n}*(({inner} + {n}*{by})//({n}*{by})))",
        f"min({inner}, {n})",
    ]
    return factor + draw.choice(forms[:2] * 2 + forms)


def value(text: str, point: dict[str, int]) -> int | None:
    """Return what Python gives; None where a divisor is 0."""
    try:
        return int(eval(text, {"min": min}, dict(point)))
    except ZeroDivisionError:
        return None


def points(ranges: dict[str, range], most: int = 300) -> list[dict[str, int]]:
    """Return the points of the ranges, or some of them."""
    every = [dict(zip(ranges, sizes, strict=True)) for sizes in itertools.product(*ranges.values())]
    return every if len(every) <= most else random.Random(0).sample(every, most)


def check_term(seed: int) -> tuple[int, int]:
    """Hold the simplified form of a drawn term against Python; return the lengths of both texts."""
    draw = random.Random(seed)
    text, ranges = drawn_sum(draw, draw.choice([1, 2, 2, 3])), drawn_ranges(draw)
    dim = parse_dim(text)
    decided = DecidedTerms({symbol(s): SizeSet.interval(r[0], r[-1]) for s, r in ranges.items()}).shortest(dim)
    for point in points(ranges):
        sizes: Any = {symbol(name): size for name, size in point.items()}
        wanted = value(text, point)
        assert value_at(dim, sizes) == wanted, (seed, text, dim, point)
        if wanted is not None:
            assert value_at(decided, sizes) == wanted, (seed, text, ranges, decided, point)
    return term(dim).length, term(decided).length


def check_formula(seed: int) -> None:
    """Hold a comparison of drawn terms, simplified where sizes are in ranges, against Python."""
    draw = random.Random(seed)
    ranges, operator = drawn_ranges(draw), draw.choice(["==", "<=", "!=", "<"])
    left, right = drawn_sum(draw, 2), drawn_sum(draw, draw.choice([0, 1]))
    formula = parse_formula(f"{left} {operator} {right}")
    decided = DecidedTerms({symbol(s): SizeSet.interval(r[0], r[-1]) for s, r in ranges.items()}).formula(formula)
    for point in points(ranges):
        sizes: Any = {symbol(name): size for name, size in point.items()}
        both = value(left, point), value(right, point)
        wanted = None not in both and bool(eval(f"{both[0]} {operator} {both[1]}"))
        assert holds_at(decided, sizes) == wanted, (seed, str(formula), ranges, str(decided), point)


@pytest.mark.parametrize("seed", range(150))
def test_a_simplified_term_has_the_values_that_python_gives_the_text(seed):
    length, decided = check_term(seed)
    assert decided <= length


@pytest.mark.parametrize("seed", range(60))
def test_a_simplified_comparison_holds_where_python_says(seed):
    check_formula(seed)


@pytest.mark.parametrize(
    ("text", "bounds", "written"),
    [
        ("(4*a + 2*b + c)//12", ["c <= 1"], "(2*a + b)//6"),
        ("(6*a + b + 3) % 12", ["b <= 2"], "6*(a % 2) + b + 3"),
        ("(3*a + 3) % 4", ["a <= 3"], "3 - a"),
        ("(160*a + 5*b + 4*c + 1)//60", ["c <= 1"], "(32*a + b + c)//12"),
        ("(b + 63 - 7*a)//35", ["b <= 6", "a <= 9"], "1 - a//5"),
        ("a//b", ["20 <= a", "a <= 23", "8 <= b", "b <= 10"], "2"),
        ("(a*b + c) % b", ["c <= 4", "b >= 5"], "c"),
        ("(a*d + b*d)//(3*d)", ["d >= 1"], "(a + b)//3"),
        ("min(a + b, 12)", ["a <= 7", "b <= 4"], "a + b"),
        ("x % 4 + 4*((x//4) % 2)", [], "x % 8"),
        ("y*((x//2) % 4) + 4*y*(x//8)", [], "x//2*y"),
        ("(x//p) % n + n*(x//(n*p))", ["n >= 1", "p >= 1"], "x//p"),
        ("(x % 12)//4 + a % 4 % 12", [], "(x//4) % 3 + a % 4"),
        ("10*a % (5*d)", [], "5*(2*a % d)"),
    ],
)
def test_texts_within_bounds(text, bounds, written):
    assert sb.broadcast(f"{text},", assume=bounds).shape == sb.shape(f"{written},")


def test_no_text_is_longer_than_what_tinygrad_expects():
    rows = [(text, *tinygrad_texts.written(text)) for text in tinygrad_texts.texts()]
    assert [row for row in rows if len(row[1]) > len(row[2])] == []
    assert len(rows) > 200
