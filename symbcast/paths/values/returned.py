"""Convert the result of a run to a value that outlives the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symbcast.paths.values.real import Real
from symbcast.paths.values.size import Size


def told(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return a value in its own structure, with sizes as expressions and ``leaf`` applied to anything else.

    A number that depends on sizes but is not a size becomes the type ``float``.
    """
    if issubclass(type(value), Size):
        from symbcast.core.algebra.door import to_sympy

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
