"""Arguments and recorded results of a node as keys, which are equal where nodes differ only in names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

_PLAIN = frozenset({bool, int, float, complex, str, type(None)})


def described(value: Any, places: Mapping[Any, int], torch: Any) -> Hashable:
    """Return a value as a key; ``places`` numbers the nodes that it may hold, ``torch`` is the module.

    Raises `TypeError` for a value of a type that is not compared here.

    >>> one, other = (described([1, n], {}, None) for n in (1, True))
    >>> one == other
    False
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, list | tuple):
        return tuple([described(v, places, torch) for v in value])
    if isinstance(value, dict):
        return tuple([(key, described(v, places, torch)) for key, v in value.items()])
    if kind is torch.fx.Node:
        if value not in places:
            raise TypeError(f"{value} is not an input")
        return kind, places[value]
    if isinstance(value, torch.Tensor):
        return torch.Tensor, value.dtype, described(tuple(value.shape), places, torch)
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return kind, value.node.expr
    if isinstance(value, torch.dtype | torch.device | torch.layout | torch.memory_format):
        return str(value)
    raise TypeError(f"{kind.__name__} is not compared")
