"""The walk through a model: node after node, each answered for by its operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from symbcast.core.logic.formulas import FALSE, Formula, negate
from symbcast.core.shapes import Shape, any_shape_of, shape_of
from symbcast.errors import DimensionError
from symbcast.onnx.deciding import decider_of_content, decider_of_output
from symbcast.onnx.evaluation import with_contents
from symbcast.onnx.functions import body_of
from symbcast.onnx.node_call import NodeCall, RefusedError, UnknownShapeError
from symbcast.onnx.open_values import OpenValues
from symbcast.onnx.operators.elementwise.intervals import with_intervals
from symbcast.onnx.operators.families import OPERATORS
from symbcast.onnx.reaches import reaches_of
from symbcast.onnx.requirements.recorder import Asker, Place
from symbcast.onnx.tail import DOMAINS, infer
from symbcast.onnx.unknown_ranks import Operators, outputs_of_given_rank, outputs_of_unknown_rank
from symbcast.onnx.validity.functions import key_of
from symbcast.onnx.validity.models import Examined
from symbcast.onnx.validity.opsets import normal
from symbcast.onnx.validity.types import Mistyped, mistyped
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.sequences import SequenceValue
from symbcast.onnx.values.value import NEVER, UNKNOWN, Constant, OpenValue, Value
from symbcast.onnx.walker import Fork, GraphScope, either

MAX_FORKS, MAX_FORKED_NODES = 3, 300
"""How many times in one another, and for how many nodes, the rest of a graph is walked once for each branch."""
MAX_DEPTH = 32
"""How deep graphs and functions may lie in one another."""
MAX_AGAIN, MAX_TURNS = 10_000, 8
"""How many nodes of functions and inner graphs are walked through: so many, and each that there is so often.

Functions that call one another twice, branches in branches and loops in loops double the walk with each level.
"""

MAX_BRANCHES = 1_000
"""How many graphs are walked through under conditions: each makes a size of its own that says whether it is taken."""


class Unanalysed(NamedTuple):
    """A node whose own conditions were not looked at, or not all of them, and why.

    ``is_about_data`` says that only what it asks of data was not: all that it asks of sizes was looked at.
    """

    node: str
    op_type: str
    reason: str
    is_about_data: bool = False

    def __str__(self) -> str:
        return f"{self.node} ({self.op_type}): {self.reason}"


class Walk:
    """A walk through one model; ``values`` are those of the graph itself, ``inner`` those of the graphs within it."""

    def __init__(self, model: Examined, asker: Asker) -> None:
        versions, functions, count = model.versions, model.functions, model.inner
        self.asker = asker
        self.functions = functions
        self.inner: dict[str, Value] = {}
        self.unanalysed: dict[Unanalysed, None] = {}
        self.top = GraphScope(versions)
        self._operators = OPERATORS
        self._names: dict[str, int] = {}
        """The names that are taken, each with the number that another node of the name is to have."""
        self._left = MAX_AGAIN + MAX_TURNS * count
        """How many nodes of functions and inner graphs may still be walked through."""
        self._branches_left = MAX_BRANCHES
        self._calls: dict[tuple[Any, ...], Sequence[Value]] = {}
        """What calls of functions gave that nothing but their arguments decides."""
        self._typed: set[tuple[Any, ...]] = set()
        """Operators with the element types of their inputs that they take."""
        self.mistyped: list[Mistyped] = []
        """Nodes of which the inputs seem to have types that they do not take."""
        self.open = OpenValues(asker)
        """What is known of values of unknown rank."""
        self.fork: Fork | None = None
        """Set by an If that leaves no one value to go on with."""
        self._forks = 0

    def graph(self, graph: Any, scope: GraphScope) -> list[Value]:
        """Walk through a graph, whose inputs are in the scope already; return its outputs."""
        self.constants(graph, scope)
        self._nodes(graph.node, 0, scope)
        return [scope.find(o.name) or UNKNOWN for o in graph.output]

    def _nodes(self, nodes: Sequence[Any], start: int, scope: GraphScope) -> None:
        """Walk through the nodes from ``start`` on."""
        for position in range(start, len(nodes)):
            node = nodes[position]
            self.node(node, scope)
            fork = self.fork
            self.fork = None
            if fork is not None and self._forks < MAX_FORKS and len(nodes) - position <= MAX_FORKED_NODES:
                self._both(fork, nodes, position, scope)
                return

    def _both(self, fork: Fork, nodes: Sequence[Any], position: int, scope: GraphScope) -> None:
        """Walk through the nodes after an If once for each branch, and put together what they come to.

        Its outputs have another rank from the one branch than from the other, so there is no one value to go on with.
        """
        self._forks += 1
        before, names = dict(scope.values), dict(self._names)
        ends = []
        for formula, outputs in ((fork.chosen, fork.yes), (negate(fork.chosen), fork.no)):
            scope.values, self._names = dict(before), dict(names)
            scope.values.update(zip(nodes[position].output, outputs, strict=False))
            with self.asker.under(formula):
                self._nodes(nodes, position + 1, scope)
            ends.append(scope.values)
        self._forks -= 1
        yes, no = ends
        for name in yes:
            if yes[name] is not no[name]:
                scope.values[name] = either(self.asker, name, fork.chosen, yes[name], no[name])

    def constants(self, graph: Any, scope: GraphScope) -> None:
        """Put the constants that a graph holds into the scope."""
        for tensor in graph.initializer:
            scope.values[tensor.name] = Constant(tensor)
        for tensor in graph.sparse_initializer:
            scope.values[tensor.values.name] = Value(tuple(tensor.dims), tensor.values.data_type)

    def within(self, graph: Any, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Walk through a graph that lies in another, such as a branch or a loop's body; return its outputs."""
        own = GraphScope(scope.versions, scope)
        if own.depth > MAX_DEPTH:
            raise UnknownShapeError("graphs lie too deep in one another")
        self._spend(len(graph.node))
        if self.asker.guards:
            self._branches_left -= 1
            if self._branches_left < 0:
                raise UnknownShapeError(f"more than {MAX_BRANCHES} branches and loops are run under conditions")
        for declared, value in zip(graph.input, inputs, strict=False):
            own.values[declared.name] = value
        outputs = self.graph(graph, own)
        for name, value in own.values.items():
            if not isinstance(value, Constant):
                self.inner.setdefault(name, value)
        return outputs

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Forget afterwards what is noted meanwhile."""
        inner, unanalysed, names, calls = self.inner, self.unanalysed, self._names, self._calls
        self.inner, self.unanalysed, self._names, self._calls = dict(inner), dict(unanalysed), dict(names), dict(calls)
        try:
            yield
        finally:
            self.inner, self.unanalysed, self._names, self._calls = inner, unanalysed, names, calls

    @contextmanager
    def apart(self) -> Iterator[dict[str, Value]]:
        """Keep no values of the graphs within the graph that are walked meanwhile; return them."""
        inner, self.inner = self.inner, dict(self.inner)
        try:
            yield self.inner
        finally:
            self.inner = inner

    def keep_common(self, inner: Mapping[str, Value]) -> None:
        """Leave the shapes of values of inner graphs open that were other ones in another walk through them."""
        for name, value in self.inner.items():
            if name in inner and inner[name].shape != value.shape:
                self.inner[name] = Value(None, value.dtype)

    def _spend(self, count: int) -> None:
        """Take nodes that are to be walked through from those that may be; raises `UnknownShapeError` of too many."""
        if count > self._left:
            raise UnknownShapeError("functions, branches and loops within one another come to too many nodes")
        self._left -= count

    def node(self, node: Any, scope: GraphScope) -> None:
        """Work out the outputs of a node and put them into the scope."""
        inputs = [scope.find(name) for name in node.input]
        outputs = self._outputs(node, inputs, scope)
        self.mark(node, inputs, outputs, scope)
        for position, name in enumerate(node.output):
            if name:
                scope.values[name] = outputs[position] if position < len(outputs) else UNKNOWN

    def mark(self, node: Any, inputs: Sequence[Value | None], outputs: Sequence[Value], scope: GraphScope) -> None:
        """Set what decides the elements of the outputs of a node, where that is not known yet."""
        for position, value in enumerate(outputs):
            if value.decided_by is not None:
                continue
            found = decider_of_content(value.content, value.shape, self.asker)
            if found is None:
                found = self._decider_of_output(node, inputs, position, scope)
            value.decided_by = found
            if isinstance(value, SequenceValue):
                for item in value.items or ():
                    item.decided_by = found if item.decided_by is None else item.decided_by

    def _decider_of_output(
        self, node: Any, inputs: Sequence[Value | None], position: int, scope: GraphScope
    ) -> Decider:
        """Return what decides the elements of an output, which are not known exactly."""
        domain = normal(node.domain)
        return decider_of_output(node, scope.versions.get(domain, 1), domain, inputs, position)

    def _outputs(self, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        place = self._place(node, inputs)
        if self.asker.foreknown:
            self.asker.restate(place)
        if NEVER in inputs:
            return [NEVER] * len(node.output)
        try:
            outputs = self._answered(place, scope)
            if place.name in self.asker.unfollowed:
                self.leave(place, self.asker.unfollowed.pop(place.name))
            return outputs
        except RefusedError:
            return [NEVER] * len(node.output)
        except UnknownShapeError as error:
            reason = str(error) or _missing(node, inputs)
        except (ArithmeticError, LookupError, TypeError, ValueError, DimensionError) as error:
            reason = f"could not be followed: {error}"
        return self._unknown(place, scope, reason)

    def _answered(self, place: Place, scope: GraphScope) -> Sequence[Value]:
        """Return the outputs of a node, by the operator or the function that answers for it."""
        node, inputs, domain = place.node, place.inputs, normal(place.node.domain)
        op_type = place.op_type
        function = self.functions.get(key_of(domain, op_type, node)) if self.functions else None
        if function is not None:
            return self._call(function, node, inputs, scope)
        version = scope.versions.get(domain, 1)
        types = tuple([None if v is None else v.dtype for v in inputs])
        if (op_type, domain, version, types) not in self._typed:
            self._type(node, domain, version, types)
        call = NodeCall(place, version, self, scope)
        if self.asker.sequences:
            found = outputs_of_given_rank(call, _OPERATORS)
            if found is not None:
                return self.asker.written(found)
        operator = self._operators.get((domain, op_type))
        if operator is None:
            return self._other(call, domain)
        return self.asker.written(with_intervals(call, with_contents(call, _as_sequence(operator(call)))))

    def _unknown(self, place: Place, scope: GraphScope, reason: str) -> Sequence[Value]:
        """Return the outputs of a node that could not be answered for, as far as they are known; note why."""
        version = scope.versions.get(normal(place.node.domain), 1)
        return outputs_of_unknown_rank(NodeCall(place, version, self, scope), _OPERATORS, reason)

    def _type(self, node: Any, domain: str, version: int, types: tuple[int | None, ...]) -> None:
        """Look at the element types of the inputs of a node, once for all nodes of an operator with the same types."""
        numbers = [dtype or 0 for dtype in types]
        found = mistyped(node.op_type, domain, version, numbers)
        if found is None:
            self._typed.add((node.op_type, domain, version, types))
        else:
            self.mistyped.append(Mistyped(node, numbers, *found))

    def _place(self, node: Any, inputs: Sequence[Value | None]) -> Place:
        name = base = _title(node)
        while name in self._names:
            name = f"{base} ({self._names[base]})"
            self._names[base] += 1
        self._names[name] = 2
        return Place(name, node.op_type, node, inputs)

    def _other(self, call: NodeCall, domain: str) -> Sequence[Value]:
        if domain not in DOMAINS:
            call.give_up(f"the operator is of {domain}, and not known")
        return infer(call)

    def _call(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function of the model, or return what came of an earlier call.

        A call of the same arguments under the same conditions asks what was asked then, and gives the same sizes. It is
        not kept where it made a size of its own, which data decide anew each time, or left something open.
        """
        key = _key_of_call(node, inputs, self.asker.guards)
        found = self._calls.get(key) if key is not None else None
        if found is None:
            before = len(self.asker.origins), len(self.unanalysed)
            found = self.function(function, node, inputs, scope)
            if key is not None and before == (len(self.asker.origins), len(self.unanalysed)):
                self._calls[key] = found
        return found

    def function(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function that the model holds."""
        own = GraphScope({**self.top.versions, **_versions(function.opset_import)})
        own.depth = scope.depth + 1
        if own.depth > MAX_DEPTH:
            raise UnknownShapeError("functions lie too deep in one another")
        self._spend(len(function.node))
        absent = set()
        for position, name in enumerate(function.input):
            found = inputs[position] if position < len(inputs) else None
            if found is None:
                absent.add(name)
            else:
                own.values[name] = found
        self._nodes(body_of(function, node, absent), 0, own)
        return [own.values.get(name, UNKNOWN) for name in function.output]

    def refuse(self, node: Any, reason: str, inputs: Sequence[Value | None]) -> None:
        """Refuse all sizes at a node, whether the walk came to it or not."""
        self.asker.require(Place(_title(node), node.op_type, node, inputs), FALSE, reason)

    def doubt(self, node: Any, reason: str) -> None:
        """Note a node that may refuse all sizes."""
        self.leave(Place(_title(node), node.op_type, node, []), reason)

    def found(self, name: str) -> Value | None:
        """Return what was found of a value, in whichever graph; None where it was not come to."""
        return self.top.values.get(name) or self.inner.get(name)

    def leave(self, place: Place, reason: str, is_about_data: bool = False) -> None:
        """Note a node whose conditions were not looked at, or only what it asks of data."""
        self.unanalysed[Unanalysed(place.name, place.op_type, reason, is_about_data)] = None


def _title(node: Any) -> str:
    return str(node.name or (node.output[0] if node.output else "") or node.op_type)


_OPERATORS = Operators(reaches_of, lambda call: OPERATORS[normal(call.node.domain), call.node.op_type](call))


def _key_of_call(node: Any, inputs: Sequence[Value | None], guards: tuple[Formula, ...]) -> tuple[Any, ...] | None:
    """Return all that a call of a function depends on; None where that cannot be told."""
    attributes = tuple(a.SerializeToString(deterministic=True) for a in node.attribute)
    found = (*key_of(node.domain, node.op_type, node), attributes, tuple(map(_key_of_value, inputs)), guards)
    try:
        hash(found)
    except TypeError:
        return None
    return found


def _key_of_value(value: Value | None) -> Any:
    """Return what is known of a value; a constant, of which more may become known, stands for itself."""
    return tuple(getattr(value, name) for name in Value.__slots__) if type(value) is Value else value


def _versions(imports: Any) -> dict[str, int]:
    return {normal(o.domain): int(o.version) for o in imports}


def _as_sequence(outputs: Value | Sequence[Value]) -> Sequence[Value]:
    return (outputs,) if isinstance(outputs, Value) else outputs


def _missing(node: Any, inputs: Sequence[Value | None]) -> str:
    names = [n for n, v in zip(node.input, inputs, strict=True) if v is not None and v.shape is None]
    if names:
        return f"the shape of {', '.join(names)} is not known"
    return "what it needs of its inputs is not known"


def shapes_of(values: Mapping[str, Value]) -> dict[str, Shape | None]:
    """Return the shapes of values by name."""
    return {name: _shape(v) for name, v in values.items()}


def _shape(value: Value) -> Shape | None:
    if isinstance(value, OpenValue):
        return any_shape_of(value.ends)
    return None if value.shape is None else shape_of(value.shape)
