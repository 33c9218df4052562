"""The smallest clash, against every subset tried in order."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from solver.corpus import programs
from solver.expressions import SYMBOLS, expressions, points, statements
from solver.ledger import measured

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver import smallest_clash as clashes
from symbcast.core.solver.decision import AssumptionSet
from symbcast.core.solver.evaluation import holds_at, predicate
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.solver.smallest_clash import smallest_clash, smallest_hitting_set

TO_FOUR = dict.fromkeys(SYMBOLS, SizeSet.interval(0, 4))
SMALL = points(3, 5)


def text(*formulas):
    return [sb.Condition(f).formula for f in formulas]


def knowing(symbols, *assumed):
    return AssumptionSet(symbols, {}, text(*assumed))


def by_trying(groups):
    """Return the first smallest set of groups that hold together at no sizes up to 4."""
    tests = [predicate(all_of(g), SYMBOLS) for g in groups]
    truths = [sum(1 << n for n, p in enumerate(SMALL) if test(*p)) for test in tests]
    for size in range(len(groups) + 1):
        for chosen in itertools.combinations(range(len(groups)), size):
            mask = (1 << len(SMALL)) - 1
            for n in chosen:
                mask &= truths[n]
            if not mask:
                return chosen
    return ()


linear = statements(expressions(3, operators="+-", divisors=(2,), functions=("max",), max_leaves=3), max_leaves=2)
groups_of = st.lists(st.lists(linear.map(lambda s: s.formula), min_size=1, max_size=2), min_size=1, max_size=8)


@given(groups_of)
def test_it_is_the_first_of_the_smallest(groups):
    assert smallest_clash(groups, AssumptionSet(SYMBOLS, TO_FOUR, ())) == by_trying(groups)


@given(groups_of, st.integers(0, 7))
def test_what_is_required_and_where_much_holds_only_saves_time(groups, seed):
    expected = by_trying(groups)
    every = [n for n in range(len(groups)) if expected and not by_trying([g for m, g in enumerate(groups) if m != n])]
    sizes = dict(zip(SYMBOLS, SMALL[seed * 11], strict=True))
    assert smallest_clash(groups, AssumptionSet(SYMBOLS, TO_FOUR, ()), every, sizes) == expected


PIECES = ("{} == {} + 1", "{} == 2*{}", "{0} == {1}", "{} <= {}", "{0} + {1} == 5", "{0} == 3", "{0} >= 2", "{} < {}")


@pytest.mark.parametrize("seed", range(12))
def test_programs_of_thirty_operations(seed):
    """What is asked of three sizes, several clashes in it: every pair and triple is tried by brute force."""
    drawn = random.Random(seed)
    groups = [text(drawn.choice(PIECES).format(*drawn.sample("abc", 2))) for _ in range(30)]
    assert smallest_clash(groups, AssumptionSet(SYMBOLS, TO_FOUR, ())) == by_trying(groups)


def test_none_is_empty():
    assert smallest_clash([], knowing(SYMBOLS)) == ()
    assert smallest_clash([text("a == b + 1"), text("b == c")], knowing(SYMBOLS)) == ()


def test_assumptions_and_equal_symbols_count():
    groups = [text("a == b + 1"), text("b >= 2"), text("c <= 1")]
    assert smallest_clash(groups, knowing(SYMBOLS, "a == c")) == (0, 1, 2)
    assert smallest_clash(groups, knowing(SYMBOLS, "a == c", "b == 2")) == (0, 2)
    assert smallest_clash(groups, knowing(SYMBOLS, "a + b == c", "c >= 2")) == (2,)


def test_what_only_one_size_at_a_time_refutes():
    """z3 gives up on cubes; the tier of one symbol does not."""
    groups = [text("a*a*a == b"), text("b == 2*c"), text("a*a*a + a == 9"), text("c == 1")]
    assert smallest_clash(groups, knowing(SYMBOLS)) == (2,)


def test_the_clash_across_a_long_chain():
    sizes = [symbol(f"n{n}") for n in range(120)]
    groups = [[equal(b, a + 1)] for a, b in itertools.pairwise(sizes)]
    groups = [[equal(sizes[0], 3)], *groups, [at_most(sizes[-1], 118)]]
    assert smallest_clash(groups, AssumptionSet(sizes, {}, ())) == tuple(range(len(groups)))[1:]


def test_past_the_budget_every_group_is_needed(monkeypatch):
    monkeypatch.setattr(clashes, "QUESTIONS", 0)
    groups = [text(f) for f in ("a == b + 1", "b == c + 1", "a <= 5", "c == a", "c == 1", "a == 4", "c <= 9")]
    found = smallest_clash(groups, knowing(SYMBOLS))
    chosen = [groups[n] for n in found]
    assert by_trying([*chosen, [at_most(s, 4) for s in SYMBOLS]])
    for n in range(len(chosen)):
        assert not by_trying(chosen[:n] + chosen[n + 1 :])


def program(count, seed):
    """Return operations that hold together at sizes from 2 on, their symbols, and those sizes."""
    drawn = random.Random(seed)
    sizes = {symbol(f"s{n}"): drawn.randint(2, 9) for n in range(count // 4)}
    names = list(sizes)
    operations = [[at_most(2, s)] for s in names]
    while len(operations) < count:
        first = max(0, len(operations) * len(names) // count - 6)
        a, b, c = drawn.sample(names[first : first + 6], 3)
        formula = drawn.choice([equal(a + b, c), equal(a + 1, b), equal(2 * a, b + c), equal(a, b), at_most(a, b + 1)])
        if holds_at(formula, sizes):
            operations.append([formula])
    return operations, names, sizes


@pytest.mark.parametrize(("count", "known"), [(10_000, True), (2_000, False)])
def test_thousands_of_operations(count, known):
    operations, names, sizes = program(count, 1)
    a, b, *_ = names[count // 15 :]
    total, start = sizes[a] + sizes[b], len(operations)
    operations += [[equal(a, sizes[a])], [at_most(a + b, total)], [equal(b, sizes[b])], [at_most(total + 1, a + b)]]
    assumptions = AssumptionSet(names, {}, ())
    found = smallest_clash(operations, assumptions, [start + 3] if known else (), sizes if known else None)
    assert found == (start + 1, start + 3)


@given(st.lists(st.frozensets(st.integers(0, 8), min_size=1, max_size=4), max_size=8))
def test_hitting_sets(sets):
    found = smallest_hitting_set(sets)
    every = (c for size in range(10) for c in itertools.combinations(range(9), size))
    assert found == next(c for c in every if all(not s.isdisjoint(c) for s in sets))


def test_a_search_for_hitting_sets_ends():
    drawn = random.Random(0)
    sets = [frozenset(drawn.sample(range(400), 3)) for _ in range(200)]
    assert smallest_hitting_set(sets) is None


def test_few_operations_are_named_when_the_search_for_the_fewest_ends():
    """What requires `T == 1` in a program of 52 operations: two of them, though effort for the fewest is spent."""
    question = next(q for q in programs() if q.name == "deep 323")
    named = re.search(r"T == 1 \[(.*?)\]", measured(question).answer["requirements"])
    assert named and len(named[1].split(", ")) <= 2
