"""Equations solved for a symbol that stands in them alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.deciding.compiled import may_be_undefined
from symbcast.formulas import Comparison, Formula
from symbcast.reading import term
from symbcast.terms import Term

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim


def solved_for(literal: Formula, symbol: sympy.Symbol) -> Term | None:
    """Return what an equation says that a symbol equals, if that has a value everywhere."""
    if not isinstance(literal, Comparison) or literal.operator != "==" or may_be_undefined(literal):
        return None
    difference = _difference(literal.left, literal.right).coefficients
    coefficient = difference.get((symbol,), 0)
    if abs(coefficient) != 1:
        return None
    rest = Term({monomial: -coefficient * c for monomial, c in difference.items() if monomial != (symbol,)})
    return None if symbol in rest.symbols() else rest


@lru_cache(maxsize=1024)
def _difference(left: Dim, right: Dim) -> Term:
    # The same equation is solved for each of its symbols in turn.
    return term(left) - term(right)
