"""Reduce all elements of a value to one, and compute cumulative sums along an axis."""

from __future__ import annotations

from functools import reduce as fold
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply, subtract
from symbcast.graphs.values.contents import Content, Elements, Ramp, as_ramp
from symbcast.graphs.values.elements import BINARY
from symbcast.graphs.values.intervals import extent
from symbcast.graphs.values.numbers import held
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall

if TYPE_CHECKING:
    from symbcast.core.algebra.bounds import Bounds
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.contents import Element


def folded(call: NodeCall, step_name: str | None) -> Content | None:
    """Return the single element that results from folding all elements of the first input with a step."""
    items = call.elements(0) if step_name is not None else None
    if step_name is None or not items:
        return None
    step = BINARY[step_name]
    found: Element = fold(lambda a, b: step(call.asker, call.dtype(), a, b), items)
    return None if found is None else Elements((found,))


def summed_along(
    data: Value, axis: int, bounds: Bounds, *, is_exclusive: bool = False, is_reversed: bool = False
) -> Content | None:
    """Return cumulative sums along an axis as a ramp if all elements are the same number.

    ``is_exclusive`` leaves out the element itself; ``is_reversed`` sums from the end.
    """
    dims, ramp = data.shape or (), as_ramp(data.content, data.shape)
    if ramp is None or any(ramp.strides):
        return None
    each, place = ramp.start, axis % len(dims)
    start = 0 if is_exclusive else each
    strides: list[Dim] = [0] * len(dims)
    strides[place] = each
    if is_reversed:
        start = multiply(each, subtract(dims[place], int(is_exclusive)))
        strides[place] = multiply(-1, each)
    found = Ramp(start, tuple(strides))
    ends = extent(found, dims, bounds)
    if ends.low is None or ends.high is None:
        return None
    return None if None in (held(e, data.dtype, bounds) for e in (ends.low, ends.high)) else found
