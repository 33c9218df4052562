"""Indexing: integers, slices, new axes, arrays of integers and masks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.arrays.dims import broadcast_together, dims_of, dtype_of, here, is_symbolic
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.logic.formulas import FALSE, Comparison, all_of, any_of, at_most
from symbcast.operators.context import Dims
from symbcast.operators.indexing import meet, within
from symbcast.operators.slices import cut, length
from symbcast.paths.size import dim_of, is_whole

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.paths.path import Path


def indexed(array: Any, key: Any) -> SymbolicArray:
    """Return what an index takes out of an array."""
    undo = here().doing("index", [array.dims])
    try:
        return _indexed(array, key if isinstance(key, tuple) else (key,))
    finally:
        undo()


def _indexed(array: Any, key: tuple[Any, ...]) -> SymbolicArray:
    path, dims = here(), array.dims
    items = [_item(k) for k in key]
    used = sum(_axes_used(k) for k in items)
    if used > len(dims):
        raise IndexError(f"too many indices for array: array is {len(dims)}-dimensional, but {used} were indexed")
    if sum(k is Ellipsis for k in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(k is Ellipsis for k in items):
        items.append(Ellipsis)
    found: list[Dim] = []
    advanced: list[Dims] = []
    places: list[int] = []
    has_array = any(_is_array(k) for k in items)
    axis = 0
    for number, item in enumerate(items):
        if item is None:
            found.append(1)
        elif item is Ellipsis:
            found += dims[axis : axis + len(dims) - used]
            axis += len(dims) - used
        elif isinstance(item, slice):
            found.append(sliced(path, dims[axis], item))
            axis += 1
        elif _is_array(item) or (has_array and is_whole(item)):
            shape, width = _advanced(path, dims, axis, item)
            advanced.append(shape)
            places += [number, len(found)]
            axis += width
        else:
            _place_within(path, dim_of(item), dims[axis])
            axis += 1
    if advanced:
        _insert(path, found, advanced, places, items)
    taken = SymbolicArray(tuple(found), array.dtype, array.truth)
    taken.bounds = array.bounds
    return taken


def _insert(path: Path, found: list[Dim], advanced: list[Dims], places: list[int], items: Sequence[Any]) -> None:
    """Put the axes of arrays where NumPy has them: in the place of the first, or in front where others lie between."""
    numbers = places[::2]
    together = all(b == a + 1 for a, b in pairwise(numbers))
    at = places[1] if together else 0
    found[at:at] = broadcast_together(advanced)


def _item(key: Any) -> Any:
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    if isinstance(key, (bool, np.bool_)):
        return np.asarray(key)
    if is_whole(key):
        return key
    if isinstance(key, (list, tuple, range, np.ndarray)) and not hasattr(type(key), "dims"):
        if is_symbolic(key):
            return SymbolicArray(dims_of(key), np.intp)
        found = np.asarray(key)
        return found.astype(np.intp) if not found.size and found.dtype == float else found
    if hasattr(type(key), "dims"):
        return key
    raise IndexError("only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are valid indices")


def _is_array(item: Any) -> bool:
    return not (item is None or item is Ellipsis or isinstance(item, slice) or is_whole(item))


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(dims_of(item)) if _is_array(item) and dtype_of(item).kind == "b" else 1


def _advanced(path: Path, dims: Dims, axis: int, item: Any) -> tuple[Dims, int]:
    """Return the shape that an array of indices gives, and how many axes it indexes."""
    size = dims[axis] if axis < len(dims) else 1
    if not _is_array(item):
        _place_within(path, dim_of(item), size)
        return (), 1
    if dtype_of(item).kind == "b":
        shape = dims_of(item)
        for n, length in enumerate(shape):
            if length != dims[axis + n]:
                path.require(_equal(length, dims[axis + n]), "a mask must have the shape that it indexes", IndexError)
        if not hasattr(type(item), "dims"):
            return (int(np.count_nonzero(item)),), len(shape)
        return (counted(path, item),), len(shape)
    if dtype_of(item).kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    shape = dims_of(item)
    if not hasattr(type(item), "dims"):
        if item.size:
            within_axis(path, int(item.min()), int(item.max()), size, shape)
    elif item.span is not None:
        low, high = item.span
        within_axis(path, low, high, size, shape)
    elif item.bounds is not None:
        low, high = item.bounds
        _bounded_within(path, low, high, size, shape)
    else:
        meet(_IndexErrors(path), None, None, size, shape)  # type: ignore[arg-type]
    return shape, 1


def _bounded_within(path: Path, low: Dim, high: Dim | None, size: Dim, shape: Dims) -> None:
    """Go on where indices that are drawn lie within an axis wherever they fall; of other sizes nothing is known."""
    is_within = FALSE if high is None else all_of([at_most(multiply(-1, size), low), Comparison("<", high, size)])
    if not path.ask(any_of([is_within, *(Comparison("==", d, 0) for d in shape)])):
        path.fail_to_trace("whether indices that are drawn at random lie within the axis is not known")


def within_axis(path: Path, low: Dim, high: Dim, size: Dim, shape: Dims) -> None:
    """Require that indices from a least to a greatest one be within an axis."""
    within(_IndexErrors(path), low, high, size, shape)  # type: ignore[arg-type]


class _IndexErrors:
    """A path that raises `IndexError` for what it requires."""

    def __init__(self, path: Path) -> None:
        self.bounds = path.bounds
        self.empty = path.empty
        self._path = path

    def require(self, formula: Any, reason: str) -> None:
        self._path.require(formula, reason, IndexError)


def _equal(left: Dim, right: Dim) -> Comparison:
    return Comparison("==", left, right)


def _place_within(path: Path, place: Dim, size: Dim) -> None:
    reason = "the index must be within the axis"
    path.require(Comparison("<", place, size), reason, IndexError)
    path.require(at_most(multiply(-1, size), place), reason, IndexError)


def counted(path: Path, array: Any) -> Dim:
    """Return how many elements of an array are true: a number that data decide, where they do."""
    most = multiply(*array.dims)
    if array.truth is not None:
        return most if array.truth else 0
    if not array.true_count:
        if array.false_count is None:
            array.true_count.append(_counted(path, most))
        else:
            if not array.false_count:
                array.false_count.append(_counted(path, most))
            array.true_count.append(subtract(most, array.false_count[0]))
    found: Dim = array.true_count[0]
    return found


def _counted(path: Path, most: Dim) -> Dim:
    count = path.data_size("count")
    path.suppose(at_most(count, most))
    return count


def sliced(path: Path, size: Dim, part: slice) -> Dim:
    """Return how long a slice of an axis is."""
    step = 1 if part.step is None else dim_of(part.step) if is_whole(part.step) else _no_size(path)
    if not isinstance(step, int) and not path.bounds.is_at_least(step, 1):
        step = path.number(step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if part.start is None and part.stop is None and step in (1, -1):
        return size
    if isinstance(step, int) and step < 0:
        ends = _end(path, size, part.start, subtract(size, 1)), _end(path, size, part.stop, -1)
        return cut(path, size, (*ends, step))[1]
    start = _end(path, size, part.start, 0)
    return length(path, size, path.bounds.larger(start, 0), _end(path, size, part.stop, size), step)


def _no_size(path: Path) -> NoReturn:
    path.fail_to_trace("a slice has an end or a step that data decide, or that is no whole number")


def _end(path: Path, size: Dim, given: Any, default: Dim) -> Dim:
    """Return an end of a slice counted from the front, not yet within the axis."""
    if given is None:
        return default
    if not is_whole(given):
        return _no_size(path)
    place = dim_of(given)
    is_negative = place < 0 if isinstance(place, int) else path.ask(Comparison("<", place, 0))
    return add(place, size) if is_negative else place


SymbolicArray.taken = staticmethod(indexed)
