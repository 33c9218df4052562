"""Reads and writes by index: integers, slices, new axes, index arrays and masks, ``ufunc.at`` and other writers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from symbcast.arrays.array_facts import (
    WEAK,
    ArrayContents,
    ArrayRamp,
    IntegerSpan,
    axes_of,
    broadcast_together,
    dims_of,
    dtype_of,
    here,
    is_symbolic,
    put_into,
    whole,
)
from symbcast.arrays.symbolic_array import (
    SymbolicArray,
    contents_of,
    is_of_data,
    method,
    number_of,
    numbered,
    numbering,
)
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.operators.indexing import meet
from symbcast.operators.joining_and_slicing import cut, length
from symbcast.operators.operator import Dims
from symbcast.paths.path import Path
from symbcast.paths.sizes import dim_of, is_whole, sized


def indexed(array: Any, key: Any) -> SymbolicArray:
    """Return the array that an index selects."""
    with here().doing("index", [array.dims]):
        fields = _fields(array, key)
        return _indexed(array, key if isinstance(key, tuple) else (key,)) if fields is None else fields


def _fields(array: Any, key: Any) -> SymbolicArray | None:
    """Return fields of a structured array; None for any other index."""
    is_list = isinstance(key, list) and bool(key) and all(isinstance(k, str) for k in key)
    if not is_list and not isinstance(key, str):
        return None
    if array.dtype.names is None:
        raise IndexError(
            "only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are valid indices"
        )
    return SymbolicArray(array.dims, array.dtype[key], memory=array.memory)


class _Advanced(NamedTuple):
    """An array used as an index, or an integer next to one: its shape, and the size of the axis that it indexes."""

    # None for a mask, whose requirements were added before.

    item: Any
    shape: Dims
    size: Dim


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
    result: list[Dim] = []
    advanced: list[_Advanced] = []
    places: list[int] = []
    has_array = any(_is_array(k) for k in items)
    axis = 0
    for number, item in enumerate(items):
        if item is None:
            result.append(1)
        elif item is Ellipsis:
            result += dims[axis : axis + len(dims) - used]
            axis += len(dims) - used
        elif isinstance(item, slice):
            result.append(sliced(path, dims[axis], item))
            axis += 1
        elif _is_array(item) or (has_array and is_whole(item)):
            taken, width = _advanced(path, dims, axis, item)
            advanced.append(taken)
            places += [number, len(result)]
            axis += width
        else:
            _place_within(path, dim_of(item), dims[axis])
            axis += 1
    if advanced:
        _insert(path, result, advanced, places)
        contents = array.contents.some
        contents.is_data |= is_of_data(*(a.item for a in advanced if a.item is not None))
        selected = SymbolicArray(tuple(result), array.dtype, contents=contents)
        numbered("take", selected, items, (), number_of(array))
        return selected
    part = SymbolicArray(tuple(result), array.dtype, contents=_taken(array, items), memory=array.memory)
    # An index of a loop selects another element in each iteration.
    is_varying = path.loops.varying and any(path.loops.are_in(equal(dim_of(k), 0)) for k in items if is_whole(k))
    if part.contents is not array.contents and not is_varying:
        is_full = len(items) == len(dims) + 1 and None not in items
        where = list(map(_from_front, items, dims)) if is_full else items
        numbered("index", part, [where], (), number_of(array))
    return part


def _from_front(item: Any, size: Dim) -> Any:
    """Return a constant index counted from the front."""
    return sized(add(item, size), here()) if isinstance(item, int) and item < 0 else item


def _insert(path: Path, result: list[Dim], advanced: Sequence[_Advanced], places: list[int]) -> None:
    """Insert the axes of index arrays where NumPy puts them: at the first one, or in front if they are separated."""
    numbers = places[::2]
    together = all(b == a + 1 for a, b in pairwise(numbers))
    at = places[1] if together else 0
    shape = broadcast_together([a.shape for a in advanced], IndexError)
    # NumPy checks index arrays only if there are elements to take, but always checks single integers.
    for taken in advanced:
        if taken.item is not None:
            check_indices(path, taken.item, taken.size, shape if taken.shape else ())
    result[at:at] = shape


def _taken(array: Any, items: Sequence[Any]) -> ArrayContents:
    """Return the facts about the elements that integers and slices select."""
    contents: ArrayContents = array.contents
    key = [k for k in items if k is not Ellipsis and k is not None]
    if all(isinstance(k, slice) and _is_whole_slice(k) for k in key):
        return contents.spread if not contents.ramp or len(items) > 1 + len(key) or key else contents
    if len(items) == 2 and len(key) == 1 and contents.ramp is not None and isinstance(key[0], slice):
        return _ramp_part(here(), contents, array.dims[0], key[0])
    part = contents.some
    if len(key) == 1 and len(array.dims) == 1 and contents.span is not None and contents.is_data:
        low, high, occurs = contents.span
        # Data decide which elements of a permutation are at which places.
        if occurs == "distinct" or (occurs == "all" and add(high, 1) == add(low, array.dims[0])):
            part.span = IntegerSpan(low, high, "distinct" if isinstance(key[0], slice) else "none")
    return part


def _is_whole_slice(part: slice) -> bool:
    return part.start is None and part.stop is None and (part.step is None or part.step in (1, -1))


def _ramp_part(path: Path, contents: ArrayContents, size: Dim, part: slice) -> ArrayContents:
    """Return a slice of a ramp."""
    ramp = contents.ramp
    step = 1 if part.step is None else dim_of(part.step)
    if ramp is None or not isinstance(step, int) or not step:
        return contents.some
    if step > 0:
        start = path.bounds.larger(_end(path, size, part.start, 0), 0)
    else:
        last = subtract(size, 1)
        start = path.bounds.smaller(_end(path, size, part.start, last), last)
    return ramp_contents(add(ramp.first, multiply(start, ramp.step)), ramp.step * step, sliced(path, size, part))


def ramp_contents(first: Dim, step: int, count: Dim) -> ArrayContents:
    """Return the elements ``first``, ``first + step``, ... of an array of one axis."""
    last = add(first, multiply(step, subtract(count, 1)))
    low, high = (first, last) if step > 0 else (last, first)
    return ArrayContents(
        span=IntegerSpan(low, high, "all" if step in (1, -1) else "ends"), ramp=ArrayRamp(first, step), is_data=False
    )


def check_indices(  # noqa: PLR0913 - the indices, the axis, and how NumPy interprets them
    path: Path, item: Any, size: Dim, shape: Dims, *, is_from_front: bool = False, error: type[Exception] = IndexError
) -> None:
    """Require that indices are within an axis, unless an array of ``shape`` has no elements.

    If the indices depend on the values of arguments, at least one index within their bounds must be valid. With
    ``is_from_front``, no index may be negative.
    """
    if type(item) in (list, np.ndarray) and not np.size(item):
        return
    if type(item) is np.ndarray and item.dtype == object:  # sizes, each known
        for each in item.flat:
            check_indices(path, each, size, shape, is_from_front=is_from_front, error=error)
        return
    whole = dim_of(item) if is_whole(item) else None
    span = contents_of(item).span if whole is None else IntegerSpan(whole, whole)
    context, least = _IndexErrors(path, error), 0 if is_from_front else multiply(-1, size)
    if whole is None and contents_of(item).is_data:
        path.data_lines[path.place()] = None
    # Indices that depend on sizes only are not data: if they were not followed, the path is unknown.
    if span is None:
        if not contents_of(item).is_data:
            path.fail_to_trace("indices that depend on sizes only were not followed here")
        meet(context, None, None, size, shape)  # type: ignore[arg-type]
        return
    empty = [equal(d, 0) for d in shape if not path.bounds.is_at_least(d, 1)]
    inside = [at_most(least, span.low), at_most(add(span.high, 1), size)]
    if span.is_exact:
        for need in inside:
            context.require(any_of([*empty, need]), "indices must be within the axis that they index")
    elif span.occurs == "distinct" and path.bounds.is_at_least(span.low, 0):
        # The least indices that are as many as these must be within the axis.
        need = at_most(add(span.low, multiply(*dims_of(item))), size)
        if not path.implies(need):
            context.require(any_of([*empty, need]), "indices must be within the axis that they index")
    elif span.occurs in ("none", "distinct") and contents_of(item).is_data:
        low = path.bounds.larger(span.low, 0) if is_from_front else span.low
        meet(context, low, span.high, size, shape)  # type: ignore[arg-type]
    elif not path.ask(any_of([*empty, all_of(inside)])):
        path.fail_to_trace("the values of these indices were not followed")


def _item(key: Any) -> Any:
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    if isinstance(key, (bool, np.bool_)):
        return np.asarray(key)
    if is_whole(key):
        return key
    if isinstance(key, (list, tuple, range, np.ndarray)) and not hasattr(type(key), "dims"):
        is_listed = isinstance(key, (list, tuple)) and all(_is_index_of_data(k) or is_whole(k) for k in key)
        if is_listed and any(map(_is_index_of_data, key)):
            # Each of these indices is checked alone: only some of them are data.
            items = np.empty(len(key), object)
            for place, index in enumerate(key):
                items[place] = index
            return items
        if is_symbolic(key):
            return np.asarray(key)
        # An empty list is an array of floats, which NumPy takes as indices all the same.
        array = np.asarray(key)
        return array.astype(np.intp) if not array.size and array.dtype == float else array
    if hasattr(type(key), "dims"):
        return key
    raise IndexError("only integers, slices, ellipsis, numpy.newaxis and integer or boolean arrays are valid indices")


def _is_index_of_data(value: Any) -> bool:
    """Return whether a value is an integer that data decide."""
    return hasattr(type(value), "dims") and value.dims == () and value.dtype.kind in "iu"


def _is_array(item: Any) -> bool:
    return not (item is None or item is Ellipsis or isinstance(item, slice) or is_whole(item))


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(dims_of(item)) if _is_array(item) and dtype_of(item).kind == "b" else 1


def _advanced(path: Path, dims: Dims, axis: int, item: Any) -> tuple[_Advanced, int]:
    """Return an index array, and the number of axes that it indexes."""
    size = dims[axis] if axis < len(dims) else 1
    if not _is_array(item):
        return _Advanced(item, (), size), 1
    shape = dims_of(item)
    if dtype_of(item).kind == "b":
        check_mask(path, shape, dims[axis:])
        if not hasattr(type(item), "dims"):
            return _Advanced(None, (int(np.count_nonzero(item)),), size), len(shape)
        return _Advanced(None, (counted(path, item),), size), len(shape)
    if dtype_of(item).kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return _Advanced(item, shape, size), 1


def check_mask(path: Path, shape: Dims, dims: Dims) -> None:
    """Require that a mask has the shape that it indexes."""
    for mask_size, size in zip(shape, dims, strict=False):
        # NumPy accepts an axis of size 0 for any axis.
        if mask_size not in (0, size):
            fits = any_of([equal(mask_size, size), equal(mask_size, 0)])
            path.require(fits, "a mask must have the shape that it indexes, or no elements", IndexError)


class _IndexErrors:
    """A path whose requirements all raise one type of error."""

    def __init__(self, path: Path, error: type[Exception]) -> None:
        self.bounds = path.bounds
        self.empty = path.empty
        self._path, self._error = path, error

    def require(self, formula: Any, reason: str) -> None:
        self._path.require(formula, reason, self._error)


def _place_within(path: Path, place: Dim, size: Dim) -> None:
    reason = "the index must be within the axis"
    path.require(Comparison("<", place, size), reason, IndexError)
    path.require(at_most(multiply(-1, size), place), reason, IndexError)


def counted(path: Path, array: Any) -> Dim:
    """Return the number of true elements of an array: a data-dependent size, unless it depends on sizes only."""
    most, contents = multiply(*array.dims), contents_of(array)
    if contents.truth is not None:
        return most if contents.truth else 0
    if contents.pattern is not None:
        return contents.pattern.count(path)
    if not contents.is_data:
        path.fail_to_trace("how many elements are true depends on sizes only, but was not followed here")
    return numbering().count(numbering().mask(number_of(array)))


def sliced(path: Path, size: Dim, part: slice) -> Dim:
    """Return the length of a slice of an axis."""
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
    start, stop = _end(path, size, part.start, 0), _end(path, size, part.stop, size)
    # A part known to be within the axis needs no clipping, whose minimum would stay in the shape.
    if step == 1 and path.is_within(start, stop, size):
        return subtract(stop, start)
    return length(path, size, path.bounds.larger(start, 0), stop, step)


def _no_size(path: Path) -> NoReturn:
    path.fail_to_trace("a slice has an end or a step that depends on data or is not an integer")


def _end(path: Path, size: Dim, end: Any, default: Dim) -> Dim:
    """Return an end of a slice counted from the front, not yet clipped to the axis."""
    if end is None:
        return default
    end = whole(end)
    if not is_whole(end):
        return _no_size(path)
    place = dim_of(end)
    is_negative = place < 0 if isinstance(place, int) else path.ask(Comparison("<", place, 0))
    return add(place, size) if is_negative else place


SymbolicArray.get_item = staticmethod(indexed)


# Writes into arrays: assignments, ``ufunc.at``, and functions that modify their first argument.
#
# Each enforces NumPy's requirements on shapes, and on indices as far as sizes determine them; then the facts about the
# elements are discarded. A function that is not listed here ends the path if it gets a symbolic array.


def as_array(value: Any) -> Any:
    """Return an array as a symbolic one."""
    return value if hasattr(type(value), "dims") else np.asarray(value)


def assign(array: SymbolicArray, key: Any, value: Any) -> None:
    """Write a value at an index: ``array[key] = value``."""
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) == array.ndim and all(map(is_whole, keys)) and dims_of(value):
        # An index out of range is an error before the value is looked at.
        indexed(array, key)
        raise ValueError("setting an array element with a sequence.")
    _refuse_infinite(array, value)
    _put_at(array, keys, indexed(array, key).dims, dims_of(value))
    array.forget(value, *keys)


def _refuse_infinite(array: SymbolicArray, value: Any) -> None:
    """Refuse one number that is NaN for integers, as NumPy does, but not for arrays; give up if it may be infinite."""
    if array.dtype.kind in "iu" and not dims_of(value) and hasattr(type(value), "dims"):
        contents = contents_of(value)
        zeros = [equal(d, 0) for d in contents.divisors]
        if contents.count is not None:
            here().require(at_most(1, contents.count), "cannot convert float NaN to integer", ValueError)
        elif zeros and here().ask(any_of(zeros)):
            here().fail_to_trace("a number that may not be finite is written into integers")


def _put_at(array: SymbolicArray, keys: tuple[Any, ...], place: Dims, value: Dims) -> None:
    """Require that a value can be broadcast into the selection of an index."""
    arrays = [k for k in keys if dims_of_index(k)]
    extra = value[: max(0, len(value) - len(place))]
    if arrays and extra:
        is_mask = np.dtype(dtype_of(arrays[0])).kind == "b"
        if is_mask and len(keys) == 1 and len(dims_of(arrays[0])) == array.ndim:
            raise TypeError("NumPy boolean array indexing assignment requires a 0 or 1-dimensional input")
        path = here()
        if not path.ask(all_of(equal(d, 1) for d in extra)) and path.ask(path.empty(place)):
            path.fail_to_trace("writing a value with more axes to an empty selection is not supported")
    put_into(place, value)


def dims_of_index(key: Any) -> Dims:
    """Return the shape of an index array; for any other index, an empty shape."""
    return dims_of(key) if hasattr(type(key), "dims") or isinstance(key, (list, np.ndarray)) else ()


def stored(result: SymbolicArray, out: Any, casting: str = "same_kind") -> Any:
    """Return a result, or the array that it is written into, which must have exactly its shape."""
    if out is None:
        return result
    out_dims = dims_of(out)
    if len(out_dims) != result.ndim:
        raise ValueError("the output array must have as many axes as the result")
    for left, right in zip(out_dims, result.dims, strict=True):
        here().equal(left, right, "the output array must have the shape of the result")
    write_out(out, result.dtype, casting)
    return out


def check_where(where: Any, dims: Dims) -> None:
    """Require that a mask fits the elements that it chooses."""
    if np.dtype(dtype_of(where)).kind != "b":
        raise TypeError("Cannot cast array data to bool according to the rule 'safe'")
    if len(dims_of(where)) > len(dims):
        raise ValueError("could not broadcast where mask")
    here().broadcast(dims_of(where), dims, rule="unidirectional")


def refuse_real(array: Any, reason: str) -> NoReturn:
    """Give up the line that created a real array, into which something is written that only a trace has."""
    here().loops.refuse_array(array)
    here().fail_to_trace(reason)


def write_out(out: Any, dtype: Any, casting: str = "same_kind") -> None:
    """Write elements of a dtype into an array. Raises `TypeError` if NumPy does not cast them."""
    if not hasattr(type(out), "dims"):
        refuse_real(out, "a NumPy array as the output of a function of sizes is not supported")
    check_cast(dtype, out.dtype, casting)
    out.forget()
    out.contents.is_data = True


def check_cast(dtype: Any, into: Any, casting: Any) -> None:
    """Raise `TypeError` if NumPy's casting rule does not allow casting one dtype into another."""
    if not (isinstance(dtype, type) and dtype in WEAK.values()) and not np.can_cast(np.dtype(dtype), into, casting):
        raise TypeError(f"Cannot cast array data from {np.dtype(dtype)} to {into} according to the rule {casting!r}")


def write_at(ufunc: Any, array: Any, key: Any, *values: Any) -> None:
    """Apply a ufunc at indices: ``ufunc.at(array, key, value)``."""
    if not hasattr(type(array), "dims"):
        refuse_real(array, f"numpy.{ufunc.__name__}.at on a NumPy array is not supported")
    place = indexed(array, key).dims
    if len(values) != ufunc.nin - 1 or ufunc.nout != 1:
        raise ValueError("second operand needed for ufunc" if ufunc.nin > 1 else "second operand provided")
    for value in values:
        if len(dims_of(value)) > len(place):
            raise ValueError("array is not broadcastable to correct shape")
        here().broadcast(dims_of(value), place, rule="unidirectional")
    array.forget(key, *values)


@method("put")
def put(array: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    """Write values in order, repeated as needed, at flat indices in C order."""
    path, size = here(), multiply(*array.dims)
    shape, value_dims = dims_of(indices), dims_of(values)
    empty = [equal(d, 0) for d in shape]
    path.require(any_of([at_most(1, size), *empty]), "cannot replace elements of an empty array", IndexError)
    if mode == "raise":
        check_indices(path, whole_indices(indices), size, (*shape, *value_dims))
    elif mode not in ("wrap", "clip"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    array.forget(indices, values)


def whole_indices(indices: Any) -> Any:
    """Return indices as an integer array; an empty list gives an empty one."""
    if is_whole(indices):
        return indices
    is_ours = hasattr(type(indices), "dims")
    if not is_ours and is_symbolic(indices):
        return here().fail_to_trace("a list of sizes as indices is not supported")
    array = indices if is_ours else np.asarray(indices)
    if (is_ours or array.size) and array.dtype.kind not in "iub":
        raise TypeError("Cannot cast array data to integers according to the rule 'safe'")
    return array if is_ours else array.astype(np.intp)


def put_mask(array: Any, mask: Any, values: Any) -> None:
    """Write values, repeated as needed, where a mask of equal size is true: `numpy.putmask`."""
    here().equal(multiply(*dims_of(mask)), multiply(*array.dims), "putmask: mask and data must be the same size")
    array.forget(mask, values)


def place(array: Any, mask: Any, values: Any) -> None:
    """Write values in order where a mask of equal size is true: `numpy.place`."""
    path = here()
    path.equal(multiply(*dims_of(mask)), multiply(*array.dims), "place: mask and data must be the same size")
    count = multiply(*dims_of(values))
    if not path.bounds.is_at_least(count, 1):
        # NumPy raises for an empty array of values only if there is a place to write to.
        mask = as_array(mask)
        true = counted(path, mask) if hasattr(type(mask), "dims") else int(np.count_nonzero(mask))
        path.require(any_of([equal(true, 0), at_most(1, count)]), "Cannot insert from an empty array!")
    array.forget(mask, values)


def fill_diagonal(array: Any, value: Any, wrap: bool = False) -> None:
    """Write values, repeated as needed, on the diagonal: `numpy.fill_diagonal`."""
    if array.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if array.ndim > 2:
        for dim in array.dims[1:]:
            here().equal(array.dims[0], dim, "All dimensions of input must be of equal length")
    array.forget(value)


def copy_to(array: Any, source: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Write one array into another: `numpy.copyto`."""
    check_cast(dtype_of(source), array.dtype, casting)
    put_into(array.dims, dims_of(source))
    if where is not True:
        check_where(where, array.dims)
    array.forget(source, where)


@method("fill")
def fill(array: Any, value: Any) -> None:
    """Write one value everywhere."""
    if dims_of(value):
        raise ValueError("setting an array element with a sequence.")
    array.forget(value)


@method("sort")
def sort(array: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """Sort the elements in place."""
    axes_of(axis, array.ndim)
    array.reorder()


SymbolicArray.set_item = staticmethod(assign)
