"""ONNX graphs for the walk, read from protobuf."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from symbcast.graphs.graph import Graph, Node, module_path
from symbcast.graphs.values.value import Value
from symbcast.onnx.protobuf.constant import StoredTensor, TensorConstant
from symbcast.onnx.protobuf.types import normal

_FIELDS = {
    1: "f",
    2: "i",
    3: "s",
    4: "t",
    6: "floats",
    7: "ints",
    8: "strings",
    9: "tensors",
    11: "sparse_tensor",
    13: "tp",
}
"""The kinds of attributes, and the field that each is in."""
_GRAPH, _GRAPHS = 5, 10
_SCOPES = "pkg.torch.onnx.name_scopes"
"""The paths of all modules around a node, as a Python list that ends with the node."""


class OnnxNode(Node):
    """A node; ``raw`` is its ``NodeProto``. Attributes that are tensors or types stay protobuf messages.

    It is read once, for all that examines the model: reading a field of a message takes longer than comparing it.

    ``kind`` is text, whose hash Python computes once, and the same object for all nodes that are read together: nodes
    are compared by it several times. It is None for a node that runs graphs, and for a constant, whose tensor is too
    large to be compared.
    """

    __slots__ = ("_attributes", "_graphs", "_tensor", "kind", "versions")

    kind: str | None

    def __init__(self, proto: Any, versions: Mapping[str, int], kinds: dict[tuple[Any, ...], str]) -> None:
        """``kinds`` holds the kinds of the nodes that were read before."""
        # Without the constructor of `Node`, which takes as long as reading the message.
        self.raw = proto
        self.versions = versions
        self.op_type = op_type = proto.op_type
        self.inputs = proto.input[:]  # a list, made in half the time of `list`
        self.outputs = outputs = proto.output[:]
        self.name = proto.name
        self.domain = domain = normal(proto.domain)
        self.version = version = versions.get(domain, 1)
        self._attributes: Mapping[str, Any] | None = None
        self._graphs: Mapping[str, Graph] | None = None
        self._tensor: StoredTensor | None = None
        if op_type == "Constant":
            self.kind = None
            return
        written: tuple[bytes, ...] | None = ()
        if attributes := proto.attribute:
            written = _written(attributes)
            if written is None:
                self.kind = None
                return
        used = tuple([name != "" for name in outputs]) if "" in outputs else len(outputs)
        overload = getattr(proto, "overload", "")  # onnx before 1.16 has none
        key = (op_type, domain, overload, used, written)
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = repr((version, key))
        self.kind = kind

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes by name; texts are bytes, as they need not be of any encoding."""
        if self._attributes is None:
            self._attributes = {a.name: _value(a) for a in self.raw.attribute if a.type not in (_GRAPH, _GRAPHS)}
        return self._attributes

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The graphs that it runs, by attribute name; those of a list have their index appended."""
        if self._graphs is None:
            self._graphs = self._read_graphs()
        return self._graphs

    def _read_graphs(self) -> Mapping[str, Graph]:
        found = {}
        for attribute in self.raw.attribute:
            if attribute.type == _GRAPH:
                found[attribute.name] = OnnxGraph(attribute.g, self.versions)
            elif attribute.type == _GRAPHS:
                found.update(
                    (f"{attribute.name}.{n}", OnnxGraph(g, self.versions)) for n, g in enumerate(attribute.graphs)
                )
        return found

    @property
    def path(self) -> tuple[str, ...]:
        """The modules around it: those that torch's exporter records, else those in its name."""
        for entry in self.raw.metadata_props if hasattr(self.raw, "metadata_props") else ():
            if entry.key == _SCOPES:
                with suppress(ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
                    scope = str(literal_eval(entry.value)[-2])
                    return () if scope.startswith("_empty_nn_module_stack") else module_path(scope)
        return super().path

    @property
    def tensor(self) -> StoredTensor | None:
        """The tensor that a node of type Constant holds, if it holds nothing else."""
        if self._tensor is None and self.op_type == "Constant" and not self.domain:
            attributes = self.raw.attribute
            if len(attributes) == 1 and attributes[0].name == "value":
                self._tensor = StoredTensor(attributes[0].t)
        return self._tensor

    @property
    def held(self) -> tuple[int, ...] | None:
        """The shape of the tensor that a node of type Constant makes."""
        if self.op_type != "Constant" or self.domain:
            return None
        for attribute in self.raw.attribute:
            return tuple(attribute.t.dims) if attribute.name == "value" else (len(attribute.ints),)
        return None


def _written(attributes: Iterable[Any]) -> tuple[bytes, ...] | None:
    """Return attributes as bytes; None if they hold graphs."""
    written = []
    for attribute in attributes:
        if attribute.type in (_GRAPH, _GRAPHS):
            return None
        written.append(attribute.SerializeToString())  # no field is a map, so the order is fixed
    return tuple(written)


def _value(attribute: Any) -> Any:
    field = _FIELDS.get(attribute.type)
    if field is None:
        return None
    found = getattr(attribute, field)
    return list(found) if field in ("floats", "ints", "strings", "tensors") else found


class OnnxGraph(Graph):
    """A graph of a model; ``raw`` is its ``GraphProto``. Nodes and tensors that were read before may be passed."""

    def __init__(
        self,
        proto: Any,
        versions: Mapping[str, int],
        nodes: Sequence[OnnxNode] | None = None,
        tensors: Sequence[StoredTensor] | None = None,
    ) -> None:
        self.raw = proto
        self._tensors = list(map(StoredTensor, proto.initializer)) if tensors is None else tensors
        super().__init__(
            nodes_of(proto.node, versions) if nodes is None else nodes,
            [i.name for i in proto.input],
            [o.name for o in proto.output],
            name=proto.name,
        )

    @property
    def constants(self) -> Mapping[str, Value]:
        """The initializers, new for each walk, because a walk adds knowledge to them."""
        found: dict[str, Value] = {t.name: TensorConstant(t.raw, t) for t in self._tensors}
        for tensor in self.raw.sparse_initializer:
            found[tensor.values.name] = Value(tuple(tensor.dims), tensor.values.data_type)
        return found


def nodes_of(protos: Iterable[Any], versions: Mapping[str, int]) -> list[OnnxNode]:
    """Wrap nodes for the walk, with the versions of the imported operator sets."""
    kinds: dict[tuple[Any, ...], str] = {}
    return [OnnxNode(proto, versions, kinds) for proto in protos]
