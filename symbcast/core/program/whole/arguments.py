"""Arguments of the methods of a program, read and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, cast

from symbcast.core.algebra.sizes import check_size
from symbcast.core.dimensions import from_dim
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, shape
from symbcast.errors import ShapeTypeError

if TYPE_CHECKING:
    import sympy

OneOrShape: TypeAlias = "ShapeLike | SupportsIndex | sympy.Expr"
"""A shape, or a single size."""


def check_origin(origin: object) -> None:
    """Raise `ShapeTypeError` unless an origin is text or None."""
    if origin is not None and not isinstance(origin, str):
        raise ShapeTypeError(origin, "an origin", "write the name of the operation as text")


def as_bound(value: object) -> int:
    """Return a bound of a size."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeTypeError(value, "a bound", "write an integer such as 2")
    return check_size(value)


def as_shape(value: OneOrShape) -> Shape:
    """Return a shape; a single dimension becomes a shape of rank 1."""
    if isinstance(value, int) or hasattr(type(value), "free_symbols"):
        return any_shape_of((from_dim(value),))
    return shape(cast("ShapeLike", value))
