"""The methods of arrays that sort, look up, count or repeat elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbcast.arrays.functions.methods import NO_VALUE, ravel
from symbcast.arrays.symbolic.contents import Contents
from symbcast.arrays.symbolic.dims import as_dims, axes_of, broadcast_together, common_dtype, dims_of, here
from symbcast.arrays.symbolic.indices import check_indices, counted, indexed
from symbcast.arrays.symbolic.integers import Span
from symbcast.arrays.symbolic.lists import Listed
from symbcast.arrays.symbolic.spans import places_along
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray, is_of_data, method
from symbcast.arrays.symbolic.writers import assign_out, whole_indices
from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.operators.reductions import reduce
from symbcast.paths.values.size import dim_of, is_whole


@method("partition")
def partition(array: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
    """Put one element at its sorted position."""
    (place,) = axes_of(axis, array.ndim)
    _check_kth(array, kth, place)
    array.forget()


@method("argsort")
def argsort(array: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> SymbolicArray:
    """Return the indices that sort the elements."""
    if axis is None:
        array, axis = ravel(array), 0
    (place,) = axes_of(axis, array.ndim)
    return SymbolicArray(array.dims, np.intp, None, places_along(array.dims[place], "all"))


@method("argpartition")
def argpartition(array: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> SymbolicArray:
    """Return the indices that put one element at its sorted position."""
    found: SymbolicArray = argsort(array, axis)
    _check_kth(array if axis is not None else ravel(array), kth, 0 if axis is None else axes_of(axis, array.ndim)[0])
    return found


def _check_kth(array: Any, kth: Any, place: int) -> None:
    """Require that indices, possibly negative, are within an axis."""
    size, empty = array.dims[place], [equal(d, 0) for d in array.dims]
    for number in [kth] if is_whole(kth) else kth:
        if not is_whole(number):
            here().fail_to_trace("a partition at indices that depend on data is not supported")
        dim = dim_of(number)
        here().require(any_of([at_most(add(dim, 1), size), *empty]), "kth out of bounds")
        here().require(any_of([at_most(multiply(-1, size), dim), *empty]), "kth out of bounds")


@method("argmax", "argmin")
def argmax(array: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> SymbolicArray:
    """Return the index of the greatest element along an axis, which must not be empty."""
    path = here()
    dims = array.dims if axis is not None else (multiply(*array.dims),)
    (place,) = axes_of(0 if axis is None else axis, len(dims))
    path.require(at_most(1, dims[place]), "attempt to get argmax of an empty sequence")
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    whole = (1,) * array.ndim if keeps else ()
    found = whole if axis is None else reduce(path, dims, [place], keepdims=keeps)
    if out is not None:
        assign_out(out, found, np.intp)
        return out  # type: ignore[no-any-return]
    return SymbolicArray(found, np.intp, None, places_along(dims[place]))


@method("nonzero")
def nonzero(array: Any) -> tuple[SymbolicArray, ...]:
    """Return the indices of the true elements: one per true element."""
    path, contents = here(), array.contents
    if not array.dims:
        raise ValueError("Calling nonzero on 0d arrays is not allowed.")
    count = counted(path, array)
    if contents.pattern is not None:
        spans = contents.pattern.spans(path)
    else:
        spans = tuple(places_along(d, "all" if contents.truth else "none") for d in array.dims)
    is_data = contents.is_data
    return tuple(SymbolicArray((count,), np.intp, contents=Contents(span=s, is_data=is_data)) for s in spans)


@method("take")
def take(array: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Return elements or slices by their indices on an axis."""
    data = ravel(array) if axis is None else array
    (place,) = axes_of(0 if axis is None else axis, data.ndim)
    shape, size = dims_of(indices), data.dims[place]
    if mode == "raise":
        check_indices(here(), whole_indices(indices), size, (*data.dims[:place], *shape))
    elif mode in ("wrap", "clip"):
        empty = [equal(d, 0) for d in (*data.dims[:place], *shape)]
        here().require(any_of([at_most(1, size), *empty]), "cannot do a non-empty take", IndexError)
    else:
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    found = (*data.dims[:place], *shape, *data.dims[place + 1 :])
    if out is not None:
        assign_out(out, found, data.dtype)
        return out
    contents = array.contents.some
    contents.is_data |= is_of_data(indices)
    return SymbolicArray(found, data.dtype, contents=contents)


@method("repeat")
def repeat(array: Any, repeats: Any, axis: Any = None) -> SymbolicArray:
    """Return an array with each element repeated."""
    data = ravel(array) if axis is None else array
    (place,) = axes_of(0 if axis is None else axis, data.ndim)
    path, dims = here(), list(data.dims)
    if is_whole(repeats):
        times = as_dims(repeats)[0]
        dims[place] = multiply(dims[place], times)
    else:
        (count,) = dims_of(repeats) or (1,)
        if count != 1:
            path.broadcast((count,), (dims[place],), rule="unidirectional")
        dims[place] = path.data_size("repeated")
    return SymbolicArray(tuple(dims), data.dtype, contents=array.contents.spread)


@method("searchsorted")
def searchsorted(array: Any, values: Any, side: str = "left", sorter: Any = None) -> SymbolicArray:
    """Return the indices at which values would be inserted into a sorted one-dimensional array."""
    if len(dims_of(array)) != 1:
        raise ValueError("object too deep for desired array")
    (size,) = dims_of(array)
    if sorter is not None:
        if len(dims_of(sorter)) != 1:
            raise TypeError("could not parse sorter argument")
        here().equal(dims_of(sorter)[0], size, "sorter.size must equal that of the array")
    return SymbolicArray(dims_of(values), np.intp, None, Span(0, size, "none"))


@method("item")
def item(array: Any, *args: Any) -> Any:
    """Return a single element, whose value depends on data."""
    places = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if not places:
        here().equal(multiply(*array.dims), 1, "can only convert an array of size 1 to a Python scalar")
    elif len(places) == 1 and all(map(is_whole, places)):
        indexed(ravel(array), places[0])
    elif len(places) == array.ndim and all(map(is_whole, places)):
        indexed(array, tuple(places))
    else:
        raise ValueError("incorrect number of indices for array")
    return SymbolicArray((), array.dtype, contents=array.contents.some)


@method("tolist")
def tolist(array: Any) -> Any:
    """Return the elements as nested lists; the outer list has one item per index of the first axis."""
    return Listed(array) if array.dims else SymbolicArray((), array.dtype, contents=array.contents)


@method("choose")
def choose(array: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return for each index the element of the choice that it selects."""
    if out is not None:
        return here().fail_to_trace("choose with an output is not supported")
    path = here()
    if hasattr(type(choices), "dims"):
        count, shapes = choices.dims[0], [choices.dims[1:]]
        kind = choices.dtype
    else:
        count, shapes, kind = len(choices), [dims_of(c) for c in choices], common_dtype(choices)
    path.require(at_most(1, count), "0-length sequence.")
    dims = broadcast_together([array.dims, *shapes])
    if mode == "raise":
        span = array.span
        if span is None and not array.contents.is_data:
            path.fail_to_trace("the choice indices depend on sizes only, but were not followed")
        if span is not None and not span.is_exact and span.occurs == "part":
            path.fail_to_trace("the values of the choice indices were not followed")
        if span is not None and span.is_exact:
            empty = [equal(d, 0) for d in array.dims]
            for need in (at_most(0, span.low), at_most(add(span.high, 1), count)):
                path.require(any_of([*empty, need]), "invalid entry in choice array")
    return SymbolicArray(dims, kind)


@method("compress")
def compress(array: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """Return the slices selected by a condition, which may be shorter than the axis."""
    if out is not None:
        return here().fail_to_trace("compress with an output is not supported")
    if len(dims_of(condition)) != 1:
        raise ValueError("condition must be a 1-d array")
    mask = condition if hasattr(type(condition), "dims") else np.asarray(condition)
    return take(array, np.nonzero(mask)[0], axis)


@method("setflags")
def setflags(array: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Set flags, which do not affect shapes."""
    if write is not None and not write:
        here().fail_to_trace("read-only arrays are not supported")
