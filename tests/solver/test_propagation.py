"""Constraints that simplify each other: equivalent at all small sizes, and short where products of joins cancel."""

from __future__ import annotations

import itertools
import random
import re

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import AnyOf, Comparison
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f4_products.propagation import contradict, propagated
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


class DrawnQuotients(Drawn):
    """Random constraints as reshapes of sizes from 0 on have them: whole quotients, in cases where a divisor is 0."""

    def __init__(self, number):
        super().__init__(number)
        self.least = 0
        self.whole = self.draw.choice(["a*b", "a*b", "a", "2*a*b"])

    def divisor(self):
        return self.draw.choice(["c", "c", "d", "max(c, 1)", "c*d", "(c - 1)"])

    def quotient(self):
        return f"({self.whole})//{self.divisor()}"

    def literal(self):
        kind, times = self.draw.random(), self.draw.choice(["", "", "c*", "d*", "2*c*"])
        if kind < 0.25:
            return f"{self.draw.choice('abcd')} {self.draw.choice(['==', '!='])} {self.draw.choice('0012')}"
        if kind < 0.5:
            return f"({self.whole}) % {self.divisor()} {self.draw.choice(['==', '==', '!='])} 0"
        over = f"({times}({self.quotient()}))"
        if kind < 0.7:
            over += f"//{self.divisor()}"
        return f"{self.draw.choice(['1', 'd', 'min(a, 1)'])} {self.draw.choice(['<=', '<', '==', '!='])} {over}"

    def clause(self):
        if self.draw.random() < 0.4:
            return f"({self.whole}) % {self.divisor()} == 0"
        return " or ".join(self.literal() for _ in range(self.draw.randint(1, 3)))


def assert_equivalent(drawn):
    given = drawn.constraints()
    found = propagated(given, dict.fromkeys(SIZES, drawn.least))
    for point in itertools.product(range(drawn.least, drawn.least + 4), repeat=4):
        sizes = dict(zip(SIZES, point, strict=True))
        assert all(holds_at(f, sizes) for f in found) == all(holds_at(f, sizes) for f in given), (given, found, sizes)


@pytest.mark.parametrize("number", range(60))
def test_constraints_hold_at_the_same_sizes(number):
    assert_equivalent(Drawn(number))


@pytest.mark.parametrize("number", range(60))
def test_quotients_hold_at_the_same_sizes_where_a_divisor_may_be_0(number):
    assert_equivalent(DrawnQuotients(number))


def excluding(given, draw):
    """Constraints with some that exclude alternatives of their disjunctions."""
    parts = [part for clause in given if isinstance(clause, AnyOf) for part in clause.parts]
    opposites = {"==": "!=", "!=": "=="}
    equations = [p for p in parts if isinstance(p, Comparison) and p.operator in opposites and draw.random() < 0.6]
    return [*given, *(Comparison(opposites[p.operator], p.left, p.right) for p in equations)]


@pytest.mark.parametrize("block", range(5))
@pytest.mark.parametrize("kind", [Drawn, DrawnQuotients])
def test_what_contradicts_holds_at_no_sizes(kind, block):
    """Also at sizes of 0, where quotients have no value: what the formulas say of the least size is part of them."""
    contradictory = 0
    for number in range(40 * block, 40 * (block + 1)):
        drawn = kind(number)
        given = excluding(drawn.constraints(), drawn.draw)
        if contradict(given):
            contradictory += 1
            for point in itertools.product(range(5), repeat=4):
                sizes = dict(zip(SIZES, point, strict=True))
                assert not all(holds_at(f, sizes) for f in given), (given, sizes)
    assert contradictory > 3


def test_members_of_a_join_in_layers_contradict():
    """What a decoder asks of each layer's mask: that a size is neither 1 nor the join is excluded."""
    texts = [
        "a >= 1",
        "c >= 1",
        "d >= 1",
        "compatible(b, c)",
        "broadcast(b, c) + d == a or broadcast(b, c) + d == 1 or a == 1",
    ]
    given = list(map(parse_formula, texts))
    excluded = list(map(parse_formula, ["a != 1", "a != broadcast(b, c) + d"]))
    assert not contradict(given)
    assert not contradict([*given, excluded[0]])
    assert contradict([*given, parse_formula("b >= 1"), *excluded])


def test_a_clash_is_found_beside_many_other_formulas():
    """What a decoder with caches asks of its mask: the effort is not spent on formulas that have no part in it."""
    joins = ["broadcast(p, q, r) == r", "compatible(p, q, r)", "compatible(q, r)", "compatible(r, s)"]
    mask = ["compatible(a, b, c)", "compatible(a, b)", "compatible(b, c)", "compatible(broadcast(a, b, c) + d, t)"]
    least = [f"{name} >= 1" for name in "abcdpqrst"]
    excluded = ["t != 1", "t != broadcast(a, b, c) + d"]
    assert contradict(list(map(parse_formula, [*joins, *least, *mask, *excluded])))
    assert not contradict(list(map(parse_formula, [*joins, *least, *mask])))


def test_a_case_of_size_0_is_no_divisor():
    """Found in a model of images whose batch may be 0: its Reshape divides by the batch."""
    texts = [
        "L*t % b == 0",
        "b == 0 or 1 <= b*(L*t//b)//b",
        "L*t % max(b, 1) != 0 or b != 0 and b*(L*t//max(b, 1))//max(b, 1) < 1",
    ]
    given = list(map(parse_formula, texts))
    found = propagated(given, {})
    for point in itertools.product(range(5), repeat=3):
        sizes = dict(zip(map(symbol, "Ltb"), point, strict=True))
        assert all(holds_at(f, sizes) for f in found) == all(holds_at(f, sizes) for f in given)


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
