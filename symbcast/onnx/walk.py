"""The walk through an ONNX model: calls of functions, element types, bounds of integers, and what decides elements.

Whether sizes or data decide a node's elements is derived from its inputs, with the help of the operator's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from symbcast.core.algebra.arithmetic import add, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.graphs.graph import NOTHING, Graph
from symbcast.graphs.walking.node_call import GraphScope, NodeCall, UnknownShapeError
from symbcast.graphs.walking.requirements import NodePlace, Requirements
from symbcast.graphs.walking.walk import MAX_DEPTH, CalledBody, Walk, Walkable
from symbcast.onnx.protobuf import StoredTensor, TensorConstant, body_of, canonical_domain, walkable_nodes
from symbcast.onnx.reference import with_contents
from symbcast.onnx.schemas import TypeMismatch, function_key, mismatch
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import Bands, Interval
from symbcast.operators.values.intervals import (
    UNBOUNDED,
    Estimate,
    interval_of,
    largest,
    places,
    smallest,
    some_of,
    with_estimate,
)
from symbcast.operators.values.value import UNKNOWN, Decider, Value, decider_of_result, join_deciders

if TYPE_CHECKING:
    from symbcast.core.algebra.formulas import Formula
    from symbcast.graphs.front_end import FrontEnd
    from symbcast.graphs.graph import Node
    from symbcast.onnx.protobuf import OnnxNode
    from symbcast.onnx.validation import ValidModel


# Bounds of the integers that a node makes, where their exact elements are unknown.
#
# Each function here reads a node for an estimate of `symbcast.operators.values.intervals`. It is called after the
# node's operator has answered, for each output of integers without a content.


Estimator: TypeAlias = "Callable[[NodeCall, Sequence[Value], int], Estimate]"
"""From a call, its outputs and the position of one of them to the bounds of its elements."""

_ESTIMATORS: dict[str, Estimator] = {
    "ArgMax": lambda call, outputs, n: places(call.shape(0)[call.integer("axis")]),
    "ArgMin": lambda call, outputs, n: places(call.shape(0)[call.integer("axis")]),
    "Cast": lambda call, outputs, n: intervals.cast(call.value(0), outputs[n].dtype, call.bounds),
    "Concat": lambda call, outputs, n: intervals.joined(_inputs(call), _axis(call), call.bounds),
    "Gather": lambda call, outputs, n: intervals.gathered(call.value(0), call.value(1), _axis(call), call.bounds),
    "NonMaxSuppression": lambda call, outputs, n: Bands(1, tuple(map(places, call.shape(1)))),
    "Squeeze": lambda call, outputs, n: intervals.without_axes(call.value(0), _axes(call), call.bounds),
    "Unsqueeze": lambda call, outputs, n: intervals.with_axes(
        call.value(0), _axes(call), len(outputs[n].shape or ()), call.bounds
    ),
    "Where": lambda call, outputs, n: intervals.chosen([call.value(1), call.value(2)], call.bounds),
    **dict.fromkeys(("Expand", "Flatten", "Identity", "Reshape", "Tile"), lambda call, outputs, n: _of(call, 0)),
    **dict.fromkeys(
        ("Compress", "GatherElements", "GatherND", "ReverseSequence"), lambda call, outputs, n: some_of(_of(call, 0))
    ),
}


def _estimate(*names: str) -> Callable[[Estimator], Estimator]:
    def offer(function: Estimator) -> Estimator:
        _ESTIMATORS.update(dict.fromkeys(names, function))
        return function

    return offer


def with_intervals(call: NodeCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return the outputs of a call, with bounds for integers about which nothing is known."""
    estimate = _ESTIMATORS.get(call.node.op_type)
    if estimate is None or call.node.domain not in ("", "ai.onnx"):
        return outputs
    return [with_estimate(value, partial(estimate, call, outputs, n)) for n, value in enumerate(outputs)]


def _of(call: NodeCall, position: int) -> Interval:
    """Return the bounds of the elements of an input."""
    return interval_of(call.value(position), call.bounds) if call.has(position) else UNBOUNDED


def _inputs(call: NodeCall) -> list[Value]:
    return [call.value(n) for n in range(len(call.inputs))]


def _axis(call: NodeCall) -> int:
    return call.integer("axis") % len(call.shape(0))


def _axes(call: NodeCall) -> list[int]:
    return call.axes("axes", 1, 13) or []


@_estimate("ReduceMax", "ReduceMin")
def _reduced(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    # The runtime's maximum of no elements is the least number of the type.
    return some_of(_of(call, 0)) if call.is_positive(call.shape(0)) else UNBOUNDED


@_estimate("Transpose")
def _transposed(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    order = call.integers("perm") or range(len(call.shape(0)))[::-1]
    return intervals.transposed(call.value(0), order, call.bounds)


@_estimate("Slice")
def _cut(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    starts, ends, axes = (call.numbers(n) for n in (1, 2, 3)) if call.version >= 10 else (None, None, None)
    steps = call.numbers(4) if call.has(4) else [1]
    if not (starts and ends and steps and axes and len(axes) == 1):
        return some_of(_of(call, 0))
    return intervals.cut(call.value(0), axes[0], slice(starts[0], ends[0], steps[0]), call.bounds)


@_estimate("Split")
def _part(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axis = _axis(call)
    sizes = numbers_of([o.shape[axis] for o in outputs if o.shape])
    is_known = sizes is not None and len(sizes) == len(outputs)
    part = slice(sum(sizes[:position]), sum(sizes[: position + 1])) if sizes is not None and is_known else None
    return intervals.cut(call.value(0), axis, part, call.bounds)


@_estimate("ScatterElements", "ScatterND")
def _scattered(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    if call.text("reduction", "none") != "none":
        return UNBOUNDED
    return intervals.chosen([call.value(0), call.value(2)], call.bounds)


@_estimate("Abs", "Add", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Sign", "Sub")
def _elementwise(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    name = "Rem" if call.node.op_type == "Mod" and call.integer("fmod") else call.node.op_type
    return intervals.elementwise(name, _inputs(call), outputs[position].dtype, call.bounds)


@_estimate("Clip")
def _clipped(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    found = _of(call, 0)
    for bounded, place in ((largest, 1), (smallest, 2)):
        if call.has(place):
            found = bounded(found, _of(call, place), call.bounds, meets=True)
    return found


@_estimate("CumSum")
def _cumulated(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    axes, is_exclusive = call.numbers(1), bool(call.integer("exclusive"))
    if not axes:
        return UNBOUNDED
    return intervals.summed_along(call.value(0), axes[0], call.bounds, is_exclusive=is_exclusive)


@_estimate("TopK")
def _greatest(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    return places(call.shape(0)[call.integer("axis", -1)]) if position == 1 else some_of(_of(call, 0))


@_estimate("NonZero")
def _non_zero(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    dims = call.value(0).shape
    return Bands(0, tuple(map(places, dims))) if dims else UNBOUNDED


@_estimate("Range")
def _counted(call: NodeCall, outputs: Sequence[Value], position: int) -> Estimate:
    start, limit, step = (_of(call, n) for n in range(3))
    if step.low is not None and call.bounds.is_at_least(step.low, 1):
        return Interval(start.low, None if limit.high is None else subtract(limit.high, 1))
    if step.high is not None and call.bounds.is_at_most(step.high, -1):
        return Interval(None if limit.low is None else add(limit.low, 1), start.high)
    return UNBOUNDED


class WalkableOnnx(Walkable, Protocol):
    """What a walk also needs from an ONNX model."""

    examined: ValidModel


class OnnxWalk(Walk):
    """A walk through one model; see `symbcast.graphs.walking.walk` for what it keeps."""

    def __init__(self, model: WalkableOnnx, front_end: FrontEnd, asker: Requirements) -> None:
        super().__init__(model, front_end, asker)
        self._functions = model.examined.functions
        self._versions = model.examined.versions
        self._calls: dict[tuple[Any, ...], CalledBody] = {}
        """Function calls that depend only on their arguments."""
        self._constants: dict[StoredTensor, Value] = {}
        """What nodes of type Constant hold."""
        self._typed: set[tuple[Any, ...]] = set()
        """Operators with accepted combinations of input element types."""
        self.mistyped: list[TypeMismatch] = []
        """Nodes whose inputs seem to have types that they do not accept."""

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
        found = self._constants.get(tensor)
        if found is None:
            found = self._constants[tensor] = TensorConstant(tensor.raw, tensor)
        return found

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
        return with_intervals(call, with_contents(call, outputs))

    def _type(self, node: Node, types: tuple[int | None, ...]) -> None:
        """Check the element types of a node's inputs, once for all nodes with the same operator and types."""
        numbers = [dtype or 0 for dtype in types]
        found = mismatch(node.op_type, node.domain, node.version, numbers)
        if found is None:
            self._typed.add((node.op_type, node.domain, node.version, types))
        else:
            self.mistyped.append(TypeMismatch(node.raw, numbers, *found))

    def _call(self, function: Any, node: Node, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function of the model, or return the result of an earlier call.

        A call with the same arguments under the same conditions has the same requirements and gives the same sizes. A
        result is not reused if the call left something open, or created a size, since data decide it anew for each
        call.
        """
        key = _key_of_call(node, inputs, self.asker.guards)
        found = self._calls.get(key) if key is not None else None
        if found is None:
            before = len(self.asker.origins), len(self.unanalysed)
            found = self._body(function, node.raw, inputs, scope)
            if key is not None and before == (len(self.asker.origins), len(self.unanalysed)):
                self._calls[key] = found
        # A node in a loop is walked several times, with other values.
        is_other = id(node) in self.bodies and self.bodies[id(node)] is not found
        self.bodies[id(node)] = CalledBody(found.graph, NOTHING, NOTHING) if is_other else found
        return [found.values.get(name, UNKNOWN) for name in function.output]

    def function(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> Sequence[Value]:
        """Walk through the body of a function, a ``FunctionProto`` that the ``NodeProto`` ``node`` calls."""
        found = self._body(function, node, inputs, scope).values
        return [found.get(name, UNKNOWN) for name in function.output]

    def _body(self, function: Any, node: Any, inputs: Sequence[Value | None], scope: GraphScope) -> CalledBody:
        own = GraphScope()
        own.depth = scope.depth + 1
        if own.depth > MAX_DEPTH:
            raise UnknownShapeError("functions are nested too deeply")
        self.spend(len(function.node))
        absent = set()
        for position, name in enumerate(function.input):
            found = inputs[position] if position < len(inputs) else None
            if found is None:
                absent.add(name)
            else:
                own.values[name] = found
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
    found = (*function_key(node.domain, node.op_type, node.raw), attributes, tuple(map(_key_of_value, inputs)), guards)
    try:
        hash(found)
    except TypeError:
        return None
    return found


def _key_of_value(value: Value | None) -> Any:
    """Return the known facts about a value; a constant is its own key, because its facts may grow."""
    return tuple(getattr(value, name) for name in Value.__slots__) if type(value) is Value else value


_SHAPES_ONLY = frozenset({"Shape", "Size", "SequenceLength"})
_RANDOM = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})  # fmt: skip
_SELECTING = frozenset({"Clip", "Max", "Min"})
"""Operators that select elements of an operand by their values."""


def decider_of_output(node: Node, inputs: Sequence[Value | None], position: int) -> Decider:
    """Derive the decider of an output's inexactly known elements from the deciders of the inputs.

    Inputs with the same type variable as the output supply its elements; the others determine their layout.
    """
    op_type = node.op_type
    if op_type in _SHAPES_ONLY:
        return Decider.SIZES
    if op_type in _RANDOM:
        return Decider.DATA
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
    from onnx import defs

    try:
        return _Signature(defs.get_schema(op_type, version, domain))
    except defs.SchemaError:
        return None
