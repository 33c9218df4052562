"""Sizes at which one conjunct fails while the others hold: not searched where a term of another one needs it."""

from __future__ import annotations

import itertools

import pytest

from symbcast.core.algebra.formulas import negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.counterexamples import _is_needed
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.text import parse_formula

JOINED = "A == B or A == 1 or B == 1"


@pytest.mark.parametrize(
    ("clause", "other", "needed"),
    [
        (JOINED, "C == broadcast(A, B)", True),
        (JOINED, "C == broadcast(B, A) + 1", True),
        (JOINED, "C == broadcast(A, B, D)", True),
        ("compatible(A, B, C)", "broadcast(A, B, C)//2 == D", True),
        ("A != 0", "B//A == 2", True),
        (JOINED, "C == broadcast(A, D)", False),
        ("compatible(A, B, C)", "broadcast(A, B) == broadcast(B, C)", False),
        (JOINED, "C == broadcast(A, B) or C == 1", False),
        ("A == B", "C == broadcast(A, B)", False),
    ],
)
def test_a_conjunct_that_another_one_needs_cannot_fail_alone(clause, other, needed):
    clause, other = parse_formula(clause), parse_formula(other)
    assert _is_needed(clause, [other]) is needed
    points = (dict(zip(map(symbol, "ABCD"), sizes, strict=True)) for sizes in itertools.product(range(4), repeat=4))
    assert not (needed and any(holds_at(other, p) and holds_at(negate(clause), p) for p in points))
