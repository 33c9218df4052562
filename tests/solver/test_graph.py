"""Relations between plain sizes, held against every binding of a small model.

Sizes among the constants, 1 and one fresh size for each node tell everything about equalities between nodes, so that
0..8 is exact for four nodes and constants up to 4.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.f1_names.relations import (
    EitherOne,
    EqualityClasses,
    InSet,
    Joinable,
    OneWay,
    RelationSystem,
    SameSize,
)
from symbcast.core.solver.size_sets import ALL, NOT_ONE, ONE, SizeSet

NODES = tuple(map(symbol, "abcd"))
SIZES = range(9)
DOMAINS = [
    ALL,
    SizeSet.interval(1, None),
    SizeSet.interval(2, None),
    NOT_ONE,
    SizeSet.residues(2, [0]),
    SizeSet.of([0]),
    SizeSet.of([3]),
    SizeSet.of([0, 1]),
    SizeSet.of([1, 2]),
    SizeSet.of([1, 3]),
    SizeSet.of([2, 3]),
    SizeSet.of([0, 1, 4]),
]

domains = st.one_of(st.just(ALL), st.sampled_from(DOMAINS))
pairs = st.permutations(NODES).map(lambda nodes: nodes[:2])
axes = st.tuples(st.permutations(NODES), st.integers(2, 4)).map(lambda p: Joinable(tuple(p[0][: p[1]])))
relations = st.one_of(axes, pairs.map(lambda p: OneWay(*p)), pairs.map(lambda p: SameSize(*p)))
any_relations = st.one_of(
    relations, pairs.map(lambda p: EitherOne(*p)), st.builds(InSet, st.sampled_from(NODES), st.sampled_from(DOMAINS))
)


def holds(relation, sizes):
    match relation:
        case Joinable(members):
            return len({sizes[m] for m in members} - {1}) <= 1
        case OneWay(data, target):
            return sizes[data] in (1, sizes[target])
        case SameSize(left, right):
            return sizes[left] == sizes[right]
        case InSet(node, members):
            return sizes[node] in members
        case EitherOne(left, right):
            return 1 in (sizes[left], sizes[right])


def bindings(assumed):
    choices = [[n for n in SIZES if n in assumed[node]] for node in NODES]
    return [dict(zip(NODES, sizes, strict=True)) for sizes in itertools.product(*choices)]


@st.composite
def problems(draw):
    """Draw what is assumed of each node, what is wanted of it, and relations."""
    assumed = {node: draw(domains) for node in NODES}
    narrowed = {node: assumed[node] & draw(domains) if draw(st.booleans()) else assumed[node] for node in NODES}
    wanted = {node: sizes or assumed[node] for node, sizes in narrowed.items()}
    return assumed, wanted, draw(st.lists(relations, min_size=1, max_size=4))


def truths(problem):
    assumed, wanted, given_relations = problem
    points = bindings(assumed)
    return points, [all(p[n] in wanted[n] for n in NODES) and all(holds(r, p) for r in given_relations) for p in points]


@given(problems())
@example(
    (
        dict.fromkeys(NODES, ALL),
        {**dict.fromkeys(NODES, ALL), NODES[0]: SizeSet.of([2])},
        [Joinable(NODES[:3]), OneWay(NODES[1], NODES[2])],
    )
)
def test_the_reduced_relations_hold_where_the_given_ones_do(problem):
    points, truth = truths(problem)
    system = RelationSystem(*problem)
    if system.relations is None:
        assert not any(truth)
        return
    assert any(truth)
    assert [all(holds(r, p) for r in system.relations) for p in points] == truth


@given(problems())
def test_no_reduced_relation_is_redundant(problem):
    points = bindings(problem[0])
    system = RelationSystem(*problem)
    for relation in system.relations or []:
        others = [r for r in system.relations if r is not relation]
        assert any(not holds(relation, p) and all(holds(r, p) for r in others) for p in points), relation


@given(problems(), pairs)
def test_covers_is_whether_one_is_1_or_the_other(problem, pair):
    data, target = pair
    system = RelationSystem(*problem)
    points, truth = truths(problem)
    if system.relations is not None:
        expected = all(p[data] in (1, p[target]) for p, valid in zip(points, truth, strict=True) if valid)
        # Of one relation between free sizes nothing else is asked than what it says itself.
        assert system.covers(data, target) is expected


@given(st.fixed_dictionaries(dict.fromkeys(NODES, domains)), st.lists(any_relations, max_size=4), pairs, st.data())
def test_possible_is_whether_a_binding_exists(domain, given_relations, pair, data):
    classes = EqualityClasses.of(domain, given_relations)
    points = [p for p in bindings(domain) if all(holds(r, p) for r in given_relations)]
    assert classes.possible() is bool(points)
    left, right = pair
    inside = data.draw(domains)
    questions = {
        "non-one": ({"non_one": pair}, lambda p: p[left] != 1 != p[right]),
        "one": ({"one": (left,)}, lambda p: p[left] == 1),
        "equal": ({"non_one": pair, "same": pair}, lambda p: p[left] == p[right] != 1),
        "differ": ({"non_one": pair, "differ": pair}, lambda p: 1 != p[left] != p[right] != 1),
        "one beside": ({"non_one": (left,), "one": (right,)}, lambda p: p[left] != 1 == p[right]),
        "within": ({"within": (left, inside)}, lambda p: p[left] in inside),
    }
    for question, (asked, meant) in questions.items():
        assert classes.possible(**asked) is any(map(meant, points)), question


@given(st.fixed_dictionaries(dict.fromkeys(NODES, domains)), st.lists(any_relations, max_size=4))
def test_classes_hold_what_is_forced(domain, given_relations):
    """In a consistent system, sizes of one class are equal and every size lies in the set of its class."""
    classes = EqualityClasses.of(domain, given_relations)
    points = [p for p in bindings(domain) if all(holds(r, p) for r in given_relations)]
    for point in points:
        for node in NODES:
            assert point[node] in classes.set_of(node)
            assert point[node] == point[classes.find(node)]


@pytest.mark.parametrize(
    ("wanted", "given_relations", "reduced"),
    [
        # 2 and 3 both stand beside b, so b is 1.
        ({"a": [2], "c": [3]}, [Joinable(NODES[:2]), Joinable(NODES[1:3])], [InSet(NODES[1], ONE)]),
        # The larger axis says what the smaller one does.
        ({}, [Joinable(NODES[:3]), Joinable(NODES[:2])], [Joinable(NODES[:3])]),
        # Two that are not 1 on one axis are equal.
        ({"a": DOMAINS[2], "b": DOMAINS[2]}, [Joinable(NODES[:2])], [SameSize(NODES[0], NODES[1])]),
        # Data onto a target that is 1 is 1.
        ({"b": [1]}, [OneWay(NODES[0], NODES[1])], [InSet(NODES[0], ONE)]),
        # Two that differ and cannot be equal: one of them is 1.
        ({"a": [1, 2], "b": [1, 3]}, [Joinable(NODES[:2])], [EitherOne(NODES[0], NODES[1])]),
        ({"a": [2], "b": [3]}, [Joinable(NODES[:2])], None),
        ({"a": [2], "b": [1]}, [OneWay(NODES[0], NODES[1])], None),
        ({}, [OneWay(NODES[0], NODES[1])], [OneWay(NODES[0], NODES[1])]),
    ],
)
def test_what_relations_reduce_to(wanted, given_relations, reduced):
    named = {n: wanted.get(n.name, ALL) for n in NODES}
    assumed = {n: s if isinstance(s, SizeSet) else SizeSet.of(s) for n, s in named.items()}
    assert RelationSystem(assumed, assumed, given_relations).relations == reduced


def test_a_long_axis_is_not_taken_apart():
    nodes = tuple(symbol(f"n{n}") for n in range(400))
    free = dict.fromkeys(nodes, ALL)
    assert RelationSystem(free, free, [Joinable(nodes)]).relations == [Joinable(nodes)]
