"""Nested lists of the elements of an array: the result of ``x.tolist()``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symbcast.arrays.symbolic.dims import here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.logic.formulas import equal
from symbcast.paths.values.size import is_whole


class Listed:
    """A list with one item for each index of the first axis of an array: a number, or another `Listed`.

    For ``isinstance`` it is a ``list``; NumPy's functions treat it as the array that they would create from it.

    Attributes:
        base: the array.
    """

    def __init__(self, base: SymbolicArray) -> None:
        self.base = base.copied()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return list

    @property
    def dims(self) -> Any:
        """The shape of the array that NumPy makes from the list: axes after an empty one are lost."""
        return self.array().dims

    @property
    def dtype(self) -> Any:
        """The dtype of the array that NumPy makes from the list."""
        return self.array().dtype

    @property
    def contents(self) -> Any:
        """Facts about the elements."""
        return self.base.contents.moved

    def array(self) -> SymbolicArray:
        """Return the array that NumPy makes from the list."""
        path, dims = here(), self.base.dims
        for number, dim in enumerate(dims):
            is_last = number == len(dims) - 1
            if (not is_last or self.base.dtype.kind != "f") and path.ask(equal(dim, 0)):
                return SymbolicArray(dims[: number + 1], float)
        kind = {"f": float, "i": np.intp, "c": complex}.get(self.base.dtype.kind, self.base.dtype)
        return SymbolicArray(dims, kind, contents=self.base.contents)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return SymbolicArray.functions(function, args, options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(v.array() if type(v) is Listed else v for v in inputs)
        return SymbolicArray.universal(ufunc, method, *inputs, **options)

    def __len__(self) -> int:
        raise TypeError("the length of a symbolic list is a size")

    def __bool__(self) -> bool:
        return not here().ask(equal(self.base.dims[0], 0))

    def __iter__(self) -> Iterator[Any]:
        return (_listed(row) for row in self.base)

    def __getitem__(self, key: Any) -> Any:
        if not is_whole(key) and not isinstance(key, slice):
            raise TypeError("list indices must be integers or slices")
        return _listed(self.base[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        return here().fail_to_trace(f"the method {name} of a list of elements is not supported")


def _listed(value: SymbolicArray) -> Any:
    return Listed(value) if value.dims else value
