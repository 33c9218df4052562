"""What a traced function returned, as it outlives the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symbcast.algebra.door import to_sympy
from symbcast.arrays.symbolic_array import SymbolicArray
from symbcast.paths.real import Real
from symbcast.paths.size import Size
from symbcast.shapes import shape_of


def told(value: Any) -> Any:
    """Return what a function returned, in its structure: of arrays their shapes, of sizes expressions."""
    kind = type(value)
    if kind is SymbolicArray:
        return shape_of(value.dims)
    if kind is Size:
        return to_sympy(value.dim)
    if kind is Real:
        return float
    if isinstance(value, np.ndarray):
        return shape_of(value.shape)
    if kind in (tuple, list):
        return kind(map(told, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(told, value))
    if isinstance(value, Mapping):
        return {k: told(v) for k, v in value.items()}
    return value
