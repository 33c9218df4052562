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


def solved_for(literal: Formula, symbol: sympy.Symbol) -> Term | None:
    """Return what an equation says that a symbol equals, if that has a value everywhere."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return None
    difference = _difference(literal)
    if difference is None:
        return None
    coefficients = difference.coefficients
    coefficient = coefficients.get((symbol,), 0)
    if abs(coefficient) != 1:
        return None
    rest = Term({monomial: -coefficient * c for monomial, c in coefficients.items() if monomial != (symbol,)})
    return None if symbol in rest.symbols() else rest


@lru_cache(maxsize=1024)
def _difference(equation: Comparison) -> Term | None:
    """Return the left side without the right one, None where one may have no value; asked for each of its symbols."""
    return None if may_be_undefined(equation) else term(equation.left) - term(equation.right)
