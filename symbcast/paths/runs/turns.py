"""Turns of loops, and nested calls, whose number is an open question: only so many are followed."""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.paths.places import own_frame

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from symbcast.core.algebra.symbols import Symbol

MAX_TURNS = 6
"""How many turns are followed if quotients of sizes decide whether there is another: their periods double each time."""
MAX_DATA_TURNS = 24
"""The same where only data decide: such a turn adds no term."""


class Turn(NamedTuple):
    """A turn of a loop.

    Attributes:
        is_over: whether there are too many turns.
        way_out: the answer that leaves the loop, if this turn begins with the state of the last one.
    """

    is_over: bool
    way_out: bool | None = None


class Turns:
    """Counts how often each instruction of a frame asks about the same sizes, as loops and recursions do.

    Questions about other sizes do not count as turns: a loop may compare the axes of arrays. Frames are kept, so that a
    new one is not taken for an old one.

    Attributes:
        state_of: returns the state of a frame, if all of it is known; it equals that of another turn that follows from
            there alike, but for integers that each turn increases. None if no states are compared.
    """

    def __init__(self) -> None:
        self.state_of: Callable[[FrameType], Any] | None = None
        self._counts: Counter[tuple[FrameType, int, frozenset[Symbol]]] = Counter()
        self._last: dict[tuple[FrameType, int], tuple[Any, bool, dict[str, int]]] = {}
        self._growing: set[tuple[FrameType, int]] = set()
        """Where counters of turns were made numbers that data decide."""

    def turn(self, frame: FrameType | None, root: FrameType | None, symbols: frozenset[Symbol], answer: bool) -> Turn:
        """Count an open question about some sizes, which gets an answer."""
        frame = own_frame(frame, root)
        if frame is None:
            return Turn(False)
        key = frame, frame.f_lasti, symbols
        self._counts[key] += 1
        if max(self._counts[key], _depth(frame, root)) > most_turns(symbols):
            return Turn(True)
        if symbols or self.state_of is None or _has_iterator(frame.f_code, frame.f_lasti):
            return Turn(False)
        place, state = (frame, frame.f_lasti), self.state_of(frame)
        before, said, grown = self._last.get(place, (None, answer, {}))
        steps = {} if state is None or before is None or before == state else state.steps_from(before)
        is_alike = state is not None and before == state
        if steps and steps == grown:
            is_alike = place in self._growing
            if not is_alike:
                self._growing.add(place)
                state.let_grow(frame, steps)
                state = self.state_of(frame)
        self._last[place] = state, answer, steps
        return Turn(False, not said if is_alike else None)

    def clear(self) -> None:
        """Release the frames."""
        self._counts.clear()
        self._last.clear()
        self._growing.clear()


@lru_cache(maxsize=4096)
def _has_iterator(code: CodeType, at: int) -> bool:
    """Return whether an instruction is in the body of a ``for`` loop, whose iterator is a state that no name has."""
    return any(i.offset < at < i.argval for i in dis.get_instructions(code) if i.opname == "FOR_ITER")


def most_turns(symbols: frozenset[Symbol]) -> int:
    """Return how many turns are followed if questions about some sizes decide whether there is another."""
    return MAX_TURNS if symbols else MAX_DATA_TURNS


def _depth(frame: FrameType, root: FrameType | None) -> int:
    """Return how many calls of its function are around a frame."""
    code, found, outer = frame.f_code, 0, frame.f_back
    while outer is not None and outer is not root:
        found += outer.f_code is code
        outer = outer.f_back
    return found
