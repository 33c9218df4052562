"""What it means that output axes, named by the sizes that meet there, are of one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.broadcasting.laws import Joined, OutputDim
from symbcast.logic.formulas import FALSE, Formula, all_of, any_of, equal

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


def members_of(output: OutputDim) -> tuple[Dim, ...]:
    """Return the sizes whose join an output axis is; one for an axis that is no join."""
    return tuple(output) if isinstance(output, Joined) else (output,)


def same_size(left: OutputDim, right: OutputDim) -> Formula:
    """Return the formula that holds exactly where two output axes are equal, at sizes where both joins are defined.

    Each member of one is 1 or a member of the other. Where the joins are equal to a size other than 1, that size is a
    member of both, and where they are 1, so are all members; the other way round, a member other than 1 is the join of
    its own axis, and as a member of the other axis that one's join too.

    >>> same_size(Joined((2, 3)), 3)
    AnyOf((Comparison('==', 2, 1), Comparison('==', 2, 3)))
    """
    return all_of((*_among(members_of(left), members_of(right)), *_among(members_of(right), members_of(left))))


def _among(members: Sequence[Dim], others: Sequence[Dim]) -> Iterator[Formula]:
    """Yield that each member is 1 or one of the others, for those of which this is not plain."""
    for member in members:
        if member != 1 and member not in others:
            yield any_of([equal(member, 1), *(equal(member, other) for other in others if other != 1)])


def same_output(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    """Return the formula that holds exactly where two outputs are equal, at sizes where all their joins are defined."""
    if len(left) != len(right):
        return FALSE
    return all_of(same_size(a, b) for a, b in zip(left, right, strict=True))
