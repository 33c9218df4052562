"""The methods of arrays that order their elements, look them up, count or repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.arrays.dims import as_dims, axes_of, dims_of, here, is_symbolic
from symbcast.arrays.indices import counted, indexed, within_axis
from symbcast.arrays.methods import NO_VALUE, ravel
from symbcast.arrays.symbolic_array import SymbolicArray, method
from symbcast.logic.formulas import any_of, at_most, equal
from symbcast.operators.reductions import reduce
from symbcast.paths.size import dim_of, is_whole


@method("fill", "put", "setflags", "setfield")
def in_place(array: Any, *args: Any, **options: Any) -> None:
    """Change elements, which no shape depends on."""
    array.forget()


@method("sort")
def sort(array: Any, axis: Any = -1, **_: Any) -> None:
    """Put the elements in order."""
    axes_of(axis, array.ndim)
    array.forget()


@method("partition")
def partition(array: Any, kth: Any, axis: Any = -1, **_: Any) -> None:
    """Put one element where it is in order."""
    (place,) = axes_of(axis, array.ndim)
    _check_kth(array, kth, place)
    array.forget()


@method("argsort")
def argsort(array: Any, axis: Any = -1, *_: Any, **__: Any) -> SymbolicArray:
    """Return the places of the elements in order."""
    if axis is None:
        array, axis = ravel(array), 0
    (place,) = axes_of(axis, array.ndim)
    return SymbolicArray(array.dims, np.intp, None, (0, subtract(array.dims[place], 1)))


@method("argpartition")
def argpartition(array: Any, kth: Any, axis: Any = -1, *_: Any, **__: Any) -> SymbolicArray:
    """Return the places of the elements with one where it is in order."""
    found: SymbolicArray = argsort(array, axis)
    _check_kth(array if axis is not None else ravel(array), kth, 0 if axis is None else axes_of(axis, array.ndim)[0])
    return found


def _check_kth(array: Any, kth: Any, place: int) -> None:
    """Require that places, from the end where they are negative, be within an axis."""
    size, empty = array.dims[place], [equal(d, 0) for d in array.dims]
    for number in [kth] if is_whole(kth) else kth:
        if not is_whole(number):
            here().fail_to_trace("a partition at places that data decide is not known")
        dim = dim_of(number)
        here().require(any_of([at_most(add(dim, 1), size), *empty]), "kth out of bounds")
        here().require(any_of([at_most(multiply(-1, size), dim), *empty]), "kth out of bounds")


@method("argmax", "argmin")
def argmax(array: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> SymbolicArray:
    """Return the place of the greatest along an axis, which must have elements."""
    path = here()
    dims = array.dims if axis is not None else (multiply(*array.dims),)
    (place,) = axes_of(0 if axis is None else axis, len(dims))
    path.require(at_most(1, dims[place]), "attempt to get argmax of an empty sequence")
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    if axis is None:
        return SymbolicArray((1,) * array.ndim if keeps else (), np.intp)
    return SymbolicArray(reduce(path, dims, [place], keepdims=keeps), np.intp)


@method("nonzero")
def nonzero(array: Any) -> tuple[SymbolicArray, ...]:
    """Return the places of the elements that are true: as many as there are."""
    count = counted(here(), array)
    return tuple(SymbolicArray((count,), np.intp) for _ in array.dims)


@method("take")
def take(array: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Return elements, or slices, by their places on an axis."""
    data = ravel(array) if axis is None else array
    (place,) = axes_of(0 if axis is None else axis, data.ndim)
    shape, size = dims_of(indices), data.dims[place]
    span = _span_of(indices)
    if span is not None and mode == "raise":
        within_axis(here(), span[0], span[1], size, (*data.dims[:place], *shape))
    elif mode != "raise":
        here().require(
            any_of([at_most(1, size), *(equal(d, 0) for d in shape)]), "cannot do a non-empty take", IndexError
        )
    else:
        return indexed(data, (*(slice(None),) * place, indices))
    return SymbolicArray((*data.dims[:place], *shape, *data.dims[place + 1 :]), data.dtype)


def _span_of(indices: Any) -> Any:
    """Return the least and the greatest of some indices, where they are known."""
    if hasattr(type(indices), "dims"):
        return indices.span
    if is_whole(indices):
        return dim_of(indices), dim_of(indices)
    if is_symbolic(indices):
        return None
    found = np.asarray(indices)
    return (int(found.min()), int(found.max())) if found.size else None


@method("repeat")
def repeat(array: Any, repeats: Any, axis: Any = None) -> SymbolicArray:
    """Return each element as often as it is repeated."""
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
    return SymbolicArray(tuple(dims), data.dtype)


@method("searchsorted")
def searchsorted(array: Any, values: Any, side: str = "left", sorter: Any = None) -> SymbolicArray:
    """Return where values belong in an array of one axis."""
    if len(dims_of(array)) != 1:
        raise ValueError("object too deep for desired array")
    return SymbolicArray(dims_of(values), np.intp)


@method("item", "tolist")
def item(array: Any, *args: Any) -> Any:
    """Return an element, which only data decide."""
    if not args:
        here().equal(multiply(*array.dims), 1, "can only convert an array of size 1 to a Python scalar")
    return SymbolicArray((), array.dtype, array.truth)


@method("choose", "compress")
def compress(array: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """Return the slices for which a condition holds."""
    return here().fail_to_trace("choose and compress are not known")
