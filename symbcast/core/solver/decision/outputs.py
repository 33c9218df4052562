"""The size of an output axis: the join of its members, as far as the facts collapse it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import join
from symbcast.core.algebra.operations import without_joins_with_one
from symbcast.core.algebra.terms import term

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.decision.decision import Decision

COMPARED_UP_TO = 64
"""Joins of more members are not searched for members that another covers: that takes a question for each pair."""


def collapse(members: Iterable[Dim], decision: Decision) -> Dim:
    """Return the size of an axis wherever the condition holds; a plain dimension if the facts decide it."""
    sizes = (without_joins_with_one(term(decision.fixed(member))).dim() for member in members)
    kept = list(dict.fromkeys(size for size in sizes if size != 1))
    number = next((d for d in kept if isinstance(d, int)), None)
    if number is not None:
        return number
    if len(kept) < 2:
        return kept[0] if kept else 1
    if len(kept) <= COMPARED_UP_TO:
        kept = _uncovered(kept, decision)
    return join(kept)


def _uncovered(members: list[Dim], decision: Decision) -> list[Dim]:
    """Drop members that are 1 or equal to another one, starting from the end, so that the first name is kept."""
    kept = list(members)
    for member in reversed(members):
        others = [m for m in kept if m is not member]
        if any(decision.covers(member, other) for other in others):
            kept = others
    return kept
