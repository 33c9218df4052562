"""An ``ov.Model`` as a graph of named values, in the order in which it is walked.

The walk and the reports of `symbcast.onnx` ask for nodes with ``op_type``, ``input``, ``output`` and ``attribute``, and
for graphs with ``node``, ``input`` and ``output``; those of OpenVINO have them here. A value is called by the name of
its tensor, of several the one that its node has too; where it has none, by the friendly name of its node, with ``.0``,
``.1`` behind it where the node has several outputs, as OpenVINO does itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

GRAPH, TENSOR = 5, 4
"""What ``AttributeProto`` has for the type of an attribute that is a graph, or a tensor."""


class Declared(NamedTuple):
    """The name of an input or output of a graph."""

    name: str


class Dimensions(NamedTuple):
    """The sizes of a constant."""

    dims: tuple[int, ...]


class Attribute(NamedTuple):
    """What a node holds: a constant's sizes ``t``, or a graph ``g``."""

    name: str
    type: int
    t: Dimensions = Dimensions(())
    g: Any = None
    graphs: tuple[Any, ...] = ()


class Node:
    """A node: ``op`` is OpenVINO's own; ``version`` is that of its operator set, ``domain`` that of any other."""

    __slots__ = ("attribute", "domain", "graph", "input", "name", "op", "op_type", "output", "place", "version")

    def __init__(self, op: Any, place: int, graph: Graph, inputs: list[str], outputs: list[str]) -> None:
        self.op = op
        self.place = place
        """Which one it is of the nodes of its graph."""
        self.graph = graph
        info = op.get_type_info()
        self.op_type = str(info.name)
        known = str(info.version_id)
        self.version = int(known[5:]) if known.startswith("opset") and known[5:].isdecimal() else 0
        self.domain = "" if self.version else known
        self.name = str(op.get_friendly_name())
        self.input = inputs
        self.output = outputs
        self.attribute: tuple[Attribute, ...] = ()


class Graph:
    """The nodes of a model, or of the body of one of its nodes, each after those that it takes values from."""

    initializer: tuple[Any, ...] = ()
    sparse_initializer: tuple[Any, ...] = ()

    def __init__(self, model: Any) -> None:
        self.model = model
        self.name = str(model.get_friendly_name())
        self._names: dict[tuple[str, int], str] = {}
        self._copy: Any = None
        self._copies: list[Any] | None = None
        self._taken: set[str] = set()
        self.parameters = list(model.get_parameters())
        self.node: list[Node] = []
        operations = model.get_ordered_ops()
        for op in operations:
            self._call_outputs(op)
        for place, op in enumerate(operations):
            if op.get_type_info().name not in ("Parameter", "Result"):
                self.node.append(self._node(op, place))
        self.input = [Declared(self._of(p.output(0))) for p in self.parameters]
        self.output = [Declared(self._of(r.input_value(0))) for r in model.get_results()]

    def _call_outputs(self, op: Any) -> None:
        """Give the outputs of a node their names: each of them one."""
        outputs = op.outputs()
        for index, output in enumerate(outputs):
            own, names = op.get_friendly_name(), output.get_names()
            name = min(names) if names else f"{own}.{index}" if len(outputs) > 1 else own
            name = own if own in names else name
            free, number = name, 2
            while free in self._taken:
                free, number = f"{name} ({number})", number + 1
            self._taken.add(free)
            self._names[op.get_name(), index] = free

    def _of(self, output: Any) -> str:
        return self._names[output.get_node().get_name(), output.get_index()]

    def _node(self, op: Any, place: int) -> Node:
        own = op.get_name()
        outputs = [self._names[own, n] for n in range(op.get_output_size())]
        node = Node(op, place, self, [self._of(v) for v in op.input_values()], outputs)
        if node.op_type == "Constant":
            node.attribute = (Attribute("value", TENSOR, Dimensions(tuple(op.get_output_shape(0)))),)
        elif node.op_type in BODIES:
            bodies = (op.get_function(n) for n in range(2)) if node.op_type == "If" else (op.get_function(),)
            node.attribute = tuple(
                Attribute(name, GRAPH, g=Graph(body)) for name, body in zip(BODIES[node.op_type], bodies, strict=True)
            )
        return node

    def copy_of(self, node: Node) -> Any:
        """Return a node of a copy of the model, which may be changed; each time the same one."""
        if self._copies is None:
            self._copy = self.model.clone()
            self._copies = self._copy.get_ordered_ops()
        found = self._copies[node.place]
        if found.get_friendly_name() != node.name or found.get_type_info().name != node.op_type:
            raise LookupError(f"a copy of the model has another node in the place of {node.name}")
        return found


BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "TensorIterator": ("body",)}
"""The operators that hold models, and what these are called here."""


class Model(NamedTuple):
    """A model as it is walked: its graph, and where ONNX would have them, functions and operator sets."""

    graph: Graph
    functions: Sequence[Any] = ()
    opset_import: Sequence[Any] = ()
