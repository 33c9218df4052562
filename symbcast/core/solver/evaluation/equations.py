"""Equations solved for a symbol that is isolated in them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import Operation, Term, term
from symbcast.core.logic.formulas import Comparison, Formula
from symbcast.core.solver.evaluation.evaluation import may_be_undefined

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


def solved_for(literal: Formula, symbol: Symbol, *, is_defined: bool = False) -> Term | None:
    """Return the value that an equation gives a symbol, if it is defined everywhere, or ``is_defined`` by others."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return None
    if not is_defined and may_be_undefined(literal):
        return None
    coefficients = _difference(literal).coefficients
    coefficient = coefficients.get((symbol,), 0)
    if abs(coefficient) != 1:
        return None
    others = {monomial: -coefficient * c for monomial, c in coefficients.items()}
    del others[(symbol,)]
    rest = Term(others)
    return None if not _is_plain(literal) and symbol in rest.symbols() else rest


def can_fall_below_0(literal: Formula, symbol: Symbol) -> bool:
    """Return whether an equation may clearly give a symbol a negative value, because it subtracts another symbol."""
    if not isinstance(literal, Comparison) or literal.operator != "==":
        return False
    coefficient = _difference(literal).coefficients.get((symbol,), 0)
    return coefficient != 0 and _signs(literal)[coefficient > 0] > 1


@lru_cache(maxsize=1024)
def _signs(equation: Comparison) -> tuple[int, int]:
    """Return the number of symbols that an equation subtracts and adds."""
    signs = [
        c > 0 for m, c in _difference(equation).coefficients.items() if len(m) == 1 and not isinstance(m[0], Operation)
    ]
    return signs.count(False), signs.count(True)


@lru_cache(maxsize=1024)
def _is_plain(equation: Comparison) -> bool:
    """Return whether an equation has neither products nor operations, so that each symbol occurs only once."""
    return all(len(m) <= 1 and not any(isinstance(a, Operation) for a in m) for m in _difference(equation).coefficients)


@lru_cache(maxsize=1024)
def _difference(equation: Comparison) -> Term:
    """Return the left side minus the right side; called for each of its symbols."""
    return term(equation.left) - term(equation.right)
