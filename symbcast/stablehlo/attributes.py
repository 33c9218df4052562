"""Attributes of operations as plain values, and the types of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from symbcast.stablehlo.mlir import bindings, dialect

BOOL, INT32, INT64 = 9, 6, 7
ELEMENT_TYPES = {
    "f32": 1, "ui8": 2, "i8": 3, "ui16": 4, "i16": 5, "i32": INT32, "i64": INT64, "index": INT64, "i1": BOOL,
    "f16": 10, "f64": 11, "ui32": 12, "ui64": 13, "bf16": 16,
}  # fmt: skip
"""Element types as the numbers of ``TensorProto.DataType``; other types, such as complex ones, are 0."""


def attribute_of(op: Any, name: str) -> Any:
    """Return an attribute as a number, a text, a list or an array; None if there is none, others as they are."""
    return plain(_raw(op, name))


def _raw(op: Any, name: str) -> Any:
    """Return an attribute; None if there is none, or if the bindings have no class for it, as for complex numbers."""
    try:
        return op.attributes[name]
    except (KeyError, TypeError):
        return None


def splat_of(op: Any, name: str) -> Any:
    """Return the number in an attribute that is one number, or one everywhere; None for other attributes."""
    found = _raw(op, name)
    if hasattr(found, "is_splat"):
        return plain(found.get_splat_value()) if found.is_splat else None
    number = plain(found)
    return number if isinstance(number, (int, float)) else None


def plain(attribute: Any) -> Any:
    """Return an attribute as a number, a text, a list, a mapping or an array; anything else stays as it is."""
    kind = type(attribute).__name__
    if kind == "ArrayAttr":
        return [plain(a) for a in attribute]
    if kind == "DictAttr":
        return {named.name: plain(named.attr) for named in attribute}
    if kind.endswith("ArrayAttr"):
        return list(attribute)
    if kind in ("DenseIntElementsAttr", "DenseFPElementsAttr"):
        return array_of(attribute)
    if kind in ("IntegerAttr", "BoolAttr", "FloatAttr", "StringAttr", "FlatSymbolRefAttr"):
        return attribute.value
    return attribute


def array_of(attribute: Any) -> Any:
    """Return the elements of a dense attribute as a NumPy array; None if NumPy has no such type, or for too many."""
    import numpy as np

    try:
        return np.array(attribute) if len(attribute) <= _MOST else None
    except (TypeError, ValueError):
        return None


_MOST = 1 << 20


def keyword_of(attribute: Any) -> str:
    """Return the word in an enumeration, such as ``LT`` of ``#stablehlo<comparison_direction LT>``."""
    return str(attribute).strip("<>").rpartition(" ")[2]


class TensorType(NamedTuple):
    """The type of a tensor or a scalar.

    Attributes:
        sizes: the size of each axis, None if it is dynamic; None for a tensor of unknown rank.
        bounds: the greatest size of each axis, None if it has no bound.
        dtype: the number of the element type.
    """

    sizes: tuple[int | None, ...] | None
    bounds: tuple[int | None, ...]
    dtype: int


def tensor_type(kind: Any) -> TensorType | None:
    """Return the type of a tensor or a scalar; None for tokens, tuples and other types."""
    name = type(kind).__name__
    if name in ("IndexType", "IntegerType", "F32Type", "F64Type"):
        return TensorType((), (), ELEMENT_TYPES.get(str(kind), 0))
    if name not in ("RankedTensorType", "UnrankedTensorType"):
        return None
    dtype = ELEMENT_TYPES.get(str(kind.element_type), 0)
    if name == "UnrankedTensorType":
        return TensorType(None, (), dtype)
    dynamic = bindings().ShapedType.get_dynamic_size()
    sizes = tuple(None if n == dynamic else n for n in kind.shape)
    return TensorType(sizes, _bounds(kind, len(sizes), dynamic), dtype)


def _bounds(kind: Any, rank: int, dynamic: int) -> tuple[int | None, ...]:
    encoding = kind.encoding
    if encoding is None or not str(encoding).startswith("#stablehlo.bounds"):
        return (None,) * rank
    return tuple(None if n == dynamic else n for n in dialect("stablehlo").TypeExtensions(encoding).bounds)
