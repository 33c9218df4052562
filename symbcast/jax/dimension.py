"""Sizes as JAX's symbolic dimensions: what it compares is asked of the path, and is never inconclusive."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from symbcast.algebra.arithmetic import floor_divide, modulo, multiply
from symbcast.algebra.bounds import reduced_fraction
from symbcast.logic.formulas import equal
from symbcast.paths.places import is_call
from symbcast.paths.size import Size, dim_of, greatest, is_whole, sized, smallest

if TYPE_CHECKING:
    from types import FrameType

    from symbcast.algebra.terms import Dim

_HASH = 0x51D
_ASKING = frozenset({"set", "frozenset", "all", "any", "eq", "ne", "map", "safe_map", "sorted", "min", "max", "index"})
"""What is called to compare values, and not to look something up."""
_UNHEEDED = frozenset({"broadcast_in_dim"})
"""Functions of JAX that compare shapes and heed it only where arrays are sharded."""
_JAX = ("/jax/", "/jaxlib/", "\\jax\\", "\\jaxlib\\")


def _is_jax(frame: FrameType) -> bool:
    return any(part in frame.f_code.co_filename for part in _JAX)


class Dimension(Size):
    """A size on one path, as JAX takes any object with ``dimension_as_value`` for a symbolic dimension.

    It has a hash, for JAX keeps traces by shapes: sizes of two paths are never equal, so that none is taken for another
    path's. It is the same for all sizes, so that a set of sizes asks which of them are equal, in the same order each
    time.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Dimension

    def __hash__(self) -> int:
        return _HASH

    def __repr__(self) -> str:
        # JAX writes shapes into messages, and into names that nothing depends on.
        return str(self.dim)

    def __format__(self, spec: str) -> str:
        return str(self.dim)

    def __eq__(self, other: object) -> Any:
        if self._is_foreign(other):
            return False
        asking = sys._getframe(1)
        if is_call(asking, _ASKING) or asking.f_code.co_name in _UNHEEDED:
            # A trace that was kept is looked up by shapes: one for other sizes, though equal here, need not be found.
            return type(other) is Dimension and other.dim is self.dim
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return True if self._is_foreign(other) else super().__ne__(other)

    def _is_foreign(self, other: object) -> bool:
        return type(other) is Dimension and other.path is not self.path

    def _told(self, frame: FrameType) -> Dim:
        # JAX names what it traces by shapes; no shape depends on these names.
        return self.dim if _is_jax(frame) else super()._told(frame)

    def __divmod__(self, other: Any) -> Any:
        return self._quotient(self.dim, dim_of(other)) if is_whole(other) else super().__divmod__(other)

    def __rdivmod__(self, other: Any) -> Any:
        return self._quotient(dim_of(other), self.dim) if is_whole(other) else super().__rdivmod__(other)

    def _quotient(self, above: Dim, below: Dim) -> tuple[Any, Any]:
        """Return a quotient and its remainder, and ask whether that is 0.

        JAX divides so the numbers of elements of two shapes, of which the second may have a negative size.
        """
        path = self.path
        self._no_zero(below)
        left, right = reduced_fraction((above,), (below,))
        if path.bounds.is_at_least(multiply(-1, right), 1):
            left, right = multiply(-1, left), multiply(-1, right)
        # A multiple is one with either sign; the remainder of a sum without a sign is written shortest.
        size = multiply(-1, left) if path.bounds.is_at_least(multiply(-1, left), 0) else left
        if path.ask(equal(modulo(size, right), 0)):
            return sized(floor_divide(left, right), path), 0
        return sized(floor_divide(above, below), path), sized(modulo(above, below), path)

    def __index__(self) -> int:
        # JAX finds out so which dimensions are numbers: none of these is. Code of others may need one.
        if _is_jax(sys._getframe(1)):
            raise TypeError(f"the size {self.dim} is not a number")
        return super().__index__()

    __int__ = __index__

    def __jax_array__(self) -> Any:
        return self.dimension_as_value()

    def dimension_as_value(self) -> Any:
        """Return the size as an array that no shape can depend on."""
        import jax.numpy as jnp

        return jnp.asarray(self.path.shown(self.dim))

    def max(self, other: Any) -> Any:
        """Return the greater of two sizes, without asking which it is."""
        return greatest([self, other], self.path)

    def min(self, other: Any) -> Any:
        """Return the smaller of two sizes, without asking which it is."""
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
        """Return an operation with a number that is not whole, or an array: it has no part in any shape."""
        value = other.dimension_as_value() if type(other) is Dimension else other
        return getattr(self.dimension_as_value(), name)(value)


def register() -> None:
    """Tell JAX of what type a dimension is where it counts as a number: as a dimension of JAX's own does."""
    from jax._src import core, dtypes

    if Dimension not in core.pytype_aval_mappings:
        core.pytype_aval_mappings[Dimension] = lambda _: core.dim_value_aval()
        dtypes.register_weak_scalar_type(Dimension)
        dtypes.python_scalar_types.add(Dimension)
        dtypes.python_scalar_types_to_dtypes[Dimension] = dtypes.python_scalar_types_to_dtypes[int]
        dtypes.register_canonicalize_value_handler(Dimension, None)
