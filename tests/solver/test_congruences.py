"""Sets of residues kept modulus by modulus, against the residues written out."""

from __future__ import annotations

import copy
import pickle
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.f2_one_size.set_formulas import independent_factors, set_formula
from symbcast.core.solver.residues import (
    MAX_MODULUS,
    PeriodTooLongError,
    mask_of,
    mask_residues,
    moduli_of,
    nearest_member,
    pattern_complement,
    pattern_contains,
    pattern_intersection,
    pattern_of_mask,
    pattern_of_residue,
    pattern_projection,
    pattern_union,
    period_of,
    prime_powers,
)
from symbcast.core.solver.size_sets import ALL, SizeSet

a = symbol("a")
WHOLE = 4 * 9 * 5 * 7
PERIODS = [n for n in range(1, WHOLE + 1) if WHOLE % n == 0]


@st.composite
def classes(draw):
    """Return a pattern of some residues of a short period, together with its mask written out."""
    period = draw(st.sampled_from([p for p in PERIODS if p <= 36]))
    mask = draw(st.integers(0, (1 << period) - 1))
    return pattern_of_mask(period, mask), _written(lambda n: mask >> (n % period) & 1)


def _written(test):
    return sum(1 << n for n in range(WHOLE) if test(n))


def extended(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        inner.map(lambda p: (pattern_complement(p[0]), ~p[1] & ((1 << WHOLE) - 1))),
        pairs.map(lambda p: (pattern_intersection(p[0][0], p[1][0]), p[0][1] & p[1][1])),
        pairs.map(lambda p: (pattern_union(p[0][0], p[1][0]), p[0][1] | p[1][1])),
    )


patterns = st.recursive(classes(), extended, max_leaves=5)


@given(patterns)
def test_a_pattern_holds_the_residues_written_out(pair):
    pattern, mask = pair
    assert [n for n in range(WHOLE) if pattern_contains(pattern, n)] == mask_residues(mask)
    assert mask_of(pattern, WHOLE) == mask


@given(patterns, patterns)
def test_equal_sets_are_one_object(left, right):
    assert (left[0] is right[0]) is (left[1] == right[1])
    assert pattern_of_mask(WHOLE, left[1]) is left[0]
    assert pickle.loads(pickle.dumps(left[0])) is left[0]
    assert copy.deepcopy(left[0]) is left[0]


@given(patterns)
def test_the_period_is_the_least(pair):
    pattern, mask = pair
    repeating = [p for p in PERIODS if all(mask >> n & 1 == mask >> (n % p) & 1 for n in range(WHOLE))]
    assert period_of(pattern) == repeating[0]


@given(patterns, st.integers(0, 3 * WHOLE), st.sampled_from([1, -1]), st.one_of(st.none(), st.integers(0, 300)))
def test_the_nearest_member_is_found(pair, start, by, distance):
    pattern, mask = pair
    far = 2 * WHOLE if distance is None else distance
    wanted = next((n for n in range(start, start + by * (far + 1), by) if mask >> (n % WHOLE) & 1), None)
    assert nearest_member(pattern, start, by, None if distance is None else start + by * distance) == wanted


@given(patterns, st.sampled_from([2, 3, 5, 7]))
def test_a_projection_holds_what_the_other_moduli_can_be(pair, prime):
    pattern, mask = pair
    power = dict(prime_powers(WHOLE))[prime]
    rest = WHOLE // power
    found = pattern_projection(pattern, [prime])
    wanted = {n % rest for n in mask_residues(mask)}
    assert {n % rest for n in range(WHOLE) if pattern_contains(found, n)} == wanted
    assert prime not in moduli_of(found)


@given(patterns)
def test_independent_factors_make_up_the_pattern(pair):
    pattern, _ = pair
    if isinstance(pattern, bool):
        return
    together = True
    seen = []
    for factor in independent_factors(pattern):
        together = pattern_intersection(together, factor)
        seen += moduli_of(factor)
    assert together is pattern
    assert len(seen) == len(set(seen))


@given(patterns, patterns)
@settings(max_examples=60)
def test_a_description_holds_for_the_residues_alone(left, right):
    members, within = (SizeSet.union([_set(p)]) & SizeSet.interval(low, None) for p, low in ((left, 3), (right, 0)))
    described = predicate(set_formula(a, members, within), (a,))
    for size in range(0, 2 * WHOLE, 1):
        if size in within:
            assert described(size) is (size in members), size


def _set(pair):
    return SizeSet.residues(WHOLE, mask_residues(pair[1])) if pair[1] else SizeSet.of([])


MANY = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def joint(residue, primes=MANY):
    found = ALL
    for prime in primes:
        found = found & SizeSet.residues(prime, [residue(prime)])
    return found


def test_many_congruences_are_one_class():
    whole = prod(MANY)
    assert joint(lambda p: 1).first(3) == [1, 1 + whole, 1 + 2 * whole]
    assert joint(lambda p: p - 1).least() == whole - 1
    assert joint(lambda p: 2 % p).only is None
    assert (joint(lambda p: 1) & SizeSet.interval(2, whole)).least() is None
    assert (joint(lambda p: 1) & SizeSet.interval(2, whole + 1)).only == whole + 1
    assert not joint(lambda p: 1) & SizeSet.residues(6, [5])


@given(st.lists(st.sampled_from(MANY), min_size=1, max_size=8, unique=True), st.integers(0, 10**12))
def test_the_least_of_a_joint_class_is_by_the_remainder_theorem(primes, value):
    found = joint(lambda p: value % p, primes)
    assert found.least() == value % prod(primes)
    assert found.least(value) == value
    assert value in found
    assert ((found - SizeSet.of([value])).least(value)) == value + prod(primes)


def test_what_no_small_prime_divides_is_sieved():
    sieved = ALL
    for prime in MANY:
        sieved = sieved - SizeSet.residues(prime, [0])
    wanted = [n for n in range(2000) if all(n % p for p in MANY)]
    assert sieved.first(len(wanted)) == wanted
    assert (~sieved).first(50) == [n for n in range(60) if not all(n % p for p in MANY)][:50]


def test_a_run_of_multiples_ends_where_it_should():
    """The least n with n, n+1, ..., n+8 divisible by 2, 3, 2, 5, 2, 7, 2, 3, 2 in some order: a covering gap."""
    composite = ALL
    for shift in range(9):
        some = SizeSet.union(SizeSet.residues(p, [-shift]) for p in (2, 3, 5, 7))
        composite = composite & some
    wanted = next(n for n in range(1, 211) if all(any((n + k) % p == 0 for p in (2, 3, 5, 7)) for k in range(9)))
    assert composite.least(1) == wanted


def test_powers_of_one_prime_are_one_modulus():
    assert not SizeSet.residues(8, [3]) & SizeSet.residues(4, [1])
    assert (SizeSet.residues(2**16, [5]) & SizeSet.residues(3**10, [5])).first(2) == [5, 5 + 2**16 * 3**10]


@pytest.mark.parametrize("period", [2**17, 65537, 3 * 65537])
def test_a_modulus_above_the_limit_is_refused(period):
    with pytest.raises(PeriodTooLongError):
        pattern_of_residue(period, 1)
    assert max(power for _, power in prime_powers(2**16 * 3)) == MAX_MODULUS
