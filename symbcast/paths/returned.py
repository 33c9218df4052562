"""What a run returned, as it outlives the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symbcast.core.algebra.door import to_sympy
from symbcast.paths.real import Real
from symbcast.paths.size import Size


def told(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a value in its structure, with sizes as expressions and what ``leaf`` says of anything else.

    Of a number that depends on sizes and is no size there is left that it is a ``float``.
    """
    if issubclass(type(value), Size):
        return to_sympy(value.dim)
    if type(value) is Real:
        return float
    if type(value) in (tuple, list):
        return type(value)(told(v, leaf) for v in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(told(v, leaf) for v in value))
    if isinstance(value, Mapping):
        return {told(k, leaf): told(v, leaf) for k, v in value.items()}
    return leaf(value)
