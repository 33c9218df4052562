"""The inputs that a contract is about: their shapes and element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from symbcast.core.shapes import Shape

ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}
"""NumPy's names of element types by their numbers in ONNX's ``TensorProto.DataType``."""


class Tensor(NamedTuple):
    """An input or output: its shape, None if unknown, and NumPy's name of its element type, empty if unknown."""

    shape: Shape | None
    element_type: str = ""
