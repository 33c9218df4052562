"""How far nodes look into inputs of unknown rank, as the tables of front ends say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.graphs.node_call import NodeCall, UnknownShapeError
from symbcast.graphs.values.value import Dims
from symbcast.operators.reach import Reach

Reaches: TypeAlias = "Callable[[NodeCall, Sequence[Dims | None]], Sequence[Reach | None]]"
"""Returns how far a node looks into each input, of their shapes; None for one of which the rank must be known."""


def none_of(call: NodeCall, shapes: Sequence[Dims | None]) -> Sequence[Reach | None]:
    """Say of no operator how far it looks: the ranks of all inputs must be known."""
    raise UnknownShapeError


def padded(reaches: Sequence[Reach | None], count: int) -> list[Reach | None]:
    """Return the reach into each of so many inputs, None for those of which none is told."""
    return [*reaches, *[None] * (count - len(reaches))][:count]


def axes_held(call: NodeCall, position: int) -> list[int]:
    """Return the numbers that an input holds; raises `UnknownShapeError` where they are not known."""
    found = call.numbers(position)
    if found is None:
        raise UnknownShapeError
    return found
