"""The types of values as ONNX Runtime keeps them while it opens a model: declared ones, merged with inferred ones."""

from __future__ import annotations

from functools import cache
from typing import Any

TENSOR, SPARSE = "tensor_type", "sparse_tensor_type"


def tensor_type(dtype: int, dims: Any) -> Any:
    """Return the type of a tensor whose sizes are numbers."""
    from onnx import TypeProto

    made = TypeProto()
    made.tensor_type.elem_type = dtype
    made.tensor_type.shape.SetInParent()
    for size in dims:
        made.tensor_type.shape.dim.add().dim_value = size
    return made


def declared_type(declared: Any) -> Any:
    """Return a declared type without invalid sizes: negative numbers and names without a letter.

    As ``RemoveInvalidValues`` in ONNX Runtime's graph.cc does.
    """
    made = type(declared)()
    made.CopyFrom(declared)
    for dim in made.tensor_type.shape.dim if made.WhichOneof("value") == TENSOR else ():
        kind = dim.WhichOneof("value")
        if (kind == "dim_param" and not dim.dim_param) or (kind == "dim_value" and dim.dim_value < 0):
            dim.ClearField(kind)
    return made


def has_type(found: Any) -> bool:
    """Return whether a type is known at all."""
    kind = None if found is None else found.WhichOneof("value")
    return kind is not None and (kind not in (TENSOR, SPARSE) or bool(getattr(found, kind).elem_type))


def is_real(found: Any) -> bool:
    """Return whether the element type of a tensor exists; an attribute can hold any number."""
    from onnx import TensorProto

    kind = found.WhichOneof("value")
    return kind not in (TENSOR, SPARSE) or getattr(found, kind).elem_type in TensorProto.DataType.values()


def shape_of(found: Any) -> Any | None:
    """Return the shape in a type; None where it has none."""
    kind = found.WhichOneof("value")
    if kind not in (TENSOR, SPARSE):
        return None
    held = getattr(found, kind)
    return held.shape if held.HasField("shape") else None


def sizes_in(found: Any) -> list[int | None] | None:
    """Return the sizes in a type, None for those that are not numbers; None if the rank is unknown."""
    shape = None if found is None else shape_of(found)
    if shape is None:
        return None
    return [d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in shape.dim]


def kept_type(inferred: Any) -> Any:
    """Return an inferred type as ONNX Runtime keeps it: without the shapes of elements of sequences."""
    if inferred.WhichOneof("value") != "sequence_type":
        return inferred
    made = type(inferred)()
    made.CopyFrom(inferred)
    element = made
    while element.WhichOneof("value") == "sequence_type":
        element = element.sequence_type.elem_type
    if element.WhichOneof("value") == TENSOR:
        element.tensor_type.ClearField("shape")
    return made


def text_of(found: Any) -> str:
    """Return a type as ONNX writes it, such as ``tensor(float)``.

    >>> text_of(tensor_type(1, [2]))
    'tensor(float)'
    """
    kind = found.WhichOneof("value")
    if kind in (TENSOR, SPARSE):
        return f"{'sparse_' if kind == SPARSE else ''}tensor({_name(getattr(found, kind).elem_type)})"
    if kind == "sequence_type":
        return f"seq({text_of(found.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({text_of(found.optional_type.elem_type)})"
    if kind == "map_type":
        return f"map({_name(found.map_type.key_type)},{text_of(found.map_type.value_type)})"
    return ""


@cache
def _name(dtype: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(dtype)).lower()


def merge(inferred: Any, kept: Any) -> bool:
    """Merge an inferred shape into the kept type; return False if the two contradict each other.

    Like onnx's ``mergeInShapeInfo``: kept sizes take precedence over inferred ones, and numbers over names. After a
    contradiction the sizes that differ are unknown (``UnionShapeInfo``): ONNX Runtime only warns about it.
    """
    found = shape_of(inferred)
    if found is None:
        return True
    before = shape_of(kept)
    if before is None:
        getattr(kept, kept.WhichOneof("value")).shape.CopyFrom(found)
        return True
    if len(before.dim) != len(found.dim):
        getattr(kept, kept.WhichOneof("value")).ClearField("shape")
        return False
    pairs = list(zip(found.dim, before.dim, strict=True))
    agree = all(_fit(new, old) for new, old in pairs)
    for new, old in pairs:
        if agree:
            _merge_size(new, old)
        elif new != old:
            old.Clear()
    return agree


def _fit(new: Any, old: Any) -> bool:
    both_numbers = new.WhichOneof("value") == old.WhichOneof("value") == "dim_value"
    return not both_numbers or bool(new.dim_value == old.dim_value)


def _merge_size(new: Any, old: Any) -> None:
    kind = new.WhichOneof("value")
    if kind == "dim_value" or (kind == "dim_param" and old.WhichOneof("value") is None):
        old.CopyFrom(new)
