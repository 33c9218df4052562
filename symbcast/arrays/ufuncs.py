"""Universal functions: what they require of shapes, and the shape and the type that come out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbcast.arrays.dims import axes_of, broadcast_together, dims_of, dtype_of, here
from symbcast.arrays.generalized import generalized
from symbcast.arrays.results import given_back, known_type, resolved
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.logic.formulas import any_of, at_most, equal
from symbcast.operators.reductions import reduce
from symbcast.paths.asker import Arrays
from symbcast.paths.real import Real
from symbcast.paths.size import greatest, is_whole, smallest

TRUE_OF_FINITE = {"isfinite": True, "isnan": False, "isinf": False}
"""What is known of data that are finite numbers, which arguments are taken to be."""


def apply(ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
    """Return what a universal function gives for symbolic arrays, sizes and numbers."""
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
        return _apply(ufunc, method, inputs, outs, options)
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
            spread = SymbolicArray((*left, *(1,) * len(right)), known_type(dtype_of(inputs[0])))
            return _elementwise(ufunc, (spread, inputs[1]), outs, options)
        case "reduce":
            return reduced(ufunc, inputs[0], *inputs[1:], outs=outs, **options)
        case "accumulate":
            (data,) = inputs[:1]
            axes_of(options.get("axis", inputs[1] if len(inputs) > 1 else 0), data.ndim)
            return given_back(outs, SymbolicArray(data.dims, _accumulated(ufunc, data.dtype, options.get("dtype"))))
        case "at":
            return None
    return here().fail_to_trace(f"numpy.{ufunc.__name__}.{method} is not known")


def _is_array(value: Any) -> bool:
    return not is_whole(value) and not isinstance(value, (int, float, complex)) and bool(hasattr(value, "dtype"))


def _are_objects(values: Sequence[Any]) -> bool:
    """Return whether values are an array of sizes, which NumPy computes with one by one, beside others and sizes."""
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
    """Return a function of numbers and sizes: whole ones as Python works them out, others when they are needed."""
    operation = _OPERATIONS.get(ufunc.__name__)
    if operation is not None and all(map(is_whole, values)):
        # A number of NumPy's would ask the function again.
        return operation(*(int(v) if isinstance(v, np.integer) else v for v in values))
    zero_of = values[0] if ufunc.__name__ in ("divide", "sqrt", "square", "cbrt", "negative") else None
    return Real.applied(lambda *at: ufunc(*at).item(), values, here(), zero_of)


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
    path = here()
    where = options.get("where", True)
    shapes = [dims_of(v) for v in inputs]
    if where is not True:
        shapes.append(dims_of(where))
    dims = broadcast_together(shapes)
    dtypes = resolved(ufunc, tuple(dtype_of(v) for v in inputs), options.get("dtype"))
    truth = TRUE_OF_FINITE.get(ufunc.__name__)
    if truth is None or not all(map(_is_finite, inputs)):
        truth = _truth(ufunc, inputs)
    if outs:
        for given in outs:
            if given is not None:
                path.broadcast(dims, dims_of(given), rule="unidirectional")
                dims = dims_of(given)
                if isinstance(given, SymbolicArray) or hasattr(type(given), "dims"):
                    given.forget()
    found = [SymbolicArray(dims, dtype, truth) for dtype in dtypes]
    if ufunc.__name__ in ("logical_not", "invert") and type(inputs[0]) is SymbolicArray:
        found[0].false_count = inputs[0].true_count
    return given_back(outs, *found)


def _is_finite(value: Any) -> bool:
    if type(value) is Real:
        return False
    return hasattr(type(value), "dims") or is_whole(value) or bool(np.all(np.isfinite(value)))


def _truth(ufunc: Any, inputs: Sequence[Any]) -> bool | None:
    """Return what is known of the truth of a result, of that of its operands."""
    known = [getattr(v, "truth", None) for v in inputs]
    match ufunc.__name__:
        case "logical_not" | "invert":
            return None if known[0] is None else not known[0]
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
    """Return a reduction along some axes; one that begins with nothing requires elements."""
    path, dims = here(), dims_of(data)
    axes = axes_of(axis, len(dims))
    if where is not True:
        path.broadcast(dims_of(where), dims, rule="unidirectional")
    found = reduce(path, dims, axes, keepdims=bool(keepdims))
    if ufunc.identity is None and (initial is np._NoValue or initial is None):
        for n in axes:
            path.require(
                at_most(1, dims[n]), f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
    truth = getattr(data, "truth", None)
    kind = _accumulated(ufunc, data.dtype, dtype)
    if truth is not None and ufunc.__name__ in ("logical_and", "logical_or") and not found:
        empty = (
            path.ask(any_of(equal(dims[n], 0) for n in axes)) if truth is (ufunc.__name__ == "logical_or") else False
        )
        truth = truth != empty
    else:
        truth = None
    outs = outs or ((out,) if out is not None else ())
    for given in outs:
        for left, right in zip(dims_of(given), found, strict=True):
            path.equal(left, right, "the output must have the shape of the result")
    return given_back(outs, SymbolicArray(found, kind, truth))


@lru_cache(maxsize=1024)
def _accumulated(ufunc: Any, dtype: Any, wanted: Any) -> Any:
    if wanted is not None:
        return np.dtype(wanted)
    return ufunc.reduce(np.ones(1, dtype)).dtype


SymbolicArray.universal = staticmethod(apply)
Arrays.apply = staticmethod(apply)
