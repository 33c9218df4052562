"""Parts of questions that repeat under other names: the answers for one of them are the answers for all."""

import random
from itertools import product

import pytest

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import counted_call
from symbcast.core.solver import repeats
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import predicate
from symbcast.core.solver.points import point_cost
from symbcast.core.solver.repeats import RepeatedGroup
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.text import parse_formula

SHARED = ("s == a", "s <= a", "compatible(s, a)", "s + a <= 4", "s != 2", "a == 1 or a == s", "s % 2 == 1", "2*a >= s")
OF_COPIES = (
    "x == s", "y == x", "compatible(x, s)", "x + y == s", "x == 1 or y == a", "x <= s", "x + s == a or a == 1",
    "broadcast(x, s) == s", "2*x == s or 2*x == s + 1", "x*y == s*a", "x // 2 == a", "x != y", "y >= 1", "y % 2 == 0",
    "compatible(x, s, a)", "broadcast(a, x + s) == y + s", "x + y <= a + 1", "min(x, y) == a", "x == s or x == a",
)  # fmt: skip
CHAINED = ("x == z", "compatible(x, z)", "x <= z + 1")


def drawn(seed):
    """Return formulas, names with domains, and assumptions; some copies differ, and some are chained."""
    chance = random.Random(seed)
    count, least = chance.choice((3, 3, 4)), chance.choice((0, 1, 1))
    with_y = chance.random() < 0.5
    fits = [t for t in OF_COPIES if with_y or "y" not in t]
    parts = chance.sample(fits, chance.randint(1, 3))
    texts = chance.sample(SHARED, chance.randint(0, 3))
    for n in range(count):
        own = parts if chance.random() < 0.9 else chance.sample(fits, 1)
        texts += [t.replace("x", f"x{n}").replace("y", f"y{n}").replace("ma{n}", "max") for t in own]
        if chance.random() < 0.1:
            texts.append(chance.choice(CHAINED).replace("x", f"x{n}").replace("z", f"x{(n + 1) % count}"))
    names = ["s", "a", *(f"x{n}" for n in range(count)), *(f"y{n}" for n in range(count) if with_y)]
    if chance.random() < 0.3:
        chance.shuffle(names)
    chance.shuffle(texts)
    domain = SizeSet.interval(least, least + (1 if len(names) > 8 else 2 if least or len(names) > 6 else 3))
    domains = {n: domain if chance.random() < 0.95 else SizeSet.interval(least, least + 1) for n in names}
    assumed = [chance.choice(("s <= a", "s == a", "x0 <= s"))] if chance.random() < 0.2 else []
    return [*dict.fromkeys(texts)], domains, assumed


def check(seed):
    texts, domains, assumed = drawn(seed)
    symbols = tuple(symbol(n) for n in domains)
    try:
        known = AssumptionSet(symbols, {symbol(n): d for n, d in domains.items()}, map(parse_formula, assumed))
    except ContradictionError:
        return None
    formulas = [parse_formula(t) for t in texts]
    decision = Decision(known, formulas)
    points = list(product(*(d.first(9) for d in domains.values())))
    for formula in map(parse_formula, assumed):
        test = predicate(formula, symbols)
        points = [p for p in points if test(*p)]
    tests = [predicate(f, symbols) for f in formulas]
    truth = [all(t(*p) for t in tests) for p in points]
    written = [predicate(c, symbols) for c in decision.clauses]
    assert [all(t(*p) for t in written) for p in points] == truth, (seed, texts)
    assert decision.satisfiable in (any(truth), None)
    assert decision.violable in (not all(truth), None)
    ones = dict.fromkeys(symbols, 1)
    for sizes, wanted in ((decision.witness(), True), (decision.counterexample(), False)):
        chosen = [dict(zip(symbols, p, strict=True)) for p, t in zip(points, truth, strict=True) if t is wanted]
        least = min((point_cost(symbols, c, ones) for c in chosen), default=None)
        if sizes is None:
            assert least is None or decision.satisfiable is None, (seed, wanted)
        elif not decision.evidence_reason:
            assert point_cost(symbols, sizes, ones) == least, (seed, wanted, texts)
        else:
            assert sizes in chosen
    return decision


@pytest.fixture
def few(monkeypatch):
    """Look for repeats in small questions, too."""
    monkeypatch.setattr(repeats, "_MANY", 4)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_answers_are_those_of_integers(first, few):
    shared = 0
    for seed in range(first, first + 20):
        decision = check(seed)
        shared += decision is not None and any(isinstance(p, RepeatedGroup) for p in decision.parts)
    assert shared


def decoder(layers, *, other=None):
    """Return a program of a decoder whose caches have sizes of their own; one layer may have ``other`` constraints."""
    env = sb.ShapeEnv(min_size=1)
    env.require("batch*seq == broadcast(batch, bm)*broadcast(seq, sc)")
    env.require("compatible(batch, bm) and compatible(seq, sc)")
    for n in range(layers):
        env.require(f"k{n} == broadcast(batch, bm) and v{n} == k{n}")
        env.require(f"broadcast(total, p{n} + seq) == q{n} + seq and (total == p{n} + seq or total == 1)")
        if n == 5 and other:
            env.require(other)
    return env


EACH = (
    "all(batch == k{i} == v{i} and p{i} == q{i} for i in 0..%d) and (bm == 1 or bm == batch) and (sc == 1 or sc == seq)"
)
MASK = "(total == 1 or all(total == p{i} + seq for i in 0..%d))"


@pytest.mark.parametrize("layers", [8, 40])
def test_a_condition_has_one_sentence_for_any_number_of_layers(layers):
    env = decoder(layers)
    assert env.verdict is sb.Verdict.SOMETIMES
    assert len(str(env.condition)) <= 200
    assert not env.unproven
    assert env.condition.equivalent(f"{EACH % (layers - 1)} and {MASK % (layers - 1)}", min_size=1)
    assert set(env.witness().values()) == {1}
    assert sum(env.counterexample().values()) == len(env.witness()) + 1


def test_a_layer_that_differs_is_written_apart():
    env = decoder(12, other="p5 % 8 == 0")
    assert "p5 % 8 == 0" in str(env.condition)
    assert env.condition.equivalent(f"{EACH % 11} and {MASK % 11} and p5 % 8 == 0", min_size=1)
    assert env.witness()["p5"] == 8


def test_the_work_grows_with_the_layers():
    def units(layers):
        env = decoder(layers)
        with counted_call(10_000) as effort:
            _ = env.verdict, env.clauses
            return effort.used

    assert units(48) < 5 * units(12)
