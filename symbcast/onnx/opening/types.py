"""The types of values as ONNX Runtime keeps them while it opens a model: declared ones, merged with inferred ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import Any

TENSOR, SPARSE = "tensor_type", "sparse_tensor_type"


class ValueType(bytes):
    """The type of a value: the bytes of its ``TypeProto``, so that equal types are equal keys."""

    @staticmethod
    def of(proto: Any) -> ValueType:
        """Return the type in a message."""
        return _interned(proto.SerializeToString(deterministic=True))

    @cached_property
    def proto(self) -> Any:
        """The message, which must not be changed."""
        from onnx import TypeProto

        return TypeProto.FromString(bytes(self))

    def copy(self) -> Any:
        """Return a new message."""
        from onnx import TypeProto

        return TypeProto.FromString(bytes(self))

    @cached_property
    def is_known(self) -> bool:
        """Whether the type is known at all."""
        kind = self.proto.WhichOneof("value")
        return kind is not None and (kind not in (TENSOR, SPARSE) or bool(getattr(self.proto, kind).elem_type))

    @cached_property
    def is_real(self) -> bool:
        """Whether the element type of a tensor exists; an attribute can hold any number."""
        kind = self.proto.WhichOneof("value")
        return kind not in (TENSOR, SPARSE) or getattr(self.proto, kind).elem_type in _element_types()

    @cached_property
    def sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of a tensor, None for those that are not numbers; None if the rank is unknown."""
        shape = shape_of(self.proto)
        if shape is None:
            return None
        return tuple([d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in shape.dim])

    @cached_property
    def text(self) -> str:
        """The type as ONNX writes it, such as ``tensor(float)``.

        >>> tensor_type(1, [2]).text
        'tensor(float)'
        """
        return _text_of(self.proto)


@lru_cache(maxsize=4096)
def _interned(written: bytes) -> ValueType:
    return ValueType(written)


@cache
def _element_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset(TensorProto.DataType.values())


def tensor_type(dtype: int, dims: Iterable[int]) -> ValueType:
    """Return the type of a tensor whose sizes are numbers."""
    return _tensor_type(dtype, tuple(dims))


@lru_cache(maxsize=4096)
def _tensor_type(dtype: int, dims: tuple[int, ...]) -> ValueType:
    from onnx import TypeProto

    made = TypeProto()
    made.tensor_type.elem_type = dtype
    made.tensor_type.shape.SetInParent()
    for size in dims:
        made.tensor_type.shape.dim.add().dim_value = size
    return ValueType.of(made)


def declared_type(declared: Any) -> ValueType:
    """Return a declared type without invalid sizes: negative numbers and names without a letter.

    As ``RemoveInvalidValues`` in ONNX Runtime's graph.cc does.
    """
    return _without_invalid(ValueType.of(declared))


@lru_cache(maxsize=4096)
def _without_invalid(declared: ValueType) -> ValueType:
    made = declared.copy()
    for dim in made.tensor_type.shape.dim if made.WhichOneof("value") == TENSOR else ():
        kind = dim.WhichOneof("value")
        if (kind == "dim_param" and not dim.dim_param) or (kind == "dim_value" and dim.dim_value < 0):
            dim.ClearField(kind)
    return ValueType.of(made)


def is_known(found: ValueType | None) -> bool:
    """Return whether a type is known at all."""
    return found is not None and found.is_known


def shape_of(found: Any) -> Any | None:
    """Return the shape in a message of a type; None where it has none."""
    kind = found.WhichOneof("value")
    if kind not in (TENSOR, SPARSE):
        return None
    held = getattr(found, kind)
    return held.shape if held.HasField("shape") else None


def without_shape(found: ValueType) -> ValueType:
    """Return the type of a tensor without its shape; other types as they are."""
    if found.proto.WhichOneof("value") != TENSOR:
        return found
    made = found.copy()
    made.tensor_type.ClearField("shape")
    return ValueType.of(made)


@lru_cache(maxsize=4096)
def kept_type(written: bytes) -> ValueType:
    """Return an inferred type as ONNX Runtime keeps it: without the shapes of elements of sequences."""
    inferred = ValueType(written)
    element = inferred.proto
    if element.WhichOneof("value") != "sequence_type":
        return _interned(written)
    made = element = inferred.copy()
    while element.WhichOneof("value") == "sequence_type":
        element = element.sequence_type.elem_type
    if element.WhichOneof("value") == TENSOR:
        element.tensor_type.ClearField("shape")
    return ValueType.of(made)


def _text_of(found: Any) -> str:
    kind = found.WhichOneof("value")
    if kind in (TENSOR, SPARSE):
        return f"{'sparse_' if kind == SPARSE else ''}tensor({_name(getattr(found, kind).elem_type)})"
    if kind == "sequence_type":
        return f"seq({_text_of(found.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({_text_of(found.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({_name(found.map_type.key_type)},{_text_of(found.map_type.value_type)})"
    return ""


@cache
def _name(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()


@lru_cache(maxsize=4096)
def merged(inferred: ValueType, kept: ValueType) -> tuple[ValueType, bool]:
    """Return a kept type with an inferred shape merged into it, and whether the two agree.

    Like onnx's ``mergeInShapeInfo``: kept sizes take precedence over inferred ones, and numbers over names. After a
    contradiction the sizes that differ are unknown (``UnionShapeInfo``): ONNX Runtime only warns about it.
    """
    found = shape_of(inferred.proto)
    if found is None:
        return kept, True
    made = kept.copy()
    before = shape_of(made)
    if before is None:
        getattr(made, made.WhichOneof("value")).shape.CopyFrom(found)
        return ValueType.of(made), True
    if len(before.dim) != len(found.dim):
        getattr(made, made.WhichOneof("value")).ClearField("shape")
        return ValueType.of(made), False
    pairs = list(zip(found.dim, before.dim, strict=True))
    agree = all(_fit(new, old) for new, old in pairs)
    for new, old in pairs:
        if agree:
            _merge_size(new, old)
        elif new != old:
            old.Clear()
    return ValueType.of(made), agree


def _fit(new: Any, old: Any) -> bool:
    both_numbers = new.WhichOneof("value") == old.WhichOneof("value") == "dim_value"
    return not both_numbers or bool(new.dim_value == old.dim_value)


def _merge_size(new: Any, old: Any) -> None:
    kind = new.WhichOneof("value")
    if kind == "dim_value" or (kind == "dim_param" and old.WhichOneof("value") is None):
        old.CopyFrom(new)
