"""Sequences of axes: an unknown number of axes, each with its own size.

A sequence is a family of sizes, counted from its end: ``batch[-1]`` is the size of its last axis, ``batch[-2]`` that of
the one before, and a size is 1 where the sequence has no such axis, as in broadcasting. ``*batch`` stands for all
its axes and ``*batch[:-2]`` for all but the last two; ``rank(batch)`` is their number. All of these are symbols,
so terms and formulas contain them just as they contain sizes: a formula with ``*batch[:-2]`` and ``*rest`` is about the
last axes of both, about the axes before them, and so on, as far as axes exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple, Self

from symbcast.core.algebra.arithmetic import add, maximum, replaced
from symbcast.core.algebra.symbols import next_number
from symbcast.core.algebra.terms import Dim, Operation, Symbol, interned, made_symbol, symbols_of
from symbcast.core.characters import quoted

MAX_RANK = 1000
"""The greatest number of axes that a sequence has, far beyond that of any tensor."""


class AxisSequence(NamedTuple):
    """A sequence of axes: its name or label, and a number that distinguishes unnamed sequences, 0 if it has a name."""

    name: str
    number: int = 0

    @staticmethod
    def anonymous(label: str = "...0") -> AxisSequence:
        """Return a new sequence without a name."""
        return AxisSequence(label, next_number())

    @property
    def is_anonymous(self) -> bool:
        """Whether it has a label instead of a name."""
        return self.name.startswith("...")

    @property
    def text(self) -> str:
        """The name as written in text."""
        return self.name if self.is_anonymous else quoted(self.name)

    @property
    def rank(self) -> Rank:
        """The number of axes."""
        return Rank(self)

    def axis(self, place: int) -> Axis:
        """Return the size of an axis, counted from the end: 1 is the last."""
        return Axis(self, place)

    def rest(self, place: int = 0) -> Rest:
        """Return all axes but the last ``place`` ones."""
        return Rest(self, place)


class SequenceSymbol(Symbol):
    """A symbol about a sequence of axes; ``place`` says which axes it describes."""

    sequence: AxisSequence
    place: int

    def __new__(cls, sequence: AxisSequence, place: int = 0) -> Self:
        """Return the symbol of this kind for a sequence and a place."""
        made = interned((cls, sequence, place), lambda: _made(cls, sequence, place))
        assert isinstance(made, cls)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.sequence, self.place)

    @property
    def atom_key(self) -> tuple[Any, ...]:
        return (*super().atom_key, type(self).__name__)  # a size may have the same name

    @staticmethod
    def written_as(text: str, place: int) -> str:
        """Return the symbol as text, given the sequence's name."""
        raise NotImplementedError

    def of(self, sequence: AxisSequence) -> SequenceSymbol:
        """Return the same symbol for another sequence."""
        return type(self)(sequence, self.place)


class Axis(SequenceSymbol):
    """The size of one axis: ``place`` counts from the end, 1 for the last one. It is 1 if there is no such axis."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        return f"{text}[-{place}]"


class Rest(SequenceSymbol):
    """Each axis before the last ``place`` ones; all axes if that is 0."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        star = "" if text.startswith("...") else "*"
        return f"{star}{text}[:-{place}]" if place else f"{star}{text}"


class Rank(SequenceSymbol):
    """The number of axes."""

    @staticmethod
    def written_as(text: str, place: int) -> str:
        return f"rank({text})"


def _made(kind: type[SequenceSymbol], sequence: AxisSequence, place: int) -> Symbol:
    made = made_symbol(kind, kind.written_as(sequence.text, place), sequence.number)
    assert isinstance(made, SequenceSymbol)
    made.sequence, made.place = sequence, place
    return made


def is_sequence(dim: Dim) -> bool:
    """Return whether a dimension of a shape is a sequence of axes: the rest of one, or a join of rests."""
    if isinstance(dim, Rest):
        return True
    return isinstance(dim, Operation) and dim.kind == "join" and all(is_sequence(arg) for arg in dim.args)


def mentions_rest(dim: Dim) -> bool:
    """Return whether a term mentions the rest of a sequence, which stands for each of its axes."""
    if isinstance(dim, int) or dim.is_Symbol:
        return isinstance(dim, Rest)
    return any(isinstance(s, Rest) for s in dim.symbols())


def axis_of(dim: Dim, place: int) -> Dim:
    """Return the size of an axis of a sequence, counted from its end: 1 is the last.

    >>> axis_of(AxisSequence("batch").rest(1), 2)
    batch[-3]
    """
    return replaced(dim, {s: s.sequence.axis(s.place + place) for s in _rests(dim)})


def without_last(dim: Dim, count: int) -> Dim:
    """Return a sequence without its last ``count`` axes.

    >>> without_last(AxisSequence("batch").rest(1), 2)
    *batch[:-3]
    """
    return replaced(dim, {s: s.sequence.rest(s.place + count) for s in _rests(dim)}) if count else dim


def rolled(dims: Sequence[Dim], most: int) -> tuple[Dim, ...]:
    """Return a shape with up to ``most`` axes merged back into the sequence in front of them, if they belong to it.

    >>> batch = AxisSequence("batch")
    >>> rolled((batch.rest(2), batch.axis(2), batch.axis(1), 3), 2)
    (*batch, 3)
    """
    first, *others = dims or (1,)
    while most > 0 and isinstance(first, Rest) and others and others[0] == first.sequence.axis(first.place):
        first, others, most = first.sequence.rest(first.place - 1), others[1:], most - 1
    return (first, *others) if dims else ()


def rank_of(dim: Dim) -> Dim:
    """Return the number of axes of a sequence.

    >>> rank_of(AxisSequence("batch").rest()), rank_of(AxisSequence("batch").rest(2))
    (rank(batch), max(rank(batch) - 2, 0))
    """
    ranks = [s.sequence.rank if not s.place else maximum((add(s.sequence.rank, -s.place), 0)) for s in _rests(dim)]
    return ranks[0] if len(ranks) == 1 else maximum(ranks)


def sequences_of(symbols: Iterable[Symbol]) -> tuple[AxisSequence, ...]:
    """Return the sequences that some symbols belong to, in order."""
    return tuple(dict.fromkeys(s.sequence for s in symbols if isinstance(s, SequenceSymbol)))


def spoken_of(symbols: Iterable[Symbol]) -> tuple[Symbol | AxisSequence, ...]:
    """Return the sizes and the sequences that some symbols belong to, each once, in order."""
    return tuple(dict.fromkeys(s.sequence if isinstance(s, SequenceSymbol) else s for s in symbols))


def beside(symbols: Iterable[Symbol], others: Iterable[Symbol] = ()) -> dict[Symbol, Symbol]:
    """Return substitutes for symbols of unnamed sequences that would clash with each other or with ``others``.

    A label in text refers to the sequence with that label there; if two sequences have the same label, the later one
    gets a new one.
    """
    given, there = list(symbols), sequences_of(others)
    labelled = {s.name: s for s in there if s.is_anonymous}
    taken = {s.name for s in (*there, *sequences_of(given))}
    placed: dict[AxisSequence, AxisSequence] = {}
    for sequence in sorted(sequences_of(given), key=lambda s: not s.number):
        other = labelled.setdefault(sequence.name, sequence) if sequence.is_anonymous else sequence
        if other != sequence and not sequence.number:
            placed[sequence] = other
        elif other != sequence and other.number:
            label = next(name for n in count() if (name := f"...{n}") not in taken)
            taken.add(label)
            placed[sequence] = AxisSequence(label, sequence.number)
    return {s: s.of(placed[s.sequence]) for s in given if isinstance(s, SequenceSymbol) and s.sequence in placed}


def _rests(dim: Dim) -> list[Rest]:
    return [s for s in symbols_of((dim,)) if isinstance(s, Rest)]
