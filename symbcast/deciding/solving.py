"""Equations solved for a symbol that stands in them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.deciding.compiled import may_be_undefined
from symbcast.formulas import Comparison, Formula
from symbcast.reading import term
from symbcast.terms import Term, as_term

if TYPE_CHECKING:
    import sympy


def solved_for(literal: Formula, symbol: sympy.Symbol) -> Term | None:
    """Return what an equation says that a symbol equals, if that has a value everywhere."""
    if not isinstance(literal, Comparison) or literal.operator != "==" or may_be_undefined(literal):
        return None
    difference = term(literal.left) - term(literal.right)
    coefficient = difference.coefficients.get((symbol,), 0)
    if abs(coefficient) != 1:
        return None
    rest = (difference - as_term(symbol).scaled(coefficient)).scaled(-coefficient)
    return None if symbol in rest.symbols() else rest
