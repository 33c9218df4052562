"""Annotations of arrays: jaxtyping's, NumPy's shaped ``ndarray``, and shapes of symbcast."""

from __future__ import annotations

import types
import typing
from typing import Any, get_args, get_origin

from symbcast.core.shapes import Shape, known_rank
from symbcast.linting.annotations.axes import Axis, read_axes
from symbcast.linting.annotations.specs import ArraySpec, Library

_DTYPES = ("float64", "float32", "int64", "int32", "bool", "complex128", "complex64")
"""The dtypes to choose from, the preferred ones first."""


def array_spec(annotation: Any) -> ArraySpec | None:
    """Return what one of jaxtyping's annotations says, such as ``Float[Array, "n 3"]``; None for others.

    They are recognised by their attributes, so that jaxtyping itself is not needed.
    """
    text = getattr(annotation, "dim_str", None)
    if not isinstance(annotation, type) or not isinstance(text, str):
        return None
    return ArraySpec(read_axes(text), library_of(getattr(annotation, "array_type", None)), _dtype(annotation), text)


def _dtype(annotation: Any) -> str:
    accepted = getattr(annotation, "dtypes", ())
    try:
        accepted = tuple(accepted)
    except TypeError:
        return "float"
    if "prng_key" in accepted or "prng_key" in str(accepted):
        return "key"
    if "float32" in accepted or "float64" in accepted:
        return "float"
    return next((d for d in _DTYPES if d in accepted), next((d for d in accepted if isinstance(d, str)), "float"))


def library_of(kind: Any) -> Library:
    """Return the library of an array type; empty for a type that any library may have."""
    package = str(getattr(kind, "__module__", "")).partition(".")[0]
    if package in ("jax", "jaxlib"):
        return "jax"
    if package == "torch":
        return "torch"
    return "numpy" if package == "numpy" else ""


def ndarray_spec(annotation: Any) -> ArraySpec | None:
    """Return what ``numpy.ndarray[tuple[int, Literal[3]], dtype]`` says; None for arrays without a shape, and others.

    Type variables and new types of ``int`` are names of sizes.
    """
    origin = get_origin(annotation)
    if not isinstance(origin, type) or (origin.__module__, origin.__name__) != ("numpy", "ndarray"):
        return None
    shape, *rest = get_args(annotation)
    dtype = _dtype_of(rest[0]) if rest else "float"
    sizes = get_args(shape)
    if get_origin(shape) is not tuple or (len(sizes) == 2 and sizes[1] is Ellipsis):
        return None
    axes = () if sizes == ((),) else tuple(map(_size, sizes))
    return ArraySpec(axes, "numpy", dtype, " ".join(map(str, axes)))


def _size(value: Any) -> Axis:
    if get_origin(value) is typing.Literal:
        (size,) = get_args(value)
        return Axis("fixed", str(size))
    if isinstance(value, (typing.TypeVar, typing.NewType)):
        return Axis("name", str(value.__name__))
    return Axis("any")


def _dtype_of(value: Any) -> str:
    import numpy as np

    (kind,) = get_args(value) or (value,)
    if isinstance(kind, type) and issubclass(kind, np.generic):
        if issubclass(kind, np.floating):
            return "float"
        for name in _DTYPES:
            if issubclass(np.dtype(name).type, kind):
                return name
    return "float"


def shape_spec(shape: Shape, base: Any) -> ArraySpec:
    """Return the axes of a `symbcast.Shape`, for arrays of a type."""
    read = known_rank(shape, "an annotation", "write one for each rank")
    kind = get_origin(base) or base
    if isinstance(kind, types.UnionType):
        kind = None
    axes = tuple(_axis_of(str(d)) for d in read.dims)
    return ArraySpec(axes, library_of(kind), text=" ".join(map(str, axes)))


def _axis_of(text: str) -> Axis:
    if text.isdecimal():
        return Axis("fixed", text)
    return Axis("name" if text.isidentifier() else "term", text.replace(" ", ""))
