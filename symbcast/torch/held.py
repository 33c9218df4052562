"""The tensors that a program holds; their elements are read when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from symbcast.onnx.values.contents import Content, from_array
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.numbers import BOOL, INTEGERS
from symbcast.onnx.values.value import Constant, Value
from symbcast.torch.element_types import number_of

_LARGEST = 1 << 22
"""How many elements are read at most."""


class Held(Constant):
    """A tensor that a program holds. Of one without elements, which the program writes, data decide what is in it."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        Value.__init__(self, tuple(tensor.shape), number_of(tensor.dtype))
        self.decided_by = Decider.DATA if self._is_fake else Decider.NUMBERS

    @property
    def _is_fake(self) -> bool:
        return hasattr(self.tensor, "fake_mode") or self.tensor.is_meta

    @cached_property
    def _read(self) -> Content | None:
        if self.dtype not in INTEGERS | {BOOL} or self._is_fake or self.tensor.numel() > _LARGEST:
            return None
        return from_array(self.tensor.detach().cpu().contiguous().numpy())
