"""Walk a graph node by node; the function of each node's operator computes its outputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from symbcast.core.algebra.formulas import FALSE, Formula, negate
from symbcast.core.algebra.terms import Dim, Term
from symbcast.core.effort import current_budget
from symbcast.core.shapes import NamedShapes, Shape, any_shape_of, shape_of
from symbcast.core.structs import NamedTuple
from symbcast.errors import DimensionError
from symbcast.graphs.walking import node_call
from symbcast.graphs.walking.facts import long_ones
from symbcast.graphs.walking.node_call import Fork, GraphScope, NodeCall, OpenValues, RefusedError, UnknownShapeError
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.graphs.walking.unknown_ranks import NodeFunctions, Reaches, outputs_of_given_rank, outputs_of_unknown_rank
from symbcast.operators.values.contents import Elements
from symbcast.operators.values.value import (
    NEVER,
    UNKNOWN,
    Constant,
    Decider,
    OpenValue,
    SequenceValue,
    Value,
    decider_of_content,
    join_deciders,
)

if TYPE_CHECKING:
    from symbcast.graphs.graph import Graph, Node


class WalkedFrontEnd(Protocol):
    """The parts of a front end that a walk uses; see `symbcast.graphs.check`."""

    @property
    def reaches(self) -> Reaches:
        """Returns the number of axes that operators use of inputs of unknown rank."""

    @property
    def call(self) -> Callable[..., NodeCall]:
        """Creates the call of an operator from a place, a walk and a scope."""

    @property
    def tail(self) -> Callable[[Any], Sequence[Value]]:
        """Handles an operator that has no function."""

    def operator(self, node: Node) -> Callable[[Any], Value | Sequence[Value]] | None:
        """Return the function for a node's operator; None if there is none."""


# The total length of the sizes in a walk: if it exceeds a limit, long sizes become unknown ones.


# The maximum number of atoms in all long sizes of a walk; 96 exported models stay below 40,000.
_LIMIT = 100_000


class Lengths:
    """The total length of the long sizes in one walk."""

    def __init__(self, asker: Requirements) -> None:
        self._asker = asker
        # What is left of the limit.
        self.left = _LIMIT

    def limited(self, outputs: Sequence[Value], node: Node) -> Sequence[Value]:
        """Return the outputs of a node, with unknown sizes for long ones once the limit is exceeded.

        Raises `TooLongError` if the walk is to be repeated with names for sizes that depend on cases.
        """
        for value in outputs:
            self._asker.check_lengths(value.shape or ())
            self.left -= sum(long_ones(_dims_of(value)))
        return outputs if self.left >= 0 else [self._shortened(value, node.title) for value in outputs]

    def _shortened(self, value: Value, label: str) -> Value:
        if not long_ones(_dims_of(value)):
            return value
        if value.shape is None:
            return Value(None, value.dtype)
        return Value(tuple(self._named(dim, f"{label}_dim_{n}") for n, dim in enumerate(value.shape)), value.dtype)

    def _named(self, dim: Dim, name: str) -> Dim:
        if not long_ones([dim]):
            return dim
        least = max(self._asker.bounds.least(dim) or 0, 0)
        return self._asker.symbol(name, "a size whose formula is too long to follow", least, is_undecided=True)


def _dims_of(value: Value) -> Sequence[Dim]:
    shape = value.shape or ()
    if isinstance(value, Constant) or not isinstance(value.content, Elements):
        return shape
    return [*shape, *(item for item in value.content.items if isinstance(item, Term))]


# Nodes that differ from an earlier one only in names: their outputs are taken over, without asking again.
#
# Models repeat their layers, so most nodes of a large one have a twin: the same operator and attributes, on inputs
# about which the same is known. What a node gives is a function of these, of the conditions under which it runs, and
# of what the walk knows about sizes. A node is a twin's model only if it left no trace in the walk; a second twin of a
# node with requirements is one, because these are recorded already.


Key: TypeAlias = "tuple[Any, ...]"

# The key of a value whose facts are more than its shape, type, elements and decider.
_INCOMPARABLE = -1


class Repeats:
    """The outputs of nodes of one walk, by everything that decides them."""

    def __init__(self, asker: Requirements, trace: Callable[[], Hashable]) -> None:
        self._asker = asker
        # Counts what nodes leave in the walk.
        self._trace = trace
        # The key of a value by the facts about it.
        self._numbers: dict[Hashable, int] = {}
        # Values, and the positions of inputs that are handed on.
        self._outputs: dict[Key, Sequence[Value | int]] = {}
        # The knowledge about sizes under which these are the outputs.
        self._knowledge: Hashable = None

    def key(self, kind: Hashable | None, inputs: Sequence[Value | None]) -> Key | None:
        """Return what decides a node's outputs, besides the knowledge about sizes; None if that is unknown."""
        if kind is None:
            return None
        keys = [None if v is None else v.key or self.number(v) for v in inputs]
        return None if _INCOMPARABLE in keys else (kind, self._asker.guards, *keys)

    def table(self) -> Mapping[Key, Sequence[Value | int]]:
        """Return what nodes give under the present knowledge: values, and the positions of inputs that are handed on.

        Values are shared: nothing may change them.
        """
        knowledge = self._asker.knowledge
        if knowledge != self._knowledge:
            self._outputs.clear()
            self._knowledge = knowledge
        return self._outputs

    def outputs(self, key: Key, inputs: Sequence[Value | None]) -> Sequence[Value] | None:
        """Return the outputs of a node with a key and these inputs; None if none are known."""
        outputs = self.table().get(key)
        if outputs is None:
            return None
        return [cast("Value", inputs[v]) if isinstance(v, int) else v for v in outputs]

    def state(self) -> Hashable:
        """Return what changes if a node leaves a trace."""
        return self._asker.knowledge, self._asker.recorded, self._trace()

    def keep(self, key: Key, before: Hashable, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Take over the outputs of a node for its twins, if it left no trace since ``before``.

        A constant that was read as an array may have other numbers than another one with the same key.
        """
        if before != self.state():
            return
        for operand in inputs:
            if isinstance(operand, Constant) and operand.was_read:
                return
        shared: list[Value | int] = []
        for value in outputs:
            if isinstance(value, Constant) and value in inputs:
                shared.append(inputs.index(value))
            elif type(value) is Value and (value.key or self.number(value)) != _INCOMPARABLE:
                shared.append(value)
            else:
                return
        self._outputs[key] = shared

    def forget(self) -> Callable[[], None]:
        """Start anew, because requirements will be discarded; return the function that takes the outputs back."""
        before = self._outputs, self._knowledge
        self._outputs, self._knowledge = {}, None

        def restore() -> None:
            self._outputs, self._knowledge = before

        return restore

    def number(self, value: Value) -> int:
        """Set the key of a value and return it."""
        facts = value.facts()
        value.key = _INCOMPARABLE if facts is None else self._numbers.setdefault(facts, len(self._numbers) + 1)
        return value.key


# How deeply nested, and for how many nodes, the rest of a graph is walked once for each branch.
MAX_FORKS, MAX_FORKED_NODES = 3, 300
# The maximum nesting depth of graphs and functions.
MAX_DEPTH = 32
# The walk budget for nodes of functions and inner graphs: a fixed number of nodes, plus a multiple of their count.
#
# Functions that call one another twice, branches in branches and loops in loops double the walk with each level.
MAX_AGAIN, MAX_TURNS = 10_000, 8

# How many graphs are walked under conditions: each adds a new size that says whether it is taken.
MAX_BRANCHES = 1_000


class Unanalysed(NamedTuple):
    """A node whose own conditions were not checked completely, and the reason.

    ``is_about_data`` says that only conditions on data are unchecked; all conditions on sizes were checked. ``enough``
    is a condition on sizes at which they hold whatever the data are; False if none is known.
    """

    node: str
    op_type: str
    reason: str
    is_about_data: bool = False
    enough: Formula = FALSE

    def __str__(self) -> str:
        return f"{self.node} ({self.op_type}): {self.reason}"


class CalledBody(NamedTuple):
    """The body of a function for one call: its graph, its values, and those of the graphs inside it."""

    graph: Graph
    values: Mapping[str, Value]
    inner: Mapping[str, Value]


class Walkable(Protocol):
    """The part of a model that a walk uses: the number of nodes in inner graphs and functions."""

    inner: int


class Walk:
    """A walk through one model; ``top`` holds the values of its main graph, ``inner`` those of graphs inside that.

    A front end that needs more than a table of operators derives its own subclass.
    """

    def __init__(self, model: Walkable, front_end: WalkedFrontEnd, asker: Requirements) -> None:
        self.asker = asker
        self.front_end = front_end
        self.top = GraphScope()
        # What the functions computed that nodes call, by the node's identity; twins of such nodes have none.
        self.bodies: dict[int, CalledBody] = {}
        self.inner: dict[str, Value] = {}
        self.unanalysed: dict[Unanalysed, None] = {}
        self._operators = NodeFunctions(front_end.reaches, self.answer)
        # The used names, each with the number for the next node of that name.
        self._names: dict[str, int] = {}
        # The nodes that were walked, in order; as many of the first ones have names as there are names.
        self._walked: list[Node | NodePlace] = []
        # How many nodes of functions and inner graphs may still be walked.
        self._left = self._budget = MAX_AGAIN + MAX_TURNS * model.inner
        self._branches_left = MAX_BRANCHES
        self._repeats = Repeats(asker, self.trace)
        # The knowledge about values of unknown rank.
        self.open = OpenValues(asker)
        # Set by an If whose branches give no common value to go on with.
        self.fork: Fork | None = None
        self._forks = 0
        self._lengths = Lengths(asker)
        # Why the walk ended before the last node, if the caller's seconds were over.
        self.stopped = ""

    # Graphs.

    def graph(self, graph: Graph, scope: GraphScope) -> list[Value]:
        """Walk through a graph whose inputs are already in the scope; return its outputs."""
        scope.values.update(graph.constants)
        self._nodes(graph.nodes, 0, scope)
        return [scope.find(name) or UNKNOWN for name in graph.outputs]

    def _nodes(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> None:
        """Walk through the nodes from ``start`` on."""
        position, count = self._repeated(nodes, start, scope), len(nodes)
        while position < count:
            self.node(nodes[position], scope)
            if self.fork is not None:
                fork, self.fork = self.fork, None
                if self._forks < MAX_FORKS and count - position <= MAX_FORKED_NODES:
                    self._both(fork, nodes, position, scope)
                    return
            position = self._repeated(nodes, position + 1, scope)

    def _repeated(self, nodes: Sequence[Node], start: int, scope: GraphScope) -> int:
        """Take over the outputs of earlier twins from a node on; return the position of the first without a twin."""
        if self.asker.foreknown or not self.is_untimed:
            return start
        # Most nodes of a large model have a twin: what a twin does not need, such as a place and a name, is not made
        # here.
        table, number = self._repeats.table(), self._repeats.number
        guards, values, walked = self.asker.guards, scope.values, self._walked
        for position in range(start, len(nodes)):
            node = nodes[position]
            inputs = node.inputs
            if not inputs:
                constant = self.constant(node)
                if constant is None:
                    return position
                values[node.outputs[0]] = constant
                continue
            try:
                operands = [values[name] for name in inputs]
            except KeyError:  # an input is left out, or of a graph around this one
                return position
            outputs = table.get((node.kind, guards, *[v.key for v in operands]))
            if outputs is None:
                if all(v.key for v in operands):
                    return position
                # Constants have no number before they are used: each layer has weights of its own.
                outputs = table.get((node.kind, guards, *[v.key or number(v) for v in operands]))
                if outputs is None:
                    return position
            for name, value in zip(node.outputs, outputs, strict=False):
                if name:
                    values[name] = operands[value] if isinstance(value, int) else value
            walked.append(node)
        return len(nodes)

    def _both(self, fork: Fork, nodes: Sequence[Node], position: int, scope: GraphScope) -> None:
        """Walk through the nodes after an If once for each branch, and merge the results."""
        self._forks += 1
        self._name_all()
        before, names = dict(scope.values), dict(self._names)
        for name in nodes[position].outputs:
            before.pop(name, None)
        ends = []
        # The branches give outputs of different ranks: no single value could stand for both, so all nodes after the If
        # are walked twice.
        for formula, outputs in ((fork.chosen, fork.yes), (negate(fork.chosen), fork.no)):
            scope.values, self._names = dict(before), dict(names)
            del self._walked[len(names) :]
            scope.values.update(zip(nodes[position].outputs, outputs, strict=False))
            with self.asker.under(formula):
                self._nodes(nodes, position + 1, scope)
            self._name_all()
            ends.append(scope.values)
        self._forks -= 1
        yes, no = ends
        for name in yes:
            # A value made in both walks may be one object, as twins share theirs; its elements still differ.
            if name not in before:
                scope.values[name] = node_call.either(self.asker, name, fork.chosen, yes[name], no[name])

    def within(self, graph: Graph, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Walk through a graph inside another, such as a branch or a loop body; return its outputs."""
        own = GraphScope(scope)
        if own.depth > MAX_DEPTH:
            raise UnknownShapeError("graphs are nested too deeply")
        self.spend(len(graph.nodes))
        if self.asker.guards:
            self._branches_left -= 1
            if self._branches_left < 0:
                raise UnknownShapeError(f"more than {MAX_BRANCHES} branches and loops run under conditions")
        own.values.update(zip(graph.inputs, inputs, strict=False))
        outputs = self.graph(graph, own)
        for name, value in own.values.items():
            if not isinstance(value, Constant):
                self.inner.setdefault(name, value)
        return outputs

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Discard the notes made in this context when it ends."""
        self._name_all()
        inner, unanalysed, names = self.inner, self.unanalysed, self._names
        restore = self._repeats.forget()
        self.inner, self.unanalysed, self._names = dict(inner), dict(unanalysed), dict(names)
        try:
            yield
        finally:
            self._name_all()
            del self._walked[len(names) :]
            self.inner, self.unanalysed, self._names = inner, unanalysed, names
            restore()

    @contextmanager
    def apart(self) -> Iterator[dict[str, Value]]:
        """Do not keep the values of inner graphs that are walked in this context; yield them instead."""
        inner, self.inner = self.inner, dict(self.inner)
        try:
            yield self.inner
        finally:
            self.inner = inner

    def keep_common(self, inner: Mapping[str, Value]) -> None:
        """Discard the shapes of values in inner graphs if another walk through these graphs gave different ones."""
        for name, value in self.inner.items():
            if name in inner and inner[name].shape != value.shape:
                self.inner[name] = Value(None, value.dtype)

    @property
    def has_ample(self) -> bool:
        """Whether two thirds of the walk budgets are left: to try what takes a third, do it, and go on."""
        return self._left * 3 > self._budget * 2 and self._branches_left * 3 > MAX_BRANCHES * 2

    def spend(self, count: int) -> None:
        """Charge nodes against the walk budget; raises `UnknownShapeError` if it is exhausted."""
        if count > self._left:
            raise UnknownShapeError("nested functions, branches and loops expand to too many nodes")
        self._left -= count

    # Nodes.

    def node(self, node: Node, scope: GraphScope) -> None:
        """Compute the outputs of a node and put them into the scope; take over those of an earlier twin."""
        values = scope.values
        constant = None if node.inputs else self.constant(node)
        if constant is not None:
            values[node.outputs[0]] = constant
            return
        inputs = [values.get(name) or scope.find(name) for name in node.inputs]
        outputs: Sequence[Value] | None = None
        budget = current_budget()
        if budget is not None and budget.over():
            outputs = self._stopped(node, inputs, budget.reason)
        else:
            place = self._restated(node, inputs) if self.asker.foreknown else None
            key = self._repeats.key(node.kind, inputs)
            if key is not None:
                outputs = self._repeats.outputs(key, inputs)
            if outputs is None:
                outputs = self._computed(self._place(node, inputs) if place is None else place, key, scope)
            elif place is None:
                self._walked.append(node)
        for position, name in enumerate(node.outputs):
            if name:
                values[name] = outputs[position] if position < len(outputs) else UNKNOWN

    def constant(self, node: Node) -> Value | None:
        """Return what a node without inputs holds; None if its function is to say that."""
        return None

    @property
    def is_untimed(self) -> bool:
        """Whether the caller gave no limit in seconds."""
        return current_budget() is None

    def _stopped(self, node: Node, inputs: Sequence[Value | None], reason: str) -> Sequence[Value]:
        """Note that the caller's seconds are over: the nodes from this one on are not analysed."""
        self.stopped = reason
        self.leave(self._place(node, inputs), f"{reason} before this node")
        return [UNKNOWN] * len(node.outputs)

    def mark(self, node: Node, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Set what decides the elements of a node's outputs, if that is not known yet."""
        for position, value in enumerate(outputs):
            if value.decided_by is not None:
                continue
            decider = decider_of_content(value.content, value.shape, self.asker)
            value.decided_by = self.decided(node, inputs, position, value) if decider is None else decider
            if isinstance(value, SequenceValue):
                for item in value.items or ():
                    item.decided_by = value.decided_by if item.decided_by is None else item.decided_by

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of the output at a position, if these are not known exactly."""
        return join_deciders(inputs)

    def _restated(self, node: Node, inputs: Sequence[Value | None]) -> NodePlace:
        """Return a node's place, after requiring what an earlier walk learned there."""
        place = self._place(node, inputs)
        self.asker.restate(place)
        return place

    def _computed(self, place: NodePlace, key: Key | None, scope: GraphScope) -> Sequence[Value]:
        """Compute the outputs of a node, with what decides their elements; keep them for its twins."""
        before = None if key is None else self._repeats.state()
        outputs = self._lengths.limited(self._outputs(place, scope), place.node)
        self.mark(place.node, place.inputs, outputs)
        if key is not None and len(outputs) >= len(place.node.outputs):
            self._repeats.keep(key, before, place.inputs, outputs)
        return outputs

    def trace(self) -> Hashable:
        """Return counts of what nodes leave in the walk, besides their outputs."""
        return self.marks(), len(self._walked), self._left

    def marks(self) -> Hashable:
        """Return the same without names and the walk budget, which nodes inside a node use up."""
        return (len(self.unanalysed), len(self.inner), self._branches_left, self._lengths.left, self.fork is None)

    def _outputs(self, place: NodePlace, scope: GraphScope) -> Sequence[Value]:
        node, inputs = place.node, place.inputs
        if NEVER in inputs:
            return [NEVER] * len(node.outputs)
        try:
            outputs = self.answered(place, scope)
            if self.asker.unfollowed and place.name in self.asker.unfollowed:
                self.leave(place, self.asker.unfollowed.pop(place.name))
            return outputs
        except RefusedError:
            return [NEVER] * len(node.outputs)
        except UnknownShapeError as error:
            reason = str(error) or _missing(node, inputs)
        except (ArithmeticError, LookupError, TypeError, ValueError, DimensionError) as error:
            reason = f"could not be analysed: {error}"
        return self.unknown(self.front_end.call(place, self, scope), reason)

    def answered(self, place: NodePlace, scope: GraphScope) -> Sequence[Value]:
        """Return the outputs of a node; raises `UnknownShapeError` if they are unknown."""
        call = self.front_end.call(place, self, scope)
        outputs = self.of_given_rank(call)
        return self.asker.written(self.followed(call, as_sequence(self.answer(call))) if outputs is None else outputs)

    def of_given_rank(self, call: NodeCall) -> Sequence[Value] | None:
        """Return the outputs of a node with inputs that the caller gives as sequences of axes; None for other nodes."""
        return outputs_of_given_rank(call, self._operators) if self.asker.sequences else None

    def answer(self, call: NodeCall) -> Value | Sequence[Value]:
        """Compute a node's outputs with the function of its operator, or else with the fallback of its front end."""
        operator = self.front_end.operator(call.node)
        return self.front_end.tail(call) if operator is None else operator(call)

    def followed(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return outputs with any additional knowledge about their elements."""
        return outputs

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return the outputs of a node that was not analysed, as far as they are known; note the reason."""
        return outputs_of_unknown_rank(call, self._operators, reason)

    def _place(self, node: Node, inputs: Sequence[Value | None]) -> NodePlace:
        place = NodePlace("", node.op_type, node, inputs, self._name_all)
        self._walked.append(place)
        return place

    def _named(self, node: Node) -> str:
        """Return a name for a node that no earlier node has."""
        name = base = node.title
        while name in self._names:
            name = f"{base} ({self._names[base]})"
            self._names[base] += 1
        self._names[name] = 2
        return name

    def _name_all(self) -> None:
        """Name the nodes that were walked and have no name yet, in their order."""
        for position in range(len(self._names), len(self._walked)):
            walked = self._walked[position]
            if isinstance(walked, NodePlace):
                walked.name_it(self._named(walked.node))
                self._walked[position] = walked.node
            else:
                self._named(walked)

    # Notes.

    def refuse(self, node: Node, reason: str, inputs: Sequence[Value | None]) -> None:
        """Record that a node cannot run at any sizes, whether or not the walk reached it."""
        self.asker.require(NodePlace(node.title, node.op_type, node, inputs), FALSE, reason)

    def doubt(self, node: Node, reason: str) -> None:
        """Note a node that possibly cannot run at any sizes."""
        self.leave(NodePlace(node.title, node.op_type, node, []), reason)

    def found(self, name: str) -> Value | None:
        """Return the value found for a name, in any graph; None if the walk did not reach it."""
        return self.top.values.get(name) or self.inner.get(name)

    def leave(self, place: NodePlace, reason: str, is_about_data: bool = False, enough: Formula = FALSE) -> None:
        """Note a node whose conditions, or only whose conditions on data, were not checked."""
        self.unanalysed[Unanalysed(place.name, place.op_type, reason, is_about_data, enough)] = None


def as_sequence(outputs: Value | Sequence[Value]) -> Sequence[Value]:
    """Return outputs as a sequence, even if there is only one."""
    return (outputs,) if isinstance(outputs, Value) else outputs


def _missing(node: Node, inputs: Sequence[Value | None]) -> str:
    names = [n for n, v in zip(node.inputs, inputs, strict=True) if v is not None and v.shape is None]
    if names:
        return f"the shape of {', '.join(names)} is unknown"
    return "its requirements on its inputs are unknown"


def shapes_of(values: Mapping[str, Value], kind: str = "value") -> NamedShapes:
    """Return the shapes of values by name; ``kind`` is what they are, for errors."""
    return NamedShapes(((name, _shape(v)) for name, v in values.items()), kind)


def _shape(value: Value) -> Shape | None:
    if isinstance(value, OpenValue):
        return any_shape_of(value.ends)
    return None if value.shape is None else shape_of(value.shape)
