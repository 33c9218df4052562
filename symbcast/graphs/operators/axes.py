"""Compute the contents of tensors after axes are inserted, removed, reordered or broadcast."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING

from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.values.contents import Content, Element, Elements, Ramp, Stack, as_ramp, listed
from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def with_axes(content: Content | None, places: Sequence[int], rank: int) -> Content | None:
    """Return the content of a tensor with axes of size 1 inserted."""
    if isinstance(content, Ramp):
        return _ramp_with_axes(content, places)
    if isinstance(content, Stack) and all(place < rank for place in places):
        return Stack(tuple(_ramp_with_axes(part, places) for part in content.parts))
    return content if isinstance(content, Elements) else None


def _ramp_with_axes(ramp: Ramp, places: Sequence[int]) -> Ramp:
    strides = list(ramp.strides)
    for place in places:
        strides.insert(place, 0)
    return Ramp(ramp.start, tuple(strides))


def without_axes(content: Content | None, places: Collection[int]) -> Content | None:
    """Return the content of a tensor with axes of size 1 removed."""
    if isinstance(content, Ramp):
        return Ramp(content.start, tuple(s for n, s in enumerate(content.strides) if n not in places))
    return content if isinstance(content, Elements) else None


def transposed(content: Content | None, dims: Dims, order: Sequence[int]) -> Content | None:
    """Return the content of a tensor of the given sizes with its axes reordered."""
    if isinstance(content, Ramp):
        return Ramp(content.start, tuple(content.strides[n] for n in order))
    if len(dims) < 2:
        return content
    items, sizes = listed(content, dims), numbers_of(dims)
    return None if items is None or sizes is None else Elements(_reordered(items, sizes, order))


def _reordered(items: Sequence[Element], sizes: Sequence[int], order: Sequence[int]) -> tuple[Element, ...]:
    strides = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    indices = combinations(*(range(sizes[n]) for n in order))
    return tuple(items[sum(i * strides[n] for i, n in zip(index, order, strict=True))] for index in indices)


def stretched(data: Value, shape: Dims) -> Content | None:
    """Return the content of a value after it is broadcast to a shape."""
    if data.content is None or data.shape is None:
        return None
    if data.shape == shape:
        return data.content
    ramp = as_ramp(data.content, data.shape)
    if ramp is None:
        return None
    strides: list[Dim] = [0] * (len(shape) - len(data.shape))
    for size, stride, wanted in zip(data.shape, ramp.strides, shape[len(strides) :], strict=True):
        if size not in (wanted, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return Ramp(ramp.start, tuple(strides))
