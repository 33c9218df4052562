"""Disjunctions over several symbols that are products of sets, split symbol by symbol."""

from __future__ import annotations

import itertools
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, any_of, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.f2_one_size.set_products import split_by_symbol
from symbcast.core.solver.f3_linear import z3_solver as smt
from symbcast.core.solver.size_sets import ALL, SizeSet

a, b, c = map(symbol, "abc")
BELOW = 4
ranges = st.tuples(st.integers(0, BELOW - 1), st.integers(0, BELOW - 1)).filter(lambda r: r[0] <= r[1])
cases = st.lists(st.dictionaries(st.sampled_from([a, b, c]), ranges, min_size=1), min_size=2, max_size=5)
SMALL = SizeSet.interval(0, BELOW - 1)


def formula(given_cases):
    return any_of(
        all_of(f for s, (low, high) in case.items() for f in (at_most(low, s), at_most(s, high)))
        for case in given_cases
    )


@given(cases)
def test_a_disjunction_is_split_exactly_where_it_is_a_product(given_cases):
    symbols = tuple(dict.fromkeys(s for case in given_cases for s in case))
    points = {
        point
        for point in itertools.product(range(BELOW), repeat=len(symbols))
        if any(all(low <= point[symbols.index(s)] <= high for s, (low, high) in case.items()) for case in given_cases)
    }
    shadows = [sorted({point[n] for point in points}) for n in range(len(symbols))]
    found = split_by_symbol(formula(given_cases), dict.fromkeys(symbols, SMALL))
    if len(symbols) > 1 and len(set(map(str, given_cases))) > 1 and found is not None:
        assert {s: sizes.first(9) for s, sizes in found.items()} == dict(zip(symbols, shadows, strict=True))
        assert points == set(itertools.product(*shadows))
    elif len(symbols) > 1 and len(set(map(str, given_cases))) > 1:
        assert points != set(itertools.product(*shadows))


def test_what_ties_symbols_together_is_not_split():
    assert split_by_symbol(any_of((equal(a, 1), equal(a, b))), {a: ALL, b: ALL}) is None
    assert split_by_symbol(any_of((equal(a, 1), equal(b, 1))), {a: ALL, b: ALL}) is None
    assert split_by_symbol(equal(a, b), {a: ALL, b: ALL}) is None


@pytest.mark.parametrize(
    ("asked", "assumed", "words"),
    [
        ("(N % 2 == 0 and M <= 3) or (N % 2 == 1 and M <= 3)", (), "M <= 3"),
        ("(N % 8 == 0 and M == 2) or (N % 8 == 0 and M == 3 and K >= 0)", (), "N % 8 == 0 and (M == 2 or M == 3)"),
        ("N == 1 or M == 1", "M != 1", "N == 1"),
        ("N % 1009 == 1 or M % 1013 == 1", "N % 1009 == 2 and M >= 7", "M % 1013 == 1"),
        ("(N == 0 and M == 0) or N >= 1 or (N == 0 and M >= 1)", (), "True"),
    ],
)
def test_products_need_no_solver(asked, assumed, words):
    with patch.object(smt.Session, "check", side_effect=AssertionError("asked z3")):
        found = sb.Condition(asked).simplified(assumed)
    assert str(found) == words
    assert sb.Condition(asked).equivalent(found, assumed)


def test_assumed_products_are_known_of_each_name():
    result = sb.broadcast("N", "M", assume=["(N == 3 and M == 1) or (N == 3 and M >= 4)"])
    assert str(sb.Condition(result)) == "M == 1"
    with pytest.raises(sb.AssumptionError):
        sb.broadcast("N", "M", assume=["(N == 3 and M == 1) or (N == 3 and M >= 4)", "N == 2"])
