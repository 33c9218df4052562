"""Sizes that are all different, which z3 can only refute by trying every order.

Pairs ``a != b`` form a graph; the members of a clique in it are all different. So they need as many sizes as the clique
has members (Hall's theorem; over intervals, assign the first free size to the interval that ends first, Glover 1967),
and their sum is at least that of the first free sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.logic.formulas import AllOf, Comparison, Formula
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.solver.sets.univariate import narrow

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

_CLIQUES_AT_MOST = 20
_PAIRS_AT_LEAST = 3


class Crowd(NamedTuple):
    """Symbols that are all different, and the least sum that they can have; None if there are too few sizes."""

    symbols: list[Symbol]
    least_sum: int | None


def crowds(formulas: Iterable[Formula]) -> list[Crowd]:
    """Return the groups of symbols that formulas make all different, with the bounds of each symbol.

    >>> from symbcast.core.text import parse_formula
    >>> crowds([parse_formula(t) for t in ("a != b", "b != c", "a != c", "a < 2", "b < 2", "c < 2")])
    [Crowd(symbols=[a, b, c], least_sum=None)]
    """
    conjuncts = [c for f in formulas for c in (f.parts if isinstance(f, AllOf) else (f,))]
    found = cliques(conjuncts)
    if not found:
        return []
    domains = {s: ALL for members in found for s in members}
    for formula in conjuncts:
        symbols = symbols_in(formula)
        if len(symbols) == 1:
            (symbol,) = symbols
            if symbol in domains:
                domains[symbol] = narrow(domains[symbol], formula) or domains[symbol]
    return [Crowd(members, least_sum([domains[s] for s in members])) for members in found]


def cliques(formulas: Iterable[Formula]) -> list[list[Symbol]]:
    """Return cliques of at least three symbols that all differ; together they cover the pairs."""
    others = _others(formulas)
    if sum(map(len, others.values())) < 2 * _PAIRS_AT_LEAST:
        return []
    found: list[list[Symbol]] = []
    covered: set[tuple[Symbol, Symbol]] = set()
    for one, neighbours in others.items():
        for other in neighbours:
            if (one, other) in covered or len(found) >= _CLIQUES_AT_MOST:
                continue
            grown = [one, other]
            for s in neighbours:
                if all(s in others[m] for m in grown):
                    grown.append(s)
            covered.update((a, b) for a in grown for b in grown)
            if len(grown) > 2:
                found.append(grown)
    return found


def _others(formulas: Iterable[Formula]) -> dict[Symbol, dict[Symbol, None]]:
    """Return, for each symbol, the symbols that must differ from it."""
    others: dict[Any, dict[Any, None]] = {}
    for formula in formulas:
        if not isinstance(formula, Comparison) or formula.operator != "!=":
            continue
        left, right = formula.left, formula.right
        if isinstance(left, int) or isinstance(right, int) or not (left.is_Symbol and right.is_Symbol):
            continue
        others.setdefault(left, {})[right] = None
        others.setdefault(right, {})[left] = None
    return others


def least_sum(domains: Sequence[SizeSet]) -> int | None:
    """Return the least sum of different integers within some intervals; None if there are too few integers.

    >>> least_sum([SizeSet.interval(0, 6)] * 7), least_sum([SizeSet.interval(0, 6)] * 8)
    (21, None)
    """
    starts = sorted((((d.least() or 0), d.greatest) for d in domains if d), key=lambda ends: ends[0])
    if len(starts) < len(domains):
        return None
    total, size, position = 0, 0, 0
    waiting: list[float] = []  # the upper ends of the intervals that have begun
    while position < len(starts) or waiting:
        if not waiting:
            size = max(size, starts[position][0])
        while position < len(starts) and starts[position][0] <= size:
            end = starts[position][1]
            heappush(waiting, float("inf") if end is None else end)
            position += 1
        if heappop(waiting) < size:
            return None
        total += size
        size += 1
    return total
