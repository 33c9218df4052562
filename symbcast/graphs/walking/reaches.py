"""Determine how many axes nodes use of inputs of unknown rank, from the tables of front ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.graphs.walking.node_call import NodeCall, UnknownShapeError
from symbcast.operators.context import Dims
from symbcast.operators.reach import Reach

Reaches: TypeAlias = "Callable[[NodeCall, Sequence[Dims | None]], Sequence[Reach | None]]"
"""Returns the reach of a node into each input, given their shapes; None for an input whose rank must be known."""


def none_of(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Raise `UnknownShapeError`: the ranks of all inputs must be known."""
    raise UnknownShapeError


def padded(reaches: Sequence[Reach | None], count: int) -> list[Reach | None]:
    """Pad reaches to ``count`` inputs with None."""
    return [*reaches, *[None] * (count - len(reaches))][:count]


def axes_held(call: NodeCall, position: int) -> list[int]:
    """Return the numbers that an input holds; raises `UnknownShapeError` if they are unknown."""
    found = call.numbers(position)
    if found is None:
        raise UnknownShapeError
    return found
