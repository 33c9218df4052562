"""An ``ov.Model`` as a graph of named values, in the order of the walk.

A value has the name of its tensor; if the tensor has several names, it is the one equal to its node's name. Without a
tensor name, it has the friendly name of its node, with ``.0``, ``.1`` appended if the node has several outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from symbcast.graphs.graph import NOTHING, Graph, Node


class OpenVinoNode(Node):
    """A node; ``raw`` is OpenVINO's object. ``version`` is its opset's version; ``domain`` names a custom opset."""

    def __init__(
        self, op: Any, place: int, graph: OpenVinoGraph, inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        info = op.get_type_info()
        known = str(info.version_id)
        version = int(known[5:]) if known.startswith("opset") and known[5:].isdecimal() else 0
        super().__init__(
            str(info.name),
            inputs,
            outputs,
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
        taken = [op.get_input_element_type(n).to_string() for n in range(op.get_input_size())]
        made = [op.get_output_element_type(n).to_string() for n in range(op.get_output_size())]
        return repr((self.op_type, self.domain, self.version, sorted(self.attributes.items()), taken, made))

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
        return tuple(self.raw.get_output_shape(0)) if self.op_type == "Constant" else None


class OpenVinoGraph(Graph):
    """The graph of a model, or of a body of one of its nodes; ``raw`` is the ``ov.Model``."""

    def __init__(self, model: Any) -> None:
        self.raw = model
        self._names: dict[tuple[str, int], str] = {}
        self._copy: Any = None
        self._copies: list[Any] | None = None
        self._taken: set[str] = set()
        self.parameters = list(model.get_parameters())
        operations = model.get_ordered_ops()
        for op in operations:
            self._call_outputs(op)
        super().__init__(
            [
                self._node(op, place)
                for place, op in enumerate(operations)
                if op.get_type_info().name not in ("Parameter", "Result")
            ],
            [self._of(p.output(0)) for p in self.parameters],
            [self._of(r.input_value(0)) for r in model.get_results()],
            name=str(model.get_friendly_name()),
        )

    def _call_outputs(self, op: Any) -> None:
        """Give each output of a node a name."""
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

    def _node(self, op: Any, place: int) -> OpenVinoNode:
        own = op.get_name()
        outputs = [self._names[own, n] for n in range(op.get_output_size())]
        return OpenVinoNode(op, place, self, [self._of(v) for v in op.input_values()], outputs)

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
