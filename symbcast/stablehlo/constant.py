"""The constants of a module; their elements are read on demand."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod
from typing import Any

from symbcast.graphs.operators.making import filled
from symbcast.graphs.values.contents import MAX_ELEMENTS, Content, Elements, from_array, from_numbers
from symbcast.graphs.values.numbers import BOOL, INTEGERS
from symbcast.graphs.values.value import Constant
from symbcast.stablehlo.attributes import TensorType, attribute_of, splat_of

_LONGEST, _FEW = 1 << 16, 64
"""How many integers are read, as longer constants are data; how many elements are listed if all are the same."""


class Held(Constant):
    """The constant of an operation, which is ``raw``."""

    def __init__(self, op: Any, kind: TensorType) -> None:
        super().__init__(op, tuple(n or 0 for n in kind.sizes or ()), kind.dtype)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data, of which MLIR keeps equal ones once."""
        try:
            return Held, self.shape, self.dtype, self.raw.attributes["value"]
        except TypeError:  # the bindings have no class for it
            return None

    def read(self) -> Content | None:
        """Return the elements of short tensors, of long ones of integers, and of those with one number everywhere."""
        import numpy as np

        dims, number = self.shape or (), splat_of(self.raw, "value")
        count = prod(n for n in dims if isinstance(n, int))
        if number is not None:
            (item,) = from_numbers([number]).items
            return Elements((item,) * count) if count <= _FEW else filled(item, dims)
        is_read = count <= (_LONGEST if self.dtype in INTEGERS or self.dtype == BOOL else MAX_ELEMENTS)
        array = attribute_of(self.raw, "value") if is_read else None  # a resource stays an attribute
        return from_array(array) if isinstance(array, np.ndarray) else None
