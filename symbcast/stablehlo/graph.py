"""Functions and regions as graphs of named values.

A value has its name in MLIR's text, such as ``%3``; those of functions other than the one that is checked also have the
name of their function: ``divmod:%3``. A node has the name in its location, such as ``jit(f)/reshape``, if there is one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from symbcast.answers.report.outcomes import Line
from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.stablehlo.mlir import bindings

CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""Operations that call a function, each with the attribute that names it."""
ENDS_OF_IDIOMS = frozenset({"func.call", "stablehlo.select"})
"""Operations that may be the last one of arithmetic that is matched as a whole (`symbcast.stablehlo.idioms`)."""


class Names(NamedTuple):
    """The names of values: MLIR's own, after a prefix, or those in ``own``; ``file`` is where the text came from."""

    state: Any
    prefix: str
    file: str
    own: Mapping[str, str] = NOTHING

    def of(self, value: Any) -> str:
        """Return the name of a value."""
        name = value.get_name(self.state)
        return self.own.get(name) or f"{self.prefix}{name}"


class HloNode(Node):
    """An operation; ``raw`` is MLIR's own object, ``program`` holds the functions that it may call."""

    def __init__(self, op: Any, names: Names, program: Functions) -> None:
        place, self._line = located(op.location)
        super().__init__(
            op.name, [names.of(v) for v in op.operands], [names.of(v) for v in op.results], name=place, raw=op
        )
        self.names = names
        self.program = program

    @cached_property
    def kind(self) -> Hashable | None:
        """The operation, its attributes and types; None if it runs graphs, or may be the last one of an idiom.

        MLIR keeps one object for equal attributes and types, so that they are compared and hashed at once.
        """
        op = self.raw
        if self.op_type in ENDS_OF_IDIOMS or self.op_type in CALLS or len(op.regions):
            return None
        attributes = op.attributes
        try:
            written = tuple([(name, attributes[name]) for name in attributes])
        except TypeError:  # the bindings have no class for it
            return None
        return self.op_type, written, tuple([v.type for v in op.operands]), tuple([v.type for v in op.results])

    @cached_property
    def graphs(self) -> Mapping[str, Graph]:
        """The regions that it runs, by number; and the body of the function that it calls."""
        if self.op_type in CALLS:
            return {"called": self.program.graph(self.raw.attributes[CALLS[self.op_type]].value)}
        regions = (r for r in self.raw.regions if len(r.blocks))
        return {str(n): region_graph(r, self.names, self.program) for n, r in enumerate(regions)}

    @property
    def line(self) -> Line | None:
        """The line of the text, or of the user's code, that it comes from."""
        file, number = self._line
        file = self.names.file if file == "-" else file
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


def region_graph(region: Any, names: Names, program: Functions, name: str = "") -> Graph:
    """Return the graph of a region with one block: its arguments, its operations, and what it returns."""
    block = region.blocks[0]
    operations = [op.operation for op in block.operations]
    return Graph(
        [HloNode(op, names, program) for op in operations[:-1]],
        [names.of(a) for a in block.arguments],
        [names.of(v) for op in operations[-1:] for v in op.operands],
        name=name,
    )


class Functions:
    """The functions of a module, by name; their graphs are read when they are needed."""

    def __init__(self, module: Any, file: str = "") -> None:
        self.module = module
        self.file = file
        self.state = bindings().AsmState(module.operation)
        operations = [op.operation for op in module.body.operations]
        self.functions = {op.attributes["sym_name"].value: op for op in operations if op.name == "func.func"}
        self._graphs: dict[str, Graph] = {}

    def graph(self, name: str) -> Graph:
        """Return the graph of a function that is called; raises `LookupError` for one without a body."""
        if name not in self._graphs:
            op = self.functions.get(name)
            if op is None or not len(op.regions[0].blocks):
                raise LookupError(f"the function {name} has no body")
            names = Names(self.state, f"{name}:", self.file)
            self._graphs[name] = region_graph(op.regions[0], names, self, name)
        return self._graphs[name]

    def top(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Graph:
        """Return the graph of the function that is checked, with names of its inputs and outputs for users."""
        block = self.functions[name].regions[0].blocks[0]
        own = {a.get_name(self.state): called for a, called in zip(block.arguments, inputs, strict=True)}
        names = Names(self.state, "", self.file, own)
        nodes = [HloNode(op.operation, names, self) for op in block.operations]
        nodes[-1].outputs = outputs
        return Graph(nodes, inputs, outputs, name=name)
