"""Certificates of programs that divide sizes by sizes: z3 proves them with sizes written as multiples."""

from __future__ import annotations

import re
from itertools import product

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import Effort, Satisfiability, counting
from symbcast.core.programs.certificates import as_multiples, cases_of_join
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f3_linear.z3_solver import Session
from symbcast.core.solver.search import GroupQuestions
from symbcast.core.text import parse_formula


@pytest.mark.parametrize("min_size", [0, 1])
@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ("n, h, w, c", "n, h//p, p, w//p, p, c"),
        ("b, h, w", "b, h//p, w//p, p*p"),
        ("h, w", "h//p, p, w//p, p"),
        ("n, c, h, w", "n, c//g, g, h, w"),
        ("b, n, d", "b, n, h, d//h"),
    ],
)
def test_z3_proves_the_condition_on_patches(shape, target, min_size):
    env = sb.ShapeEnv(min_size=min_size)
    env.reshape(shape, target)
    claims = env.certify().claims
    assert {claim.proof.value for claim in claims} == {"proved"} and len(claims) == 4


FORMULAS = (
    "h*w == p*p*(h//p)*(w//p)",
    "h//p + w % p == h or w // (p + h) == 1",
    "h % p != 0 and (w//p)//h <= 2",
    "max(h//p, 2)*w == h or h % (p*w) == 3",
    "h//h == 1 or h//w != p",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_hold_at_sizes_exactly_if_they_can_as_multiples(text):
    formula = parse_formula(text)
    names = [symbol(n) for n in "hwp"]
    for values in product(range(3), repeat=3):
        sizes = dict(zip(names, values, strict=True))
        rewritten = as_multiples([formula, *(equal(s, size) for s, size in sizes.items())])
        new = [s for s in dict.fromkeys(s for f in rewritten for s in symbols_in(f)) if s not in sizes]
        points = (sizes | dict(zip(new, parts, strict=True)) for parts in product(range(3), repeat=len(new)))
        assert new and holds_at(formula, sizes) == any(holds_at(all_of(rewritten), point) for point in points)


def test_a_reason_quotes_no_empty_formula():
    hard = parse_formula("a*a*b + b*c*c*c == 7*a*b*c + 3 and a*a*a + b*b*b == c*c*c + 33")
    names = tuple(map(symbol, "abc"))
    questions = GroupQuestions(names, {}, [hard], [])
    with counting(Effort(5_000)):
        assert questions.ask([]) is None
    assert questions.reason and not questions.reason.endswith(": True")


def test_claims_about_axes_have_the_numbers_of_the_shape():
    env = sb.ShapeEnv(assume=["M >= 2"])
    shapes = {
        "bias": env.broadcast("A, B, K", "M", origin="bias"),
        "cache": env.broadcast("past, 1, w + 7", "1, N, M", origin="cache"),
    }
    claims = [re.fullmatch(r"axis (\d) of (\w+) is (.+)", c.text) for c in env.certify().claims]
    found = [match.groups() for match in claims if match]
    assert {name for _, name, _ in found} == {*shapes}
    for axis, name, size in found:
        assert str(shapes[name].dims[int(axis)]) == size, (axis, name)


@pytest.mark.parametrize("inner", ["4", "64", "d"])
def test_a_join_that_is_reshaped_is_divided_into_cases(inner):
    env = sb.ShapeEnv(min_size=1)
    hidden = env.broadcast(env.matmul(f"batch, seq, {inner}", f"{inner}, 64"), "m, 1, 64")
    env.reshape(hidden, "batch, -1, 16")
    assert str(env.condition) == "batch == m or batch == 1 or m == 1"
    assert env.certify()


JOINED = [
    "broadcast(N, M) == 2",
    "broadcast(N, M) * K % N == 0",
    "K % broadcast(N, M) != 1 or N == 3",
    "broadcast(N, 3) <= K and (broadcast(N, M) != 2 or M == 0)",
    "K // (broadcast(N - 1, 2*M) - 1) == 2",
]


@pytest.mark.parametrize("text", JOINED)
def test_the_cases_of_a_join_hold_together_where_the_formula_does(text):
    formula = parse_formula(text)
    cases = cases_of_join([formula])
    assert len(cases) == 4
    for point in product(range(6), repeat=3):
        sizes = dict(zip(map(symbol, "NMK"), point, strict=True))
        assert holds_at(formula, sizes) == any(holds_at(all_of(case), sizes) for case in cases), sizes


def test_the_reason_of_an_open_claim_is_whole(monkeypatch):
    names = [f"a_size_with_a_long_name_{n}" for n in range(6)]
    env = sb.ShapeEnv(min_size=1)
    env.broadcast(" + ".join(names), "total")
    assert env.counterexample()
    monkeypatch.setattr(Session, "check", lambda self, formulas=(): Satisfiability.UNKNOWN)
    reasons = [claim.reason for claim in env.certify().claims if claim.reason]
    assert reasons
    assert all("..." not in reason for reason in reasons)
    assert any(all(name in reason for name in names) for reason in reasons)
