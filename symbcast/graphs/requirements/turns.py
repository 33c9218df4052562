"""Decide whether a requirement that holds in a loop's first and last iterations also holds in all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply, replaced, subtract
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol


def is_convex(formula: Formula, turn: Symbol) -> bool:
    """Return whether a formula that holds at two iteration numbers also holds at all numbers between them.

    This is true of a comparison that is linear in the number, and of a disjunction with the number in only one part,
    because the other parts hold in all iterations or in none.

    >>> from symbcast.core.algebra.arithmetic import modulo
    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.logic.formulas import any_of, at_most, equal
    >>> n, turn = symbol("N"), symbol("turn")
    >>> is_convex(any_of([at_most(turn, n), equal(n, 2)]), turn), is_convex(equal(modulo(turn, n), 0), turn)
    (True, False)
    """
    if turn not in symbols_in(formula):
        return True
    match formula:
        case Comparison("<=" | "<" | "==", left, right):
            difference = subtract(right, left)
            first = replaced(difference, {turn: 0})
            slope = subtract(replaced(difference, {turn: 1}), first)
            return add(first, multiply(slope, turn)) == difference
        case AllOf(parts):
            return all(is_convex(part, turn) for part in parts)
        case AnyOf(parts):
            speaking = [part for part in parts if turn in symbols_in(part)]
            return len(speaking) == 1 and is_convex(speaking[0], turn)
    return False
