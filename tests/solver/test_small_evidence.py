"""Evidence of questions that are hard for every method: small sizes, also where they may not be the smallest."""

from __future__ import annotations

import random
from itertools import product

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import clauses
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.points import SmallestPointQuestion, descend
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.text import parse_formula

HUGE = 913113831648622804962


def descent(text, point, **domains):
    """Return the smaller sizes from some sizes."""
    symbols = tuple(map(symbol, point))
    wanted = SmallestPointQuestion(
        symbols,
        {s: domains.get(s.name, ALL) for s in symbols},
        list(clauses(parse_formula(text))),
        dict.fromkeys(symbols, 1),
    )
    found = descend(wanted, dict(zip(symbols, point.values(), strict=True)))
    assert all(holds_at(f, found) for f in wanted.formulas)
    return {s.name: size for s, size in found.items()}


@pytest.mark.parametrize(
    ("text", "point", "expected"),
    [
        ("64*b*(H//32) % (H//4) == 0 and H >= 32", {"b": HUGE, "H": 32}, {"b": 1, "H": 32}),
        ("a*b >= 6", {"a": HUGE, "b": HUGE}, {"a": 1, "b": 6}),
        ("a >= 1000", {"a": HUGE}, {"a": 1583}),
        ("a*b == 0", {"a": 0, "b": 5}, {"a": 0, "b": 1}),
        ("a != 1", {"a": 0}, {"a": 2}),
    ],
)
def test_sizes_become_smaller_one_by_one(text, point, expected):
    assert descent(text, point) == expected


def test_only_sizes_of_the_domains_are_tried():
    assert descent("a >= 3", {"a": HUGE - HUGE % 7}, a=SizeSet.residues(7, [0])) == {"a": 7}


def test_the_windows_of_a_hierarchical_encoder():
    env = sb.ShapeEnv(min_size=1)
    env.require("H % 32 <= 3", "W % 32 <= 3", "H >= 32", "W >= 32", "((H + 3)//4)*((W + 3)//4) == 256")
    env.require("(H//4)*(W//4) == 256", "64*batch*(H//32)*(W//32) % ((H//4)*(W//4)) == 0")
    expected = "H >= 32 and H % 32 <= 3 and W >= 32 and W % 32 <= 3 and ((H + 3)//4)*((W + 3)//4) == 256"
    assert str(env.condition) == expected and not env.unproven
    assert env.witness() == {"H": 64, "W": 64, "batch": 1}


@pytest.mark.parametrize("seed", range(40))
def test_the_counterexample_of_joins_is_first_where_few_sizes_are_allowed(seed):
    """Of 0 beside 2, the 0 was not at the first size: only the last two members of a join were tried."""
    choose = random.Random(seed)
    names = "abcde"[: choose.choice([3, 4, 5])]
    joins = [choose.sample(names, choose.choice([2, 3])) for _ in range(choose.choice([1, 2]))]
    greatest = {name: choose.choice([2, 2, 2, 3]) for name in names}
    env = sb.ShapeEnv(assume=[f"{name} <= {most}" for name, most in greatest.items()])
    for join in joins:
        env.broadcast(*join)
    order = [name for name in names if name in env.guard().parameters]
    points = [dict(zip(order, p, strict=True)) for p in product(*(range(greatest[n] + 1) for n in order))]
    failing = [p for p in points if not all(len({p[n] for n in join} - {1}) <= 1 for join in joins)]
    found = env.counterexample()
    least = min(failing, key=lambda p: (list(p.values()).count(0), sum(p.values()), [*p.values()]), default=None)
    assert least is None or {n: found[n] for n in order} == least
