"""The methods of arrays: shapes, reductions, sorting and the other methods of ``ndarray``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symbcast.arrays.functions.ufuncs import accumulated, apply, reduced
from symbcast.arrays.symbolic.contents import Contents
from symbcast.arrays.symbolic.dims import as_dims, axes_of, common_dtype, dims_of, here, whole
from symbcast.arrays.symbolic.integers import Span
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray, method
from symbcast.arrays.symbolic.writers import assign_out, check_cast
from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import at_most, equal
from symbcast.operators.rearranging import layout
from symbcast.operators.rearranging.reshape import reshape as reshaped
from symbcast.paths.values.size import dim_of, is_whole

NO_VALUE = np._NoValue
_CLIP: Any = vars(np)["_core"].umath.clip


@method("reshape")
def reshape(array: Any, *shape: Any, order: str = "C", copy: Any = None) -> SymbolicArray:
    """Return the elements in another shape; one of its sizes may be -1."""
    path = here()
    given = shape[0] if len(shape) == 1 else shape
    given = whole(given)
    sizes = [given] if is_whole(given) else list(map(whole, given))
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
    found = path.written(found)
    return array.same() if found == array.dims else array._with(found)  # type: ignore[no-any-return]


def _is_free(path: Any, dim: Any) -> bool:
    if isinstance(dim, int) or path.bounds.is_at_least(dim, 0):
        return bool(dim == -1)
    return bool(path.ask(equal(dim, -1)))


@method("ravel")
def ravel(array: Any, order: str = "C") -> SymbolicArray:
    """Return the elements on one axis."""
    return array.same() if array.ndim == 1 else array._with((multiply(*array.dims),))  # type: ignore[no-any-return]


@method("flatten")
def flatten(array: Any, order: str = "C") -> SymbolicArray:
    """Return a copy of the elements on one axis."""
    found: SymbolicArray = ravel(array, order).copied()
    return found


@method("transpose", "permute_dims")
def transpose(array: Any, *axes: Any) -> SymbolicArray:
    """Return the axes in another order."""
    order = axes[0] if len(axes) == 1 and (axes[0] is None or not is_whole(axes[0])) else axes or None
    if order is not None:
        if len(order) != array.ndim:
            raise ValueError("axes don't match array")
        order = axes_of(tuple(order), array.ndim)
    found = array._with(layout.transpose(here(), array.dims, order))
    if array.ndim == 2 and array.contents.pattern is not None:
        is_turned = order is None or order[0] == 1
        found.contents.pattern = array.contents.pattern.transposed if is_turned else array.contents.pattern
    return found  # type: ignore[no-any-return]


@method("swapaxes")
def swapaxes(array: Any, first: int, second: int) -> SymbolicArray:
    """Return the array with two axes exchanged."""
    order = list(range(array.ndim))
    (a,), (b,) = axes_of(first, array.ndim), axes_of(second, array.ndim)
    order[a], order[b] = order[b], order[a]
    found: SymbolicArray = transpose(array, tuple(order))
    return found


@method("squeeze")
def squeeze(array: Any, axis: Any = None) -> SymbolicArray:
    """Return the array without some axes of size 1: the given ones, or all."""
    path = here()
    if axis is None:
        return array._with(tuple(d for d in array.dims if not path.ask(equal(d, 1))))  # type: ignore[no-any-return]
    axes = axes_of(axis, array.ndim)
    return array._with(layout.squeeze(path, array.dims, axes))  # type: ignore[no-any-return]


@method("astype")
def astype(
    array: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> SymbolicArray:
    """Return the elements in another type."""
    kind, contents = np.dtype(dtype), replace(array.contents)
    if kind.names is not None or array.dtype.names is not None:
        here().fail_to_trace("a cast of structured arrays is not supported")
    check_cast(array.dtype, kind, casting)
    if kind.kind == "b" and array.dtype.kind != "b":
        contents.span, contents.ramp = Span(0, 1, "none"), None
    elif array.dtype.kind in "fc" and kind.kind in "iu" and contents.span is None:
        contents.truth = None  # truncation may produce 0
    memory = array.memory if not copy and kind == array.dtype else None
    return SymbolicArray(array.dims, kind, contents=contents, memory=memory)


@method("view")
def view(array: Any, dtype: Any = None, type: Any = None) -> SymbolicArray:
    """Return the same bytes read as another dtype, which may change the size of the last axis."""
    kinds = [k for k in (dtype, type) if isinstance(k, type_of_types) and issubclass(k, np.ndarray)]
    for subclass in kinds:
        if subclass is not np.ndarray:  # a matrix multiplies differently, and a masked array has a mask
            here().fail_to_trace(f"an array of the class {subclass.__name__} is not supported")
    if dtype is None or dtype in kinds:
        return array.same()  # type: ignore[no-any-return]
    path, kind, dims = here(), np.dtype(dtype), list(array.dims)
    old, new = array.dtype.itemsize, kind.itemsize
    if old != new:
        if not dims:
            raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        count = multiply(dims[-1], old)
        if old < new:
            reason = "the size in bytes of the last axis must be a multiple of that of the type"
            path.require(equal(modulo(count, new), 0), reason)
        dims[-1] = floor_divide(count, new)
    return SymbolicArray(tuple(dims), kind, contents=Contents(is_data=array.contents.is_data), memory=array.memory)


type_of_types = type


@method("copy")
def copy(array: Any, order: str = "C") -> SymbolicArray:
    """Return a copy."""
    return array.copied()  # type: ignore[no-any-return]


@method("conj", "conjugate")
def conjugate(array: Any, out: Any = None) -> Any:
    """Return the complex conjugates."""
    return apply(np.conjugate, "__call__", array, out=out)


@method("round")
def rounded(array: Any, decimals: int = 0, out: Any = None) -> Any:
    """Return the elements rounded to a number of decimals."""
    if out is not None:
        if not all(here().ask(equal(a, b)) for a, b in zip(array.dims, dims_of(out), strict=False)):
            here().fail_to_trace("round with an output of another shape is not supported")
        assign_out(out, array.dims, array.dtype)
        return out
    contents = replace(array.contents, truth=array.truth if array.span is not None else None)
    return SymbolicArray(array.dims, array.dtype, contents=contents)


@method("byteswap")
def byteswap(array: Any, inplace: bool = False) -> SymbolicArray:
    """Return the elements with their bytes in reverse order."""
    if inplace:
        array.forget()
        return array  # type: ignore[no-any-return]
    return SymbolicArray(array.dims, array.dtype)


@method("__array_wrap__", "__array_prepare__")
def wrapped(array: Any, value: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Return the result of a function, wrapped in this array's class."""
    return value


def _reduced(name: str, ufunc: Any, array: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, **given: Any) -> Any:
    """Return a reduction by a method, which errors name; its options that were not given are left out."""
    options = {k: v for k, v in given.items() if v is not NO_VALUE}
    undo = here().doing(name, [array.dims])
    try:
        return reduced(ufunc, array, axis, dtype, out, keepdims is not NO_VALUE and bool(keepdims), **options)
    finally:
        undo()


def _reduction(name: str, ufunc: Any) -> None:
    @method(name)
    def reduction(
        array: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return _reduced(name, ufunc, array, axis, dtype, out, keepdims, initial=initial, where=where)


def _extreme(name: str, ufunc: Any) -> None:
    @method(name)
    def extreme(
        array: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        return _reduced(name, ufunc, array, axis, None, out, keepdims, initial=initial, where=where)


for _name, _ufunc in {"sum": np.add, "prod": np.multiply, "all": np.logical_and, "any": np.logical_or}.items():
    _reduction(_name, _ufunc)
_extreme("max", np.maximum)
_extreme("min", np.minimum)


@method("mean")
def mean(
    array: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Return a mean along some axes."""
    return _averaged(array, axis, dtype, out, keepdims, where)


@method("std", "var")
def spread_of(
    array: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Return a standard deviation, or a variance, along some axes."""
    if mean is not NO_VALUE:
        here().fail_to_trace("a deviation from a given mean is not supported")
    return _averaged(array, axis, dtype, out, keepdims, where)


def _averaged(array: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, where: Any) -> Any:
    kind = np.dtype(dtype) if dtype is not None else np.ones(1, array.dtype).mean().dtype
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    where = True if where is NO_VALUE else where
    found = reduced(np.add, array, axis, kind, out, keeps, where=where)
    if out is None:
        found.contents.truth = found.contents.span = None
        count = multiply(*(array.dims[n] for n in axes_of(axis, array.ndim)))
        if not here().bounds.is_at_least(count, 1):
            found.contents.divisors = (count,)
    return found


@method("cumsum")
def cumulative_sum(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the sums up to each element along an axis."""
    return _cumulative(np.add, array, axis, dtype, out)


@method("cumprod")
def cumulative_product(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the products up to each element along an axis."""
    return _cumulative(np.multiply, array, axis, dtype, out)


def _cumulative(ufunc: Any, array: Any, axis: Any, dtype: Any, out: Any) -> Any:
    array = array.reshape(1) if not array.dims else array
    given = ravel(array) if axis is None else array
    return accumulated(ufunc, given, 0 if axis is None else axis, dtype, out)


@method("diagonal")
def diagonal(array: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> SymbolicArray:
    """Return the diagonal of two axes as the last axis."""
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
    dims = (*(d for n, d in enumerate(array.dims) if n not in (a, b)), length)
    return SymbolicArray(dims, array.dtype, contents=array.contents.some, memory=array.memory)


@method("trace")
def trace_of(array: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Return the sum of a diagonal."""
    return diagonal(array, offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)


@method("dot")
def dot(array: Any, other: Any, out: Any = None) -> Any:
    """Return a dot product over the last axis of one array and the second-to-last axis of the other."""
    path, left, right = here(), dims_of(array), dims_of(other)
    kind = common_dtype([array, other])
    if out is not None:
        return _dot_into(out, dot(array, other))
    if not left or not right:
        return SymbolicArray((*left, *right), kind)
    undo = path.doing("dot", [left, right])
    try:
        path.equal(left[-1], right[-2] if len(right) > 1 else right[0], "the sizes that are summed over must be equal")
    finally:
        undo()
    return SymbolicArray((*left[:-1], *right[:-2], *(right[-1:] if len(right) > 1 else ())), kind)


def _dot_into(out: Any, found: Any) -> Any:
    assign_out(out, found.dims, found.dtype, "unsafe")
    if out.dtype != found.dtype:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions)")
    return out


@method("clip")
def clip(array: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Return the elements clipped to two bounds."""
    low, high = (None if b is NO_VALUE else b for b in (min, max))
    if low is None and high is None:
        return apply(np.positive, "__call__", array, out=out, **options)
    if low is not None and high is not None:
        return apply(_CLIP, "__call__", array, low, high, out=out, **options)
    ufunc, bound = (np.maximum, low) if high is None else (np.minimum, high)
    return apply(ufunc, "__call__", array, bound, out=out, **options)


@method("resize")
def resize(array: Any, *shape: Any, refcheck: bool = True) -> None:
    """Resize an array in place; missing elements are filled with zeros."""
    array.dims = as_dims(shape[0] if len(shape) == 1 else shape)
    array.forget()
