"""Protobuf messages as graphs, nodes, constants and declared types, and functions as the nodes of one call."""

from __future__ import annotations

import struct
from ast import literal_eval
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache
from math import prod
from typing import Any, TypeAlias

from symbcast.core.algebra.formulas import FALSE, Formula
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.graphs.graph import Graph, Node, module_path
from symbcast.operators.values import contents
from symbcast.operators.values.value import CommonShape, Constant, OptionalValue, SequenceValue, Value, whole_shape

TENSORS = ("tensor_type", "sparse_tensor_type")

DeclaredSizeReader: TypeAlias = "Callable[[Any, int, bool], Dim | None]"
"""Returns a declared size of an axis; the last argument says whether several tensors may differ in it."""


def canonical_domain(domain: str) -> str:
    """Return a domain's canonical name; ONNX's own domain has two names."""
    return "" if domain == "ai.onnx" else domain


def number(dim: Any, _axis: int = 0, _is_of_many: bool = False) -> int | None:
    """Return a declared size that is a number, None for any other."""
    return int(dim.dim_value) if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0 else None


def declared_value(kind: Any, read: DeclaredSizeReader = number, length: Dim = 0, is_there: Formula = FALSE) -> Value:
    """Return a value of a declared type; nothing else about it is known.

    ``length`` is that of a sequence, ``is_there`` the condition under which an optional holds a value.
    """
    which = kind.WhichOneof("value")
    if which == "optional_type":
        return OptionalValue(declared_value(kind.optional_type.elem_type, read, length), is_there)
    if which == "sequence_type":
        inner = kind.sequence_type.elem_type
        return SequenceValue(length, _sizes(inner, read, True), _dtype(inner))
    return Value(whole_shape(_sizes(kind, read, False)), _dtype(kind))


def _sizes(kind: Any, read: DeclaredSizeReader, is_of_many: bool) -> CommonShape:
    which = kind.WhichOneof("value")
    if which not in TENSORS or not getattr(kind, which).HasField("shape"):
        return None
    return tuple(read(d, axis, is_of_many) for axis, d in enumerate(getattr(kind, which).shape.dim))


def _dtype(kind: Any) -> int:
    which = kind.WhichOneof("value")
    return int(getattr(kind, which).elem_type) if which in TENSORS else 0


# The location of data outside the model, of ``TensorProto.DataLocation``.
EXTERNAL = 1

# Largest number of elements to read without numpy; importing numpy takes longer than reading them.
_SHORT = 16
# Element types used in shape computations, with their `struct` format letters.
_CODES = {contents.FLOAT: "f", contents.INT32: "i", contents.INT64: "q", contents.BOOL: "?", contents.DOUBLE: "d"}

_WHOLE = contents.INTEGERS | {contents.BOOL}
_REALS = frozenset({contents.FLOAT, contents.FLOAT16, contents.DOUBLE})


class StoredTensor:
    """A tensor of a model, read once for all that examines it; ``raw`` is its ``TensorProto``.

    Attributes:
        shape, dtype: its sizes and its element type.
        is_long: whether it has more elements than are listed or computed with.
    """

    __slots__ = ("_facts", "_written", "dtype", "is_long", "raw", "shape")

    def __init__(self, tensor: Any, facts: Hashable = None) -> None:
        self.raw = tensor
        self.shape: tuple[int, ...] = tuple(tensor.dims[:])  # a list takes half the time of the container
        self.dtype: int = tensor.data_type
        self.is_long = prod(self.shape) > contents.MAX_ELEMENTS
        self._facts = facts
        self._written: bytes | None = None

    @property
    def facts(self) -> Hashable:
        """The shape and type, and the data unless it is long; equal for tensors that differ only in their names."""
        if self._facts is None:
            self._facts = (self.shape, self.dtype) if self.is_long else unnamed(self.raw)
        return self._facts

    @property
    def written(self) -> bytes:
        """The message as bytes."""
        if self._written is None:
            self._written = self.raw.SerializeToString(deterministic=True)
        return self._written


class TensorPool:
    """The tensors of a model: those that are short and equal but for their names are one object."""

    def __init__(self) -> None:
        self._stored: dict[tuple[Any, ...], StoredTensor] = {}
        # Whether tensors have few elements, by element type and sizes.
        self._short: dict[tuple[int, ...], bool] = {}

    def read(self, tensor: Any) -> StoredTensor:
        """Return a tensor; another one if that is equal to it."""
        kind = tensor.data_type, *tensor.dims[:]
        is_short = self._short.get(kind)
        if is_short is None:
            is_short = self._short[kind] = prod(kind[1:]) <= contents.MAX_ELEMENTS
        if not is_short or tensor.data_location:
            return StoredTensor(tensor)
        data = tensor.raw_data
        if not data and kind[0] == contents.INT64 and not tensor.HasField("raw_data"):
            data = tuple(tensor.int64_data[:])
        if not data:
            return StoredTensor(tensor)
        key = kind, data
        stored = self._stored.get(key)
        if stored is None:
            stored = self._stored[key] = StoredTensor(tensor, key)
        return stored


class Initializers(NamedTuple):
    """The initializers of a graph.

    Attributes:
        names: the name of each.
        tensors: the tensor of each; equal ones may be one object.
        different: each object once.
    """

    names: list[str]
    tensors: list[StoredTensor]
    different: Sequence[StoredTensor]

    @classmethod
    def of(cls, protos: Iterable[Any]) -> Initializers:
        """Read the initializers of a graph."""
        read = TensorPool().read
        names, tensors = [], []
        for proto in protos:
            names.append(proto.name)
            tensors.append(read(proto))
        return cls(names, tensors, list(dict.fromkeys(tensors)))


class TensorConstant(Constant):
    """A constant; ``raw`` is its ``TensorProto``."""

    __slots__ = ("_stored",)

    def __init__(self, tensor: Any, stored: StoredTensor | None = None) -> None:
        self._stored = stored = StoredTensor(tensor) if stored is None else stored
        super().__init__(tensor, stored.shape, stored.dtype)

    def read(self) -> contents.Content | None:
        """Return the content, for integers, truth values and real numbers that are short fractions."""
        tensor = self.raw
        is_short_real = tensor.data_type in _REALS and prod(tensor.dims) <= contents.MAX_ELEMENTS
        if tensor.data_type not in _WHOLE and not is_short_real:
            return None
        numbers = read_short(tensor)
        if numbers is not None:
            return contents.from_numbers(numbers)
        array = self.array
        return None if array is None else contents.from_array(array)

    @property
    def array(self) -> Any:
        """The numbers; None where their data are outside the model, or cannot be read."""
        self.was_read = self._stored.is_long
        return read_array(self.raw)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data of a constant that is short enough to be listed."""
        return TensorConstant, self._stored.facts


def unnamed(tensor: Any) -> bytes:
    """Return a tensor as bytes that do not depend on its name."""
    if tensor.HasField("raw_data"):
        return b"%d %r " % (tensor.data_type, list(tensor.dims)) + bytes(tensor.raw_data)
    if tensor.data_type == contents.INT64:
        return b"%d %r of %r" % (contents.INT64, list(tensor.dims), list(tensor.int64_data))
    copy = type(tensor)()
    copy.CopyFrom(tensor)
    copy.ClearField("name")
    return bytes(copy.SerializeToString(deterministic=True))


def read_short(tensor: Any) -> list[Any] | None:
    """Return the numbers of a short tensor whose data are bytes or integers in the model; None for others."""
    code = _CODES.get(tensor.data_type)
    count = prod(tensor.dims)
    if code is None or not 0 < count <= _SHORT or tensor.data_location == EXTERNAL:
        return None
    raw = tensor.raw_data
    if not raw and tensor.data_type == contents.INT64:
        numbers = tensor.int64_data[:]
        return numbers if len(numbers) == count else None
    layout = f"<{count}{code}"
    return list(struct.unpack(layout, raw)) if len(raw) == struct.calcsize(layout) else None


def read_array(tensor: Any) -> Any:
    """Return a tensor as a numpy array; None where its data are outside the model, or cannot be read."""
    from onnx import numpy_helper

    if tensor.data_location == EXTERNAL:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):
        return None  # a broken tensor: its numbers stay unknown


# The field that holds an attribute of each type, by the number of ``AttributeProto.AttributeType``.
FIELDS = (
    "",
    *[
        "f",
        "i",
        "s",
        "t",
        "g",
        "floats",
        "ints",
        "strings",
        "tensors",
        "graphs",
        "sparse_tensor",
        "sparse_tensors",
        "tp",
        "type_protos",
    ],
)
REPEATED = frozenset({"floats", "ints", "strings", "tensors", "graphs", "sparse_tensors", "type_protos"})
# Types of attributes, of ``AttributeProto.AttributeType``.
TENSOR_KIND, GRAPH_KIND, GRAPHS_KIND = 4, 5, 10
# The paths of all modules around a node, as a Python list that ends with the node.
_SCOPES = "pkg.torch.onnx.name_scopes"


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
            self._attributes = {
                a.name: _value(a) for a in self.raw.attribute if a.type not in (GRAPH_KIND, GRAPHS_KIND)
            }
        return self._attributes

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The graphs that it runs, by attribute name; those of a list have their index appended."""
        if self._graphs is None:
            self._graphs = self._read_graphs()
        return self._graphs

    def _read_graphs(self) -> Mapping[str, Graph]:
        graphs = {}
        for attribute in self.raw.attribute:
            if attribute.type == GRAPH_KIND:
                graphs[attribute.name] = OnnxGraph(attribute.g, self.versions)
            elif attribute.type == GRAPHS_KIND:
                graphs.update(
                    (f"{attribute.name}.{n}", OnnxGraph(g, self.versions)) for n, g in enumerate(attribute.graphs)
                )
        return graphs

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
        if attribute.type in (GRAPH_KIND, GRAPHS_KIND):
            return None
        written.append(attribute.SerializeToString())  # no field is a map, so the order is fixed
    return tuple(written)


def _value(attribute: Any) -> Any:
    kind = attribute.type
    if not 0 < kind < len(FIELDS):  # enumerations of protobuf are open: a file can hold any number
        return None
    value = getattr(attribute, FIELDS[kind])
    return list(value) if FIELDS[kind] in REPEATED else value


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
            walkable_nodes(proto.node, versions) if nodes is None else nodes,
            [i.name for i in proto.input],
            [o.name for o in proto.output],
            name=proto.name,
        )

    @property
    def constants(self) -> Mapping[str, Value]:
        """The initializers, new for each walk, because a walk adds knowledge to them."""
        names, tensors, different = self._tensors
        constants = {t: TensorConstant(t.raw, t) for t in different}
        values: dict[str, Value] = dict(zip(names, map(constants.__getitem__, tensors), strict=True))
        for tensor in self.raw.sparse_initializer:
            values[tensor.values.name] = Value(tuple(tensor.dims), tensor.values.data_type)
        return values


@cache
def _has_overloads() -> bool:
    """Return whether nodes say which overload of a function they call; onnx before 1.16 has none."""
    from onnx import NodeProto

    return "overload" in NodeProto.DESCRIPTOR.fields_by_name


def walkable_nodes(protos: Iterable[Any], versions: Mapping[str, int]) -> list[OnnxNode]:
    """Wrap nodes for the walk, with the versions of the imported operator sets."""
    nodes = []
    kinds: dict[tuple[Any, ...], str] = {}
    read = TensorPool().read
    version, has_overloads = versions.get("", 1), _has_overloads()
    for proto in protos:
        node = OnnxNode.__new__(OnnxNode)  # the constructor of `Node` takes as long as reading the message
        nodes.append(node)
        node.raw, node.versions, node.name = proto, versions, proto.name
        node.op_type = op_type = proto.op_type
        node.inputs = inputs = proto.input[:]  # a list, made in half the time of `list`
        node.outputs = outputs = proto.output[:]
        node.domain = domain = proto.domain and canonical_domain(proto.domain)
        node.version = versions.get(domain, 1) if domain else version
        node.tensor = None
        node._attributes = None
        node._graphs = None
        node.kind = None
        attributes = proto.attribute
        if op_type == "Constant":
            if not domain and len(attributes) == 1:
                (attribute,) = attributes
                if attribute.name == "value" and attribute.type == TENSOR_KIND:
                    node.tensor = read(attribute.t)
            continue
        written = _written(attributes) if attributes else ()
        if written is None:
            continue
        presence = tuple([name != "" for name in inputs]) if "" in inputs else len(inputs)
        used = tuple([name != "" for name in outputs]) if "" in outputs else len(outputs)
        # Calls of two overloads of a function differ in nothing else.
        key = op_type, domain, proto.overload if has_overloads else "", presence, used, written
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = repr((node.version, key))
        node.kind = kind
    return nodes


# Functions of a model or of the standard: the nodes of their bodies for one call.


def body_of(function: Any, node: Any, absent: Set[str]) -> list[Any]:
    """Return the nodes of a function for the call ``node`` without the inputs ``absent``."""
    attributes = {a.name: a for a in (*function.attribute_proto, *node.attribute)}
    return [_called(inner, attributes, absent) for inner in function.node]


def _called(node: Any, attributes: Mapping[str, Any], absent: Set[str]) -> Any:
    if all(absent.isdisjoint(n.input) and not any(a.ref_attr_name for a in n.attribute) for n in with_inner(node)):
        return node
    copy = type(node)()
    copy.CopyFrom(node)
    _leave_out(copy, absent)
    for inner in list(with_inner(copy)):
        _substitute(inner, attributes)
    return copy


def _leave_out(node: Any, absent: Set[str]) -> None:
    """Remove the names ``absent`` from the inputs of a node and of inner nodes that do not shadow them."""
    node.input[:] = ["" if name in absent else name for name in node.input]
    for graph in graphs_in(node):
        # A constant in a branch of a function may have the name of an input that the call leaves out.
        own = {t.name for t in (*graph.initializer, *graph.input)} | {name for n in graph.node for name in n.output}
        for inner in graph.node:
            _leave_out(inner, absent - own)


def with_inner(node: Any) -> Iterator[Any]:
    """Yield a node and the nodes of the graphs that it holds."""
    yield node
    for graph in graphs_in(node):
        for inner in graph.node:
            yield from with_inner(inner)


def graphs_in(node: Any) -> Iterator[Any]:
    """Yield the graphs that a node holds, such as the branches of If."""
    for attribute in node.attribute:
        yield from (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs)


def _substitute(node: Any, attributes: Mapping[str, Any]) -> None:
    # From the end, because attributes are deleted on the way.
    for position in reversed(range(len(node.attribute))):
        attribute = node.attribute[position]
        if not attribute.ref_attr_name:
            continue
        # A reference to an attribute of the function is replaced by its value, or dropped if it has none.
        value = attributes.get(attribute.ref_attr_name)
        if value is None:
            del node.attribute[position]
        else:
            name = attribute.name
            attribute.CopyFrom(value)
            attribute.name = name


def definition_of(schema: Any, node: Any, version: int, types: Sequence[Any]) -> Any:
    """Return the standard's definition of an operator by others, for a version and input types; None without one.

    ``types`` are those of all inputs of ``node``, empty where nothing is known.
    """
    from onnx import FunctionProto

    versions = [v for v in schema.function_opset_versions if v <= version]
    if versions:
        return FunctionProto.FromString(schema.get_function_with_opset_version(max(versions)))
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
    if not versions:
        return None
    try:
        written = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), [t.SerializeToString() for t in types]
        )
    except Exception:  # onnx's bindings raise any kind; an operator that cannot be built is inferred
        return None
    return FunctionProto.FromString(written) if written else None


def with_defaults(node: Any, schema: Any) -> Any:
    """Return a node with the attributes that it leaves at their defaults written out."""
    copy = type(node)()
    copy.CopyFrom(node)
    names = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in names and attribute.default_value.name:
            copy.attribute.add().CopyFrom(attribute.default_value)
    return copy
