"""NumPy's functions that sort, count, average, compare or convolve data."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from symbcast.arrays.array_facts import (
    ArrayContents,
    IntegerSpan,
    TruthPattern,
    as_dims,
    axes_of,
    broadcast_together,
    common_dtype,
    dims_of,
    dtype_of,
    example_of,
    here,
    is_symbolic,
    only_size,
)
from symbcast.arrays.functions.array_functions import implements
from symbcast.arrays.functions.ufuncs import places_along
from symbcast.arrays.indexing import check_indices, stored
from symbcast.arrays.symbolic_array import SymbolicArray, as_array, contents_of, is_of_data, number_of, numbering
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.paths.sizes import dim_of, is_whole


@implements(np.i0)
def bessel(x: Any) -> Any:
    return SymbolicArray(dims_of(x), np.result_type(float, dtype_of(x)))


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    path, dims = here(), dims_of(a)
    if axis is not None:
        axes_of(axis if isinstance(axis, tuple) else (axis,), len(dims)) if not isinstance(axis, tuple) else [
            axes_of(n, len(dims)) for n in axis
        ]
        counts = [dims_of(shift), () if is_whole(axis) else (len(axis),)]
        if max(map(len, counts)) > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        path.broadcast(*[c for c in counts if c]) if all(counts) else None
    return as_array(a)._with(dims).copied()


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    if hasattr(type(keys), "dims"):
        here().require(at_most(1, dims_of(keys)[0]), "need sequence of keys with len > 0 in lexsort", TypeError)
        shapes = [dims_of(keys)[1:]]
    else:
        shapes = [dims_of(k) for k in keys]
    # Of keys without axes, NumPy returns the number 0.
    if not shapes[0]:
        return SymbolicArray((), np.intp, None, (0, 0))
    axes_of(axis, len(shapes[0]))
    for other in shapes[1:]:
        for left, right in zip(shapes[0], other, strict=True):
            here().equal(left, right, "all keys need to be the same shape")
    return SymbolicArray(shapes[0], np.intp, None, places_along(shapes[0][axis], "all"))


@implements(np.median, np.nanmedian)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    return stored(as_array(a).mean(axis=axis, keepdims=keepdims), out)


implements(np.nanmean)(lambda a, *args, **options: as_array(a).mean(*args, **options))


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    path, dims = here(), dims_of(a)
    axes = axes_of(axis, len(dims))
    if weights is not None and dims_of(weights) != dims:
        weight_dims = dims_of(weights)
        if len(weight_dims) == len(dims):
            same = all(path.ask(equal(x, y)) for x, y in zip(weight_dims, dims, strict=True))
        else:
            same = False
        if not same:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if len(weight_dims) != len(axes):
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            for x, n in zip(weight_dims, axes, strict=True):
                path.equal(x, dims[n], "Shape of weights must be consistent with shape of a along specified axis.")
    mean = as_array(a).mean(axis=axis, keepdims=keepdims)
    if weights is None:
        for dim in mean.dims:  # NumPy divides by the number of averages
            path.require(at_most(1, dim), "division by zero", ZeroDivisionError)
    else:
        # Only the sum of no weights is certain to be 0; of others the data decide.
        empty = [equal(d, 0) for d in mean.dims]
        for n in axes:
            reason = "Weights sum to zero, can't be normalized"
            path.require(any_of([*empty, at_most(1, dims[n])]), reason, ZeroDivisionError)
    return (mean, mean._with(mean.dims)) if returned else mean


@implements(np.percentile, np.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
    skips_nan: bool = False,
) -> Any:
    path, dims = here(), dims_of(a)
    if weights is not None or (skips_nan and out is not None):
        return path.fail_to_trace("quantiles with weights, or without NaN into an output, are not supported")
    # NumPy's range check loops over the quantiles only if they have one axis; otherwise it reduces them.
    if len(dims_of(q)) > 1:
        path.require(at_most(1, multiply(*dims_of(q))), "zero-size array to reduction operation minimum")
    for n in () if skips_nan else axes_of(axis, len(dims)):
        # "index -1 is out of bounds for axis 0 with size 0", even where no quantile is to be returned.
        path.require(at_most(1, dims[n]), "the axis must have elements", IndexError)
    mean = as_array(a).mean(axis=axis, keepdims=keepdims)
    # Without elements NumPy returns the mean, and forgets the axes of the quantiles.
    if skips_nan and path.ask(path.empty(dims)):
        return mean
    whole, out_dims = (*dims_of(q), *mean.dims), dims_of(out)
    is_like = len(out_dims) == len(whole) and all(path.ask(equal(a, b)) for a, b in zip(out_dims, whole, strict=True))
    if out is not None and not is_like:
        return path.fail_to_trace("quantiles with an output of another shape are not supported")
    return stored(SymbolicArray(whole, mean.dtype), out)


implements(np.nanpercentile, np.nanquantile)(lambda *args, **options: quantile(*args, **options, skips_nan=True))


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    path = here()
    if path.ask(equal(only_size(x), 0)):  # then NumPy does not check the weights
        return SymbolicArray(as_dims(minlength), np.intp)
    if weights is not None:
        path.equal(dims_of(x)[0], dims_of(weights)[0], "The weights and list don't have the same length.")
    as_dims(minlength)
    kind, span = np.intp if weights is None else float, contents_of(x).span
    if span is not None and span.is_exact:
        path.require(at_most(0, span.low), "'list' argument must have no negative elements")
        return SymbolicArray((path.bounds.larger(add(span.high, 1), dim_of(minlength)),), kind)
    if not is_of_data(x):
        return path.fail_to_trace("the number of bins depends on sizes only, but was not followed")
    count = path.data_size("bins", 1)
    path.suppose(at_most(dim_of(minlength), count))
    return SymbolicArray((count,), kind)


@implements(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    path, dims = here(), dims_of(ar)
    if axis is not None:
        return path.fail_to_trace("numpy.unique along an axis is not supported")
    if not is_of_data(ar):
        return path.fail_to_trace("the number of distinct elements depends on sizes only, but was not followed")
    total = multiply(*dims)
    distinct = numbering().values[numbering().number(("unique", number_of(as_array(ar))), (), "i")]
    if distinct.integer is None:
        distinct.integer = path.data_size("unique")
        path.suppose(at_most(distinct.integer, total))
        # There are distinct elements exactly if there are elements.
        path.suppose(equal(path.bounds.smaller(distinct.integer, 1), path.bounds.smaller(total, 1)))
    count = distinct.integer
    values = SymbolicArray((count,), dtype_of(ar), contents=contents_of(ar).some)
    each = (
        ((count,), return_index, places_along(total, "distinct")),
        (dims, return_inverse, places_along(count, "all")),
        ((count,), return_counts, IntegerSpan(1, total, "none")),
    )
    more = [SymbolicArray(shape, np.intp, None, span) for shape, is_wanted, span in each if is_wanted]
    return (values, *more) if more else values


@implements(np.tril)
def tril(m: Any, k: Any = 0) -> Any:
    return _triangle(m, k, "lower")


@implements(np.triu)
def triu(m: Any, k: Any = 0) -> Any:
    return _triangle(m, k, "upper")


def _triangle(m: Any, k: Any, kind: Literal["lower", "upper"]) -> SymbolicArray:
    """Return an array with zeros outside a triangle."""
    dims, known = dims_of(m), contents_of(m)
    if not dims:
        raise ValueError("Input must be >= 2-d.")
    # A vector is broadcast against a square mask: `tril` of 2 elements is (2, 2).
    whole = dims if len(dims) > 1 else dims * 2
    if not is_whole(k):
        return here().fail_to_trace("a triangle from a diagonal that depends on data is not supported")
    contents = ArrayContents(is_data=known.is_data)
    if known.truth is not None and len(whole) == 2:
        contents.truth = False if not known.truth else None
        contents.pattern = TruthPattern(*whole, kind, dim_of(k)) if known.truth else None
        is_positive = known.span is not None and here().bounds.is_at_least(known.span.low, 0)
        # The zeros outside join the elements: of positive ones, only the upper end stays.
        contents.span = IntegerSpan(0, known.span.high, "none") if is_positive and known.span is not None else None
    return SymbolicArray(whole, dtype_of(m), contents=contents)


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    return SymbolicArray(dims_of(element), bool)


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    path = here()
    points, values = only_size(xp), only_size(fp)
    path.require(at_most(1, points), "array of sample points is empty")
    path.equal(points, values, "fp and xp are not of the same length.")
    return SymbolicArray(dims_of(x), np.result_type(float, dtype_of(fp)))


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    # A value above all bins has their number, one more than the last index.
    return SymbolicArray(dims_of(x), np.intp, None, IntegerSpan(0, only_size(bins), "none"))


@implements(np.convolve, np.correlate)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    path = here()
    (n,), (m,) = dims_of(a) or (1,), dims_of(v) or (1,)
    path.require(at_most(1, n), "a cannot be empty")
    path.require(at_most(1, m), "v cannot be empty")
    # The operands are exchanged if the second is longer.
    longer, shorter = path.bounds.larger(n, m), path.bounds.smaller(n, m)
    whole = subtract(add(n, m), 1)
    length = {"full": whole, "same": longer, "valid": add(subtract(longer, shorter), 1)}[mode]
    return SymbolicArray((length,), common_dtype([a, v]))


@implements(np.result_type)
def result_type(*args: Any) -> Any:
    return np.result_type(*[example_of(dtype_of(a)) if is_symbolic(a) else a for a in args])


@implements(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(np.dtype(dtype_of(from_)), to, casting)


@implements(np.shares_memory, np.may_share_memory)
def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    if getattr(a, "memory", a) is getattr(b, "memory", b):
        return here().fail_to_trace("whether views of one array share elements is not known")
    return False


@implements(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    return np.dtype(dtype_of(a))


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    path, sizes = here(), as_dims(dims)
    is_array = hasattr(type(multi_index), "dims")
    count = multi_index.dims[0] if is_array else len(multi_index)
    if not isinstance(count, int):
        path.equal(count, len(sizes), "parameter multi_index must be a sequence with one item per size")
        count = len(sizes)
    if count != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    indices = [multi_index[n] for n in range(count)]
    if not all(np.dtype(dtype_of(v)).kind in "iub" for v in indices):
        raise TypeError("only int indices permitted")
    shape = broadcast_together(map(dims_of, indices))
    if isinstance(mode, tuple) and any(m != "raise" for m in mode):
        return path.fail_to_trace("numpy.ravel_multi_index with a mode for each axis is not supported")
    if mode == "raise":
        for index, size in zip(indices, sizes, strict=True):
            check_indices(path, index, size, shape, is_from_front=True, error=ValueError)
    else:
        return path.fail_to_trace(f"numpy.ravel_multi_index with the mode {mode!r} is not supported")
    return SymbolicArray(shape, np.intp, None, places_along(multiply(*sizes)))


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    path, sizes, dims = here(), as_dims(shape), dims_of(indices)
    if np.dtype(dtype_of(indices)).kind not in "iub":
        raise TypeError("only int indices permitted")
    check_indices(path, indices, multiply(*sizes), dims, is_from_front=True, error=ValueError)
    return tuple(SymbolicArray(dims, np.intp, None, places_along(s)) for s in sizes)


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    # The tolerances are arrays too: (3,) and 1 with an `rtol` of (2, 1) give (2, 3).
    return SymbolicArray(broadcast_together(map(dims_of, (a, b, rtol, atol))), bool)


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if isinstance(bins, str):
        return here().fail_to_trace("numpy.histogram that computes its own bins is not supported")
    if not is_whole(bins) and len(dims_of(bins)) != 1:
        raise ValueError("`bins` must be 1d, when an array")
    if is_whole(bins):
        count = dim_of(bins)
        here().require(at_most(1, count), "`bins` must be positive, when an integer")
    else:
        # No edges are accepted as one is: both bound no bin.
        count = here().bounds.larger(subtract(dims_of(bins)[0], 1), 0)
    if weights is not None:
        if len(dims_of(a)) != len(dims_of(weights)):
            raise ValueError("weights should have the same shape as a.")
        for left, right in zip(dims_of(a), dims_of(weights), strict=True):
            here().equal(left, right, "weights should have the same shape as a.")
    kind = np.intp if weights is None and not density else float
    edges = (add(count, 1),) if is_whole(bins) else dims_of(bins)
    return SymbolicArray((count,), kind), SymbolicArray(edges, float)
