"""Which guards torch can prove from a `Dim`: it knows the interval of each size, and nothing about sizes that differ.

Torch accepts a `Dim` only if each guard holds for all of its values, by interval arithmetic that treats every
occurrence of a size as independent. It proves ``1 + (H - 1)//32 != 1`` from ``H >= 33``, but not ``H//2 <= H``.
"""

from __future__ import annotations

from typing import TypeAlias

from symbcast.core.algebra.operations import Substitution
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import Atom, Operation, Term, term
from symbcast.core.logic.formulas import AllOf, Comparison, Formula

Interval: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest value; None if there is no bound."""
_ALL: Interval = (None, None)


def is_provable(formula: Formula, written: dict[Symbol, Term], most: dict[Symbol, int]) -> bool:
    """Return whether torch proves a guard where sizes are written as other terms; ``most`` bounds their symbols.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> H, h = symbol("H"), symbol("h")
    >>> is_provable(parse_formula("H//2 <= H"), {H: term(h) + term(33)}, {})
    False
    >>> is_provable(parse_formula("H//2 <= H"), {H: term(h).scaled(2)}, {})
    True
    """
    match formula:
        case AllOf(parts):
            return all(is_provable(part, written, most) for part in parts)
        case Comparison(operator, left, right):
            sides = [Substitution(written, of_symbols=True).term(term(d)) for d in (left, right)]
            return _holds(operator, sides[0], sides[1], most)
        case _:
            return False


def _holds(operator: str, left: Term, right: Term, most: dict[Symbol, int]) -> bool:
    difference = right - left
    low, high = _interval(difference, most)
    if operator == "==":
        return low == high == 0
    if operator == "!=":
        return (low is not None and low >= 1) or (high is not None and high <= -1)
    return low is not None and low >= (1 if operator == "<" else 0)


def _interval(value: Term, most: dict[Symbol, int]) -> Interval:
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in value.coefficients.items():
        least, greatest = _product([_atom(a, most) for a in monomial])
        ends = (least, greatest) if coefficient >= 0 else (greatest, least)
        low = None if low is None or ends[0] is None else low + coefficient * ends[0]
        high = None if high is None or ends[1] is None else high + coefficient * ends[1]
    return low, high


def _product(intervals: list[Interval]) -> Interval:
    low = 1
    high: int | None = 1
    for least, greatest in intervals:
        if least is None or least < 0:
            return _ALL if len(intervals) > 1 else (least, greatest)
        low, high = low * least, None if high is None or greatest is None else high * greatest
    return low, high


def _atom(atom: Atom, most: dict[Symbol, int]) -> Interval:
    if isinstance(atom, Symbol):
        return 0, most.get(atom)
    if not isinstance(atom, Operation):
        return _ALL
    args = [_interval(a, most) for a in atom.args]
    if atom.kind in ("min", "max"):
        return _extreme(atom.kind, args)
    if atom.kind not in ("//", "%") or not atom.args[1].is_constant or atom.args[1].constant < 1:
        return _ALL
    by, (low, high) = atom.args[1].constant, args[0]
    if atom.kind == "%":
        return 0, by - 1
    return None if low is None else low // by, None if high is None else high // by


def _extreme(kind: str, args: list[Interval]) -> Interval:
    choose = min if kind == "min" else max
    known = [[end for end in ends if end is not None] for ends in zip(*args, strict=True)]
    lows, highs = known
    if kind == "min":
        return (choose(lows) if len(lows) == len(args) else None), (choose(highs) if highs else None)
    return (choose(lows) if lows else None), (choose(highs) if len(highs) == len(args) else None)
