"""What is rewritten in one model: inputs of nodes, new nodes, and the sizes that they compute from the model's inputs.

A plan outlives the walks through its model: every walk takes the decisions of the walks before it over.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, symbols_of, term
from symbcast.core.characters import shorten_middle, visible
from symbcast.core.solver.evaluation import value_at
from symbcast.core.structs import NamedTuple
from symbcast.graphs.graph import Node
from symbcast.graphs.inputs import free_name
from symbcast.onnx.protobuf import OnnxNode, graphs_in, walkable_nodes, with_inner
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT32
from symbcast.operators.values.value import Value

if TYPE_CHECKING:
    from symbcast.onnx.reader import OnnxModel

# The first operator sets in which Min and Max take integers, Mod exists, and Unsqueeze takes its axes as an input.
_EXTREMA, _MOD, _LISTED_AXES = 12, 10, 13
_DOUBLE, _INT64 = 11, 7
# The most trials for one model.
_TRIALS = 2000


class Edit(NamedTuple):
    """One change of a model.

    Attributes:
        node: the node that is changed.
        op_type: its operator.
        tensor: the constant that it took, or the attribute.
        old: what the constant held, as text.
        new: what the node takes instead, as text.
        why: why that is the same at the old sizes, and right at others.
    """

    node: str
    op_type: str
    tensor: str
    old: str
    new: str
    why: str

    def __str__(self) -> str:
        node, tensor = (visible(shorten_middle(text, 44)) for text in (self.node, self.tensor))
        return f"{node} ({self.op_type}): {tensor} {self.old} -> {self.new}; {self.why}"


class Change(NamedTuple):
    """A node with other inputs, and the nodes that compute these, which come before it."""

    node: OnnxNode
    before: tuple[OnnxNode, ...]
    edits: tuple[Edit, ...]


class Plan:
    """The changes of a model; ``old`` maps each free size to its number in the model.

    Attributes:
        sources: the input and the axis that each free size is read from.
        known: tensors that hold other sizes.
        sizes: the nodes that compute sizes from the model's inputs: they come before all others.
        changed: the changes by the identity of the ``NodeProto``.
    """

    def __init__(self, model: OnnxModel, old: Mapping[Symbol, int], sources: Mapping[Symbol, tuple[str, int]]) -> None:
        self.model = model
        self.old = old
        self.sources = dict(sources)
        self.known: dict[Symbol, str] = {}
        self.sizes: list[OnnxNode] = []
        self.changed: dict[int, Change] = {}
        # How many nodes may still be computed for trial.
        self.trials = _TRIALS
        # Whether a node of a function of the model has to change.
        self.is_in_functions = False
        # The nodes that may depend on sizes in a way that the model does not show, by how they may.
        self.doubts: dict[str, dict[str, None]] = {}
        # Why nodes keep sizes, by their titles.
        self.pins: dict[str, str] = {}
        # The identities of the nodes that were looked at.
        self.seen: set[int] = set()
        # The axes that an axis of a reshaped tensor joins, in their order.
        self.factors: dict[Dim, tuple[Dim, ...]] = {}
        # What was built, by the value and its new shape or elements.
        self.built: dict[Hashable, str] = {}
        self._ops: dict[Hashable, str] = {}
        self._versions = model.examined.versions
        self._taken = set(names_in(model.raw))

    @property
    def version(self) -> int:
        """The version of the operator set."""
        return self._versions.get("", 1)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order of the nodes."""
        return tuple(dict.fromkeys(edit for change in self.changed.values() for edit in change.edits))

    def name(self, base: str) -> str:
        """Return a name that nothing in the model has."""
        return free_name(base, self._taken)

    def node(self, op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> OnnxNode:
        """Return a new node with one output; an attribute that is an array is a tensor."""
        from onnx import helper, numpy_helper

        name = self.name(output)
        given = {k: numpy_helper.from_array(v) if hasattr(v, "dtype") else v for k, v in attributes.items()}
        proto = helper.make_node(op_type, inputs, [name], name=name, **given)
        (node,) = walkable_nodes([proto], self._versions)
        return node

    def copied(
        self,
        node: OnnxNode,
        inputs: Mapping[int, str],
        outputs: Sequence[str] = (),
        op_type: str = "",
        attributes: Mapping[str, Any] = {},
    ) -> OnnxNode:
        """Return a copy of a node with other inputs and outputs, or of another operator on its first input."""
        from onnx import helper

        proto = type(node.raw)()
        proto.CopyFrom(node.raw)
        if op_type:
            names = [node.inputs[0], *inputs.values()]
            proto = helper.make_node(op_type, names, node.outputs, name=node.name, **attributes)
        else:
            for position, name in inputs.items():
                proto.input[position] = name
            while proto.input and not proto.input[-1]:
                del proto.input[-1]
        if outputs and [*outputs] != [*node.outputs]:
            proto.output[:] = outputs
            proto.name = self.name(f"{node.title}_free")
        (copy,) = walkable_nodes([proto], self._versions)
        if not op_type:
            self._take_over(node, copy)
        return copy

    def _take_over(self, node: Node, copy: Node) -> None:
        """Change the nodes in a copy's graphs as those of the original are."""
        for own, other in zip(node.graphs.values(), copy.graphs.values(), strict=True):
            for each, twin in zip(own.nodes, other.nodes, strict=True):
                if id(each.raw) in self.changed:
                    self.changed[id(twin.raw)] = self.changed[id(each.raw)]
                self.seen |= {id(twin.raw)} if id(each.raw) in self.seen else set()
                self._take_over(each, twin)

    # Sizes as nodes.

    def number(self, dim: Dim) -> int | None:
        """Return a size's number in the model; None if it depends on others than the free sizes."""
        if isinstance(dim, int):
            return dim
        return value_at(dim, self.old) if self.old.keys() >= set(symbols_of((dim,))) else None

    def is_batch(self, dim: Dim) -> bool:
        """Return whether a size depends only on first axes of inputs."""
        return all(self.sources[s][1] == 0 for s in symbols_of((dim,)) if s in self.sources)

    @cached_property
    def points(self) -> tuple[Mapping[Symbol, int], ...]:
        """Some sizes, to compare conditions at."""
        factors = (0, 1, 2, 3, 7)
        alone = [{**self.old, s: max(1, n * k + d)} for s, n in self.old.items() for k in factors for d in (-1, 0, 1)]
        others = [{s: max(1, n * k + d) for s, n in self.old.items()} for k in factors for d in (-1, 0, 1)]
        mixed = [{s: n * (k + i) for i, (s, n) in enumerate(self.old.items())} for k in (1, 2)]
        return tuple(dict(p) for p in dict.fromkeys(tuple(p.items()) for p in (*alone, *others, *mixed)))

    def listed(self, dims: Dims, before: Value | None) -> str:
        """Return the name of a tensor with some sizes as elements, of the type and rank that a value has."""
        name = self.vector(dims)
        if before is not None and before.dtype == INT32:
            name = self.op("Cast", (name,), "sizes", to=INT32)
        if before is not None and before.shape == ():
            scalar = self.constant([])
            name = self.op("Reshape", (name, scalar), "size")
        return name

    def kept(self, name: str, shape: Sequence[Dim], axes: Iterable[int]) -> list[OnnxNode]:
        """Return nodes that fail unless some axes of a value have their old numbers, and a product's factors theirs.

        A table for 2 x 2 patches is none for 1 x 4. The numbers are constants, as ONNX Runtime takes a size that is
        computed for a Reshape to be -1; a factor is checked by an index, which is 0 at its number only.
        """
        nodes: list[OnnxNode] = []
        fixed = {shape[n]: None for n in axes}
        parts: dict[Dim, list[Dim]] = {d: [a for m in term(d).coefficients if len(m) > 1 for a in m] for d in fixed}
        factors = [*dict.fromkeys(a for d in fixed for a in parts[d] or ([d] if len(fixed) > 1 else []))]
        if factors:
            place = {"axes": [0]} if self.version < _LISTED_AXES else {}
            nodes.append(
                self.node("Unsqueeze", (name, *(() if place else (self.constant([0]),))), f"{name}_pin", **place)
            )
        for factor in factors:
            distance = self.op("Sub", (self.size(factor), self.constant([self.number(factor) or 0])), "distance")
            index = self.op("Mul", (distance, distance), "square")
            if factor is factors[-1]:
                index = self.op("Reshape", (index, self.constant([])), "index")
            nodes.append(self.node("Gather", (nodes[-1].outputs[0], index), f"{name}_pin", axis=0))
        numbers = self.constant([self.number(d) or 0 if n in axes else 0 for n, d in enumerate(shape)])
        return [*nodes, self.node("Reshape", (nodes[-1].outputs[0] if nodes else name, numbers), f"{name}_pin")]

    def vector(self, dims: Sequence[Dim]) -> str:
        """Return the name of a tensor that holds sizes; raise `ArithmeticError` if no nodes compute them exactly."""
        parts: list[str] = []
        for is_number, run in groupby(dims, lambda dim: isinstance(dim, int)):
            sizes = [*run]
            numbers = [d for d in sizes if isinstance(d, int)]
            parts += [self.constant(numbers)] if is_number else [self.size(d) for d in sizes]
        return parts[0] if len(parts) == 1 else self.op("Concat", parts, "sizes", axis=0)

    def counted(self, dims: Sequence[Dim]) -> str:
        """Return the name of a tensor of integers that holds the numbers from 0 on, in row-major order."""
        zero, one = (self.constant(n) for n in (0, 1))
        none = self.constant([])
        count = self.op("Reshape", (self.size(multiply(1, *dims)), none), "limit")
        places = self.op("Range", (zero, count, one), "range")
        return self.op("Reshape", (places, self.vector(dims)), "indices")

    def size(self, dim: Dim) -> str:
        """Return the name of a tensor with one element, a size."""
        if isinstance(dim, Symbol):
            return self._read(dim)
        if isinstance(dim, Operation):
            return self._operation(dim)
        return self._sum(term(dim))

    def _read(self, symbol: Symbol) -> str:

        if symbol in self.known:
            return self.known[symbol]
        if symbol not in self.sources:  # an axis of a value, which later nodes may have before its own node
            raise ArithmeticError(f"no input has the size {symbol}")
        name, axis = self.sources[symbol]
        shape = self.op("Shape", (name,), f"{name}_shape")
        place = self.constant([axis])
        return self.op("Gather", (shape, place), f"{symbol.name}_size", axis=0)

    def _sum(self, value: Term) -> str:

        total = ""
        for monomial, coefficient in value.coefficients.items() or [((), 0)]:
            factors = [self.size(atom) for atom in monomial]
            if coefficient != 1 or not factors:
                factors.append(self.constant([coefficient]))
            product = reduce(lambda one, other: self.op("Mul", (one, other), "size"), factors)
            total = self.op("Add", (total, product), "size") if total else product
        return total

    def _operation(self, value: Operation) -> str:
        """Return the name of a quotient, a remainder or an extremum.

        Div rounds towards 0, which is the floor where the dividend is at least 0 and the divisor at least 1.
        """
        parts = [self.size(arg.constant if arg.is_constant else arg) for arg in value.args]
        low, by = value.args[0].lower_bound, value.args[-1].lower_bound
        is_whole = low is not None and low >= 0 and by is not None and by >= 1
        if value.kind == "//" and is_whole:
            return self.op("Div", parts, "size")
        if value.kind == "//" and low is not None and value.args[1].is_constant and (by or 0) >= 1:
            return self._floor(value.args[0].dim(), value.args[1].constant, low)
        if value.kind == "%" and is_whole and self.version >= _MOD:
            return self.op("Mod", parts, "size")
        if value.kind in ("min", "max") and self.version >= _EXTREMA:
            return self.op(value.kind.capitalize(), parts, "size")
        if value.kind in ("min", "max"):  # a double holds every size exactly
            doubles = [self.op("Cast", (part,), "double", to=_DOUBLE) for part in parts]
            return self.op("Cast", (self.op(value.kind.capitalize(), doubles, "double"),), "size", to=_INT64)
        raise ArithmeticError(f"no nodes compute {value}")

    def _floor(self, value: Dim, by: int, low: int) -> str:
        """Return the name of a quotient of a number that is at least ``low``: x//k is (x + n*k)//k - n."""
        more = -(low // by)
        above = self.op("Div", (self.size(add(value, more * by)), self.constant([by])), "size")
        return self.op("Add", (above, self.constant([-more])), "size")

    def constant(self, numbers: int | Sequence[int]) -> str:
        """Return the name of a tensor of integers."""
        import numpy as np

        return self.op("Constant", (), "numbers", value=np.array(numbers, np.int64))

    def op(self, op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Return the name of the output of a node among the first ones; equal nodes are one."""
        key = op_type, tuple(inputs), tuple((k, repr(v)) for k, v in attributes.items())
        if key not in self._ops:
            node = self.node(op_type, inputs, f"free_{output}", **attributes)
            self.sizes.append(node)
            self._ops[key] = node.outputs[0]
        return self._ops[key]

    # The model with its changes.

    def apply(self) -> None:
        """Write the changes into the model, and remove nodes and constants that nothing uses any more."""
        graph = self.model.raw.graph
        before = set(_used(graph))
        self._apply(graph)
        replace_nodes(graph, [*(n.raw for n in self.sizes), *graph.node])
        _remove_unused(graph, before, {n.outputs[0] for n in self.sizes})

    def _apply(self, graph: Any) -> None:
        nodes = list[Any]()
        for proto in graph.node:
            change = self.changed.get(id(proto))
            nodes += [proto] if change is None else [*(n.raw for n in change.before), change.node.raw]
        for inner in (g for proto in nodes for g in graphs_in(proto)):
            self._apply(inner)
        if any(id(n) in self.changed for n in graph.node):
            replace_nodes(graph, nodes)


def replace_nodes(graph: Any, nodes: Sequence[Any]) -> None:
    """Give a graph other nodes."""
    del graph.node[:]
    graph.node.extend(nodes)


def names_in(model: Any) -> Iterator[str]:
    """Yield the names of all values and nodes of a model, at any depth."""
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        yield from (v.name for v in (*graph.input, *graph.initializer))
        for node in graph.node:
            yield node.name
            yield from node.output
            graphs += graphs_in(node)


def _used(graph: Any) -> Iterator[str]:
    """Yield the names that a graph uses, and those that graphs within it use."""
    yield from (o.name for o in graph.output)
    for node in graph.node:
        for inner in with_inner(node):
            yield from inner.input
            yield from (o.name for g in graphs_in(inner) for o in g.output)


def _remove_unused(graph: Any, before: set[str], new: set[str]) -> None:
    """Remove the nodes and constants that were used before, or are new, and are not used any more."""
    used = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        outputs = {name for name in node.output if name}
        if used.isdisjoint(outputs) and outputs and outputs <= before | new:
            continue
        kept.append(node)
        for inner in with_inner(node):
            used.update(inner.input)
            used.update(o.name for g in graphs_in(inner) for o in g.output)
    if len(kept) < len(graph.node):
        replace_nodes(graph, kept[::-1])
    gone = {t.name for t in graph.initializer if t.name in before - used}
    for constants in (graph.initializer, graph.input):
        for position in reversed(range(len(constants))):
            if constants[position].name in gone:
                del constants[position]
