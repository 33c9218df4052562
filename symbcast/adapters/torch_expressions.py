"""Torch's symbolic expressions as terms: sympy with torch's own functions, read by their documented meaning.

Torch writes a quotient as a fraction (``s0/2``) if its guards require that it is exact. It is read as the quotient
rounded down, which is the same wherever the guards hold. ``CeilToInt(IntTrueDiv(a, b))``, from ``math.ceil(a / b)``, is
read as exact division; floating-point division agrees for sizes below 2**53.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import sympy

from symbcast.adapters.torch_operations import OPERATIONS
from symbcast.core.algebra.door import MAX_POWER
from symbcast.core.algebra.operations import operate
from symbcast.core.algebra.terms import Term, collect, constant
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, Operator, all_of, any_of, negate
from symbcast.errors import DimensionError

Leaf: TypeAlias = Callable[[sympy.Symbol], Term]

_ROUNDINGS = ("CeilToInt", "FloorToInt", "TruncToInt", "ceiling", "floor")
_RELATIONS: dict[str, Operator] = {
    "Equality": "==",
    "Unequality": "!=",
    "LessThan": "<=",
    "StrictLessThan": "<",
}


def read_term(expr: Any, leaf: Leaf) -> Term:
    """Return a torch expression as a term; ``leaf`` maps torch's symbols to terms."""
    kind = type(expr).__name__
    if isinstance(expr, sympy.Symbol):
        return leaf(expr)
    if isinstance(expr, sympy.Integer):
        return constant(int(expr))
    if isinstance(expr, (sympy.Add, sympy.Mul)):
        return _read_arithmetic(expr, leaf)
    if isinstance(expr, sympy.Pow) or kind == "PowByNatural":
        return _read_power(expr, leaf)
    if kind in OPERATIONS:
        return operate(OPERATIONS[kind], tuple(read_term(a, leaf) for a in expr.args))
    if kind in _ROUNDINGS:
        return _read_rounding(kind, expr.args[0], leaf)
    if kind == "Identity":
        return read_term(expr.args[0], leaf)
    raise DimensionError(expr, f"torch's {kind} is not part of a dimension")


def _read_arithmetic(expr: Any, leaf: Leaf) -> Term:
    if _has_fraction(expr):
        return _read_quotient(expr, leaf)
    parts = [read_term(a, leaf) for a in expr.args]
    if isinstance(expr, sympy.Add):
        return collect((p, 1) for p in parts)
    product = constant(1)
    for part in parts:
        product = product * part
    return product


def _has_fraction(expr: Any) -> bool:
    factors = [f for a in sympy.Add.make_args(expr) for f in sympy.Mul.make_args(a)]
    return any((f.is_Rational and not f.is_Integer) or (f.is_Pow and f.exp.is_negative) for f in factors)


def _read_quotient(expr: Any, leaf: Leaf) -> Term:
    """Return a quotient, rounded down."""
    if type(expr).__name__ in ("IntTrueDiv", "FloatTrueDiv"):
        numerator, denominator = expr.args
    else:
        numerator, denominator = sympy.fraction(sympy.together(expr))
    return operate("//", (read_term(numerator, leaf), read_term(denominator, leaf)))


def _read_power(expr: Any, leaf: Leaf) -> Term:
    base, exponent = expr.args
    if not (exponent.is_Integer and 0 <= exponent <= MAX_POWER):
        raise DimensionError(expr, f"the exponent {exponent} is not an integer from 0 to {MAX_POWER}")
    product, factor = constant(1), read_term(base, leaf)
    for _ in range(int(exponent)):
        product = product * factor
    return product


def _read_rounding(kind: str, inner: Any, leaf: Leaf) -> Term:
    if kind in ("CeilToInt", "ceiling"):
        return -_read_quotient_of_negated(inner, leaf)
    found = _read_quotient(inner, leaf)
    low = found.lower_bound
    if kind == "TruncToInt" and (low is None or low < 0):
        raise DimensionError(inner, "rounding towards zero is a floor only for a value that is not negative")
    return found


def _read_quotient_of_negated(inner: Any, leaf: Leaf) -> Term:
    if type(inner).__name__ in ("IntTrueDiv", "FloatTrueDiv"):
        numerator, denominator = (read_term(a, leaf) for a in inner.args)
        return operate("//", (-numerator, denominator))
    return _read_quotient(-inner, leaf)


def read_formula(fact: Any, leaf: Leaf) -> Formula:
    """Return one of torch's guards as a formula."""
    if fact in (True, sympy.true):
        return TRUE
    if fact in (False, sympy.false):
        return FALSE
    kind = type(fact).__name__
    if kind in ("GreaterThan", "StrictGreaterThan"):
        return read_formula(fact.reversed, leaf)
    if kind in _RELATIONS:
        left, right = (read_term(a, leaf).dim() for a in fact.args)
        return Comparison(_RELATIONS[kind], left, right)
    parts = [read_formula(a, leaf) for a in fact.args] if kind in ("And", "Or", "Not") else []
    match kind:
        case "And":
            return all_of(parts)
        case "Or":
            return any_of(parts)
        case "Not":
            return negate(parts[0])
        case _:
            raise DimensionError(fact, "is not a comparison of sizes")
