"""Disjunctions over several symbols that constrain each one separately: a product of sets, split by symbol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.terms import Operation, term
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, expand
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.groups.product_boxes import boxes_of_equal
from symbcast.core.solver.sets.congruences import PeriodTooLongError
from symbcast.core.solver.sets.piecewise import NotPeriodicError
from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.solver.sets.univariate import solve

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

    Box: TypeAlias = dict[Symbol, SizeSet]
    """A set for each of some symbols: the product of these."""

_MOST_BOXES = 64
_BOX = 5
"""Units for one product of sets, as measured."""


class _NoBoxesError(Exception):
    """The formula has a part that ties symbols together, or too many cases."""


def split(clause: Formula, domains: Mapping[Symbol, SizeSet]) -> dict[Symbol, SizeSet] | None:
    """Return the set that a clause requires for each symbol, if it requires nothing else.

    None if it requires more, or if a part of it is about several symbols at once and not an equality of products.
    """
    boxes = boxes_of(clause, domains)
    if boxes is None:
        return None
    try:
        found = {s: SizeSet.union(box[s] for box in boxes) for s in symbols_in(clause)}
        return found if _is_covered(found, boxes) else None
    except (PeriodTooLongError, _NoBoxesError):
        return None


def boxes_of(clause: Formula, domains: Mapping[Symbol, SizeSet]) -> list[Box] | None:
    """Return products of sets, within the domains, whose union is where a clause about several symbols holds.

    None if a part of it ties symbols together in another way.
    """
    match clause:
        case AnyOf():
            pass
        case Comparison("==", left, right) | Compatible((left, right)) if _multiply(left, right):
            pass
        case _:
            return None
    if not _may_be_boxes(clause):
        return None
    symbols = symbols_in(clause)
    whole = {s: domains[s] for s in symbols}
    try:
        boxes = [{s: whole[s] & box.get(s, whole[s]) for s in symbols} for box in _boxes(clause, domains)]
        return [box for box in boxes if all(box.values())]
    except (NotPeriodicError, PeriodTooLongError, _NoBoxesError):
        return None


def _may_be_boxes(formula: Formula) -> bool:
    """Return whether every comparison and join in a formula is about one symbol, or compares products in two."""
    match formula:
        case AllOf(parts) | AnyOf(parts):
            return all(map(_may_be_boxes, parts))
        case Comparison("==", left, right) | Compatible((left, right)) if _multiply(left, right):
            count = len(symbols_in(formula))
            return count == 1 or (count == 2 and _are_products(left, right))
    return len(symbols_in(formula)) == 1


def _multiply(*dims: Dim) -> bool:
    """Return whether one of some dimensions has a product in it."""
    return any(not isinstance(d, int) and any(len(m) > 1 for m in d.coefficients) for d in dims)


def _are_products(left: Dim, right: Dim) -> bool:
    """Return whether two dimensions are products, at least one of them in two symbols with an operation in one."""
    values = [term(left), term(right)]
    atoms = [atom for v in values for monomial in v.coefficients for atom in monomial]
    return any(isinstance(a, Operation) for a in atoms) and all(len(a.symbols()) == 1 for a in atoms)


def _boxes(formula: Formula, domains: Mapping[Symbol, SizeSet]) -> list[Box]:
    """Return products of sets whose union is the set of sizes at which the formula holds."""
    symbols = symbols_in(formula)
    if len(symbols) == 1:
        return [{s: solve(formula) for s in symbols}]
    found: list[Box] = []
    match formula:
        case AnyOf(parts):
            for part in parts:
                found += _boxes(part, domains)
                _count(found)
        case AllOf(parts):
            found = [{}]
            for part in parts:
                each, before, found = _boxes(part, domains), found, []
                for left in before:
                    found += [_both(left, right) for right in each]
                    _count(found)
        case Compatible() | Clashing():
            return _boxes(expand(formula), domains)
        case Comparison():
            boxes = boxes_of_equal(formula, domains)
            if boxes is None:
                raise _NoBoxesError
            found = boxes
    _count(found)
    return found


def _count(boxes: list[Box]) -> None:
    """Charge for boxes, and refuse too many at once: a nested disjunction may multiply them without end."""
    charge(_BOX * len(boxes))
    if len(boxes) > _MOST_BOXES:
        raise _NoBoxesError


def _both(left: Box, right: Box) -> Box:
    return left | {s: sizes & left[s] if s in left else sizes for s, sizes in right.items()}


def _is_covered(whole: Box, boxes: list[Box]) -> bool:
    """Return whether boxes, all of them in ``whole``, cover it completely."""
    remaining = [whole]
    for box in boxes:
        remaining = [piece for rest in remaining for piece in _without(rest, box)]
        _count(remaining)
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
