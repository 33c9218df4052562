"""The inputs and outputs that a contract is about: their shapes and element types."""

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
    """An input or output.

    Attributes:
        shape: Its shape; None if unknown.
        element_type: NumPy's name of its element type; empty if unknown.
        declared: What the model's own file says about its axes: numbers, and None for a size that is open. None if that
            is unknown. A fixed size of the answer may be open here, and a target that compares a text with the model
            compares it with this.
    """

    shape: Shape | None
    element_type: str = ""
    declared: tuple[int | None, ...] | None = None

    @property
    def axes(self) -> tuple[int | None, ...] | None:
        """The axes in the model, as far as they are known: as declared, else numbers of the shape; None if unknown."""
        if self.declared is not None:
            return self.declared
        if self.shape is None or self.shape.rank is None:
            return None
        return tuple(d if isinstance(d, int) else None for d in self.shape.dims)
