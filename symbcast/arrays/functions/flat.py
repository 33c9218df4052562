"""The iterator over the elements of an array, ``x.flat``, as NumPy reads and writes through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symbcast.arrays.functions.methods import ravel
from symbcast.arrays.symbolic.dims import dims_of, dtype_of, here
from symbcast.arrays.symbolic.indices import check_indices, check_mask, indexed
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import multiply
from symbcast.paths.values.size import is_whole


class Flat:
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
        return self.base.contents.moved

    @property
    def shape(self) -> Any:
        """The shape, which NumPy's iterators do not have."""
        raise AttributeError("'numpy.flatiter' object has no attribute 'shape'")

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return SymbolicArray.functions(function, args, options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return SymbolicArray.universal(ufunc, method, *inputs, **options)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    def __len__(self) -> int:
        raise TypeError("the length of a symbolic array is a size")

    def copy(self) -> SymbolicArray:
        """Return the elements on one axis."""
        found: SymbolicArray = ravel(self.base).copied()
        return found

    def __getitem__(self, key: Any) -> SymbolicArray:
        if _is_everything(key):
            return self.copy()
        mask = self._mask(key)
        found = indexed(self.copy(), self._key(key)) if mask is None else indexed(ravel(self.base), mask)
        return found.copied()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write values in order, repeated or cut off as needed; an empty value writes nothing."""
        if is_whole(key) and dims_of(value):
            raise ValueError("Error setting single item of array.")
        mask = self._mask(key)
        if mask is not None:
            indexed(self.copy(), mask)
        elif hasattr(type(key), "dims") or isinstance(key, (list, np.ndarray)):
            self._check_unless_empty(key, dims_of(value))
        elif not _is_everything(key):
            indexed(self.copy(), self._key(key))
        self.base.forget(value, key)

    def _check_unless_empty(self, key: Any, value: Any) -> None:
        """Require that indices are within the axis, unless there are no indices or no values."""
        path, shape = here(), dims_of(key)
        (size,) = self.dims
        check_indices(path, key, size, (*shape, *value))

    def _mask(self, key: Any) -> Any:
        """Return a mask, whose size must be that of the array or 0; None for any other index."""
        if not (hasattr(type(key), "dims") or isinstance(key, (list, np.ndarray))) or dtype_of(key).kind != "b":
            return None
        if len(dims_of(key)) != 1:
            raise IndexError("a mask of a flat iterator must have one axis")
        check_mask(here(), dims_of(key), self.dims)
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
