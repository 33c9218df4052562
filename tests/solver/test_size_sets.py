"""Sets of sizes against Python's own sets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from steps import calls

from symbcast.core.solver.residues import MAX_PERIOD, PeriodTooLongError
from symbcast.core.solver.size_sets import ALL, EMPTY, NOT_ONE, ONE, SizeSet

UNIVERSE = range(200)
HUGE = 2**60


def intervals():
    return st.builds(SizeSet.interval, st.integers(-2, 12), st.one_of(st.none(), st.integers(-1, 20)))


def leaves():
    listed = st.lists(st.integers(-1, 15), max_size=5).map(SizeSet.of)
    periods = st.integers(1, 6)
    residues = st.builds(SizeSet.residues, periods, st.lists(st.integers(0, 6), max_size=3))
    return st.one_of(intervals(), listed, residues, st.sampled_from([ALL, EMPTY, ONE, NOT_ONE]))


def extended(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        inner.map(lambda s: ~s),
        pairs.map(lambda p: p[0] & p[1]),
        pairs.map(lambda p: p[0] | p[1]),
        pairs.map(lambda p: p[0] - p[1]),
    )


# Bounds reach 20 and periods 60, so that what holds below 200 holds for good.
sets = st.recursive(leaves(), extended, max_leaves=5)


def members(sizes):
    return {n for n in UNIVERSE if n in sizes}


@given(sets, sets)
def test_the_operations_are_those_of_membership(left, right):
    assert members(left & right) == members(left) & members(right)
    assert members(left | right) == members(left) | members(right)
    assert members(left - right) == members(left) - members(right)
    assert members(~left) == set(UNIVERSE) - members(left)


@given(sets, sets)
def test_order_and_sameness_are_those_of_membership(left, right):
    assert (left <= right) is (members(left) <= members(right))
    assert left.same(right) is (members(left) == members(right))
    assert bool(left) is bool(members(left))


@given(sets, sets, sets)
def test_the_laws_of_a_boolean_algebra(a, b, c):
    assert (a & (b | c)).same((a & b) | (a & c))
    assert (~(a & b)).same(~a | ~b)
    assert (~~a).same(a)
    assert (a | (a & b)).same(a)
    assert not a & ~a
    assert (a | ~a).same(ALL)


@given(sets, st.integers(0, 30), st.integers(0, 12))
def test_the_least_come_first(sizes, at_least, count):
    ascending = sorted(members(sizes))
    assert sizes.least(at_least) == next((n for n in ascending if n >= at_least), None)
    assert list(itertools.takewhile(lambda n: n < 200, sizes.first(count))) == ascending[:count]


@given(sets)
def test_only_and_greatest(sizes):
    found = members(sizes)
    endless = any(n >= 100 for n in found)
    assert sizes.greatest == (None if endless or not found else max(found))
    assert sizes.only == (min(found) if len(found) == 1 and not endless else None)


@given(sets)
def test_segments_ascend_disjoint_with_ends_that_are_members(sizes):
    for earlier, later in itertools.pairwise(sizes.segments):
        assert earlier.high is not None
        assert earlier.high < later.low
    for segment in sizes.segments:
        assert segment.low in sizes
        assert segment.high is None or segment.high in sizes


@given(sets, sets)
@example(SizeSet.of([0, 1]), SizeSet.interval(0, 1))
def test_equal_sets_hash_alike(left, right):
    if left == right:
        assert hash(left) == hash(right)
        assert left.same(right)


@given(intervals(), st.integers(1, 40), st.integers(1, 40))
def test_huge_bounds_behave_as_small_ones(sizes, low, width):
    """Shifting every bound by 2**60 shifts the answer."""
    small = SizeSet.interval(100 + low, 100 + low + width)
    huge = SizeSet.interval(HUGE + low, HUGE + low + width)
    evens = SizeSet.residues(2, [0])
    assert [n - HUGE for n in (huge & evens).first(9)] == [n - 100 for n in (small & evens).first(9)]
    assert (huge - small).same(huge)
    assert (sizes | huge) - sizes == huge - sizes


def test_huge_bounds_are_cheap():
    with calls() as steps:
        sizes = SizeSet.interval(HUGE, None) & SizeSet.residues(4096, [17]) & ~SizeSet.of([HUGE + 17, HUGE * 3])
        assert sizes.least() == HUGE + 4096 + 17
        assert (~sizes).least(HUGE + 4096 + 17) == HUGE + 4096 + 18
        assert SizeSet.of([2**63 - 1, 0]).greatest == 2**63 - 1
        assert SizeSet.interval(1, HUGE).only is None
        assert SizeSet.interval(HUGE, HUGE).only == HUGE
    assert steps.count < 10_000


@pytest.mark.parametrize(
    ("sizes", "segments"),
    [
        (SizeSet.of([3, 1, 2, 0]), 2),
        (SizeSet.interval(5, 2), 0),
        (SizeSet.of([-1, -5]), 0),
        (SizeSet.residues(4, [0, 2]), 1),
        (SizeSet.residues(6, range(6)), 1),
        (ONE | NOT_ONE, 1),
    ],
    ids=str,
)
def test_sets_take_few_segments(sizes, segments):
    assert len(sizes.segments) <= segments


@pytest.mark.parametrize(
    "make",
    [
        lambda: SizeSet.residues(MAX_PERIOD + 1, [0, 1]),
        lambda: SizeSet.residues(2**17, [0]),
        lambda: SizeSet.residues(65537 * 3, [1]),
    ],
)
def test_a_period_too_long_is_refused(make):
    with pytest.raises(PeriodTooLongError):
        make()


def test_the_longest_period_is_held():
    sizes = SizeSet.residues(64, [0]) & SizeSet.residues(63, [0])
    assert sizes.first(3) == [0, 4032, 8064]
