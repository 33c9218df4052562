"""NumPy's functions that are written in C, or whose code does not lend itself; all others run as NumPy has them.

NumPy's functions in Python are run as they stand, with symbolic arrays: their checks and their branches are traced like
any other code. What is here is what they come down to.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from symbcast.algebra.arithmetic import add, join_members, multiply, subtract
from symbcast.arrays.array import SymbolicArray
from symbcast.arrays.dims import as_dims, axes_of, common_dtype, dims_of, dtype_of, example_of, here, is_symbolic
from symbcast.arrays.indices import counted
from symbcast.arrays.methods import dot, ravel
from symbcast.logic.formulas import at_most, different, equal
from symbcast.operators import joins, layout
from symbcast.operators.einsum import einsum as einsum_shape
from symbcast.operators.padding import Padding
from symbcast.operators.padding import pad as padded
from symbcast.paths.size import dim_of, greatest, is_whole, smallest

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
_OWN_CODE = True


def known(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function stand for some of NumPy's."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return register


def called(function: Any, args: Any, options: Any) -> Any:
    """Return what a function of NumPy gives for symbolic arrays."""
    path = here()
    name = f"{function.__module__}.{function.__name__}"
    undo = path.doing(function.__name__, [dims_of(a) for a in args if hasattr(type(a), "dims")])
    try:
        ours = FUNCTIONS.get(function)
        if ours is not None:
            return ours(*args, **options)
        inner = getattr(function, "_implementation", None)
        if isinstance(inner, FunctionType):
            return inner(*args, **options)
    finally:
        undo()
    return path.fail_to_trace(f"{name} is not known")


SymbolicArray.functions = staticmethod(called)


@known(np.shape)
def shape(a: Any) -> Any:
    return a.shape


@known(np.ndim)
def ndim(a: Any) -> int:
    return len(dims_of(a))


@known(np.size)
def size(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@known(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, **_: Any) -> Any:
    arrays = list(arrays)
    kind = np.dtype(dtype) if dtype is not None else common_dtype(arrays)
    if axis is None:
        return SymbolicArray((add(*(multiply(*dims_of(a)) for a in arrays)),), kind)
    shapes = [dims_of(a) for a in arrays]
    if not shapes[0]:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len({len(s) for s in shapes}) > 1:
        raise ValueError("all the input array dimensions must match in number")
    (place,) = axes_of(axis, len(shapes[0]))
    return SymbolicArray(here().written(joins.concat(here(), shapes, place)), kind)


@known(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, **_: Any) -> Any:
    arrays = list(arrays)
    shapes = [dims_of(a) for a in arrays]
    if not shapes:
        raise ValueError("need at least one array to stack")
    if len({len(s) for s in shapes}) > 1:
        raise ValueError("all input arrays must have the same shape")
    (place,) = axes_of(axis, len(shapes[0]) + 1)
    return SymbolicArray(joins.stack(here(), shapes, place), np.dtype(dtype) if dtype else common_dtype(arrays))


@known(np.where)
def where(condition: Any, *values: Any) -> Any:
    if not values:
        return _array(condition).nonzero()
    shapes = [s for s in map(dims_of, (condition, *values)) if s]
    return SymbolicArray(here().broadcast(*shapes) if len(shapes) > 1 else (shapes or [()])[0], common_dtype(values))


def _array(value: Any) -> Any:
    return value if hasattr(type(value), "dims") else SymbolicArray(dims_of(value), dtype_of(value))


@known(np.dot)
def dot_of(a: Any, b: Any, out: Any = None) -> Any:
    return dot(_array(a), b)


@known(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    here().equal(multiply(*dims_of(a)), multiply(*dims_of(b)), "cannot reshape: both must have as many elements")
    return SymbolicArray((), common_dtype([a, b]))


@known(np.inner)
def inner(a: Any, b: Any) -> Any:
    left, right = dims_of(a), dims_of(b)
    if not left or not right:
        return SymbolicArray((*left, *right), common_dtype([a, b]))
    here().equal(left[-1], right[-1], "the last sizes must be equal")
    return SymbolicArray((*left[:-1], *right[:-1]), common_dtype([a, b]))


@known(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **_: Any) -> Any:
    if not isinstance(operands[0], str):
        here().fail_to_trace("numpy.einsum with lists of numbers is not known")
    shapes = [dims_of(a) for a in operands[1:]]
    found = einsum_shape(here(), operands[0], shapes, aligns_ellipses=True)
    return SymbolicArray(found, np.dtype(dtype) if dtype else common_dtype(operands[1:]))


@known(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    target = as_dims(shape)
    if len(dims_of(array)) > len(target):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    here().broadcast(dims_of(array), target, rule="unidirectional")
    return SymbolicArray(target, dtype_of(array), getattr(array, "truth", None))


@known(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    dims = here().broadcast(*(dims_of(a) for a in arrays))
    return tuple(SymbolicArray(dims, dtype_of(a)) for a in arrays)


@known(np.empty_like, np.zeros_like, np.ones_like)
def like(prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any) -> Any:
    dims = dims_of(prototype) if shape is None else as_dims(shape)
    return SymbolicArray(dims, dtype_of(prototype) if dtype is None else dtype)


@known(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any) -> Any:
    found = like(a, dtype, shape=shape)
    here().broadcast(dims_of(fill_value), found.dims, rule="unidirectional")
    return found


@known(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    here().broadcast(dims_of(src), dims_of(dst), rule="unidirectional")


@known(np.tile)
def tile(A: Any, reps: Any) -> Any:
    times = as_dims(reps)
    dims = dims_of(A)
    rank = max(len(dims), len(times))
    dims, times = (1,) * (rank - len(dims)) + dims, (1,) * (rank - len(times)) + times
    return SymbolicArray(layout.tile(here(), dims, times), dtype_of(A))


@known(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **_: Any) -> Any:
    dims, path = dims_of(array), here()
    ends = _ends(pad_width, len(dims))
    for dim in (e for pair in ends for e in pair):
        path.require(at_most(0, dim), "index can't contain negative values")
    if callable(mode) or mode not in ("constant", "edge", "empty", "linear_ramp", "reflect", "symmetric", "wrap"):
        return path.fail_to_trace(f"numpy.pad with the mode {mode!r} is not known")
    paddings = [Padding(d, *e) for d, e in zip(dims, ends, strict=True)]
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        for padding in paddings:
            if not path.ask(padding.stays):
                path.require(at_most(1, padding.size), f"can't extend empty axis using mode {mode!r}")
    return SymbolicArray(padded(path, paddings, "constant"), dtype_of(array))


def _ends(width: Any, rank: int) -> list[tuple[Any, Any]]:
    if isinstance(width, dict):
        here().fail_to_trace("numpy.pad with a dict is not known")
    pairs = np.broadcast_to(np.asarray(width, dtype=object), (rank, 2))
    return [(dim_of(a), dim_of(b)) for a, b in pairs]


@known(np.flip, np.nan_to_num, np.real_if_close, np.fft.fftshift, np.fft.ifftshift, np.sort_complex, np.i0, np.sinc)
def same(m: Any, *args: Any, **options: Any) -> Any:
    axis = options.get("axis", args[0] if args else None)
    if axis is not None and isinstance(axis, (int, tuple)) and not isinstance(axis, bool):
        axes_of(axis, len(dims_of(m)))
    return _array(m)._with(dims_of(m))


@known(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    axes_of(axis, len(dims_of(a)))
    return _array(a)._with(dims_of(a))


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
    found = _array(a).mean(axis=axis, keepdims=options.get("keepdims", False))
    return found


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
    found = _array(a).mean(axis=axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)
    return (found, found._with(found.dims)) if returned else found


@known(np.percentile, np.quantile, np.nanpercentile, np.nanquantile)
def quantile(a: Any, q: Any, axis: Any = None, *args: Any, keepdims: Any = False, **options: Any) -> Any:
    path, dims = here(), dims_of(a)
    for n in axes_of(axis, len(dims)):
        path.require(at_most(1, dims[n]), "the axis must have elements", IndexError)
    found = _array(a).mean(axis=axis, keepdims=bool(keepdims) and keepdims is not np._NoValue)
    return SymbolicArray((*dims_of(q), *found.dims), found.dtype)


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
def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, **_: Any) -> Any:
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
    return _array(m)._with(dims if len(dims) > 1 else dims * 2)


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
def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    return np.can_cast(np.dtype(dtype_of(from_)), to, casting)  # type: ignore[no-any-return]


@known(np.shares_memory, np.may_share_memory)
def shares_memory(a: Any, b: Any, *_: Any, **__: Any) -> bool:
    return False


@known(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return np.dtype(dtype_of(x)).kind == "c"


@known(np.fill_diagonal, np.put_along_axis, np.putmask, np.place)
def changed(*_: Any, **__: Any) -> None:
    return None


@known(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    return np.dtype(dtype_of(a))


@known(np.isclose)
def isclose(a: Any, b: Any, *_: Any, **__: Any) -> Any:
    shapes = [s for s in map(dims_of, (a, b)) if s]
    return SymbolicArray(here().broadcast(*shapes) if len(shapes) > 1 else (shapes or [()])[0], bool)


@known(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:  # noqa: A002
    if isinstance(bins, str):
        return here().fail_to_trace("numpy.histogram that works out its bins is not known")
    count = dim_of(bins) if is_whole(bins) else subtract(dims_of(bins)[0], 1)
    here().require(at_most(1 if is_whole(bins) else 0, count), "`bins` must be positive, when an integer")
    if weights is not None:
        for left, right in zip(dims_of(a), dims_of(weights), strict=True):
            here().equal(left, right, "weights should have the same shape as a.")
    kind = np.intp if weights is None and not density else float
    return SymbolicArray((count,), kind), SymbolicArray((add(count, 1),), float)


__all__ = ["FUNCTIONS", "called", "counted", "different", "greatest", "join_members", "smallest"]
