"""Sizes as JAX's symbolic dimensions: what it compares is asked of the path, and is never inconclusive."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from symbcast.paths.places import is_call
from symbcast.paths.size import Size, greatest, is_whole, smallest

if TYPE_CHECKING:
    from types import FrameType

    from symbcast.algebra.terms import Dim

_HASH = 0x51D
_ASKING = frozenset({"set", "frozenset", "all", "any", "eq", "ne", "map", "safe_map", "sorted", "min", "max", "index"})
"""What is called to compare values, and not to look something up."""
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

    def __eq__(self, other: object) -> Any:
        if self._is_foreign(other):
            return False
        if is_call(sys._getframe(1), _ASKING):
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
        return super().__mul__(other) if is_whole(other) else self._beside(other, "__mul__")

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
