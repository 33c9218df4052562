"""Where the sizes and constants of a model come from: which axis of which input, which initializer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.onnx.report.graphs import graphs_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.onnx.values.value import Dims

_LOOKED_AT = 60
"""So many nodes before a node are looked at for the constant that fixes a size."""


class Held(NamedTuple):
    """A constant that the model holds: an initializer, or what a node of type Constant makes."""

    name: str
    dims: tuple[int, ...]
    is_initializer: bool = True

    def __str__(self) -> str:
        kind = "initializer" if self.is_initializer else "constant"
        return f"{kind} {self.name} of shape {self.dims}"


class Sources:
    """Where things come from in one model."""

    def __init__(self, model: Any, inputs: Mapping[str, Dims | None]) -> None:
        self._model = model
        self._inputs = inputs

    def axis_of(self, symbol: Symbol) -> tuple[str, int] | None:
        """Return the first input, and its axis, whose size a symbol is."""
        for name, shape in self._inputs.items():
            for axis, dim in enumerate(shape or ()):
                if dim == symbol:
                    return name, axis
        return None

    def held(self, name: str) -> Held | None:
        """Return the constant of a name."""
        return self._constants.get(name)

    def before(self, node: Any, size: int) -> Held | None:
        """Return the nearest constant before a node of which an axis has the given size."""
        pending: deque[str] = deque(node.input)
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
                following = [n for n in maker.input if n not in seen]
                seen.update(following)
                pending.extend(following)
        return None

    @cached_property
    def _makers(self) -> dict[str, Any]:
        return {name: node for graph in graphs_of(self._model.graph) for node in graph.node for name in node.output}

    @cached_property
    def _constants(self) -> dict[str, Held]:
        return {held.name: held for graph in graphs_of(self._model.graph) for held in _held(graph)}


def _held(graph: Any) -> Iterator[Held]:
    for tensor in graph.initializer:
        yield Held(tensor.name, tuple(tensor.dims))
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            for attribute in node.attribute:
                dims = tuple(attribute.t.dims) if attribute.name == "value" else (len(attribute.ints),)
                yield Held(node.output[0], dims, is_initializer=False)
