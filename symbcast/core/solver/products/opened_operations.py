"""Comparisons rewritten so that a size is moved out of ``min``, ``max`` and quotients and can be eliminated."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import Operation, Term, constant, term
from symbcast.core.logic.formulas import Comparison, Formula, all_of, any_of, at_most

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


def opened(found: Comparison, sizes: Container[Symbol]) -> Formula:
    """Return an equivalent formula in which the given sizes occur in fewer operations.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_dim
    >>> opened(at_most(7, parse_dim("min(N, e)")), {symbol("e")})
    AllOf((Comparison('<=', 0, N - 7), Comparison('<=', 0, e - 7)))
    >>> opened(at_most(parse_dim("e//2"), parse_dim("N")), {symbol("e")})
    Comparison('<=', 0, 2*N + 1 - e)
    """
    room = term(found.right) - term(found.left)
    operation = _outermost(room, sizes)
    if operation is None:
        return found
    if found.operator == "==":
        return all_of([_opened(room, operation, sizes), _opened(-room, operation, sizes)])
    if found.operator == "!=":
        less, more = room - constant(1), -room - constant(1)
        return any_of([_opened(less, operation, sizes), _opened(more, operation, sizes)])
    return _opened(room - constant(found.operator == "<"), operation, sizes)


def _outermost(room: Term, sizes: Container[Symbol]) -> Operation | None:
    """Return an operation that contains one of the sizes, has a summand to itself, and can be opened."""
    for monomial, factor in room.coefficients.items():
        if len(monomial) == 1 and isinstance(monomial[0], Operation) and any(s in sizes for s in monomial[0].symbols()):
            operation = monomial[0]
            if operation.kind in ("min", "max") or (operation.kind == "//" and _is_whole(operation, factor)):
                return operation
    return None


def _is_whole(quotient: Operation, factor: int) -> bool:
    divisor = quotient.args[1]
    return abs(factor) == 1 and divisor.is_constant and divisor.constant > 0


def _opened(room: Term, operation: Operation, sizes: Container[Symbol]) -> Formula:
    """Return a formula stating that a term in which an operation is added or subtracted is at least 0."""
    factor = room.coefficients[operation,]
    rest = room - operation.scaled(factor)
    if operation.kind == "//":
        # n <= x//k where k*n <= x, and x//k <= n where x < k*(n + 1), because n is an integer.
        inside, by = operation.args[0], operation.args[1].constant
        made = rest.scaled(by) + (inside if factor > 0 else constant(by - 1) - inside)
        return opened(at_most(0, made.dim()), sizes)
    each = (opened(at_most(0, (rest + arg.scaled(factor)).dim()), sizes) for arg in operation.args)
    return all_of(each) if (operation.kind == "min") == (factor > 0) else any_of(each)
