"""Constants of a model, whose elements are read on demand."""

from __future__ import annotations

from math import prod
from typing import Any

from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, from_array
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Constant
from symbcast.openvino.element_types import number_of

_REALS = frozenset({1, 10, 11})


class Held(Constant):
    """The constant of a Constant node."""

    def __init__(self, op: Any) -> None:
        super().__init__(op, tuple(op.get_output_shape(0)), number_of(op.get_output_element_type(0)))

    def read(self) -> Content | None:
        """Return the elements of short tensors, and of long integer tensors."""
        is_whole = self.dtype in INTEGERS or self.dtype == BOOL
        if not is_whole and (self.dtype not in _REALS or prod(self.raw.get_output_shape(0)) > MAX_ELEMENTS):
            return None
        return from_array(self.array)

    @property
    def array(self) -> Any:
        """The numbers."""
        return self.raw.get_data()
