"""Find where the sizes and constants of a model come from: an axis of an input, or an initializer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.graphs.graph import Graph, Node
    from symbcast.operators.context import Dims

_LOOKED_AT = 60
"""How many nodes before a node are searched for the constant that fixes a size."""


class Held(NamedTuple):
    """A constant in the model: an initializer, or the output of a Constant node."""

    name: str
    dims: tuple[int, ...]
    is_initializer: bool = True

    def __str__(self) -> str:
        kind = "initializer" if self.is_initializer else "constant"
        return f"{kind} {self.name} of shape {self.dims}"


_REARRANGING = frozenset(("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
"""Operators whose output has all elements of their first input, and no others."""


class Sources:
    """The sources of sizes and constants in one model."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Dims | None]) -> None:
        self._graph = graph
        self._inputs = inputs

    def axis_of(self, symbol: Symbol) -> tuple[str, int] | None:
        """Return the first input with an axis of this size, and the axis."""
        for name, shape in self._inputs.items():
            for axis, dim in enumerate(shape or ()):
                if dim == symbol:
                    return name, axis
        return None

    def held(self, name: str) -> Held | None:
        """Return the constant with the given name."""
        return self._constants.get(name)

    def before(self, node: Node, size: int) -> Held | None:
        """Return the nearest constant before a node that has an axis of the given size."""
        pending: deque[str] = deque(node.inputs)
        seen: set[str] = set(pending)
        for _ in range(_LOOKED_AT):
            if not pending:
                return None
            name = pending.popleft()
            found = self._constants.get(name)
            if found is not None and size in found.dims:
                return found
            maker = self._makers.get(name)
            if maker is not None:
                following = [n for n in maker.inputs if n not in seen]
                seen.update(following)
                pending.extend(following)
        return None

    def rearranged(self, node: Node) -> Iterator[Node]:
        """Yield the nodes after a node that get its elements, all of them, only arranged in another way."""
        names = {*node.outputs}
        for later in self._graph.nodes:
            if later.op_type in _REARRANGING and later.inputs[:1] and later.inputs[0] in names:
                names.update(later.outputs)
                yield later

    @cached_property
    def _makers(self) -> dict[str, Node]:
        return {name: node for graph in self._graph.and_inner() for node in graph.nodes for name in node.outputs}

    @cached_property
    def _constants(self) -> dict[str, Held]:
        return {held.name: held for graph in self._graph.and_inner() for held in _held(graph)}


def _held(graph: Graph) -> Iterator[Held]:
    for name, value in graph.constants.items():
        if value.shape is not None:
            yield Held(name, tuple(int(d) for d in value.shape if isinstance(d, int)))
    for node in graph.nodes:
        if node.held is not None and node.outputs:
            yield Held(node.outputs[0], node.held, is_initializer=False)
