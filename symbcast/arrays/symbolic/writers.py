"""Writes into arrays: assignments, ``ufunc.at``, and functions that modify their first argument.

Each enforces NumPy's requirements on shapes, and on indices as far as sizes determine them; then the facts about the
elements are discarded. A function that is not listed here ends the path if it gets a symbolic array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbcast.arrays.symbolic.dims import WEAK, axes_of, dims_of, dtype_of, here, is_symbolic, put_into
from symbcast.arrays.symbolic.indices import check_indices, counted, indexed
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray, method
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import all_of, any_of, at_most, equal
from symbcast.operators.context import Dims
from symbcast.paths.values.size import is_whole


def as_array(value: Any) -> Any:
    """Return an array as a symbolic one."""
    return value if hasattr(type(value), "dims") else np.asarray(value)


def assign(array: SymbolicArray, key: Any, value: Any) -> None:
    """Write a value at an index: ``array[key] = value``."""
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) == array.ndim and all(map(is_whole, keys)) and dims_of(value):
        indexed(array, key)
        raise ValueError("setting an array element with a sequence.")
    _put_at(array, keys, indexed(array, key).dims, dims_of(value))
    array.forget(value, *keys)


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


def assign_out(out: Any, found: Dims, dtype: Any, casting: str = "same_kind") -> None:
    """Write a result into an array that must have exactly its shape."""
    given = dims_of(out)
    if len(given) != len(found):
        raise ValueError("the output array must have as many axes as the result")
    for left, right in zip(given, found, strict=True):
        here().equal(left, right, "the output array must have the shape of the result")
    write_out(out, dtype, casting)


def write_out(out: Any, dtype: Any, casting: str = "same_kind") -> None:
    """Write elements of a dtype into an array. Raises `TypeError` if NumPy does not cast them."""
    if not hasattr(type(out), "dims"):
        here().fail_to_trace("a NumPy array as the output of a function of sizes is not supported")
    check_cast(dtype, out.dtype, casting)
    out.forget()
    out.contents.is_data = True


def check_cast(dtype: Any, into: Any, casting: Any) -> None:
    """Raise `TypeError` if NumPy's casting rule does not allow casting one dtype into another."""
    if dtype not in WEAK.values() and not np.can_cast(np.dtype(dtype), into, casting):
        raise TypeError(f"Cannot cast array data from {np.dtype(dtype)} to {into} according to the rule {casting!r}")


def write_at(ufunc: Any, array: Any, key: Any, *values: Any) -> None:
    """Apply a ufunc at indices: ``ufunc.at(array, key, value)``."""
    if not hasattr(type(array), "dims"):
        here().fail_to_trace(f"numpy.{ufunc.__name__}.at on a NumPy array is not supported")
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
    shape, given = dims_of(indices), dims_of(values)
    empty = [equal(d, 0) for d in shape]
    path.require(any_of([at_most(1, size), *empty]), "cannot replace elements of an empty array", IndexError)
    if mode == "raise":
        check_indices(path, whole_indices(indices), size, (*shape, *given))
    elif mode not in ("wrap", "clip"):
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    array.forget(indices, values)


def whole_indices(indices: Any) -> Any:
    """Return indices as an integer array; an empty list gives an empty one."""
    if hasattr(type(indices), "dims") or is_whole(indices):
        if not is_whole(indices) and indices.dtype.kind not in "iub":
            raise TypeError("Cannot cast array data to integers according to the rule 'safe'")
        return indices
    if is_symbolic(indices):
        return here().fail_to_trace("a list of sizes as indices is not supported")
    found = np.asarray(indices)
    if found.size and found.dtype.kind not in "iub":
        raise TypeError("Cannot cast array data to integers according to the rule 'safe'")
    return found.astype(np.intp)


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
        if np.dtype(dtype_of(where)).kind != "b":
            raise TypeError("Cannot cast array data to bool according to the rule 'safe'")
        if len(dims_of(where)) > array.ndim:
            raise ValueError("could not broadcast where mask")
        here().broadcast(dims_of(where), array.dims, rule="unidirectional")
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
    array.forget()


SymbolicArray.taken_at = staticmethod(assign)
