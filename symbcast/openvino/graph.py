"""An ``ov.Model`` as a graph of named values, in the order of the walk.

A value has the name of its tensor; if the tensor has several names, it is the one equal to its node's name. Without a
tensor name, it has the friendly name of its node, with ``.0``, ``.1`` appended if the node has several outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.openvino.constant import shape_of


class OpenVinoNode(Node):
    """A node; ``raw`` is OpenVINO's object. ``version`` is its opset's version; ``domain`` names a custom opset."""

    __slots__ = ("_attributes", "_graphs", "_kind", "graph", "place")

    def __init__(  # noqa: PLR0913, PLR0917 - all that a node is, by position, as there are many
        self,
        graph: OpenVinoGraph,
        place: int,
        op: Any,
        op_type: str,
        domain: str,
        version: int,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        """``place`` is its index among the nodes of its graph."""
        self.graph = graph
        self.place = place
        self.raw = op
        self.op_type = op_type
        self.domain = domain
        self.version = version
        self.inputs = inputs
        self.outputs = outputs
        self.name = op.get_friendly_name()
        self._attributes: Mapping[str, Any] | None = None
        self._graphs: Mapping[str, Graph] | None = None
        self._kind: str | None = None

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes as OpenVINO returns them."""
        if self._attributes is None:
            self._attributes = self.raw.get_attributes()
        return self._attributes

    @property
    def kind(self) -> str | None:
        """The operator, its attributes and the element types of its outputs; None if it runs graphs.

        The element types of inputs are known about their values.
        """
        if self._kind is None and self.op_type not in BODIES:
            self._kind = self.graph.kind_of(self)
        return self._kind

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The branches of an If, or the body of a loop."""
        if self._graphs is None:
            names = BODIES.get(self.op_type)
            self._graphs = NOTHING if names is None else self._read_graphs(names)
        return self._graphs

    def _read_graphs(self, names: Sequence[str]) -> Mapping[str, Graph]:
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
        self._copy: Any = None
        self._copies: list[Any] | None = None
        self._opsets: dict[str, tuple[int, str]] = {}
        self._kinds: dict[tuple[Any, ...], str] = {}
        self.parameters = list(model.get_parameters())
        names = _Names()
        nodes: list[Node] = []
        for place, op in enumerate(model.get_ordered_ops()):
            info = op.get_type_info()
            name = info.name
            if name == "Result":
                names.hand_on(op)
                continue
            outputs = names.of_outputs(op)
            if name != "Parameter":
                version, domain = self._opset(info.version_id)
                nodes.append(OpenVinoNode(self, place, op, name, domain, version, names.of_inputs(op), outputs))
        super().__init__(
            nodes,
            [names.of(p.get_output_tensor(0)) for p in self.parameters],
            [names.of(r.get_input_tensor(0)) for r in model.get_results()],
            name=str(model.get_friendly_name()),
        )

    def _opset(self, version: str) -> tuple[int, str]:
        """Return the number of an operator set, and its name if it is a custom one."""
        found = self._opsets.get(version)
        if found is None:
            number = int(version[5:]) if version.startswith("opset") and version[5:].isdecimal() else 0
            found = self._opsets[version] = number, "" if number else version
        return found

    def kind_of(self, node: OpenVinoNode) -> str:
        """Return the kind of a node, the same text for all nodes of this kind, whose hash Python computes once."""
        op = node.raw
        types = [op.get_output_element_type(n).to_string() for n in range(len(node.outputs))]
        key = (node.op_type, node.domain, node.version, repr(node.attributes), *types)
        return self._kinds.get(key) or self._kinds.setdefault(key, repr(key))

    def copy_of(self, node: OpenVinoNode) -> Any:
        """Return the node of a modifiable copy of the model, the same one on every call."""
        if self._copies is None:
            self._copy = self.raw.clone()
            self._copies = self._copy.get_ordered_ops()
        found = self._copies[node.place]
        if found.get_friendly_name() != node.name or found.get_type_info().name != node.op_type:
            raise LookupError(f"a copy of the model has a different node instead of {node.name}")
        return found


class _Names:
    """The names of the values of a graph, by their tensors.

    A tensor is the same object for the node that makes it and for those that take it, as long as it is held. OpenVINO
    returns it in half the time of an output and its node.
    """

    def __init__(self) -> None:
        self._by_tensor: dict[int, str] = {}
        self._held: list[Any] = []
        self._taken: set[str] = set()

    def of(self, tensor: Any) -> str:
        """Return the name of a value."""
        return self._by_tensor[id(tensor)]

    def of_inputs(self, op: Any) -> list[str]:
        """Return the names of the inputs of a node."""
        known, tensor = self._by_tensor, op.get_input_tensor
        return [known[id(tensor(n))] for n in range(op.get_input_size())]

    def of_outputs(self, op: Any) -> list[str]:
        """Give each output of a node a name."""
        taken = self._taken
        called = []
        for index in range(op.get_output_size()):
            tensor = op.get_output_tensor(index)
            names = tensor.get_names()
            name = names.pop() if len(names) == 1 else _chosen(names, op, index)
            if name in taken:
                name = self._free(name)
            taken.add(name)
            self._by_tensor[id(tensor)] = name
            self._held.append(tensor)
            called.append(name)
        return called

    def hand_on(self, op: Any) -> None:
        """Give the output of a node the name of its input."""
        tensor = op.get_output_tensor(0)
        self._by_tensor[id(tensor)] = self.of(op.get_input_tensor(0))
        self._held.append(tensor)

    def _free(self, name: str) -> str:
        free, number = name, 2
        while free in self._taken:
            free, number = f"{name} ({number})", number + 1
        return free


def _chosen(names: Set[str], op: Any, index: int) -> str:
    """Return the name of an output of a node with several names, or none."""
    own: str = op.get_friendly_name()
    if names:
        return own if own in names else min(names)
    return f"{own}.{index}" if op.get_output_size() > 1 else own


BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "TensorIterator": ("body",)}
"""The operators that contain models, and our names for these models."""
