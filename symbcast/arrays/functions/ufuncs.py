"""Ufuncs: their shape requirements, and the shape and dtype of their results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbcast.arrays.functions.generalized import generalized
from symbcast.arrays.symbolic.contents import Contents
from symbcast.arrays.symbolic.dims import axes_of, broadcast_together, dims_of, dtype_of, here
from symbcast.arrays.symbolic.indices import check_indices, ramp_contents
from symbcast.arrays.symbolic.integers import Span
from symbcast.arrays.symbolic.results import given_back, known_type, resolved
from symbcast.arrays.symbolic.spans import contents_after
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray, contents_of, decided_by, is_of_data
from symbcast.arrays.symbolic.writers import assign_out, whole_indices, write_at, write_out
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.operators.reductions import reduce
from symbcast.paths.values.asker import Arrays
from symbcast.paths.values.real import Real
from symbcast.paths.values.size import dim_of, greatest, is_whole, smallest

TRUE_OF_FINITE = {"isfinite": True, "isnan": False, "isinf": False}
"""The facts about finite numbers; arguments are assumed to be finite."""


def apply(ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    """Return the result of a ufunc for symbolic arrays, sizes and numbers."""
    outs = out if isinstance(out, tuple) else (out,) if out is not None else ()
    if method == "__call__" and not outs and not any(_is_array(v) for v in inputs):
        return _of_numbers(ufunc, inputs)
    if method == "reduce" and not dims_of(inputs[0]) and not _is_array(inputs[0]):
        return inputs[0]
    if method == "__call__" and not outs and _are_objects(inputs):
        return ufunc(*map(_as_object, inputs), **options)
    path = here()
    undo = path.doing(ufunc.__name__, [dims_of(v) for v in inputs])
    try:
        return decided_by(_apply(ufunc, method, inputs, outs, options), *inputs, *options.values())
    finally:
        undo()


def _apply(ufunc: Any, method: str, inputs: Sequence[Any], outs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    match method:
        case "__call__" if ufunc.signature is not None:
            return generalized(ufunc, inputs, outs, options)
        case "__call__":
            return _elementwise(ufunc, inputs, outs, options)
        case "outer":
            left, right = (dims_of(v) for v in inputs)
            kind, contents = known_type(dtype_of(inputs[0])), contents_of(inputs[0]).spread
            spread = SymbolicArray((*left, *(1,) * len(right)), kind, contents=contents)
            return _elementwise(ufunc, (spread, inputs[1]), outs, options)
        case "reduce":
            return reduced(ufunc, inputs[0], *inputs[1:], outs=outs, **options)
        case "accumulate":
            return accumulated(ufunc, *inputs, outs=outs, **options)
        case "reduceat":
            return _reduced_at(ufunc, *inputs, outs=outs, **options)
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
    found = np.empty((), object)
    found[()] = value
    return found


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
    dtypes = resolved(ufunc, tuple(dtype_of(v) for v in inputs), dtype)
    for given, kind in zip(outs, dtypes, strict=False):
        if given is not None:
            here().broadcast(dims, dims_of(given), rule="unidirectional")
            dims = dims_of(given)
            write_out(given, kind, casting)
    found = [SymbolicArray(dims, kind, contents=_contents(ufunc, inputs, where)) for kind in dtypes]
    return given_back(outs, *found)


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


def _contents(ufunc: Any, inputs: Sequence[Any], where: Any) -> Contents:
    if where is not True:
        return Contents(is_data=is_of_data(*inputs, where))
    truth = TRUE_OF_FINITE.get(ufunc.__name__)
    if truth is None or not all(map(_is_finite, inputs)):
        truth = _truth(ufunc, inputs)
    found = contents_after(ufunc, inputs) if ufunc.nout == 1 else Contents(is_data=is_of_data(*inputs))
    found.truth = truth
    if ufunc.__name__ in ("divide", "floor_divide", "remainder"):
        found.divisors = _divisors(inputs[1])
    return found


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
    *,
    outs: tuple[Any, ...] = (),
) -> Any:
    """Return a reduction along some axes; without an identity or initial value they must not be empty."""
    path, dims = here(), dims_of(data)
    axes = axes_of(axis, len(dims))
    begins = ufunc.identity is not None or (initial is not np._NoValue and initial is not None)
    if where is not True:
        if np.dtype(dtype_of(where)).kind != "b":
            raise TypeError("Cannot cast array data to bool according to the rule 'safe'")
        if not begins:
            raise ValueError(f"reduction operation {ufunc.__name__!r} does not have an identity")
        if len(dims_of(where)) > len(dims):
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        path.broadcast(dims_of(where), dims, rule="unidirectional")
    found = reduce(path, dims, axes, keepdims=bool(keepdims))
    if not begins:
        for n in axes:
            path.require(
                at_most(1, dims[n]), f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
    kind = _accumulated(ufunc, data.dtype, dtype)
    outs = outs or ((out,) if out is not None else ())
    for given in outs:
        if given is not None:
            assign_out(given, found, kind)
    truth = _reduced_truth(ufunc, data, [dims[n] for n in axes]) if where is True and not found else None
    contents = Contents(truth, _reduced_span(ufunc, data, axes), is_data=is_of_data(data, where))
    return given_back(outs, SymbolicArray(found, kind, contents=contents))


def _reduced_truth(ufunc: Any, data: Any, dims: Sequence[Any]) -> bool | None:
    """Return whether all or any elements are true, if their common truth is known; empty arrays are as in NumPy."""
    truth: bool | None = getattr(data, "truth", None)
    if truth is None or ufunc.__name__ not in ("logical_and", "logical_or"):
        return None
    if truth is not (ufunc.__name__ == "logical_or"):
        return truth
    return bool(truth != here().ask(any_of(equal(d, 0) for d in dims)))


def _reduced_span(ufunc: Any, data: Any, axes: Sequence[int]) -> Span | None:
    """Return the bounds of the maximum or minimum of the elements."""
    span = contents_of(data).span
    if span is None or ufunc.__name__ not in ("maximum", "minimum"):
        return None
    if not span.is_exact or len(axes) < len(data.dims):
        return span.bounds
    end = span.high if ufunc.__name__ == "maximum" else span.low
    return Span(end, end)


def accumulated(  # noqa: PLR0913 - as NumPy has them
    ufunc: Any, data: Any, axis: Any = 0, dtype: Any = None, out: Any = None, *, outs: tuple[Any, ...] = ()
) -> Any:
    """Return the accumulation of a ufunc along an axis."""
    dims = dims_of(data)
    if not dims:
        raise TypeError("cannot accumulate on a scalar")
    axes_of(axis, len(dims))
    kind = _accumulated(ufunc, data.dtype, dtype)
    outs = outs or ((out,) if out is not None else ())
    for given in outs:
        if given is not None:
            # NumPy accepts some outputs of other shapes, with two or more axes or no elements; we do not know which.
            is_known = len(dims) != len(dims_of(given)) or all(map(_is_same, dims, dims_of(given)))
            if not is_known and (len(dims) > 1 or here().ask(here().empty((*dims, *dims_of(given))))):
                here().fail_to_trace(f"{ufunc.__name__}.accumulate with an output of another shape is not supported")
            assign_out(given, dims, kind)
    return given_back(outs, SymbolicArray(dims, kind, contents=_accumulated_contents(ufunc, data)))


def _is_same(left: Any, right: Any) -> bool:
    return here().ask(equal(left, right))


def _accumulated_contents(ufunc: Any, data: Any) -> Contents:
    """Return the facts about cumulative sums: the sums of a constant are a ramp."""
    contents = contents_of(data)
    if ufunc.__name__ == "add" and len(data.dims) == 1 and contents.span is not None:
        low, high, _ = contents.span
        if low == high and isinstance(low, int) and low:
            return ramp_contents(low, low, data.dims[0])
    return Contents(is_data=contents.is_data)


def _reduced_at(  # noqa: PLR0913, PLR0917 - as NumPy has them
    ufunc: Any,
    data: Any,
    indices: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    *,
    outs: tuple[Any, ...] = (),
) -> Any:
    """Return reductions of the parts of an axis that start at indices, which must not be negative."""
    dims, shape = dims_of(data), dims_of(indices)
    if len(shape) != 1:
        raise ValueError("object of too small depth for desired array")
    (place,) = axes_of(axis, len(dims))
    check_indices(here(), whole_indices(indices), dims[place], shape, is_from_front=True)
    found = (*dims[:place], *shape, *dims[place + 1 :])
    kind = _accumulated(ufunc, data.dtype, dtype)
    outs = outs or ((out,) if out is not None else ())
    if any(o is not None for o in outs):
        here().fail_to_trace("reduceat with an output is not supported")
    return SymbolicArray(found, kind, contents=Contents(is_data=is_of_data(data, indices)))


@lru_cache(maxsize=1024)
def _accumulated(ufunc: Any, dtype: Any, wanted: Any) -> Any:
    if wanted is not None:
        return np.dtype(wanted)
    return ufunc.reduce(np.ones(1, dtype)).dtype


SymbolicArray.universal = staticmethod(apply)
Arrays.apply = staticmethod(apply)
