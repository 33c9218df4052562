"""The methods of ``ndarray``: shapes and reductions; sorting, lookup and repetition of elements; and ``x.flat``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from symbcast.arrays.array_facts import (
    ArrayContents,
    IntegerSpan,
    as_dims,
    axes_of,
    broadcast_together,
    common_dtype,
    dims_of,
    dtype_of,
    here,
    only_size,
    whole,
)
from symbcast.arrays.functions.ufuncs import accumulated, apply, places_along, reduced
from symbcast.arrays.indexing import check_cast, check_indices, check_mask, counted, indexed, stored, whole_indices
from symbcast.arrays.symbolic_array import Dispatched, NestedList, SymbolicArray, is_of_data, method
from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.operators import reshaping
from symbcast.operators.products import reduce
from symbcast.operators.reshaping import reshape as reshaped
from symbcast.paths.sizes import dim_of, is_whole

NO_VALUE = np._NoValue
_CLIP: Any = vars(np)["_core"].umath.clip


@method("reshape")
def reshape(array: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    """Return the elements in another shape; one of its sizes may be negative, which means what is left, as -1 does."""
    path = here()
    wanted_shape = whole(shape[0] if len(shape) == 1 else shape)
    sizes = [wanted_shape] if is_whole(wanted_shape) else list(map(whole, wanted_shape))
    dims = [dim_of(s) for s in sizes]
    target = [None if _is_free(path, d) else d for d in dims]
    with path.doing("reshape", [array.dims]):
        new_dims = reshaped(path, array.dims, target)
    new_dims = path.written(new_dims)
    return array.same() if new_dims == array.dims else array._with(new_dims)


def _is_free(path: Any, dim: Any) -> bool:
    if isinstance(dim, int):
        return dim < 0
    # `x.reshape(n - 2)` at n = 1 or 0 leaves the size open: NumPy takes every negative size for -1.
    return not path.bounds.is_at_least(dim, 0) and bool(path.ask(at_most(dim, -1)))


@method("ravel")
def ravel(array: Any, order: str = "C") -> Any:
    """Return the elements on one axis."""
    return array.same() if array.ndim == 1 else array._with((multiply(*array.dims),))


@method("flatten")
def flatten(array: Any, order: str = "C") -> Any:
    """Return a copy of the elements on one axis."""
    return ravel(array, order).copied()


@method("transpose", "permute_dims")
def transpose(array: Any, *axes: Any) -> Any:
    """Return the axes in another order."""
    order = axes[0] if len(axes) == 1 and (axes[0] is None or not is_whole(axes[0])) else axes or None
    if order is not None:
        if len(order) != array.ndim:
            raise ValueError("axes don't match array")
        order = axes_of(tuple(order), array.ndim)
    turned = array._with(reshaping.transpose(here(), array.dims, order))
    if array.ndim == 2 and array.contents.pattern is not None:
        is_turned = order is None or order[0] == 1
        turned.contents.pattern = array.contents.pattern.transposed if is_turned else array.contents.pattern
    return turned


@method("swapaxes")
def swapaxes(array: Any, first: int, second: int) -> Any:
    """Return the array with two axes exchanged."""
    order = list(range(array.ndim))
    (a,), (b,) = axes_of(first, array.ndim), axes_of(second, array.ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(array, tuple(order))


@method("squeeze")
def squeeze(array: Any, axis: Any = None) -> Any:
    """Return the array without some axes of size 1: the given ones, or all."""
    path = here()
    # Which axes are 1 decides the rank: each is a question.
    if axis is None:
        return array._with(tuple(d for d in array.dims if not path.ask(equal(d, 1))))
    axes = axes_of(axis, array.ndim)
    return array._with(reshaping.squeeze(path, array.dims, axes))


@method("astype")
def astype(
    array: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """Return the elements in another type."""
    kind, contents = np.dtype(dtype), replace(array.contents, number=None)
    if kind.names is not None or array.dtype.names is not None:
        here().fail_to_trace("a cast of structured arrays is not supported")
    check_cast(array.dtype, kind, casting)
    if kind.kind == "b" and array.dtype.kind != "b":
        contents.span, contents.ramp = IntegerSpan(0, 1, "none"), None
    elif array.dtype.kind in "fc" and kind.kind in "iu" and contents.span is None:
        contents.truth = None  # truncation may produce 0
    memory = array.memory if not copy and kind == array.dtype else None
    return SymbolicArray(array.dims, kind, contents=contents, memory=memory)


@method("view")
def view(array: Any, dtype: Any = None, type: Any = None) -> Any:
    """Return the same bytes read as another dtype, which may change the size of the last axis."""
    kinds = [k for k in (dtype, type) if isinstance(k, type_of_types) and issubclass(k, np.ndarray)]
    for subclass in kinds:
        if subclass is not np.ndarray:  # a matrix multiplies differently, and a masked array has a mask
            here().fail_to_trace(f"an array of the class {subclass.__name__} is not supported")
    if dtype is None or dtype in kinds:
        return array.same()
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
    return SymbolicArray(tuple(dims), kind, contents=ArrayContents(is_data=array.contents.is_data), memory=array.memory)


type_of_types = type


@method("copy")
def copy(array: Any, order: str = "C") -> Any:
    """Return a copy."""
    return array.copied()


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
        return stored(array, out)
    # Whole numbers stay as they are, but not if they are rounded to tens: 4 becomes 0, as 0.4 does among other numbers.
    if array.span is not None and is_whole(decimals) and here().bounds.is_at_least(dim_of(decimals), 0):
        return SymbolicArray(array.dims, array.dtype, contents=replace(array.contents))
    known = array.contents
    contents = ArrayContents(
        truth=False if known.truth is False else None, is_data=known.is_data, divisors=known.divisors
    )
    return SymbolicArray(array.dims, array.dtype, contents=contents)


@method("byteswap")
def byteswap(array: Any, inplace: bool = False) -> Any:
    """Return the elements with their bytes in reverse order."""
    if inplace:
        array.forget()
        return array
    return SymbolicArray(array.dims, array.dtype)


@method("__array_wrap__", "__array_prepare__")
def wrapped(array: Any, value: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Return the result of a function, wrapped in this array's class."""
    return value


def _reduction(name: str, ufunc: Any, *, has_dtype: bool = False) -> None:
    """Register a reduction by a method, which errors name; its options that were not given are left out."""

    def reduction(
        array: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        options = {k: v for k, v in (("initial", initial), ("where", where)) if v is not NO_VALUE}
        with here().doing(name, [array.dims]):
            return reduced(ufunc, array, axis, dtype, out, keepdims is not NO_VALUE and bool(keepdims), **options)

    def without_dtype(array: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        return reduction(array, axis, None, *args, **options)

    reduction.__qualname__ = without_dtype.__qualname__ = name
    method(name)(reduction if has_dtype else without_dtype)


# NumPy's own all() and any() take a type as their second argument, although they are documented without one.
for _name, _ufunc in {"sum": np.add, "prod": np.multiply, "all": np.logical_and, "any": np.logical_or}.items():
    _reduction(_name, _ufunc, has_dtype=True)
_reduction("max", np.maximum)
_reduction("min", np.minimum)


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
    kind = np.dtype(dtype) if dtype is not None else np.array([1], array.dtype).mean().dtype
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    where = True if where is NO_VALUE else where
    mean = reduced(np.add, array, axis, kind, out, keeps, where=where)
    if out is None:
        # The mean of -1 and 1 is 0.
        mean.contents.truth = mean.contents.span = mean.contents.number = None
        count = multiply(*(array.dims[n] for n in axes_of(axis, array.ndim)))
        if not here().bounds.is_at_least(count, 1):
            mean.contents.divisors, mean.contents.count = (count,), count
    return mean


def _accumulation(name: str, ufunc: Any) -> None:
    @method(name)
    def accumulation(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        data = array if axis is not None and array.dims else ravel(array)
        return accumulated(ufunc, data, 0 if axis is None else axis, dtype, out)


_accumulation("cumsum", np.add)
_accumulation("cumprod", np.multiply)


@method("diagonal")
def diagonal(array: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Any:
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
    # An offset beyond the matrix gives an empty diagonal.
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
    with path.doing("dot", [left, right]):
        path.equal(left[-1], right[-2] if len(right) > 1 else right[0], "the sizes that are summed over must be equal")
    return SymbolicArray((*left[:-1], *right[:-2], *(right[-1:] if len(right) > 1 else ())), kind)


def _dot_into(out: Any, product: Any) -> Any:
    stored(product, out, "unsafe")
    # `dot` casts nothing: even float64 into float32 is "not acceptable", unlike in a ufunc.
    if out.dtype != product.dtype:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions)")
    return out


@method("clip")
def clip(array: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Return the elements clipped to two bounds."""
    low, high = (None if b is NO_VALUE else b for b in (min, max))
    if low is None and high is None:
        # As NumPy does, so that booleans are refused: `positive` has no loop for them.
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


# The methods of arrays that sort, look up, count or repeat elements.


@method("partition")
def partition(array: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
    """Put one element at its sorted position."""
    (place,) = axes_of(axis, array.ndim)
    _check_kth(array, kth, place)
    array.reorder()


@method("argsort")
def argsort(array: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Return the indices that sort the elements."""
    if axis is None:
        array, axis = ravel(array), 0
    (place,) = axes_of(axis, array.ndim)
    return SymbolicArray(array.dims, np.intp, None, places_along(array.dims[place], "all"))


@method("argpartition")
def argpartition(array: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """Return the indices that put one element at its sorted position."""
    order_indices = argsort(array, axis)
    _check_kth(array if axis is not None else ravel(array), kth, 0 if axis is None else axes_of(axis, array.ndim)[0])
    return order_indices


def _check_kth(array: Any, kth: Any, place: int) -> None:
    """Require that indices, possibly negative, are within an axis."""
    size, empty = array.dims[place], [equal(d, 0) for d in array.dims]
    for number in [kth] if is_whole(kth) else kth:
        if not is_whole(number):
            here().fail_to_trace("a partition at indices that depend on data is not supported")
        dim = dim_of(number)
        # An array without elements is not partitioned: (0, 3) takes a kth of 5, which (2, 3) refuses.
        here().require(any_of([at_most(add(dim, 1), size), *empty]), "kth out of bounds")
        here().require(any_of([at_most(multiply(-1, size), dim), *empty]), "kth out of bounds")


@method("argmax", "argmin")
def argmax(array: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Return the index of the greatest element along an axis, which must not be empty."""
    path = here()
    dims = array.dims if axis is not None else (multiply(*array.dims),)
    (place,) = axes_of(0 if axis is None else axis, len(dims))
    # Even where there is nothing to return: (0, 0) along axis 1 is refused, (0, 3) is not.
    path.require(at_most(1, dims[place]), "attempt to get argmax of an empty sequence")
    keeps = keepdims is not NO_VALUE and bool(keepdims)
    whole = (1,) * array.ndim if keeps else ()
    result_dims = whole if axis is None else reduce(path, dims, [place], keepdims=keeps)
    return stored(SymbolicArray(result_dims, np.intp, None, places_along(dims[place])), out)


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
        which = "all" if contents.truth else "distinct" if len(array.dims) == 1 and contents.is_data else "none"
        spans = tuple(places_along(d, which) for d in array.dims)
    is_data = contents.is_data
    return tuple(SymbolicArray((count,), np.intp, contents=ArrayContents(span=s, is_data=is_data)) for s in spans)


@method("take")
def take(array: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Return elements or slices by their indices on an axis."""
    data = ravel(array) if axis is None else array
    (place,) = axes_of(0 if axis is None else axis, data.ndim)
    shape, size = dims_of(indices), data.dims[place]
    if mode == "raise":
        check_indices(here(), whole_indices(indices), size, (*data.dims[:place], *shape))
    elif mode in ("wrap", "clip"):
        # No index has a place on an empty axis, so only a result without elements is possible.
        empty = [equal(d, 0) for d in (*data.dims[:place], *shape)]
        here().require(any_of([at_most(1, size), *empty]), "cannot do a non-empty take", IndexError)
    else:
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    dims = (*data.dims[:place], *shape, *data.dims[place + 1 :])
    contents = array.contents.some
    contents.is_data |= is_of_data(indices)
    return stored(SymbolicArray(dims, data.dtype, contents=contents), out)


@method("repeat")
def repeat(array: Any, repeats: Any, axis: Any = None) -> Any:
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
        # Their sum is the new size, which data decide.
        dims[place] = path.data_size("repeated")
    return SymbolicArray(tuple(dims), data.dtype, contents=array.contents.spread)


@method("searchsorted")
def searchsorted(array: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return the indices at which values would be inserted into a sorted one-dimensional array."""
    size = only_size(array)
    if sorter is not None:
        of_sorter = only_size(sorter, "could not parse sorter argument", TypeError)
        here().equal(of_sorter, size, "sorter.size must equal that of the array")
    return SymbolicArray(dims_of(values), np.intp, None, IntegerSpan(0, size, "none"))


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
    return NestedList(array) if array.dims else SymbolicArray((), array.dtype, contents=array.contents)


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
    only_size(condition, "condition must be a 1-d array")
    mask = condition if hasattr(type(condition), "dims") else np.asarray(condition)
    return take(array, np.nonzero(mask)[0], axis)


@method("setflags")
def setflags(array: Any, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Set flags, which do not affect shapes."""
    if write is not None and not write:
        here().fail_to_trace("read-only arrays are not supported")


class Flat(Dispatched):
    """The elements of an array in C order. Reads return copies; writes go to the array.

    Attributes:
        base: the array.
    """

    def __init__(self, base: SymbolicArray) -> None:
        self.base = base

    @property
    def dims(self) -> Any:
        """The only size: the number of elements."""
        return (multiply(*self.base.dims),)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.base.dtype

    @property
    def contents(self) -> Any:
        """Facts about the elements."""
        return self.base.contents.spread

    @property
    def shape(self) -> Any:
        """The shape, which NumPy's iterators do not have."""
        raise AttributeError("'numpy.flatiter' object has no attribute 'shape'")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __len__(self) -> int:
        raise TypeError("the length of a symbolic array is a size")

    def copy(self) -> Any:
        """Return the elements on one axis."""
        return ravel(self.base).copied()

    def __getitem__(self, key: Any) -> Any:
        if _is_everything(key):
            return self.copy()
        mask = self._mask(key)
        part = indexed(self.copy(), self._key(key)) if mask is None else indexed(ravel(self.base), mask)
        return part.copied()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write values in order, repeated or cut off as needed; an empty value writes nothing."""
        if is_whole(key) and dims_of(value):
            raise ValueError("Error setting single item of array.")
        mask = self._mask(key)
        if mask is not None:
            indexed(self.copy(), mask)
        elif hasattr(type(key), "dims") or isinstance(key, (list, np.ndarray)):
            # Without indices or without values, NumPy writes nothing and checks nothing.
            check_indices(here(), key, self.dims[0], (*dims_of(key), *dims_of(value)))
        elif not _is_everything(key):
            indexed(self.copy(), self._key(key))
        self.base.forget(value, key)

    def _mask(self, key: Any) -> Any:
        """Return a mask, whose size must be that of the array or 0; None for any other index."""
        if not (hasattr(type(key), "dims") or isinstance(key, (list, np.ndarray))) or dtype_of(key).kind != "b":
            return None
        check_mask(here(), (only_size(key, "a mask of a flat iterator must have one axis", IndexError),), self.dims)
        return key

    @staticmethod
    def _key(key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 1:
            key = key[0]
        if key is None or isinstance(key, tuple):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
            )
        return key


def _is_everything(key: Any) -> bool:
    return key is Ellipsis or (type(key) is tuple and not key)


SymbolicArray.flattened = staticmethod(Flat)
