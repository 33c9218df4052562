"""The graph of an exported program as named values, in the order of the walk.

Output ``n`` of a node with several outputs is called ``<node>.<n>``. Inner graphs that only change how gradients or
element types are handled are inlined.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from symbcast.answers.report.outcomes import Line
from symbcast.graphs.graph import NOTHING, Graph, Node, module_path
from symbcast.graphs.values.value import Value
from symbcast.torch.reading.described import described, described_type
from symbcast.torch.reading.held import Held
from symbcast.torch.reading.library import load
from symbcast.torch.reading.memory import INLINED, overwritten

_BODIES = {
    "cond": {"true": 1, "false": 2},
    "while_loop": {"cond": 0, "body": 1},
    "scan": {"body": 0},
    "map_impl": {"body": 0},
}
"""The inner graphs of a control-flow node, by their positions among its arguments."""
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in [^\n]*(?:\n\s+(?P<text>[^\n]+))?')

_OF_TORCH = re.compile(r"(?:site|dist)-packages/torch/")


class Source(NamedTuple):
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


class Kinds:
    """The kinds of the nodes of a program, by number, so that they are compared and hashed once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.sized: set[str] = set()
        """The operators that were found to need the recorded sizes of their results."""

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
        kinds: Kinds,
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
        """A number that nodes share if they call the same with equal arguments besides tensors, and torch recorded so.

        It has the recorded sizes of results only for operators that were found to need them.
        """
        fx = self.raw
        if self._inner:
            return None
        places = {n: place for place, n in enumerate(self._taken) if n in self.names}
        dtypes = tuple([getattr(n.meta.get("val"), "dtype", None) for n in places])
        self._has_sizes = self.op_type in self._kinds.sized
        try:
            result = (described if self._has_sizes else described_type)(fx.meta.get("val"), places)
            given = [described(v, places) for v in (*fx.args, *fx.kwargs.values())]
        except TypeError:
            return None
        # The targets are held by the nodes; their own hash takes longer.
        return self._kinds.number((id(fx.target), self.is_overwritten, dtypes, result, *fx.kwargs, *given))

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
    def source(self) -> Source | None:
        """The innermost line outside torch's own code; None if torch recorded none."""
        own = source_of(self.raw.meta.get("stack_trace") or "")
        return own if own is not None or self._caller is None else source_of(self._caller.meta.get("stack_trace") or "")

    @property
    def line(self) -> Line | None:
        """The line in a user's file that the node comes from."""
        source = self.source
        if source is None or source.is_of_cell or is_of_torch(source.file):
            return None
        return Line.of(source.file, source.line)

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
        self._held: dict[str, Any] = {}
        """The stored tensors; fake ones, without elements, if the program may change them."""
        self._tensors = _constants(program)
        self._taken: set[str] = set()
        self._result: Any = None
        self._kinds = Kinds()
        self._types: dict[int, str] = {}
        names: dict[Any, str] = {}
        nodes = list(self._nodes(program.graph_module, names))
        outputs = [names[n] for n in _user_outputs(program, self._result) if n in names]
        super().__init__(nodes, inputs, outputs, name=type(program).__name__)

    @property
    def constants(self) -> Mapping[str, Value]:
        """The tensors stored in the program."""
        return {name: Held(tensor) for name, tensor in self._held.items() if name not in self.inputs}

    def _nodes(self, module: Any, names: dict[Any, str], around: str = "", caller: Any = None) -> Iterator[TorchNode]:
        """Yield the nodes of a graph and add its value names to ``names``; ``caller`` is the node that runs it."""
        changed = overwritten(module)
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
                made = TorchNode(fx, kind, name, names, self._kinds, bodies, caller, fx in changed)
                names[fx] = name
                yield made

    def _type_of(self, target: Any) -> str:
        """Return the name of an operator; the nodes that call it hold it, so that its identity is its own."""
        return self._types.get(id(target)) or self._types.setdefault(id(target), type_of(target))

    def _hold(self, name: str, value: Any) -> None:
        shape = getattr(value, "shape", None)
        if shape is not None and all(isinstance(d, int) for d in shape):
            self._held[name] = value

    def _item(self, fx: Any, names: Mapping[Any, str]) -> str | None:
        """Return the name of one output of a node with several outputs."""
        source, place = fx.args
        found = self._results.get(source)
        if found is not None:
            return str(found[place])
        value = source.meta.get("val")
        many = isinstance(value, (tuple, list)) and isinstance(place, int)
        return f"{names[source]}.{place % len(value)}" if many and source in names else None

    @cached_property
    def _results(self) -> dict[Any, list[str]]:
        """The results of inlined graphs, by the node that calls each."""
        return {}

    def _inner(self, module: Any, fx: Any, kind: str) -> tuple[Any, Sequence[Any]] | None:
        """Return the graph to inline for a node, and its arguments; None if the node is not such a call."""
        place = INLINED.get(kind.removeprefix("higher_order."))
        if place is None or len(fx.args) <= place:
            return None
        return getattr(module, str(fx.args[place].target)), fx.args[place + 1 :]

    def _bodies(self, module: Any, fx: Any, kind: str, names: Mapping[Any, str]) -> Mapping[str, Graph]:
        """Return the branches of a ``torch.cond``, or the body of a loop; none if one returns a non-tensor."""
        places = _BODIES.get(kind.removeprefix("higher_order."), {})
        found: dict[str, Graph] = {}
        for name, place in places.items():
            node = fx.args[place]
            graph = self._inner_graph(getattr(module, str(node.target)), f"{names[node]}.", fx)
            if graph is None:
                return NOTHING
            found[name] = graph
        return found or NOTHING

    def _inner_graph(self, module: Any, around: str, caller: Any) -> Graph | None:
        names: dict[Any, str] = {}
        kept, self._result = self._result, None
        nodes = list(self._nodes(module, names, around, caller))
        results, self._result = self._result, kept
        listed = results if isinstance(results, (tuple, list)) else [results]
        if any(r not in names for r in listed):
            return None
        return Graph(nodes, [names[p] for p in module.graph.find_nodes(op="placeholder")], [names[r] for r in listed])

    def _inlined(self, fx: Any, inner: Any, given: Sequence[Any], names: dict[Any, str]) -> Iterator[TorchNode]:
        own: dict[Any, str] = {}
        for declared, value in zip(inner.graph.find_nodes(op="placeholder"), given, strict=False):
            own[declared] = names[value]
        kept, self._result = self._result, None
        yield from self._nodes(inner, own, f"{fx.name}.")
        results, self._result = self._result, kept
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
    held = {**program.state_dict, **program.constants}
    signature = program.graph_signature
    written = set(getattr(signature, "buffers_to_mutate", {}).values())
    specs = [s for s in signature.input_specs if s.target in held and s.target not in written]
    return {s.arg.name: held[s.target] for s in specs if s.kind.name != "USER_INPUT"}


def type_of(target: Any) -> str:
    """Return the name of an operator without its overload: ``aten.add``, ``operator.mul``, ``torch.sym_max``."""
    packet = getattr(target, "overloadpacket", None)
    if packet is not None:
        return str(packet._qualified_op_name).replace("::", ".")
    name = getattr(target, "__name__", None) or str(target)
    module = getattr(target, "__module__", "") or ""
    if getattr(target, "namespace", "") == "higher_order" or "higher_order" in module:
        return f"higher_order.{name}"
    return f"{module.lstrip('_')}.{name}"


def source_of(trace: str) -> Source | None:
    """Return the innermost line of a trace outside torch's own code, or the innermost line if there is none.

    >>> source_of('File "/home/me/net.py", line 7, in forward')
    Source(file='/home/me/net.py', line=7, text='')
    """
    found = [Source(m["file"], int(m["line"]), m["text"] or "") for m in _FRAME.finditer(trace) if m["file"][0] != "<"]
    own = [s for s in found if not is_of_torch(s.file)]
    return own[-1] if own else found[-1] if found else None


def is_of_torch(file: str) -> bool:
    """Return whether a file belongs to torch, wherever torch is installed."""
    return _OF_TORCH.search(file.replace("\\", "/")) is not None


def _user_outputs(program: Any, result: Any) -> Iterator[Any]:
    """Yield the nodes of the user outputs."""
    fx = load("torch.fx")
    for value, spec in zip(result, program.graph_signature.output_specs, strict=True):
        if spec.kind.name == "USER_OUTPUT" and isinstance(value, fx.Node):
            yield value
