"""ONNX graphs for the walk, read from protobuf."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from symbcast.graphs.graph import Graph, Node, module_path
from symbcast.graphs.values.value import Value
from symbcast.onnx.protobuf.constant import Initializers, StoredTensor, TensorConstant, Tensors
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
_TENSOR, _GRAPH, _GRAPHS = 4, 5, 10
_SCOPES = "pkg.torch.onnx.name_scopes"
"""The paths of all modules around a node, as a Python list that ends with the node."""


class OnnxNode(Node):
    """A node; ``raw`` is its ``NodeProto``. Attributes that are tensors or types stay protobuf messages.

    It is read once, for all that examines the model: reading a field of a message takes longer than comparing it.

    ``kind`` is text, whose hash Python computes once, and the same object for all nodes that are read together: nodes
    are compared by it several times. It says also which inputs and outputs are left out. It is None for a node that
    runs graphs, and for a constant, whose tensor is too large to be compared.
    """

    __slots__ = ("_attributes", "_graphs", "kind", "tensor", "versions")

    kind: str | None
    versions: Mapping[str, int]
    _attributes: Mapping[str, Any] | None
    _graphs: Mapping[str, Graph] | None
    tensor: StoredTensor | None
    """The tensor that a node of type Constant holds, if it holds nothing else."""

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
    def held(self) -> tuple[int, ...] | None:
        """The shape of the tensor that a node of type Constant makes."""
        if self.op_type != "Constant" or self.domain:
            return None
        for attribute in self.raw.attribute:
            return tuple(attribute.t.dims) if attribute.name == "value" else (len(attribute.ints),)
        return None


def _written(attributes: Sequence[Any]) -> tuple[bytes, ...] | None:
    """Return attributes as bytes; None if they hold graphs."""
    written = []
    for attribute in attributes[:]:  # a list is faster to go through than the container
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
        tensors: Initializers | None = None,
    ) -> None:
        self.raw = proto
        self._tensors = Initializers.of(proto.initializer) if tensors is None else tensors
        super().__init__(
            nodes_of(proto.node, versions) if nodes is None else nodes,
            [i.name for i in proto.input],
            [o.name for o in proto.output],
            name=proto.name,
        )

    @property
    def constants(self) -> Mapping[str, Value]:
        """The initializers, new for each walk, because a walk adds knowledge to them."""
        names, tensors, different = self._tensors
        made = {t: TensorConstant(t.raw, t) for t in different}
        found: dict[str, Value] = dict(zip(names, map(made.__getitem__, tensors), strict=True))
        for tensor in self.raw.sparse_initializer:
            found[tensor.values.name] = Value(tuple(tensor.dims), tensor.values.data_type)
        return found


@cache
def _has_overloads() -> bool:
    """Return whether nodes say which overload of a function they call; onnx before 1.16 has none."""
    from onnx import NodeProto

    return "overload" in NodeProto.DESCRIPTOR.fields_by_name


def nodes_of(protos: Iterable[Any], versions: Mapping[str, int]) -> list[OnnxNode]:
    """Wrap nodes for the walk, with the versions of the imported operator sets."""
    made = []
    kinds: dict[tuple[Any, ...], str] = {}
    read = Tensors().read
    version, has_overloads = versions.get("", 1), _has_overloads()
    for proto in protos:
        node = OnnxNode.__new__(OnnxNode)  # the constructor of `Node` takes as long as reading the message
        made.append(node)
        node.raw, node.versions, node.name = proto, versions, proto.name
        node.op_type = op_type = proto.op_type
        node.inputs = inputs = proto.input[:]  # a list, made in half the time of `list`
        node.outputs = outputs = proto.output[:]
        node.domain = domain = proto.domain and normal(proto.domain)
        node.version = versions.get(domain, 1) if domain else version
        node.tensor = None
        node._attributes = None
        node._graphs = None
        node.kind = None
        attributes = proto.attribute
        if op_type == "Constant":
            if not domain and len(attributes) == 1:
                (attribute,) = attributes
                if attribute.name == "value" and attribute.type == _TENSOR:
                    node.tensor = read(attribute.t)
            continue
        written = _written(attributes) if attributes else ()
        if written is None:
            continue
        given = tuple([name != "" for name in inputs]) if "" in inputs else len(inputs)
        used = tuple([name != "" for name in outputs]) if "" in outputs else len(outputs)
        key = op_type, domain, proto.overload if has_overloads else "", given, used, written
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = repr((node.version, key))
        node.kind = kind
    return made
