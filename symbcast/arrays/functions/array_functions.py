"""NumPy's functions that are written in C or whose Python code cannot be traced; all others run unchanged.

NumPy's functions in Python run with symbolic arrays: their checks and branches are traced like any other code. This
module has the functions that they are built on.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from types import FunctionType
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
    is_symbolic,
    put_into,
)
from symbcast.arrays.functions.methods import dot
from symbcast.arrays.indexing import copy_to, fill_diagonal, place, put_mask, stored, write_out
from symbcast.arrays.loops.repeated import expanded
from symbcast.arrays.symbolic_array import (
    SymbolicArray,
    as_array,
    contents_of,
    decided_by,
    number_of,
    numbered,
    numbering,
)
from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import at_most, equal
from symbcast.operators import joining_and_slicing, reshaping
from symbcast.operators.joining_and_slicing import Padding
from symbcast.operators.joining_and_slicing import pad as padded
from symbcast.operators.operator import Dims
from symbcast.operators.products import einsum as einsum_shape
from symbcast.paths.sizes import dim_of, is_whole

FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the implementation of some NumPy functions. Flags must be plain values: an array has no truth value."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, _with_plain_flags(function)))
        return function

    return register


def _with_plain_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that ends the path if an array is passed for one of its flags."""
    taken = inspect.signature(function)
    flags = [n for n, p in taken.parameters.items() if p.annotation == "bool"]
    if not flags:
        return function

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        bound = taken.bind(*args, **options).arguments
        if any(is_symbolic(bound.get(n)) for n in flags):
            return here().fail_to_trace("an array as a flag is not supported")
        return function(*args, **options)

    return checked


def call_function(function: Any, args: Any, options: Any) -> Any:
    """Return the result of a NumPy function for symbolic arrays."""
    path = here()
    function, args, options = expanded(function, args, options)
    with path.doing(function.__name__, _operands(args)):
        ours = FUNCTIONS.get(function)
        if ours is not None:
            result = decided_by(ours(*args, **options), *args, *options.values())
            return numbered(function.__name__, result, args, options)
        inner = getattr(function, "_implementation", None)
        if isinstance(inner, FunctionType):
            return inner(*args, **options)
    return path.fail_to_trace(f"{function.__module__}.{function.__name__} is not supported")


def _operands(args: Any) -> Iterator[Dims]:
    for value in args:
        if hasattr(type(value), "dims"):
            yield value.dims
        elif type(value) in (list, tuple):
            yield from _operands(value)


SymbolicArray.functions = staticmethod(call_function)


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    if axis is not None or keepdims:
        return (as_array(a) != 0).sum(axis=axis, keepdims=keepdims)
    array = as_array(a)
    count = numbering().number(("count", numbering().mask(number_of(array))), (), "i")
    span = IntegerSpan(0, multiply(*array.dims), "none")
    return SymbolicArray((), np.intp, contents=ArrayContents(span=span, is_data=contents_of(a).is_data, number=count))


@implements(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    arrays = list(arrays)
    kind = np.dtype(dtype) if dtype is not None else common_dtype(arrays)
    return stored(SymbolicArray(_concatenated(arrays, axis), kind, contents=_joined(arrays)), out, casting)


def _joined(arrays: Sequence[Any]) -> ArrayContents:
    """Return the facts about the elements of joined arrays; arrays without elements have no bounds."""
    contents = [contents_of(a) for a in arrays]
    is_data = any(c.is_data for c in contents)
    if any(c.span is None for c in contents):
        return ArrayContents(is_data=is_data)
    path, span = here(), None
    for array, known in zip(arrays, contents, strict=True):
        empty = path.empty(dims_of(array))
        # Arrays without elements have no bounds.
        if known.span is None or path.ask(empty):
            continue
        low, high, occurs = known.span
        if span is not None:
            occurs = "part" if not (known.span.is_exact and span.is_exact) else "ends"
            low, high = path.bounds.smaller(low, span.low), path.bounds.larger(high, span.high)
        span = IntegerSpan(low, high, occurs)
    return ArrayContents(span=span or IntegerSpan(0, -1, "all"), is_data=is_data)


def _concatenated(arrays: Sequence[Any], axis: Any) -> Dims:
    if axis is None:
        # Without an axis, arrays of any rank are flattened first: (2, 3) and (4,) give (10,).
        return (add(*(multiply(*dims_of(a)) for a in arrays)),)
    shapes = [dims_of(a) for a in arrays]
    if not shapes[0]:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len({len(s) for s in shapes}) > 1:
        raise ValueError("all the input array dimensions must match in number")
    (place,) = axes_of(axis, len(shapes[0]))
    return here().written(joining_and_slicing.concat(here(), shapes, place))


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    arrays = list(arrays)
    shapes = [dims_of(a) for a in arrays]
    if not shapes:
        raise ValueError("need at least one array to stack")
    if len({len(s) for s in shapes}) > 1:
        raise ValueError("all input arrays must have the same shape")
    (place,) = axes_of(axis, len(shapes[0]) + 1)
    kind = np.dtype(dtype) if dtype else common_dtype(arrays)
    dims = joining_and_slicing.stack(here(), shapes, place)
    return stored(SymbolicArray(dims, kind, contents=_joined(arrays)), out, casting)


@implements(np.block)
def block(arrays: Any) -> Any:
    depth = _depth(arrays)
    rank = max([depth, *(len(dims_of(a)) for a in _leaves(arrays))])

    def joined(value: Any, level: int) -> Any:
        if type(value) is tuple:
            raise TypeError("only lists can be used to arrange blocks, and np.block does not allow implicit conversion")
        if type(value) is list:
            if not value or level == depth:
                raise ValueError("List depths are mismatched, or a list is empty")
            # The innermost lists join the last axis, however many axes the blocks have.
            return concatenate([joined(v, level + 1) for v in value], level - depth)
        if level < depth:
            raise ValueError("List depths are mismatched")
        array = as_array(value)
        return array._with((1,) * (rank - array.ndim) + tuple(array.dims)).copied()

    return joined(arrays, 0)


def _depth(value: Any) -> int:
    return 1 + _depth(value[0]) if type(value) is list and value else 0


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) is list:
        for part in value:
            yield from _leaves(part)
    else:
        yield value


@implements(np.where)
def where(condition: Any, *values: Any) -> Any:
    # With the condition alone it is `nonzero`.
    if not values:
        return as_array(condition).nonzero()
    return SymbolicArray(broadcast_together(map(dims_of, (condition, *values))), common_dtype(values))


@implements(np.dot)
def dot_of(a: Any, b: Any, out: Any = None) -> Any:
    return dot(as_array(a), b, out)


@implements(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    here().equal(multiply(*dims_of(a)), multiply(*dims_of(b)), "cannot reshape: the element counts must be equal")
    return SymbolicArray((), common_dtype([a, b]))


@implements(np.inner)
def inner(a: Any, b: Any) -> Any:
    left, right = dims_of(a), dims_of(b)
    if not left or not right:
        return SymbolicArray((*left, *right), common_dtype([a, b]))
    here().equal(left[-1], right[-1], "the last sizes must be equal")
    return SymbolicArray((*left[:-1], *right[:-1]), common_dtype([a, b]))


@implements(np.einsum)
def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: str = "K", casting: str = "safe"
) -> Any:
    subscripts, *arrays = operands if isinstance(operands[0], str) else _in_letters(operands)
    if len(arrays) == 1:
        _check_diagonal(subscripts, dims_of(arrays[0]))
    dims = einsum_shape(here(), subscripts, [dims_of(a) for a in arrays], aligns_ellipses=True)
    kind = np.dtype(dtype) if dtype else common_dtype(arrays)
    if out is not None:
        if optimize:
            here().fail_to_trace("numpy.einsum with optimize and an output is not supported")
        if len(dims_of(out)) != len(dims):
            raise ValueError("out parameter does not have the correct number of dimensions")
        here().broadcast(dims, dims_of(out), rule="unidirectional")
        write_out(out, kind, casting)
        return out
    return SymbolicArray(dims, kind)


def _check_diagonal(subscripts: str, dims: Dims) -> None:
    """End the path if NumPy takes the diagonal of an empty axis and another axis."""
    letters = subscripts.partition("->")[0].replace(" ", "")
    for number, letter in enumerate(letters):
        is_repeated = letter != "." and letters.count(letter) > 1 and letters.index(letter) == number
        # `ii->i` of (0, 3) is (3,) in NumPy 2.4, where (1, 3) is an error.
        if is_repeated and "." not in letters and number < len(dims) and here().ask(equal(dims[number], 0)):
            here().fail_to_trace("the diagonal of an axis without elements is not known")


def _in_letters(operands: Sequence[Any]) -> list[Any]:
    """Convert the operands of an einsum from axis lists of numbers to an equivalent subscripts string."""
    letters = string.ascii_uppercase + string.ascii_lowercase  # in numeric order

    def text(axes: Any) -> str:
        return "".join("..." if n is Ellipsis else letters[n] for n in axes)

    count = len(operands) // 2
    ends = f"->{text(operands[-1])}" if len(operands) % 2 else ""
    return [",".join(text(axes) for axes in operands[1 : 2 * count : 2]) + ends, *operands[: 2 * count : 2]]


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    target = as_dims(shape)
    if len(dims_of(array)) > len(target):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    # Only the array is stretched: no size of the target may be 1 where the array has another.
    here().broadcast(dims_of(array), target, rule="unidirectional")
    return _spread(array, target)


def _spread(array: Any, dims: Dims) -> SymbolicArray:
    """Return the elements of an array repeated to a shape; the shape is empty if the array is."""
    memory = array.memory if type(array) is SymbolicArray else None
    return SymbolicArray(dims, dtype_of(array), contents=contents_of(array).spread, memory=memory)


@implements(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    dims = here().broadcast(*(dims_of(a) for a in arrays))
    return tuple(_spread(a, dims) for a in arrays)


@implements(np.full_like)
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    dims = dims_of(a) if shape is None else as_dims(shape)
    return filled(dims, dtype_of(a) if dtype is None else dtype, fill_value)


implements(np.empty_like)(lambda prototype, *args, **options: full_like(prototype, None, *args, **options))
implements(np.zeros_like)(lambda a, *args, **options: full_like(a, 0, *args, **options))
implements(np.ones_like)(lambda a, *args, **options: full_like(a, 1, *args, **options))


def filled(dims: Dims, dtype: Any, value: Any) -> SymbolicArray:
    """Return an array all of whose elements have one value, which is unknown for None."""
    put_into(dims, dims_of(value))
    return SymbolicArray(dims, dtype, contents=_filled_with(value))


def _filled_with(value: Any) -> ArrayContents:
    if is_whole(value):
        dim = dim_of(value)
        return ArrayContents(bool(value) if isinstance(dim, int) else None, IntegerSpan(dim, dim, "all"), is_data=False)
    contents = replace(contents_of(value).spread)
    if isinstance(value, (float, np.floating)):
        contents.truth = bool(value)
    return contents


implements(np.copyto)(copy_to)
implements(np.putmask)(put_mask)
implements(vars(np.lib)["_function_base_impl"]._place)(place)
implements(np.place)(place)
implements(np.fill_diagonal)(fill_diagonal)


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    times = as_dims(reps)
    dims = dims_of(A)
    rank = max(len(dims), len(times))
    dims, times = (1,) * (rank - len(dims)) + dims, (1,) * (rank - len(times)) + times
    return SymbolicArray(reshaping.tile(here(), dims, times), dtype_of(A), contents=contents_of(A).spread)


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    dims, path = dims_of(array), here()
    if any(dims_of(v) for v in options.values() if v is not None and not isinstance(v, (str, dict))):
        return path.fail_to_trace("numpy.pad with separate values for each end is not supported")
    ends = _ends(pad_width, len(dims))
    for dim in (e for pair in ends for e in pair):
        path.require(at_most(0, dim), "index can't contain negative values")
    if callable(mode) or mode not in ("constant", "edge", "empty", "linear_ramp", "reflect", "symmetric", "wrap"):
        return path.fail_to_trace(f"numpy.pad with the mode {mode!r} is not supported")
    paddings = [Padding(d, *e) for d, e in zip(dims, ends, strict=True)]
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        for padding in paddings:
            if not path.ask(padding.stays):
                path.require(at_most(1, padding.size), f"can't extend empty axis using mode {mode!r}")
    return SymbolicArray(padded(path, paddings, "constant"), dtype_of(array))


def _ends(width: Any, rank: int) -> list[tuple[Any, Any]]:
    if isinstance(width, dict):
        here().fail_to_trace("numpy.pad with a dict is not supported")
    pairs = np.broadcast_to(np.asarray(width, dtype=object), (rank, 2))
    return [(dim_of(a), dim_of(b)) for a, b in pairs]
