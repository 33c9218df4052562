"""Apply operations to whole tensors with known contents, element by element or as ramps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply, replaced, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import Comparison
from symbcast.graphs.values.contents import (
    MAX_ELEMENTS,
    Bands,
    Content,
    Element,
    Elements,
    Interval,
    Ramp,
    as_ramp,
    is_size,
    listed,
)
from symbcast.graphs.values.elements import cast_element
from symbcast.graphs.values.intervals import extent
from symbcast.graphs.values.numbers import INTEGERS
from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.known_sizes import KnownSizes


def cast(value: Value, to: int, known: KnownSizes) -> Content | None:
    """Return the content of a value cast to another type."""
    content = value.content
    if content is None or to == value.dtype:
        return content
    if isinstance(content, Elements):
        return _if_any(tuple(cast_element(e, to, known) for e in content.items))
    if isinstance(content, Interval | Bands):
        return None  # see `symbcast.graphs.operators.estimates`
    return mapped(content, lambda e: cast_element(e, to, known)) if isinstance(content, Ramp) else _same_type(value, to)


def _same_type(value: Value, to: int) -> Content | None:
    return value.content if to in INTEGERS and value.dtype in INTEGERS else None


def _if_any(items: tuple[Element, ...]) -> Elements | None:
    return Elements(items) if any(i is not None for i in items) else None


def mapped(content: Content | None, step: Callable[[Element], Element]) -> Content | None:
    """Apply a step to each element of a content, which may be a list or a ramp."""
    if isinstance(content, Ramp):
        indices = _indices(len(content.strides))
        return affine(step(_at_any(content, indices)), indices, None, None)
    return _if_any(tuple(map(step, content.items))) if isinstance(content, Elements) else None


def combined(
    values: Sequence[Value], shape: Dims, step: Callable[..., Element], known: KnownSizes | None = None
) -> Content | None:
    """Broadcast several values to a shape, and combine their elements with a step."""
    output = numbers_of(shape)
    if output is not None and prod(output) <= MAX_ELEMENTS:
        values = [_narrowed(v, shape) for v in values]
        shapes = [sizes for v in values if (sizes := numbers_of(v.shape or ())) is not None]
        if len(shapes) == len(values) and all(prod(sizes) <= MAX_ELEMENTS for sizes in shapes):
            listings = [listed(v.content, sizes) for v, sizes in zip(values, shapes, strict=True)]
            return _if_any(_spread(listings, shapes, output, step))
    return _ramps(values, shape, step, known)


def _narrowed(value: Value, output: Dims) -> Value:
    """Return an operand with its size set to 1 wherever the broadcast output has size 1, since it must be 1 there."""
    dims = value.shape or ()
    aligned = output[len(output) - len(dims) :]
    narrow = tuple(1 if wanted == 1 else size for size, wanted in zip(dims, aligned, strict=True))
    return value if narrow == dims else Value(narrow, value.dtype, value.content)


Sizes: TypeAlias = "tuple[int, ...]"


def _spread(
    listings: Sequence[tuple[Element, ...] | None],
    shapes: Sequence[Sizes],
    output: Sizes,
    step: Callable[..., Element],
) -> tuple[Element, ...]:
    """Return the elements of a small static output, each computed from the operands' elements at its index."""
    items = [(None,) * prod(shape) if i is None else i for i, shape in zip(listings, shapes, strict=True)]
    if all(shape == output for shape in shapes):
        return tuple(map(step, *items))
    places = [_places(shape, output) for shape in shapes]
    return tuple(step(*(i[p[n]] for i, p in zip(items, places, strict=True))) for n in range(prod(output)))


def _places(shape: Sizes, output: Sizes) -> list[int]:
    """Return, for each element of the output, the index of the operand's element that is broadcast to it."""
    sizes = [1] * (len(output) - len(shape)) + list(shape)
    strides = [0 if size == 1 else prod(sizes[axis + 1 :]) for axis, size in enumerate(sizes)]
    indices = combinations(*map(range, output))
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices]


def _ramps(values: Sequence[Value], shape: Dims, step: Callable[..., Element], known: KnownSizes | None) -> Ramp | None:
    """Apply a step to ramps; None unless the result is a ramp, as determined by the step at a symbolic index."""
    ramps = [_laid_out(v, shape) for v in values]
    if any(r is None for r in ramps):
        return None
    indices = _indices(len(shape))
    return affine(step(*(_at_any(r, indices) for r in ramps if r is not None)), indices, shape, known)


def _indices(count: int) -> tuple[Unknown, ...]:
    """Return unknowns for the indices along the given number of axes."""
    while len(_INDICES) < count:
        _INDICES.append(Unknown(f"?index_{len(_INDICES)}"))
    return tuple(_INDICES[:count])


_INDICES: list[Unknown] = []


def _at_any(ramp: Ramp, indices: Sequence[Unknown]) -> Dim:
    return add(ramp.start, *(multiply(s, i) for s, i in zip(ramp.strides, indices, strict=True) if s != 0))


def affine(item: Element, indices: Sequence[Unknown], shape: Dims | None, known: KnownSizes | None) -> Ramp | None:
    """Convert elements, given by the element at a symbolic index, to a ramp; None if they do not form one.

    A comparison also becomes a ramp if the least and greatest values of its difference decide it.
    """
    if isinstance(item, Comparison) and known is not None and shape is not None:
        found = _everywhere(item, indices, shape, known)
        return None if found is None else Ramp(int(found), (0,) * len(indices))
    if not is_size(item):
        return None
    if isinstance(item, int):
        return Ramp(item, (0,) * len(indices))
    met = set(symbols_of((item,)))
    origin = dict.fromkeys(indices, 0)
    start = replaced(item, origin)
    strides = tuple(subtract(replaced(item, {**origin, i: 1}), start) if i in met else 0 for i in indices)
    ramp = Ramp(start, strides)
    return ramp if _at_any(ramp, indices) == item else None


def _everywhere(item: Comparison, indices: Sequence[Unknown], shape: Dims, known: KnownSizes) -> bool | None:
    """Return True if a comparison of ramps holds at all indices, False if at none; None if neither is known."""
    difference = affine(subtract(item.right, item.left), indices, None, None)
    ends = None if difference is None else extent(difference, shape, known.bounds)
    if ends is None or ends.low is None or ends.high is None:
        return None
    if item.operator in ("==", "!="):
        is_other = known.bounds.is_at_least(ends.low, 1) or known.bounds.is_at_most(ends.high, -1)
        return (item.operator == "!=") if is_other else None
    least = 0 if item.operator == "<=" else 1
    if known.bounds.is_at_least(ends.low, least):
        return True
    return False if known.bounds.is_at_most(ends.high, least - 1) else None


def _laid_out(value: Value, output: Dims) -> Ramp | None:
    """Return a value as a ramp over the output's axes; None if it may be broadcast along an axis with a stride."""
    ramp = as_ramp(value.content, value.shape)
    if ramp is None or value.shape is None:
        return None
    missing = len(output) - len(value.shape)
    strides: list[Dim] = [0] * missing
    for size, stride, wanted in zip(value.shape, ramp.strides, output[missing:], strict=True):
        if size not in (wanted, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return Ramp(ramp.start, tuple(strides))
