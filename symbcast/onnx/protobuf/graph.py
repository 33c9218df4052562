"""ONNX graphs for the walk, read from protobuf."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from symbcast.graphs.graph import Graph, Node, module_path
from symbcast.graphs.values.value import Value
from symbcast.onnx.protobuf.constant import TensorConstant
from symbcast.onnx.validity.opsets import normal

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
    """A node; ``raw`` is its ``NodeProto``. Attributes that are tensors or types stay protobuf messages."""

    def __init__(self, proto: Any, versions: Mapping[str, int]) -> None:
        domain = normal(proto.domain)
        super().__init__(
            proto.op_type,
            list(proto.input),
            list(proto.output),
            name=proto.name,
            domain=domain,
            version=versions.get(domain, 1),
            raw=proto,
        )
        self.versions = versions

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes by name; texts are bytes, as they need not be of any encoding."""
        return {a.name: _value(a) for a in self.raw.attribute if a.type not in (_GRAPH, _GRAPHS)}

    @property
    def kind(self) -> Hashable | None:
        """Everything but its name and those of its values; None if it runs graphs."""
        attributes = self.raw.attribute
        if any(a.type in (_GRAPH, _GRAPHS) for a in attributes):
            return None
        used = tuple(map(bool, self.outputs))
        return (
            self.op_type,
            self.domain,
            self.version,
            used,
            *[a.SerializeToString(deterministic=True) for a in attributes],
        )

    @cached_property
    def graphs(self) -> Mapping[str, Graph]:
        """The graphs that it runs, by attribute name; those of a list have their index appended."""
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
    def tensor(self) -> Any:
        """The tensor that a node of type Constant holds, if it holds nothing else."""
        if self.op_type != "Constant" or self.domain:
            return None
        attributes = self.raw.attribute
        return attributes[0].t if len(attributes) == 1 and attributes[0].name == "value" else None

    @property
    def held(self) -> tuple[int, ...] | None:
        """The shape of the tensor that a node of type Constant makes."""
        if self.op_type != "Constant" or self.domain:
            return None
        for attribute in self.raw.attribute:
            return tuple(attribute.t.dims) if attribute.name == "value" else (len(attribute.ints),)
        return None


def _value(attribute: Any) -> Any:
    field = _FIELDS.get(attribute.type)
    if field is None:
        return None
    found = getattr(attribute, field)
    return list(found) if field in ("floats", "ints", "strings", "tensors") else found


class OnnxGraph(Graph):
    """A graph of a model; ``raw`` is its ``GraphProto``."""

    def __init__(self, proto: Any, versions: Mapping[str, int]) -> None:
        self.raw = proto
        super().__init__(
            nodes_of(proto.node, versions),
            [i.name for i in proto.input],
            [o.name for o in proto.output],
            name=proto.name,
        )

    @property
    def constants(self) -> Mapping[str, Value]:
        """The initializers, new for each walk, because a walk adds knowledge to them."""
        found: dict[str, Value] = {tensor.name: TensorConstant(tensor) for tensor in self.raw.initializer}
        for tensor in self.raw.sparse_initializer:
            found[tensor.values.name] = Value(tuple(tensor.dims), tensor.values.data_type)
        return found


def nodes_of(protos: Iterable[Any], versions: Mapping[str, int]) -> list[Node]:
    """Wrap nodes for the walk, with the versions of the imported operator sets."""
    return [OnnxNode(proto, versions) for proto in protos]
