"""Known elements of tensors, and the numbers that element types represent exactly.

Exporters compute shapes in the graph: small integer tensors hold sizes, and index tensors count along axes. Both are
tracked exactly. `Elements` lists the elements of a small tensor; an `IndexRamp` is an affine function of the indices,
which ``Range`` creates and ``Unsqueeze``, ``Expand`` and ``Add`` preserve; a `RampStack` holds ramps side by side on
the last axis; `ConstantNumbers` holds a larger constant. An `Interval` bounds elements that data decide; `Bands` are
intervals side by side.

Sizes are assumed to be small enough that the runtime's results stay well within the limits of its 32-bit integers and
of exact integers in 32-bit floats. Numbers that exceed these limits even at small sizes are treated as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeGuard

from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.bounds import Bounds, exact_quotient, numbers_of
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Dim, Term, term
from symbcast.core.structs import NamedTuple

if TYPE_CHECKING:
    import numpy as np


# How many elements are listed; shapes are short, and longer tensors hold data.
MAX_ELEMENTS = 1024


class SizeRatio(NamedTuple):
    """A real number: the quotient of a dimension and a positive dimension."""

    above: Dim
    below: Dim


Element: TypeAlias = "Dim | SizeRatio | Formula | None"
"""An integer, a real number, a truth value (a formula; 0 and 1 also mean false and true), or unknown."""


class Elements(NamedTuple):
    """The elements of a tensor, in row-major order."""

    items: tuple[Element, ...]


class IndexRamp(NamedTuple):
    """Elements ``start + sum(stride * index)``, with one stride for each axis."""

    start: Dim
    strides: tuple[Dim, ...]


class RampStack(NamedTuple):
    """Ramps side by side on the last axis, whose size is the number of ramps; each ramp covers the axes before it."""

    parts: tuple[IndexRamp, ...]


class ConstantNumbers:
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


class DistinctPlaces(Interval):
    """Integers from ``low`` to ``high`` that differ along an axis, such as the order of a sort or a part of it."""

    axis: int

    def __new__(cls, low: Dim, high: Dim, axis: int, is_attained: bool = False) -> Self:
        interval = super().__new__(cls, low, high, is_attained)
        interval.axis = axis
        return interval

    def __eq__(self, other: object) -> bool:
        return type(other) is DistinctPlaces and other.axis == self.axis and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((*self, self.axis))


class Bands(NamedTuple):
    """Intervals side by side on an axis, one for each slice."""

    axis: int
    parts: tuple[Interval, ...]


Content: TypeAlias = Elements | IndexRamp | RampStack | ConstantNumbers | Interval | Bands


def from_numbers(numbers: Iterable[float]) -> Elements:
    """Return the elements of a short tensor of integers, truth values, or real numbers with small denominators."""
    return Elements(tuple(int(n) if isinstance(n, int) else _real(n) for n in numbers))


def from_array(array: np.ndarray[Any, Any]) -> Content:
    """Return the content of an array."""
    if array.size <= MAX_ELEMENTS:
        read = _real if array.dtype.kind == "f" else int
        return Elements(tuple(map(read, array.ravel().tolist())))
    return _as_ramp_of_numbers(array) or ConstantNumbers(array)


def _real(number: float) -> Element:
    """Return a real number if its denominator is small enough to multiply sizes without rounding; otherwise None."""
    if not isfinite(number):
        return None
    if number.is_integer():
        return int(number) if abs(number) <= _MAX_NUMERATOR else None
    numerator, denominator = number.as_integer_ratio()
    return (
        None if denominator > _MAX_DENOMINATOR or abs(numerator) > _MAX_NUMERATOR else SizeRatio(numerator, denominator)
    )


_MAX_DENOMINATOR = 1024
_MAX_NUMERATOR = 1 << 40


def _as_ramp_of_numbers(array: np.ndarray[Any, Any]) -> IndexRamp | None:
    import numpy as np

    if array.dtype.kind not in "iu" or not array.size:
        return None
    start = int(array.flat[0])
    strides = []
    # Numbers of uint64 may exceed int64.
    expected = np.full((1,) * array.ndim, start, dtype=object if array.dtype == np.uint64 else np.int64)
    for axis, length in enumerate(array.shape):
        second = tuple(int(n == axis) for n in range(array.ndim))
        stride = int(array[second]) - start if length > 1 else 0
        strides.append(stride)
        line = np.arange(length, dtype=np.int64) * stride
        expected = expected + line.reshape(tuple(length if n == axis else 1 for n in range(array.ndim)))
    return IndexRamp(start, tuple(strides)) if np.array_equal(expected, array) else None


def listed(content: Content | None, shape: Sequence[Dim] | None) -> tuple[Element, ...] | None:
    """Return the elements one by one if possible; the elements of a ramp over a small static shape are listed too."""
    sizes = numbers_of(shape)
    if isinstance(content, Elements):
        if sizes is None:
            # With more axes, positions are ambiguous.
            return content.items if shape is None or len(shape) == 1 else None
        # After a node that never runs, the shape may have another number of elements.
        return content.items if prod(sizes) == len(content.items) else None
    if content is None or isinstance(content, Interval | Bands) or sizes is None or prod(sizes) > MAX_ELEMENTS:
        return None
    if isinstance(content, IndexRamp):
        return _along(content, sizes)
    if isinstance(content, RampStack):
        return tuple(at(content.parts[index[-1]], index[:-1]) for index in _indices(sizes))
    return tuple(int(n) for n in content.array.ravel().tolist())


def at(ramp: IndexRamp, index: Sequence[int]) -> Dim:
    """Return the element of a ramp at an index."""
    return add(ramp.start, *(multiply(s, i) for s, i in zip(ramp.strides, index, strict=True)))


def _along(ramp: IndexRamp, sizes: Sequence[int]) -> tuple[Dim, ...]:
    """Return the elements of a ramp over a shape, in row-major order."""
    elements: list[Any] = [ramp.start]
    is_plain = all(isinstance(d, int) for d in (ramp.start, *ramp.strides))
    for stride, size in zip(ramp.strides, sizes, strict=True):
        if is_plain:
            elements = [base + stride * n for base in elements for n in range(size)]
        else:
            steps = [multiply(stride, n) for n in range(size)]
            elements = [add(base, step) for base in elements for step in steps]
    return tuple(elements)


def _indices(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    indices: list[tuple[int, ...]] = [()]
    for size in sizes:
        indices = [(*index, n) for index in indices for n in range(size)]
    return indices


def as_ramp(content: Content | None, shape: Sequence[Dim] | None) -> IndexRamp | None:
    """Return a content as a ramp; None if it is not one."""
    if isinstance(content, IndexRamp):
        return content
    if shape is None:
        return None
    if isinstance(content, RampStack) and len(content.parts) == 1:
        return IndexRamp(content.parts[0].start, (*content.parts[0].strides, 0))
    if not isinstance(content, Elements):
        return None
    items, sizes = _all_sizes(content.items), numbers_of(shape)
    if not items or sizes is None or prod(sizes) != len(items):
        return None
    if len(items) == 1:
        return IndexRamp(items[0], (0,) * len(shape))
    strides: list[Dim] = []
    for axis, size in enumerate(sizes):
        after = prod(sizes[axis + 1 :])
        strides.append(subtract(items[after], items[0]) if size > 1 else 0)
    ramp = IndexRamp(items[0], tuple(strides))
    return ramp if _along(ramp, sizes) == items else None


def is_size(element: object) -> TypeGuard[Dim]:
    """Return whether an element is a known integer dimension, as opposed to a truth value or a real number."""
    return isinstance(element, (int, Term)) and not isinstance(element, bool)


def _all_sizes(items: Sequence[Element]) -> tuple[Dim, ...] | None:
    sizes = tuple(i for i in items if is_size(i))
    return sizes if len(sizes) == len(items) else None


def sizes_of(content: Content | None, shape: Sequence[Dim] | None) -> tuple[Dim, ...] | None:
    """Return the elements as dimensions if each is a known integer."""
    items = listed(content, shape)
    return None if items is None else _all_sizes(items)


def as_ratio(element: Element) -> SizeRatio | None:
    """Return an integer or a real number as a ratio."""
    if isinstance(element, SizeRatio):
        return element
    return SizeRatio(element, 1) if is_size(element) else None


def ratio(above: Dim, below: Dim) -> Element:
    """Return a quotient, as a dimension if it is an integer; the divisor is positive."""
    whole = exact_quotient((above,), (below,))
    return SizeRatio(above, below) if whole is None else whole


# Element types, numbered as in ONNX's `TensorProto.DataType`.
FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = range(1, 10)
FLOAT16, DOUBLE, UINT32, UINT64 = range(10, 14)
BFLOAT16 = 16
INTEGERS = frozenset({UINT8, INT8, UINT16, INT16, INT32, INT64, UINT32, UINT64})
UNSIGNED = frozenset({UINT8, UINT16, UINT32, UINT64})
FLOATS = frozenset({FLOAT, FLOAT16, DOUBLE, BFLOAT16})

# The range in which each type holds all integers.
_RANGES = {
    UINT8: (0, (1 << 8) - 1),
    INT8: (-(1 << 7), (1 << 7) - 1),
    UINT16: (0, (1 << 16) - 1),
    INT16: (-(1 << 15), (1 << 15) - 1),
    INT32: (-(1 << 31), (1 << 31) - 1),
    INT64: (-(1 << 63), (1 << 63) - 1),
    UINT32: (0, (1 << 32) - 1),
    UINT64: (0, (1 << 64) - 1),
    FLOAT: (-(1 << 24), 1 << 24),
    DOUBLE: (-(1 << 53), 1 << 53),
    FLOAT16: (-(1 << 11), 1 << 11),
    BFLOAT16: (-(1 << 8), 1 << 8),
}

# Types that hold fewer integers than these are not followed if they contain sizes.
_OF_SIZES = 1 << 24
# The largest factor by which sizes may be multiplied.
_MAX_FACTOR = 1 << 20


def as_represented(element: Element, dtype: int, bounds: Bounds) -> Element:
    """Return a number as an element type represents it; None if that may not be exact.

    >>> from symbcast.core.algebra.bounds import Bounds
    >>> as_represented(255, 2, Bounds({})), as_represented(256, 2, Bounds({}))
    (255, None)
    >>> as_represented(257, BFLOAT16, Bounds({})) is None
    True
    """
    if dtype not in _RANGES:
        return element
    low, high = _RANGES[dtype]
    if isinstance(element, int):
        return element if low <= element <= high else None
    if isinstance(element, SizeRatio):
        above, below = as_represented(element.above, dtype, bounds), as_represented(element.below, dtype, bounds)
        return None if above is None or below is None else element
    if not is_size(element):
        return element
    if high < _OF_SIZES or any(abs(c) > _MAX_FACTOR for c in term(element).coefficients.values()):
        return None
    return element if low < 0 or bounds.is_at_least(element, 0) else None


def range_of(dtype: int) -> tuple[int, int]:
    """Return the least and greatest values of an integer element type.

    >>> range_of(3)
    (-128, 127)
    """
    return _RANGES[dtype]


def is_rounded(number: SizeRatio) -> bool:
    """Return whether floats round a quotient at some sizes because its divisor is not a power of two."""
    return not is_power_of_two(number.below)


def is_power_of_two(dim: Dim) -> TypeGuard[int]:
    """Return whether a dimension is a number by which floats can be multiplied and divided without rounding."""
    return isinstance(dim, int) and dim != 0 and abs(dim) & (abs(dim) - 1) == 0
