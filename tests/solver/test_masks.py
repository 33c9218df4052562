"""One broadcast of names and integers, held against every binding of a small model."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_sizes import INTEGERS, NAMES, Size, at, concrete, holds, irredundant, points, smallest

from symbcast.core.algebra.formulas import FALSE, AnyOf, Compatible, equal
from symbcast.core.solver.f1_names import one_broadcast
from symbcast.core.solver.f1_names.one_broadcast import Conflict, MaskBroadcast, connected_names, smallest_break
from symbcast.core.verdicts import Verdict

a, b, c, d = NAMES

sizes = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(INTEGERS))
shapes = st.lists(st.lists(sizes, max_size=4).map(tuple), max_size=5).map(tuple)


@given(shapes)
@example(((a, a, b), (a, 2, b), (3, b, b)))
@example(((a, b), (2, 3), (b, a)))
@example(((a, b, c), (b, c, a), (c, a, b)))
@example(((a, a, a), (b, b, 2), (c, 2, c)))
@example(((a, 0), (0, b)))
@example(((a, a, b, b), (0, 2, 0, 2), (1, c, c, 1)))
def test_answers_are_those_of_all_bindings(question):
    answer = MaskBroadcast(question)
    bindings = points(answer.names)
    outputs = [concrete([[at(size, p) for size in shape] for shape in question]) for p in bindings]
    valid = [p for p, output in zip(bindings, outputs, strict=True) if output is not None]
    broken = [p for p, output in zip(bindings, outputs, strict=True) if output is None]

    assert (answer.verdict is Verdict.ALWAYS) is (not broken)
    assert (answer.verdict is Verdict.NEVER) is (not valid)
    assert answer.witness() == smallest(valid)
    assert answer.counterexample() == smallest(broken)
    assert (answer.conflict is None) is bool(valid)
    if not valid:
        assert answer.clauses() == [FALSE]
        assert answer.output() is None
        return
    clauses = answer.clauses()
    assert [all(holds(c, p) for c in clauses) for p in bindings] == [output is not None for output in outputs]
    assert irredundant(clauses, bindings)
    for p, output in zip(bindings, outputs, strict=True):
        assert output is None or tuple(at(dim, p) for dim in answer.output()) == output


@given(shapes)
def test_no_member_of_an_output_can_be_left_out(question):
    answer = MaskBroadcast(question)
    clauses = answer.clauses()
    valid = [p for p in points(answer.names) if all(holds(clause, p) for clause in clauses)]
    for dim in answer.output() or ():
        if isinstance(dim, tuple):
            assert len(dim) > 1
            for member in dim:
                rest = tuple(other for other in dim if other is not member)
                assert any(at(rest, p) != at(dim, p) for p in valid)


@given(shapes, st.permutations(NAMES))
def test_other_names_give_the_same_answer_about_them(question, renamed):
    other = dict(zip(NAMES, renamed, strict=True))
    answer = MaskBroadcast(question)
    same = MaskBroadcast(tuple(tuple(other.get(size, size) for size in shape) for shape in question))
    assert same.names == [other[name] for name in answer.names]
    assert same.verdict is answer.verdict
    assert len(same.clauses()) == len(answer.clauses())
    counterexample = answer.counterexample()
    assert same.counterexample() == (counterexample and {other[name]: size for name, size in counterexample.items()})


def test_a_name_beside_two_integers_is_one():
    answer = MaskBroadcast(((a, a, b), (3, 4, a)))
    assert answer.clauses() == [equal(a, 1)]
    assert answer.output() == (3, 4, b)
    assert answer.counterexample() == {a: 2, b: 1}


def test_names_beside_different_integers_are_not_both_other_than_one():
    clauses = MaskBroadcast(((a, a, b), (3, b, 4))).clauses()
    assert clauses == [
        AnyOf((equal(a, 1), equal(a, 3))),
        AnyOf((equal(b, 1), equal(b, 4))),
        AnyOf((equal(a, 1), equal(b, 1))),
    ]


def test_names_beside_one_integer_need_not_be_compared():
    assert MaskBroadcast(((a, a, b), (3, b, 3))).clauses() == [AnyOf((equal(x, 1), equal(x, 3))) for x in (a, b)]


def test_zero_is_a_size_like_any_other():
    assert MaskBroadcast(((a, 0), (0, 1))).clauses() == [AnyOf((equal(a, 0), equal(a, 1)))]
    assert MaskBroadcast(((0,), (2,))).conflict == Conflict(0, 1, 0, 1)
    assert MaskBroadcast(((a,), (0,))).counterexample() == {a: 2}
    assert MaskBroadcast(((a,), (2,))).counterexample() == {a: 3}


def test_a_join_is_redundant_where_others_cover_its_pairs():
    triangle = MaskBroadcast(((a, b, c, a), (b, c, a, b), (1, 1, 1, c)))
    assert triangle.clauses() == [Compatible((a, b, c))]
    pairs = MaskBroadcast(((a, b, a), (b, c, c)))
    assert pairs.clauses() == [Compatible((a, b)), Compatible((b, c)), Compatible((a, c))]
    covered = MaskBroadcast(((a, a, b, a), (b, b, c, b), (c, d, d, 1)))
    assert covered.clauses() == [Compatible((a, b, c)), Compatible((a, b, d)), Compatible((b, c, d))]


def test_connected_names_come_together_in_the_order_of_the_first():
    x, y, z, v, w = map(Size, "xyzvw")
    answer = MaskBroadcast(((x, y, z, z), (v, w, 1, 5), (1, 1, x, 1)))
    assert answer.clauses() == [
        AnyOf((equal(z, 1), equal(z, 5))),
        Compatible((x, v)),
        Compatible((z, x)),
        Compatible((y, w)),
    ]
    assert answer.output() == ((x, v), (y, w), (x, z), 5)


def test_the_members_of_a_clause_stand_as_the_operands_have_them():
    assert MaskBroadcast(((a, b), (1, a))).clauses() == [Compatible((b, a))]


def test_names_are_compared_by_identity():
    assert MaskBroadcast((("N",), ("M",))).verdict is Verdict.SOMETIMES
    assert MaskBroadcast(((Size("N"),), (Size("N"),))).verdict is Verdict.SOMETIMES


def test_the_conflict_is_the_first_pair_on_the_first_axis():
    assert MaskBroadcast(((2, 5), (a, 3, 1), (4, 7, 6))).conflict == Conflict(1, 3, 0, 1)
    assert MaskBroadcast(((2,), (2,), (3,))).conflict == Conflict(0, 1, 0, 2)
    assert MaskBroadcast(((2, 3), (5, 1))).counterexample() == {}


def test_no_operand_and_one_operand():
    assert (MaskBroadcast(()).verdict, MaskBroadcast(()).output(), MaskBroadcast(()).clauses()) == (
        Verdict.ALWAYS,
        (),
        [],
    )
    assert (MaskBroadcast(((a, 3, a),)).verdict, MaskBroadcast(((a, 3, a),)).output()) == (Verdict.ALWAYS, (a, 3, a))


def test_rank_sixteen_over_many_names():
    names = [Size(f"s{n}") for n in range(64)]
    question = tuple(tuple(names[16 * operand : 16 * operand + 16]) for operand in range(4))
    answer = MaskBroadcast(question)
    assert answer.clauses() == [Compatible(tuple(names[n::16])) for n in range(16)]
    assert answer.output() == tuple(tuple(names[n::16]) for n in range(16))
    assert answer.counterexample() == {**dict.fromkeys(names, 1), names[47]: 2, names[63]: 3}


@given(st.lists(st.sets(st.integers(0, 8), min_size=2).map(lambda names: tuple(sorted(names))), max_size=6))
def test_connected_names_are_those_that_joins_reach(joins):
    found = connected_names(joins)
    assert set(found) == {n for join in joins for n in join}
    for join in joins:
        assert len({found[n] for n in join}) == 1
    for first in set(found.values()):
        group = {n for n in found if found[n] == first}
        assert first == min(group)
        reached = {first}
        while more := {n for join in joins if reached & {*join} for n in join} - reached:
            reached |= more
        assert reached == group


@given(
    st.sets(st.sets(st.integers(0, 6), min_size=2).map(lambda names: tuple(sorted(names))), max_size=9).map(sorted),
    st.dictionaries(st.integers(0, 6), st.sampled_from((2, 3))),
)
@example([(0, n) for n in range(1, 12)] + [(0, 1, 2)], {})
@example([(0, 1, n) for n in range(2, 14)] + [(2, 3), (0, 1, 2, 3)], {0: 2, 3: 2})
def test_masks_and_sets_of_names_give_the_same_joins(joins, numbers):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(one_broadcast, "_HUB", 99)
        expected = one_broadcast.irredundant_joins(joins, numbers)
        for hub, dense in itertools.product((0, 8), (0, 256)):
            patched.setattr(one_broadcast, "_HUB", hub)
            patched.setattr(one_broadcast, "_DENSE", dense)
            assert one_broadcast.irredundant_joins(joins, numbers) == expected
    pairs = {pair for join in expected for pair in itertools.combinations(join, 2)}
    for pair in {pair for join in joins for pair in itertools.combinations(join, 2)} - pairs:
        assert len({*map(numbers.get, pair)} - {None}) == 1
        assert set(pair) <= set(numbers)
    for join in expected:
        others = {pair for other in expected if other != join for pair in itertools.combinations(other, 2)}
        assert any(
            pair not in others and not (set(pair) <= set(numbers) and numbers[pair[0]] == numbers[pair[1]])
            for pair in itertools.combinations(join, 2)
        )


def test_nothing_breaks_where_nothing_is_asked():
    assert smallest_break([(), (0,), (1,), (2,)], {}) == {}
