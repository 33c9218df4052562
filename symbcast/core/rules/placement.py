"""Placements: on which axis of the aligned shapes each axis of each operand lies.

A placement depends only on ranks. It defines where axes lie, which ranks it refuses, and where else they could lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import ClassVar, TypeAlias

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, at_most, equal, holds
from symbcast.core.algebra.symbols import axis_of, is_sequence, rank_of, without_last
from symbcast.core.algebra.terms import Dim, term
from symbcast.core.rules.declaration import EQUAL_RANKS, AttributeValue, Detail, Reason, Remedy
from symbcast.core.structs import NamedTuple
from symbcast.errors import RuleArgumentError

Dims: TypeAlias = "Sequence[Dim]"
"""The sizes of a shape, from the front."""


def expanded_at_right(shapes: Sequence[Dims], limit: int | None = None) -> list[Dims] | None:
    """Return shapes aligned at the right, those of unknown rank with all axes named that must be distinguished.

    Their number is that of the axes in the longest known end. In front of them, a sequence stands for its other axes,
    unless no shape has more axes than ``limit``. A sequence with sizes before it is not expanded: it can only be
    aligned with the same sequence. None if it is not.
    """
    places = [sequence_place(s) for s in shapes]
    if any(places):
        opened = [(p, len(s), s[p]) for p, s in zip(places, shapes, strict=True) if p is not None]
        behind = opened[0][1] - opened[0][0] - 1
        others = [len(s) for p, s in zip(places, shapes, strict=True) if p is None]
        # `a, *x` beside `b, *y` has no common right end that can be named: x and y may differ in length. Shapes without
        # a sequence must lie behind it, or they reach axes that lie in it at some ranks and in front of it at others.
        return list(shapes) if len(set(opened)) == 1 and max(others, default=0) <= behind else None
    known = max(len(s) - (p is not None) for p, s in zip(places, shapes, strict=True))
    reach = known if limit is None else limit
    return [expanded_to(s, reach, limit is None) for s in shapes]


def expanded_to(shape: Dims, reach: int, is_kept: bool = False) -> Dims:
    """Return a shape of ``reach`` axes by naming axes of its sequence; unchanged if it has that many already.

    The rest of the sequence stays in front of them if it is kept.
    """
    place = sequence_place(shape)
    if place is None:
        return shape
    before, sequence, behind = shape[:place], shape[place], shape[place + 1 :]
    named = max(0, reach - len(before) - len(behind))
    rest = (without_last(sequence, named),) if is_kept else ()
    return (*before, *rest, *(axis_of(sequence, n) for n in range(named, 0, -1)), *behind)


def sequence_place(shape: Dims) -> int | None:
    """Return the position of the sequence in a shape, None for a shape of known rank."""
    return next((n for n, dim in enumerate(shape) if is_sequence(dim)), None)


def rank_of_shape(shape: Dims) -> Dim:
    """Return the rank of a shape: a number, or a number plus the rank of its sequence."""
    place = sequence_place(shape)
    return len(shape) if place is None else add(rank_of(shape[place]), len(shape) - 1)


def decide_rank_comparison(formula: Formula) -> Formula:
    """Return a comparison of ranks, replaced by true or false if that is its value at all ranks."""
    if not isinstance(formula, Comparison):
        return formula
    apart = subtract(formula.right, formula.left)
    if isinstance(apart, int):
        return TRUE if holds(Comparison(formula.operator, 0, apart)) else FALSE
    # A lower bound proves `<=` at all ranks; it refutes nothing, as a greater rank may still fit.
    least = term(apart).lower_bound
    return TRUE if formula.operator == "<=" and least is not None and least >= 0 else formula


def rank_if_known(shape: Dims) -> int | None:
    """Return the rank of a shape, None if it has a sequence."""
    return len(shape) if sequence_place(shape) is None else None


def reaches_sequence(base: Dims, other: Dims, count: int) -> bool:
    """Return whether a sequence is among the first ``count`` axes of a base, or in the other shape."""
    place = sequence_place(base)
    return sequence_place(other) is not None or (place is not None and place < count)


class Places(NamedTuple):
    """Where the axes of operands lie.

    ``rank`` is that of the aligned shapes; ``of[n][i]`` is the axis on which axis ``i`` of operand ``n`` lies. An axis
    below 0, or at ``rank`` or above, hangs over: the rule has no axis there.
    """

    rank: int
    of: tuple[tuple[int, ...], ...]


class Refusal(NamedTuple):
    """Why a placement refuses some ranks: the operands concerned, the reason, and the values for its wording."""

    operands: tuple[int, ...]
    why: Reason
    details: Mapping[str, Detail]


RANK_ABOVE = Reason(
    "rank-above", "{name}'s rank {rank} must not exceed {base}'s rank {base_rank}", (Remedy.LOWER_RANK, Remedy.SWAP)
)
RANK_BELOW = Reason("rank-below", "rank {rank} is below min_rank={least}")


def axis_run(start: int, length: int) -> tuple[int, ...]:
    """Return the axes from ``start`` on."""
    return tuple(range(start, start + length))


class Placement(ABC):
    """How a rule lays the axes of its operands.

    Attributes:
        is_at_right: Whether all axes are counted from the right, so that an operand can be given leading axes of 1.
        has_base_rank: Whether the output has the rank of the base.
        misses_none: Whether each operand has all axes.
    """

    is_at_right: ClassVar[bool] = False
    has_base_rank: ClassVar[bool] = True
    misses_none: ClassVar[bool] = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of its refusals."""
        return ()

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        """Return shapes, some of unknown rank, with as many axes of their sequences named as the others reach.

        They are then aligned as shapes of known ranks are; the rest of a sequence is one axis that represents all its
        axes. None if the placement counts axes from the other end of a sequence.
        """
        return None

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        """Yield the requirements on ranks, some unknown, with reasons: for known ranks, `refusals` checks them."""
        return iter(())

    @abstractmethod
    def places(self, ranks: Sequence[int]) -> Places:
        """Return where axes lie, for any ranks, including refused ones, so that these can be shown."""

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        """Yield the reasons for refusing operands of these ranks, whatever their sizes; nothing if they are valid."""
        return iter(())

    def base(self, ranks: Sequence[int]) -> int | None:
        """Return the operand that the others are laid onto, or None if there is none."""
        return None

    def elsewhere(self, ranks: Sequence[int]) -> Iterator[Mapping[str, AttributeValue]]:
        """Yield attributes of the rule that would place operands of these ranks on other axes."""
        return iter(())


class AtRight(Placement):
    """The operands are aligned at the right, as in NumPy. Ranks below ``least`` are refused.

    >>> AtRight().places([3, 1])
    Places(rank=3, of=((0, 1, 2), (2,)))
    """

    is_at_right: ClassVar[bool] = True
    has_base_rank: ClassVar[bool] = False

    def __init__(self, least: int = 0) -> None:
        self.least = least

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (RANK_BELOW,)

    def places(self, ranks: Sequence[int]) -> Places:
        rank = max(ranks, default=0)
        return Places(rank, tuple([axis_run(rank - r, r) for r in ranks]))

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        for n, rank in enumerate(ranks):
            if rank < self.least:
                yield Refusal((n,), RANK_BELOW, {"rank": rank, "least": self.least})

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        return expanded_at_right(shapes)

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        for n, rank in enumerate(ranks):
            if self.least:
                yield at_most(self.least, rank), Refusal((n,), RANK_BELOW, {"rank": str(rank), "least": self.least})


class SameRank(Placement):
    """The axes of the operands are aligned one to one; different ranks are refused.

    ``why`` is `EQUAL_RANKS`, or the same reason in other words.
    """

    misses_none: ClassVar[bool] = True

    def __init__(self, why: Reason = EQUAL_RANKS) -> None:
        self.why = why

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,)

    def places(self, ranks: Sequence[int]) -> Places:
        return AtRight().places(ranks)

    def base(self, ranks: Sequence[int]) -> int | None:
        return 0

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        for n, rank in enumerate(ranks[1:], 1):
            if rank != ranks[0]:
                yield Refusal((0, n), self.why, {"left": ranks[0], "right": rank})

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        # Equal ranks: a sequence has exactly the axes that a shape of known rank leaves to it, and none in front.
        known = [len(s) for s in shapes if not any(map(is_sequence, s))]
        return expanded_at_right(shapes, min(known, default=None))

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        for n, rank in enumerate(ranks[1:], 1):
            details: dict[str, Detail] = {"left": str(ranks[0]), "right": str(rank)}
            yield equal(ranks[0], rank), Refusal((0, n), self.why, details)


class OntoRight(Placement):
    """Data, the first of two operands, lies on the last axes of a target, the second; its rank must not be greater."""

    is_at_right: ClassVar[bool] = True

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (RANK_ABOVE,)

    def places(self, ranks: Sequence[int]) -> Places:
        data, target = ranks
        return Places(target, (axis_run(target - data, data), axis_run(0, target)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 1

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        data, target = ranks
        if data > target:
            yield refusal_of_rank_above("data", data, "the target", target)

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        # Data has at most the target's axes; if data has more, `rank_asks` is false, whatever is named here.
        return expanded_at_right(shapes, rank_if_known(shapes[1]))

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        data, target = ranks
        yield at_most(data, target), refusal_of_rank_above("data", str(data), "the target", str(target))


def refusal_of_rank_above(name: str, rank: Detail, base: str, base_rank: Detail) -> Refusal:
    """Return the refusal of a first operand whose rank exceeds that of the base."""
    return Refusal((0, 1), RANK_ABOVE, {"name": name, "rank": rank, "base": base, "base_rank": base_rank})


OUTSIDE = Reason(
    "outside",
    "{what}'s {count} axes from axis {start} on must lie within {base}'s {base_rank}",
    (Remedy.LOWER_RANK, Remedy.SWAP),
)


AXES_OF_DATA = Reason("axes-of-data", "{name}'s rank {rank} must be {count}, the number of axes that are named")
# Other axes are suggested for targets of at most this rank: the ways to choose them grow with its factorial.
_MOST_AXES = 8


class FromAxis(Placement):
    """B, the second of two operands, lies on a run of A's axes that starts at ``axis``; None for the last axes.

    If ``may_hang_over``, axes of B may lie past the end of A: the rule's law constrains their sizes.
    ``parameter`` is the attribute of the rule that names the axis.

    >>> FromAxis(1).places([4, 1])
    Places(rank=4, of=((0, 1, 2, 3), (1,)))
    """

    def __init__(self, axis: int | None = None, may_hang_over: bool = False, parameter: str = "axis") -> None:
        self.axis = axis
        self.may_hang_over = may_hang_over
        self.parameter = parameter

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (RANK_ABOVE, OUTSIDE)

    def start(self, long: int, short: int) -> int:
        """Return the axis of the longer operand on which the first axis of the shorter one lies."""
        return long - short if self.axis is None else self.axis

    def places(self, ranks: Sequence[int]) -> Places:
        a, b = ranks
        return Places(a, (axis_run(0, a), axis_run(self.start(a, b), b)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 0

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        a, b = ranks
        if b > a:
            yield refusal_of_rank_above("B", b, "A", a)
        elif not self.may_hang_over and self.start(a, b) + b > a:
            yield _outside("B", b, self.start(a, b), "A", a)

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        a, b = shapes
        if self.axis is None:
            return expanded_at_right(shapes, rank_if_known(a))
        # From the front, B lies on axes of known place only if it ends before A's sequence begins.
        return list(shapes) if self.axis >= 0 and not reaches_sequence(a, b, self.axis + len(b)) else None

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        a, b = ranks
        if self.axis is None:
            yield at_most(b, a), refusal_of_rank_above("B", str(b), "A", str(a))

    def elsewhere(self, ranks: Sequence[int]) -> Iterator[Mapping[str, AttributeValue]]:
        for axis in range(max(ranks) - min(ranks), -1, -1):
            yield {self.parameter: axis}


class ShorterFromAxis(FromAxis):
    """The shorter of two operands, whichever it is, lies on a run of the other's axes that starts at ``axis``.

    An axis past the last one is refused even if nothing would hang over. Shapes of equal rank are aligned.
    """

    has_base_rank: ClassVar[bool] = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (OUTSIDE,)

    def places(self, ranks: Sequence[int]) -> Places:
        a, b = ranks
        if a > b:
            return Places(a, (axis_run(0, a), axis_run(self.start(a, b), b)))
        if a == b:
            return Places(a, (axis_run(0, a), axis_run(0, b)))
        return Places(b, (axis_run(self.start(b, a), a), axis_run(0, b)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 0 if ranks[0] >= ranks[1] else 1

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        return expanded_at_right(shapes) if self.axis is None else None

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        return iter(())

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        short, long = sorted(ranks)
        start = self.start(long, short)
        if start + short > long or (self.axis is not None and self.axis >= max(1, long)):
            yield _outside("the shorter shape", short, start, "the other", long)


class OnAxes(Placement):
    """Axis ``i`` of data, the first of two operands, lies on axis ``axes[i]`` of a target, the second.

    ``parameter`` is the attribute of the rule that names the axes; ``in_order`` requires them in ascending order.
    ``operands`` are the rule's names for the two.

    >>> OnAxes((2, 0), "dims").places([2, 3])
    Places(rank=3, of=((2, 0), (0, 1, 2)))
    """

    def __init__(
        self,
        axes: tuple[int, ...],
        parameter: str = "axes",
        in_order: bool = False,
        operands: tuple[str, ...] = ("data", "target"),
    ) -> None:
        self.axes = axes
        self.parameter = parameter
        self.in_order = in_order
        self.operands = operands

    def check(self, rule: str, ranks: Sequence[int]) -> None:
        """Raise `RuleArgumentError` unless there is one axis for each axis of data, and all are axes of the target."""
        (data, target), (data_rank, rank) = self.operands, ranks
        written = f"{self.parameter}={self.axes}"
        if len(self.axes) != data_rank:
            problem = f"{written} names {len(self.axes)} axes for {data} of rank {data_rank}"
            raise RuleArgumentError(rule, problem, f"give one axis for each axis of {data}", self.parameter)
        for axis in self.axes:
            if not 0 <= axis < rank:
                allowed = f"0..{rank - 1}" if rank else "it has it has none, its rank is 0"
                problem = f"axis {axis} in {written} is outside the {target}'s axes ({allowed})"
                hint = f"count axes from 0 at the front of the {target}"
                raise RuleArgumentError(rule, problem, hint, self.parameter)

    def places(self, ranks: Sequence[int]) -> Places:
        data, target = ranks
        return Places(target, (self.axes[:data], axis_run(0, target)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 1

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        data, target = shapes
        if reaches_sequence(target, (), max(self.axes, default=-1) + 1):
            return None
        return [expanded_to(data, len(self.axes)), target]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (AXES_OF_DATA,)

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        details: dict[str, Detail] = {"name": self.operands[0], "rank": str(ranks[0]), "count": len(self.axes)}
        yield equal(ranks[0], len(self.axes)), Refusal((0,), AXES_OF_DATA, details)

    def elsewhere(self, ranks: Sequence[int]) -> Iterator[Mapping[str, AttributeValue]]:
        data, target = ranks
        if data <= target <= _MOST_AXES:
            choose = combinations if self.in_order else permutations
            yield from ({self.parameter: axes} for axes in choose(range(target), data))


def _outside(what: str, count: int, start: int, base: str, base_rank: int) -> Refusal:
    details: dict[str, Detail] = {"what": what, "count": count, "start": start, "base": base, "base_rank": base_rank}
    return Refusal((0, 1), OUTSIDE, details)
