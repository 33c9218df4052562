"""One operation with its known inputs: all that an operator function needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.walker import GraphScope, Walker
from symbcast.operators.context import Dims
from symbcast.stablehlo.attributes import TensorType, attribute_of, keyword_of, tensor_type
from symbcast.stablehlo.mlir import dialect

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.values.contents import Content
    from symbcast.stablehlo.graph import HloNode


UNASSERTED, ASSERTIONS, HINTED = "unasserted", "assertions", "hinted"
"""The runtimes to ask about for what the operations of a module require alone, its assertions alone, and its hints."""


class Stretch(NamedTuple):
    """The size of an axis of an operand, that of the result's axis which it becomes, and the hint about it, if any."""

    size: Dim
    result: Dim
    hint: str


class HloWalker(Walker, Protocol):
    """The walk as operators of StableHLO see it.

    Attributes:
        stretches: the axes that dynamic broadcasts may stretch, by node and axis.
        futures: the values in tuples and futures, by name.
        is_asserting: whether the module has assertions.
        unknown_assertions: the nodes of assertions that could not be followed.
    """

    is_asserting: bool
    unknown_assertions: list[str]
    stretches: dict[tuple[str, int], Stretch]
    futures: dict[str, Sequence[Value]]

    def called(self, graph: Graph, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Return the outputs of a function that is called."""


class HloCall(NodeCall):
    """An operation with its inputs. MLIR has checked its types: ranks, attributes, and sizes that are numbers."""

    node: HloNode

    @property
    def size_prefix(self) -> str:
        """The name of the node; with that of its operator, where MLIR only numbers it."""
        return self.place.name.replace("%", f"{self.node.op_type.rpartition('.')[2]}_")

    def attribute(self, name: str) -> Any:
        """Return an attribute as a number, a text, a list or an array; None if there is none."""
        return attribute_of(self.node.raw, name)

    def keyword(self, name: str) -> str:
        """Return the word of an enumeration, such as ``LT``."""
        return keyword_of(self.node.raw.attributes[name])

    def dimensions(self, name: str, kind: str) -> Any:
        """Return dimension numbers of a kind such as ``GatherDimensionNumbers``."""
        return getattr(dialect("stablehlo"), kind)(self.node.raw.attributes[name])

    @property
    def types(self) -> list[TensorType | None]:
        """The types of the results."""
        return self.node.types

    def type_of(self, position: int) -> TensorType:
        """Return the type of a result that is a tensor of known rank."""
        found = self.types[position]
        if found is None or found.sizes is None:
            self.give_up("its result is no tensor of known rank")
        return found

    def made(self, shape: Dims | None, content: Content | None = None, output: int = 0) -> Value:
        """Return a result with the element type of its type."""
        found = self.types[output]
        return Value(shape, 0 if found is None else found.dtype, content)

    def shapes(self) -> list[Dims]:
        """Return the shapes of all inputs."""
        return [self.shape(n) for n in range(len(self.inputs))]

    def alike(self, shapes: Sequence[Dims], reason: str) -> Dims:
        """Require that shapes be equal, and return them: numbers where one has a number."""
        first, *others = shapes
        for other in others:
            if other != first:
                self.same_shape(other, first, reason)
        return tuple(next((d for d in sizes if isinstance(d, int)), sizes[0]) for sizes in zip(*shapes, strict=True))

    def wanted(self, position: int, output: int = 0) -> tuple[Dim, ...]:
        """Return the sizes that an input holds, none negative; those that data decide are new sizes.

        A number in the type of the result stands for an unknown size.
        """
        static = self.type_of(output).sizes or ()
        items = self._items(position, len(static))
        found: list[Dim] = []
        for axis, item in enumerate(items):
            known = static[axis]
            if is_size(item):
                self.is_size(item, "a size must not be negative")
                found.append(item)
                continue
            name = self.input_name(position)
            self.note(f"not checked: element {axis} of {name} must be a size", is_about_data=True, by=[position])
            fresh = self.fresh(f"size_{axis}", f"element {axis} of {name}", by=[position]) if known is None else known
            found.append(fresh)
        return tuple(found)

    def places(self, position: int, rank: int) -> list[Dim | None]:
        """Return the integers that an input holds, one for each of ``rank`` axes; None for unknown ones."""
        return [item if is_size(item) else None for item in self._items(position, rank)]

    def _items(self, position: int, count: int) -> Sequence[object]:
        (length,) = self.shape(position)
        self.equal(length, count, f"{self.input_name(position)} must have {count} elements, one for each axis")
        items = self.elements(position)
        return items if items is not None and len(items) == count else [None] * count

    @property
    def own_walk(self) -> HloWalker:
        """The walk, with what only this front end keeps."""
        return cast("HloWalker", self.walk)

    def require_asserted(self, formula: Formula, reason: str) -> None:
        """Require what the module asserts, unless the question is what its operations require alone."""
        before = self.asker.guards
        if self.asker.runtime == ASSERTIONS:
            self.asker.guards = ()
        if self.asker.runtime != UNASSERTED:
            self.require(formula, reason)
        self.asker.guards = before

    def has_attribute(self, name: str) -> bool:
        """Return whether an attribute is given, even one without a value."""
        return name in self.node.raw.attributes

    def declared(self, position: int) -> Dims | None:
        """Return the shape that the type of a result declares, with new sizes for open ones; None for no tensor."""
        kind = self.types[position]
        if kind is None or kind.sizes is None:
            return None
        return tuple(
            self.fresh(f"{position}_{axis}", f"axis {axis} of result {position}", most=most) if size is None else size
            for axis, (size, most) in enumerate(zip(kind.sizes, kind.bounds, strict=True))
        )

    def width(self, value: Any) -> int:
        """Return how many bits an element of one of MLIR's values has."""
        kind = str(value.type.element_type)
        bits = int(re.search(r"\d+", kind)[0])  # type: ignore[index]
        return 2 * bits if kind.startswith("complex") else bits

    def run(self, graph: str, inputs: Sequence[Value]) -> list[Value]:
        """Walk through a region and return its outputs.

        It may declare its parameters more closely than the operands: their sizes are required.
        """
        found: Graph = self.node.graphs[graph]
        kinds = [tensor_type(p.type) for p in self.node.raw.regions[int(graph)].blocks[0].arguments]
        given = [self.typed(v, k, f"parameter {n}") for n, (v, k) in enumerate(zip(inputs, kinds, strict=True))]
        return self.walk.within(found, self.scope, given)

    def typed(self, value: Value, kind: TensorType | None, what: str) -> Value:
        """Return a value as a type describes it; the sizes and bounds that the type promises are required."""
        if kind is None or value.shape is None or kind.sizes is None:
            return value if value.dtype or kind is None else Value(value.shape, kind.dtype, value.content)
        if len(value.shape) != len(kind.sizes):
            self.refuse(f"{what} must have rank {len(kind.sizes)}, as its type says")
        dims: list[Dim] = []
        for axis, (dim, size, most) in enumerate(zip(value.shape, kind.sizes, kind.bounds, strict=True)):
            if size is not None:
                self.equal(dim, size, f"axis {axis} of {what} must be {size}, as its type says")
            elif most is not None:
                self.at_most(dim, most, f"axis {axis} of {what} must be at most {most}, the bound in its type")
            dims.append(dim if size is None else size)
        shape = tuple(dims)
        if shape == value.shape and value.dtype == kind.dtype:
            return value
        made = Value(shape, kind.dtype, value.content)
        made.decided_by = value.decided_by
        return made
