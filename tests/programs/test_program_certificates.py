"""Certificates of programs that divide sizes by sizes: z3 proves them with sizes written as multiples."""

from __future__ import annotations

import re
from itertools import product

import pytest

import symbcast as sb
from symbcast.core.algebra.formulas import all_of, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import Effort, counting
from symbcast.core.programs.certificates import as_multiples
from symbcast.core.solver.evaluation import holds_at, symbols_in
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
