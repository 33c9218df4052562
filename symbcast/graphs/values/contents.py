"""Represent the known elements of a tensor.

Exporters compute shapes in the graph: small integer tensors hold sizes, and index tensors count along axes. Both are
tracked exactly. `Elements` lists the elements of a small tensor; a `Ramp` is an affine function of the indices, which
``Range`` creates and ``Unsqueeze``, ``Expand`` and ``Add`` preserve; a `Stack` holds ramps side by side on the last
axis; `Numbers` holds a larger constant. An `Interval` bounds elements that data decide; `Bands` are intervals side by
side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeGuard

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.bounds import exact_quotient, numbers_of
from symbcast.core.algebra.terms import Term

if TYPE_CHECKING:
    import numpy as np

    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula

MAX_ELEMENTS = 1024
"""How many elements are listed; shapes are short, and longer tensors hold data."""


class Ratio(NamedTuple):
    """A real number: the quotient of a dimension and a positive dimension."""

    above: Dim
    below: Dim


Element: TypeAlias = "Dim | Ratio | Formula | None"
"""An integer, a real number, a truth value (a formula; 0 and 1 also mean false and true), or unknown."""


class Elements(NamedTuple):
    """The elements of a tensor, in row-major order."""

    items: tuple[Element, ...]


class Ramp(NamedTuple):
    """Elements ``start + sum(stride * index)``, with one stride for each axis."""

    start: Dim
    strides: tuple[Dim, ...]


class Stack(NamedTuple):
    """Ramps side by side on the last axis, whose size is the number of ramps; each ramp covers the axes before it."""

    parts: tuple[Ramp, ...]


class Numbers:
    """The numbers of a constant too long to list."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array


class Interval(NamedTuple):
    """Integers from ``low`` to ``high``; None means unbounded; ``is_attained`` says that both ends occur.

    It bounds only existing elements: for an empty tensor it has no meaning.
    """

    low: Dim | None
    high: Dim | None
    is_attained: bool = False


class Places(Interval):
    """Integers from ``low`` to ``high`` that differ along an axis, such as the order of a sort or a part of it."""

    axis: int

    def __new__(cls, low: Dim, high: Dim, axis: int, is_attained: bool = False) -> Self:
        made = super().__new__(cls, low, high, is_attained)
        made.axis = axis
        return made

    def __eq__(self, other: object) -> bool:
        return type(other) is Places and other.axis == self.axis and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((*self, self.axis))


class Bands(NamedTuple):
    """Intervals side by side on an axis, one for each slice."""

    axis: int
    parts: tuple[Interval, ...]


Content: TypeAlias = Elements | Ramp | Stack | Numbers | Interval | Bands


def from_numbers(numbers: Iterable[float]) -> Elements:
    """Return the elements of a short tensor of integers, truth values, or real numbers with small denominators."""
    return Elements(tuple(int(n) if isinstance(n, int) else _real(n) for n in numbers))


def from_array(array: np.ndarray[Any, Any]) -> Content:
    """Return the content of an array."""
    if array.size <= MAX_ELEMENTS:
        read = _real if array.dtype.kind == "f" else int
        return Elements(tuple(map(read, array.ravel().tolist())))
    return _as_ramp_of_numbers(array) or Numbers(array)


def _real(number: float) -> Element:
    """Return a real number if its denominator is small enough to multiply sizes without rounding; otherwise None."""
    if not isfinite(number):
        return None
    if number.is_integer():
        return int(number) if abs(number) <= _MAX_NUMERATOR else None
    numerator, denominator = number.as_integer_ratio()
    return None if denominator > _MAX_DENOMINATOR or abs(numerator) > _MAX_NUMERATOR else Ratio(numerator, denominator)


_MAX_DENOMINATOR = 1024
_MAX_NUMERATOR = 1 << 40


def _as_ramp_of_numbers(array: np.ndarray[Any, Any]) -> Ramp | None:
    import numpy as np

    if array.dtype.kind not in "iu" or not array.size:
        return None
    start = int(array.flat[0])
    strides = []
    expected = np.full((1,) * array.ndim, start, dtype=object if array.dtype == np.uint64 else np.int64)
    for axis, length in enumerate(array.shape):
        second = tuple(int(n == axis) for n in range(array.ndim))
        stride = int(array[second]) - start if length > 1 else 0
        strides.append(stride)
        line = np.arange(length, dtype=np.int64) * stride
        expected = expected + line.reshape(tuple(length if n == axis else 1 for n in range(array.ndim)))
    return Ramp(start, tuple(strides)) if np.array_equal(expected, array) else None


def listed(content: Content | None, shape: Sequence[Dim] | None) -> tuple[Element, ...] | None:
    """Return the elements one by one if possible; the elements of a ramp over a small static shape are listed too.

    Returns None if the shape has a different number of elements, which happens after a node that never runs.
    """
    sizes = numbers_of(shape)
    if isinstance(content, Elements):
        if sizes is None:
            return content.items if shape is None or len(shape) == 1 else None  # with more axes, positions are
            # ambiguous
        return content.items if prod(sizes) == len(content.items) else None
    if content is None or isinstance(content, Interval | Bands) or sizes is None or prod(sizes) > MAX_ELEMENTS:
        return None
    if isinstance(content, Ramp):
        return _along(content, sizes)
    if isinstance(content, Stack):
        return tuple(at(content.parts[index[-1]], index[:-1]) for index in _indices(sizes))
    return tuple(int(n) for n in content.array.ravel().tolist())


def at(ramp: Ramp, index: Sequence[int]) -> Dim:
    """Return the element of a ramp at an index."""
    return add(ramp.start, *(multiply(s, i) for s, i in zip(ramp.strides, index, strict=True)))


def _along(ramp: Ramp, sizes: Sequence[int]) -> tuple[Dim, ...]:
    """Return the elements of a ramp over a shape, in row-major order."""
    found: list[Any] = [ramp.start]
    is_plain = all(isinstance(d, int) for d in (ramp.start, *ramp.strides))
    for stride, size in zip(ramp.strides, sizes, strict=True):
        if is_plain:
            found = [base + stride * n for base in found for n in range(size)]
        else:
            steps = [multiply(stride, n) for n in range(size)]
            found = [add(base, step) for base in found for step in steps]
    return tuple(found)


def _indices(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for size in sizes:
        found = [(*index, n) for index in found for n in range(size)]
    return found


def as_ramp(content: Content | None, shape: Sequence[Dim] | None) -> Ramp | None:
    """Return a content as a ramp; None if it is not one."""
    if isinstance(content, Ramp):
        return content
    if shape is None:
        return None
    if isinstance(content, Stack) and len(content.parts) == 1:
        return Ramp(content.parts[0].start, (*content.parts[0].strides, 0))
    if not isinstance(content, Elements):
        return None
    items, sizes = _all_sizes(content.items), numbers_of(shape)
    if not items or sizes is None or prod(sizes) != len(items):
        return None
    if len(items) == 1:
        return Ramp(items[0], (0,) * len(shape))
    strides: list[Dim] = []
    for axis, size in enumerate(sizes):
        after = prod(sizes[axis + 1 :])
        strides.append(subtract(items[after], items[0]) if size > 1 else 0)
    ramp = Ramp(items[0], tuple(strides))
    return ramp if _along(ramp, sizes) == items else None


def is_size(element: object) -> TypeGuard[Dim]:
    """Return whether an element is a known integer dimension, as opposed to a truth value or a real number."""
    return isinstance(element, (int, Term)) and not isinstance(element, bool)


def _all_sizes(items: Sequence[Element]) -> tuple[Dim, ...] | None:
    found = tuple(i for i in items if is_size(i))
    return found if len(found) == len(items) else None


def sizes_of(content: Content | None, shape: Sequence[Dim] | None) -> tuple[Dim, ...] | None:
    """Return the elements as dimensions if each is a known integer."""
    items = listed(content, shape)
    return None if items is None else _all_sizes(items)


def as_ratio(element: Element) -> Ratio | None:
    """Return an integer or a real number as a ratio."""
    if isinstance(element, Ratio):
        return element
    return Ratio(element, 1) if is_size(element) else None


def ratio(above: Dim, below: Dim) -> Element:
    """Return a quotient, as a dimension if it is an integer; the divisor is positive."""
    whole = exact_quotient((above,), (below,))
    return Ratio(above, below) if whole is None else whole


__all__ = [
    "MAX_ELEMENTS",
    "Bands",
    "Content",
    "Element",
    "Elements",
    "Interval",
    "Numbers",
    "Places",
    "Ramp",
    "Ratio",
    "Stack",
    "as_ramp",
    "as_ratio",
    "at",
    "from_array",
    "from_numbers",
    "is_size",
    "listed",
    "ratio",
    "sizes_of",
]
