"""Loose islands of facts: the look-up must agree with the least model of the relations."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.formulas import Compatible, at_most, equal, one_or_equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.programs.facts import Facts
from symbcast.core.solver.evaluation import normal_conjuncts
from symbcast.core.solver.f1_names.relations import EqualityClasses, OneWay, is_violable

NAMES = [symbol(name) for name in "abcde"]
DIMS = st.sampled_from([*NAMES, 1, 3, 2 * NAMES[0], NAMES[1] + NAMES[2]])
FORMULAS = st.one_of(
    st.lists(DIMS, min_size=2, max_size=3).map(lambda dims: Compatible(tuple(dims))),
    st.builds(equal, DIMS, DIMS),
    st.builds(one_or_equal, st.sampled_from(NAMES), DIMS),
    st.builds(at_most, st.integers(0, 3), st.sampled_from(NAMES)),
)


@given(st.lists(FORMULAS, max_size=6))
def test_no_size_of_a_loose_island_is_one_or_covered(formulas):
    facts = Facts(0)
    for formula in formulas:
        mark = facts.mark()
        if not facts.add(normal_conjuncts([formula])):
            facts.undo(mark)
    classes, islands = facts._classes, facts._islands
    loose = [n for n in NAMES if islands.is_loose(n) and classes.find(n) is n and classes.set_of(n).only is None]
    assert all(classes.may_be_one(n) and classes.possible(non_one=(n,)) for n in loose)
    others = {classes.find(n) for n in NAMES if classes.may_be_one(n)}
    assert all(is_violable(OneWay(n, other), classes, {}) for n in loose for other in others if other is not n)


@given(st.lists(FORMULAS, min_size=1, max_size=4), st.lists(FORMULAS, min_size=1, max_size=4))
def test_islands_are_undone(kept, undone):
    facts = Facts(0)
    facts.add(normal_conjuncts(kept))
    before = [facts._islands.is_loose(n) for n in NAMES]
    mark = facts.mark()
    facts.add(normal_conjuncts(undone))
    facts.undo(mark)
    assert [facts._islands.is_loose(n) for n in NAMES] == before


def test_joins_after_an_operator_take_look_ups_alone(monkeypatch):
    questions = []
    possible = EqualityClasses.possible
    monkeypatch.setattr(
        EqualityClasses, "possible", lambda *args, **how: questions.append(how) or possible(*args, **how)
    )
    env = sb.ShapeEnv()
    env.matmul("N, K", "L, M")  # an equality
    for left, right in permutations("abcdeNK", 2):
        env.broadcast(f"{left}, 3", f"{right}, 1")
    assert not questions
    env.require("a >= 2")
    assert str(env.broadcast("a", "b")) == "(a,)"
