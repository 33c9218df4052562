"""Alignment of shapes of unknown rank with others: as many axes of their sequences are named as the others reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.algebra.sequences import axis_of, is_sequence, rank_of, without_last
from symbcast.core.algebra.terms import term
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, holds

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Dims: TypeAlias = "Sequence[Dim]"


def expanded_at_right(shapes: Sequence[Dims], limit: int | None = None) -> list[Dims] | None:
    """Return shapes aligned at the right, those of unknown rank with all axes named that must be distinguished.

    Their number is that of the axes in the longest known end. In front of them, a sequence stands for its other axes,
    unless no shape has more axes than ``limit``. A sequence with sizes before it is not expanded: it can only be
    aligned with the same sequence. None if it is not.
    """
    places = [place_of(s) for s in shapes]
    if any(places):
        opened = [(p, len(s), s[p]) for p, s in zip(places, shapes, strict=True) if p is not None]
        behind = opened[0][1] - opened[0][0] - 1
        others = [len(s) for p, s in zip(places, shapes, strict=True) if p is None]
        return list(shapes) if len(set(opened)) == 1 and max(others, default=0) <= behind else None
    known = max(len(s) - (p is not None) for p, s in zip(places, shapes, strict=True))
    reach = known if limit is None else limit
    return [expanded_to(s, reach, limit is None) for s in shapes]


def expanded_to(shape: Dims, reach: int, is_kept: bool = False) -> Dims:
    """Return a shape of ``reach`` axes by naming axes of its sequence; unchanged if it has that many already.

    The rest of the sequence stays in front of them if it is kept.
    """
    place = place_of(shape)
    if place is None:
        return shape
    before, sequence, behind = shape[:place], shape[place], shape[place + 1 :]
    named = max(0, reach - len(before) - len(behind))
    rest = (without_last(sequence, named),) if is_kept else ()
    return (*before, *rest, *(axis_of(sequence, n) for n in range(named, 0, -1)), *behind)


def place_of(shape: Dims) -> int | None:
    """Return the position of the sequence in a shape, None for a shape of known rank."""
    return next((n for n, dim in enumerate(shape) if is_sequence(dim)), None)


def rank_of_shape(shape: Dims) -> Dim:
    """Return the rank of a shape: a number, or a number plus the rank of its sequence."""
    place = place_of(shape)
    return len(shape) if place is None else add(rank_of(shape[place]), len(shape) - 1)


def settled(formula: Formula) -> Formula:
    """Return a comparison of ranks, replaced by true or false if that is its value at all ranks."""
    if not isinstance(formula, Comparison):
        return formula
    apart = subtract(formula.right, formula.left)
    if isinstance(apart, int):
        return TRUE if holds(Comparison(formula.operator, 0, apart)) else FALSE
    least = term(apart).lower_bound
    return TRUE if formula.operator == "<=" and least is not None and least >= 0 else formula


def known_rank(shape: Dims) -> int | None:
    """Return the rank of a shape, None if it has a sequence."""
    return len(shape) if place_of(shape) is None else None


def reaches(base: Dims, other: Dims, count: int) -> bool:
    """Return whether a sequence is among the first ``count`` axes of a base, or in the other shape."""
    place = place_of(base)
    return place_of(other) is not None or (place is not None and place < count)
