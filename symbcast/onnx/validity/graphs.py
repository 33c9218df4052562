"""Check a model's graphs: each name is defined once, before its uses, and each node matches its schema."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.errors import ModelError
from symbcast.onnx.protobuf.constant import Initializers
from symbcast.onnx.validity.bodies import check_bodies
from symbcast.onnx.validity.declared import check_declared, check_unused
from symbcast.onnx.validity.faults import DAMAGED, Source, label, quoted
from symbcast.onnx.validity.nodes import FIELDS, check_held, check_node
from symbcast.onnx.validity.opsets import Key, key_of, title
from symbcast.onnx.validity.tensors import problem_of, sparse_problem_of

MAX_DEPTH = 64
"""How many levels of nested graphs are examined; `symbcast.graphs.walking.walk` follows fewer."""
_OVERRIDABLE = 4
"""The first version of the IR in which constants need not be inputs."""
_TENSOR, _GRAPH, _GRAPHS = 4, 5, 10
_ONE, _SEVERAL = frozenset({1, 2, 3}), frozenset({6, 7, 8})
"""The types of attributes that are numbers or texts, by how many they hold."""


Read: TypeAlias = "Callable[[Any, Mapping[str, int]], Sequence[Any]]"
"""Reads the nodes of a graph, for some versions of operator sets."""


class UnsortedError(ModelError):
    """A node of the main graph uses a value that a later node produces."""


class Graphs:
    """Check all graphs of a model.

    The requirements are looked up once for all nodes with the same operator, attributes and number of inputs.
    """

    def __init__(
        self, source: Source, model: Any, functions: Mapping[Key, Any], read: Read, *, of_runtime: bool
    ) -> None:
        self._source = source
        self._read = read
        self._model = model
        self._functions = functions
        self._of_runtime = of_runtime
        """Whether to check ONNX Runtime's own requirements on node names and declared values."""
        self.nodes: Sequence[Any] = ()
        self.tensors = Initializers.of(())
        """The nodes and the initializers of the main graph."""
        self.count = -len(model.graph.node)
        """The number of nodes in functions and nested graphs."""
        self._versions: Mapping[str, int] = {}
        self._right: set[Hashable] = set()
        """Keys of valid nodes: all facts on which validity depends, under the current versions."""

    def check(self, versions: Mapping[str, int]) -> None:
        """Check the main graph, with the given operator set versions."""
        self._versions, self._right = versions, set()
        graph = self._model.graph
        self.nodes = self._read(graph.node, versions)
        self.tensors = Initializers.of(graph.initializer)
        self._graph(graph, (), self.nodes, self.tensors)

    def check_function(self, function: Any, versions: Mapping[str, int]) -> None:
        """Check the body of a function."""
        self._versions, self._right = versions, set()
        known = set(function.input)
        self._nodes(self._read(function.node, versions), known, ())
        for name in function.output:
            if self._of_runtime and name in function.input:
                raise self._source.fault(f"the output {quoted(name)} is also an input, which ONNX Runtime refuses")
            if name not in known:
                raise self._source.fault(f"the output {quoted(name)} is not produced by any node")

    def _graph(self, graph: Any, around: Sequence[set[str]], nodes: Sequence[Any], tensors: Initializers) -> None:
        """Check a graph; ``around`` holds the names defined so far by the graphs around it."""
        if len(around) > MAX_DEPTH:
            return
        known = self._held(graph, tensors)
        if self._of_runtime:
            check_declared(graph, tensors, self._source)
            if 0 < self._model.ir_version < _OVERRIDABLE:
                check_unused(graph, self._source)
        self._nodes(nodes, known, around)
        if bytes in set(map(type, known)):
            raise self._source.fault(*DAMAGED)
        for output in graph.output:
            if output.name not in known:
                raise self._source.fault(
                    f"the output {quoted(output.name)} of the graph {quoted(graph.name)} is not produced in it"
                )

    def _held(self, graph: Any, tensors: Initializers) -> set[str]:
        """Return the names of the inputs and constants of a graph."""
        given = [i.name for i in graph.input]
        held = tensors.names + [t.values.name for t in graph.sparse_initializer]
        for what, names in ("input", given), ("initializer", held):
            if bytes in set(map(type, names)):
                raise self._source.fault(*DAMAGED)
            if len(set(names)) < len(names):
                raise self._source.fault(f"the {what} {quoted(_first_twice(names))} is defined twice")
        if "" in given:
            raise self._source.fault(f"input {given.index('')} of the graph {quoted(graph.name)} has no name")
        for tensor in tensors.different:
            problem = problem_of(tensor.raw)
            if problem is not None:
                raise self._source.fault(f"the initializer {quoted(tensor.raw.name)} {problem}")
        for sparse in graph.sparse_initializer:
            problem = sparse_problem_of(sparse)
            if problem is not None:
                raise self._source.fault(f"the sparse initializer {quoted(sparse.values.name)} {problem}")
        return {*given, *held} - {""}

    def _nodes(self, nodes: Sequence[Any], known: set[str], around: Sequence[set[str]]) -> None:
        """Check nodes in order, and add the names that they define to ``known``."""
        right, titles, of_runtime = self._right, set[str](), self._of_runtime
        self.count += len(nodes)
        for node in nodes:
            inputs = node.inputs
            if not known.issuperset(inputs):
                for name in inputs:
                    if name and name not in known and not _is_among(name, around):
                        raise self._undefined(node.raw, name, [n.raw for n in nodes], around)
            tensor = node.tensor
            kind = node.kind if tensor is None else (tensor, len(inputs), len(node.outputs))
            if kind is None or kind not in right:
                is_plain = self._is_plain_node(node.raw, inputs, (*around, known))
                if kind is not None and (is_plain or tensor is not None):
                    right.add(kind)
            for name in node.outputs:
                if name in known or (around and _is_among(name, around)):
                    raise self._source.fault(f"{label(node.raw)} makes {quoted(name)}, which is already defined")
                if name:
                    known.add(name)
            title = node.name
            # ONNX Runtime turns constants into initializers before it checks names.
            if title and (node.op_type != "Constant" or not of_runtime):
                if title in titles or isinstance(title, bytes):
                    self._refuse_title(title)
                titles.add(title)

    def _is_plain_node(self, node: Any, inputs: Sequence[str], around: Sequence[set[str]]) -> bool:
        """Check a node; return whether it is right wherever it stands: it holds numbers and texts only."""
        key: tuple[Any, ...] = (node.op_type, node.domain, len(inputs), len(node.output))
        if "" in inputs:
            key += tuple(n for n, name in enumerate(inputs) if not name)
        held = []
        for attribute in node.attribute:
            kind = attribute.type
            key += (attribute.name, kind)
            if not _is_plain(attribute, kind):
                held.append(attribute)
        if key not in self._right:
            self._node(node)
            self._right.add(key)
        if held:
            self._within(node, held, around)
        return not held

    def _refuse_title(self, title: str | bytes) -> None:
        """Raise `ModelError` for a node's name that is no text, or another node's if ONNX Runtime is asked about."""
        if isinstance(title, bytes):
            raise self._source.fault(*DAMAGED)
        if self._of_runtime:
            raise self._source.fault(f"two nodes are called {quoted(title)}, which ONNX Runtime refuses")

    def _node(self, node: Any) -> None:
        """Check the facts that all nodes with the same operator and attributes share."""
        key = key_of(node.domain, node.op_type, node)
        function = self._functions.get(key)
        if function is None:
            check_node(node, self._versions, self._source)
            return
        if key[0] not in self._versions:
            raise self._source.fault(
                f"{label(node)} uses the domain {quoted(key[0] or 'ai.onnx')}, which the model does not import",
                "add it to the model's opset_import",
            )
        for what, count, most in (
            ("inputs", len(node.input), len(function.input)),
            ("outputs", len(node.output), len(function.output)),
        ):
            if count > most:
                raise self._source.fault(f"{label(node)} has {count} {what}, and the function {title(key)} has {most}")

    def _within(self, node: Any, attributes: Iterable[Any], around: Sequence[set[str]]) -> None:
        """Check the attributes of a node that hold tensors or graphs, or a value that does not match their type."""
        for attribute in attributes:
            kind = attribute.type
            if kind == _TENSOR and attribute.HasField("t"):
                problem = problem_of(attribute.t)
                if problem is not None:
                    raise self._source.fault(f"the tensor in {quoted(attribute.name)} of {label(node)} {problem}")
                continue
            check_held(node, attribute, self._source)
            if kind in (_GRAPH, _GRAPHS):
                check_bodies(node, self._versions.get("", 1), self._source)
                for graph in [attribute.g] if kind == _GRAPH else attribute.graphs:
                    nodes = self._read(graph.node, self._versions)
                    self._graph(graph, around, nodes, Initializers.of(graph.initializer))

    def _undefined(self, node: Any, name: Any, nodes: Any, around: Sequence[set[str]]) -> ModelError:
        """Return the error for a name that is used before it is defined, or never defined."""
        if isinstance(name, bytes):
            return self._source.fault(*DAMAGED)
        is_later = any(name in other.output for other in nodes)
        text = f"{label(node)} uses {quoted(name)}, which "
        if not is_later and around:
            is_later = any(name in other.output for other in self._model.graph.node)
            around = ()
        if is_later and not around and not self._source.function:
            return UnsortedError(self._source.name, f"{text}a later node produces")
        return self._source.fault(f"{text}{'a later node produces' if is_later else 'no node produces'}")


def _is_plain(attribute: Any, kind: int) -> bool:
    """Return whether an attribute is a number, a text or a list of them, and has a value of its type."""
    if kind in _ONE:
        return bool(attribute.HasField(FIELDS[kind]))
    return kind in _SEVERAL and bool(getattr(attribute, FIELDS[kind]))


def _is_among(name: str, around: Sequence[set[str]]) -> bool:
    return any(name in names for names in around)


def _first_twice(names: Sequence[str]) -> str:
    met: set[str] = set()
    for name in names:
        if name in met:
            break
        met.add(name)
    return name
