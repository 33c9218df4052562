"""Comparisons, entailment and expansion held against brute force: all bindings from 0 to 5 of small questions."""

from __future__ import annotations

import functools
import itertools

import pytest
import small_questions

import symbcast as sb

RELATIONS = ["a == b", "a == 1", "b == 1 or b == a", "a >= 1", "c <= 3", "a == b or c == 1", "a + b <= 6", "c % 2 == 0"]


REGIONS = ("agree", "apart", "differ", "only_first", "only_second")


def way(rules, shapes):
    """Return how two rules stand to each other on integer shapes."""
    first, second = (rule.output(shapes) for rule in rules)
    if first is None:
        return "neither" if second is None else "only_second"
    if second is None:
        return "only_first"
    if first != second:
        return "differ"
    places = zip(shapes, *(rule.places([len(s) for s in shapes]) for rule in rules), strict=True)
    laid = [(size, a, b) for shape, *ours in places for size, a, b in zip(shape, *ours, strict=True)]
    return "apart" if any(size != 1 and a != b for size, a, b in laid) else "agree"


def smallness(sizes):
    values = list(sizes.values())
    return values.count(0), sum(values)


def wrong_of(pair, case, rules):
    """Yield what is wrong of two rules compared."""
    met = {}
    for binding, shapes in case.bindings():
        found = way(rules, shapes)
        met.setdefault(found, []).append(binding)
        for name in REGIONS:
            holds = getattr(pair, name).condition.guard()(binding)
            if holds != (name == found):
                yield name, binding, holds
    for name in REGIONS:
        region, bindings = getattr(pair, name), met.get(name, [])
        if (bindings and region.is_empty) or (region.verdict is sb.Verdict.ALWAYS and len(met) > 1):
            yield name, "verdict", region.verdict
        example = region.example
        if example is not None:
            outputs = tuple(rule.output(example.shapes) for rule in rules)
            if way(rules, example.shapes) != name or (example.first, example.second) != outputs:
                yield name, "example", example
            if bindings and min(map(smallness, bindings)) < smallness(example.sizes):
                yield name, "a smaller example", example
    alone = ["only_first" in met, "only_second" in met]
    claims = {sb.Order.EQUAL: not any(alone), sb.Order.REFINES: not alone[0], sb.Order.REFINED_BY: not alone[1]}
    if not claims.get(pair.order, True) or (
        {"differ", "apart"} & met.keys() and pair.order not in (sb.Order.NEITHER, sb.Order.UNKNOWN)
    ):
        yield "order", pair.order, met.keys()


def orders(met):
    """Return how two rules stand to each other, from the ways met."""
    if {"differ", "apart"} & met.keys() or {"only_first", "only_second"} <= met.keys():
        return sb.Order.NEITHER
    if "only_first" in met:
        return sb.Order.REFINED_BY
    return sb.Order.REFINES if "only_second" in met else sb.Order.EQUAL


@pytest.mark.parametrize(("seed", "is_plain", "count", "unknown"), [(1, True, 150, 0), (2, False, 80, 0)])
def test_compare(seed, is_plain, count, unknown):
    wrong, open_ones = [], 0
    for case, first, second in small_questions.cases(seed, count, is_plain):
        found = sb.compare(*case.texts, rules=[str(first), str(second)], assume=case.assume)
        (pair,) = found.pairs
        wrong += [(case, str(first), str(second), *what) for what in wrong_of(pair, case, (first, second))]
        open_ones += pair.order is sb.Order.UNKNOWN
    assert (wrong, open_ones) == ([], unknown)


AXES_APART = [("a, b, c", "d, e, f", 3), ("a, b", "c, d", 6), ("a, 2*b", "b + 1, d", 6), ("a, b//2, c", "3, d, c", 5)]
RULES_APART = [
    small_questions.Rule("numpy"),
    small_questions.Rule("none"),
    small_questions.Rule("pdpd", {"axis": -1}),
    small_questions.Rule("unidirectional"),
    small_questions.Rule("pdpd", {"axis": 0}),
]


@pytest.mark.parametrize(("first", "second", "count"), AXES_APART)
def test_axes_that_share_no_size(first, second, count):
    """What is decided and simplified axis by axis holds of whole shapes, at all sizes below a number."""
    names = [name for name in "abcdef" if name in first + second]
    shapes = [[compile(dim, "dim", "eval") for dim in text.split(", ")] for text in (first, second)]
    found = sb.compare(first, second, rules=map(str, RULES_APART))
    asked = list(zip(found.pairs, itertools.combinations(RULES_APART, 2), strict=True))
    wrong, met = [], {str(pair): {} for pair in found.pairs}
    for sizes in itertools.product(range(count), repeat=len(names)):
        binding = dict(zip(names, sizes, strict=True))
        given = [tuple(eval(dim, dict(binding)) for dim in shape) for shape in shapes]
        for pair, rules in asked:
            there = way(rules, given)
            met[str(pair)][there] = None
            holding = [name for name, region in pair.regions.items() if region.condition.guard()(binding)]
            if holding != [there] and (holding or there != "neither"):
                wrong.append((str(pair), binding, there, holding))
    assert wrong == []
    assert [(str(p), p.order) for p in found.pairs if p.order is not orders(met[str(p)])] == []


@pytest.mark.parametrize(("seed", "is_plain", "count", "unknown"), [(3, True, 150, 0), (4, False, 150, 0)])
def test_the_order_of_rules_on_sizes_up_to_5(seed, is_plain, count, unknown):
    wrong, open_ones, ways = [], 0, set()
    for case, *rules in small_questions.cases(seed, count, is_plain):
        (pair,) = sb.compare(*case.texts, rules=map(str, rules), assume=case.bounded).pairs
        met = {way(rules, shapes): None for _, shapes in case.bindings()}
        ways |= met.keys()
        if pair.order is sb.Order.UNKNOWN:
            open_ones += 1
        elif pair.order is not orders(met):
            wrong.append((case, *map(str, rules), pair.order, orders(met)))
    assert (wrong, open_ones) == ([], unknown)
    assert ways == {*REGIONS, "neither"}


def asked(case, rule, assume):
    """Return the answer about a case by one rule; None where that does not take such shapes at all."""
    try:
        return sb.broadcast(*case.texts, rule=rule.name, assume=assume, **rule.attributes)
    except sb.RuleArgumentError:
        return None


@pytest.mark.parametrize(("seed", "is_plain", "count", "unknown"), [(5, True, 150, 0), (6, False, 150, 0)])
def test_implies_and_proves(seed, is_plain, count, unknown):
    wrong, open_ones, met = [], 0, set()
    for case, rule, _ in small_questions.cases(seed, count, is_plain):
        result = asked(case, rule, case.bounded)
        relations = [r for r in RELATIONS if all(n in case.names for n in small_questions.NAMES if n in r)]
        if result is None or result.verdict is sb.Verdict.NEVER:
            continue
        env = sb.ShapeEnv(assume=case.bounded)
        env.broadcast(*case.texts, rule=rule.name, **rule.attributes)
        valid = [b for b, shapes in case.bindings() if rule.output(shapes) is not None]
        for relation in relations:
            holds = all(eval(relation, None, binding) for binding in valid)
            met.add(holds)
            try:
                found = {result.implies(relation), env.implies(relation)}
            except sb.UndecidedError:
                open_ones += 1
                continue
            if found != {holds}:
                wrong.append((case, str(rule), relation, found, holds))
    assert (wrong, open_ones) == ([], unknown)
    assert met == {True, False}


@pytest.mark.parametrize(("seed", "is_plain", "count", "unknown"), [(7, True, 300, 0), (8, False, 200, 0)])
def test_equivalent(seed, is_plain, count, unknown):
    wrong, open_ones, met = [], 0, set()
    for case, *rules in small_questions.cases(seed, count, is_plain):
        results = [asked(case, rule, case.bounded) for rule in rules]
        if None in results:
            continue
        same = all(rules[0].output(shapes) == rules[1].output(shapes) for _, shapes in case.bindings())
        met.add(same)
        try:
            found = sb.equivalent(*results)
        except sb.UndecidedError:
            open_ones += 1
            continue
        if found is not same:
            wrong.append((case, *map(str, rules), found))
    assert (wrong, open_ones) == ([], unknown)
    assert met == {True, False}


def wrong_expansions(case, rule, expands):
    """Yield what is wrong of each operand on each axis, and None for what was not decided."""
    valid = [(b, s, out) for b, s in case.bindings() if (out := rule.output(s)) is not None]
    ranks = [len(s) for s in case.shapes]
    places, rank = rule.places(ranks), len(valid[0][2])
    for operand, axis in itertools.product(range(2), range(rank)):
        found = expands(operand, axis)
        if found.verdict is sb.Verdict.UNKNOWN:
            yield None
        lies = [i for i, place in enumerate(places[operand]) if place == axis]
        sizes = [s[operand][lies[0]] if lies else 1 for _, s, _ in valid]
        stretched = [size == 1 != out[axis] for size, (_, _, out) in zip(sizes, valid, strict=True)]
        said = [found.condition.guard()(binding) for binding, _, _ in valid]
        verdict = sb.Verdict.ALWAYS if all(stretched) else sb.Verdict.SOMETIMES if any(stretched) else sb.Verdict.NEVER
        is_one, is_same = set(sizes) == {1}, all(s == out[axis] for s, (_, _, out) in zip(sizes, valid, strict=True))
        known = "nonexpanding" if is_same else "expanding" if is_one else ""
        if (said, verdict, known) != (stretched, found.verdict, found.known):
            yield case, str(rule), operand, axis, found, verdict, known


@pytest.mark.parametrize(("seed", "is_plain", "count", "unknown"), [(9, True, 100, 0), (10, False, 100, 0)])
def test_expands(seed, is_plain, count, unknown):
    wrong = []
    for case, rule, _ in small_questions.cases(seed, count, is_plain):
        result = asked(case, rule, case.bounded)
        if result is None or result.verdict is sb.Verdict.NEVER:
            continue
        env = sb.ShapeEnv(assume=case.bounded)
        env.broadcast(*case.texts, rule=rule.name, origin="it", **rule.attributes)
        wrong += wrong_expansions(case, rule, result.expands)
        wrong += wrong_expansions(case, rule, functools.partial(env.expands, "it"))
    assert ([w for w in wrong if w is not None], wrong.count(None)) == ([], unknown)
