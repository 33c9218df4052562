"""Placements on axes that an attribute of the rule names: a run that starts at one axis, or each axis individually."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING, ClassVar

from symbcast.core.broadcasting.parameters import AttributeValue
from symbcast.core.broadcasting.placement import RANK_ABOVE, Dims, Placement, Places, Refusal, above, run
from symbcast.core.broadcasting.unknown_rank import expanded_at_right, expanded_to, known_rank, reaches
from symbcast.core.logic.formulas import Formula, at_most, equal
from symbcast.core.reasons import Detail, Reason, Remedy
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

OUTSIDE = Reason(
    "outside",
    "{what}'s {count} axes from axis {start} on must lie within {base}'s {base_rank}",
    (Remedy.LOWER_RANK, Remedy.SWAP),
)


AXES_OF_DATA = Reason("axes-of-data", "{name}'s rank {rank} must be {count}, the number of axes that are named")
_MOST_AXES = 8
"""Other axes are suggested for targets of at most this rank: the ways to choose them grow with its factorial."""


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
        return Places(a, (run(0, a), run(self.start(a, b), b)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 0

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        a, b = ranks
        if b > a:
            yield above("B", b, "A", a)
        elif not self.may_hang_over and self.start(a, b) + b > a:
            yield _outside("B", b, self.start(a, b), "A", a)

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        a, b = shapes
        if self.axis is None:
            return expanded_at_right(shapes, known_rank(a))
        return list(shapes) if self.axis >= 0 and not reaches(a, b, self.axis + len(b)) else None

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        a, b = ranks
        if self.axis is None:
            yield at_most(b, a), above("B", str(b), "A", str(a))

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
            return Places(a, (run(0, a), run(self.start(a, b), b)))
        if a == b:
            return Places(a, (run(0, a), run(0, b)))
        return Places(b, (run(self.start(b, a), a), run(0, b)))

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
        return Places(target, (self.axes[:data], run(0, target)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 1

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        data, target = shapes
        if reaches(target, (), max(self.axes, default=-1) + 1):
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
