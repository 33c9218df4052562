"""The numbers of a ``TensorProto``, where the model holds them or they lie beside it."""

from __future__ import annotations

import struct
from typing import Any

EXTERNAL = 1

_SHORT = 16
"""Up to how many numbers are read without numpy, which takes longer to start than they take to read."""
_CODES = {1: "f", 6: "i", 7: "q", 9: "?", 11: "d"}
"""The element types, of those that shapes are made with, by the letters of `struct`."""


def read_short(tensor: Any) -> list[Any] | None:
    """Return the numbers of a short tensor whose data are bytes in the model; None of others."""
    code = _CODES.get(tensor.data_type)
    count = 1
    for size in tensor.dims:
        count *= size
    if code is None or not 0 < count <= _SHORT or tensor.data_location == EXTERNAL:
        return None
    raw = tensor.raw_data
    layout = f"<{count}{code}"
    return list(struct.unpack(layout, raw)) if len(raw) == struct.calcsize(layout) else None


def read_array(tensor: Any) -> Any:
    """Return a tensor as a numpy array; None where its data are outside the model, or cannot be read."""
    from onnx import numpy_helper

    if tensor.data_location == EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None  # a broken tensor: what needs its numbers goes without
