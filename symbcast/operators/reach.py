"""How far operators look into operands of unknown rank, and what that asks of the ranks.

A shape function sees a sequence of axes as one axis, which it may pass on but not look at. So the axes that it looks at
must stand before or behind the sequence. Where they do not, some are taken out of the sequence from its end: then the
rank of the sequence must be so many at least, or exactly so many where the operator says which rank it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from symbcast.core.algebra.sequences import axis_of, is_sequence, mentions_rest, rank_of, without_last
from symbcast.core.broadcasting.unknown_rank import expanded_at_right, place_of, rank_of_shape, settled
from symbcast.core.logic.formulas import TRUE, Formula, at_most, dims_of, equal, literals
from symbcast.core.text.printing import shape_text

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Dims: TypeAlias = "tuple[Dim, ...]"
D = TypeVar("D")


class Reach(NamedTuple):
    """Which axes of an operand are looked at: so many of the first, and so many of the last.

    Attributes:
        first: How many of the first axes.
        last: How many of the last axes.
        rank: How many axes the operand must have, where that is known; then all of them may be looked at.
        least: How many axes the operand must have; an axis of the last that it lacks is taken as one of size 1. None
            for all that are looked at.
        is_written: Whether the last axes must stand behind the sequence as they are.
    """

    first: int = 0
    last: int = 0
    rank: int | None = None
    least: int | None = None
    is_written: bool = False


ANY = Reach()
"""That of an operand no axis of which is looked at."""


def reach_of(axes: Iterable[int]) -> Reach:
    """Return how far axes reach that are counted from either end.

    >>> reach_of([-1, -3])
    Reach(first=0, last=3, rank=None, least=None, is_written=False)
    """
    found = tuple(axes)
    return Reach(max((a + 1 for a in found if a >= 0), default=0), max((-a for a in found if a < 0), default=0))


def reach_beside_new(axes: Iterable[int]) -> Reach:
    """Return how far axes reach that are put in, counted from either end of the output."""
    distinct = set(axes)
    first, last = ({a for a in distinct if (a < 0) is is_counted_from_end} for is_counted_from_end in (False, True))
    found = reach_of(distinct)
    return Reach(max(0, found.first - len(first)), max(0, found.last - len(last)))


class Laid(NamedTuple):
    """An operand as a shape function sees it, and what that asks of its rank.

    ``taken`` are a sequence and what is in its place where axes are taken out of it that must be there.
    """

    dims: Dims
    requirement: Formula = TRUE
    reason: str = ""
    taken: tuple[Dim, Dims] | None = None


class ReachError(Exception):
    """An operand of unknown rank that an operator cannot take: it says why."""


def laid(dims: Dims, reach: Reach | None) -> Laid:
    """Return an operand with all axes that are looked at before or behind its sequence.

    Raises `ReachError` where they cannot be, and for an operand of unknown rank without a reach.

    >>> from symbcast.core.algebra.sequences import AxisSequence
    >>> laid((AxisSequence("a").rest(), 3), Reach(last=2))[:2]
    ((*a[:-1], a[-1], 3), Comparison('<=', 1, rank(a)))
    """
    place = place_of(dims)
    if place is None:
        return Laid(dims)
    if reach is None:
        raise ReachError(f"takes no operand of unknown rank here, as {shape_text(dims)} is")
    return _of_rank(dims, place, reach.rank) if reach.rank is not None else _of_reach(dims, place, reach)


def _of_rank(dims: Dims, place: int, rank: int) -> Laid:
    missing = rank - (len(dims) - 1)
    if missing < 0:
        raise ReachError(f"takes an operand of rank {rank} there, which {shape_text(dims)} is not")
    return Laid(
        (*dims[:place], *_last(dims[place], missing), *dims[place + 1 :]),
        equal(rank_of(dims[place]), missing),
        f"the operand must have rank {rank}",
    )


def _of_reach(dims: Dims, place: int, reach: Reach) -> Laid:
    missing = max(0, reach.last - (len(dims) - 1 - place))
    if reach.first > place:
        raise ReachError(f"{_axes('first', reach.first)} of {shape_text(dims)} must be known")
    if missing and (place or reach.is_written):
        raise ReachError(f"{_axes('last', reach.last)} of {shape_text(dims)} must be known")
    least = reach.last if reach.least is None else reach.least
    sequence, known = dims[place], len(dims) - 1
    there = TRUE if least <= known else settled(at_most(least - known, rank_of(sequence)))
    parts = (without_last(sequence, missing), *_last(sequence, missing))
    seen, reason = (*dims[:place], *parts, *dims[place + 1 :]), f"the operand must have rank {least} at least"
    return Laid(seen, there, reason, (sequence, parts) if missing and reach.least is None else None)


def put_back(dims: Sequence[D], taken: Iterable[tuple[Dim, Dims]]) -> tuple[D | Dim, ...]:
    """Return an output with sequences in the place of all that was made of them, where it still is as it was.

    >>> from symbcast.core.algebra.sequences import AxisSequence
    >>> a = AxisSequence("a")
    >>> put_back((a.rest(1), a.axis(1), 3), [(a.rest(), (a.rest(1), a.axis(1)))])
    (*a, 3)
    """
    found: tuple[D | Dim, ...] = tuple(dims)
    for sequence, parts in taken:
        starts = (n for n in range(len(found)) if found[n : n + len(parts)] == parts)
        place = next(starts, None)
        if place is not None:
            found = (*found[:place], sequence, *found[place + len(parts) :])
    return found


def _last(sequence: Dim, count: int) -> list[Dim]:
    return [axis_of(sequence, n) for n in range(count, 0, -1)]


def _axes(end: str, count: int) -> str:
    return f"the {end} axis" if count == 1 else f"the {end} {count} axes"


def of_one_rank(given: Sequence[Dims], shapes: Sequence[Dims]) -> tuple[list[Dims], list[Formula]]:
    """Return shapes that must have one rank, with the same axes known of each, and what that asks of their ranks.

    ``shapes`` are those that are ``given`` with the axes that are looked at taken out of their sequences.

    Raises `ReachError` where axes in front of a sequence lie under others than those of the same sequence.
    """
    ranks = [len(s) for s in shapes if place_of(s) is None]
    found = expanded_at_right(shapes, min(ranks, default=None))
    if found is None:
        raise ReachError("takes tensors that begin with a sequence of axes, or with the same axes before the same one")
    first, *others = map(rank_of_shape, given)
    asked = (settled(equal(rank, first)) for rank in others)
    return [tuple(dims) for dims in found], [f for f in asked if f != TRUE]


def is_of_each_axis(formula: Formula) -> bool:
    """Return whether what is asked of the one axis that stands for a sequence is asked of each of its axes.

    It is not where the axis is part of a sum or of a product, nor of an alternative: one axis that is 0 leaves no
    elements, whatever the others are.
    """
    if not any(map(mentions_rest, dims_of(formula))):
        return True
    return len(literals(formula)) == 1 and all(is_sequence(d) for d in dims_of(formula) if mentions_rest(d))


def is_shape(dims: Sequence[Any]) -> bool:
    """Return whether dimensions have one sequence at most, which is no part of another size."""
    return sum(map(is_sequence, dims)) < 2 and not any(mentions_rest(d) and not is_sequence(d) for d in dims)
