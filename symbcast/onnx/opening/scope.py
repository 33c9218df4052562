"""Types and constants of a graph's values while ONNX Runtime opens a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from symbcast.onnx.opening.types import ValueType, declared_type, tensor_type
from symbcast.onnx.protobuf.constant import StoredTensor

Sizes: TypeAlias = "tuple[int, ...] | int"
"""A list of sizes that are numbers, or one such size."""


UNNUMBERED = 0
"""The number of what is known about a value, before it is compared."""


class Known:
    """What ONNX Runtime knows about a value; it is not changed.

    Attributes:
        type: its type.
        unfolded: its type before constants are folded, if that may differ; else None.
        constant: its tensor, if a computation may use it.
        is_folded: whether its tensor was computed from other constants.
        sizes: its elements, if they are sizes that are known before constants are folded.
        number: the same for values of a model about which the same is known, once it is needed.
        was_known: whether the same was known before constants were folded.
    """

    __slots__ = ("constant", "is_folded", "number", "sizes", "type", "unfolded", "was_known")

    def __init__(
        self,
        type: ValueType,
        unfolded: ValueType | None = None,
        constant: StoredTensor | None = None,
        is_folded: bool = False,
        sizes: Sizes | None = None,
    ) -> None:
        self.type = type
        self.unfolded = unfolded
        self.constant = constant
        self.is_folded = is_folded
        self.sizes = sizes
        self.number = UNNUMBERED
        self.was_known = not is_folded and sizes is None and (unfolded is None or unfolded == type)

    def facts(self) -> tuple[Any, ...]:
        """Return everything that is known; the name of the constant does not count."""
        data = None if self.constant is None else self.constant.facts
        return self.type, self.unfolded, data, self.is_folded, self.sizes

    def with_type(self, found: ValueType) -> Known:
        """Return the same with another type."""
        return Known(found, self.unfolded, self.constant, self.is_folded, self.sizes)

    def with_unfolded(self, found: ValueType) -> Known:
        """Return the same with another type before constants are folded."""
        return Known(self.type, found, self.constant, self.is_folded, self.sizes)

    def with_sizes(self, sizes: Sizes | None) -> Known:
        """Return the same with other sizes as its elements."""
        return Known(self.type, self.unfolded, self.constant, self.is_folded, sizes)


class Types:
    """The values of one graph, and of the graphs around it.

    Attributes:
        values: the facts about values by name.
        declared: the types that the graph declares of what its nodes make.
        outputs: the names of the outputs of the graph.
        versions: those of the operator sets.
        is_in_function: whether it is the body of a function of the model, or lies in one.
        kind: the versions and `is_in_function`, as a key.
    """

    def __init__(
        self, versions: Mapping[str, int], around: Types | None = None, *, is_in_function: bool = False
    ) -> None:
        self.values: dict[str, Known] = {}
        self.declared: dict[str, ValueType] = {}
        self.outputs: frozenset[str] = frozenset()
        self.versions = versions
        self.is_in_function: bool = around.is_in_function if around is not None else is_in_function
        self.kind: tuple[Any, ...] = around.kind if around is not None else (tuple(versions.items()), is_in_function)
        self._around = around

    def declare(self, graph: Any) -> None:
        """Record the types that a graph declares; those of its outputs override ``value_info``."""
        for value in (*graph.value_info, *graph.output):
            found = declared_type(value.type)
            if found.is_known:
                self.declared[value.name] = found
        self.outputs = frozenset(o.name for o in graph.output)

    def find(self, name: str) -> Known | None:
        """Return the facts about a value; a value of an inner graph shadows an outer one of the same name."""
        found = self.values.get(name)
        if found is None and self._around is not None:
            found = self._around.find(name)
            # The sizes in an outer value are not known in an inner graph.
            return found if found is None or found.sizes is None else found.with_sizes(None)
        return found

    def type_of(self, name: str) -> ValueType | None:
        """Return the type of a value; None if it is unknown."""
        found = self.find(name)
        return None if found is None else found.type

    def known_types(self, names: Iterable[str]) -> dict[str, ValueType]:
        """Return the types of values, as far as they are known."""
        found = ((name, self.type_of(name)) for name in names if name)
        return {name: t for name, t in found if t is not None and t.is_known}

    def put(self, name: str, found: ValueType) -> None:
        """Record the type of a value."""
        before = self.values.get(name)
        self.values[name] = Known(found) if before is None else before.with_type(found)

    def put_unfolded(self, name: str) -> None:
        """Record that the present type of a value, if any, is the one before constants are folded."""
        before = self.values.get(name)
        if before is not None:
            self.values[name] = before.with_unfolded(before.type)
            self.declared[name] = before.type

    def put_sizes(self, name: str, sizes: Sizes) -> None:
        """Record the sizes that are the elements of a value."""
        before = self.values.get(name)
        if before is not None:
            self.values[name] = before.with_sizes(sizes)

    def fold(self, name: str, tensor: Any) -> None:
        """Add a constant that is computed from others."""
        before, found = self.values.get(name), tensor_type(tensor.data_type, tensor.dims)
        unfolded, sizes = (None, None) if before is None else (before.unfolded or before.type, before.sizes)
        self.values[name] = Known(found, unfolded, StoredTensor(tensor), is_folded=True, sizes=sizes)
