"""Placements: on which axis of the aligned shapes each axis of each operand lies.

A placement depends only on ranks. It defines where axes lie, which ranks it refuses, and where else they could lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.broadcasting.parameters import AttributeValue
from symbcast.core.broadcasting.unknown_rank import expanded_at_right, known_rank
from symbcast.core.logic.formulas import Formula, at_most, equal
from symbcast.core.reasons import EQUAL_RANKS, Detail, Reason, Remedy

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Dims: TypeAlias = "Sequence[Dim]"
"""The sizes of a shape, from the front."""


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
    "rank-above",
    "{name}'s rank {rank} must not exceed {base}'s rank {base_rank}",
    (Remedy.LOWER_RANK, Remedy.SWAP),
)
RANK_BELOW = Reason("rank-below", "rank {rank} is below min_rank={least}")


def run(start: int, length: int) -> tuple[int, ...]:
    """Return the axes from ``start`` on."""
    return tuple(range(start, start + length))


class Placement(ABC):
    """How a rule lays the axes of its operands.

    Attributes:
        is_at_right: Whether all axes are counted from the right, so that an operand can be given leading axes of 1.
        has_base_rank: Whether the output has the rank of the base.
    """

    is_at_right: ClassVar[bool] = False
    has_base_rank: ClassVar[bool] = True

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
        return Places(rank, tuple([run(rank - r, r) for r in ranks]))

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
    """The axes of two operands are aligned one to one; different ranks are refused.

    ``why`` is `EQUAL_RANKS`, or the same reason in other words.
    """

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
        left, right = ranks
        if left != right:
            yield Refusal((0, 1), self.why, {"left": left, "right": right})

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        known = [len(s) for s in shapes if not any(map(is_sequence, s))]
        return expanded_at_right(shapes, min(known, default=None))

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        left, right = ranks
        yield equal(left, right), Refusal((0, 1), self.why, {"left": str(left), "right": str(right)})


class OntoRight(Placement):
    """Data, the first of two operands, lies on the last axes of a target, the second; its rank must not be greater."""

    is_at_right: ClassVar[bool] = True

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (RANK_ABOVE,)

    def places(self, ranks: Sequence[int]) -> Places:
        data, target = ranks
        return Places(target, (run(target - data, data), run(0, target)))

    def base(self, ranks: Sequence[int]) -> int | None:
        return 1

    def refusals(self, ranks: Sequence[int]) -> Iterator[Refusal]:
        data, target = ranks
        if data > target:
            yield above("data", data, "the target", target)

    def expand(self, shapes: Sequence[Dims]) -> list[Dims] | None:
        return expanded_at_right(shapes, known_rank(shapes[1]))

    def rank_asks(self, ranks: Sequence[Dim]) -> Iterator[tuple[Formula, Refusal]]:
        data, target = ranks
        yield at_most(data, target), above("data", str(data), "the target", str(target))


def above(name: str, rank: Detail, base: str, base_rank: Detail) -> Refusal:
    """Return the refusal of a first operand whose rank exceeds that of the base."""
    return Refusal((0, 1), RANK_ABOVE, {"name": name, "rank": rank, "base": base, "base_rank": base_rank})
