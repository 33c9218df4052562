"""Present sizes as JAX's symbolic dimensions: the path decides every comparison, so none is inconclusive."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path as FilePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import ref

from symbcast.core.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.core.algebra.bounds import reduced_fraction
from symbcast.core.logic.formulas import equal
from symbcast.paths.places import is_call, is_subscript, numbers_at_hand
from symbcast.paths.runs.path import Path
from symbcast.paths.runs.steps import Alternative
from symbcast.paths.values.size import Size, dim_of, greatest, is_whole, sized, smallest

if TYPE_CHECKING:
    from types import FrameType

    from symbcast.core.algebra.terms import Dim, Term
    from symbcast.paths.values.asker import Asker

_HASH = 0x51D_5EED_0000
_COMPARING = frozenset({"set", "frozenset", "all", "any", "eq", "ne", "sorted", "min", "max", "index"})
"""Functions whose calls compare values; any other call from JAX compares them for a cache lookup."""
_LOOKING = _COMPARING | {"Counter", "count", "fromkeys", "get", "pop", "remove", "setdefault"}
"""The same in user code, which looks up numbers."""
_UNHEEDED = frozenset({"broadcast_in_dim"})
"""JAX functions that compare shapes and use the answer only for sharded arrays."""
_DELEGATES = frozenset({"__eq__", "__ne__", "__hash__"})
"""Methods that compare or hash their contents on behalf of their caller."""
_JAX = tuple(
    str(FilePath(place)) + os.sep
    for package in ("jax", "jaxlib")
    if (found := find_spec(package)) is not None
    for place in found.submodule_search_locations or ()
)
_ENDED = Path((), Alternative((), {}), 0, {})
"""Represents every path that no longer exists; it never runs."""


def _is_jax(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_JAX)


def _is_lookup(frame: FrameType) -> bool:
    """Return whether a frame compares or hashes sizes only to find a cache entry.

    JAX's caches are compiled code: they compare keys inside a call, even keys that share only a few bits of their hash,
    which differ between processes. So a lookup must neither depend on which sizes are equal nor ask the path.
    """
    while frame.f_code.co_name in _DELEGATES and frame.f_back is not None:
        frame = frame.f_back
    if not _is_jax(frame):
        return is_call(frame, _LOOKING)
    return frame.f_code.co_name in _UNHEEDED or is_subscript(frame) or is_call(frame, _COMPARING)


class Dimension(Size):
    """A size on one path. JAX treats any object with ``dimension_as_value`` as a symbolic dimension.

    JAX's caches of traces by shape outlive a path. In a lookup, a size equals only itself on its own path, so it never
    matches an entry of another path or of a number. Sizes refer to their path weakly, so no cache entry keeps it alive.

    All sizes of a path have the same hash, so that a set of sizes compares them, always in the same order. If a set may
    also contain numbers, a size that equals one of them has the hash of that number.
    """

    __slots__ = ("_path", "_serial")

    def __init__(self, dim: Term, path: Asker, serial: int = 0) -> None:
        self._path, self._serial = ref(path), serial
        super().__init__(dim, path)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Dimension

    @property
    def path(self) -> Asker:
        """The path of the size."""
        return self._path() or _ENDED

    @path.setter
    def path(self, path: Asker) -> None:
        self._path = ref(path)

    def __hash__(self) -> int:
        asking = sys._getframe(1)
        if self.path.is_running() and not _is_lookup(asking):
            for number in numbers_at_hand(asking, in_code=not _is_jax(asking)):
                if self.path.ask(equal(self.dim, number)):
                    return hash(number)
        return _HASH + self._serial

    def __repr__(self) -> str:
        # JAX uses shapes in messages, and in names that do not affect the result.
        return str(self.dim)

    def __format__(self, spec: str) -> str:
        return str(self.dim)

    def __eq__(self, other: object) -> Any:
        return self._is_same(other) if self._is_found(other, sys._getframe(1)) else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return not self._is_same(other) if self._is_found(other, sys._getframe(1)) else super().__ne__(other)

    def _is_same(self, other: object) -> bool:
        return type(other) is Dimension and other.dim is self.dim and other._path is self._path

    def _is_found(self, other: object, asking: FrameType) -> bool:
        """Return whether a comparison is a lookup or involves a size of another path."""
        if type(other) is Dimension and other._path is not self._path:
            return True
        return _is_lookup(asking) or (_is_jax(asking) and not self.path.is_running())

    def _told(self, frame: FrameType) -> Dim:
        # JAX names traced values after shapes; no shape depends on these names.
        return self.dim if _is_jax(frame) else super()._told(frame)

    def __divmod__(self, other: Any) -> Any:
        return self._quotient(self.dim, dim_of(other)) if is_whole(other) else super().__divmod__(other)

    def __rdivmod__(self, other: Any) -> Any:
        return self._quotient(dim_of(other), self.dim) if is_whole(other) else super().__rdivmod__(other)

    def _quotient(self, above: Dim, below: Dim) -> tuple[Any, Any]:
        """Return a quotient and its remainder, and ask the path whether the remainder is 0.

        JAX divides the numbers of elements of two shapes this way; the second shape may contain a negative size.
        """
        path = self.path
        self._no_zero(below)
        left, right = reduced_fraction((above,), (below,))
        if path.bounds.is_at_least(multiply(-1, right), 1):
            left, right = multiply(-1, left), multiply(-1, right)
        # A multiple may have either sign; the remainder of a positive sum has the shortest text.
        size = multiply(-1, left) if path.bounds.is_at_least(multiply(-1, left), 0) else left
        if path.ask(equal(modulo(size, right), 0)):
            return sized(floor_divide(left, right), path), 0
        return sized(floor_divide(above, below), path), sized(modulo(above, below), path)

    def __index__(self) -> int:
        # JAX uses this to detect dimensions that are numbers, which these are not. Other code may need a number.
        if _is_jax(sys._getframe(1)):
            raise TypeError(f"the size {self.dim} is not a number")
        return super().__index__()

    __int__ = __index__

    def __jax_array__(self) -> Any:
        return self.dimension_as_value()

    def dimension_as_value(self) -> Any:
        """Return the size as an array; no shape can depend on it."""
        import jax.numpy as jnp

        return jnp.asarray(self.path.shown(self.dim))

    def max(self, other: Any) -> Any:
        """Return the larger of two sizes, without asking which one is larger."""
        return greatest([self, other], self.path)

    def min(self, other: Any) -> Any:
        """Return the smaller of two sizes, without asking which one is smaller."""
        return smallest([self, other], self.path)

    rmax = __max__ = max
    rmin = __min__ = min

    def __add__(self, other: Any) -> Any:
        return super().__add__(other) if is_whole(other) else self._beside(other, "__add__")

    def __sub__(self, other: Any) -> Any:
        return super().__sub__(other) if is_whole(other) else self._beside(other, "__sub__")

    def __rsub__(self, other: Any) -> Any:
        return super().__rsub__(other) if is_whole(other) else self._beside(other, "__rsub__")

    def __mul__(self, other: Any) -> Any:
        is_sequence = isinstance(other, (list, tuple, str, bytes))
        return super().__mul__(other) if is_whole(other) or is_sequence else self._beside(other, "__mul__")

    def __truediv__(self, other: Any) -> Any:
        return self._beside(other, "__truediv__")

    def __rtruediv__(self, other: Any) -> Any:
        return self._beside(other, "__rtruediv__")

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return super().__pow__(other, modulus) if is_whole(other) else self._beside(other, "__pow__")

    __radd__, __rmul__ = __add__, __mul__

    def _beside(self, other: Any, name: str) -> Any:
        """Apply an operation to a non-integer or an array; the result cannot occur in a shape."""
        value = other.dimension_as_value() if type(other) is Dimension else other
        return getattr(self.dimension_as_value(), name)(value)


def register() -> None:
    """Register dimensions with JAX as values of the same type as its own symbolic dimensions."""
    from jax._src import core, dtypes

    if Dimension not in core.pytype_aval_mappings:
        core.pytype_aval_mappings[Dimension] = lambda _: core.dim_value_aval()
        dtypes.register_weak_scalar_type(Dimension)
        dtypes.python_scalar_types.add(Dimension)
        dtypes.python_scalar_types_to_dtypes[Dimension] = dtypes.python_scalar_types_to_dtypes[int]
        dtypes.register_canonicalize_value_handler(Dimension, None)
        handlers = getattr(import_module("jax._src.numpy.einsum"), "_poly_einsum_handlers", None)
        if handlers is not None:
            handlers[Dimension] = _einsum_path


def _einsum_path(*operands: Any, **options: Any) -> Any:
    """Return operands and their contractions in the order that JAX chooses for open sizes.

    To choose the order, JAX picks a number for each open size, and so rejects an open size that is contracted with a
    number. Here numbers other than 1 are treated as open too: the contraction itself checks that its sizes are equal.
    """
    from jax._src.numpy.einsum import _default_poly_einsum_handler

    def opened(operand: Any) -> Any:
        shape = tuple(1 if type(d) is int and d == 1 else None for d in operand.shape)
        return SimpleNamespace(shape=shape, dtype=operand.dtype, operand=operand)

    opens = [opened(v) if hasattr(v, "dtype") else v for v in operands]
    ordered, contractions = _default_poly_einsum_handler(*opens, **options)
    return [v.operand for v in ordered], contractions
