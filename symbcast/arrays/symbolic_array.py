"""Symbolic arrays: a shape of sizes and numbers, and a type."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from symbcast.algebra.arithmetic import multiply
from symbcast.arrays.dims import here
from symbcast.logic.formulas import Comparison, equal
from symbcast.operators.context import Dims
from symbcast.paths.places import called_by
from symbcast.paths.size import sized

Span = tuple[Any, Any]


class SymbolicArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array without data, as a traced function sees it; an ``ndarray`` to ``isinstance``.

    Attributes:
        dims: the sizes of its axes.
        dtype: the type of its elements.
        truth: whether all elements are known to be true, or all to be false; None where that is not known.
        span: the least and the greatest of its elements, each of them there, where these are known and there are any.
        bounds: the least and the greatest that its elements may be, where that is known of elements that are drawn.
        true_count: how many of its elements are true, once that was asked; empty before.
        false_count: the same list of the array of which it is the negation; None where it is none.
    """

    __slots__ = ("bounds", "dims", "dtype", "false_count", "span", "true_count", "truth")
    __array_priority__ = 1000.0
    functions: ClassVar[Callable[..., Any]]
    """What works out NumPy's functions; `symbcast.arrays.functions` puts it here, for it stands above this module."""
    universal: ClassVar[Callable[..., Any]]
    """What works out its universal functions: see `symbcast.arrays.ufuncs`."""
    taken: ClassVar[Callable[..., Any]]
    """What indexes: see `symbcast.arrays.indices`."""
    namespace: ClassVar[Callable[[], Any]]
    """What gives NumPy as traced code sees it: see `symbcast.arrays.replacements`."""

    def __init__(self, dims: Dims, dtype: Any, truth: bool | None = None, span: Span | None = None) -> None:
        self.dims = dims
        self.dtype = np.dtype(dtype)
        self.truth = truth
        self.span = span
        self.bounds: Span | None = None
        self.true_count: list[Any] = []
        self.false_count: list[Any] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def __repr__(self) -> str:
        return f"<array ({', '.join(map(str, self.dims))}) of {self.dtype}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return SymbolicArray.universal(ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return SymbolicArray.functions(function, args, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return SymbolicArray.namespace()

    def __array__(self, *_: Any, **__: Any) -> Any:
        name = called_by(sys._getframe(1))
        here().fail_to_trace(f"{name or 'a function'} is not known: it takes the data of an array")

    @property
    def __array_interface__(self) -> Any:
        raise AttributeError("__array_interface__")

    # What it is.

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, as code computes with them."""
        path = here()
        return tuple(sized(d, path) for d in self.dims)

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.dims = self.reshape(shape).dims

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.dims)

    @property
    def size(self) -> Any:
        """How many elements there are."""
        return sized(multiply(*self.dims), here())

    @property
    def itemsize(self) -> int:
        """How many bytes an element has."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> Any:
        """How many bytes there are."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[Any, ...]:
        """How many bytes lie between neighbours on each axis."""
        path = here()
        return tuple(sized(multiply(self.itemsize, *self.dims[n + 1 :]), path) for n in range(self.ndim))

    @property
    def flags(self) -> Any:
        """The flags of an array that is its own."""
        return np.empty(1).flags

    base = None
    device = "cpu"
    device = "cpu"

    @property
    def flat(self) -> SymbolicArray:
        """The elements one after the other."""
        found: SymbolicArray = self.reshape(-1)
        return found

    @property
    def T(self) -> SymbolicArray:
        """The array with its axes turned round."""
        return self._with(self.dims[::-1])

    @property
    def mT(self) -> SymbolicArray:
        """The array with its last two axes exchanged."""
        found: SymbolicArray = self.swapaxes(-1, -2)
        return found

    @property
    def real(self) -> SymbolicArray:
        """The real parts."""
        return SymbolicArray(self.dims, np.empty(0, self.dtype).real.dtype)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> SymbolicArray:
        """The imaginary parts."""
        return SymbolicArray(self.dims, np.empty(0, self.dtype).imag.dtype)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def _with(self, dims: Dims) -> SymbolicArray:
        """Return the same elements in another shape."""
        found = SymbolicArray(dims, self.dtype, self.truth, self.span)
        found.bounds = self.bounds
        return found

    # As a value of Python.

    def __len__(self) -> int:
        # `len` has a stand-in. What else asks does so to save room, and goes on without.
        raise TypeError("the length of a symbolic array is a size")

    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise TypeError("iteration over a 0-d array")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        path, number = here(), 0
        while path.ask(Comparison("<", number, self.dims[0]), is_number=True):
            yield self[number]
            number += 1

    def __bool__(self) -> bool:
        path, count = here(), multiply(*self.dims)
        if self.dims and not path.ask(equal(count, 1)):
            if not path.ask(equal(count, 0)):
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            raise ValueError("The truth value of an empty array is ambiguous.")
        if self.truth is not None:
            return self.truth
        return path.ask(equal(path.data_size("data", 0, 1), 1))

    def __getitem__(self, key: Any) -> Any:
        return SymbolicArray.taken(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        from symbcast.arrays.dims import dims_of

        place = self[key]
        self.forget()
        here().broadcast(_squeezed(dims_of(value), len(place.dims)), place.dims, rule="unidirectional")

    def forget(self) -> None:
        """Take it that the elements are others now."""
        self.truth = self.span = self.bounds = self.false_count = None
        self.true_count = []

    def _as_number(self, *_: Any) -> Any:
        if self.dtype.kind not in "biu":
            return here().fail_to_trace("a number is made of data")
        return here().fail_to_trace("a whole number is made of data")

    __int__ = __index__ = __float__ = __complex__ = _as_number

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> SymbolicArray:
        return self._with(self.dims)

    def __deepcopy__(self, memo: Any) -> SymbolicArray:
        return self._with(self.dims)

    def __reduce__(self) -> Any:
        raise TypeError("a symbolic array lives as long as the trace that it is of")

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is not None:
            return lambda *args, **options: method(self, *args, **options)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        return here().fail_to_trace(f"the method {name} of an array is not known")


METHODS: dict[str, Callable[..., Any]] = {}
"""The methods of arrays by name; those of one field are in one module."""


def method(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function be the methods of these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        METHODS.update(dict.fromkeys(names, function))
        return function

    return register


def _squeezed(dims: Dims, rank: int) -> Dims:
    """Return the shape of a value that is put into a place: ones in front of it do not count."""
    while len(dims) > rank and dims[0] == 1:
        dims = dims[1:]
    return dims
