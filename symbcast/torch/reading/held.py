"""Tensors stored in a program; their elements are read on demand."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from symbcast.graphs.values.contents import Content, Elements, Ramp, from_array
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Constant
from symbcast.torch.reading.element_types import number_of


def _is_listed(content: Content | None) -> bool:
    return content is None or isinstance(content, Elements | Ramp)


_LARGEST = 1 << 22
"""The largest number of elements that is read."""


class Held(Constant):
    """A tensor stored in a program. If it is fake (the program writes to it), data decide its elements."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor, tuple(tensor.shape), number_of(tensor.dtype))
        if self._is_fake:
            self.decided_by = Decider.DATA

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the elements that are known; None if these are not listed."""
        content = self.content
        return (Held, self.shape, self.dtype, self.decided_by, content) if _is_listed(content) else None

    @property
    def _is_fake(self) -> bool:
        return hasattr(self.raw, "fake_mode") or bool(self.raw.is_meta)

    def read(self) -> Content | None:
        """Return the elements of an integer or boolean tensor; None for others, fake tensors and very large ones."""
        if self.dtype not in INTEGERS | {BOOL} or self._is_fake or self.raw.numel() > _LARGEST:
            return None
        return from_array(self.raw.detach().cpu().contiguous().numpy())
