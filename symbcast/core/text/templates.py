"""Parsed texts with placeholders for the unknowns, which are new on every call."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from symbcast.core.algebra.sequences import AxisSequence
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Symbol

_Value = TypeVar("_Value")

ANY_RANK = AxisSequence("...")
"""The placeholder for a sequence without a name until a parse hands out fresh ones."""


class Template(NamedTuple, Generic[_Value]):
    """A parsed value with a placeholder for each unknown: its label and bounds.

    ``lost`` are the names in the text that the value does not mention: ``N == 3 or True``.
    """

    value: _Value
    unknowns: tuple[tuple[Unknown, str, int, int | None], ...]
    is_of_any_rank: bool = False
    """Whether an unknown sequence of axes is in it (``...``)."""
    lost: tuple[Symbol, ...] = ()
    reading: str = ""
    """The text in the notation of the grammar, if it was written otherwise."""

    def fresh(self) -> dict[Symbol, Symbol]:
        """Return a new unknown for each placeholder; labelled ones are shown by their labels."""
        made: dict[Symbol, Symbol] = {}
        for held, label, lower, upper in self.unknowns:
            unknown = made[held] = Unknown(label, lower, upper)
            unknown.is_spoken = held.name != "?"
        if self.is_of_any_rank:
            made[ANY_RANK.rest()] = AxisSequence.anonymous().rest()
        return made
