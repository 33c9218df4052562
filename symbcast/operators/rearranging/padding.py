"""Add elements at the ends of axes, or remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add
from symbcast.core.logic.formulas import Formula, all_of, any_of, at_most, equal
from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

MODES = ("constant", "reflect", "edge", "wrap")
NOT_BELOW = "no more elements may be removed from an axis than it has"


class Padding(NamedTuple):
    """An axis and the number of elements added at its ends; a negative number removes elements."""

    size: Dim
    before: Dim
    after: Dim

    @property
    def padded(self) -> Dim:
        """The size of the axis with its padding."""
        return add(self.size, self.before, self.after)

    @property
    def stays(self) -> Formula:
        """The condition under which the padding adds and removes nothing."""
        return all_of([equal(self.before, 0), equal(self.after, 0)])


def pad(context: Context, paddings: Sequence[Padding], mode: str) -> Dims:
    """Return the sizes padded with one number, or with the axis's elements reflected, repeated at the edge or wrapped.

    Removed elements must exist, and so must the elements used as padding.
    """
    for padding in paddings:
        context.at_most(0, padding.padded, NOT_BELOW)
    for padding in paddings:
        if mode == "constant":
            context.at_most(0, kept(context, padding), NOT_BELOW)
        else:
            require_elements(context, any_of([padding.stays, has_elements(context, mode, padding)]), mode)
    return tuple(p.padded for p in paddings)


def kept(context: Context, padding: Padding) -> Dim:
    """Return the size of an axis after elements are removed and before any are added."""
    smaller = context.bounds.smaller
    return add(padding.size, smaller(padding.before, 0), smaller(padding.after, 0))


def has_elements(context: Context, mode: str, padding: Padding) -> Formula:
    """Return the condition that an axis has the elements that its padding repeats."""
    left = kept(context, padding)
    if mode != "reflect":
        return at_most(1, left)
    return all_of([at_most(add(n, 1), left) for n in dict.fromkeys((0, padding.before, padding.after))])


def require_elements(context: Context, formula: Formula, mode: str) -> None:
    """Require that an axis have the elements that its padding repeats."""
    reason = "an axis must have the elements that its padding repeats"
    if mode == "reflect":
        reason = "an axis must be longer than its padding, which reflects it"
    context.require(formula, reason)


def ends_of(
    context: Context, given: int | tuple[int | tuple[int, int], ...], rank: int, name: str
) -> list[tuple[int, int]]:
    """Return the padding before and after each axis, given as one number, or as a number or a pair for each axis."""
    if isinstance(given, int):
        return [(given, given)] * rank
    if len(given) != rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        context.refuse(f"{name} has {len(given)} entries for {axes}; write one number, or one or a pair for each axis")
    return [(e, e) if isinstance(e, int) else e for e in given]
