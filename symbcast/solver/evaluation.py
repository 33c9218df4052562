"""Dimensions and formulas evaluated at sizes without compiling them: for those that are asked about once or twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from symbcast.algebra.terms import Atom, Kind, Operation, Term, term
from symbcast.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula
from symbcast.logic.formulas import holds as holds_of_sizes
from symbcast.solver.compiler import UndefinedError, join_sizes

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

_OPERATIONS: dict[Kind, Callable[..., int]] = {
    "//": lambda dividend, divisor: dividend // divisor,
    "%": lambda dividend, divisor: dividend % divisor,
    "min": min,
    "max": max,
    "join": join_sizes,
}


def holds_at(formula: Formula, sizes: Mapping[Any, int]) -> bool:
    """Return whether the formula holds at some sizes; a comparison in which something has no value does not.

    >>> from symbcast.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> holds_at(Comparison("<=", 2, N), {N: 3})
    True
    """
    match formula:
        case AllOf(parts):
            return all(holds_at(p, sizes) for p in parts)
        case AnyOf(parts):
            return any(holds_at(p, sizes) for p in parts)
    try:
        return _holds(formula, sizes)
    except (ZeroDivisionError, UndefinedError):
        return False


def _holds(formula: Comparison | Compatible | Clashing, sizes: Mapping[Any, int]) -> bool:
    if isinstance(formula, Comparison):
        left, right = size_at(formula.left, sizes), size_at(formula.right, sizes)
        return holds_of_sizes(Comparison(formula.operator, left, right))
    return holds_of_sizes(type(formula)(tuple(size_at(d, sizes) for d in formula.dims)))


def size_at(dim: Dim, sizes: Mapping[Any, int]) -> int:
    """Return a dimension's value; raise `ZeroDivisionError` or `UndefinedError` where it has none."""
    if isinstance(dim, int):
        return dim
    return sizes[dim] if dim.is_Symbol else _value(term(dim), sizes, {})


def _value(value: Term, sizes: Mapping[Any, int], known: dict[Atom, int]) -> int:
    """Return a term's value; ``known`` are those of the operations that were worked out."""
    total = 0
    for monomial, coefficient in value.coefficients.items():
        product = coefficient
        for atom in monomial:
            product *= _operated(atom, sizes, known) if isinstance(atom, Operation) else sizes[atom]
        total += product
    return total


def _operated(operation: Operation, sizes: Mapping[Any, int], known: dict[Atom, int]) -> int:
    if operation not in known:
        known[operation] = _OPERATIONS[operation.kind](*(_value(arg, sizes, known) for arg in operation.args))
    return known[operation]
