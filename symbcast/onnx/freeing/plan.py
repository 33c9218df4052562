"""What is rewritten in one model: inputs of nodes, new nodes, and the sizes that they compute from the model's inputs.

A plan outlives the walks through its model: every walk takes the decisions of the walks before it over.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, term
from symbcast.core.characters import shorten_middle, visible
from symbcast.graphs.inputs import free_name
from symbcast.onnx.protobuf import OnnxNode, graphs_in, walkable_nodes, with_inner

if TYPE_CHECKING:
    from symbcast.onnx.reader import OnnxModel

# The first operator sets in which Min and Max take integers, and in which Mod exists.
_EXTREMA, _MOD = 12, 10
_DOUBLE, _INT64 = 11, 7
# The most trials for one model.
_TRIALS = 1000


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
        self.made: dict[Hashable, str] = {}
        self._versions = model.examined.versions
        self._taken = set(names_in(model.raw))

    @property
    def version(self) -> int:
        """The version of the operator set."""
        return self._versions.get("", 1)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits, in the order of the nodes."""
        return tuple(edit for change in self.changed.values() for edit in change.edits)

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

    def with_inputs(self, node: OnnxNode, inputs: Mapping[int, str], outputs: Sequence[str] = ()) -> OnnxNode:
        """Return a copy of a node with other inputs, and with other outputs if they are given."""
        proto = type(node.raw)()
        proto.CopyFrom(node.raw)
        for position, name in inputs.items():
            proto.input[position] = name
        while proto.input and not proto.input[-1]:
            del proto.input[-1]
        if outputs:
            proto.output[:] = outputs
            proto.name = self.name(f"{node.title}_free")
        (copy,) = walkable_nodes([proto], self._versions)
        return copy

    def moving(self, node: OnnxNode, op_type: str, *inputs: str, **attributes: Any) -> OnnxNode:
        """Return a node of another operator on a node's first input, with the node's name and output."""
        from onnx import helper

        names = [node.inputs[0], *inputs]
        proto = helper.make_node(op_type, names, node.outputs, name=node.name, **attributes)
        (copy,) = walkable_nodes([proto], self._versions)
        return copy

    # Sizes as nodes.

    def vector(self, dims: Sequence[Dim], known: Mapping[Dim, str] | None = None) -> str:
        """Return the name of a tensor that holds sizes; raise `ArithmeticError` if no nodes compute them exactly.

        ``known`` are names of tensors that hold some of them.
        """
        import numpy as np

        runs: list[tuple[Dim, ...]] = []
        for dim in dims:
            if isinstance(dim, int) and runs and isinstance(runs[-1][-1], int):
                runs[-1] = (*runs[-1], dim)
            else:
                runs.append((dim,))
        parts = [
            self._op("Constant", (), "sizes", value=np.array(run, np.int64))
            if isinstance(run[0], int)
            else (known or {}).get(run[0]) or self.size(run[0])
            for run in runs
        ]
        return parts[0] if len(parts) == 1 else self._op("Concat", parts, "sizes", axis=0)

    def counted(self, dims: Sequence[Dim]) -> str:
        """Return the name of a tensor of integers that holds the numbers from 0 on, in row-major order."""
        import numpy as np

        zero, one = (self._op("Constant", (), "scalar", value=np.array(n, np.int64)) for n in (0, 1))
        none = self._op("Constant", (), "scalar_shape", value=np.array([], np.int64))
        count = self._op("Reshape", (self.size(multiply(1, *dims)), none), "limit")
        places = self._op("Range", (zero, count, one), "range")
        return self._op("Reshape", (places, self.vector(dims)), "indices")

    def checked(self, dim: Dim, size: int) -> str:
        """Return the name of a tensor that holds a size, if that is a number; else the model fails there."""
        import numpy as np

        number = self._op("Constant", (), "number", value=np.array([size], np.int64))
        zeros = self._op("ConstantOfShape", (number,), "zeros")
        return self._op("Shape", (self._op("Reshape", (zeros, self.size(dim)), "checked"),), "checked_size")

    def size(self, dim: Dim) -> str:
        """Return the name of a tensor with one element, a size."""
        if isinstance(dim, Symbol):
            return self._read(dim)
        if isinstance(dim, Operation):
            return self._operation(dim)
        return self._sum(term(dim))

    def _read(self, symbol: Symbol) -> str:
        import numpy as np

        if symbol in self.known:
            return self.known[symbol]
        if symbol not in self.sources:  # an axis of a value, which later nodes may have before its own node
            raise ArithmeticError(f"no input has the size {symbol}")
        name, axis = self.sources[symbol]
        shape = self._op("Shape", (name,), f"{name}_shape")
        place = self._op("Constant", (), "axis", value=np.array([axis], np.int64))
        return self._op("Gather", (shape, place), f"{symbol.name}_size", axis=0)

    def _sum(self, value: Term) -> str:
        import numpy as np

        total = ""
        for monomial, coefficient in value.coefficients.items():
            factors = [self.size(atom) for atom in monomial]
            if coefficient != 1 or not factors:
                factors.append(self._op("Constant", (), "factor", value=np.array([coefficient], np.int64)))
            product = self.multiplied(factors)
            total = self._op("Add", (total, product), "size") if total else product
        return total

    def multiplied(self, names: Sequence[str]) -> str:
        """Return the name of the product of tensors."""
        product = names[0]
        for factor in names[1:]:
            product = self._op("Mul", (product, factor), "size")
        return product

    def _operation(self, value: Operation) -> str:
        """Return the name of a quotient, a remainder or an extremum.

        Div rounds towards 0, which is the floor where the dividend is at least 0 and the divisor at least 1.
        """
        parts = [self.size(arg.constant if arg.is_constant else arg) for arg in value.args]
        low, by = value.args[0].lower_bound, value.args[-1].lower_bound
        is_whole = low is not None and low >= 0 and by is not None and by >= 1
        if value.kind == "//" and is_whole:
            return self._op("Div", parts, "size")
        if value.kind == "//" and low is not None and value.args[1].is_constant and (by or 0) >= 1:
            return self._floor(value.args[0].dim(), value.args[1].constant, low)
        if value.kind == "%" and is_whole and self.version >= _MOD:
            return self._op("Mod", parts, "size")
        if value.kind in ("min", "max") and self.version >= _EXTREMA:
            return self._op(value.kind.capitalize(), parts, "size")
        if value.kind in ("min", "max"):  # a double holds every size exactly
            doubles = [self._op("Cast", (part,), "double", to=_DOUBLE) for part in parts]
            return self._op("Cast", (self._op(value.kind.capitalize(), doubles, "double"),), "size", to=_INT64)
        raise ArithmeticError(f"no nodes compute {value}")

    def _floor(self, value: Dim, by: int, low: int) -> str:
        """Return the name of a quotient of a number that is at least ``low``: x//k is (x + n*k)//k - n."""
        import numpy as np

        more = -(low // by)
        names = [self._op("Constant", (), "number", value=np.array([n], np.int64)) for n in (by, -more)]
        above = self._op("Div", (self.size(add(value, more * by)), names[0]), "size")
        return self._op("Add", (above, names[1]), "size")

    def _op(self, op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        key = op_type, tuple(inputs), tuple((k, repr(v)) for k, v in attributes.items())
        if key not in self.made:
            node = self.node(op_type, inputs, f"free_{output}", **attributes)
            self.sizes.append(node)
            self.made[key] = node.outputs[0]
        return self.made[key]

    # The model with its changes.

    def apply(self) -> None:
        """Write the changes into the model, and remove nodes and constants that nothing uses any more."""
        graph = self.model.raw.graph
        before = set(_used(graph))
        done = self._apply(graph)
        if done != len(self.changed):
            raise AssertionError(f"{len(self.changed) - done} changed nodes are not in the model")
        replace_nodes(graph, [*(n.raw for n in self.sizes), *graph.node])
        _remove_unused(graph, before, {n.outputs[0] for n in self.sizes})

    def _apply(self, graph: Any) -> int:
        done, nodes = 0, list[Any]()
        for proto in graph.node:
            done += sum(map(self._apply, graphs_in(proto)))
            change = self.changed.get(id(proto))
            nodes += [proto] if change is None else [*(n.raw for n in change.before), change.node.raw]
            done += change is not None
        if len(nodes) > len(graph.node) or any(id(n) in self.changed for n in graph.node):
            replace_nodes(graph, nodes)
        return done


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
