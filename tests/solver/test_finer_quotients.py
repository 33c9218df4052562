"""A quotient is a multiple of a coarser one where the remainder is small: by brute force."""

from __future__ import annotations

import itertools

import pytest

from symbcast.core.algebra.formulas import clauses
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f4_products.propagation import propagated
from symbcast.core.text import parse_formula

H, W = symbol("H"), symbol("W")


@pytest.mark.parametrize(("fine", "coarse", "most"), list(itertools.product([2, 3, 4], [4, 6, 8, 12], [0, 1, 2, 3, 5])))
def test_written_by_the_coarser_quotient_the_formula_is_the_same(fine, coarse, most):
    known = [parse_formula(f"H % {coarse} <= {most}")]
    asked = list(
        clauses(parse_formula(f"W*(H//{coarse}) % (W*(H//{fine})) == 0 and (H//{coarse})*W <= 40*(H//{fine})"))
    )
    made = propagated(asked, {H: coarse, W: 1}, known)
    for height, width in itertools.product(range(coarse, 3 * coarse + 2), range(1, 9)):
        sizes = {H: height, W: width}
        if holds_at(known[0], sizes):
            assert all(holds_at(f, sizes) for f in asked) == all(holds_at(f, sizes) for f in made)


def test_the_quotients_of_a_hierarchical_encoder_cancel():
    known = [parse_formula("H % 32 <= 3"), parse_formula("W % 32 == 0")]
    asked = [parse_formula("64*b*(H//32)*(W//32) % ((H//4)*(W//4)) == 0")]
    assert propagated(asked, {H: 32, W: 32, symbol("b"): 1}, known) == []
