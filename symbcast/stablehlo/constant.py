"""The constants of a module; their elements are read on demand."""

from __future__ import annotations

from math import prod
from typing import Any

from symbcast.graphs.operators.making import filled
from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, from_array, from_numbers
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Constant
from symbcast.stablehlo.attributes import TensorType, array_of, plain

_LONGEST = 1 << 16
"""How many integers are read: longer constants are data."""


class Held(Constant):
    """The constant of an operation; ``raw`` is its attribute."""

    def __init__(self, attribute: Any, kind: TensorType) -> None:
        super().__init__(attribute, tuple(n or 0 for n in kind.sizes or ()), kind.dtype)

    def read(self) -> Content | None:
        """Return the elements of short tensors, of long ones of integers, and of those with one number everywhere."""
        dims = self.shape or ()
        count = prod(n for n in dims if isinstance(n, int))
        if getattr(self.raw, "is_splat", False):
            number = plain(self.raw.get_splat_value())
            is_whole = isinstance(number, (int, float)) and number == int(number) if _is_finite(number) else False
            return filled(int(number), dims) if is_whole and count else None
        if not hasattr(self.raw, "is_splat"):
            return from_numbers([plain(self.raw)]) if isinstance(plain(self.raw), (int, float)) else None
        is_read = count <= (_LONGEST if self.dtype in INTEGERS or self.dtype == BOOL else MAX_ELEMENTS)
        array = array_of(self.raw) if is_read else None
        return None if array is None else from_array(array)


def _is_finite(number: Any) -> bool:
    return isinstance(number, (int, float)) and abs(number) < float("inf")
