"""Functions and regions as graphs of named values, and the calls of operations that operators see."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from symbcast.answers.outcomes import CodeLine
from symbcast.core.algebra.formulas import Formula
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.graphs.check import Offered, OperatorTable
from symbcast.graphs.graph import Graph, Node
from symbcast.graphs.walking.node_call import GraphScope, NodeCall, Walker
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Content, is_size
from symbcast.operators.values.value import ElementSource, Value
from symbcast.stablehlo.mlir import TensorType, attribute_of, bindings, dialect, keyword_of, tensor_type_of

# A value has its name in MLIR's text, such as ``%3``; those of functions other than the one that is checked also have
# the name of their function: ``divmod:%3``. A node has the name in its location, such as ``jit(f)/reshape``, if there
# is one.


# Operations that call a function, each with the attribute that names it.
CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
# Operations that may be the last one of arithmetic that is matched as a whole (`symbcast.stablehlo.idioms`).
ENDS_OF_IDIOMS = frozenset({"func.call", "stablehlo.select"})


class ValueNames:
    """The names and types of the values of a module, read from MLIR where the value is made."""

    def __init__(self, module: Any) -> None:
        self._state = bindings().AsmState(module.operation)
        self._known: dict[Any, tuple[str, int]] = {}
        self._types: dict[Any, int] = {}
        # The types by their numbers; None for what is no tensor.
        self.types: list[TensorType | None] = []

    def make(self, value: Any, prefix: str, own: str = "") -> tuple[str, int]:
        """Return the name of a new value, and the number of its type.

        The name is MLIR's after a prefix, unless it has one of its own.
        """
        kind = value.type
        number = self._types.get(kind)
        if number is None:
            number = self._types[kind] = len(self.types)
            # Types are read once each: MLIR keeps one object for equal ones.
            self.types.append(tensor_type_of(kind))
        self._known[value] = named = own or f"{prefix}{value.get_name(self._state)}", number
        return named

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
        taken, results = [names.find(v, prefix) for v in op.operands], [names.make(v, prefix) for v in op.results]
        self.inputs = [name for name, _ in taken]
        self.outputs = [name for name, _ in results]
        self.raw = op
        self.domain, self.version = "", 0
        self.prefix = prefix
        self.program = program
        self._types = types = [n for _, n in results]
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
    def line(self) -> CodeLine | None:
        """The line of the text, or of the user's code, that it comes from."""
        file, number = self._located[1]
        file = self.program.file if file == "-" else file
        return CodeLine.of(file, number) if file and number else None

    @property
    def where(self) -> str:
        """The line in words."""
        return "" if self.line is None else f"line {self.line.file}:{self.line.number}"


def located(location: Any) -> tuple[str, tuple[str, int]]:
    """Return the name in a location, and the innermost line: the callee's first."""
    ir = bindings()
    name, line, pending = "", ("", 0), [location]
    while pending and not (name and line[1]):
        part = pending.pop()
        if isinstance(part, ir.NameLoc):
            name = name or str(part.name_str)
            pending.append(part.child_loc)
        # The callee is looked at first, as it is popped first.
        elif isinstance(part, ir.CallSiteLoc):
            pending += [part.caller, part.callee]
        elif isinstance(part, ir.FusedLoc):
            pending += reversed(part.locations)
        elif isinstance(part, ir.FileLineColLoc) and not line[1]:
            line = str(part.filename.value if hasattr(part.filename, "value") else part.filename), part.start_line
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
        self.names = ValueNames(module)
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

    def kind_of(self, op: Any, op_type: str, taken: Sequence[tuple[str, int]], results: Sequence[int]) -> int | None:
        """Return a number that operations share which have the same name, attributes and types.

        None if it runs graphs, or may be the last one of an idiom.
        """
        if op_type in ENDS_OF_IDIOMS or op_type in CALLS or len(op.regions):
            return None
        attributes = op.attributes
        try:
            written = tuple([(name, attributes[name]) for name in attributes])
        except TypeError:  # the bindings have no class for it
            return None
        # MLIR keeps one object for equal attributes and types, so that they are compared and hashed at once.
        key = op_type, written, tuple([n for _, n in taken]), tuple(results)
        return self._kinds.setdefault(key, len(self._kinds) + 1)


# The runtimes to ask about for what the operations of a module require alone, its assertions alone, and its hints.
UNASSERTED, ASSERTIONS, HINTED = "unasserted", "assertions", "hinted"


class BroadcastAxis(NamedTuple):
    """The size of an axis of an operand, that of the result's axis which it becomes, and the hint about it, if any."""

    size: Dim
    result: Dim
    hint: str


class HloWalker(Walker, Protocol):
    """The walk as operators of StableHLO see it.

    Attributes:
        stretches: the axes that dynamic broadcasts may stretch, by node and axis.
        futures: the values in tuples and futures, by name.
        is_asserting: whether the module has assertions.
        unknown_assertions: the nodes of assertions that could not be followed.
    """

    is_asserting: bool
    unknown_assertions: list[str]
    stretches: dict[tuple[str, int], BroadcastAxis]
    futures: dict[str, Sequence[Value]]

    def called(self, graph: Graph, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Return the outputs of a function that is called."""


class HloCall(NodeCall):
    """An operation with its inputs. MLIR has checked its types: ranks, attributes, and sizes that are numbers."""

    node: HloNode

    @property
    def size_prefix(self) -> str:
        """The name of the node; with that of its operator, where MLIR only numbers it."""
        return self.place.name.replace("%", f"{self.node.op_type.rpartition('.')[2]}_")

    def attribute(self, name: str) -> Any:
        """Return an attribute as a number, a text, a list or an array; None if there is none."""
        return attribute_of(self.node.raw, name)

    def keyword(self, name: str) -> str:
        """Return the word of an enumeration, such as ``LT``."""
        return keyword_of(self.node.raw.attributes[name])

    def dimensions(self, name: str, kind: str) -> Any:
        """Return dimension numbers of a kind such as ``GatherDimensionNumbers``."""
        return getattr(dialect("stablehlo"), kind)(self.node.raw.attributes[name])

    def type_of(self, position: int) -> TensorType:
        """Return the type of a result that is a tensor of known rank."""
        kind = self.node.types[position]
        if kind is None or kind.sizes is None:
            self.give_up("its result is no tensor of known rank")
        return kind

    def output(self, shape: Dims | None, content: Content | None = None, position: int = 0) -> Value:
        """Return a result with the element type of its type."""
        kind = self.node.types[position]
        return Value(shape, 0 if kind is None else kind.dtype, content)

    def alike(self, shapes: Sequence[Dims], reason: str) -> Dims:
        """Require that shapes be equal, and return them: numbers where one has a number."""
        first, *others = shapes
        for other in others:
            if other != first:
                self.same_shape(other, first, reason)
        return tuple(next((d for d in sizes if isinstance(d, int)), sizes[0]) for sizes in zip(*shapes, strict=True))

    def requested_sizes(self, position: int, output: int = 0) -> tuple[Dim, ...]:
        """Return the sizes that an input holds, none negative; those that data decide are new sizes."""
        static = self.type_of(output).sizes or ()
        items = self._items(position, len(static))
        sizes: list[Dim] = []
        for axis, item in enumerate(items):
            known = static[axis]
            if is_size(item):
                self.is_size(item, "a size must not be negative")
                sizes.append(item)
                continue
            name = self.input_name(position)
            self.note_data(f"element {axis} of {name} must be a size", position)
            # A number in the type of the result stands for an unknown size.
            fresh = self.fresh(f"size_{axis}", f"element {axis} of {name}", by=[position]) if known is None else known
            sizes.append(fresh)
        return tuple(sizes)

    def places(self, position: int, rank: int) -> list[Dim | None]:
        """Return the integers that an input holds, one for each of ``rank`` axes; None for unknown ones."""
        return [item if is_size(item) else None for item in self._items(position, rank)]

    def _items(self, position: int, count: int) -> Sequence[object]:
        (length,) = self.shape(position)
        self.equal(length, count, f"{self.input_name(position)} must have {count} elements, one for each axis")
        items = self.elements(position)
        return items if items is not None and len(items) == count else [None] * count

    @property
    def own_walk(self) -> HloWalker:
        """The walk, with what only this front end keeps."""
        return cast("HloWalker", self.walk)

    def require_asserted(self, formula: Formula, reason: str) -> None:
        """Require what the module asserts, unless the question is what its operations require alone."""
        before = self.asker.guards
        if self.asker.runtime == ASSERTIONS:
            self.asker.guards = ()
        if self.asker.runtime != UNASSERTED:
            self.require(formula, reason)
        self.asker.guards = before

    def has_attribute(self, name: str) -> bool:
        """Return whether an attribute is given, even one without a value."""
        return name in self.node.raw.attributes

    def declared(self, position: int) -> Dims | None:
        """Return the shape that the type of a result declares, with new sizes for open ones; None for no tensor."""
        kind = self.node.types[position]
        if kind is None or kind.sizes is None:
            return None
        return tuple(
            self.fresh(f"{position}_{axis}", f"axis {axis} of result {position}", most=most) if size is None else size
            for axis, (size, most) in enumerate(zip(kind.sizes, kind.bounds, strict=True))
        )

    def width(self, value: Any) -> int:
        """Return how many bits an element of one of MLIR's values has."""
        kind = str(value.type.element_type)
        bits = int(re.search(r"\d+", kind)[0])  # type: ignore[index]
        return 2 * bits if kind.startswith("complex") else bits

    def run(self, graph: str, inputs: Sequence[Value]) -> list[Value]:
        """Walk through a region and return its outputs."""
        # A region may declare its parameters more closely than the operands: their sizes are required.
        region: Graph = self.node.graphs[graph]
        kinds = [tensor_type_of(p.type) for p in self.node.raw.regions[int(graph)].blocks[0].arguments]
        arguments = [self.typed(v, k, f"parameter {n}") for n, (v, k) in enumerate(zip(inputs, kinds, strict=True))]
        return self.walk.within(region, self.scope, arguments)

    def typed(self, value: Value, kind: TensorType | None, what: str) -> Value:
        """Return a value as a type describes it; the sizes and bounds that the type promises are required."""
        if kind is None or value.shape is None or kind.sizes is None:
            return value if value.dtype or kind is None else Value(value.shape, kind.dtype, value.content)
        if len(value.shape) != len(kind.sizes):
            self.refuse(f"{what} must have rank {len(kind.sizes)}, as its type says")
        dims: list[Dim] = []
        for axis, (dim, size, most) in enumerate(zip(value.shape, kind.sizes, kind.bounds, strict=True)):
            if size is not None:
                self.equal(dim, size, f"axis {axis} of {what} must be {size}, as its type says")
            elif most is not None:
                self.at_most(dim, most, f"axis {axis} of {what} must be at most {most}, the bound in its type")
            dims.append(dim if size is None else size)
        shape = tuple(dims)
        if shape == value.shape and value.dtype == kind.dtype:
            return value
        result = Value(shape, kind.dtype, value.content)
        result.decided_by = value.decided_by
        return result


OPERATORS: OperatorTable[HloCall] = OperatorTable("stablehlo")
# The constraints that operators implement, such as ``C2``, by name: those about sizes.
IMPLEMENTED: dict[str, frozenset[str]] = {}


# The sources of the elements of results, by the name of an operator without its dialect.
ELEMENTS: dict[str, ElementSource] = {}


def operator(*names: str, constraints: str = "", elements: ElementSource | None = None) -> Callable[[Offered], Offered]:
    """Make the decorated function answer for operators; a name without a dot is one of StableHLO.

    ``constraints`` are those of the specification that it requires or that its output has, such as ``"C2 C6"``.
    ``elements`` says what decides the elements of results.
    """
    if elements is not None:
        ELEMENTS.update((name.rpartition(".")[2], elements) for name in names)
    for name in names if constraints else ():
        IMPLEMENTED[name] = IMPLEMENTED.get(name, frozenset()) | frozenset(constraints.split())
    return OPERATORS.offer(*names)
