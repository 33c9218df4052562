"""Types as values of a walk, for findings, and values as types."""

from __future__ import annotations

from symbcast.graphs.values.value import Value
from symbcast.onnx.opening.types import ValueType


def value_of(found: ValueType | None) -> Value | None:
    """Return the value of a type, with its shape where all its sizes are numbers; None for an input left out."""
    if found is None:
        return None
    sizes = found.sizes
    shape = None if sizes is None else tuple(n for n in sizes if n is not None)
    is_known = sizes is not None and shape is not None and len(shape) == len(sizes)
    return Value(shape if is_known else None, found.proto.tensor_type.elem_type)


def type_of(value: Value) -> ValueType:
    """Return the type of a value, with sizes that are numbers; an empty type if it is not a tensor."""
    from onnx import TypeProto

    made = TypeProto()
    if type(value) is not Value or not value.dtype:
        return ValueType.of(made)
    made.tensor_type.elem_type = value.dtype
    if value.shape is not None:
        made.tensor_type.shape.SetInParent()
        for size in value.shape:
            dim = made.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
    return ValueType.of(made)
