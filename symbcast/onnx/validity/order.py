"""Sort nodes so that each value is made before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbcast.onnx.validity.faults import Source, label


def in_order(model: Any, source: Source) -> Any:
    """Return a copy of a model with its main graph sorted; raises `ModelError` if the nodes form a cycle.

    ONNX Runtime does the same: see ``Graph::PerformTopologicalSortAndCheckIsAcyclic``.
    """
    nodes = list(model.graph.node)
    maker = {name: n for n, node in enumerate(nodes) for name in node.output}
    needs = [{maker[name] for name in _used(node) if name in maker} for node in nodes]
    users: list[list[int]] = [[] for _ in nodes]
    for n, needed in enumerate(needs):
        for other in needed:
            users[other].append(n)
    left = [len(needed) for needed in needs]
    order = [n for n, count in enumerate(left) if not count]
    for n in order:
        for user in users[n]:
            left[user] -= 1
            if not left[user]:
                order.append(user)
    if len(order) < len(nodes):
        raise source.fault(_circle(nodes, needs, next(n for n, count in enumerate(left) if count), left))
    made = type(model)()
    made.CopyFrom(model)
    del made.graph.node[:]
    made.graph.node.extend(nodes[n] for n in order)
    return made


def _used(node: Any) -> Iterator[str]:
    """Yield the names that a node uses, including those used in its graphs."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield from found.input
        for attribute in found.attribute:
            for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                pending.extend(graph.node)


def _circle(nodes: list[Any], needs: list[set[int]], start: int, left: list[int]) -> str:
    """Return the message for a cycle of nodes, found by following inputs back until a node repeats."""
    way, places, n = [start], {start: 0}, start
    while True:
        n = min(other for other in needs[n] if left[other])
        if n in places:
            break
        places[n] = len(way)
        way.append(n)
    circle = [label(nodes[n]) for n in (n, *reversed(way[places[n] :]))]
    shown = circle if len(circle) <= 6 else [*circle[:5], "...", circle[-1]]
    return f"nodes depend on each other in a cycle: {' -> '.join(shown)}"
