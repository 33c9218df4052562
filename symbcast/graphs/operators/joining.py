"""Compute the contents of concatenated tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, Element, Elements, Ramp, Stack, as_ramp, listed
from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims


def contents_joined(values: Sequence[Value], axis: int, shape: Dims) -> Content | None:
    """Return the content of tensors concatenated along an axis."""
    counts = numbers_of(shape)
    if all(v.content is None for v in values) or (counts is not None and prod(counts) > MAX_ELEMENTS):
        return None
    if len(shape) == 1:
        items = [_items(v) for v in values]
        known = [i for part in items if part is not None for i in part]
        return Elements(tuple(known)) if all(part is not None for part in items) else None
    if axis == len(shape) - 1 and all(v.shape is not None and v.shape[-1] == 1 for v in values):
        ramps = [as_ramp(v.content, v.shape) for v in values]
        return Stack(tuple(Ramp(r.start, r.strides[:-1]) for r in ramps if r is not None)) if all(ramps) else None
    return _listed_joined(values, axis)


def _items(value: Value) -> tuple[Element, ...] | None:
    """Return the elements of a tensor of rank 1; None for each element if only the length is known."""
    found = listed(value.content, value.shape)
    if found is None and value.shape is not None and isinstance(value.shape[0], int) and value.shape[0] <= _SHORT:
        return (None,) * value.shape[0]
    return found


_SHORT = 16


def _listed_joined(values: Sequence[Value], axis: int) -> Content | None:
    lists = [listed(v.content, v.shape) for v in values]
    shapes = [numbers_of(v.shape or ()) for v in values]
    if None in lists or None in shapes:
        return None
    outer = prod((shapes[0] or ())[:axis])
    found: list[Element] = []
    for n in range(outer):
        for items in lists:
            assert items is not None
            run = len(items) // outer if outer else 0
            found += items[n * run : (n + 1) * run]
    return Elements(tuple(found))
