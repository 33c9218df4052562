"""Declared types as values, and names of domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.graphs.values.value import CommonShape, OptionalValue, SequenceValue, Value, whole_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

TENSORS = ("tensor_type", "sparse_tensor_type")

Read: TypeAlias = "Callable[[Any, int, bool], Dim | None]"
"""Returns a declared size of an axis; the last argument says whether several tensors may differ in it."""


def normal(domain: str) -> str:
    """Return a domain's canonical name; ONNX's own domain has two names."""
    return "" if domain == "ai.onnx" else domain


def number(dim: Any, _axis: int = 0, _is_of_many: bool = False) -> int | None:
    """Return a declared size that is a number, None for any other."""
    return int(dim.dim_value) if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0 else None


def value_of(kind: Any, read: Read = number, length: Dim = 0, is_there: Formula = FALSE) -> Value:
    """Return a value of a declared type; nothing else about it is known.

    ``length`` is that of a sequence, ``is_there`` the condition under which an optional holds a value.
    """
    which = kind.WhichOneof("value")
    if which == "optional_type":
        return OptionalValue(value_of(kind.optional_type.elem_type, read, length), is_there)
    if which == "sequence_type":
        inner = kind.sequence_type.elem_type
        return SequenceValue(length, _sizes(inner, read, True), _dtype(inner))
    return Value(whole_shape(_sizes(kind, read, False)), _dtype(kind))


def _sizes(kind: Any, read: Read, is_of_many: bool) -> CommonShape:
    which = kind.WhichOneof("value")
    if which not in TENSORS or not getattr(kind, which).HasField("shape"):
        return None
    return tuple(read(d, axis, is_of_many) for axis, d in enumerate(getattr(kind, which).shape.dim))


def _dtype(kind: Any) -> int:
    which = kind.WhichOneof("value")
    return int(getattr(kind, which).elem_type) if which in TENSORS else 0
