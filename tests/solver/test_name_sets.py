"""Sets of names in blocks, held against Python's own sets."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.solver.f1_names.many_broadcasts import BLOCK, EMPTY, NameSets, NamesWithIntegers, name_positions

near = st.integers(0, 5)
positions = st.one_of(
    near, st.builds(lambda n, block: n + block * BLOCK, near, st.integers(0, 9)), st.integers(0, 9999)
)
"""Within a block, at its start, anywhere: names that meet are often neighbours."""
names = st.sets(positions, max_size=9)


def numbered(sets, positions):
    return sets.union([sets.name(n) for n in positions])


@given(st.lists(names, max_size=6))
@example([{0, BLOCK}, {0}, {2 * BLOCK, 3 * BLOCK}, {BLOCK, 3 * BLOCK}])
@example([{1, 2, 9 * BLOCK}, {2, 5 * BLOCK}, {7, 6 * BLOCK, 9 * BLOCK + 1}])
def test_a_set_has_one_number_however_it_was_made(given_sets):
    sets = NameSets()
    made = [numbered(sets, names) for names in given_sets]
    everything = set().union(*given_sets)
    assert [sets.members(number) for number in made] == [sorted(names) for names in given_sets]
    assert [sets.count(number) for number in made] == [*map(len, given_sets)]
    assert [number != EMPTY and sets.is_name(number) for number in made] == [len(names) == 1 for names in given_sets]
    whole = sets.union([number for number in made if number != EMPTY])
    assert whole == numbered(sets, everything) == numbered(sets, sorted(everything, reverse=True))
    grown = EMPTY
    for name in everything:
        grown = sets.union([number for number in (grown, sets.name(name)) if number != EMPTY])
    assert grown == whole


@given(names, names)
def test_names_can_be_left_out(names, dropped):
    sets, held = NameSets(), NamesWithIntegers()
    for number in (2, 3):
        for leaf in sets.leaves(numbered(sets, dropped)):
            held.add(number, leaf)
    assert held.count == len(dropped)
    assert sets.without(numbered(sets, names), held.ones, {}) == numbered(sets, names - dropped)


@given(names, names)
def test_sets_that_are_removed_are_made_again(first, second):
    sets = NameSets()
    kept = numbered(sets, first)
    length = len(sets)
    made = numbered(sets, second)
    sets.shorten(length)
    assert (len(sets), sets.members(kept)) == (length, sorted(first))
    assert numbered(sets, second) == made


def test_a_set_that_grows_shares_its_parts():
    sets, grown = NameSets(), EMPTY
    for n in range(20 * BLOCK):
        grown = sets.union([number for number in (grown, sets.name(n)) if number != EMPTY])
    assert sets.count(grown) == 20 * BLOCK
    assert len(sets) < 20 * BLOCK * 7


def test_parts_that_were_seen_are_skipped():
    sets, seen = NameSets(), set()
    low, high = numbered(sets, {1, BLOCK}), numbered(sets, {4 * BLOCK, 5 * BLOCK})
    assert [first for first, _ in sets.leaves(low, seen)] == [1, BLOCK]
    assert [first for first, _ in sets.leaves(sets.union([low, high]), seen)] == [4 * BLOCK, 5 * BLOCK]
    assert sets.leaves(high, seen) == []


@given(st.sets(st.integers(0, 200)))
@example(set(range(100)))
@example({0, 63, 64, 4000})
def test_bits_are_the_positions(positions):
    assert name_positions(sum(1 << n for n in positions)) == sorted(positions)


@given(st.lists(st.tuples(st.sampled_from((0, 2, 3, 4)), names), max_size=6), st.integers(0, 5))
def test_what_integers_say_can_be_taken_back(additions, kept):
    sets, held, states = NameSets(), NamesWithIntegers(), []
    for number, names in additions:
        for leaf in sets.leaves(numbered(sets, names)):
            states.append((held.numbers(), held.count, held.add(number, leaf)))
            if states[-1][-1] is None:
                assert held.numbers() == states.pop()[0]
    for numbers, count, previous in reversed(states[kept:]):
        held.undo(previous)
        assert (held.numbers(), held.count) == (numbers, count)
    copied, before = held.copy(), held.numbers()
    held.add(5, (0, 1))
    assert (copied.numbers(), copied.copy().numbers()) == (before, before)


@given(st.lists(st.tuples(st.sampled_from((0, 2, 3, 4)), names), max_size=6))
def test_a_name_beside_two_integers_is_one(additions):
    sets, held = NameSets(), NamesWithIntegers()
    for number, names in additions:
        for leaf in sets.leaves(numbered(sets, names)):
            held.add(number, leaf)
    beside = {n: {k for k, names in additions if n in names} for _, names in additions for n in names}
    assert held.numbers() == {n: 1 if len(numbers) > 1 else min(numbers) for n, numbers in beside.items()}
    assert held.count == sum(len(numbers) > 1 for numbers in beside.values())
