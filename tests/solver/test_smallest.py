"""The order of sizes, and the ways to the smallest: fewest zeros, least sum, first in order."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from solver.expressions import points, smallness

from symbcast.core.algebra.formulas import Compatible
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f3_linear import branch_and_bound, z3_solver
from symbcast.core.solver.f4_products.refutation import point_by_sets
from symbcast.core.solver.points import GivenUpError, SmallestPointQuestion, level_weights, point_cost, zero_levels
from symbcast.core.solver.search import smallest_point
from symbcast.core.solver.size_sets import ALL, NOT_ONE, SizeSet
from symbcast.core.text import parse_formula

SYMBOLS = tuple(map(symbol, "xyz"))
SIZES = 6
counts = st.integers(1, 3)
finite = st.lists(st.integers(0, SIZES - 1), min_size=1, max_size=4, unique=True).map(SizeSet.of)
domains = st.one_of(st.just(ALL), st.just(NOT_ONE), st.just(SizeSet.residues(2, [1])), finite)


def at(*sizes):
    return dict(zip(SYMBOLS, sizes, strict=True))


@given(st.tuples(finite, finite, finite), st.tuples(counts, counts, counts), st.integers(1, 40))
def test_the_smallest_that_meet_a_condition(sets, weights, bound):
    """A product, which only the first way, z3 and the levels can take."""
    wanted = [parse_formula(f"x*5 + y*y*3 + z*2 >= {bound}"), parse_formula("x != z")]
    inside = [
        p
        for p in points(3, SIZES)
        if all(holds_at(f, at(*p)) for f in wanted) and all(n in s for n, s in zip(p, sets, strict=True))
    ]
    found = smallest_point(SmallestPointQuestion(SYMBOLS, at(*sets), wanted, at(*weights)))
    least = min(inside, key=lambda p: smallness(p, weights), default=None)
    assert found == (None if least is None else at(*least))


def _of_one_size(draw):
    name, by = draw.choice("xyz"), draw.choice([2, 3, 4])
    size = draw.choice([name, f"({name} + 3)//{by}", f"{name} % {by}", f"min({name}, {by})", f"{by}*({name}//{by})"])
    return f"{size} {draw.choice(['==', '!=', '<=', '>='])} {draw.choice([name, 0, 1, 2, 3])}"


def _literal(draw):
    if draw.random() < 0.75:
        return _of_one_size(draw)
    return f"{draw.choice('xyz')} {draw.choice(['==', '!='])} {draw.choice('xyz')}"


@pytest.mark.parametrize("block", range(4))
def test_disjunctions_about_single_sizes(block):
    """By the sets of their literals, in the search for the smallest sizes and before z3: as brute force decides."""
    refuted = 0
    for number in range(40 * block, 40 * (block + 1)):
        draw = random.Random(number)
        texts = [
            " or ".join(_literal(draw) for _ in range(draw.choice([1, 1, 2, 3]))) for _ in range(draw.randint(3, 7))
        ]
        wanted = list(map(parse_formula, texts))
        inside = [p for p in points(3, SIZES) if all(holds_at(f, at(*p)) for f in wanted)]
        with suppress(GivenUpError):
            point = point_by_sets(SYMBOLS, wanted)
            refuted += point is None
            assert not inside if point is None else all(holds_at(f, point) for f in wanted), texts
        with suppress(GivenUpError):
            found = branch_and_bound.smallest_point(SmallestPointQuestion(SYMBOLS, {}, wanted, at(1, 1, 1)))
            assert not inside if found is None else all(holds_at(f, found) for f in wanted), texts
            least = min(inside, key=lambda p: smallness(p, (1, 1, 1)), default=None)
            if found is not None and least is not None:
                assert smallness(tuple(found.values()), (1, 1, 1)) <= smallness(least, (1, 1, 1)), texts
    assert refuted > 3


@given(st.tuples(*[st.integers(0, 3)] * 3), st.tuples(*[st.integers(0, 3)] * 3), st.tuples(counts, counts, counts))
def test_the_order_is_that_of_the_reference(one, other, weights):
    costs = [point_cost(SYMBOLS, at(*sizes), at(*weights)) for sizes in (one, other)]
    assert (costs[0] < costs[1]) is (smallness(one, weights) < smallness(other, weights))


@given(st.tuples(domains, domains, domains), st.tuples(counts, counts, counts))
def test_levels_are_every_choice_of_zeros_lightest_first(sets, weights):
    made = zero_levels(SYMBOLS, at(*sets), at(*weights))

    def weight(zeros):
        return sum(weights[n] for n in zeros)

    assert [weight(z) for level in made for z in level] == sorted(weight(z) for level in made for z in level)
    assert all(len({weight(z) for z in level}) == 1 for level in made)
    assert list(level_weights(sets, weights)) == [weight(level[0]) for level in made]
    possible = {
        frozenset(n for n, size in enumerate(p) if size == 0)
        for p in points(3, SIZES)
        if all(size in s for size, s in zip(p, sets, strict=True))
    }
    assert sorted(map(sorted, (z for level in made for z in level))) == sorted(map(sorted, possible))


@given(st.tuples(domains, domains, domains), st.tuples(counts, counts, counts))
@example((ALL, ALL, ALL), (1, 1, 1))
@example((SizeSet.of([1]), NOT_ONE, SizeSet.of([0, 1])), (1, 2, 1))
def test_the_smallest_sizes_that_clash(sets, weights):
    """Of plain sizes two that differ and are not 1 break a join; all others are least."""
    assumptions = AssumptionSet(SYMBOLS, at(*sets), ())
    assumptions.weights.update((s, w) for s, w in at(*weights).items() if s in assumptions.weights)
    formula = Compatible(SYMBOLS)
    found = Decision(assumptions, [formula]).counterexample()
    box = (p for p in points(3, SIZES) if all(n in s for n, s in zip(p, sets, strict=True)))
    broken = [p for p in box if not holds_at(formula, at(*p))]
    weighed = [assumptions.weights.get(s, 0) for s in SYMBOLS]
    least = min(broken, key=lambda p: smallness(p, weighed), default=None)
    assert (None if found is None else tuple(found.values())) == least


def test_far_sizes_that_clash():
    far = SizeSet.interval(2**60, None)
    found = Decision(AssumptionSet(SYMBOLS, dict.fromkeys(SYMBOLS, far), ()), [Compatible(SYMBOLS)]).counterexample()
    assert found == at(2**60, 2**60, 2**60 + 1)


def test_levels_are_looked_at_one_after_the_other():
    """No square is three more than twice another, which z3 does not find out; so both are 0."""
    x, y = SYMBOLS[:2]
    wanted = SmallestPointQuestion((x, y), {}, [parse_formula("x*x == 2*y*y + 3 or x + y == 0")], {x: 1, y: 1})
    with pytest.raises(GivenUpError):
        z3_solver.smallest_point(wanted)
    assert smallest_point(wanted) == {x: 0, y: 0}


def test_what_was_found_is_kept_where_the_smallest_is_not():
    """The factors of a product of two primes are out of reach, and so is whether their sum is less."""
    x, y = SYMBOLS[:2]
    far = parse_formula("(x*y == 998244359987710471 and 2 <= x and x <= y) or x + y >= 10000000000")
    with pytest.raises(GivenUpError) as error:
        smallest_point(SmallestPointQuestion((x, y), {}, [far], {x: 1, y: 1}))
    assert error.value.points
    assert all(holds_at(far, sizes) for sizes in error.value.points)
