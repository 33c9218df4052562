"""Alternatives for consecutive values of a size are one: the same at all small sizes."""

from __future__ import annotations

import contextlib
import itertools
import random

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import AnyOf
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.simplification.two_level import without_staircases
from symbcast.core.text import parse_formula


def drawn(number):
    """Return alternatives for some values of N, each with a bound, an equality or a remainder that grows with N."""
    draw = random.Random(number)
    values = draw.sample(range(8), draw.randint(3, 7))
    kind = draw.choice(["M > {}", "M == {}", "M <= {}", "M % 8 == {}", "M - K >= {}"])
    step = draw.randint(-1, 2)
    texts = [f"(N == {n} and {kind.format(n + step if draw.random() < 0.9 else n)})" for n in values if n + step >= 0]
    return " or ".join([*texts, draw.choice(["N == 9", "M == 0", "(N == 9 and M == 1)"])])


@pytest.mark.parametrize("number", range(40))
def test_the_merged_alternatives_hold_at_the_same_sizes(number):
    given = parse_formula(drawn(number))
    merged = without_staircases(given)
    for sizes in itertools.product(range(11), range(11), range(2)):
        point = dict(zip(map(symbol, "NMK"), sizes, strict=True))
        assert holds_at(given, point) == holds_at(merged, point)


def test_steps_of_a_loop_are_one_alternative():
    found = without_staircases(parse_formula(" or ".join(f"(N == {n} and M >= {n})" for n in range(2, 10))))
    assert not isinstance(found, AnyOf)


def test_no_sizes_are_not_claimed_where_none_were_found():
    each = [f"a{i} + b{i} == c{i} and (b{i} == a{i}//2 + 1 or a{i} == 0 or b{i} == 1)" for i in range(30)]
    whole, rest = " and ".join(each), " and ".join(each).split(" and ", 1)[1]
    with contextlib.suppress(sb.UndecidedError):
        assert sb.Condition(f"({rest}) and not ({whole})").witness() is not None
