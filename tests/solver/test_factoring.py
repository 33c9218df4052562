"""What alternatives and conjuncts share is written once, and the conjunction stays the same."""

from __future__ import annotations

import itertools
import random

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, clauses
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.simplification.factoring import factored
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.text import parse_formula
from symbcast.core.text.notation import formula_text

NAMES = "HWTR"
SIZES = list(itertools.product(range(1, 6), repeat=4))
FROM_ONE = {symbol(name): SizeSet.interval(1, None) for name in NAMES}


def drawn(number):
    """Return a conjunction of alternatives that share some of their parts."""
    draw = random.Random(number)
    texts = "H == 1, H == 2, W == 1, W == 2, W == H, T == 3, R == 1, R == W, T % 2 == 0, T % 2 == 1, R == 3"
    few = draw.sample(texts.split(", "), 6)

    def alternative():
        return " and ".join(draw.sample(few, draw.choice((1, 1, 2))))

    return " and ".join(
        f"({' or '.join(f'({alternative()})' for _ in range(draw.randint(2, 4)))})" for _ in range(draw.randint(1, 4))
    )


@pytest.mark.parametrize("number", range(60))
def test_factored_conjuncts_hold_at_the_same_sizes_and_are_no_longer(number):
    given = parse_formula(drawn(number))
    found = all_of(factored(clauses(given), FROM_ONE))
    assert len(formula_text(found)) <= len(formula_text(given))
    before, after = sb.Condition(given).guard(), sb.Condition(found).guard()
    for sizes in SIZES:
        values = dict(zip(NAMES, sizes, strict=True))
        assert before(**{n: values[n] for n in before.parameters}) == after(**{n: values[n] for n in after.parameters})
