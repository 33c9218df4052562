"""Conditions whose terms have no value at some sizes: false there, and their negations true."""

from __future__ import annotations

from itertools import product

import pytest
import undefined_terms

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, clauses, equal, needs, negate, where_possible
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, in_normal_form, symbols_in
from symbcast.core.solver.simplification.simplify import simplified
from symbcast.core.text import parse_formula


@pytest.mark.parametrize("number", range(1, 13))
def test_a_drawn_condition_means_what_it_does_on_integers(number):
    try:
        faults, _ = undefined_terms.held(number)
    except sb.ShapeSyntaxError:
        return  # it divides or joins integers that cannot be
    assert not faults


@pytest.mark.parametrize(
    "text",
    [
        "N//M == 2",
        "N % M != 1",
        "broadcast(N, M) == 3",
        "compatible(N//M, K)",
        "M == 0 or N//M == 2",
        "N//M == 2 or M == 0",
        "N//M == 2 and K % M == 0 or not (N//K == 1)",
        "broadcast(N, K - 2) <= N//M",
        "not (N//M == 2 and not (K//N == 1))",
    ],
)
def test_not_is_the_complement(text):
    condition, negated = sb.Condition(text), sb.Condition(f"not ({text})")
    assert negated == ~condition and (~negated).equivalent(condition)
    guards = [c.guard() for c in (condition, negated, ~negated)]
    for sizes in product(range(6), repeat=3):
        given = dict(zip("NMK", sizes, strict=True))
        held = [guard(**{n: given[n] for n in guard.parameters}) for guard in guards]
        assert held[0] is not held[1] and held[0] is held[2], given


@pytest.mark.parametrize("number", range(60))
def test_a_formula_and_its_negation_never_hold_or_fail_together(number):
    drawn = undefined_terms.Drawn(number)
    try:
        formula = parse_formula(drawn.text)
    except sb.ShapeSyntaxError:
        return
    negated, symbols = negate(formula), {s.name: s for d in drawn.names for s in sb_symbols(d)}
    for point in drawn.points():
        sizes = {symbols[n]: size for n, size in point.items()}
        holds = drawn.holds(point)
        assert holds_at(formula, sizes) is holds_at(in_normal_form(formula), sizes) is holds, point
        assert holds_at(negated, sizes) is holds_at(in_normal_form(negated), sizes) is not holds, point
        assert holds_at(negate(negated), sizes) is holds and holds_at(where_possible(formula), sizes) >= holds


@pytest.mark.parametrize("number", range(60))
def test_a_formula_is_decided_and_simplified_without_losing_what_its_terms_need(number):
    drawn = undefined_terms.Drawn(number)
    try:
        formula = parse_formula(drawn.text)
    except sb.ShapeSyntaxError:
        return
    means_the_same(formula, 4 if len(symbols_in(formula)) > 2 else 8)


@pytest.mark.parametrize(
    "text",
    [
        "broadcast(M, 2)//2 == 1",
        "broadcast(M, 2) != 3",
        "M <= M + M//2 + M//M",
        "-2*((M + 2)//3) <= 2//N",
        "3 != min(M, M % 2) - M % M",
        "(M % (4//M)) % 1 != M",
        "min(broadcast(M, N), 0) < 1",
        "broadcast(N, 0) % 1 != M",
        "min(M, broadcast(M, N)) % 2 < 2",
        "M + 1 != broadcast(M, 2)//2 and broadcast(M, 2)//2 == 1 and M//N == 1",
    ],
)
def test_what_terms_need_stays_where_the_terms_are_left_out(text):
    means_the_same(parse_formula(text), 8)


def test_a_product_with_a_known_0_keeps_what_its_other_factors_need():
    M, N = map(symbol, "MN")
    formula = parse_formula("min(-M, M*(N//M)) != 2*(N % 3)")
    assert Decision(AssumptionSet([M, N], {}, [equal(M, 0)]), [formula]).verdict is sb.Verdict.NEVER


def means_the_same(formula, end):
    """Check that a formula, decided and simplified by itself, holds at the same sizes."""
    symbols = list(symbols_in(formula))
    assumed = AssumptionSet(symbols, {}, ())
    decided = all_of(Decision(assumed, clauses(formula)).clauses)
    short = simplified(formula, assumed)
    for point in product(range(end), repeat=len(symbols)):
        sizes = dict(zip(symbols, point, strict=True))
        assert holds_at(decided, sizes) is holds_at(short, sizes) is holds_at(formula, sizes), sizes


def sb_symbols(name):
    return sb.Condition(f"{name} == 2")._order


def test_what_inner_terms_need_comes_first():
    assert [str(sb.Condition(need)) for need in needs(parse_formula("K//(N//M) == 2"))] == ["M != 0", "N//M != 0"]


def test_a_max_is_left_out_only_where_the_join_beside_it_has_its_value():
    """The proof once read a join that has no value as its first member: 75 sizes that work were refused."""
    env = sb.ShapeEnv()
    env.broadcast("W", "max(M, N//5) - 4")
    env.require("2*(W//2) == broadcast(W, max(M, N//5) - 4)")
    env.equal("M", "5")
    env.require("W % 7 == 4")
    for k in range(6):
        env.require(f"alpha{k} % 8 == 3 or beta{k} == 2*gamma{k} + 1")
    guard = env.guard()
    others = {f"{n}{k}": v for n, v in (("alpha", 3), ("beta", 0), ("gamma", 0)) for k in range(6)}
    for w, n in product(range(4, 40, 7), range(60)):
        other = max(5, n // 5) - 4
        joined = other if w == 1 else w if other in (1, w) else None
        assert guard(W=w, M=5, N=n, **others) is (joined is not None and 2 * (w // 2) == joined), (w, n)
