"""The constants of a model; their numbers are read when they are asked for."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any

from symbcast.onnx.values.contents import MAX_ELEMENTS, Content, from_array
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.numbers import BOOL, INTEGERS
from symbcast.onnx.values.value import Constant, Value
from symbcast.openvino.element_types import number_of

_REALS = frozenset({1, 10, 11})


class Held(Constant):
    """A constant that a node of type Constant holds."""

    __slots__ = ("op",)

    def __init__(self, op: Any) -> None:
        self.op = op
        Value.__init__(self, tuple(op.get_output_shape(0)), number_of(op.get_output_element_type(0)))
        self.decided_by = Decider.NUMBERS

    @cached_property
    def _read(self) -> Content | None:
        is_whole = self.dtype in INTEGERS or self.dtype == BOOL
        if not is_whole and (self.dtype not in _REALS or prod(self.op.get_output_shape(0)) > MAX_ELEMENTS):
            return None
        return from_array(self.array)

    @property
    def array(self) -> Any:
        """The numbers."""
        return self.op.get_data()
