"""The graphs of a model: the main graph and those inside nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

GRAPH, GRAPHS = 5, 10


def graphs_of(graph: Any) -> Iterator[Any]:
    """Yield a graph and all graphs nested in it."""
    pending = [graph]
    while pending:
        found = pending.pop()
        yield found
        for node in found.node:
            pending.extend(graphs_in(node))


def graphs_in(node: Any) -> list[Any]:
    """Return the graphs that a node holds, such as the branches of If."""
    found = []
    for attribute in node.attribute:
        if attribute.type == GRAPH:
            found.append(attribute.g)
        elif attribute.type == GRAPHS:
            found.extend(attribute.graphs)
    return found
