"""Which values of a graph are written to after they were computed, directly or through a view of their memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from symbcast.torch.reading.library import node_class

INLINED = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
"""Calls whose inner graph is inlined, and the position of the graph among their arguments."""
_WITHOUT_WRITING = frozenset(
    f"{n}_"
    for n in ("detach", "requires_grad", "squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided")
)
"""Operators in place that change no elements."""


def overwritten(module: Any) -> frozenset[Any]:
    """Return the nodes of a graph whose memory a later node writes to."""
    if not any(map(_may_write, {node.target for node in module.graph.nodes})):
        return frozenset()
    owners, last = _memories(module)
    places = {node: place for place, node in enumerate(owners)}
    return frozenset(node for node, owner in owners.items() if last.get(owner, -1) > places[node])


def _may_write(target: Any) -> bool:
    """Return whether a function may write to its arguments."""
    aliased = _aliased(target)
    return getattr(target, "__name__", "") in INLINED if aliased is None else any(a.is_written for a in aliased)


def _memories(module: Any) -> tuple[dict[Any, Any], dict[Any, int]]:
    """Return the first node with the memory of each node, and for these the last place at which it is written to."""
    owners: dict[Any, Any] = {}
    last: dict[Any, int] = {}
    for place, node in enumerate(module.graph.nodes):
        owners[node] = node
        for given, is_written in _shared(module, node):
            owner = owners.get(given, given)
            owners[node] = owner
            if is_written:
                last[owner] = place
    return owners, last


def _shared(module: Any, node: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the arguments whose memory a node returns or writes to, and whether it writes."""
    aliased = _aliased(node.target)
    if aliased is not None:
        for argument in aliased:
            given = node.args[argument.place : argument.place + 1] or (node.kwargs.get(argument.name),)
            yield from ((n, argument.is_written) for n in _nodes_in(given))
        return
    name = getattr(node.target, "__name__", "")
    if name == "getitem":
        yield node.args[0], False
    elif name in INLINED and node.op == "call_function":
        start = INLINED[name]
        inner = getattr(module, str(node.args[start].target))
        owners, last = _memories(inner)
        placeholders = [n for n in owners if n.op == "placeholder"]
        for outer, own in zip(node.args[start + 1 :], placeholders, strict=False):
            if hasattr(outer, "op") and (own in last or any(o is own for n, o in owners.items() if n is not own)):
                yield outer, own in last


class _Aliased(NamedTuple):
    """An argument whose memory an operator returns or writes to."""

    place: int
    name: str
    is_written: bool


@lru_cache(maxsize=1024)
def _aliased(target: Any) -> tuple[_Aliased, ...] | None:
    """Return the arguments whose memory an operator returns or writes to; None for other functions.

    It is read once for all nodes: most operators have no such argument, and their schemas take long to read.
    """
    schema = getattr(target, "_schema", None)
    if schema is None:
        return None
    changes = schema.name.partition("::")[2] not in _WITHOUT_WRITING
    return tuple(
        _Aliased(place, argument.name, changes and argument.alias_info.is_write)
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None
    )


def _nodes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _nodes_in(part)
    elif isinstance(value, node_class()):
        yield value
