"""Check that a model's tensors have the amount of data that their shapes require."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

_STRING, _EXTERNAL = 8, 1
_MAX_READ = 1 << 16
"""The largest tensor, in bytes, whose data are counted: protobuf copies them, and weights are large."""
_MAX_HELD = 1 << 31
"""The largest size of a protobuf message, in bytes."""

_BITS: Mapping[int, int] = {
    **dict.fromkeys((25, 26), 2),
    **dict.fromkeys((21, 22, 23), 4),
    **dict.fromkeys((2, 3, 9, 17, 18, 19, 20, 24), 8),
    **dict.fromkeys((4, 5, 10, 16), 16),
    **dict.fromkeys((1, 6, 12), 32),
    **dict.fromkeys((7, 11, 13, 14), 64),
    15: 128,
}
"""How many bits an element of each type takes in ``raw_data``."""

_FIELDS: Mapping[int, tuple[str, int]] = {
    1: ("float_data", 1),
    14: ("float_data", 2),
    11: ("double_data", 1),
    15: ("double_data", 2),
    **dict.fromkeys((12, 13), ("uint64_data", 1)),
    7: ("int64_data", 1),
    _STRING: ("string_data", 1),
}
"""The fields for elements outside ``raw_data``, and how many numbers each element takes.

All other types are in ``int32_data``: one element to a number, or as many as fit into a byte.
"""


def problem_of(tensor: Any) -> str | None:
    """Return what is wrong with a tensor, as the end of a sentence; None if it is valid.

    >>> from onnx import TensorProto
    >>> problem_of(TensorProto(name="w", data_type=1, dims=[2, 3], raw_data=b"12345678"))
    'has 8 bytes of data, and its shape (2, 3) takes 24'
    """
    dtype = tensor.data_type
    if dtype not in _BITS and dtype != _STRING and (not dtype or dtype not in _known_types()):
        return f"has the unknown element type {dtype}"
    dims = tensor.dims
    if dims and min(dims) < 0:
        return f"has the shape {_shape(dims)}: no size can be negative"
    if tensor.data_location == _EXTERNAL:
        is_located = any(entry.key == "location" for entry in tensor.external_data)
        return None if is_located else "has its data in another file, but does not name it"
    return _of_data(tensor, _count(dims)) if dtype in _BITS or dtype == _STRING else None


def _of_data(tensor: Any, count: int) -> str | None:
    dtype = tensor.data_type
    if tensor.HasField("raw_data"):
        if dtype == _STRING:
            return "holds strings, which cannot be in raw_data"
        needed, found, what = (count * _BITS[dtype] + 7) // 8, None, "bytes of data"
        if needed <= _MAX_READ:
            found = len(tensor.raw_data)
    else:
        field, each = _FIELDS.get(dtype, ("int32_data", 1))
        is_packed = _BITS.get(dtype, 8) < 8
        needed = (count * _BITS[dtype] + 7) // 8 if is_packed else count * each
        found, what = len(getattr(tensor, field)), f"elements in {field}"
    if found is not None and found != needed:
        return f"has {found} {what}, and its shape {_shape(tensor.dims)} takes {needed}"
    if needed > _MAX_HELD:
        return f"has the shape {_shape(tensor.dims)}, which takes {needed} bytes or more: no model can hold that"
    return None


def sparse_problem_of(tensor: Any) -> str | None:
    """Return what is wrong with a sparse tensor, as the end of a sentence; None if it is valid.

    ONNX Runtime makes the tensor dense when it opens a model, so the index of each value must be within the shape.
    """
    values, indices, dims = tensor.values, tensor.indices, tensor.dims
    for part, what in ((values, "values"), (indices, "indices")):
        problem = problem_of(part)
        if problem is not None:
            return f"has invalid {what}: the tensor {problem}"
    if any(d < 0 for d in dims):
        return f"has the shape {_shape(dims)}: no size can be negative"
    count = _count(values.dims)
    wanted = ([count], [count, len(dims)])
    if list(indices.dims) not in wanted:
        return f"has indices of shape {_shape(indices.dims)}; for {count} values it must be {_shape(wanted[0])}"
    return _of_places(tensor, count)


def _of_places(tensor: Any, count: int) -> str | None:
    """Return the problem of a sparse tensor with an index outside its shape; None if there is none."""
    from onnx import numpy_helper

    if tensor.indices.data_location == _EXTERNAL or count > _MAX_READ:
        return None
    sizes = list(tensor.dims) if len(tensor.indices.dims) > 1 else [_count(tensor.dims)]
    for place in numpy_helper.to_array(tensor.indices).reshape(-1, len(sizes)):
        for index, size in zip(place.tolist(), sizes, strict=True):
            if not 0 <= index < size:
                return f"has the index {index}, which is not within 0 to {size - 1}"
    return None


def _count(dims: Any) -> int:
    """Return the number of elements; inexact if no model could hold that many."""
    count = 0 if 0 in dims else 1
    for size in dims:
        count *= size
        if count > _MAX_HELD << 8:
            break
    return count


def _shape(dims: Any) -> str:
    shown = ", ".join(map(str, dims[:8])) + (", ..." if len(dims) > 8 else "," if len(dims) == 1 else "")
    return f"({shown})"


@cache
def _known_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset(TensorProto.DataType.values())
