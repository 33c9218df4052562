"""All elements of a value put together."""

from __future__ import annotations

from functools import reduce as fold
from typing import TYPE_CHECKING

from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.contents import Content, Elements
from symbcast.graphs.values.elements import BINARY

if TYPE_CHECKING:
    from symbcast.graphs.values.contents import Element


def folded(call: NodeCall, step_name: str | None) -> Content | None:
    """Return the one element that all elements of the first input come to, two by two."""
    items = call.elements(0) if step_name is not None else None
    if step_name is None or not items:
        return None
    step = BINARY[step_name]
    found: Element = fold(lambda a, b: step(call.asker, call.dtype(), a, b), items)
    return None if found is None else Elements((found,))
