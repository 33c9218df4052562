"""Operations on whole tensors with known contents: element by element or as ramps, reordered, joined, broadcast."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial, reduce
from itertools import product as combinations
from math import prod
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, multiply, replace_symbols, subtract
from symbcast.core.algebra.bounds import Bounds, numbers_of
from symbcast.core.algebra.formulas import Comparison
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import (
    INTEGERS,
    MAX_ELEMENTS,
    Bands,
    Content,
    Element,
    Elements,
    IndexRamp,
    Interval,
    RampStack,
    as_ramp,
    is_size,
    listed,
)
from symbcast.operators.values.elements import BINARY, UNARY, Binary, KnownSizes, cast_element, selected
from symbcast.operators.values.intervals import extent
from symbcast.operators.values.value import Constant, Value


def cast(value: Value, to: int, known: KnownSizes) -> Content | None:
    """Return the content of a value cast to another type."""
    content = value.content
    if content is None or to == value.dtype:
        return content
    if isinstance(content, Elements):
        return _if_any(tuple(cast_element(e, to, known) for e in content.items))
    if isinstance(content, Interval | Bands):
        return None  # see `symbcast.operators.values.intervals`
    if isinstance(content, IndexRamp):
        return mapped(content, lambda e: cast_element(e, to, known))
    return content if to in INTEGERS and value.dtype in INTEGERS else None


def _if_any(items: tuple[Element, ...]) -> Elements | None:
    return Elements(items) if any(i is not None for i in items) else None


def mapped(content: Content | None, step: Callable[[Element], Element]) -> Content | None:
    """Apply a step to each element of a content, which may be a list or a ramp."""
    if isinstance(content, IndexRamp):
        indices = _indices(len(content.strides))
        return affine(step(_at_any(content, indices)), indices, None, None)
    return _if_any(tuple(map(step, content.items))) if isinstance(content, Elements) else None


def combined(
    values: Sequence[Value], shape: Dims, step: Callable[..., Element], known: KnownSizes | None = None
) -> Content | None:
    """Broadcast several values to a shape, and combine their elements with a step."""
    output = numbers_of(shape)
    if output is not None and prod(output) <= MAX_ELEMENTS:
        # A size of 1 in the output says that the operands have it too, so that they can be listed.
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
    narrow = tuple(1 if output_size == 1 else size for size, output_size in zip(dims, aligned, strict=True))
    return value if narrow == dims else Value(narrow, value.dtype, value.content)


Sizes: TypeAlias = "tuple[int, ...]"


def _spread(
    listings: Sequence[tuple[Element, ...] | None], shapes: Sequence[Sizes], output: Sizes, step: Callable[..., Element]
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


def _ramps(
    values: Sequence[Value], shape: Dims, step: Callable[..., Element], known: KnownSizes | None
) -> IndexRamp | None:
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


def _at_any(ramp: IndexRamp, indices: Sequence[Unknown]) -> Dim:
    return add(ramp.start, *(multiply(s, i) for s, i in zip(ramp.strides, indices, strict=True) if s != 0))


def affine(item: Element, indices: Sequence[Unknown], shape: Dims | None, known: KnownSizes | None) -> IndexRamp | None:
    """Convert elements, given by the element at a symbolic index, to a ramp; None if they do not form one."""
    # A comparison also becomes a ramp if the least and greatest values of its difference decide it.
    if isinstance(item, Comparison) and known is not None and shape is not None:
        decided = _everywhere(item, indices, shape, known)
        return None if decided is None else IndexRamp(int(decided), (0,) * len(indices))
    if not is_size(item):
        return None
    if isinstance(item, int):
        return IndexRamp(item, (0,) * len(indices))
    used = set(symbols_of((item,)))
    origin = dict.fromkeys(indices, 0)
    start = replace_symbols(item, origin)
    strides = tuple(subtract(replace_symbols(item, {**origin, i: 1}), start) if i in used else 0 for i in indices)
    ramp = IndexRamp(start, strides)
    # Start and slopes come from the first elements; the item may still hold products of indices, or // and %.
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


def _laid_out(value: Value, output: Dims) -> IndexRamp | None:
    """Return a value as a ramp over the output's axes; None if it may be broadcast along an axis with a stride."""
    ramp = as_ramp(value.content, value.shape)
    if ramp is None or value.shape is None:
        return None
    missing = len(output) - len(value.shape)
    strides: list[Dim] = [0] * missing
    for size, stride, output_size in zip(value.shape, ramp.strides, output[missing:], strict=True):
        if size not in (output_size, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return IndexRamp(ramp.start, tuple(strides))


# Compute exact contents of elementwise operators, on one value or on several that are broadcast together.


def of_each(name: str, value: Value, bounds: Bounds) -> Content | None:
    """Apply an operation of `UNARY` to each element; None for other names and unknown elements."""
    step = UNARY.get(name)
    return None if step is None else mapped(value.content, partial(step, bounds))


def of_several(step: Binary | None, values: Sequence[Value], shape: Dims | None, known: KnownSizes) -> Content | None:
    """Broadcast values to a shape, and fold their elements with a step, starting with the first two values."""
    # Constants last, whose elements have yet to be read.
    if step is None or shape is None:
        return None
    if any(v.content is None for v in sorted(values, key=lambda v: isinstance(v, Constant))):
        return None
    of_two = partial(step, known, values[0].dtype)
    return combined(values, shape, lambda *elements: reduce(of_two, elements), known)


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


# Compute the contents of tensors after axes are inserted, removed, reordered or broadcast.


def with_axes(content: Content | None, places: Sequence[int], rank: int) -> Content | None:
    """Return the content of a tensor with axes of size 1 inserted."""
    if isinstance(content, IndexRamp):
        return _ramp_with_axes(content, places)
    if isinstance(content, RampStack) and all(place < rank for place in places):
        return RampStack(tuple(_ramp_with_axes(part, places) for part in content.parts))
    return content if isinstance(content, Elements) else None


def _ramp_with_axes(ramp: IndexRamp, places: Sequence[int]) -> IndexRamp:
    strides = list(ramp.strides)
    for place in places:
        strides.insert(place, 0)
    return IndexRamp(ramp.start, tuple(strides))


def without_axes(content: Content | None, places: Collection[int]) -> Content | None:
    """Return the content of a tensor with axes of size 1 removed."""
    if isinstance(content, IndexRamp):
        return IndexRamp(content.start, tuple(s for n, s in enumerate(content.strides) if n not in places))
    return content if isinstance(content, Elements) else None


def transposed(content: Content | None, dims: Dims, order: Sequence[int]) -> Content | None:
    """Return the content of a tensor of the given sizes with its axes reordered."""
    if isinstance(content, IndexRamp):
        return IndexRamp(content.start, tuple(content.strides[n] for n in order))
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
    for size, stride, output_size in zip(data.shape, ramp.strides, shape[len(strides) :], strict=True):
        if size not in (output_size, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return IndexRamp(ramp.start, tuple(strides))


# Compute the contents of concatenated tensors.


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
        return (
            RampStack(tuple(IndexRamp(r.start, r.strides[:-1]) for r in ramps if r is not None)) if all(ramps) else None
        )
    return _listed_joined(values, axis)


def _items(value: Value) -> tuple[Element, ...] | None:
    """Return the elements of a tensor of rank 1; None for each element if only the length is known."""
    items = listed(value.content, value.shape)
    if items is None and value.shape is not None and isinstance(value.shape[0], int) and value.shape[0] <= _SHORT:
        return (None,) * value.shape[0]
    return items


_SHORT = 16


def _listed_joined(values: Sequence[Value], axis: int) -> Content | None:
    lists = [listed(v.content, v.shape) for v in values]
    shapes = [numbers_of(v.shape or ()) for v in values]
    if None in lists or None in shapes:
        return None
    outer = prod((shapes[0] or ())[:axis])
    elements: list[Element] = []
    for n in range(outer):
        for items in lists:
            assert items is not None
            run = len(items) // outer if outer else 0
            elements += items[n * run : (n + 1) * run]
    return Elements(tuple(elements))
