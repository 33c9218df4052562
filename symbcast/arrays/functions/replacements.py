"""Stand-ins for what cannot be dispatched.

Array constructors, Python builtins, `math`, and NumPy's index iterators.
"""

from __future__ import annotations

import builtins
import importlib
import math
import operator
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import GeneratorType
from typing import Any, Literal

import numpy as np
from numpy import array as real_array

from symbcast.arrays.array_facts import (
    ArrayContents,
    IntegerSpan,
    TruthPattern,
    as_dims,
    common_dtype,
    dims_of,
    dtype_of,
    here,
    is_symbolic,
    whole,
)
from symbcast.arrays.functions import data_functions  # noqa: F401 - it registers functions
from symbcast.arrays.functions.array_functions import FUNCTIONS, filled, stack
from symbcast.arrays.functions.methods import Flat
from symbcast.arrays.functions.packages import register_package_standins
from symbcast.arrays.indexing import ramp_contents
from symbcast.arrays.loops.repeated import Repeated, Sequence, gathered, has_repeated
from symbcast.arrays.loops.rewritten_calls import CachedFunction, SetLike, collected
from symbcast.arrays.standins import WRAPPERS, StandIns, real_of
from symbcast.arrays.symbolic_array import NestedList, SymbolicArray, as_array, contents_of
from symbcast.core.algebra.arithmetic import ceil_divide, floor_divide, modulo, multiply, subtract
from symbcast.core.algebra.formulas import Comparison, Formula, at_most, equal
from symbcast.operators.operator import Dims
from symbcast.paths.exploration import is_of_user
from symbcast.paths.real_numbers import Real
from symbcast.paths.sizes import Size, dim_of, greatest, is_whole, sized, smallest
from symbcast.paths.steps import ARRAYS, SIZES

# The types of values that mean something in a trace only.
SYMBOLIC = (SymbolicArray, Size, Real, NestedList, Flat, Repeated)


def _has_symbolic(*args: Any, **options: Any) -> bool:
    return any(map(is_symbolic, args)) or any(map(is_symbolic, options.values()))


def is_one(*args: Any, **_: Any) -> bool:
    """Return whether any argument is an array, a size or a number computed from sizes."""
    return any(type(v) in SYMBOLIC for v in args)


def are_sizes(*args: Any, **_: Any) -> bool:
    values = args[0] if len(args) == 1 and type(args[0]) in (list, tuple) else args
    return any(type(v) is Size for v in values)


STANDINS = StandIns(_has_symbolic, register_package_standins)
stands_for = STANDINS.stands_for
SymbolicArray.namespace = staticmethod(lambda: STANDINS.of(np))


@stands_for(builtins.__import__, importlib.import_module, is_ours=lambda *_, **__: True)
def imported(real: Any, *args: Any, **options: Any) -> Any:
    return STANDINS.of(real(*args, **options))


# Array constructors.
#
# An array whose sizes are all known is a real one, with its elements, until code writes something into it that only a
# trace has. Then the runs start again, and the line that created it creates an array without data instead; if it has
# integers, first one of objects, which can hold sizes.


def creates(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the stand-in for functions that create arrays."""

    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        @stands_for(*functions, is_ours=lambda *_, **__: True)
        def created(real: Any, *args: Any, **options: Any) -> Any:
            if _has_symbolic(*args, **options):
                return ours(real, *args, **options)
            array, loops, place = real(*args, **options), here().loops, here().place()
            if type(array) is not np.ndarray or array.dtype == object:
                return array
            has_sizes = loops.is_written(SIZES, place)
            if loops.is_written(ARRAYS, place) or (has_sizes and array.dtype.kind not in "iu"):
                return as_array(array)
            array = array.astype(object) if has_sizes else array
            loops.arrays.append((array, place))
            return array

        return ours

    return register


@creates(np.array)
@stands_for(np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.require)
def asarray(real: Any, value: Any, dtype: Any = None, *args: Any, ndmin: int = 0, **options: Any) -> Any:
    if real.__name__ == "require":
        options.pop("requirements", None)
    if has_repeated(value):
        value = gathered(value)
    kind = type(value)
    if kind is NestedList:
        array = value.array() if dtype is None else value.array().astype(dtype)
    elif kind is Flat:
        array = value.copy() if dtype is None else value.copy().astype(dtype)
    elif hasattr(kind, "dims"):
        # `np.array` copies by default, `np.asarray` only if it must.
        is_copy = real.__name__ == "array" and (options.get("copy", args[0] if args else True) is True)
        array = (value.copied() if is_copy else value) if dtype is None else value.astype(dtype, copy=is_copy)
    elif kind in (Size, Real):
        return value if dtype is None or np.dtype(dtype).kind in "iu" else SymbolicArray((), dtype)
    elif kind in (list, tuple) and not any(hasattr(type(v), "dims") or _holds_arrays(v) for v in value):
        return _of_sizes(real, value, dtype)
    elif kind is np.ndarray:
        return value if dtype is None or np.dtype(dtype).kind in "iu" else SymbolicArray(value.shape, dtype)
    else:
        array = stack([asarray(real, v) if is_symbolic(v) else v for v in value])
        array = array if dtype is None else array.astype(dtype)
    while array.ndim < max(ndmin, 1 if real.__name__ == "ascontiguousarray" else 0):
        array = array._with((1, *array.dims))
    return array


def _holds_arrays(value: Any) -> bool:
    return type(value) in (list, tuple) and any(hasattr(type(v), "dims") or _holds_arrays(v) for v in value)


def _of_sizes(real: Any, value: Any, dtype: Any) -> Any:
    """Return integers and sizes as an object array, which NumPy can compute with."""
    if dtype is not None and np.dtype(dtype).kind == "f":
        return SymbolicArray(dims_of(value), dtype)
    # NumPy computes with objects element by element, by the operators of sizes.
    return real_array(value, dtype=object)


@creates(np.full)
def full(real: Any, shape: Any, fill_value: Any, dtype: Any = None, *_: Any, **options: Any) -> Any:
    return filled(as_dims(shape), dtype_of(fill_value) if dtype is None else dtype, fill_value)


@creates(np.empty, np.zeros, np.ones)
def uniform(real: Any, shape: Any, dtype: Any = float, *_: Any, **options: Any) -> Any:
    return filled(as_dims(shape), dtype, {"zeros": 0, "ones": 1}.get(real.__name__))


@creates(np.arange)
def arange(real: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
    names = ("start", "stop", "step")
    numbers = [*args, *(options[n] for n in names[len(args) :] if n in options)]
    if len(numbers) > 1 and numbers[1] is None:  # as in the array API
        numbers = [0, numbers[0], *numbers[2:]]
    numbers = list(map(whole, numbers))
    if not all(map(is_whole, numbers)):
        return _float_range(numbers, dtype)
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    low, high, by = dim_of(start), dim_of(stop), here().number(dim_of(step))
    path = here()
    count = path.bounds.larger(ceil_divide(subtract(high, low) if by > 0 else subtract(low, high), abs(by)), 0)
    return SymbolicArray((count,), dtype if dtype is not None else np.intp, contents=ramp_contents(low, by, count))


def _float_range(numbers: list[Any], dtype: Any) -> Any:
    """Return the range of numbers of which some are no integers: NumPy rounds the quotient of floats up."""
    start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if any(type(n) is SymbolicArray for n in numbers):
        return here().fail_to_trace("numpy.arange of numbers that data decide is not supported")
    count = math.ceil((stop - start) / step)
    dims = (here().bounds.larger(dim_of(count), 0),)
    return SymbolicArray(dims, dtype or float, contents=ArrayContents(is_data=False))


@stands_for(np.fromiter, is_ours=lambda values, *_, **__: type(values) in (GeneratorType, Sequence, SymbolicArray))
def fromiter(real: Any, values: Any, dtype: Any, count: Any = -1, **options: Any) -> Any:
    items = collected(values)
    if not is_symbolic(items) and not has_repeated(items):
        return real(items, dtype, count, **options)
    if count != -1:
        return here().fail_to_trace("numpy.fromiter with a count is not supported")
    array = asarray(real_array, items) if items else real_array(items)
    if len(dims_of(array)) > 1:
        raise ValueError("setting an array element with a sequence.")
    return array.astype(dtype)


@stands_for(np.broadcast_shapes)
def broadcast_shapes(real: Any, *shapes: Any) -> Any:
    path = here()
    return tuple(sized(d, path) for d in path.broadcast(*map(as_dims, shapes)))


class SymbolicBroadcast:
    """The result of `numpy.broadcast`: the broadcast shape of arrays."""

    def __init__(self, *arrays: Any) -> None:
        path = here()
        dims = path.broadcast(*map(dims_of, arrays))
        self.shape = tuple(sized(d, path) for d in dims)
        self.ndim = self.nd = len(dims)
        self.size = SymbolicArray(dims, float).size


@stands_for(np.broadcast)
def broadcast(real: Any, *arrays: Any) -> Any:
    return SymbolicBroadcast(*arrays)


@stands_for(np.lib.stride_tricks.as_strided)
def as_strided(
    real: Any, x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    # What the memory around holds is unknown, and with it all facts about the elements.
    return SymbolicArray(dims_of(x) if shape is None else as_dims(shape), dtype_of(x))


class Converter:
    """The converter that NumPy's functions use for their arrays and results."""

    def __init__(self, *arrays: Any) -> None:
        self._arrays = tuple(STANDINS.of(np.asarray)(a) for a in arrays)
        self.scalar_input = tuple(not dims_of(a) for a in arrays)

    def as_arrays(self, **_: Any) -> tuple[Any, ...]:
        """Return the inputs as arrays."""
        return self._arrays

    def result_type(self, *more: Any, **_: Any) -> Any:
        """Return the common dtype of the arrays."""
        return common_dtype([*self._arrays, *more])

    def wrap(self, array: Any, **_: Any) -> Any:
        """Return a result."""
        return array

    def __getitem__(self, place: Any) -> Any:
        return self._arrays[place]

    def __len__(self) -> int:
        return len(self._arrays)


@stands_for(vars(np)["_core"]._multiarray_umath._array_converter)
def converter(real: Any, *arrays: Any) -> Any:
    return Converter(*arrays)


@stands_for(np.can_cast, np.result_type)
def about_dtypes(real: Any, *args: Any, **options: Any) -> Any:
    return FUNCTIONS[real](*args, **options)


@stands_for(np.ndim, is_ours=is_one)
def ndim(real: Any, a: Any) -> int:
    return len(dims_of(a))


@stands_for(np.isscalar, is_ours=is_one)
def isscalar(real: Any, element: Any) -> bool:
    return type(element) in (Size, Real)


# Python builtins.


@stands_for(builtins.len, is_ours=is_one)
def length(real: Any, value: Any) -> Any:
    if hasattr(type(value), "dims"):
        dims = value.base.dims if type(value) is NestedList else value.dims
        if not dims:
            raise TypeError("len() of unsized object")
        return sized(dims[0], here())
    return real(value)


def _is_element(value: Any) -> bool:
    """Return whether a value is a number: one that data decide, or one of Python's or NumPy's."""
    is_array = type(value) is SymbolicArray and not value.dims and value.dtype.kind in "biuf"
    return is_array or type(value) in (int, float) or isinstance(value, (np.floating, np.integer))


def _are_numbers(*args: Any, **options: Any) -> bool:
    values = args[0] if len(args) == 1 and type(args[0]) in (list, tuple) else args
    return any(type(v) in (Size, SymbolicArray) for v in values)


@stands_for(builtins.min, builtins.max, is_ours=_are_numbers)
def extreme(real: Any, *args: Any, **options: Any) -> Any:
    values = list(args[0]) if len(args) == 1 and type(args[0]) in (list, tuple) else list(args)
    # Which one it is is not followed: all are numbers, and so is the result.
    key = (real.__name__, here().place())
    if not (options or here().loops.tries.get(key)) and len(values) > 1 and all(_is_element(v) for v in values):
        contents = ArrayContents(joins=(key, *(j for v in values for j in contents_of(v).joins)))
        return SymbolicArray((), common_dtype(values), contents=contents)
    if options or len(values) < 2 or not all(map(is_whole, values)):
        return real(*args, **options)
    return (smallest if real.__name__ == "min" else greatest)(values, here())


@stands_for(
    operator.is_, operator.is_not, builtins.id, is_ours=lambda *values: any(type(v) in WRAPPERS for v in values)
)
def identity(real: Any, *values: Any) -> Any:
    # A stand-in is what it stands for, also to `is`.
    return real(*map(real_of, values))


STANDINS.stands_for_global("set", SetLike)


def _standin_of_cached(real: Any) -> Any:
    file = getattr(sys.modules.get(real.__module__), "__file__", None)
    return CachedFunction(real) if is_of_user(real.__module__, file) else real


STANDINS.stands_for_kind(type(lru_cache(len)), _standin_of_cached)


@stands_for(operator.index, is_ours=is_one)
def index(real: Any, value: Any) -> Any:
    return value if type(value) is Size else real(value)


@stands_for(np.tri)
def tri(real: Any, N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:  # noqa: N803 - NumPy's names
    return _pattern(N, N if M is None else M, "lower", k, dtype)


@stands_for(np.eye)
def eye(
    real: Any,
    N: Any,  # noqa: N803
    M: Any = None,  # noqa: N803
    k: Any = 0,
    dtype: Any = float,
    order: str = "C",
) -> Any:
    return _pattern(N, N if M is None else M, "diagonal", k, dtype)


@stands_for(np.tril_indices, np.triu_indices)
def triangle_indices(real: Any, n: Any, k: Any = 0, m: Any = None) -> Any:
    lower = tri(np.tri, n, m, k if real.__name__ == "tril_indices" else k - 1, bool)
    return (lower if real.__name__ == "tril_indices" else ~lower).nonzero()


def _pattern(rows: Any, columns: Any, kind: Literal["lower", "diagonal"], k: Any, dtype: Any) -> SymbolicArray:
    if not is_whole(k):
        return here().fail_to_trace("a diagonal that depends on data is not supported")
    path = here()
    # NumPy treats a negative number of rows or columns as 0 for triangles, but rejects it for diagonals.
    if kind == "lower":
        dims = tuple(path.bounds.larger(dim_of(n), 0) for n in (rows, columns))
    else:
        dims = as_dims((rows, columns))
    contents = ArrayContents(
        span=IntegerSpan(0, 1, "none"), pattern=TruthPattern(dims[0], dims[1], kind, dim_of(k)), is_data=False
    )
    return SymbolicArray(dims, dtype, contents=contents)


def _is_list_of_arrays(a: Any, *_: Any, **__: Any) -> bool:
    return type(a) in (list, tuple) and any(hasattr(type(v), "dims") for v in a)


@stands_for(
    *(np.min, np.max, np.sum, np.prod, np.any, np.all, np.ptp, np.mean, np.std, np.var, np.median, np.average),
    *(np.percentile, np.quantile, np.sort, np.argsort, np.argmax, np.argmin, np.cumsum, np.histogram, np.unique),
    is_ours=_is_list_of_arrays,
)
def reduced_list(real: Any, a: Any, *args: Any, **options: Any) -> Any:
    return real(asarray(real_array, a), *args, **options)


def _is_of_real(*args: Any, **options: Any) -> bool:
    """Return whether only another argument than the array is one of a trace."""
    # NumPy dispatches by the array only, so it does not dispatch such a call.
    return bool(args) and not is_one(args[0]) and is_symbolic([*args[1:2], *options.values()])


@stands_for(np.tile, np.repeat, np.take, np.reshape, np.searchsorted, is_ours=_is_of_real)
def of_real(real: Any, a: Any, *args: Any, **options: Any) -> Any:
    array = asarray(real_array, a) if is_symbolic(a) else real_array(a)
    return real(as_array(array), *args, **options)


@stands_for(np.atleast_1d, is_ours=is_one)
def atleast_1d(real: Any, *values: Any) -> Any:
    return real(*(real_array([v], dtype=object) if type(v) is Size else v for v in values))


# Stand-ins for functions of `math`: of sizes, of numbers computed from them, and of numbers that are data.


# The greatest integer whose exponential is a float.
_MOST = 709


def _number(real: Any, *values: Any, zero_of: Any = None) -> Any:
    """Return a function of numbers: one that data decide if any of them is."""
    arrays = [v for v in values if type(v) is SymbolicArray]
    if not arrays:
        return Real.applied(real, values, here(), zero_of=zero_of)
    for array in arrays:
        if array.dims:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if array.dtype.kind not in "biuf":
            here().fail_to_trace("a function of math gets other than real numbers")
    return SymbolicArray((), float)


def _data_fail() -> bool:
    """Return whether data are such that a function has no value: both are followed."""
    path = here()
    return path.ask(equal(path.data_size("data", 0, 1), 1))


_TOTAL = {math.sin, math.cos, math.tan, math.atan, math.tanh, math.asinh, math.erf, math.erfc, math.fabs}
_SEVERAL: set[Any] = {math.atan2, math.hypot, math.copysign, math.degrees, math.radians}
# Functions that have no value for some numbers. Of these, sizes become numbers.
_PARTIAL: set[Any] = {math.acos, math.asin, math.acosh, math.atanh, math.sinh, math.cosh, math.pow, math.fmod}
_PARTIAL |= {math.expm1, math.log1p, math.gamma, math.lgamma}
# Functions without a value only where it is greater than all floats.
_GROWING = (math.exp, math.sinh, math.cosh, math.expm1)
# What other functions have no value for.
_REFUSED: dict[Any, Callable[[Any], Any]] = {
    math.sqrt: lambda value: value < 0,
    **dict.fromkeys((math.log, math.log2, math.log10), lambda value: value <= 0),
    math.exp: lambda value: value > _MOST,
}


@stands_for(*_TOTAL, *_SEVERAL, *_PARTIAL, *_REFUSED, is_ours=is_one)
def function_of_math(real: Any, value: Any, *more: Any) -> Any:
    is_data = any(type(v) is SymbolicArray for v in (value, *more))
    if real in _PARTIAL and not is_data:
        return real(value, *more)
    result = _number(real, value, *more, zero_of=value if real is math.sqrt else None)
    fails = real in _REFUSED and _REFUSED[real](value)
    if fails or (is_data and (real in _PARTIAL or (real is math.log and is_symbolic(more))) and _data_fail()):
        raise OverflowError("math range error") if real in _GROWING else ValueError("math domain error")
    return result


@stands_for(math.isqrt, is_ours=is_one)
def integer_root(real: Any, value: Any) -> Any:
    if type(value) is not Size:
        return real(value)
    path = here()
    if path.ask(Comparison("<", value.dim, 0)):
        raise ValueError("isqrt() argument must be nonnegative")
    opaque = path.opaque(("isqrt", value.dim), 0, value.dim, ("isqrt", value.dim))
    if opaque is None:
        return real(path.number(value.dim))
    # Of the root r of n, only r*r <= n is known here.
    path.suppose(at_most(multiply(opaque.dim, opaque.dim), value.dim))
    return opaque


@stands_for(math.isnan, math.isinf, math.isfinite, is_ours=is_one)
def is_kind(real: Any, value: Any) -> bool:
    return real is math.isfinite


# NumPy's iterators over the indices of arrays: one symbolic index for all of them.


@STANDINS.stands_for(np.ndindex)
def ndindex(real: Any, *shape: Any) -> Any:
    return _indices(as_dims(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape))


@STANDINS.stands_for(np.ndenumerate)
def ndenumerate(real: Any, arr: Any) -> Any:
    places = _indices(dims_of(arr))
    return Sequence(places.count, lambda index: (places.take(index), SymbolicArray((), dtype_of(arr))), places.facts)


def _indices(dims: Dims) -> Sequence:
    """Return all indices of an array of a shape, in order."""
    path = here()

    def places(index: Any) -> list[Any]:
        indices = []
        # In C order, index i is at i // (product of later sizes), modulo the size of the axis, except on the first
        # axis.
        for number, dim in enumerate(dims):
            place = floor_divide(index, multiply(*dims[number + 1 :]))
            indices.append(modulo(place, dim) if number else place)
        return indices

    def facts(index: Any) -> Iterator[Formula]:
        for place, dim in zip(places(index), dims, strict=True):
            yield at_most(0, place)
            yield at_most(place, subtract(dim, 1))

    def take(index: Any) -> tuple[Any, ...]:
        return tuple(sized(place, path) for place in places(dim_of(index)))

    return Sequence(multiply(*dims), take, facts)
