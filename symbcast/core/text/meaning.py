"""What a text means, however it is read: its limits, its comparisons, and the terms that it mentions."""

from __future__ import annotations

from collections.abc import Iterable

from symbcast.core.algebra.terms import Dim, Term
from symbcast.core.logic.formulas import Comparison, Formula

MAX_LENGTH = 20_000
"""The longest text that is read."""
MAX_EXPONENT = 16
MAX_POWER = 256
"""The greatest product of nested exponents."""


def said(dims: Iterable[Dim]) -> frozenset[Term]:
    """Return the symbols in dimensions, and the operations in them that may be undefined."""
    return frozenset[Term]().union(*(_said_by(d) for d in dims if not isinstance(d, int)))


def _said_by(value: Term) -> frozenset[Term]:
    if value.is_total:
        return frozenset(value.symbols())
    partial = [o for o in value.operations() if not o.is_total]
    return frozenset(value.symbols()).union(partial, *(said(o.args) for o in partial))


def compare(operator: str, left: Dim, right: Dim) -> Formula:
    """Return the comparison for an operator in the text."""
    match operator:
        case "==" | "!=" | "<=" | "<":
            return Comparison(operator, left, right)
        case ">=":
            return Comparison("<=", right, left)
        case _:
            return Comparison("<", right, left)
