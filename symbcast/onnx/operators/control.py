"""Branches, loops and optional values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.core.algebra.formulas import FALSE, TRUE, at_most
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking import control_flow, reshaping
from symbcast.graphs.walking.control_flow import GraphLoop, LoopIteration, LoopResult
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.declarations import RuntimeDifference, operator
from symbcast.onnx.protobuf import declared_value
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import BOOL, Element, Elements, is_size
from symbcast.operators.values.value import UNKNOWN, OptionalValue, Value


@operator("If")
def if_(call: NodeCall) -> Sequence[Value]:
    """The outputs of either branch; a branch's requirements apply only where it is taken."""
    graphs, within = call.node.graphs, call.walk.within
    return control_flow.branched(
        call,
        control_flow.chosen_of(call),
        lambda: within(graphs["then_branch"], call.scope, ()),
        lambda: within(graphs["else_branch"], call.scope, ()),
    )


# Trip counts from here on mean no limit.
_FOREVER = 1 << 31


@operator("Loop")
def loop(call: NodeCall) -> Sequence[Value]:
    """Run the body repeatedly: carry some values between iterations and stack others."""
    body = call.node.graphs["body"]
    reshaping.expect_numbers(call, 0, 1)
    initial = [call.value(n) if call.has(n) else UNKNOWN for n in range(2, len(call.inputs))]

    def turn(number: Value, carried: Sequence[Value]) -> LoopIteration:
        # A body returns the condition, the carried values, and then what is stacked.
        goes_on, *results = call.walk.within(body, call.scope, [number, Value((), BOOL), *carried])
        return LoopIteration(goes_on, results[: len(initial)], results[len(initial) :])

    described = GraphLoop(
        initial,
        turn,
        _trip_limit(call),
        control_flow.condition_of(call.value(1)) if call.has(1) else TRUE,
        _hands_on(body, body.outputs[0], body.inputs[1]),
        _mentions(body, body.inputs[0]),
        [call.value(n) for n in range(2) if call.has(n)],
        decided_by=(0, 1),
        is_unlimited=_is_unlimited(call),
    )
    result = control_flow.looped(call, described)
    return [*result.last, *(_stacked_results(call, result, n, v) for n, v in enumerate(result.collected, len(initial)))]


def _mentions(graph: Any, name: str) -> bool:
    """Return whether nodes of a graph, or of graphs within it, have an input of some name."""
    return any(
        name in node.inputs or any(_mentions(inner, name) for inner in node.graphs.values()) for node in graph.nodes
    )


def _hands_on(body: Any, name: str, source: str) -> bool:
    """Return whether an output of a graph is an input of it, perhaps by way of Identity."""
    made_by = {o: n for n in body.nodes for o in n.outputs}
    while name in made_by and made_by[name].op_type in ("Identity", "Cast"):
        name = made_by.pop(name).inputs[0]
    return bool(name == source)


def _trip_limit(call: NodeCall) -> Dim | None:
    items = call.elements(0)
    if not items or not is_size(items[0]) or _is_unlimited(call):
        return None
    return call.bounds.larger(items[0], 0)


def _is_unlimited(call: NodeCall) -> bool:
    """Return whether there is no trip count, or one that no loop reaches."""
    numbers = call.numbers(0) if call.has(0) else [_FOREVER]
    return bool(numbers and numbers[0] >= _FOREVER)


LOOP_NO_TURNS = RuntimeDifference(
    "Loop", "gives outputs of other sizes if there is no iteration", "they have the sizes of one iteration"
)


def _stacked_results(call: NodeCall, result: LoopResult, position: int, value: Value) -> Value:
    """Return the stacked results of all iterations."""
    result.check_alike(call, position, value)
    if value.shape and call.does(LOOP_NO_TURNS) and call.is_known(at_most(1, result.trips)) is not True:
        value = value.with_sizes(_unless_none(call, position, result.trips, value.shape))
    return control_flow.stacked(result.trips, value, 0)


def _unless_none(call: NodeCall, position: int, trips: Dim, dims: Dims) -> Dims:
    """Return the sizes of a stacked output."""
    # Without any iteration, ONNX Runtime (seen with 1.31) uses the number that it inferred for each size, or 0; and if
    # it could not infer the rank, the output has none of these axes.
    call.note(f"output {position} has no more than one axis where the loop does not run and its rank was not inferred")
    runs = at_most(1, trips)
    sizes: list[Dim] = []
    for n, size in enumerate(dims, 1):
        text = f"axis {n} of output {position}"
        otherwise = call.fresh(f"none_{position}_dim_{n}", f"{text} where the loop does not run")
        label = f"{call.place.name}_output_{position}_dim_{n}"
        sizes.append(call.asker.by_cases(label, f"{text}, depending on whether the loop runs", runs, size, otherwise))
    return tuple(sizes)


@operator("Scan")
def scan(call: NodeCall) -> Sequence[Value]:
    """Run the body for each slice of the scanned inputs, which have equal length; states keep their shapes."""
    # Opset 8 has a batch axis everywhere, and sequence lengths before the states.
    if call.version < 9:
        return _scan_of_a_batch(call)
    count = call.integer("num_scan_inputs")
    states = len(call.inputs) - count
    axes = call.integers("scan_input_axes") or [0] * count
    length, parts = control_flow.slices(call, [call.value(n) for n in range(states, len(call.inputs))], axes)
    states_before = [call.value(n).with_content(None) for n in range(states)]
    last, outputs = _scanned(call, length, states_before, parts)
    places = call.integers("scan_output_axes") or [0] * len(outputs)
    return [*last, *(control_flow.stacked(length, v, p) for v, p in zip(outputs, places, strict=True))]


def _scan_of_a_batch(call: NodeCall) -> Sequence[Value]:
    """Scan of opset 8: everything has a leading batch axis, and scanned inputs have the length next."""
    batch, inner = control_flow.slices(
        call, [call.value(n) for n in range(1, len(call.inputs))], [0] * (len(call.inputs) - 1)
    )
    states = len(inner) - call.integer("num_scan_inputs")
    length, parts = control_flow.slices(call, inner[states:], [0] * (len(inner) - states))
    reshaping.expect(call, 0, "sequence_lens", (batch,))
    if call.has(0):
        call.note_data("sequence_lens must not be above the length", 0)
    last, outputs = _scanned(call, length, inner[:states], parts)
    return [control_flow.stacked(batch, v, 0) for v in (*last, *(control_flow.stacked(length, v, 0) for v in outputs))]


SCAN_EMPTY = RuntimeDifference("Scan", "refuses to scan nothing", "there may be no iterations")
SCAN_DECLARED = RuntimeDifference(
    "Scan",
    "requires the contents of the body's outputs to have the sizes that it declares",
    "a declared size decides nothing",
)
SCAN_STATES = RuntimeDifference(
    "Scan", "lets a state change its shape once, if the shape is inferred as numbers", "a state keeps its shape"
)


def _scanned(
    call: NodeCall, length: Dim, states: Sequence[Value], parts: Sequence[Value]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Return the final states and the body's outputs for each iteration."""
    graph = call.node.graphs["body"]
    if call.does(SCAN_EMPTY):
        call.at_most(1, length, "there must be something to scan")
    runs = TRUE if call.does(SCAN_EMPTY) else at_most(1, length)
    may_change = _is_inferred if call.does(SCAN_STATES) else None
    last, outputs = control_flow.scanned(
        call,
        runs,
        states,
        lambda before: call.walk.within(graph, call.scope, [*before, *parts]),
        may_change=may_change,
        again=at_most(2, length),
    )
    if call.does(SCAN_DECLARED):
        _require_declared(call, graph, [*states, *parts], outputs)
    return last, outputs[len(states) :]


def _require_declared(call: NodeCall, body: Any, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
    """Require that the body's outputs have the sizes that it declares for them or for the matching inputs."""
    # ONNX Runtime (seen with 1.31) infers the outputs from the declarations; a size inferred as a number is fixed.
    symbolic = {d for v in outputs for d in v.shape or () if not isinstance(d, int)}
    declared = [*zip(body.raw.input, inputs, strict=False), *zip(body.raw.output, outputs, strict=False)]
    for what, value in declared:
        dims = what.type.tensor_type.shape.dim
        if value.shape is None or len(value.shape) != len(dims):
            continue
        for size, dim in zip(value.shape, dims, strict=True):
            if size in symbolic and dim.WhichOneof("value") == "dim_value":
                call.equal(size, dim.dim_value, "what a body's outputs hold must have the sizes that it declares")


def _is_inferred(before: Dims, after: Dims) -> bool:
    """Return whether a shape of numbers may be an instance of another, symbolic shape."""
    # ONNX Runtime (seen with 1.31) lets a state change in the first iteration if it infers every size as a number.
    if len(before) != len(after) or before == after:
        return False
    pairs = zip(before, after, strict=True)
    return all(isinstance(b, int) and (a == b or not isinstance(a, int)) for a, b in pairs)


# Operators on optional values.


@operator("Optional")
def optional(call: NodeCall) -> Value:
    """The input as an optional value; an empty one without an input."""
    if call.has(0):
        return OptionalValue(call.value(0), TRUE)
    kind = call.attribute("type")
    return OptionalValue(None if kind is None else declared_value(kind), FALSE)


@operator("OptionalGetElement")
def element(call: NodeCall) -> Value:
    """The value that an optional holds; it must not be empty."""
    optional = call.value(0)
    if not isinstance(optional, OptionalValue):
        if _is_unknown(optional):
            call.note(f"not checked: {call.input_name(0)} must hold something", is_about_data=True)
        return optional
    if optional.is_there == FALSE:
        call.refuse(f"{call.input_name(0)} must hold something")
    call.require(optional.is_there, f"{call.input_name(0)} must hold something")
    return UNKNOWN if optional.inner is None else optional.inner


@operator("OptionalHasElement")
def has_element(call: NodeCall) -> Value:
    """Whether the optional holds a value."""
    if not call.has(0):
        return Value((), BOOL, Elements((0,)))
    optional = call.value(0)
    if _is_unknown(optional):
        return Value((), BOOL)
    there: Element = optional.is_there if isinstance(optional, OptionalValue) else 1
    return Value((), BOOL, Elements((1 if there == TRUE else 0 if there == FALSE else there,)))


def _is_unknown(value: Value) -> bool:
    """Return whether even the kind of a value is unknown."""
    return type(value) is Value and value.shape is None
