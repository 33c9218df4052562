"""An ``ov.Model`` as a graph of named values, in the order of the walk.

A value has the name of its tensor; if the tensor has several names, it is the one equal to its node's name. Without a
tensor name, it has the friendly name of its node, with ``.0``, ``.1`` appended if the node has several outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.openvino.constant import shape_of


class OpenVinoNode(Node):
    """A node; ``raw`` is OpenVINO's object. ``version`` is its opset's version; ``domain`` names a custom opset."""

    def __init__(self, op: Any, place: int, graph: OpenVinoGraph) -> None:
        info = op.get_type_info()
        known = str(info.version_id)
        version = int(known[5:]) if known.startswith("opset") and known[5:].isdecimal() else 0
        super().__init__(
            str(info.name),
            *graph.names_around(op),
            name=str(op.get_friendly_name()),
            domain="" if version else known,
            version=version,
            raw=op,
        )
        self.place = place
        """Its index among the nodes of its graph."""
        self.graph = graph

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes as OpenVINO returns them."""
        found: Mapping[str, Any] = self.raw.get_attributes()
        return found

    @cached_property
    def kind(self) -> str | None:
        """The operator, its attributes and the element types around it; None if it runs graphs."""
        if self.op_type in BODIES:
            return None
        op = self.raw
        taken = [op.get_input_element_type(n).to_string() for n in range(len(self.inputs))]
        made = [op.get_output_element_type(n).to_string() for n in range(len(self.outputs))]
        return f"{self.op_type} {self.domain} {self.version} {self.attributes} {taken} {made}"

    @cached_property
    def graphs(self) -> Mapping[str, Graph]:
        """The branches of an If, or the body of a loop."""
        names = BODIES.get(self.op_type, ())
        if not names:
            return NOTHING
        bodies = (self.raw.get_function(n) for n in range(2)) if len(names) > 1 else (self.raw.get_function(),)
        return {name: OpenVinoGraph(body) for name, body in zip(names, bodies, strict=True)}

    @property
    def held(self) -> tuple[int, ...] | None:
        """The shape of a constant."""
        return shape_of(self.raw) if self.op_type == "Constant" else None


class OpenVinoGraph(Graph):
    """The graph of a model, or of a body of one of its nodes; ``raw`` is the ``ov.Model``."""

    def __init__(self, model: Any) -> None:
        self.raw = model
        self._names: dict[str, list[str]] = {}
        """The names of a node's outputs."""
        self._copy: Any = None
        self._copies: list[Any] | None = None
        self._taken: set[str] = set()
        self.parameters = list(model.get_parameters())
        operations = model.get_ordered_ops()
        for op in operations:
            self._call_outputs(op)
        nodes = (OpenVinoNode(op, place, self) for place, op in enumerate(operations))
        super().__init__(
            [node for node in nodes if node.op_type not in ("Parameter", "Result")],
            [self._of(p.output(0)) for p in self.parameters],
            [self._of(r.input_value(0)) for r in model.get_results()],
            name=str(model.get_friendly_name()),
        )

    def _call_outputs(self, op: Any) -> None:
        """Give each output of a node a name."""
        outputs, own = op.outputs(), op.get_friendly_name()
        called = self._names[op.get_name()] = []
        for index, output in enumerate(outputs):
            names = output.get_names()
            name = own if not names or own in names else min(names)
            if not names and len(outputs) > 1:
                name = f"{own}.{index}"
            free, number = name, 2
            while free in self._taken:
                free, number = f"{name} ({number})", number + 1
            self._taken.add(free)
            called.append(free)

    def names_around(self, op: Any) -> tuple[Sequence[str], Sequence[str]]:
        """Return the names of the inputs and the outputs of a node."""
        return [self._of(v) for v in op.input_values()], self._names[op.get_name()]

    def _of(self, output: Any) -> str:
        found: str = self._names[output.get_node().get_name()][output.get_index()]
        return found

    def copy_of(self, node: OpenVinoNode) -> Any:
        """Return the node of a modifiable copy of the model, the same one on every call."""
        if self._copies is None:
            self._copy = self.raw.clone()
            self._copies = self._copy.get_ordered_ops()
        found = self._copies[node.place]
        if found.get_friendly_name() != node.name or found.get_type_info().name != node.op_type:
            raise LookupError(f"a copy of the model has a different node instead of {node.name}")
        return found


BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "TensorIterator": ("body",)}
"""The operators that contain models, and our names for these models."""
