"""What a condition means at some sizes, worked out from its terms alone: the oracle for guards."""

from __future__ import annotations

from math import prod

from symbcast.core.algebra.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, holds
from symbcast.core.algebra.terms import Operation, term


class NoValueError(ArithmeticError):
    """A join of sizes that clash, or of what is no size."""


def meaning(formula, sizes):
    """Return whether a formula holds at sizes by symbol; a comparison with a term without a value is false."""
    match formula:
        case AllOf(parts):
            return all(meaning(p, sizes) for p in parts)
        case AnyOf(parts):
            return any(meaning(p, sizes) for p in parts)
    try:
        match formula:
            case Comparison(operator, left, right):
                return holds(Comparison(operator, value(term(left), sizes), value(term(right), sizes)))
            case Compatible(dims) | Clashing(dims):
                return holds(type(formula)(tuple(value(term(d), sizes) for d in dims)))
    except ArithmeticError:
        return False


def value(polynomial, sizes):
    """Return a term's value; raise `ArithmeticError` where it has none."""
    return sum(c * prod(_atom(a, sizes) for a in m) for m, c in polynomial.coefficients.items())


def _atom(atom, sizes):
    if not isinstance(atom, Operation):
        return sizes[atom]
    args = [value(a, sizes) for a in atom.args]
    match atom.kind:
        case "//":
            return args[0] // args[1]
        case "%":
            return args[0] % args[1]
        case "min":
            return min(args)
        case "max":
            return max(args)
    others = {a for a in args if a != 1}
    if len(others) > 1 or min(args) < 0:
        raise NoValueError
    return others.pop() if others else 1


def table(condition, names, points):
    """Return whether a condition holds at each point, sizes in the order of ``names``."""
    return [min(p, default=0) >= 0 and meaning(condition, dict(zip(names, p, strict=True))) for p in points]
