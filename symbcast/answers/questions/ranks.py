"""The ranks of sequences in a case: each number below the depth to which axes are distinguished, or at least that.

From the depth on, one axis represents all axes in front of the distinguished ones, and has no requirements. If two
sequences meet there, each of these axes is stretched or not independently, so the number of cases is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.questions.choices import Column
from symbcast.core.algebra.arithmetic import join, replaced
from symbcast.core.algebra.sequences import Axis, AxisSequence, Rest, axis_of, is_sequence
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Formula, at_most
from symbcast.core.shapes import Shape, any_shape_of
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.answers.questions.choices import Choice
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.calls.ranked import RankedSizes


class RankColumn(NamedTuple):
    """A sequence whose last ``depth`` axes are distinguished; a choice sets its rank."""

    sequence: AxisSequence
    depth: int

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The number of axes, and the sizes that it determines."""
        return (self.sequence.rank, *map(self.sequence.axis, range(1, self.depth + 1)))

    @property
    def output(self) -> None:
        """None: a choice of rank has no output size."""
        return

    @property
    def requirements(self) -> tuple[Formula, ...]:
        """Empty: every rank is valid."""
        return ()

    def choices(self, before: Choice) -> Iterator[Choice]:
        """Yield each number of axes below the depth, then "at least the depth".

        >>> from symbcast.answers.questions.choices import Choice
        >>> [c.literals for c in RankColumn(AxisSequence("a"), 1).choices(Choice())]
        [[Comparison('==', rank(a), 0)], [Comparison('<=', 1, rank(a))]]
        """
        rank = before.resolve(self.sequence.rank)
        for count in range(self.depth):
            made = before.copy()
            if made.make_equal(rank, count) and all(map(made.imply_one, self.sizes[count + 1 :])):
                yield made
        if not isinstance(rank, int):
            made = before.copy()
            made.literals.append(at_most(self.depth, rank))
            yield made
        elif rank >= self.depth:
            yield before.copy()


class Ranks:
    """The ranks that the cases of a question distinguish; ``bounded`` are the sequences without further axes."""

    def __init__(self, sizes: RankedSizes) -> None:
        self.depths: Mapping[AxisSequence, int] = sizes.unrolled.depths
        self._bounded = {s for s, most in sizes.greatest.items() if most is not None and most <= self.depths[s]}

    def columns(self) -> Iterator[RankColumn]:
        """Yield the columns in which ranks are chosen."""
        return (RankColumn(s, depth) for s, depth in self.depths.items() if depth)

    def unrolled(self, column: Column) -> Iterator[Column]:
        """Yield a column for each distinguished axis.

        Raises `UnknownRankError` if different sequences meet on the axes before these.
        """
        rests = [s for s in symbols_of(_dims(column)) if isinstance(s, Rest)]
        if not rests:
            yield column
            return
        for n in range(1, max(self.depths[s.sequence] - s.place for s in rests) + 1):
            yield Column(
                tuple(self._axis(d, n) for d in column.sizes),
                None if column.output is None else self._axis(column.output, n),
            )
        self._open(rests)

    def _axis(self, dim: Dim, place: int) -> Dim:
        return _cut(axis_of(dim, place), self.depths)

    def check(self, shape: Shape) -> None:
        """Raise `UnknownRankError` for a shape that cannot be divided into cases."""
        self.shape(shape, {s: self.depths[s] for s in self._bounded})

    def at(self, resolve: Callable[[Dim], Dim]) -> dict[AxisSequence, int]:
        """Return the rank of each sequence whose rank resolves to a number, if all of its axes are distinguished."""
        found = {s: resolve(s.rank) for s in self.depths}
        return {s: rank for s, rank in found.items() if isinstance(rank, int) and rank <= self.depths[s]}

    def shape(self, shape: Shape, ranks: Mapping[AxisSequence, int]) -> Shape:
        """Return a shape with the given ranks for some sequences, at least the distinguished axes for the others."""
        found: list[Dim] = []
        for dim in shape.dims:
            found += self._axes(dim, ranks) if is_sequence(dim) else [dim]
        made = any_shape_of(found)
        if any(map(is_sequence, made.dims[1:])):
            sequence = next(s.sequence for s in symbols_of(made.dims) if isinstance(s, Rest))
            raise UnknownRankError("cases where sizes precede a sequence", str(shape), _hint(sequence))
        return made

    def _axes(self, dim: Dim, ranks: Mapping[AxisSequence, int]) -> Iterator[Dim]:
        rests = [s for s in symbols_of((dim,)) if isinstance(s, Rest)]
        further = self._open([s for s in rests if s.sequence not in ranks])
        if further:
            yield join(further)
        for n in range(max(ranks.get(s.sequence, self.depths[s.sequence]) - s.place for s in rests), 0, -1):
            yield _cut(axis_of(dim, n), ranks)

    def _open(self, rests: Iterable[Rest]) -> list[Rest]:
        """Return the axes in front of the distinguished ones; raise `UnknownRankError` for more than one sequence."""
        found = dict.fromkeys(s.sequence for s in rests if s.sequence not in self._bounded)
        if len(found) > 1:
            names = [s.rest().name for s in found]
            raise UnknownRankError(f"cases where {' and '.join(names)} meet", names[-1], _hint(list(found)[-1]))
        return [s.rest(self.depths[s]) for s in found]


def _cut(dim: Dim, ranks: Mapping[AxisSequence, int]) -> Dim:
    """Return a size with 1 for axes that do not exist at the given ranks of sequences."""
    axes = [s for s in symbols_of((dim,)) if isinstance(s, Axis)]
    return replaced(dim, {s: 1 for s in axes if s.place > ranks.get(s.sequence, s.place)})


def _hint(sequence: AxisSequence) -> str:
    return f'assume the number of axes, as in assume="{sequence.rank} <= 2"'


def _dims(column: Column) -> tuple[Dim, ...]:
    return (*column.sizes, *(() if column.output is None else (column.output,)))
