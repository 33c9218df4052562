"""Many orders of sizes: decided as integers say, and in linear time."""

from __future__ import annotations

import random
from itertools import product

import pytest
from steps import calls

import symbcast as sb
from symbcast.core.algebra.formulas import clauses
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import predicate

NAMES = "abc"
POINTS = list(product(range(12), repeat=len(NAMES)))


def drawn(seed):
    """Return 60 orders of three sizes: a few tight ones or none, and others that are often implied."""
    chance = random.Random(seed)
    slack = chance.choice((0, 1, 3))
    hidden = {name: chance.randint(0, 5) for name in NAMES}
    orders = []
    for _ in range(60):
        low, high = chance.sample([*NAMES, "0"], 2)
        by = (
            hidden.get(high, 0)
            - hidden.get(low, 0)
            - chance.randint(0, 4) * chance.choice((0, 1))
            - chance.randint(0, slack)
        )
        left, right = (f"{low} + {by}", high) if by >= 0 else (low, f"{high} + {-by}")
        orders.append(f"{left} {chance.choice(('<=', '<=', '<', '==')) if seed % 5 == 0 else '<='} {right}")
    return " and ".join(orders)


def cost(point):
    return point.count(0), sum(point), point


@pytest.mark.parametrize("seed", range(25))
def test_orders_are_decided_as_at_all_small_sizes(seed):
    condition = sb.Condition(drawn(seed))
    test = predicate(condition.formula, tuple(map(symbol, NAMES)))
    holding = [p for p in POINTS if test(*p)]
    assert (condition.verdict is sb.Verdict.NEVER) == (not holding)
    if not holding:
        return
    for found, points in (
        (condition.witness(), holding),
        (condition.counterexample(), [p for p in POINTS if p not in set(holding)]),
    ):
        assert [found.get(n, 1) for n in NAMES] == list(min(points, key=cost))
    short = condition.simplified()
    kept = [predicate(c, tuple(map(symbol, NAMES))) for c in clauses(short.formula)]
    assert [p for p in POINTS if all(k(*p) for k in kept)] == holding
    for left_out in kept:
        assert any(not left_out(*p) and all(k(*p) for k in kept if k is not left_out) for p in POINTS)


def ask(count, operator):
    condition = sb.Condition(f" {operator} ".join(f"s{n}" for n in range(count)))
    assert condition.verdict is sb.Verdict.SOMETIMES
    witness, other = condition.witness(), condition.counterexample()
    least = range(1, count + 1) if operator == "<" else [1] * count
    assert list(witness.values()) == list(least)
    assert sorted(set(other.values())) == ([1] if operator == "<" else [1, 2])
    return condition.simplified()


@pytest.mark.parametrize("operator", ["<", "<="])
def test_the_work_for_a_chain_grows_with_its_length(operator):
    ask(60, operator)
    counts = []
    for count in (100, 400):
        with calls() as steps:
            ask(count, operator)
        counts.append(steps.count)
    assert counts[1] < 6 * counts[0], counts


def test_a_chain_of_2000_that_closes_is_never_valid():
    chain = " < ".join(f"s{n}" for n in range(2000))
    assert sb.Condition(f"{chain} and s1999 < s0").verdict is sb.Verdict.NEVER
    assert sb.Condition(f"{chain} and s800 + 1 < s800 + s0 - s0 and s3 == 3").verdict is sb.Verdict.NEVER
    assert sb.Condition(f"{chain} and s4 <= s3").verdict is sb.Verdict.NEVER
    assert sb.Condition(chain).implies("s0 + 1999 <= s1999")
    assert not sb.Condition(chain).implies("s0 + 2000 <= s1999")
