"""Constraints that simplify each other: equivalent at all small sizes, and short where products of joins cancel."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.products.propagation import propagated
from symbcast.core.text import parse_formula

SIZES = [symbol(name) for name in "abcd"]


class Drawn:
    """Random constraints with products of joins, quotients by sizes, and disjunctions."""

    def __init__(self, number):
        self.draw = random.Random(number)
        self.least = self.draw.choice([0, 1, 1, 2])

    def factor(self):
        kind = self.draw.random()
        if kind < 0.5:
            return self.draw.choice("abcd")
        if kind < 0.8:
            return f"broadcast({', '.join(self.draw.sample('abcd', self.draw.randint(2, 3)))})"
        if kind < 0.9:
            return f"({self.draw.choice('abcd')} + 1)//2"
        return f"min({self.draw.choice('abcd')}, {self.draw.choice('12abcd')})"

    def product(self):
        return "*".join(self.factor() for _ in range(self.draw.choice([1, 1, 2, 2, 3])))

    def dim(self):
        kind = self.draw.random()
        if kind < 0.6:
            return self.product()
        if kind < 0.8:
            return f"broadcast({self.product()}, {self.product()})"
        if kind < 0.9:
            return f"({self.product()})//{self.draw.choice('abcd')}"
        return f"{self.product()}*broadcast({self.product()}, {self.product()})"

    def literal(self):
        kind = self.draw.random()
        if kind < 0.5:
            return f"{self.dim()} == {self.draw.choice([self.dim(), self.dim(), '1', 'a'])}"
        if kind < 0.65:
            return f"({self.product()}) % {self.draw.choice('abcd')} == 0"
        return f"{self.dim()} {'!=' if kind < 0.75 else '<='} {self.dim()}"

    def clause(self):
        kind = self.draw.random()
        if kind < 0.35:
            return f"compatible({self.product()}, {self.product()})"
        if kind < 0.5:
            return f"compatible({', '.join(self.draw.sample('abcd', self.draw.randint(2, 4)))})"
        return " or ".join(self.literal() for _ in range(1 if kind < 0.8 else self.draw.randint(2, 3)))

    def constraints(self):
        texts = [self.clause() for _ in range(self.draw.randint(2, 6))]
        joins = sorted(set(re.findall(r"broadcast\(([a-d](?:, [a-d])+)\)", " ".join(texts))))
        texts += [f"compatible({members})" for members in joins if self.draw.random() < 0.8]
        return [parse_formula(text) for text in texts]


@pytest.mark.parametrize("number", range(60))
def test_constraints_hold_at_the_same_sizes(number):
    drawn = Drawn(number)
    given = drawn.constraints()
    found = propagated(given, dict.fromkeys(SIZES, drawn.least))
    for point in itertools.product(range(drawn.least, drawn.least + 4), repeat=4):
        sizes = dict(zip(SIZES, point, strict=True))
        assert all(holds_at(f, sizes) for f in found) == all(holds_at(f, sizes) for f in given), (given, found, sizes)


@pytest.mark.parametrize(
    ("required", "condition"),
    [
        (["compatible(a, b)", "compatible(n*a, n*broadcast(a, b))", "a == broadcast(a, b)"], "b == 1 or b == a"),
        (["n*a % b == 0", "compatible(n*a//b, n)", "n*a//b != 1", "n >= 2"], "n >= 2 and a == b"),
        (["compatible(n*a, n*b)", "n >= 2"], "n >= 2 and a == b"),
        (["n*m*a == n*m*b"], "a == b"),
        (["broadcast(n, m)*a == 1", "compatible(n, m)"], "n == 1 and m == 1 and a == 1"),
    ],
)
def test_products_of_joins_have_short_conditions(required, condition):
    env = sb.ShapeEnv(min_size=1)
    for text in required:
        env.require(text)
    assert env.condition.equivalent(condition, assume=[f"{name} >= 1" for name in env.names])
    assert len(str(env.condition)) <= len(condition), env.condition
