"""Turns of loops, and nested calls, whose number is an open question: only so many are followed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from symbcast.paths.places import own_frame

if TYPE_CHECKING:
    from types import FrameType

    from symbcast.core.algebra.symbols import Symbol

MAX_TURNS = 6
"""How many turns are followed if sizes decide whether there is another: terms of halved sizes double their period."""
MAX_DATA_TURNS = 24
"""The same where only data decide: such a turn adds no term."""


class Turns:
    """Counts how often each instruction of a frame asks about the same sizes, as loops and recursions do.

    Questions about other sizes are no further turn: a loop may compare the axes of arrays. Frames are kept, so that a
    new one is not taken for an old one.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[FrameType, int, frozenset[Symbol]]] = Counter()

    def is_over(self, frame: FrameType | None, root: FrameType | None, symbols: frozenset[Symbol]) -> bool:
        """Count an open question about some sizes; return whether that are too many turns."""
        frame = own_frame(frame, root)
        if frame is None:
            return False
        key = frame, frame.f_lasti, symbols
        self._counts[key] += 1
        return max(self._counts[key], _depth(frame, root)) > most_turns(symbols)

    def clear(self) -> None:
        """Release the frames."""
        self._counts.clear()


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
