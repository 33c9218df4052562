"""The number of axes that operators use of operands of unknown rank, and the resulting requirements on ranks.

A shape function sees a sequence of axes as one axis, which it may pass on but not use. So the axes that it uses must
come before or after the sequence. If they do not, some are split off the end of the sequence. The sequence must then
have at least that many axes, or exactly the right number if the operator takes operands of only one rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from symbcast.core.algebra.formulas import TRUE, Formula, at_most, dims_of, equal, literals
from symbcast.core.algebra.symbols import axis_of, is_sequence, mentions_rest, rank_of, without_last
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import decide_rank_comparison, expanded_at_right, rank_of_shape, sequence_place
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import shape_text

D = TypeVar("D")


class Reach(NamedTuple):
    """The axes of an operand that an operator uses: some of the first and some of the last.

    Attributes:
        first: The number of leading axes used.
        last: The number of trailing axes used.
        rank: The rank that the operand must have, if known; then all axes may be used.
        least: The minimum rank of the operand; missing trailing axes count as size 1. None if all used axes must exist.
        is_written: Whether the last axes must be written after the sequence.
    """

    first: int = 0
    last: int = 0
    rank: int | None = None
    least: int | None = None
    is_written: bool = False


# The reach into an operand whose axes are not used.
ANY = Reach()


def reach_of(axes: Iterable[int]) -> Reach:
    """Return the reach of axes that are counted from either end.

    >>> reach_of([-1, -3])
    Reach(first=0, last=3, rank=None, least=None, is_written=False)
    """
    places = tuple(axes)
    return Reach(max((a + 1 for a in places if a >= 0), default=0), max((-a for a in places if a < 0), default=0))


def reach_beside_new(axes: Iterable[int]) -> Reach:
    """Return the reach of inserted axes that are counted from either end of the output."""
    distinct = set(axes)
    first, last = ({a for a in distinct if (a < 0) is is_counted_from_end} for is_counted_from_end in (False, True))
    reach = reach_of(distinct)
    return Reach(max(0, reach.first - len(first)), max(0, reach.last - len(last)))


class ExposedOperand(NamedTuple):
    """An operand as a shape function sees it, and the requirement on its rank.

    ``taken`` is a sequence and its replacement, if axes were split off it.
    """

    dims: tuple[Dim, ...]
    requirement: Formula = TRUE
    reason: str = ""
    taken: tuple[Dim, tuple[Dim, ...]] | None = None


class ReachError(Exception):
    """An operand of unknown rank that an operator cannot take, with the reason."""


def expose_axes(dims: tuple[Dim, ...], reach: Reach | None) -> ExposedOperand:
    """Return an operand with all used axes before or after its sequence.

    Raises `ReachError` if that is impossible, and for an operand of unknown rank without a reach.

    >>> from symbcast.core.algebra.symbols import AxisSequence
    >>> expose_axes((AxisSequence("a").rest(), 3), Reach(last=2))[:2]
    ((*a[:-1], a[-1], 3), Comparison('<=', 1, rank(a)))
    """
    place = sequence_place(dims)
    if place is None:
        return ExposedOperand(dims)
    if reach is None:
        raise ReachError(f"takes no operand of unknown rank here, such as {shape_text(dims)}")
    return _of_rank(dims, place, reach.rank) if reach.rank is not None else _of_reach(dims, place, reach)


def _of_rank(dims: tuple[Dim, ...], place: int, rank: int) -> ExposedOperand:
    missing = rank - (len(dims) - 1)
    if missing < 0:
        raise ReachError(f"takes an operand of rank {rank} there, but {shape_text(dims)} has another rank")
    return ExposedOperand(
        (*dims[:place], *_last(dims[place], missing), *dims[place + 1 :]),
        equal(rank_of(dims[place]), missing),
        f"the operand must have rank {rank}",
    )


def _of_reach(dims: tuple[Dim, ...], place: int, reach: Reach) -> ExposedOperand:
    missing = max(0, reach.last - (len(dims) - 1 - place))
    if reach.first > place:
        raise ReachError(f"{_axes('first', reach.first)} of {shape_text(dims)} must be known")
    if missing and (place or reach.is_written):
        raise ReachError(f"{_axes('last', reach.last)} of {shape_text(dims)} must be known")
    least = reach.last if reach.least is None else reach.least
    sequence, known = dims[place], len(dims) - 1
    there = TRUE if least <= known else decide_rank_comparison(at_most(least - known, rank_of(sequence)))
    parts = (without_last(sequence, missing), *_last(sequence, missing))
    seen, reason = (*dims[:place], *parts, *dims[place + 1 :]), f"the operand must have rank {least} or more"
    return ExposedOperand(seen, there, reason, (sequence, parts) if missing and reach.least is None else None)


def put_back(dims: Sequence[D], taken: Iterable[tuple[Dim, tuple[Dim, ...]]]) -> tuple[D | Dim, ...]:
    """Return an output in which axes split off sequences are merged back if they are unchanged.

    >>> from symbcast.core.algebra.symbols import AxisSequence
    >>> a = AxisSequence("a")
    >>> put_back((a.rest(1), a.axis(1), 3), [(a.rest(), (a.rest(1), a.axis(1)))])
    (*a, 3)
    """
    merged: tuple[D | Dim, ...] = tuple(dims)
    for sequence, parts in taken:
        starts = (n for n in range(len(merged)) if merged[n : n + len(parts)] == parts)
        place = next(starts, None)
        if place is not None:
            merged = (*merged[:place], sequence, *merged[place + len(parts) :])
    return merged


def _last(sequence: Dim, count: int) -> list[Dim]:
    return [axis_of(sequence, n) for n in range(count, 0, -1)]


def _axes(end: str, count: int) -> str:
    return f"the {end} axis" if count == 1 else f"the {end} {count} axes"


def of_one_rank(
    operands: Sequence[tuple[Dim, ...]], shapes: Sequence[tuple[Dim, ...]]
) -> tuple[list[tuple[Dim, ...]], list[Formula]]:
    """Return shapes of equal rank, each with the same known axes, and the requirements on their ranks.

    ``shapes`` are the ``given`` shapes with the used axes split off their sequences.

    Raises `ReachError` if the shapes have the same sequence, but the axes before it do not align.
    """
    ranks = [len(s) for s in shapes if sequence_place(s) is None]
    expanded = expanded_at_right(shapes, min(ranks, default=None))
    if expanded is None:
        raise ReachError("operands must begin with a sequence of axes, or have the same axes before the same sequence")
    first, *others = map(rank_of_shape, operands)
    equalities = (decide_rank_comparison(equal(rank, first)) for rank in others)
    return [tuple(dims) for dims in expanded], [f for f in equalities if f != TRUE]


def is_of_each_axis(formula: Formula) -> bool:
    """Return whether a requirement on the one axis that represents a sequence applies to each of its axes."""
    if not any(map(mentions_rest, dims_of(formula))):
        return True
    # It does not if the axis is part of a sum, a product or a disjunction: one axis of size 0 makes the tensor empty,
    # whatever the others are.
    return len(literals(formula)) == 1 and all(is_sequence(d) for d in dims_of(formula) if mentions_rest(d))


def is_shape(dims: Sequence[Any]) -> bool:
    """Return whether dimensions contain at most one sequence, which is not part of another size."""
    return sum(map(is_sequence, dims)) < 2 and not any(mentions_rest(d) and not is_sequence(d) for d in dims)
