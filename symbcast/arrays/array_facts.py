"""What is known about arrays: the dimensions, axes and dtypes of any argument, and facts about elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.operators.operator import Dims
from symbcast.paths.path import Path, current
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, dim_of, is_whole
from symbcast.paths.steps import UntracedError

# How Python's number types are promoted together with array dtypes.
WEAK: dict[type, type] = {bool: np.bool_, int: int, float: float, complex: complex, Size: int, Real: float}


def here() -> Path:
    """Return the path that is running."""
    path = current.get()
    if path is None:
        raise UntracedError("a symbolic array is used outside its trace")
    return path


def whole(value: Any) -> Any:
    """Return a single element of an array of integers as an integer that data decide; any other value unchanged."""
    kind = type(value)
    is_element = hasattr(kind, "dims") and hasattr(kind, "whole") and not value.dims
    return kind.whole(value) if is_element and value.dtype.kind in "iu" else value


def as_dims(shape: Any) -> Dims:
    """Return a requested shape, or a single size, as dimensions; require that no size is negative."""
    shape = whole(shape)
    sizes = (shape,) if is_whole(shape) else tuple(map(whole, shape))
    path, dims = here(), []
    for size in sizes:
        if not is_whole(size):
            raise TypeError(f"{type(size).__name__!r} object cannot be interpreted as an integer")
        dim = dim_of(size)
        path.at_most(0, dim, "negative dimensions are not allowed")
        dims.append(dim)
    return tuple(dims)


def broadcast_together(shapes: Iterable[Dims], error: type[Exception] = ValueError) -> Dims:
    """Return the broadcast shape of arrays; arrays without axes do not contribute."""
    # A scalar has no axis that could clash.
    with_axes = [s for s in shapes if s]
    if len(with_axes) < 2:
        return with_axes[0] if with_axes else ()
    try:
        return here().broadcast(*with_axes)
    except ValueError as refused:
        raise error(*refused.args) from None


def put_into(place: Dims, value: Dims) -> None:
    """Require that a value can be broadcast into a place; extra leading axes of the value must have size 1."""
    path, extra = here(), max(0, len(value) - len(place))
    # NumPy drops leading axes of size 1 when it writes a value into a place of lower rank.
    for dim in value[:extra]:
        path.equal(dim, 1, "could not broadcast input array into the place")
    path.broadcast(value[extra:], place, rule="unidirectional")


def dims_of(value: Any) -> Dims:
    """Return the shape of a symbolic or real array, a number, a size, or a list of these."""
    if hasattr(type(value), "dims"):
        dims: Dims = value.dims
        return dims
    if type(value) in (Size, Real):
        return ()
    if isinstance(value, (list, tuple)):
        return (len(value), *(dims_of(value[0]) if len(value) else ()))
    return tuple(np.shape(value))


def only_size(
    value: Any, refusal: str = "object too deep for desired array", error: type[Exception] = ValueError
) -> Dim:
    """Return the size of an array of one axis. Raises an error for any other number of axes."""
    dims = dims_of(value)
    if len(dims) != 1:
        raise error(refusal)
    return dims[0]


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array; for a Python number, the class that determines its promotion with arrays."""
    kind = type(value)
    if kind in WEAK:
        return WEAK[kind]
    dtype = getattr(value, "dtype", None)
    if kind in (list, tuple):
        return np.result_type(*[np.dtype(dtype_of(v)) for v in value]) if value else np.dtype(float)
    if dtype is None:
        return np.asarray(value).dtype
    # Object arrays hold sizes, which are integers.
    return np.dtype(np.intp) if np.dtype(dtype).kind == "O" else np.dtype(dtype)


def common_dtype(values: Iterable[Any]) -> Any:
    """Return the common dtype of arrays and numbers."""
    dtypes = [dtype_of(v) for v in values]
    return np.result_type(*map(example_of, dtypes))


def example_of(dtype: Any) -> Any:
    """Return an argument for `numpy.result_type`: a dtype, or an example number for Python's weaker number types."""
    return dtype(0) if isinstance(dtype, type) and dtype in (int, float, complex) else dtype


def is_symbolic(value: Any) -> bool:
    """Return whether a value contains a symbolic array, a size, or a number computed from sizes."""
    kind = type(value)
    if kind in (Size, Real) or hasattr(kind, "dims"):
        return True
    if kind is np.ndarray:
        return bool(value.dtype == object) and any(is_symbolic(v) for v in value.flat)
    return kind in (list, tuple) and any(map(is_symbolic, value))


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Return axes counted from the front; all of them for None. Raises `numpy.exceptions.AxisError`."""
    if axis is None:
        return tuple(range(rank))
    axes: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = []
    for value in axes:
        # `__index__` of a size makes it a number: an axis must be known.
        number = value if type(value) is int else value.__index__()
        if not -rank <= number < rank:
            raise np.exceptions.AxisError(number, rank)
        places.append(number % rank)
    if len(set(places)) < len(places):
        raise ValueError("duplicate value in 'axis'")
    return tuple(places)


# Integers in arrays: their bounds, and ramps that rise or fall by a constant step.


class IntegerSpan(NamedTuple):
    """Bounds of the integers in an array; meaningless for an array without elements.

    Attributes:
        low: the lower bound.
        high: the upper bound.
        occurs: which integers are elements: all from `low` to `high` (``"all"``), both bounds (``"ends"``), some of the
            elements of a larger array (``"part"``), or any within the bounds, depending on data (``"none"``), perhaps
            with no two that are equal (``"distinct"``).
    """

    low: Dim
    high: Dim
    occurs: Literal["all", "ends", "part", "none", "distinct"] = "ends"

    @property
    def is_exact(self) -> bool:
        """Whether both bounds occur."""
        return self.occurs in ("all", "ends")

    @property
    def bounds(self) -> IntegerSpan:
        """The same bounds for a subset of the elements, which need not include the bounds themselves."""
        return self._replace(occurs="none" if self.occurs in ("none", "distinct") else "part")


class ArrayRamp(NamedTuple):
    """Elements of an array of one axis: ``first``, ``first + step``, and so on."""

    first: Dim
    step: int


@dataclass(frozen=True)
class TruthPattern:
    """Which elements ``[i, j]`` of an array are true.

    Attributes:
        rows: the size of the first axis.
        columns: the size of the second axis.
        kind: where ``j <= i + k`` (``"lower"``), ``j >= i + k`` (``"upper"``), or ``j == i + k`` (``"diagonal"``).
        k: the diagonal.
    """

    rows: Dim
    columns: Dim
    kind: Literal["lower", "upper", "diagonal"]
    k: Dim

    @property
    def negated(self) -> TruthPattern | None:
        """Return the pattern of the false elements; None for those off a diagonal."""
        match self.kind:
            case "lower":
                return replace(self, kind="upper", k=add(self.k, 1))
            case "upper":
                return replace(self, kind="lower", k=subtract(self.k, 1))
        return None

    @property
    def transposed(self) -> TruthPattern:
        """Return the pattern with its axes exchanged."""
        kind: Literal["lower", "upper", "diagonal"] = "diagonal"
        if self.kind != "diagonal":
            kind = "upper" if self.kind == "lower" else "lower"
        return TruthPattern(self.columns, self.rows, kind, multiply(-1, self.k))

    def count(self, path: Path) -> Dim:
        """Return the number of true elements."""
        if self.kind == "diagonal":
            return self._diagonal(path)
        if self.kind == "upper":
            return self.transposed.count(path)
        # Row i has clip(i + k + 1, 0, columns) true elements: the sum of max(0, i + k + 1) minus that of
        # max(0, i + k + 1 - columns). Each sum is the triangle number of its last row, minus rows that do not exist.
        last = add(self.rows, self.k)
        return subtract(
            subtract(_triangle(path, last), _triangle(path, self.k)),
            subtract(_triangle(path, subtract(last, self.columns)), _triangle(path, subtract(self.k, self.columns))),
        )

    def spans(self, path: Path) -> tuple[IntegerSpan, IntegerSpan]:
        """Return the indices of true elements on both axes; each span is valid only if there are true elements."""
        larger, smaller = path.bounds.larger, path.bounds.smaller
        last_row, last_column = subtract(self.rows, 1), subtract(self.columns, 1)
        first, last = larger(multiply(-1, self.k), 0), smaller(last_row, subtract(last_column, self.k))
        left, right = larger(self.k, 0), smaller(last_column, add(last_row, self.k))
        match self.kind:
            case "lower":
                return IntegerSpan(first, last_row, "all"), IntegerSpan(0, right, "all")
            case "upper":
                return IntegerSpan(0, last, "all"), IntegerSpan(left, last_column, "all")
        return IntegerSpan(first, last, "all"), IntegerSpan(left, right, "all")

    def _diagonal(self, path: Path) -> Dim:
        larger, smaller = path.bounds.larger, path.bounds.smaller
        above, below = larger(self.k, 0), larger(multiply(-1, self.k), 0)
        return larger(smaller(subtract(self.rows, below), subtract(self.columns, above)), 0)


def _triangle(path: Path, size: Dim) -> Dim:
    """Return ``1 + 2 + ... + size``, 0 for a size below 1; the formula gives 0 for -1 too."""
    if not path.bounds.is_at_least(size, -1):
        size = path.bounds.larger(size, 0)
    return floor_divide(multiply(size, add(size, 1)), 2)


@dataclass
class ArrayContents:
    """Facts about the elements of an array.

    Attributes:
        truth: whether all elements are true, or all are false; None if unknown.
        span: bounds of the elements, for integers.
        ramp: the elements of one axis if they rise or fall by a constant step.
        pattern: which elements of two axes are true, if sizes decide that.
        is_data: whether the elements depend on the values of arguments; if not, they depend on sizes only.
        number: the number of the elements, which equal elements have too (`numbering.py`); None until it is needed.
        joins: the keys of joins that led to elements of which not all is known that holds.
        divisors: the sizes by which elements were divided: where one is 0, they may not be finite.
        count: the number of elements of which these are the mean: where it is 0, they are NaN; None for others.
    """

    truth: bool | None = None
    span: IntegerSpan | None = None
    ramp: ArrayRamp | None = None
    pattern: TruthPattern | None = None
    is_data: bool = True
    number: int | None = None
    divisors: tuple[Any, ...] = ()
    joins: tuple[Any, ...] = ()
    count: Any = None

    @property
    def spread(self) -> ArrayContents:
        """Return the facts that remain when elements are reordered, reshaped or repeated."""
        return ArrayContents(self.truth, self.span, is_data=self.is_data, divisors=self.divisors, joins=self.joins)

    @property
    def some(self) -> ArrayContents:
        """Return the facts that hold for a subset of the elements."""
        span = self.span.bounds if self.span else None
        return ArrayContents(self.truth, span, is_data=self.is_data, divisors=self.divisors, joins=self.joins)


class ArrayMemory:
    """Elements that several arrays may share: a write through one array changes them for all.

    Attributes:
        own: the number of writes through this one.
        parts: the elements of which these are one, if data decide which.
        is_number: whether it is a number, which nothing changes in place.
    """

    __slots__ = ("is_number", "own", "parts")

    def __init__(self, *parts: ArrayMemory, is_number: bool = False) -> None:
        self.own, self.parts, self.is_number = 0, parts, is_number

    @property
    def writes(self) -> int:
        """The number of writes so far that may have changed the elements."""
        return self.own + sum(p.writes for p in self.parts)

    def write(self) -> None:
        """Count a write."""
        self.own += 1
        for part in self.parts:
            part.write()
