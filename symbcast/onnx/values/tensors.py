"""What whole tensors come to, element by element or as ramps, where their contents are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.algebra.arithmetic import add, multiply
from symbcast.algebra.bounds import numbers_of
from symbcast.onnx.values.contents import (
    MAX_ELEMENTS,
    Bands,
    Content,
    Element,
    Elements,
    Interval,
    Ramp,
    as_ramp,
    listed,
)
from symbcast.onnx.values.elements import BINARY, cast_element
from symbcast.onnx.values.numbers import INTEGERS
from symbcast.onnx.values.value import Dims, Value

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.onnx.values.known_sizes import KnownSizes


def cast(value: Value, to: int, known: KnownSizes) -> Content | None:
    """Return the content of a value as elements of another type."""
    content = value.content
    if content is None or to == value.dtype:
        return content
    if isinstance(content, Elements):
        return _if_any(tuple(cast_element(e, to, known) for e in content.items))
    if isinstance(content, Interval | Bands):
        return None  # see `symbcast.onnx.operators.intervals`
    return content if to in INTEGERS and value.dtype in INTEGERS else None


def _if_any(items: tuple[Element, ...]) -> Elements | None:
    return Elements(items) if any(i is not None for i in items) else None


def mapped(content: Content | None, step: Callable[[Element], Element]) -> Content | None:
    """Return what becomes of a content where each element becomes something else; only listed ones are followed."""
    return _if_any(tuple(map(step, content.items))) if isinstance(content, Elements) else None


def combined(values: Sequence[Value], shape: Dims, step: Callable[..., Element]) -> Content | None:
    """Return the content of several values broadcast together to a shape, with their elements put together."""
    output = numbers_of(shape)
    if output is not None and prod(output) <= MAX_ELEMENTS:
        values = [_narrowed(v, shape) for v in values]
        shapes = [sizes for v in values if (sizes := numbers_of(v.shape or ())) is not None]
        if len(shapes) == len(values) and all(prod(sizes) <= MAX_ELEMENTS for sizes in shapes):
            listings = [listed(v.content, sizes) for v, sizes in zip(values, shapes, strict=True)]
            return _if_any(_spread(listings, shapes, output, step))
    return _ramps(values, shape, step)


def _narrowed(value: Value, output: Dims) -> Value:
    """Return an operand with 1 for each size that is 1 in what it is broadcast to: it can be no other."""
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
    """Return the elements of a small static output, each of the elements of the operands that meet there."""
    items = [(None,) * prod(shape) if i is None else i for i, shape in zip(listings, shapes, strict=True)]
    if all(shape == output for shape in shapes):
        return tuple(map(step, *items))
    places = [_places(shape, output) for shape in shapes]
    return tuple(step(*(i[p[n]] for i, p in zip(items, places, strict=True))) for n in range(prod(output)))


def _places(shape: Sizes, output: Sizes) -> list[int]:
    """Return, for each element of the output, which element of an operand lies there."""
    sizes = [1] * (len(output) - len(shape)) + list(shape)
    strides = [0 if size == 1 else prod(sizes[axis + 1 :]) for axis, size in enumerate(sizes)]
    indices = combinations(*map(range, output))
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices]


def _ramps(values: Sequence[Value], shape: Dims, step: Callable[..., Element]) -> Ramp | None:
    """Return the sum, difference or product of ramps as a ramp."""
    if len(values) != 2:
        return None
    left, right = (_laid_out(v, shape) for v in values)
    if left is None or right is None:
        return None
    function = getattr(step, "func", step)
    if function in (BINARY["Add"], BINARY["Sub"]):
        sign = 1 if function is BINARY["Add"] else -1
        pairs = zip(left.strides, right.strides, strict=True)
        strides = tuple(add(a, multiply(sign, b)) for a, b in pairs)
        return Ramp(add(left.start, multiply(sign, right.start)), strides)
    if function is BINARY["Mul"]:
        if any(left.strides):
            left, right = right, left
        if not any(left.strides):
            return Ramp(multiply(left.start, right.start), tuple(multiply(left.start, s) for s in right.strides))
    return None


def _laid_out(value: Value, output: Dims) -> Ramp | None:
    """Return a value as a ramp over the axes of the output; None where it may be stretched along one it counts on."""
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
