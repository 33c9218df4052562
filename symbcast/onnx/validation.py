"""Validate a model before the walk: its graphs, the order of nodes, inner graphs, tensors and declared values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from symbcast.core.structs import NamedTuple
from symbcast.errors import ModelError
from symbcast.onnx import schemas
from symbcast.onnx.protobuf import EXTERNAL, FIELDS, GRAPH_KIND, GRAPHS_KIND, TENSOR_KIND, Initializers, with_inner
from symbcast.onnx.schemas import DAMAGED, Key, ModelSource, Runtime
from symbcast.operators.values.contents import STRING

# Check that a model's tensors have the amount of data that their shapes require.


# The largest tensor, in bytes, whose data are counted: protobuf copies them, and weights are large.
_MAX_READ = 1 << 16
# The largest size of a protobuf message, in bytes.
_MAX_EMBEDDED = 1 << 31

# How many bits an element of each type takes in ``raw_data``.
_BITS: Mapping[int, int] = {
    **dict.fromkeys((25, 26), 2),
    **dict.fromkeys((21, 22, 23), 4),
    **dict.fromkeys((2, 3, 9, 17, 18, 19, 20, 24), 8),
    **dict.fromkeys((4, 5, 10, 16), 16),
    **dict.fromkeys((1, 6, 12), 32),
    **dict.fromkeys((7, 11, 13, 14), 64),
    15: 128,
}

# The fields for elements outside ``raw_data``, and how many numbers each element takes.
#
# All other types are in ``int32_data``: one element to a number, or as many as fit into a byte.
_FIELDS: Mapping[int, tuple[str, int]] = {
    1: ("float_data", 1),
    14: ("float_data", 2),
    11: ("double_data", 1),
    15: ("double_data", 2),
    **dict.fromkeys((12, 13), ("uint64_data", 1)),
    7: ("int64_data", 1),
    STRING: ("string_data", 1),
}


def tensor_problem(tensor: Any) -> str | None:
    """Return what is wrong with a tensor, as the end of a sentence; None if it is valid.

    >>> from onnx import TensorProto
    >>> tensor_problem(TensorProto(name="w", data_type=1, dims=[2, 3], raw_data=b"12345678"))
    'has 8 bytes of data, and its shape (2, 3) takes 24'
    """
    dtype = tensor.data_type
    if dtype not in _BITS and dtype != STRING and (not dtype or dtype not in schemas.element_type_numbers()):
        return f"has the unknown element type {dtype}"
    dims = tensor.dims
    if dims and min(dims) < 0:
        return f"has the shape {_shape(dims)}: no size can be negative"
    if tensor.data_location == EXTERNAL:
        is_located = any(entry.key == "location" for entry in tensor.external_data)
        return None if is_located else "has its data in another file, but does not name it"
    return _of_data(tensor, _count(dims)) if dtype in _BITS or dtype == STRING else None


def _of_data(tensor: Any, count: int) -> str | None:
    dtype = tensor.data_type
    if tensor.HasField("raw_data"):
        if dtype == STRING:
            return "holds strings, which cannot be in raw_data"
        needed, count_held, what = (count * _BITS[dtype] + 7) // 8, None, "bytes of data"
        if needed <= _MAX_READ:
            count_held = len(tensor.raw_data)
    else:
        field, each = _FIELDS.get(dtype, ("int32_data", 1))
        is_packed = _BITS.get(dtype, 8) < 8
        needed = (count * _BITS[dtype] + 7) // 8 if is_packed else count * each
        count_held, what = len(getattr(tensor, field)), f"elements in {field}"
    if count_held is not None and count_held != needed:
        return f"has {count_held} {what}, and its shape {_shape(tensor.dims)} takes {needed}"
    if needed > _MAX_EMBEDDED:
        return f"has the shape {_shape(tensor.dims)}, which takes {needed} bytes or more: no model can hold that"
    return None


def sparse_problem_of(tensor: Any) -> str | None:
    """Return what is wrong with a sparse tensor, as the end of a sentence; None if it is valid."""
    values, indices, dims = tensor.values, tensor.indices, tensor.dims
    for part, what in ((values, "values"), (indices, "indices")):
        problem = tensor_problem(part)
        if problem is not None:
            return f"has invalid {what}: the tensor {problem}"
    if any(d < 0 for d in dims):
        return f"has the shape {_shape(dims)}: no size can be negative"
    count = _count(values.dims)
    allowed = ([count], [count, len(dims)])
    if list(indices.dims) not in allowed:
        return f"has indices of shape {_shape(indices.dims)}; for {count} values it must be {_shape(allowed[0])}"
    # ONNX Runtime makes the tensor dense when it opens a model, so the index of each value must be within the shape.
    return _of_places(tensor, count)


def _of_places(tensor: Any, count: int) -> str | None:
    """Return the problem of a sparse tensor with an index outside its shape; None if there is none."""
    from onnx import numpy_helper

    if tensor.indices.data_location == EXTERNAL or count > _MAX_READ:
        return None
    sizes = list(tensor.dims) if len(tensor.indices.dims) > 1 else [_count(tensor.dims)]
    for place in numpy_helper.to_array(tensor.indices).reshape(-1, len(sizes)):
        for index, size in zip(place.tolist(), sizes, strict=True):
            if not 0 <= index < size:
                return f"has the index {index}, which is not within 0 to {size - 1}"
    return None


def _count(dims: Any) -> int:
    """Return the number of elements; inexact if no model could hold that many."""
    count = 0 if 0 in dims else 1
    for size in dims:
        count *= size
        # Sizes in a damaged file have up to 19 digits each: their exact product would be of no use.
        if count > _MAX_EMBEDDED << 8:
            break
    return count


def _shape(dims: Any) -> str:
    shown = ", ".join(map(str, dims[:8])) + (", ..." if len(dims) > 8 else "," if len(dims) == 1 else "")
    return f"({shown})"


def with_sorted_nodes(model: Any, source: ModelSource) -> Any:
    """Return a copy of a model with its main graph sorted; raises `ModelError` if the nodes form a cycle."""
    # ONNX Runtime does the same: see ``Graph::PerformTopologicalSortAndCheckIsAcyclic``.
    nodes = list(model.graph.node)
    maker = {name: n for n, node in enumerate(nodes) for name in node.output}
    used = ((name for inner in with_inner(node) for name in inner.input) for node in nodes)
    needs = [{maker[name] for name in names if name in maker} for names in used]
    users: list[list[int]] = [[] for _ in nodes]
    for n, needed in enumerate(needs):
        for other in needed:
            users[other].append(n)
    left = [len(needed) for needed in needs]
    order = [n for n, count in enumerate(left) if not count]
    for n in order:
        for user in users[n]:
            left[user] -= 1
            if not left[user]:
                order.append(user)
    if len(order) < len(nodes):
        raise source.fault(_circle(nodes, needs, next(n for n, count in enumerate(left) if count), left))
    copy = type(model)()
    copy.CopyFrom(model)
    del copy.graph.node[:]
    copy.graph.node.extend(nodes[n] for n in order)
    return copy


def _circle(nodes: list[Any], needs: list[set[int]], start: int, left: list[int]) -> str:
    """Return the message for a cycle of nodes, found by following inputs back until a node repeats."""
    way, places, n = [start], {start: 0}, start
    while True:
        # A node that is left needs another one that is left, so the way ends in a cycle: the same one each time, as
        # the least of them is followed.
        n = min(other for other in needs[n] if left[other])
        if n in places:
            break
        places[n] = len(way)
        way.append(n)
    circle = [schemas.label(nodes[n]) for n in (n, *reversed(way[places[n] :]))]
    shown = circle if len(circle) <= 6 else [*circle[:5], "...", circle[-1]]
    return f"nodes depend on each other in a cycle: {' -> '.join(shown)}"


class Count(NamedTuple):
    """An actual and a required count."""

    what: str
    actual: int
    required: int


def check_bodies(node: Any, version: int, source: ModelSource) -> None:
    """Raise `ModelError` if the graphs in a node have numbers of inputs or outputs that do not fit the node."""
    counts = _COUNTS.get(node.op_type)
    if counts is None or node.domain not in ("", "ai.onnx"):
        return
    for what, count, required in counts(node, {a.name: a for a in node.attribute}, version):
        if count != required:
            raise source.fault(f"{schemas.label(node)} has {count} {what}; there must be {required}")


def _if(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    for name in ("then_branch", "else_branch"):
        graph = attributes[name].g
        yield Count(f"inputs of its {name}", len(graph.input), 0)
        yield Count(f"outputs of its {name}", len(graph.output), len(node.output))


def _loop(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    """Check a Loop: its body maps (iteration, condition, values) to (condition, values, stacked outputs)."""
    body = attributes["body"].g
    yield Count("inputs of its body", len(body.input), len(node.input))
    yield Count("outputs of its body", len(body.output), len(node.output) + 1)
    yield Count("outputs", len(node.output), max(len(node.output), len(node.input) - 2))


def _scan(node: Any, attributes: Mapping[str, Any], version: int) -> Iterator[Count]:
    """Check a Scan: its body maps (states, a slice of each scanned input) to (states, stacked outputs)."""
    if version < 9:  # version 8 has sequence lengths before its states
        return
    body, scanned = attributes["body"].g, attributes["num_scan_inputs"].i
    yield Count("inputs in its num_scan_inputs", scanned, min(max(scanned, 1), len(node.input)))
    states = len(node.input) - scanned
    stacked = len(node.output) - states
    yield Count("inputs of its body", len(body.input), len(node.input))
    yield Count("outputs of its body", len(body.output), len(node.output))
    yield Count("outputs", len(node.output), max(len(node.output), states))
    for name, count in (
        ("scan_input_axes", scanned),
        ("scan_input_directions", scanned),
        ("scan_output_axes", stacked),
        ("scan_output_directions", stacked),
    ):
        if name in attributes and attributes[name].ints:
            yield Count(f"numbers in its {name}", len(attributes[name].ints), count)


_COUNTS: Mapping[str, Callable[[Any, Mapping[str, Any], int], Iterator[Count]]]
_COUNTS = {"If": _if, "Loop": _loop, "Scan": _scan}


# ONNX Runtime's checks of declared values, before it infers anything.


_TENSOR_TYPE = "tensor_type"


def check_unused(graph: Any, source: ModelSource) -> None:
    """Raise `ModelError` for an unused constant that is not an input, before version 4 of the IR."""
    known = {v.name for v in (*graph.input, *graph.output)} | {name for node in graph.node for name in node.input}
    for tensor in graph.initializer:
        if tensor.name not in known:
            raise source.fault(
                f"the initializer {schemas.quote(tensor.name)} must also be an input in this version of the IR"
            )


def check_declared(graph: Any, tensors: Initializers, source: ModelSource, *, only_inputs: bool) -> None:
    """Raise `ModelError` for tensors declared without an element type, or constants unlike their declaration.

    With ``only_inputs``, constants are compared only with inputs of the graph. ONNX Runtime does so from version 4 of
    the IR on (seen with 1.32): converters to float16 leave the old types of weights in ``value_info``.
    """
    declared = {v.name: v.type.tensor_type for v in (*graph.value_info, *graph.output) if _is_tensor(v)}
    if only_inputs:
        declared = {name: declared[name] for name in declared.keys() - set(tensors.names)}
    inputs = {v.name for v in graph.input}
    for name, kind in declared.items():
        if not kind.elem_type and name not in inputs:
            raise source.fault(f"{schemas.quote(name)} is declared as a tensor without an element type")
    declared.update((v.name, v.type.tensor_type) for v in graph.input if _is_tensor(v))
    if declared.keys().isdisjoint(tensors.names):
        return
    for name, tensor in zip(tensors.names, tensors.tensors, strict=True):
        kind = declared.get(name)
        if kind is None:
            continue
        if kind.elem_type != tensor.dtype:
            raise source.fault(
                f"the initializer {schemas.quote(name)} has a different element type than its declaration"
            )
        if kind.HasField("shape") and not _fits(tensor.shape, kind.shape):
            raise source.fault(f"the initializer {schemas.quote(name)} has a different shape than its declaration")


def _is_tensor(value: Any) -> bool:
    return bool(value.type.WhichOneof("value") == _TENSOR_TYPE)


def _fits(dims: Any, shape: Any) -> bool:
    """Return whether sizes match the declared ones; names and negative numbers match any size."""
    return len(dims) == len(shape.dim) and all(
        d.WhichOneof("value") != "dim_value" or d.dim_value < 0 or d.dim_value == n
        for n, d in zip(dims, shape.dim, strict=True)
    )


# How many levels of nested graphs are examined; `symbcast.graphs.walking.walk` follows fewer.
MAX_DEPTH = 64
# The first version of the IR in which constants need not be inputs.
OVERRIDABLE = 4
# The types of attributes that are numbers or texts, by how many they hold.
_ONE, _SEVERAL = frozenset({1, 2, 3}), frozenset({6, 7, 8})


NodeReader: TypeAlias = "Callable[[Any, Mapping[str, int]], Sequence[Any]]"
"""Reads the nodes of a graph, for some versions of operator sets."""


class UnsortedError(ModelError):
    """A node of the main graph uses a value that a later node produces."""


class GraphChecker:
    """Check all graphs of a model.

    The requirements are looked up once for all nodes with the same operator, attributes and number of inputs.
    """

    def __init__(
        self, source: ModelSource, model: Any, functions: Mapping[Key, Any], read: NodeReader, *, of_runtime: bool
    ) -> None:
        self._source = source
        self._read = read
        self._model = model
        self._functions = functions
        # Whether to check ONNX Runtime's own requirements on node names and declared values.
        self._of_runtime = of_runtime
        self.nodes: Sequence[Any] = ()
        # The nodes and the initializers of the main graph.
        self.tensors = Initializers.of(())
        # The number of nodes in functions and nested graphs.
        self.count = -len(model.graph.node)
        self._versions: Mapping[str, int] = {}
        # Keys of valid nodes: all facts on which validity depends, under the current versions.
        self._right: set[Hashable] = set()

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
                raise self._source.fault(
                    f"the output {schemas.quote(name)} is also an input, which ONNX Runtime refuses"
                )
            if name not in known:
                raise self._source.fault(f"the output {schemas.quote(name)} is not produced by any node")

    def _graph(self, graph: Any, around: Sequence[set[str]], nodes: Sequence[Any], tensors: Initializers) -> None:
        """Check a graph; ``around`` holds the names defined so far by the graphs around it."""
        if len(around) > MAX_DEPTH:
            return
        known = self._names_at_start(graph, tensors)
        if self._of_runtime:
            is_old = 0 < self._model.ir_version < OVERRIDABLE
            check_declared(graph, tensors, self._source, only_inputs=not is_old)
            if is_old:
                check_unused(graph, self._source)
        self._nodes(nodes, known, around)
        # protobuf returns a name that is no UTF-8 as bytes, in some of its implementations.
        if bytes in set(map(type, known)):
            raise self._source.fault(*DAMAGED)
        for output in graph.output:
            if output.name not in known:
                name, within = schemas.quote(output.name), schemas.quote(graph.name)
                raise self._source.fault(f"the output {name} of the graph {within} is not produced in it")

    def _names_at_start(self, graph: Any, tensors: Initializers) -> set[str]:
        """Return the names of the inputs and constants of a graph."""
        inputs = [i.name for i in graph.input]
        constants = tensors.names + [t.values.name for t in graph.sparse_initializer]
        for what, names in ("input", inputs), ("initializer", constants):
            if bytes in set(map(type, names)):
                raise self._source.fault(*DAMAGED)
            if len(set(names)) < len(names):
                raise self._source.fault(f"the {what} {schemas.quote(_first_twice(names))} is defined twice")
        if "" in inputs:
            raise self._source.fault(f"input {inputs.index('')} of the graph {schemas.quote(graph.name)} has no name")
        # Equal tensors are one object, which is checked once.
        for tensor in tensors.different:
            problem = tensor_problem(tensor.raw)
            if problem is not None:
                raise self._source.fault(f"the initializer {schemas.quote(tensor.raw.name)} {problem}")
        for sparse in graph.sparse_initializer:
            problem = sparse_problem_of(sparse)
            if problem is not None:
                raise self._source.fault(f"the sparse initializer {schemas.quote(sparse.values.name)} {problem}")
        return {*inputs, *constants} - {""}

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
            # A node of type Constant has no kind, but equal constants are one tensor.
            kind = node.kind if tensor is None else (tensor, len(inputs), len(node.outputs))
            if kind is None or kind not in right:
                is_plain = self._is_plain_node(node.raw, inputs, (*around, known))
                if kind is not None and (is_plain or tensor is not None):
                    right.add(kind)
            for name in node.outputs:
                if name in known or (around and _is_among(name, around)):
                    raise self._source.fault(
                        f"{schemas.label(node.raw)} makes {schemas.quote(name)}, which is already defined"
                    )
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
        others = []
        for attribute in node.attribute:
            kind = attribute.type
            key += (attribute.name, kind)
            if not _is_plain(attribute, kind):
                others.append(attribute)
        if key not in self._right:
            self._node(node)
            self._right.add(key)
        if others:
            self._within(node, others, around)
        return not others

    def _refuse_title(self, title: str | bytes) -> None:
        """Raise `ModelError` for a node's name that is no text, or another node's if ONNX Runtime is asked about."""
        if isinstance(title, bytes):
            raise self._source.fault(*DAMAGED)
        if self._of_runtime:
            raise self._source.fault(f"two nodes are called {schemas.quote(title)}, which ONNX Runtime refuses")

    def _node(self, node: Any) -> None:
        """Check the facts that all nodes with the same operator and attributes share."""
        key = schemas.function_key(node.domain, node.op_type, node)
        function = self._functions.get(key)
        if function is None:
            schemas.check_node(node, self._versions, self._source)
            return
        if key[0] not in self._versions:
            domain = schemas.quote(key[0] or "ai.onnx")
            raise self._source.fault(
                f"{schemas.label(node)} uses the domain {domain}, which the model does not import",
                "add it to the model's opset_import",
            )
        for what, count, most in (
            ("inputs", len(node.input), len(function.input)),
            ("outputs", len(node.output), len(function.output)),
        ):
            if count > most:
                raise self._source.fault(
                    f"{schemas.label(node)} has {count} {what}, and the function {schemas.title(key)} has {most}"
                )

    def _within(self, node: Any, attributes: Iterable[Any], around: Sequence[set[str]]) -> None:
        """Check the attributes of a node that hold tensors or graphs, or a value that does not match their type."""
        for attribute in attributes:
            kind = attribute.type
            if kind == TENSOR_KIND and attribute.HasField("t"):
                problem = tensor_problem(attribute.t)
                if problem is not None:
                    raise self._source.fault(
                        f"the tensor in {schemas.quote(attribute.name)} of {schemas.label(node)} {problem}"
                    )
                continue
            schemas.check_attribute_value(node, attribute, self._source)
            if kind in (GRAPH_KIND, GRAPHS_KIND):
                check_bodies(node, self._versions.get("", 1), self._source)
                for graph in [attribute.g] if kind == GRAPH_KIND else attribute.graphs:
                    nodes = self._read(graph.node, self._versions)
                    self._graph(graph, around, nodes, Initializers.of(graph.initializer))

    def _undefined(self, node: Any, name: Any, nodes: Any, around: Sequence[set[str]]) -> ModelError:
        """Return the error for a name that is used before it is defined, or never defined."""
        if isinstance(name, bytes):
            return self._source.fault(*DAMAGED)
        is_later = any(name in other.output for other in nodes)
        text = f"{schemas.label(node)} uses {schemas.quote(name)}, which "
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
    seen: set[str] = set()
    for name in names:
        if name in seen:
            break
        seen.add(name)
    return name


class ValidModel(NamedTuple):
    """A model that was found to be well formed.

    Attributes:
        model: the model itself, or a copy with its nodes sorted.
        versions: the versions of its operator sets.
        functions: its functions by domain, name and overload.
        inner: the number of nodes in its functions and nested graphs.
        nodes, tensors: the nodes and initializers of its main graph, as they were read.
    """

    model: Any
    versions: dict[str, int]
    functions: dict[Key, Any]
    inner: int
    nodes: Sequence[Any]
    tensors: Initializers


def validated(name: str, model: Any, runtime: Runtime, read: NodeReader) -> ValidModel:
    """Return a model after checking it; raises `ModelError` if it is malformed. ``read`` reads nodes.

    With ``runtime="onnxruntime"``, everything that ONNX Runtime accepts is valid: it sorts the nodes, and imports the
    operator sets that it knows.
    """
    source = ModelSource(name)
    if model.ir_version > _newest_ir():
        raise source.fault(
            f"the model has IR version {model.ir_version}, but the installed onnx knows only up to {_newest_ir()}",
            "install a newer onnx, or export the model for an older version",
        )
    imported = schemas.versions(model.opset_import, source, runtime, model.ir_version)
    _check_inputs(model.graph, source)
    functions = schemas.functions_of(model, source)
    graphs = GraphChecker(source, model, functions, read, of_runtime=runtime == "onnxruntime")
    for function in model.functions:
        source.function = schemas.quote(function.name)
        graphs.check_function(function, schemas.versions(function.opset_import, source, "spec"))
    source.function = ""
    try:
        graphs.check(imported)
    except UnsortedError as error:
        # The documents require the order, and ONNX Runtime sorts by itself.
        in_order = with_sorted_nodes(model, source)
        if runtime != "onnxruntime":
            raise source.fault(error.problem, "sort the nodes, or export it again") from None
        return validated(name, in_order, runtime, read)
    return ValidModel(model, imported, functions, graphs.count, graphs.nodes, graphs.tensors)


def _newest_ir() -> int:
    import onnx

    return int(onnx.IR_VERSION)


def _check_inputs(graph: Any, source: ModelSource) -> None:
    """Raise `ModelError` if an input has no type or an unknown one."""
    for declared in graph.input:
        kind = declared.type.WhichOneof("value")
        if kind is None:
            if all(t.name != declared.name for t in graph.initializer):
                raise source.fault(f"the input {schemas.quote(declared.name)} has no type")
        elif kind == "tensor_type":
            tensor = declared.type.tensor_type
            if not tensor.elem_type or tensor.elem_type not in schemas.element_type_numbers():
                raise source.fault(
                    f"the input {schemas.quote(declared.name)} has the unknown element type {tensor.elem_type}"
                )
            if any(isinstance(d.dim_param, bytes) for d in tensor.shape.dim):
                raise source.fault(*DAMAGED)
