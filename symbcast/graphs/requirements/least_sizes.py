"""Find lower bounds of single sizes that a requirement implies."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import Atom, Operation, Term, constant, term
from symbcast.core.logic.formulas import AllOf, Comparison, Formula, at_most

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Dim


def least_sizes(required: Formula, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    """Yield the sizes that a single comparison of a formula bounds from below, with their bounds.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> from symbcast.core.logic.formulas import at_most
    >>> from symbcast.core.text import parse_dim
    >>> list(least_sizes(at_most(1, parse_dim("((N + 2)//8)*M")), Bounds({})))
    [(M, 1), (N, 6)]
    """
    match required:
        case AllOf(parts):
            for part in parts:
                yield from least_sizes(part, bounds)
        case Comparison("==" | "<=" | "<" as operator, left, right):
            room = term(right) - term(left)
            yield from _not_below_0(room - constant(operator == "<"), bounds)
            if operator == "==":
                yield from _not_below_0(-room, bounds)


def positive_sizes(size: Dim, bounds: Bounds, given: Container[Symbol]) -> list[tuple[Symbol, int]]:
    """Return lower bounds of the given sizes where a dimension is not 0."""
    return [(s, least) for s, least in least_sizes(at_most(1, size), bounds) if s in given]


def _not_below_0(value: Term, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    """Yield lower bounds of sizes, given that a term of one monomial plus an optional number is not negative."""
    number = value.constant
    rest = value - constant(number)
    if len(rest.coefficients) != 1:
        return
    ((monomial, factor),) = rest.coefficients.items()
    if factor > 0:
        least = -(number // factor)
        if len(monomial) == 1:
            yield from _at_least(monomial[0], least, bounds)
        elif least >= 1 and all(bounds.is_at_least(atom, 0) for atom in monomial):
            for atom in monomial:  # nonnegative factors whose product is positive are each at least 1
                yield from _at_least(atom, 1, bounds)


def _at_least(atom: Atom, least: int, bounds: Bounds) -> Iterator[tuple[Symbol, int]]:
    if isinstance(atom, Symbol):
        yield atom, least
    elif isinstance(atom, Operation) and atom.kind == "min":
        for arg in atom.args:
            yield from _not_below_0(arg - constant(least), bounds)
    elif isinstance(atom, Operation) and atom.kind == "join":
        for arg in atom.args if least >= 1 else ():  # if any joined size is 0, the join is 0
            yield from _not_below_0(arg - constant(1), bounds)
    elif isinstance(atom, Operation) and atom.kind == "//" and atom.args[1].is_constant and atom.args[1].constant > 0:
        yield from _not_below_0(atom.args[0] - constant(least * atom.args[1].constant), bounds)
