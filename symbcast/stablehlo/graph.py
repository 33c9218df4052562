"""Functions and regions as graphs of named values.

A value has its name in MLIR's text, such as ``%3``; those of functions other than the one that is checked also have the
name of their function: ``divmod:%3``. A node has the name in its location, such as ``jit(f)/reshape``, if there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symbcast.answers.report.outcomes import Line
from symbcast.graphs.graph import Graph, Node
from symbcast.stablehlo.attributes import TensorType, tensor_type
from symbcast.stablehlo.mlir import bindings

CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Operations that call a function, each with the attribute that names it."""
ENDS_OF_IDIOMS = frozenset({"func.call", "stablehlo.select"})
"""Operations that may be the last one of arithmetic that is matched as a whole (`symbcast.stablehlo.idioms`)."""


class Names:
    """The names and types of the values of a module, read from MLIR where the value is made."""

    def __init__(self, module: Any) -> None:
        self._state = bindings().AsmState(module.operation)
        self._known: dict[Any, tuple[str, int]] = {}
        self._types: dict[Any, int] = {}
        self.types: list[TensorType | None] = []
        """The types by their numbers; None for what is no tensor."""

    def make(self, value: Any, prefix: str, own: str = "") -> tuple[str, int]:
        """Return the name of a new value, and the number of its type.

        The name is MLIR's after a prefix, unless it has one of its own.
        """
        kind = value.type
        number = self._types.get(kind)
        if number is None:
            number = self._types[kind] = len(self.types)
            self.types.append(tensor_type(kind))
        self._known[value] = made = own or f"{prefix}{value.get_name(self._state)}", number
        return made

    def find(self, value: Any, prefix: str) -> tuple[str, int]:
        """Return the same for a value that is used; operations of unknown dialects may use it before it is made."""
        return self._known.get(value) or self.make(value, prefix)

    def of(self, value: Any) -> str:
        """Return the name of a value that was made."""
        return self._known[value][0]


class HloNode(Node):
    """An operation; ``raw`` is MLIR's own object, ``program`` holds the functions that it may call.

    ``idioms`` are those that its results were found to be the end of; None if they were not looked for.
    """

    __slots__ = ("_graphs", "_place", "_types", "idioms", "kind", "prefix", "program")

    kind: int | None

    def __init__(self, op: Any, prefix: str, program: Functions) -> None:
        """``prefix`` is that of the names of values in its function."""
        # Without the constructor of `Node`, which takes as long as asking MLIR.
        names = program.names
        self.op_type = op_type = op.name
        taken, made = [names.find(v, prefix) for v in op.operands], [names.make(v, prefix) for v in op.results]
        self.inputs = [name for name, _ in taken]
        self.outputs = [name for name, _ in made]
        self.raw = op
        self.domain, self.version = "", 0
        self.prefix = prefix
        self.program = program
        self._types = types = [n for _, n in made]
        self.idioms: Sequence[Sequence[Any]] | None = None
        self._graphs: Mapping[str, Graph] | None = None
        self._place: tuple[str, tuple[str, int]] | None = None
        self.kind = None if op_type == "stablehlo.constant" else program.kind_of(op, op_type, taken, types)

    @property
    def types(self) -> list[TensorType | None]:
        """The types of the results; None for what is no tensor."""
        known = self.program.names.types
        return [known[n] for n in self._types]

    @property
    def _located(self) -> tuple[str, tuple[str, int]]:
        if self._place is None:
            self._place = located(self.raw.location)
        return self._place

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in its location, read on demand: most are never shown."""
        return self._located[0]

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The regions that it runs, by number; and the body of the function that it calls."""
        if self._graphs is None:
            self._graphs = self._read_graphs()
        return self._graphs

    def _read_graphs(self) -> Mapping[str, Graph]:
        if self.op_type in CALLS:
            return {"called": self.program.graph(self.raw.attributes[CALLS[self.op_type]].value)}
        regions = (r for r in self.raw.regions if len(r.blocks))
        return {str(n): region_graph(r, self.prefix, self.program) for n, r in enumerate(regions)}

    @property
    def line(self) -> Line | None:
        """The line of the text, or of the user's code, that it comes from."""
        file, number = self._located[1]
        file = self.program.file if file == "-" else file
        return Line.of(file, number) if file and number else None

    @property
    def where(self) -> str:
        """The line in words."""
        return "" if self.line is None else f"line {self.line.file}:{self.line.number}"


def located(location: Any) -> tuple[str, tuple[str, int]]:
    """Return the name in a location, and the innermost line: the callee's first."""
    ir = bindings()
    name, line, pending = "", ("", 0), [location]
    while pending and not (name and line[1]):
        found = pending.pop()
        if isinstance(found, ir.NameLoc):
            name = name or str(found.name_str)
            pending.append(found.child_loc)
        elif isinstance(found, ir.CallSiteLoc):
            pending += [found.caller, found.callee]
        elif isinstance(found, ir.FusedLoc):
            pending += reversed(found.locations)
        elif isinstance(found, ir.FileLineColLoc) and not line[1]:
            line = str(found.filename.value if hasattr(found.filename, "value") else found.filename), found.start_line
    return name, line


def region_graph(region: Any, prefix: str, program: Functions, name: str = "") -> Graph:
    """Return the graph of a region with one block: its arguments, its operations, and what it returns."""
    block, names = region.blocks[0], program.names
    inputs = [names.make(a, prefix)[0] for a in block.arguments]
    operations = [op.operation for op in block.operations]
    nodes = [HloNode(op, prefix, program) for op in operations[:-1]]
    return Graph(nodes, inputs, [names.find(v, prefix)[0] for op in operations[-1:] for v in op.operands], name=name)


class Functions:
    """The functions of a module, by name; their graphs are read when they are needed."""

    def __init__(self, module: Any, file: str = "") -> None:
        """``file`` is where the text of the module came from."""
        self.module = module
        self.file = file
        self.names = Names(module)
        operations = [op.operation for op in module.body.operations]
        self.functions = {op.attributes["sym_name"].value: op for op in operations if op.name == "func.func"}
        self._graphs: dict[str, Graph] = {}
        self._kinds: dict[tuple[Any, ...], int] = {}

    def graph(self, name: str) -> Graph:
        """Return the graph of a function that is called; raises `LookupError` for one without a body."""
        if name not in self._graphs:
            op = self.functions.get(name)
            if op is None or not len(op.regions[0].blocks):
                raise LookupError(f"the function {name} has no body")
            self._graphs[name] = region_graph(op.regions[0], f"{name}:", self, name)
        return self._graphs[name]

    def top(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Graph:
        """Return the graph of the function that is checked, with names of its inputs and outputs for users."""
        block = self.functions[name].regions[0].blocks[0]
        for argument, called in zip(block.arguments, inputs, strict=True):
            self.names.make(argument, "", called)
        nodes = [HloNode(op.operation, "", self) for op in block.operations]
        nodes[-1].outputs = outputs
        return Graph(nodes, inputs, outputs, name=name)

    def kind_of(self, op: Any, op_type: str, taken: Sequence[tuple[str, int]], made: Sequence[int]) -> int | None:
        """Return a number that operations share which have the same name, attributes and types.

        None if it runs graphs, or may be the last one of an idiom. MLIR keeps one object for equal attributes, so that
        they are compared and hashed at once.
        """
        if op_type in ENDS_OF_IDIOMS or op_type in CALLS or len(op.regions):
            return None
        attributes = op.attributes
        try:
            written = tuple([(name, attributes[name]) for name in attributes])
        except TypeError:  # the bindings have no class for it
            return None
        key = op_type, written, tuple([n for _, n in taken]), tuple(made)
        return self._kinds.setdefault(key, len(self._kinds) + 1)
