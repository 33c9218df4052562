"""When output axes, given by the sizes that meet there, have the same size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, maximum
from symbcast.core.algebra.sequences import axis_of, is_sequence, rank_of, without_last
from symbcast.core.broadcasting.laws import Joined, OutputDim
from symbcast.core.logic.formulas import FALSE, TRUE, Formula, all_of, any_of, equal
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def members_of(output: OutputDim) -> tuple[Dim, ...]:
    """Return the sizes whose join an output axis is; an axis that is not a join is its only member."""
    return tuple(output) if isinstance(output, Joined) else (output,)


def same_size(left: OutputDim, right: OutputDim) -> Formula:
    """Return the formula that holds exactly where two output axes are equal, at sizes where both joins are defined.

    Each member of one is 1 or a member of the other. If the joins are equal to a size other than 1, that size is a
    member of both; if they are 1, so are all members. Conversely, a member other than 1 is the join of its own axis,
    and also that of the other axis, as it is a member there.

    >>> same_size(Joined((2, 3)), 3)
    AnyOf((Comparison('==', 2, 1), Comparison('==', 2, 3)))
    """
    return all_of((*_among(members_of(left), members_of(right)), *_among(members_of(right), members_of(left))))


def _among(members: Sequence[Dim], others: Sequence[Dim]) -> Iterator[Formula]:
    """Yield the formulas that each member is 1 or one of the others, except where this is obvious."""
    for member in members:
        if member != 1 and member not in others:
            yield any_of([equal(member, 1), *(equal(member, other) for other in others if other != 1)])


def same_output(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    """Return the formula that holds exactly where two outputs are equal, at sizes where all their joins are defined."""
    if len(left) != len(right):
        return FALSE
    return all_of(same_size(a, b) for a, b in zip(left, right, strict=True))


def same_open_output(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    """Return the formula of `same_output` for outputs that may start with a sequence of axes; ranks must be equal too.

    Raises `UnknownRankError` if sizes precede a sequence.

    >>> from symbcast.core.algebra.sequences import AxisSequence
    >>> a = AxisSequence("a")
    >>> same_open_output((a.rest(), 3), (3,))
    AllOf((Comparison('==', rank(a) + 1, 1), Comparison('==', *a, 1)))
    """
    for output in (left, right):
        if any(map(_is_open, output[1:])):
            raise UnknownRankError("equivalent, where sizes precede a sequence", "an output")
    reach = max(sum(not _is_open(dim) for dim in output) for output in (left, right))
    (here, ours), (there, theirs) = _opened(left, reach), _opened(right, reach)
    return all_of((_same_rank(left, right), same_size(here, there), *map(same_size, ours, theirs)))


def open_axes(output: Sequence[OutputDim]) -> int | None:
    """Return the number of output axes that represent several axes; None if these do not come first."""
    found = list(map(_is_open, output))
    return None if any(found[1:]) else sum(found)


def _is_open(dim: OutputDim) -> bool:
    return any(map(is_sequence, members_of(dim)))


def _opened(output: Sequence[OutputDim], reach: int) -> tuple[OutputDim, list[OutputDim]]:
    """Return the axes before the last ``reach`` ones, and the last ones; missing axes have the size 1."""
    known = [dim for dim in output if not _is_open(dim)]
    front = members_of(output[0]) if len(known) < len(output) else (1,)
    named = reach - len(known)
    axes = [Joined(axis_of(m, n) for m in front) for n in range(named, 0, -1)]
    return Joined(without_last(m, named) for m in front), [*axes, *known]


def _same_rank(left: Sequence[OutputDim], right: Sequence[OutputDim]) -> Formula:
    ranks = [rank_of_output(left), rank_of_output(right)]
    return TRUE if ranks[0] == ranks[1] else equal(*ranks)


def rank_of_output(output: Sequence[OutputDim]) -> Dim:
    """Return the rank as a term over the ranks of sequences."""
    known = sum(not _is_open(dim) for dim in output)
    if known == len(output):
        return known
    ranks = [add(rank_of(m), known) for m in members_of(output[0]) if is_sequence(m)]
    return ranks[0] if len(ranks) == 1 else maximum(ranks)
