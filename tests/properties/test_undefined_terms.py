"""Conditions whose terms have no value at some sizes: false there, and their negations true."""

from __future__ import annotations

from itertools import product

import pytest
import undefined_terms

import symbcast as sb
from symbcast.core.algebra.formulas import needs, negate, where_possible
from symbcast.core.solver.evaluation import holds_at, in_normal_form
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
