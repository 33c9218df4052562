"""Call a traced function with real arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.arrays.arguments import Arguments, ArrayArgument
from symbcast.arrays.symbolic.scalars import MARK
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.shapes import Shape
from symbcast.core.solver.evaluation.evaluation import value_at
from symbcast.paths.real_calls import Raised, are_small
from symbcast.paths.values.real import Real
from symbcast.paths.values.size import Size

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

    Filled = Callable[[Sequence[int], Any], Any]

MAX_ELEMENTS = 1 << 13
"""The maximum number of elements of a real array."""
MAX_SIZE = 1 << 11
"""The maximum size in a real array: a function may build an array of all pairs."""


class RealRun:
    """A function and its arguments, to be called with real arrays."""

    has_data = True

    def __init__(self, function: Callable[..., Any], given: Arguments, shapes: Sequence[Shape]) -> None:
        self.function, self.given, self._shapes = function, given, shapes
        pairs = zip(given.symbolic, shapes, strict=True)
        self._arrays = [shape for value, shape in pairs if isinstance(value, ArrayArgument)]

    def results(self, at: Mapping[Symbol, int]) -> Iterator[Any]:
        """Yield the function's result or error, each time for different data.

        Later data suit functions with special requirements: sorted or positive data, indices, regular matrices.
        """
        for filled in FILLINGS:
            try:
                result = self.given.called(self.function, self._shapes, at, filled)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                result = Raised.of(error)
            yield result

    def fits(self, found: Any, real: Any, at: Mapping[Symbol, int]) -> bool:
        """Return whether a real result has the structure, shapes and sizes of the traced one."""
        if type(found) is SymbolicArray:
            return _has_shape(real, found.dims, at)
        if isinstance(found, np.ndarray):
            return _has_shape(real, found.shape, at)
        if issubclass(type(found), Size):
            is_number = _is_scalar(real) and isinstance(real, (int, float, np.number, np.ndarray))
            return is_number and (_is_of_data(found.dim, at) or bool(real == value_at(found.dim, at)))
        if type(found) is Real:
            return _is_scalar(real)
        if isinstance(found, str) and MARK in str(found):
            return isinstance(real, str)
        if isinstance(found, (tuple, list)):
            is_like = isinstance(real, (tuple, list)) and len(found) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(found, real, strict=True))
        if isinstance(found, Mapping):
            is_like = isinstance(real, Mapping) and len(found) == len(real)
            return is_like and all(self.fits(f, r, at) for f, r in zip(found.values(), real.values(), strict=True))
        if type(found) in (bool, int, str) and type(real) is type(found):
            return bool(found == real)
        return _is_scalar(real) if found is None or isinstance(found, (bool, int, float, complex, str)) else True

    def is_small(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether all arrays of the call are small."""
        return are_small(self._shapes, at, MAX_SIZE, MAX_ELEMENTS)

    def is_without_data(self, at: Mapping[Symbol, int]) -> bool:
        """Return whether the arrays of a call are all empty."""
        return all(0 in [value_at(d, at) for d in shape.dims] for shape in self._arrays)

    def is_of_data(self, error: BaseException) -> bool:
        """Return whether an error depends on data, such as a singular matrix or an iteration that does not converge."""
        text = str(error).lower()
        return isinstance(error, np.linalg.LinAlgError) and any(words in text for words in _OF_DATA)

    def text(self, value: Any, at: Mapping[Symbol, int] | None = None) -> str:
        """Return the shapes of arrays and the numbers in a value as text, at some sizes."""
        if type(value) is SymbolicArray or isinstance(value, np.ndarray):
            dims = value.dims if type(value) is SymbolicArray else value.shape
            return f"({', '.join(str(_number(d, at)) for d in dims)})" if dims else "a number"
        if issubclass(type(value), Size):
            return str(_number(value.dim, at))
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(self.text(v, at) for v in value)}]"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{k!r}: {self.text(v, at)}' for k, v in value.items())}}}"
        if type(value) is Real or isinstance(value, (float, complex, np.generic)):
            return "a number"
        return repr(value)[:80] if value is None or type(value) in (bool, int, str) else f"a {type(value).__name__}"


_OF_DATA = ("singular", "converge", "positive definite", "rank")


def _has_shape(real: Any, dims: Sequence[Dim], at: Mapping[Symbol, int]) -> bool:
    if not isinstance(real, np.ndarray):
        return not dims and _is_scalar(real)
    if len(dims) != real.ndim:
        return False
    return all(_is_of_data(d, at) or value_at(d, at) == n for d, n in zip(dims, real.shape, strict=True))


def _is_of_data(dim: Dim, at: Mapping[Symbol, int]) -> bool:
    return any(s not in at for s in symbols_of((dim,)))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, np.ndarray) or value.ndim == 0


def _number(dim: Dim, at: Mapping[Symbol, int] | None) -> Any:
    return dim if at is None or _is_of_data(dim, at) else value_at(dim, at)


def _spread(shape: Sequence[int], dtype: Any) -> Any:
    """Return numbers spread between 0 and 1; for types without fractions, alternating 1 and 0."""
    number = np.arange(1, prod(shape) + 1)
    if np.dtype(dtype).kind in "fc":
        return np.modf(number * 0.6180339887498949)[0].reshape(shape).astype(dtype)
    return (number % 2).reshape(shape).astype(dtype) if np.dtype(dtype).kind in "biu" else np.ones(shape, dtype)


def _signed(shape: Sequence[int], dtype: Any) -> Any:
    """Return spread numbers of both signs."""
    return (_spread(shape, "float64") * 8 - 4).astype(dtype)


def _sorted(shape: Sequence[int], dtype: Any) -> Any:
    """Return increasing numbers: 0, 1, 2, ..."""
    return np.arange(prod(shape)).reshape(shape).astype(dtype)


def _diagonal(shape: Sequence[int], dtype: Any) -> Any:
    """Return diagonal matrices with 2, 3, ... on the diagonal: positive definite if they are square."""
    if len(shape) < 2:
        return _sorted(shape, dtype) + np.ones((), dtype)
    return np.broadcast_to(np.eye(shape[-2], shape[-1]) * (2 + np.arange(shape[-1])), shape).astype(dtype)


def _last(shape: Sequence[int], dtype: Any) -> Any:
    """Return arrays of -1: the last index, or one before the first."""
    return np.full(shape, -1).astype(dtype)


FILLINGS: tuple[Filled, ...] = (np.ones, _spread, np.zeros, _sorted, _diagonal, _signed, _last)
