"""The graph of an exported program as named values, in the order of the walk.

Nodes, stored tensors, shared memory.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

from symbcast.answers.outcomes import CodeLine
from symbcast.core.structs import NamedTuple
from symbcast.graphs.graph import NOTHING, Graph, Node, module_path
from symbcast.operators.values.contents import BOOL, INTEGERS, Content, Elements, IndexRamp, from_array
from symbcast.operators.values.value import Constant, Decider, Value
from symbcast.torch.library import load_torch, node_class, onnx_type_number

# The largest number of elements that is read.
_LARGEST = 1 << 22


class StoredTorchTensor(Constant):
    """A tensor stored in a program. If it is fake (the program writes to it), data decide its elements."""

    def __init__(self, tensor: Any) -> None:
        super().__init__(tensor, tuple(tensor.shape), onnx_type_number(tensor.dtype))
        if self.is_fake:
            self.decided_by = Decider.DATA

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the elements that are known; None if these are not listed."""
        content = self.content
        if content is not None and not isinstance(content, Elements | IndexRamp):
            return None
        return StoredTorchTensor, self.shape, self.dtype, self.decided_by, content

    @property
    def is_fake(self) -> bool:
        """Whether it has no elements."""
        return hasattr(self.raw, "fake_mode") or bool(self.raw.is_meta)

    def read(self) -> Content | None:
        """Return the elements of an integer or boolean tensor; None for others, fake tensors and very large ones."""
        if self.dtype not in INTEGERS | {BOOL} or self.is_fake or self.raw.numel() > _LARGEST:
            return None
        return from_array(self.raw.detach().cpu().contiguous().numpy())


# Arguments and recorded results of a node as keys, which are equal where nodes differ only in names.


_PLAIN = frozenset({bool, int, float, complex, str, type(None)})


class _Types(NamedTuple):
    """The types of torch that are compared."""

    node: Any
    tensor: Any
    symbolic: Any
    written: Any


@cache
def _types() -> _Types:
    torch = load_torch()
    return _Types(
        node_class(),
        torch.Tensor,
        (torch.SymInt, torch.SymFloat, torch.SymBool),
        (torch.dtype, torch.device, torch.layout, torch.memory_format),
    )


def value_key(value: Any, places: Mapping[Any, int]) -> Hashable:
    """Return a value as a key; ``places`` numbers the nodes that it may hold.

    Raises `TypeError` for a value of a type that is not compared here.

    >>> one, other = (value_key([1, n], {}) for n in (1, True))
    >>> one == other
    False
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, list | tuple):
        return tuple([value_key(v, places) for v in value])
    if isinstance(value, dict):
        return tuple([(key, value_key(v, places)) for key, v in value.items()])
    types = _types()
    if kind is types.node:
        if value not in places:
            raise TypeError(f"{value} is not an input")
        return kind, places[value]
    if isinstance(value, types.tensor):
        return types.tensor, value.dtype, tuple([value_key(size, places) for size in value.shape])
    if isinstance(value, types.symbolic):
        return kind, value.node.expr
    if isinstance(value, types.written):
        return str(value)
    raise TypeError(f"{kind.__name__} is not compared")


def type_key(value: Any, places: Mapping[Any, int]) -> Hashable:
    """Return a recorded result as a key, as `value_key` does; a tensor without its sizes.

    Raises `TypeError` for a value of a type that is not compared here.
    """
    if isinstance(value, list | tuple):
        return tuple([type_key(v, places) for v in value])
    if isinstance(value, _types().tensor):
        return value.dtype, value.ndim
    return value_key(value, places)


# Which values of a graph are written to after they were computed, directly or through a view of their memory.


# Calls whose inner graph is inlined, and the position of the graph among their arguments.
INLINED = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
# Operators in place that change no elements.
_WITHOUT_WRITING = frozenset(
    f"{n}_"
    for n in ("detach", "requires_grad", "squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided")
)


def overwritten_nodes(module: Any) -> frozenset[Any]:
    """Return the nodes of a graph whose memory a later node writes to."""
    # Most graphs write to nothing: then the memories need not be followed.
    if not any(map(_may_write, {node.target for node in module.graph.nodes})):
        return frozenset()
    owners, last = _memories(module)
    places = {node: place for place, node in enumerate(owners)}
    return frozenset(node for node, owner in owners.items() if last.get(owner, -1) > places[node])


def _may_write(target: Any) -> bool:
    """Return whether a function may write to its arguments."""
    aliased = _aliased(target)
    return getattr(target, "__name__", "") in INLINED if aliased is None else any(a.is_written for a in aliased)


def _memories(module: Any) -> tuple[dict[Any, Any], dict[Any, int]]:
    """Return the first node with the memory of each node, and for these the last place at which it is written to."""
    owners: dict[Any, Any] = {}
    last: dict[Any, int] = {}
    for place, node in enumerate(module.graph.nodes):
        owners[node] = node
        for argument, is_written in _shared(module, node):
            owner = owners.get(argument, argument)
            owners[node] = owner
            if is_written:
                last[owner] = place
    return owners, last


def _shared(module: Any, node: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the arguments whose memory a node returns or writes to, and whether it writes."""
    aliased = _aliased(node.target)
    if aliased is not None:
        for argument in aliased:
            values = node.args[argument.place : argument.place + 1] or (node.kwargs.get(argument.name),)
            yield from ((n, argument.is_written) for n in _nodes_in(values))
        return
    name = getattr(node.target, "__name__", "")
    if name == "getitem":
        yield node.args[0], False
    elif name in INLINED and node.op == "call_function":
        # An inlined graph shares the memory of its arguments with its placeholders.
        start = INLINED[name]
        inner = getattr(module, str(node.args[start].target))
        owners, last = _memories(inner)
        placeholders = [n for n in owners if n.op == "placeholder"]
        for outer, own in zip(node.args[start + 1 :], placeholders, strict=False):
            if hasattr(outer, "op") and (own in last or any(o is own for n, o in owners.items() if n is not own)):
                yield outer, own in last


class _Aliased(NamedTuple):
    """An argument whose memory an operator returns or writes to."""

    place: int
    name: str
    is_written: bool


@lru_cache(maxsize=1024)
def _aliased(target: Any) -> tuple[_Aliased, ...] | None:
    """Return the arguments whose memory an operator returns or writes to; None for other functions."""
    # It is read once for all nodes: most operators have no such argument, and their schemas take long to read.
    schema = getattr(target, "_schema", None)
    if schema is None:
        return None
    changes = schema.name.partition("::")[2] not in _WITHOUT_WRITING
    return tuple(
        _Aliased(place, argument.name, changes and argument.alias_info.is_write)
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None
    )


def _nodes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _nodes_in(part)
    elif isinstance(value, node_class()):
        yield value


# The graph of an exported program as named values, in the order of the walk.
#
# Output ``n`` of a node with several outputs is called ``<node>.<n>``. Inner graphs that only change how gradients or
# element types are handled are inlined.


# The inner graphs of a control-flow node, by their positions among its arguments.
_BODIES = {
    "cond": {"true": 1, "false": 2},
    "while_loop": {"cond": 0, "body": 1},
    "scan": {"body": 0},
    "map_impl": {"body": 0},
}
_FRAME = re.compile(r'File "?(?P<file>[^"\n]+?)"?, line(?:no)? (?P<line>\d+), in [^\n]*(?:\n\s+(?P<text>[^\n]+))?')

# Torch, Python itself, and torch's files as it shortens them in its messages.
_OF_TORCH = re.compile(
    r"(?:site|dist)-packages/torch/|/torch/(?:_\w+|export|fx|nn/modules)/|"
    r"^(?:_(?:export|dynamo|refs|subclasses|prims\w*|decomp|inductor|functorch|higher_order_ops)|fx/experimental)/|"
    r"/lib/python3\.\d+/(?!(?:site|dist)-packages/)"
)


class SourceLine(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    text: str

    @property
    def is_of_cell(self) -> bool:
        """Whether the line is in a notebook cell, whose generated file name changes on every run."""
        return "/ipykernel_" in self.file

    def __str__(self) -> str:
        return f"{self.line} of a cell" if self.is_of_cell else f"{self.file}:{self.line}"


class NodeKinds:
    """The kinds of the nodes of a program, by number, so that they are compared and hashed once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        # The operators that were found to need the recorded sizes of their results.
        self.sized: set[str] = set()

    def number(self, kind: Hashable) -> int:
        """Return the number of a kind; raises `TypeError` if it has no hash."""
        return self._numbers.setdefault(kind, len(self._numbers) + 1)


class TorchNode(Node):
    """A node; ``raw`` is its `torch.fx` node, ``names`` maps the nodes of its graph to value names.

    ``is_overwritten`` says that a later node writes to the memory of its results.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the graph has all of these at hand
        self,
        fx: Any,
        op_type: str,
        name: str,
        names: Mapping[Any, str],
        kinds: NodeKinds,
        inner: Mapping[str, Graph] = NOTHING,
        caller: Any = None,
        is_overwritten: bool = False,
    ) -> None:
        value, taken = fx.meta.get("val"), fx.all_input_nodes
        outputs = [f"{name}.{n}" for n in range(len(value))] if isinstance(value, (tuple, list)) else [name]
        super().__init__(op_type, [names[n] for n in taken], outputs, name=name, raw=fx)
        self._caller = caller
        self._inner = inner
        self._taken = taken
        self._kinds = kinds
        self._has_sizes = False
        self.names = names
        self.is_overwritten = is_overwritten

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The inner graphs that the node runs, such as branches."""
        return self._inner

    @cached_property
    def kind(self) -> int | None:
        """A number shared by nodes that call the same with equal arguments besides tensors, as torch recorded."""
        # Nine of ten nodes of a large model have a twin: their outputs are shared.
        fx = self.raw
        if self._inner:
            return None
        places = {n: place for place, n in enumerate(self._taken) if n in self.names}
        dtypes = tuple([getattr(n.meta.get("val"), "dtype", None) for n in places])
        # It has the recorded sizes of results only for operators that were found to need them.
        self._has_sizes = self.op_type in self._kinds.sized
        try:
            result = (value_key if self._has_sizes else type_key)(fx.meta.get("val"), places)
            arguments = [value_key(v, places) for v in (*fx.args, *fx.kwargs.values())]
        except TypeError:
            return None
        # The targets are held by the nodes; their own hash takes longer.
        return self._kinds.number((id(fx.target), self.is_overwritten, dtypes, result, *fx.kwargs, *arguments))

    def need_sizes(self) -> bool:
        """Note that its operator needs the recorded sizes of results; return whether its kind does not have them."""
        self._kinds.sized.add(self.op_type)
        return not self._has_sizes

    @property
    def module(self) -> str:
        """The path of the node's module, such as ``layer1.0.conv1``; empty for the outermost."""
        stack = list((self.raw.meta.get("nn_module_stack") or {}).values())
        return str(stack[-1][0]) if stack else ""

    @property
    def path(self) -> tuple[str, ...]:
        """The modules around it."""
        return module_path(self.module)

    @cached_property
    def source(self) -> SourceLine | None:
        """The innermost line outside torch's own code; None if torch recorded none."""
        own = source_of(self.raw.meta.get("stack_trace") or "")
        return own if own is not None or self._caller is None else source_of(self._caller.meta.get("stack_trace") or "")

    @property
    def line(self) -> CodeLine | None:
        """The line in a user's file that the node comes from."""
        source = self.source
        if source is None or source.is_of_cell or is_of_torch(source.file):
            return None
        return CodeLine.of(source.file, source.line)

    @property
    def where(self) -> str:
        """The module and the line that the node comes from, in words."""
        parts = [f"module {self.module}" if self.module else "", f"line {self.source}" if self.source else ""]
        return ", ".join(p for p in parts if p)


class TorchGraph(Graph):
    """The graph of an exported program."""

    nodes: Sequence[TorchNode]

    def __init__(self, program: Any, inputs: Sequence[str]) -> None:
        self.program = program
        # The stored tensors; fake ones, without elements, if the program may change them.
        self._held: dict[str, Any] = {}
        self._tensors = _constants(program)
        self._taken: set[str] = set()
        self._result: Any = None
        # The results of inlined graphs, by the node that calls each.
        self._results: dict[Any, list[str]] = {}
        self._kinds = NodeKinds()
        self._types: dict[int, str] = {}
        names: dict[Any, str] = {}
        nodes = list(self._nodes(program.graph_module, names))
        outputs = [names[n] for n in _user_outputs(program, self._result) if n in names]
        super().__init__(nodes, inputs, outputs, name=type(program).__name__)

    @property
    def constants(self) -> Mapping[str, Value]:
        """The tensors stored in the program."""
        return {name: StoredTorchTensor(tensor) for name, tensor in self._held.items() if name not in self.inputs}

    def _nodes(self, module: Any, names: dict[Any, str], around: str = "", caller: Any = None) -> Iterator[TorchNode]:
        """Yield the nodes of a graph and add its value names to ``names``; ``caller`` is the node that runs it."""
        changed = overwritten_nodes(module)
        for fx in module.graph.nodes:
            if fx.op == "placeholder" and fx in names:
                continue
            name = self._free(f"{around}{fx.name}")
            kind = self._type_of(fx.target)
            if fx.op == "placeholder":
                names[fx] = name if around else fx.name
                own = None if fx in changed else self._tensors.get(fx.name)
                self._hold(fx.name, fx.meta.get("val") if own is None else own)
            elif fx.op == "get_attr":
                names[fx] = name
                self._hold(name, getattr(module, str(fx.target), None))
            elif fx.op == "output":
                self._result = fx.args[0]
            elif kind == "operator.getitem" and (one := self._item(fx, names)) is not None:
                names[fx] = one
            elif (inner := self._inner(module, fx, kind)) is not None:
                yield from self._inlined(fx, *inner, names)
            else:
                bodies = self._bodies(module, fx, kind, names)
                node = TorchNode(fx, kind, name, names, self._kinds, bodies, caller, fx in changed)
                names[fx] = name
                yield node

    def _type_of(self, target: Any) -> str:
        """Return the name of an operator; the nodes that call it hold it, so that its identity is its own."""
        return self._types.get(id(target)) or self._types.setdefault(id(target), operator_name(target))

    def _hold(self, name: str, value: Any) -> None:
        shape = getattr(value, "shape", None)
        if shape is not None and all(isinstance(d, int) for d in shape):
            self._held[name] = value

    def _item(self, fx: Any, names: Mapping[Any, str]) -> str | None:
        """Return the name of one output of a node with several outputs."""
        source, place = fx.args
        names_of_results = self._results.get(source)
        if names_of_results is not None:
            return str(names_of_results[place])
        value = source.meta.get("val")
        many = isinstance(value, (tuple, list)) and isinstance(place, int)
        return f"{names[source]}.{place % len(value)}" if many and source in names else None

    def _inner(self, module: Any, fx: Any, kind: str) -> tuple[Any, Sequence[Any]] | None:
        """Return the graph to inline for a node, and its arguments; None if the node is not such a call."""
        place = INLINED.get(kind.removeprefix("higher_order."))
        if place is None or len(fx.args) <= place:
            return None
        return getattr(module, str(fx.args[place].target)), fx.args[place + 1 :]

    def _bodies(self, module: Any, fx: Any, kind: str, names: Mapping[Any, str]) -> Mapping[str, Graph]:
        """Return the branches of a ``torch.cond``, or the body of a loop; none if one returns a non-tensor."""
        places = _BODIES.get(kind.removeprefix("higher_order."), {})
        graphs: dict[str, Graph] = {}
        for name, place in places.items():
            node = fx.args[place]
            graph = self._inner_graph(getattr(module, str(node.target)), f"{names[node]}.", fx)
            if graph is None:
                return NOTHING
            graphs[name] = graph
        return graphs or NOTHING

    def _inner_graph(self, module: Any, around: str, caller: Any) -> Graph | None:
        names: dict[Any, str] = {}
        outer_result, self._result = self._result, None
        nodes = list(self._nodes(module, names, around, caller))
        results, self._result = self._result, outer_result
        listed = results if isinstance(results, (tuple, list)) else [results]
        if any(r not in names for r in listed):
            return None
        return Graph(nodes, [names[p] for p in module.graph.find_nodes(op="placeholder")], [names[r] for r in listed])

    def _inlined(self, fx: Any, inner: Any, arguments: Sequence[Any], names: dict[Any, str]) -> Iterator[TorchNode]:
        own: dict[Any, str] = {}
        for declared, value in zip(inner.graph.find_nodes(op="placeholder"), arguments, strict=False):
            own[declared] = names[value]
        outer_result, self._result = self._result, None
        yield from self._nodes(inner, own, f"{fx.name}.")
        results, self._result = self._result, outer_result
        listed = list(results) if isinstance(results, (tuple, list)) else [results]
        self._results[fx] = [own[r] for r in listed if r in own]
        if len(self._results[fx]) == 1:
            names[fx] = self._results[fx][0]

    def _free(self, name: str) -> str:
        free, number = name, 2
        while free in self._taken:
            free, number = f"{name}_{number}", number + 1
        self._taken.add(free)
        return free


def _constants(program: Any) -> dict[str, Any]:
    """Return the stored tensors by input name, except those that the program writes to."""
    stored = {**program.state_dict, **program.constants}
    signature = program.graph_signature
    written = set(getattr(signature, "buffers_to_mutate", {}).values())
    specs = [s for s in signature.input_specs if s.target in stored and s.target not in written]
    return {s.arg.name: stored[s.target] for s in specs if s.kind.name != "USER_INPUT"}


def operator_name(target: Any) -> str:
    """Return the name of an operator without its overload: ``aten.add``, ``operator.mul``, ``torch.sym_max``."""
    packet = getattr(target, "overloadpacket", None)
    if packet is not None:
        return str(packet._qualified_op_name).replace("::", ".")
    name = getattr(target, "__name__", None) or str(target)
    module = getattr(target, "__module__", "") or ""
    if getattr(target, "namespace", "") == "higher_order" or "higher_order" in module:
        return f"higher_order.{name}"
    return f"{module.lstrip('_')}.{name}"


def source_of(trace: str) -> SourceLine | None:
    """Return the innermost line of a trace outside torch's own code, or the innermost line if there is none.

    >>> source_of('File "/home/me/net.py", line 7, in forward')
    SourceLine(file='/home/me/net.py', line=7, text='')
    """
    lines = [
        SourceLine(m["file"], int(m["line"]), m["text"] or "") for m in _FRAME.finditer(trace) if m["file"][0] != "<"
    ]
    own = [s for s in lines if not is_of_torch(s.file)]
    return own[-1] if own else lines[-1] if lines else None


def is_of_torch(file: str) -> bool:
    """Return whether a file belongs to torch, wherever torch is installed."""
    return _OF_TORCH.search(file.replace("\\", "/")) is not None


def _user_outputs(program: Any, result: Any) -> Iterator[Any]:
    """Yield the nodes of the user outputs."""
    fx = load_torch("torch.fx")
    for value, spec in zip(result, program.graph_signature.output_specs, strict=True):
        if spec.kind.name == "USER_OUTPUT" and isinstance(value, fx.Node):
            yield value
