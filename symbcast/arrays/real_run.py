"""A traced function, called with real arrays at sizes of a path: whether it does what was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symbcast.algebra.symbols import Unknown
from symbcast.arrays.arguments import Arguments
from symbcast.arrays.returned import told
from symbcast.paths.places import place_of_error
from symbcast.shapes import Shape
from symbcast.solver.evaluation import size_at
from symbcast.solver.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.paths.path import Path

MAX_ELEMENTS = 1 << 20
"""No real array of more elements is made."""


class RealRun:
    """A function and its arguments, called at the sizes at hand of a path, with arrays of ones."""

    def __init__(self, function: Callable[..., Any], given: Arguments, shapes: Sequence[Shape]) -> None:
        self.function, self.given, self._shapes = function, given, shapes

    def fails_alike(self, error: BaseException, path: Path) -> bool:
        """Return whether the function raises an error at the line where it did without data.

        What data decided may be otherwise for ones, and arrays may be too large to be made: then only an error that
        cannot come of arrays without data is believed.
        """
        if self._is_of_data(path) or self._is_large(path):
            return not isinstance(error, (TypeError, AttributeError))
        there = place_of_error(error, path.root, path.home)
        for real in self._results(path):
            if type(real) is not type(error) or place_of_error(real, path.root, path.home) != there:
                return False
        return True

    def gives(self, value: Any, path: Path) -> bool:
        """Return whether the function returns arrays of the shapes that were found."""
        if self._is_of_data(path) or self._is_large(path):
            return True
        at = defaultdict(lambda: 2, path.sizes)
        wanted = [[size_at(d, at) for d in s.dims] for s in _shapes(value)]
        # What data alone make fail, such as a matrix that is not regular, says nothing.
        found = [r for r in self._results(path) if not isinstance(r, np.linalg.LinAlgError)]
        given = [r for r in found if not isinstance(r, Exception)]
        return bool(given or not found) and all(
            wanted == [list(s.dims) for s in _shapes(told(r))] or not wanted for r in given
        )

    def _results(self, path: Path) -> Iterator[Any]:
        """Yield what the function returns, or the error that it raises, for ones and for numbers that differ."""
        for filled in (np.ones, _spread):
            try:
                yield self.given.called(self.function, self._shapes, path.sizes, filled)
            except Exception as error:
                yield error

    def _is_of_data(self, path: Path) -> bool:
        return any(
            isinstance(s, Unknown) and s.name.startswith("?") for step in path.steps for s in symbols_in(step.formula)
        )

    def _is_large(self, path: Path) -> bool:
        at = defaultdict(lambda: 2, path.sizes)
        return any(prod(size_at(d, at) for d in s.dims) > MAX_ELEMENTS for s in self._shapes)


def _spread(shape: Sequence[int], dtype: Any) -> Any:
    """Return an array of numbers between 0 and 1 that lie apart; of ones where its elements are none such."""
    if np.dtype(dtype).kind not in "fc":
        return np.ones(shape, dtype)
    return np.modf(np.arange(1, prod(shape) + 1) * 0.6180339887498949)[0].reshape(shape).astype(dtype)


def _shapes(value: Any) -> Iterator[Shape]:
    if isinstance(value, Shape):
        if value.dims:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _shapes(inner)
    elif isinstance(value, (tuple, list)):
        for inner in value:
            yield from _shapes(inner)
