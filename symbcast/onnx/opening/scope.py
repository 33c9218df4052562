"""Types and constants of a graph's values while ONNX Runtime opens a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbcast.onnx.opening.types import declared_type, has_type, tensor_type


def _imports(versions: Mapping[str, int]) -> list[Any]:
    """Return operator set versions as onnx protobuf messages."""
    from onnx import helper

    return [helper.make_opsetid(domain, version) for domain, version in versions.items()]


class Types:
    """The values of one graph, and of the graphs around it.

    Attributes:
        types: the types of values by name.
        constants: the constants that a computation may use, by name.
        declared: the types that the graph declares of what its nodes make.
        outputs: the names of the outputs of the graph.
        unfolded: the types of values before constants are folded, where these differ from `types`.
        versions, imports: those of the operator sets, and as onnx writes them.
        is_in_function: whether it is the body of a function of the model, or lies in one.
    """

    def __init__(self, versions: Mapping[str, int], around: Types | None = None) -> None:
        self.types: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self.declared: dict[str, Any] = {}
        self.outputs: frozenset[str] = frozenset()
        self.unfolded: dict[str, Any] = {}
        self.versions = versions
        self.imports: list[Any] = around.imports if around is not None else _imports(versions)
        self.is_in_function: bool = around is not None and around.is_in_function
        self._around = around
        self._folded: set[str] = set()

    def declare(self, graph: Any) -> None:
        """Record the types that a graph declares; those of its outputs override ``value_info``."""
        for value in (*graph.value_info, *graph.output):
            found = declared_type(value.type)
            if has_type(found):
                self.declared[value.name] = found
        self.outputs = frozenset(o.name for o in graph.output)

    def type_of(self, name: str) -> Any | None:
        """Return the type of a value; None if it is unknown."""
        scope: Types | None = self
        while scope is not None:
            if name in scope.types:
                return scope.types[name]
            scope = scope._around
        return None

    def unfolded_type_of(self, name: str) -> Any | None:
        """Return the type of a value before constants are folded; None if it is unknown."""
        scope: Types | None = self
        while scope is not None:
            if name in scope.types:
                return scope.unfolded.get(name, scope.types[name])
            scope = scope._around
        return None

    def constant(self, name: str) -> Any | None:
        """Return the tensor of a constant; a value of an inner graph shadows an outer one of the same name."""
        scope: Types | None = self
        while scope is not None:
            if name in scope.types:
                return scope.constants.get(name)
            scope = scope._around
        return None

    def fold(self, name: str, tensor: Any) -> None:
        """Add a constant that is computed from others."""
        if name in self.types:
            self.unfolded.setdefault(name, self.types[name])
        self.types[name] = tensor_type(tensor.data_type, tensor.dims)
        self.constants[name] = tensor
        self._folded.add(name)

    def is_folded(self, name: str) -> bool:
        """Return whether a constant was computed from others."""
        scope: Types | None = self
        while scope is not None:
            if name in scope.types:
                return name in scope._folded
            scope = scope._around
        return False
