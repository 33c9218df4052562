"""The sizes of a question that depends on the number of axes: ranks and axes, each with its own symbol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.sequences import AxisSequence, sequences_of
from symbcast.core.logic.formulas import Compatible
from symbcast.core.program.sizes.premises import knowledge
from symbcast.core.program.sizes.unrolling import Unrolled
from symbcast.errors import UnknownRankError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.calls.call import Call
    from symbcast.core.program.sizes.assumptions import Assumption
    from symbcast.core.solver.decision.knowledge import Knowledge

MOST = 8
"""All axes of a sequence get their own symbols if it has at most this many."""


class RankedSizes:
    """The ranks and the axes of the sequences of a question, and its other sizes.

    ``asked`` must hold, ``names`` are the names of the sizes, in order; ``mentioned`` are additional formulas whose
    axes must be distinguished. Raises `UnknownRankError` if a sequence meets itself at a shifted axis, since
    not all ranks are then tried; the error names the ``question``.

    Attributes:
        unrolled: The depth to which sequences are unrolled.
        knowledge: What is known about ranks, axes and sizes.
        asked: The formulas over ranks, axes and sizes that must hold.
        names: The name of each rank, axis and size.
        greatest: The greatest rank of each sequence that its own constraints allow.
    """

    def __init__(
        self,
        question: str,
        asked: Sequence[Formula],
        names: Mapping[Symbol, str],
        assumptions: tuple[Sequence[Assumption], int],
        mentioned: Iterable[Formula] = (),
    ) -> None:
        self._names, self._sequences = names, sequences_of(names)
        self._assumptions, self._min_size = assumptions
        formulas = [*asked, *mentioned, *(a.formula for a in self._assumptions)]
        first = self._unrolled(formulas)
        check_cuts(question, first)
        known = self._known(first)
        few = [(s, greatest_rank(known, s)) for s in self._sequences]
        axes = [Compatible((s.axis(most),)) for s, most in few if most is not None and 0 < most <= MOST]
        self.unrolled = self._unrolled([*formulas, *axes])
        self.knowledge = self._known(self.unrolled)
        self.asked = [f for formula in asked for f in self.unrolled.formulas(formula)]
        self.names = {s: names.get(s, s.name) for s in self.unrolled.symbols(names)}
        self.greatest = {s: greatest_rank(self.knowledge, s) for s in self._sequences}

    @staticmethod
    def of_call(question: str, call: Call, mentioned: Iterable[Formula] = ()) -> RankedSizes:
        """Return the sizes of a broadcast with operands of unknown rank."""
        scope = call.scope
        assert scope is not None and scope.unrolled is not None
        check_cuts(question, scope.unrolled)
        asked = [c.requirement for c in call.constraints]
        return RankedSizes(question, asked, scope.names, (call.assumptions, scope.min_size), mentioned)

    def named(self, sizes: Mapping[Symbol, int]) -> dict[str, int]:
        """Return sizes by name; those of a sequence's axes together, as ``batch=(2, 3)``."""
        return self.unrolled.named(sizes, self.names)

    def _unrolled(self, formulas: Iterable[Formula]) -> Unrolled:
        ranks = [Compatible((s.rank,)) for s in self._sequences]
        return Unrolled([*formulas, *ranks], self._sequences, self._min_size)

    def _known(self, unrolled: Unrolled) -> Knowledge:
        symbols = (*unrolled.symbols(self._names), *unrolled.hidden)
        return knowledge(symbols, unrolled.known(self._assumptions), self._min_size)


def check_cuts(question: str, unrolled: Unrolled) -> None:
    """Raise `UnknownRankError` if a sequence is aligned with itself at another axis."""
    for s in (s for s in unrolled.depths if s in unrolled.mixed):
        raise UnknownRankError(f"{question} of a sequence with itself, shifted by some axes", s.rest().name)


def greatest_rank(known: Knowledge, sequence: AxisSequence) -> int | None:
    """Return the greatest rank that a sequence's own constraints allow."""
    rank = known.values.get(sequence.rank, sequence.rank)
    if isinstance(rank, int):
        return rank
    domain = known.domains.get(rank)  # type: ignore[call-overload] # a value that is not a number is a Symbol
    return None if domain is None else domain.greatest
