"""The methods of arrays: shapes, reductions, sorting and what else an ``ndarray`` does by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbcast.algebra.arithmetic import multiply, subtract
from symbcast.arrays.dims import as_dims, axes_of, common_dtype, dims_of, here
from symbcast.arrays.symbolic_array import SymbolicArray, method
from symbcast.arrays.ufuncs import apply, reduced
from symbcast.logic.formulas import at_most, equal
from symbcast.operators import layout
from symbcast.operators.reductions import reduce
from symbcast.operators.reshape import reshape as reshaped
from symbcast.paths.size import dim_of, is_whole

NO_VALUE = np._NoValue
_CLIP: Any = vars(np)["_core"].umath.clip


@method("reshape")
def reshape(array: Any, *shape: Any, order: str = "C", copy: Any = None) -> SymbolicArray:
    """Return the elements in another shape, in which one size may be -1."""
    path = here()
    given = shape[0] if len(shape) == 1 else shape
    sizes = [given] if is_whole(given) else list(given)
    dims = [dim_of(s) for s in sizes]
    target = [None if _is_free(path, d) else d for d in dims]
    undo = path.doing("reshape", [array.dims])
    try:
        for dim in target:
            if dim is not None and not path.bounds.is_at_least(dim, 0):
                path.require(at_most(0, dim), "negative dimensions are not allowed")
        found = reshaped(path, array.dims, target)
    finally:
        undo()
    return SymbolicArray(path.written(found), array.dtype, array.truth, array.span if order == "C" else None)


def _is_free(path: Any, dim: Any) -> bool:
    if isinstance(dim, int) or path.bounds.is_at_least(dim, 0):
        return bool(dim == -1)
    return bool(path.ask(equal(dim, -1)))


@method("ravel", "flatten")
def ravel(array: Any, order: str = "C") -> SymbolicArray:
    """Return the elements on one axis."""
    return SymbolicArray((multiply(*array.dims),), array.dtype, array.truth, array.span)


@method("transpose", "permute_dims")
def transpose(array: Any, *axes: Any) -> SymbolicArray:
    """Return the axes in another order."""
    order = axes[0] if len(axes) == 1 and (axes[0] is None or not is_whole(axes[0])) else axes or None
    if order is not None:
        if len(order) != array.ndim:
            raise ValueError("axes don't match array")
        order = axes_of(tuple(order), array.ndim)
    return array._with(layout.transpose(here(), array.dims, order))  # type: ignore[no-any-return]


@method("swapaxes")
def swapaxes(array: Any, first: int, second: int) -> SymbolicArray:
    """Return two axes exchanged."""
    order = list(range(array.ndim))
    (a,), (b,) = axes_of(first, array.ndim), axes_of(second, array.ndim)
    order[a], order[b] = order[b], order[a]
    found: SymbolicArray = transpose(array, tuple(order))
    return found


@method("squeeze")
def squeeze(array: Any, axis: Any = None) -> SymbolicArray:
    """Return the array without axes of size 1: those named, or all that are."""
    path = here()
    if axis is None:
        return array._with(tuple(d for d in array.dims if not path.ask(equal(d, 1))))  # type: ignore[no-any-return]
    axes = axes_of(axis, array.ndim)
    return array._with(layout.squeeze(path, array.dims, axes))  # type: ignore[no-any-return]


@method("astype", "view")
def astype(array: Any, dtype: Any = None, *_: Any, **__: Any) -> SymbolicArray:
    """Return the elements in another type."""
    if dtype is None or (isinstance(dtype, type) and issubclass(dtype, np.ndarray)):
        return array._with(array.dims)  # type: ignore[no-any-return]
    keeps = np.dtype(dtype).kind in "biu" and array.dtype.kind in "biu"
    return SymbolicArray(array.dims, dtype, array.truth, array.span if keeps else None)


@method("copy", "conj", "conjugate", "round", "byteswap", "newbyteorder")
def same(array: Any, *_: Any, **__: Any) -> SymbolicArray:
    """Return an array of the same shape and type."""
    return array._with(array.dims)  # type: ignore[no-any-return]


@method("__array_wrap__", "__array_prepare__")
def wrapped(array: Any, value: Any, *_: Any) -> Any:
    """Return what a function made, which is to be of this array's class."""
    return value


def _reduction(name: str, ufunc: Any) -> None:
    def reduction(
        array: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        keeps = keepdims is not NO_VALUE and bool(keepdims)
        options = {k: v for k, v in options.items() if v is not NO_VALUE}
        undo = here().doing(name, [array.dims])
        try:
            return reduced(ufunc, array, axis, dtype, out, keeps, **options)
        finally:
            undo()

    method(name)(reduction)


for _name, _ufunc in {"sum": np.add, "prod": np.multiply, "all": np.logical_and, "any": np.logical_or}.items():
    _reduction(_name, _ufunc)


@method("max", "min")
def extreme(array: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **options: Any) -> Any:
    """Return the greatest, or least, along some axes, which must have elements."""
    options = {k: v for k, v in options.items() if v is not NO_VALUE}
    return reduced(np.maximum, array, axis, None, out, keepdims is not NO_VALUE and bool(keepdims), **options)


@method("mean", "std", "var")
def mean(array: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any, **options: Any) -> Any:
    """Return a mean, or the like, along some axes."""
    keeps = options.get("keepdims", NO_VALUE)
    dims = reduce(here(), array.dims, axes_of(axis, array.ndim), keepdims=keeps is not NO_VALUE and bool(keeps))
    kind = np.dtype(dtype) if dtype is not None else np.ones(1, array.dtype).mean().dtype
    return out if out is not None else SymbolicArray(dims, kind)


@method("cumsum", "cumprod")
def cumulative(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> SymbolicArray:
    """Return sums along an axis, as many as there are elements."""
    found = ravel(array) if axis is None else array
    axes_of(0 if axis is None else axis, found.ndim)
    kind = np.dtype(dtype) if dtype is not None else np.ones(1, array.dtype).cumsum().dtype
    return out if out is not None else SymbolicArray(found.dims, kind)


@method("diagonal")
def diagonal(array: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> SymbolicArray:
    """Return the diagonal of two axes, last."""
    path = here()
    if array.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    (a,), (b,) = axes_of(axis1, array.ndim), axes_of(axis2, array.ndim)
    if a == b:
        raise ValueError("axis1 and axis2 cannot be the same")
    shift = dim_of(offset)
    is_up = shift >= 0 if isinstance(shift, int) else path.ask(at_most(0, shift))
    rows, columns = array.dims[a], array.dims[b]
    rows, columns = (rows, subtract(columns, shift)) if is_up else (subtract(rows, multiply(-1, shift)), columns)
    length = path.bounds.larger(path.bounds.smaller(rows, columns), 0)
    return SymbolicArray((*(d for n, d in enumerate(array.dims) if n not in (a, b)), length), array.dtype)


@method("trace")
def trace_of(array: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Return the sum of a diagonal."""
    return diagonal(array, offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)


@method("dot")
def dot(array: Any, other: Any, out: Any = None) -> Any:
    """Return a product: over the last axis of the one and the last but one of the other."""
    path, left, right = here(), dims_of(array), dims_of(other)
    kind = common_dtype([array, other])
    if not left or not right:
        return SymbolicArray((*left, *right), kind)
    undo = path.doing("dot", [left, right])
    try:
        path.equal(left[-1], right[-2] if len(right) > 1 else right[0], "the sizes that are summed over must be equal")
    finally:
        undo()
    return SymbolicArray((*left[:-1], *right[:-2], *(right[-1:] if len(right) > 1 else ())), kind)


@method("clip")
def clip(array: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Return the elements within two bounds."""
    bounds = [b for b in (min, max) if b is not None and b is not NO_VALUE]
    if not bounds:
        return apply(np.positive, "__call__", array, out=out)
    if len(bounds) == 2:
        return apply(_CLIP, "__call__", array, *bounds, out=out)
    return apply(np.maximum if min is not None else np.minimum, "__call__", array, *bounds, out=out)


@method("resize")
def resize(array: Any, *shape: Any, refcheck: bool = True) -> None:
    """Give an array another shape."""
    array.dims = as_dims(shape[0] if len(shape) == 1 else shape)
