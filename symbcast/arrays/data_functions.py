"""NumPy's functions of data: sorted, counted, averaged, compared, convolved."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbcast.algebra.arithmetic import add, multiply, subtract
from symbcast.arrays.dims import (
    axes_of,
    broadcast_together,
    common_dtype,
    dims_of,
    dtype_of,
    example_of,
    here,
    is_symbolic,
)
from symbcast.arrays.functions import as_array, known
from symbcast.arrays.methods import ravel
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.logic.formulas import at_most, equal
from symbcast.paths.size import dim_of, is_whole


@known(np.flip, np.nan_to_num, np.real_if_close, np.fft.fftshift, np.fft.ifftshift, np.sort_complex, np.i0, np.sinc)
def same(m: Any, *args: Any, **options: Any) -> Any:
    axis = options.get("axis", args[0] if args else None)
    if axis is not None and isinstance(axis, (int, tuple)) and not isinstance(axis, bool):
        axes_of(axis, len(dims_of(m)))
    return as_array(m)._with(dims_of(m))


@known(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    axes_of(axis, len(dims_of(a)))
    return as_array(a)._with(dims_of(a))


@known(np.sort)
def sort(a: Any, axis: Any = -1, **_: Any) -> Any:
    if axis is None:
        return ravel(a)
    axes_of(axis, a.ndim)
    return SymbolicArray(a.dims, a.dtype)


@known(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    shapes = [dims_of(k) for k in keys]
    for other in shapes[1:]:
        for left, right in zip(shapes[0], other, strict=True):
            here().equal(left, right, "all keys need to be the same shape")
    return SymbolicArray(shapes[0], np.intp, None, (0, subtract(shapes[0][axis], 1)))


@known(np.median, np.nanmedian, np.nanmean, np.nanstd, np.nanvar)
def median(a: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
    return as_array(a).mean(axis=axis, keepdims=options.get("keepdims", False))


@known(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    path, dims = here(), dims_of(a)
    axes = axes_of(axis, len(dims))
    if weights is not None and dims_of(weights) != dims:
        given = dims_of(weights)
        if len(given) == len(dims):
            same = all(path.ask(equal(x, y)) for x, y in zip(given, dims, strict=True))
        else:
            same = False
        if not same:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if len(given) != len(axes):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            for x, n in zip(given, axes, strict=True):
                path.equal(x, dims[n], "Shape of weights must be consistent with shape of a along specified axis.")
    found = as_array(a).mean(axis=axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)
    return (found, found._with(found.dims)) if returned else found


@known(np.percentile, np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, *args: Any, keepdims: Any = False, **options: Any) -> Any:
    path, dims = here(), dims_of(a)
    _check_quantiles(q)
    for n in axes_of(axis, len(dims)):
        path.require(at_most(1, dims[n]), "the axis must have elements", IndexError)
    found = as_array(a).mean(axis=axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)
    return SymbolicArray((*dims_of(q), *found.dims), found.dtype)


@known(np.nanpercentile, np.nanquantile)
def nanquantile(a: Any, q: Any, axis: Any = None, *args: Any, keepdims: Any = False, **options: Any) -> Any:
    _check_quantiles(q)
    found = as_array(a).mean(axis=axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)
    if here().ask(equal(multiply(*dims_of(a)), 0)):
        return found
    return SymbolicArray((*dims_of(q), *found.dims), found.dtype)


def _check_quantiles(q: Any) -> None:
    """Require what the check that they lie between 0 and 1 does, which takes one by one on one axis only."""
    if len(dims_of(q)) > 1:
        here().require(at_most(1, multiply(*dims_of(q))), "zero-size array to reduction operation minimum")


@known(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    path = here()
    if len(dims_of(x)) != 1:
        raise ValueError("object too deep for desired array")
    if weights is not None:
        path.equal(dims_of(x)[0], dims_of(weights)[0], "The weights and list don't have the same length.")
    count = path.data_size("bins")
    path.suppose(at_most(dim_of(minlength), count))
    return SymbolicArray((count,), np.intp if weights is None else float)


@known(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **_: Any,
) -> Any:
    path, dims = here(), dims_of(ar)
    if axis is not None:
        return path.fail_to_trace("numpy.unique along an axis is not known")
    total = multiply(*dims)
    count = path.data_size("unique")
    path.suppose(at_most(count, total))
    path.suppose(equal(path.bounds.smaller(count, 1), path.bounds.smaller(total, 1)))
    values = SymbolicArray((count,), dtype_of(ar))
    more = [
        SymbolicArray(s, np.intp)
        for s, wanted in (((count,), return_index), (dims, return_inverse), ((count,), return_counts))
        if wanted
    ]
    return (values, *more) if more else values


@known(np.tril, np.triu)
def triangle(m: Any, k: Any = 0) -> Any:
    dims = dims_of(m)
    return as_array(m)._with(dims if len(dims) > 1 else dims * 2)


@known(np.isin)
def isin(element: Any, test_elements: Any, **_: Any) -> Any:
    return SymbolicArray(dims_of(element), bool)


@known(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    path = here()
    xs, ys = dims_of(xp), dims_of(fp)
    if len(xs) != 1 or len(ys) != 1:
        raise ValueError("object too deep for desired array")
    path.require(at_most(1, xs[0]), "array of sample points is empty")
    path.equal(xs[0], ys[0], "fp and xp are not of the same length.")
    return SymbolicArray(dims_of(x), np.result_type(float, dtype_of(fp)))


@known(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    return SymbolicArray(dims_of(x), np.intp)


@known(np.convolve, np.correlate)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    path = here()
    (n,), (m,) = dims_of(a) or (1,), dims_of(v) or (1,)
    path.require(at_most(1, n), "a cannot be empty")
    path.require(at_most(1, m), "v cannot be empty")
    longer, shorter = path.bounds.larger(n, m), path.bounds.smaller(n, m)
    whole = subtract(add(n, m), 1)
    found = {"full": whole, "same": longer, "valid": add(subtract(longer, shorter), 1)}[mode]
    return SymbolicArray((found,), common_dtype([a, v]))


@known(np.result_type)
def result_type(*args: Any) -> Any:
    return np.result_type(*[example_of(dtype_of(a)) if is_symbolic(a) else a for a in args])


@known(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(np.dtype(dtype_of(from_)), to, casting)


@known(np.shares_memory, np.may_share_memory)
def shares_memory(a: Any, b: Any, *_: Any, **__: Any) -> bool:
    return False


@known(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return bool(np.dtype(dtype_of(x)).kind == "c")


@known(np.fill_diagonal, np.put_along_axis, np.putmask, np.place)
def changed(*_: Any, **__: Any) -> None:
    return None


@known(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    return np.dtype(dtype_of(a))


@known(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, *_: Any, **__: Any) -> Any:
    return SymbolicArray(broadcast_together(map(dims_of, multi_index)), np.intp)


@known(np.isclose)
def isclose(a: Any, b: Any, *_: Any, **__: Any) -> Any:
    return SymbolicArray(broadcast_together(map(dims_of, (a, b))), bool)


@known(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if isinstance(bins, str):
        return here().fail_to_trace("numpy.histogram that works out its bins is not known")
    count = dim_of(bins) if is_whole(bins) else subtract(dims_of(bins)[0], 1)
    here().require(at_most(1 if is_whole(bins) else 0, count), "`bins` must be positive, when an integer")
    if weights is not None:
        for left, right in zip(dims_of(a), dims_of(weights), strict=True):
            here().equal(left, right, "weights should have the same shape as a.")
    kind = np.intp if weights is None and not density else float
    return SymbolicArray((count,), kind), SymbolicArray((add(count, 1),), float)
