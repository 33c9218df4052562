"""The walk through an ONNX model: calls of functions, element types, bounds of integers, and what decides elements.

Whether sizes or data decide a node's elements is derived from its inputs, with the help of the operator's schema.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Protocol, cast

from symbcast.core.algebra.formulas import Formula
from symbcast.graphs.check import FrontEnd
from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.graphs.walking.node_call import GraphScope, NodeCall, UnknownShapeError
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.graphs.walking.walk import MAX_DEPTH, CalledBody, Walk, Walkable
from symbcast.onnx.operators.declarations import OPERATORS
from symbcast.onnx.protobuf import OnnxNode, StoredTensor, TensorConstant, body_of, canonical_domain, walkable_nodes
from symbcast.onnx.reference import with_contents
from symbcast.onnx.schemas import TypeMismatch, function_key, mismatch, onnx_schema
from symbcast.onnx.validation import ValidModel
from symbcast.operators.values.value import UNKNOWN, Decider, Value, decider_of_result, join_deciders


class WalkableOnnx(Walkable, Protocol):
    """What a walk also needs from an ONNX model."""

    examined: ValidModel


class OnnxWalk(Walk):
    """A walk through one model; see `symbcast.graphs.walking.walk` for what it keeps."""

    def __init__(self, model: WalkableOnnx, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self._functions = model.examined.functions
        self._versions = model.examined.versions
        # Function calls that depend only on their arguments.
        self._calls: dict[tuple[Any, ...], CalledBody] = {}
        # What nodes of type Constant hold.
        self._constants: dict[StoredTensor, Value] = {}
        # Operators with accepted combinations of input element types.
        self._typed: set[tuple[Any, ...]] = set()
        # Nodes whose inputs seem to have types that they do not accept.
        self.mistyped: list[TypeMismatch] = []

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Discard everything recorded in this context on exit."""
        calls, self._calls = self._calls, dict(self._calls)
        bodies, self.bodies = self.bodies, dict(self.bodies)
        try:
            with super().trying():
                yield
        finally:
            self._calls, self.bodies = calls, bodies

    def constant(self, node: Node) -> Value | None:
        """Return the tensor that a node holds, the same value for equal ones; the node gets a name."""
        tensor = None if self._functions or not self.is_untimed else cast("OnnxNode", node).tensor
        if tensor is None:
            return None
        self._walked.append(node)
        constant = self._constants.get(tensor)
        if constant is None:
            constant = self._constants[tensor] = TensorConstant(tensor.raw, tensor)
        return constant

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        return decider_of_output(node, inputs, position)

    def answered(self, place: NodePlace, scope: GraphScope) -> Sequence[Value]:
        """Return the outputs of a node, computed by its operator or by a function of the model."""
        node, inputs = place.node, place.inputs
        function = self._functions.get(function_key(node.domain, node.op_type, node.raw)) if self._functions else None
        if function is not None:
            return self._call(function, node, inputs, scope)
        types = tuple([None if v is None else v.dtype for v in inputs])
        if (node.op_type, node.domain, node.version, types) not in self._typed:
            self._type(node, types)
        return super().answered(place, scope)

    def trace(self) -> Hashable:
        """Return counts of what nodes leave in the walk, besides their outputs."""
        return super().trace(), len(self.mistyped)

    def followed(self, call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
        """Return outputs with whatever the inputs imply about their elements."""
        if self.front_end.operator(call.node) is None:
            return outputs
        return OPERATORS.with_intervals(call, with_contents(call, outputs))

    def _type(self, node: Node, types: tuple[int | None, ...]) -> None:
        """Check the element types of a node's inputs, once for all nodes with the same operator and types."""
        numbers = [dtype or 0 for dtype in types]
        places = mismatch(node.op_type, node.domain, node.version, numbers)
        if places is None:
            self._typed.add((node.op_type, node.domain, node.version, types))
        else:
            self.mistyped.append(TypeMismatch(node.raw, numbers, *places))

    def _call(self, function: Any, node: Node, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function of the model, or return the result of an earlier call."""
        # A call with the same arguments under the same conditions has the same requirements and gives the same sizes. A
        # result is not reused if the call left something open, or created a size, since data decide it anew each time.
        key = _key_of_call(node, inputs, self.asker.guards)
        body = self._calls.get(key) if key is not None else None
        if body is None:
            before = len(self.asker.origins), len(self.unanalysed)
            body = self._body(function, node.raw, inputs, scope)
            if key is not None and before == (len(self.asker.origins), len(self.unanalysed)):
                self._calls[key] = body
        # A node in a loop is walked several times, with other values.
        is_other = id(node) in self.bodies and self.bodies[id(node)] is not body
        self.bodies[id(node)] = CalledBody(body.graph, NOTHING, NOTHING) if is_other else body
        return [body.values.get(name, UNKNOWN) for name in function.output]

    def function(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function, a ``FunctionProto`` that the ``NodeProto`` ``node`` calls."""
        values = self._body(function, node, inputs, scope).values
        return [values.get(name, UNKNOWN) for name in function.output]

    def _body(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> CalledBody:
        own = GraphScope()
        own.depth = scope.depth + 1
        if own.depth > MAX_DEPTH:
            raise UnknownShapeError("functions are nested too deeply")
        self.spend(len(function.node))
        absent = set()
        for position, name in enumerate(function.input):
            value = inputs[position] if position < len(inputs) else None
            if value is None:
                absent.add(name)
            else:
                own.values[name] = value
        imported = {canonical_domain(o.domain): int(o.version) for o in function.opset_import}
        nodes = walkable_nodes(body_of(function, node, absent), {**self._versions, **imported})
        # Names in a function are its own: graphs of the model may have the same ones.
        around, self.inner = self.inner, {}
        try:
            self._nodes(nodes, 0, own)
            return CalledBody(Graph(nodes, list(function.input), list(function.output)), own.values, self.inner)
        finally:
            self.inner = around


def _key_of_call(node: Node, inputs: Sequence[Value | None], guards: tuple[Formula, ...]) -> tuple[Any, ...] | None:
    """Return everything that a function call depends on; None if it cannot be hashed."""
    attributes = tuple(a.SerializeToString(deterministic=True) for a in node.raw.attribute)
    # A constant is its own key, because its facts may grow.
    facts = [tuple(getattr(v, n) for n in Value.__slots__) if type(v) is Value else v for v in inputs]
    key = (*function_key(node.domain, node.op_type, node.raw), attributes, *facts, guards)
    try:
        hash(key)
    except TypeError:
        return None
    return key


_SHAPES_ONLY = frozenset({"Shape", "Size", "SequenceLength"})
_RANDOM = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})  # fmt: skip
# Operators that select elements of an operand by their values.
_SELECTING = frozenset({"Clip", "Max", "Min"})


def decider_of_output(node: Node, inputs: Sequence[Value | None], position: int) -> Decider:
    """Derive the decider of an output's inexactly known elements from the deciders of the inputs."""
    op_type = node.op_type
    if op_type in _SHAPES_ONLY:
        return Decider.SIZES
    if op_type in _RANDOM:
        return Decider.DATA
    # Inputs with the same type variable as the output supply its elements; the others determine their layout.
    places, is_moving = _sources(op_type, node.version, node.domain, position, len(inputs))
    if is_moving and places is not None:
        same = [inputs[n] for n in places]
        if join_deciders(same):
            return decider_of_result(same, is_moving=True)
    return decider_of_result(inputs, is_moving=is_moving)


@lru_cache(maxsize=4096)
def _sources(op_type: str, version: int, domain: str, position: int, count: int) -> tuple[tuple[int, ...] | None, bool]:
    """Return which of ``count`` inputs have the type of an output, None if that is unknown; whether they are moved."""
    signature, is_moving = _signature(op_type, version, domain), op_type in _SELECTING
    if signature is None:
        return None, is_moving
    kind, last = signature.outputs[min(position, len(signature.outputs) - 1)], len(signature.inputs) - 1
    places = tuple([n for n in range(count) if signature.inputs[min(n, last)] == kind])
    return places, is_moving or kind in signature.parametric


class _Signature:
    """The types of an operator's inputs and outputs, as the standard names them.

    ``parametric`` holds the type variables that allow text as well as numbers: these operators move elements without
    computing.
    """

    __slots__ = ("inputs", "outputs", "parametric")

    def __init__(self, schema: Any) -> None:
        self.inputs = tuple(i.type_str for i in schema.inputs) or ("",)
        self.outputs = tuple(o.type_str for o in schema.outputs) or ("",)
        allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        self.parametric = frozenset(name for name, types in allowed.items() if "tensor(string)" in types)


@lru_cache(maxsize=1024)
def _signature(op_type: str, version: int, domain: str) -> _Signature | None:
    schema = onnx_schema(op_type, version, domain)
    return None if schema is None else _Signature(schema)
