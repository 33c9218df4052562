"""Axis laws: what a rule requires of the sizes that meet on one axis, and the size that results.

Two outputs are given by the sizes that meet on their axes; here is also the formula that says when they are equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import add, maximum
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    equal,
    holds,
    one_or_equal,
)
from symbcast.core.algebra.symbols import axis_of, is_sequence, rank_of, without_last
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.declaration import EQUAL, JOIN, ONTO, Detail, Reason, Remedy
from symbcast.core.rules.placement import Dims, Places
from symbcast.errors import UnknownRankError


class Joined(tuple["Dim", ...]):
    """An output dimension given by its members: it is their join, even where that simplifies to something else."""

    __slots__ = ()


OutputDim: TypeAlias = "Dim | Joined"

JOINS, EQUALS, ONTO_TARGET = range(3)
Relation: TypeAlias = "tuple[int, tuple[Dim, ...]]"
"""A requirement without its origin: the join of the sizes is defined (`JOINS`), the two are equal (`EQUALS`), or the
first is 1 or equal to the second (`ONTO_TARGET`)."""

_NO_DETAILS: Mapping[str, Detail] = {}


class Column(NamedTuple):
    """The sizes that meet on one axis.

    ``axis`` is counted from the front of the aligned shapes. ``operands`` and ``sizes`` are parallel, in the order
    of the operands that reach the axis; ``base`` is the operand that the others are laid onto, or None.
    """

    axis: int
    operands: tuple[int, ...]
    sizes: tuple[Dim, ...]
    base: int | None

    @property
    def base_size(self) -> Dim:
        """The size of the base there, or the first size if there is no base."""
        return self.sizes[0 if self.base is None else self.operands.index(self.base)]

    def others(self) -> Iterator[tuple[int, Dim]]:
        """Yield the operands other than the base, or than the first one if there is no base, with their sizes."""
        base = self.operands[0] if self.base is None else self.base
        return ((n, size) for n, size in zip(self.operands, self.sizes, strict=True) if n != base)


class Ask(NamedTuple):
    """One requirement of a law: the formula, the operands that it is about, and the reason."""

    requirement: Formula
    operands: tuple[int, ...]
    why: Reason
    details: Mapping[str, Detail] = _NO_DETAILS


class Law(ABC):
    """The requirement of a rule on one axis.

    Attributes:
        reasons: The reasons of its requirements.
        stretches_base: Whether the operand that the others are laid onto may be stretched too.
        takes_missing_as_one: Whether a missing axis of an operand is equivalent to one of size 1.
    """

    stretches_base: ClassVar[bool] = False
    takes_missing_as_one: ClassVar[bool] = False

    @property
    @abstractmethod
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of its requirements."""

    @abstractmethod
    def asks(self, column: Column) -> Iterator[Ask]:
        """Yield the requirements on the sizes that meet on an axis."""

    @abstractmethod
    def output(self, column: Column) -> OutputDim:
        """Return the size that results on an axis where all requirements hold."""

    def over(self, operand: int, size: Dim) -> Iterator[Ask]:
        """Yield the requirements on a size that hangs over; none, unless the law overrides this."""
        return iter(())

    def value(self, column: Column) -> int | None:
        """Return the resulting size if all sizes are integers, None if a requirement does not hold.

        It follows from `asks` and `output`; a law may compute it faster.
        """
        return integer_output(self.output(column)) if all(holds(a.requirement) for a in self.asks(column)) else None


class Join(Law):
    """The sizes other than 1 must be equal; the output is that size, or 1.

    >>> list(Join().asks(Column(0, (0, 1), (3, 4), None)))[0].requirement
    Compatible((3, 4))
    """

    stretches_base: ClassVar[bool] = True
    takes_missing_as_one: ClassVar[bool] = True

    def __init__(self, why: Reason = JOIN) -> None:
        self.why = why

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,)

    def asks(self, column: Column) -> Iterator[Ask]:
        if len(column.sizes) > 1:
            yield Ask(Compatible(column.sizes), column.operands, self.why)

    def output(self, column: Column) -> OutputDim:
        return Joined(column.sizes) if len(column.sizes) > 1 else next(iter(column.sizes), 1)


class Equal(Law):
    """All sizes must be equal; the output is that size. ``details`` fill in the wording of ``why``."""

    takes_missing_as_one: ClassVar[bool] = True

    def __init__(self, why: Reason = EQUAL, details: Mapping[str, Detail] = _NO_DETAILS) -> None:
        self.why = why
        self.details = details

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,)

    def asks(self, column: Column) -> Iterator[Ask]:
        first = column.operands[0] if column.base is None else column.base
        for n, size in column.others():
            yield Ask(equal(column.base_size, size), (min(first, n), max(first, n)), self.why, self.details)

    def output(self, column: Column) -> OutputDim:
        return column.base_size

    def value(self, column: Column) -> int | None:
        base = column.base_size
        return integer_output(base) if all(size == base for size in column.sizes) else None


class Onto(Law):
    """Each size must be 1 or equal to that of the base, which is the output.

    If ``past_end`` is given, a size that hangs over must be 1, for that reason.
    """

    takes_missing_as_one: ClassVar[bool] = True

    def __init__(self, why: Reason = ONTO, past_end: Reason | None = None) -> None:
        self.why = why
        self.past_end = past_end

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why,) if self.past_end is None else (self.why, self.past_end)

    def asks(self, column: Column) -> Iterator[Ask]:
        assert column.base is not None
        for n, size in column.others():
            requirement = one_or_equal(size, column.base_size)
            yield Ask(requirement, (min(n, column.base), max(n, column.base)), self.why)

    def output(self, column: Column) -> OutputDim:
        return column.base_size

    def value(self, column: Column) -> int | None:
        base = column.base_size
        return integer_output(base) if all(size in (1, base) for size in column.sizes) else None

    def over(self, operand: int, size: Dim) -> Iterator[Ask]:
        if self.past_end is not None:
            yield Ask(equal(size, 1), (operand,), self.past_end)


def relation_kind(law: Law) -> int | None:
    """Return the kind of the relations that a law requires; None for a law with other requirements.

    A class derived from one of these laws may require something else.
    """
    return _RELATED.get(type(law))


_RELATED: dict[type[Law], int] = {Join: JOINS, Equal: EQUALS, Onto: ONTO_TARGET}

AT_MOST = Reason("at-most", "B's size must not exceed A's", (Remedy.TRANSPOSE, Remedy.SET_ONE))


class JoinAtMost(Join):
    """Like `Join`, but no size may exceed that of the base."""

    stretches_base: ClassVar[bool] = False
    takes_missing_as_one: ClassVar[bool] = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (self.why, AT_MOST)

    def asks(self, column: Column) -> Iterator[Ask]:
        yield from super().asks(column)
        for n, size in column.others():
            base = column.operands[0] if column.base is None else column.base
            yield Ask(at_most(size, column.base_size), (min(base, n), max(base, n)), AT_MOST)


def axis_columns(
    places: Places, shapes: Sequence[Dims], base: int | None
) -> tuple[list[Column], list[tuple[int, Dim]]]:
    """Return one column for each axis of the shapes as laid, and the sizes that hang over, with their operands."""
    rank = places.rank
    operands: list[tuple[int, ...]] = [()] * rank
    sizes: list[tuple[Dim, ...]] = [()] * rank
    over: list[tuple[int, Dim]] = []
    for n, axes in enumerate(places.of):
        for axis, size in zip(axes, shapes[n], strict=True):
            if 0 <= axis < rank:
                operands[axis] += (n,)
                sizes[axis] += (size,)
            else:
                over.append((n, size))
    return [Column(axis, operands[axis], sizes[axis], base) for axis in range(rank)], over


def integer_output(output: OutputDim) -> int:
    """Return the size of an output axis if all sizes are integers whose joins are defined."""
    if isinstance(output, Joined):
        output = next((size for size in output if size != 1), 1)
    assert isinstance(output, int)
    return output


def right_aligned(shapes: Sequence[Dims]) -> list[tuple[tuple[int, Dim], ...]]:
    """Return, for each axis of the right-aligned shapes, the operands that reach it and their sizes there."""
    rank = max(map(len, shapes), default=0)
    return [
        tuple((n, s[axis - rank + len(s)]) for n, s in enumerate(shapes) if axis - rank + len(s) >= 0)
        for axis in range(rank)
    ]


# When output axes, given by the sizes that meet there, have the same size.


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

    >>> from symbcast.core.algebra.symbols import AxisSequence
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
    is_open = list(map(_is_open, output))
    return None if any(is_open[1:]) else sum(is_open)


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
