"""Ufuncs: their shape requirements, the shapes and dtypes of results, and facts about the elements of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbcast.arrays import symbolic_array
from symbcast.arrays.array_facts import (
    ArrayContents,
    IntegerSpan,
    axes_of,
    broadcast_together,
    dims_of,
    dtype_of,
    here,
    only_size,
)
from symbcast.arrays.functions.linear_algebra import generalized
from symbcast.arrays.indexing import (
    check_indices,
    check_where,
    ramp_contents,
    stored,
    whole_indices,
    write_at,
    write_out,
)
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.algebra.formulas import at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators.operator import Dims
from symbcast.operators.products import reduce
from symbcast.paths.path import Path
from symbcast.paths.real_numbers import ArrayHook, Real
from symbcast.paths.sizes import dim_of, greatest, is_whole, smallest


def contents_after(ufunc: Any, inputs: Sequence[Any]) -> ArrayContents:
    """Return the facts about the elements of a ufunc's result."""
    name = ufunc.__name__
    contents = _of_ramp(name, inputs) or ArrayContents(
        span=_span_after(name, inputs), is_data=symbolic_array.is_of_data(*inputs)
    )
    contents.pattern = _pattern_after(name, inputs)
    return contents


def _of_ramp(name: str, inputs: Sequence[Any]) -> ArrayContents | None:
    """Return the ramp that results from a ramp and a single number; None for anything else."""
    ramps = [v for v in inputs if symbolic_array.contents_of(v).ramp is not None]
    if len(ramps) != 1 or not all(v is ramps[0] or is_whole(v) for v in inputs):
        return None
    ramp, (count,) = ramps[0].contents.ramp, ramps[0].dims
    if name == "negative":
        return ramp_contents(multiply(-1, ramp.first), -ramp.step, count)
    if len(inputs) != 2:
        return None
    other = dim_of(next(v for v in inputs if v is not ramps[0]))
    if name == "add":
        return ramp_contents(add(ramp.first, other), ramp.step, count)
    if name == "subtract" and inputs[0] is ramps[0]:
        return ramp_contents(subtract(ramp.first, other), ramp.step, count)
    if name == "subtract":
        return ramp_contents(subtract(other, ramp.first), -ramp.step, count)
    if name == "multiply" and isinstance(other, int) and other:
        return ramp_contents(multiply(ramp.first, other), ramp.step * other, count)
    return None


def _pattern_after(name: str, inputs: Sequence[Any]) -> Any:
    first = symbolic_array.contents_of(inputs[0])
    if first.pattern is None:
        return None
    if name in ("logical_not", "invert") and len(inputs) == 1:
        return first.pattern.negated if name == "logical_not" or inputs[0].dtype.kind == "b" else None
    if len(inputs) == 2 and isinstance(inputs[1], (int, float)) and inputs[1] == 0:
        if name == "not_equal" or (name == "greater" and first.span is not None and first.span.low == 0):
            return first.pattern
        return first.pattern.negated if name == "equal" else None
    return None


def _span_after(name: str, inputs: Sequence[Any]) -> IntegerSpan | None:
    rule = _RULES.get(name)
    spans = [_span_of(v) for v in inputs]
    known = [s for s in spans if s is not None]
    if rule is None or len(known) < len(spans):
        return None
    path = here()
    span = rule(path, *known)
    if span is not None and span.occurs == "distinct" and name not in ("add", "subtract", "negative", "positive"):
        span = span.bounds
    if span is None or len(known) == 1:
        return span
    # Both ends of a combination occur only if every element meets every other: x - x is 0, not from low - high on.
    is_kept = span.occurs == "distinct" or _are_independent([dims_of(v) for v in inputs])
    return span if is_kept else span.bounds


def _span_of(value: Any) -> IntegerSpan | None:
    if is_whole(value):
        dim = dim_of(value)
        return IntegerSpan(dim, dim, "all")
    if isinstance(value, np.ndarray) and not hasattr(type(value), "dims") and value.dtype.kind not in "iu":
        return None
    return symbolic_array.contents_of(value).span


def _are_independent(shapes: Sequence[Dims]) -> bool:
    """Return whether no two arrays share an axis, so that each element is combined with every element of the others."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return all(sum(d != 1 for d in column) < 2 for column in zip(*padded, strict=True))


def _weaker(*spans: IntegerSpan) -> Any:
    """Return which bounds occur when elements of all spans are combined."""
    kinds = {s.occurs for s in spans}
    if "distinct" in kinds and len([s for s in spans if s.low != s.high]) > 1:
        return "part" if "part" in kinds else "none"
    return next((k for k in ("part", "none", "distinct", "ends") if k in kinds), "all")


def _add(_: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
    return IntegerSpan(add(a.low, b.low), add(a.high, b.high), _weaker(a, b))


def _negative(_: Path, a: IntegerSpan) -> IntegerSpan:
    return IntegerSpan(multiply(-1, a.high), multiply(-1, a.low), a.occurs)


def _subtract(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
    return _add(path, a, _negative(path, b))


def _multiply(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan | None:
    # Products of ends are the ends of products only where nothing is negative: turn a negative constant first.
    for one, other in ((a, b), (b, a)):
        if one.low == one.high and isinstance(one.low, int) and one.low < 0:
            positive = _multiply(path, _negative(path, one), other)
            return None if positive is None else _negative(path, positive)
    if not (path.bounds.is_at_least(a.low, 0) and path.bounds.is_at_least(b.low, 0)):
        by = next((s for s in (a, b) if s.low == s.high and path.bounds.is_at_least(s.low, 0)), None)
        if by is None:
            return None
    is_by_one = 1 in (a.low if a.low == a.high else 0, b.low if b.low == b.high else 0)
    occurs = _weaker(a, b)
    return IntegerSpan(
        multiply(a.low, b.low), multiply(a.high, b.high), occurs if is_by_one or occurs != "all" else "ends"
    )


def _floor_divide(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan | None:
    if b.low != b.high or not path.bounds.is_at_least(b.low, 1):
        return None
    return IntegerSpan(floor_divide(a.low, b.low), floor_divide(a.high, b.low), a.occurs)


def _remainder(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan | None:
    """Return the bounds of remainders; in NumPy a remainder by 0 is 0."""
    if b.low != b.high or not path.bounds.is_at_least(b.low, 0):
        return None
    most = subtract(b.low, 1)
    # All of 0..high occur, so the remainders are all of 0..min(high, n - 1).
    if a.low == 0 and a.occurs == "all":
        return IntegerSpan(0, path.bounds.larger(path.bounds.smaller(a.high, most), 0), "all")
    return IntegerSpan(0, path.bounds.larger(most, 0), "none" if a.occurs == "none" else "part")


def _minimum(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
    smaller = path.bounds.smaller
    return IntegerSpan(smaller(a.low, b.low), smaller(a.high, b.high), _of_extremes(a, b))


def _maximum(path: Path, a: IntegerSpan, b: IntegerSpan) -> IntegerSpan:
    larger = path.bounds.larger
    return IntegerSpan(larger(a.low, b.low), larger(a.high, b.high), _of_extremes(a, b))


def _of_extremes(a: IntegerSpan, b: IntegerSpan) -> Any:
    occurs = _weaker(a, b)
    return occurs if occurs != "all" or a.low == a.high or b.low == b.high else "ends"


def _absolute(path: Path, a: IntegerSpan) -> IntegerSpan | None:
    if path.bounds.is_at_least(a.low, 0):
        return a
    return _negative(path, a) if path.bounds.is_at_most(a.high, 0) else None


# Result bounds of integer functions; both bounds occur if all operand bounds occur and the arrays are independent.
_RULES: dict[str, Callable[..., IntegerSpan | None]] = {
    "absolute": _absolute,
    "add": _add,
    "clip": lambda path, a, low, high: _minimum(path, _maximum(path, a, low), high),
    "floor_divide": _floor_divide,
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _multiply,
    "negative": _negative,
    "positive": lambda _, a: a,
    "remainder": _remainder,
    "subtract": _subtract,
}


def places_along(size: Dim, occurs: Any = "none") -> IntegerSpan:
    """Return the span of the indices of an axis."""
    return IntegerSpan(0, subtract(size, 1), occurs)


# Ufuncs: their shape requirements, and the shape and dtype of their results.


# The facts about finite numbers; arguments are assumed to be finite.
TRUE_OF_FINITE = {"isfinite": True, "isnan": False, "isinf": False}


def apply(ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    """Return the result of a ufunc for symbolic arrays, sizes and numbers."""
    outs = out if isinstance(out, tuple) else (out,) if out is not None else ()
    if method == "__call__" and not outs and not any(_is_array(v) for v in inputs):
        return _of_numbers(ufunc, inputs)
    if method == "reduce" and not dims_of(inputs[0]) and not _is_array(inputs[0]):
        return inputs[0]
    if method == "__call__" and not outs and _are_objects(inputs):
        return ufunc(*map(_as_object, inputs), **options)
    with here().doing(ufunc.__name__, [dims_of(v) for v in inputs]):
        return symbolic_array.decided_by(_apply(ufunc, method, inputs, outs, options), *inputs, *options.values())


def _apply(ufunc: Any, method: str, inputs: Sequence[Any], outs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    match method:
        case "__call__" if ufunc.signature is not None:
            return generalized(ufunc, inputs, outs, options)
        case "__call__":
            return _elementwise(ufunc, inputs, outs, options)
        case "outer":
            left, right = (dims_of(v) for v in inputs)
            kind, contents = np.dtype(dtype_of(inputs[0])), symbolic_array.contents_of(inputs[0]).spread
            spread = SymbolicArray((*left, *(1,) * len(right)), kind, contents=contents)
            return _elementwise(ufunc, (spread, inputs[1]), outs, options)
        case "reduce" | "accumulate" | "reduceat":
            ours: Any = {"reduce": reduced, "accumulate": accumulated, "reduceat": _reduced_at}[method]
            return ours(ufunc, *inputs, out=outs[0] if outs else None, **options)
        case "at":
            return write_at(ufunc, *inputs, **options)
    return here().fail_to_trace(f"numpy.{ufunc.__name__}.{method} is not supported")


def _is_array(value: Any) -> bool:
    return not is_whole(value) and not isinstance(value, (int, float, complex)) and bool(hasattr(value, "dtype"))


def _are_objects(values: Sequence[Any]) -> bool:
    """Return whether values include object arrays of sizes, which NumPy computes element by element."""
    kinds = [type(v) for v in values]
    has_sizes = any(k is np.ndarray and v.dtype == object for k, v in zip(kinds, values, strict=True))
    return has_sizes and not any(k is SymbolicArray for k in kinds)


def _as_object(value: Any) -> Any:
    if type(value) is np.ndarray:
        return value
    array = np.empty((), object)
    array[()] = value
    return array


def _of_numbers(ufunc: Any, values: Sequence[Any]) -> Any:
    """Apply a function to numbers and sizes: immediately to integers, as Python does, and lazily to others."""
    operation = _OPERATIONS.get(ufunc.__name__)
    if operation is not None and all(map(is_whole, values)):
        # A NumPy number would call the ufunc again.
        return operation(*(int(v) if isinstance(v, np.integer) else v for v in values))
    zero_of = values[0] if ufunc.__name__ in ("divide", "sqrt", "square", "cbrt", "negative") else None
    return Real.applied(lambda *at: ufunc(*at).item(), values, here(), zero_of, ufunc.__name__)


_OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "divmod": lambda a, b: (a // b, a % b),
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "absolute": abs,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "logical_not": lambda a: not a,
    "minimum": lambda a, b: smallest([a, b], here()),
    "maximum": lambda a, b: greatest([a, b], here()),
    "square": lambda a: a * a,
    "floor": lambda a: a,
    "ceil": lambda a: a,
    "isfinite": lambda a: True,
    "isnan": lambda a: False,
}


def _elementwise(ufunc: Any, inputs: Sequence[Any], outs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    where, dtype, casting = _options(ufunc, **options)
    shapes = [dims_of(v) for v in inputs]
    if where is not True:
        shapes.append(dims_of(where))
    dims = broadcast_together(shapes)
    dtypes = symbolic_array.result_dtypes(ufunc, tuple(dtype_of(v) for v in inputs), dtype)
    for out, kind in zip(outs, dtypes, strict=False):
        if out is not None:
            # The output is no operand: the result may be stretched to it, not the other way round.
            here().broadcast(dims, dims_of(out), rule="unidirectional")
            dims = dims_of(out)
            write_out(out, kind, casting)
    results = [SymbolicArray(dims, kind, contents=_contents(ufunc, inputs, where)) for kind in dtypes]
    if ufunc.nout == 1 and where is True and not outs and results[0].contents.is_data:
        operands = [symbolic_array.operand_of(v) for v in inputs]
        number = symbolic_array.numbering().elementwise(ufunc.__name__, operands, dims, results[0].dtype.kind)
        results[0].contents.number = number
    return symbolic_array.outputs_or_results(outs, *results)


def _options(  # noqa: PLR0913 - as NumPy has them
    ufunc: Any,
    *,
    where: Any = True,
    dtype: Any = None,
    casting: str = "same_kind",
    order: str = "K",
    subok: bool = True,
) -> tuple[Any, Any, str]:
    """Return the options of a call that affect shapes and dtypes; other options are not supported."""
    return where, dtype, casting


def _contents(ufunc: Any, inputs: Sequence[Any], where: Any) -> ArrayContents:
    if where is not True:
        return ArrayContents(is_data=symbolic_array.is_of_data(*inputs, where))
    truth = TRUE_OF_FINITE.get(ufunc.__name__)
    if truth is None or not all(map(_is_finite, inputs)):
        truth = _truth(ufunc, inputs)
    contents = (
        contents_after(ufunc, inputs) if ufunc.nout == 1 else ArrayContents(is_data=symbolic_array.is_of_data(*inputs))
    )
    contents.truth = truth
    if ufunc.__name__ in ("divide", "floor_divide", "remainder"):
        contents.divisors = _divisors(inputs[1])
    return contents


def _divisors(value: Any) -> tuple[Any, ...]:
    """Return the size that is 0 where a number is, if it may be 0."""
    dim = value.own_zero if type(value) is Real else dim_of(value) if is_whole(value) else 1
    return () if dim is None or here().bounds.is_at_least(dim, 1) else (dim,)


def _is_finite(value: Any) -> bool:
    if type(value) is Real:
        return False
    return hasattr(type(value), "dims") or is_whole(value) or bool(np.all(np.isfinite(value)))


def _truth(ufunc: Any, inputs: Sequence[Any]) -> bool | None:
    """Return the known truth value of a result, derived from the truth of its operands."""
    known = [getattr(v, "truth", None) for v in inputs]
    match ufunc.__name__:
        case "not_equal" if known[0] is not None and isinstance(inputs[1], (int, float)) and inputs[1] == 0:
            return bool(known[0])
        case "logical_not" | "invert":
            # `invert` of an integer is -n - 1: only booleans are negated.
            is_number = ufunc.__name__ == "invert" and dtype_of(inputs[0]) != np.dtype(bool)
            return None if known[0] is None or is_number else not known[0]
        case "bitwise_and" if any(dtype_of(v) not in (np.dtype(bool), np.bool_) for v in inputs):
            return False if False in known else None
        case "logical_and" | "bitwise_and" | "multiply":
            return False if False in known else True if None not in known else None
        case "logical_or" | "bitwise_or":
            return True if True in known else False if None not in known else None
    return None


# Reductions.


def reduced(  # noqa: PLR0913, PLR0917 - as NumPy has them
    ufunc: Any,
    data: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    """Return a reduction along some axes; without an identity or initial value they must not be empty."""
    path, dims = here(), dims_of(data)
    axes = axes_of(axis, len(dims))
    begins = ufunc.identity is not None or (initial is not np._NoValue and initial is not None)
    if where is not True:
        check_where(where, dims)
        if not begins:
            raise ValueError(f"reduction operation {ufunc.__name__!r} does not have an identity")
    result_dims = reduce(path, dims, axes, keepdims=bool(keepdims))
    if not begins:
        for n in axes:
            path.require(
                at_most(1, dims[n]), f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
    kind = _accumulated(ufunc, data.dtype, dtype)
    span = _reduced_span(ufunc, data, axes)
    is_plain = initial is np._NoValue or initial is None
    if ufunc is np.add and np.dtype(kind).kind in "iu" and data.dtype.kind == "b" and is_plain:
        span = IntegerSpan(0, multiply(*(dims[n] for n in axes)), "none")  # a number of true elements
    contents = ArrayContents(span=span, is_data=symbolic_array.is_of_data(data, where))
    if is_plain and where is True and type(data) is SymbolicArray and len(axes) == len(dims):
        contents.number = _number_of_reduced(ufunc, data, result_dims, np.dtype(kind).kind)
    return stored(SymbolicArray(result_dims, kind, contents=contents), out)


def _number_of_reduced(ufunc: Any, data: SymbolicArray, dims: Dims, kind: str) -> int:
    """Return the number of a reduction of all elements: a sum of booleans is the number of true ones."""
    known, number = symbolic_array.numbering(), symbolic_array.number_of(data)
    cast = known.values[number].key
    if ufunc is np.add and kind in "iu":
        if data.dtype.kind == "b":
            return known.number(("count", number), dims, kind)
        if cast[0] == "astype" and known.values[cast[1]].kind == "b":
            return known.number(("count", cast[1]), dims, kind)
    name = {"logical_or": "any", "logical_and": "all"}.get(ufunc.__name__, f"{ufunc.__name__}.reduce")
    return known.number((name, number), dims, kind)


def _reduced_span(ufunc: Any, data: Any, axes: Sequence[int]) -> IntegerSpan | None:
    """Return the bounds of the maximum or minimum of the elements."""
    span = symbolic_array.contents_of(data).span
    if span is None or ufunc.__name__ not in ("maximum", "minimum"):
        return None
    # Only the maximum of all elements is sure to be the upper end: a part may not have it.
    if not span.is_exact or len(axes) < len(data.dims):
        return span.bounds
    end = span.high if ufunc.__name__ == "maximum" else span.low
    return IntegerSpan(end, end)


def accumulated(ufunc: Any, data: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return the accumulation of a ufunc along an axis."""
    dims = dims_of(data)
    if not dims:
        raise TypeError("cannot accumulate on a scalar")
    axes_of(axis, len(dims))
    kind = _accumulated(ufunc, data.dtype, dtype)
    result = SymbolicArray(dims, kind, contents=_accumulated_contents(ufunc, data))
    if out is None:
        return result
    # NumPy accepts some outputs of other shapes, with two or more axes or no elements; we do not know which.
    is_known = len(dims) != len(dims_of(out)) or all(map(_is_same, dims, dims_of(out)))
    if not is_known and (len(dims) > 1 or here().ask(here().empty((*dims, *dims_of(out))))):
        here().fail_to_trace(f"{ufunc.__name__}.accumulate with an output of another shape is not supported")
    return stored(result, out)


def _is_same(left: Any, right: Any) -> bool:
    return here().ask(equal(left, right))


def _accumulated_contents(ufunc: Any, data: Any) -> ArrayContents:
    """Return the facts about cumulative sums: the sums of a constant are a ramp."""
    contents = symbolic_array.contents_of(data)
    if ufunc.__name__ == "add" and len(data.dims) == 1 and contents.span is not None:
        low, high, _ = contents.span
        if low == high and isinstance(low, int) and low:
            return ramp_contents(low, low, data.dims[0])
    return ArrayContents(is_data=contents.is_data)


def _reduced_at(  # noqa: PLR0913, PLR0917 - as NumPy has them
    ufunc: Any, data: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Return reductions of the parts of an axis that start at indices, which must not be negative."""
    dims, shape = dims_of(data), (only_size(indices, "object of too small depth for desired array"),)
    (place,) = axes_of(axis, len(dims))
    check_indices(here(), whole_indices(indices), dims[place], shape, is_from_front=True)
    result_dims = (*dims[:place], *shape, *dims[place + 1 :])
    kind = _accumulated(ufunc, data.dtype, dtype)
    if out is not None:
        here().fail_to_trace("reduceat with an output is not supported")
    return SymbolicArray(result_dims, kind, contents=ArrayContents(is_data=symbolic_array.is_of_data(data, indices)))


@lru_cache(maxsize=1024)
def _accumulated(ufunc: Any, dtype: Any, requested: Any) -> Any:
    if requested is not None:
        return np.dtype(requested)
    # NumPy sums small integers in a larger type: it says itself in which.
    return ufunc.reduce(np.array([1], dtype)).dtype


SymbolicArray.universal = staticmethod(apply)
ArrayHook.apply = staticmethod(apply)
