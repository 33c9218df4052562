"""The numbers of a ``TensorProto``, where the model holds them or they lie beside it."""

from __future__ import annotations

from typing import Any

EXTERNAL = 1


def read_array(tensor: Any) -> Any:
    """Return a tensor as a numpy array; None where its data are outside the model, or cannot be read."""
    from onnx import numpy_helper

    if tensor.data_location == EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None  # a broken tensor: what needs its numbers goes without
