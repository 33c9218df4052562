"""The smallest sizes: fewest zeros, least sum, first in order."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, points, smallness
from steps import calls

from symbcast.core.solver.sets.size_sets import ALL, NOT_ONE, SizeSet
from symbcast.core.solver.sets.smallest import GivenUpError, levels, smallest, smallest_at

SIZES = 6
counts = st.integers(1, 3)
finite = st.lists(st.integers(0, SIZES - 1), min_size=1, max_size=4, unique=True).map(SizeSet.of)
domains = st.one_of(st.just(ALL), st.just(NOT_ONE), st.just(SizeSet.residues(2, [1])), finite)
wanted_points = st.lists(st.tuples(*[st.integers(0, SIZES - 1)] * 3), max_size=12).map(frozenset)


@given(st.tuples(finite, finite, domains), st.tuples(counts, counts, counts), wanted_points)
@example((ALL, ALL, ALL), (1, 1, 1), frozenset({(5, 1, 1), (1, 1, 4), (1, 4, 1), (1, 2, 3)}))
@example((SizeSet.of([0, 1]), ALL, ALL), (1, 1, 1), frozenset({(0, 2, 3), (0, 3, 2)}))
def test_the_smallest_of_some_points_is_found(sets, weights, wanted):
    """Among points given outright, brute force is `min`; a level without end that holds none of them is given up."""
    inside = [p for p in wanted if all(size in s for size, s in zip(p, sets, strict=True))]
    least = min(inside, key=lambda p: smallness(p, weights), default=None)
    try:
        found = smallest(
            SYMBOLS,
            dict(zip(SYMBOLS, sets, strict=True)),
            lambda *sizes: sizes in wanted,
            dict(zip(SYMBOLS, weights, strict=True)),
        )
    except GivenUpError:
        assert any(s.greatest is None for s in sets)
        assert least is None or 0 in least
    else:
        assert found == least


@given(st.tuples(finite, finite, finite), st.tuples(counts, counts, counts), st.integers(1, 40))
def test_the_smallest_that_meet_a_condition(sets, weights, bound):
    def test(x, y, z):
        return x * 5 + y * y * 3 + z * 2 >= bound and x != z

    inside = [p for p in points(3, SIZES) if test(*p) and all(n in s for n, s in zip(p, sets, strict=True))]
    found = smallest(SYMBOLS, dict(zip(SYMBOLS, sets, strict=True)), test, dict(zip(SYMBOLS, weights, strict=True)))
    assert found == min(inside, key=lambda p: smallness(p, weights), default=None)


@given(st.tuples(domains, domains, domains), st.tuples(counts, counts, counts))
def test_levels_are_every_choice_of_zeros_lightest_first(sets, weights):
    made = levels(SYMBOLS, dict(zip(SYMBOLS, sets, strict=True)), dict(zip(SYMBOLS, weights, strict=True)))

    def weight(zeros):
        return sum(weights[n] for n in zeros)

    assert [weight(z) for level in made for z in level] == sorted(weight(z) for level in made for z in level)
    assert all(len({weight(z) for z in level}) == 1 for level in made)
    possible = {
        frozenset(n for n, size in enumerate(p) if size == 0)
        for p in points(3, SIZES)
        if all(size in s for size, s in zip(p, sets, strict=True))
    }
    assert sorted(map(sorted, (z for level in made for z in level))) == sorted(map(sorted, possible))


def test_a_level_is_searched_alone():
    a, b = SYMBOLS[:2]
    both = [frozenset({0}), frozenset({1})]
    found = smallest_at(both, (a, b), {}, lambda x, y: x + y >= 4, {a: 1, b: 1})
    assert found == (0, 4)


def test_the_search_is_given_up_in_the_end():
    with pytest.raises(GivenUpError):
        smallest(SYMBOLS, {}, lambda *sizes: False, dict.fromkeys(SYMBOLS, 1))
    with pytest.raises(GivenUpError):
        smallest(SYMBOLS, {}, lambda *sizes: max(sizes) >= 10**6, dict.fromkeys(SYMBOLS, 1))


def test_giving_up_is_quick_whichever_symbol_is_without_end():
    for sets in ({SYMBOLS[0]: SizeSet.of([1])}, {SYMBOLS[1]: SizeSet.of([1])}):
        with calls() as steps, pytest.raises(GivenUpError):
            smallest(SYMBOLS[:2], sets, lambda *sizes: False, dict.fromkeys(SYMBOLS, 1))
        assert steps.count < 500_000


def test_a_far_least_size_is_no_farther():
    """The sum is counted from the least sizes, not from 0."""
    far = {s: SizeSet.interval(2**60, None) for s in SYMBOLS}
    found = smallest(SYMBOLS, far, lambda *sizes: len(set(sizes)) == 3, dict.fromkeys(SYMBOLS, 1))
    assert found == (2**60, 2**60 + 1, 2**60 + 2)
