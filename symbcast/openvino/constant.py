"""Constants of a model, whose elements are read on demand."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod
from typing import Any

from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, from_array
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Constant
from symbcast.openvino.element_types import number_of

_REALS = frozenset({1, 10, 11})
_READ = INTEGERS | _REALS | {BOOL}


def shape_of(op: Any) -> tuple[int, ...]:
    """Return the shape of a node's output if it is static; iterating over an ``ov.Shape`` takes ten times as long."""
    shape = op.get_output_shape(0)
    return tuple([shape[axis] for axis in range(len(shape))])


class Held(Constant):
    """The constant of a Constant node."""

    def __init__(self, op: Any) -> None:
        shape = shape_of(op)
        super().__init__(op, shape, number_of(op.get_output_element_type(0)))
        self._is_long = prod(shape) > MAX_ELEMENTS

    def read(self) -> Content | None:
        """Return the elements of short tensors, and of long integer tensors."""
        is_whole = self.dtype in INTEGERS or self.dtype == BOOL
        if not is_whole and (self.dtype not in _REALS or self._is_long):
            return None
        return from_array(self.array)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data of a constant that is short enough to be listed."""
        if self.dtype not in _READ:
            return None
        return Held, self.shape, self.dtype, None if self._is_long else self.raw.get_data().tobytes()

    @property
    def array(self) -> Any:
        """The numbers."""
        self.was_read = self._is_long
        return self.raw.get_data()
