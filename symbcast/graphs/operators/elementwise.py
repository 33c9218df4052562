"""Compute exact contents of elementwise operators, on one value or on several that are broadcast together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from symbcast.graphs.values.contents import Content, Element
from symbcast.graphs.values.elements import BINARY, UNARY, Binary, selected
from symbcast.graphs.values.tensors import combined, mapped
from symbcast.graphs.values.value import Constant, Value
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.graphs.values.known_sizes import KnownSizes


def of_each(name: str, value: Value, bounds: Bounds) -> Content | None:
    """Apply an operation of `UNARY` to each element; None for other names and unknown elements."""
    step = UNARY.get(name)
    return None if step is None else mapped(value.content, partial(step, bounds))


def of_several(step: Binary | None, values: Sequence[Value], shape: Dims | None, known: KnownSizes) -> Content | None:
    """Broadcast values to a shape, and fold their elements with a step, starting with the first two values."""
    # Constants last, whose elements have yet to be read.
    if step is None or shape is None or any(v.content is None for v in sorted(values, key=_is_constant)):
        return None
    of_two = partial(step, known, values[0].dtype)
    return combined(values, shape, lambda *elements: reduce(of_two, elements), known)


def _is_constant(value: Value) -> bool:
    return isinstance(value, Constant)


def chosen(name: str, values: Sequence[Value], shape: Dims, known: KnownSizes) -> Content | None:
    """Return elements of the second or third value, as the first one selects.

    If sizes decide which one is taken, the element becomes a size by cases, labelled with the node's ``name``.
    """
    condition, *others = values
    if condition.content is None or all(v.content is None for v in others):
        return None
    return combined(values, shape, partial(selected, known, name), known)


def clipped(value: Value, low: Sequence[Element], high: Sequence[Element], known: KnownSizes) -> Content | None:
    """Clip each element to at least ``low`` and at most ``high``; each of them holds one number or is missing."""

    def clip(element: Element) -> Element:
        for name, ends in (("Max", low), ("Min", high)):
            for end in ends:
                element = BINARY[name](known, value.dtype, element, end)
        return element

    return mapped(value.content, clip)
