"""Convert between shapes as written in code and dimensions; find dtypes and axes of arrays and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.core.logic.formulas import at_most
from symbcast.operators.context import Dims
from symbcast.paths.runs.path import current
from symbcast.paths.runs.steps import UntracedError
from symbcast.paths.values.real import Real
from symbcast.paths.values.size import Size, dim_of, is_whole

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.paths.runs.path import Path

WEAK: dict[type, type] = {bool: np.bool_, int: int, float: float, complex: complex, Size: int, Real: float}
"""How Python's number types are promoted together with array dtypes."""


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
    path, found = here(), []
    for size in sizes:
        if not is_whole(size):
            raise TypeError(f"{type(size).__name__!r} object cannot be interpreted as an integer")
        dim = dim_of(size)
        if not path.bounds.is_at_least(dim, 0):
            path.require(at_most(0, dim), "negative dimensions are not allowed")
        found.append(dim)
    return tuple(found)


def broadcast_together(shapes: Iterable[Dims], error: type[Exception] = ValueError) -> Dims:
    """Return the broadcast shape of arrays; arrays without axes do not contribute."""
    with_axes = [s for s in shapes if s]
    if len(with_axes) < 2:
        return with_axes[0] if with_axes else ()
    try:
        return here().broadcast(*with_axes)
    except ValueError as refused:
        raise error(*refused.args) from None


def put_into(place: Dims, value: Dims, reason: str = "could not broadcast input array into the place") -> None:
    """Require that a value can be broadcast into a place; extra leading axes of the value must have size 1."""
    path, extra = here(), max(0, len(value) - len(place))
    for dim in value[:extra]:
        path.equal(dim, 1, reason)
    path.broadcast(value[extra:], place, rule="unidirectional")


def dims_of(value: Any) -> Dims:
    """Return the shape of a symbolic or real array, a number, a size, or a list of these."""
    if hasattr(type(value), "dims"):
        found: Dims = value.dims
        return found
    if type(value) in (Size, Real):
        return ()
    if isinstance(value, (list, tuple)):
        return (len(value), *(dims_of(value[0]) if len(value) else ()))
    return tuple(np.shape(value))


def dtype_of(value: Any) -> Any:
    """Return the dtype of an array; for a Python number, the class that determines its promotion with arrays."""
    kind = type(value)
    if kind in WEAK:
        return WEAK[kind]
    found = getattr(value, "dtype", None)
    if kind in (list, tuple):
        return np.result_type(*[_strong(dtype_of(v)) for v in value]) if value else np.dtype(float)
    if found is None:
        return np.asarray(value).dtype
    return np.dtype(np.intp) if np.dtype(found).kind == "O" else np.dtype(found)


def common_dtype(values: Iterable[Any]) -> Any:
    """Return the common dtype of arrays and numbers."""
    given = [dtype_of(v) for v in values]
    return np.result_type(*map(example_of, given))


def example_of(dtype: Any) -> Any:
    """Return an argument for `numpy.result_type`: a dtype, or an example number for Python's weaker number types."""
    return dtype(0) if isinstance(dtype, type) and dtype in (int, float, complex) else dtype


def _strong(dtype: Any) -> Any:
    return np.dtype(dtype)


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
    given: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for value in given:
        number = value if type(value) is int else value.__index__()
        if not -rank <= number < rank:
            raise np.exceptions.AxisError(number, rank)
        found.append(number % rank)
    if len(set(found)) < len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(found)


def product(dims: Iterable[Dim]) -> Dim:
    """Return the number of elements of a shape."""
    from symbcast.core.algebra.arithmetic import multiply

    return multiply(*dims)
