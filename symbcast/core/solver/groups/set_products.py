"""Disjunctions over several symbols that constrain each one separately: a product of sets, split by symbol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.logic.formulas import AllOf, AnyOf, Formula
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.congruences import PeriodTooLongError
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import NotPeriodicError, solve

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol

    Box: TypeAlias = dict[Symbol, SizeSet]
    """A set for each of some symbols: the product of these."""

_MOST_BOXES = 64


class _NoBoxesError(Exception):
    """The formula has a part that ties symbols together, or too many cases."""


def split(clause: Formula, domains: Mapping[Symbol, SizeSet]) -> dict[Symbol, SizeSet] | None:
    """Return the set that a disjunction requires for each symbol, if the clause requires nothing else.

    None if it requires more, or if a part of it is about several symbols at once.
    """
    if not isinstance(clause, AnyOf) or not _of_one_symbol_each(clause):
        return None
    symbols = symbols_in(clause)
    whole = {s: domains[s] for s in symbols}
    try:
        boxes = [{s: whole[s] & box.get(s, whole[s]) for s in symbols} for box in _boxes(clause)]
        boxes = [box for box in boxes if all(box.values())]
        found = {s: SizeSet.union(box[s] for box in boxes) for s in symbols}
        return found if _is_covered(found, boxes) else None
    except (NotPeriodicError, PeriodTooLongError, _NoBoxesError):
        return None


def _of_one_symbol_each(formula: Formula) -> bool:
    """Return whether every comparison and join in a formula is about one symbol."""
    if isinstance(formula, (AllOf, AnyOf)):
        return all(map(_of_one_symbol_each, formula.parts))
    return len(symbols_in(formula)) == 1


def _boxes(formula: Formula) -> list[Box]:
    """Return products of sets whose union is the set of sizes at which the formula holds."""
    symbols = symbols_in(formula)
    if len(symbols) == 1:
        return [{s: solve(formula) for s in symbols}]
    assert isinstance(formula, (AllOf, AnyOf))
    if isinstance(formula, AnyOf):
        found = [box for part in formula.parts for box in _boxes(part)]
    else:
        found = [{}]
        for part in formula.parts:
            found = [_both(left, right) for left in found for right in _boxes(part)]
    if len(found) > _MOST_BOXES:
        raise _NoBoxesError
    return found


def _both(left: Box, right: Box) -> Box:
    return left | {s: sizes & left[s] if s in left else sizes for s, sizes in right.items()}


def _is_covered(whole: Box, boxes: list[Box]) -> bool:
    """Return whether boxes, all of them in ``whole``, cover it completely."""
    remaining = [whole]
    for box in boxes:
        remaining = [piece for rest in remaining for piece in _without(rest, box)]
        if len(remaining) > _MOST_BOXES:
            raise _NoBoxesError
    return not any(all(piece.values()) for piece in remaining)


def _without(whole: Box, box: Box) -> list[Box]:
    """Return disjoint products of sets whose union is the difference of two products."""
    found: list[Box] = []
    inside = dict(whole)
    for symbol, sizes in whole.items():
        outside = sizes - box[symbol]
        if outside:
            found.append(inside | {symbol: outside})
        inside[symbol] = sizes & box[symbol]
        if not inside[symbol]:
            break
    return found
