"""Arguments and recorded results of a node as keys, which are equal where nodes differ only in names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, NamedTuple

from symbcast.torch.reading.library import load, node_class

_PLAIN = frozenset({bool, int, float, complex, str, type(None)})


class _Types(NamedTuple):
    """The types of torch that are compared."""

    node: Any
    tensor: Any
    symbolic: Any
    written: Any


@cache
def _types() -> _Types:
    torch = load()
    return _Types(
        node_class(),
        torch.Tensor,
        (torch.SymInt, torch.SymFloat, torch.SymBool),
        (torch.dtype, torch.device, torch.layout, torch.memory_format),
    )


def described(value: Any, places: Mapping[Any, int]) -> Hashable:
    """Return a value as a key; ``places`` numbers the nodes that it may hold.

    Raises `TypeError` for a value of a type that is not compared here.

    >>> one, other = (described([1, n], {}) for n in (1, True))
    >>> one == other
    False
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, list | tuple):
        return tuple([described(v, places) for v in value])
    if isinstance(value, dict):
        return tuple([(key, described(v, places)) for key, v in value.items()])
    types = _types()
    if kind is types.node:
        if value not in places:
            raise TypeError(f"{value} is not an input")
        return kind, places[value]
    if isinstance(value, types.tensor):
        return types.tensor, value.dtype, tuple([described(size, places) for size in value.shape])
    if isinstance(value, types.symbolic):
        return kind, value.node.expr
    if isinstance(value, types.written):
        return str(value)
    raise TypeError(f"{kind.__name__} is not compared")


def described_type(value: Any, places: Mapping[Any, int]) -> Hashable:
    """Return a recorded result as a key, as `described` does; a tensor without its sizes.

    Raises `TypeError` for a value of a type that is not compared here.
    """
    if isinstance(value, list | tuple):
        return tuple([described_type(v, places) for v in value])
    if isinstance(value, _types().tensor):
        return value.dtype, value.ndim
    return described(value, places)
