"""Branches and loops: If, Loop and TensorIterator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import TRUE
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking import control_flow
from symbcast.graphs.walking.control_flow import GraphLoop, LoopIteration
from symbcast.openvino.graph import OpenVinoCall, OpenVinoGraph, operator, static_shape
from symbcast.operators.values.contents import is_size
from symbcast.operators.values.value import NEVER, UNKNOWN, Value


@operator("If")
def if_(call: OpenVinoCall) -> Sequence[Value]:
    """The outputs of the body that runs; a body's requirements apply only where it is taken."""
    return control_flow.branched(
        call, control_flow.chosen_of(call), lambda: _branch(call, 0), lambda: _branch(call, 1), _of_one_rank
    )


def _of_one_rank(yes: Value, no: Value) -> tuple[Value, Value]:
    """Return two values; next to a vector, a scalar becomes a vector of one element, as in OpenVINO."""
    if {control_flow.rank_of(yes), control_flow.rank_of(no)} != {0, 1} or NEVER in (yes, no):
        return yes, no
    lifted = [Value((1,), v.dtype, v.content) if v.shape == () else v for v in (yes, no)]
    return lifted[0], lifted[1]


def _branch(call: OpenVinoCall, number: int) -> list[Value]:
    """Return the outputs of a body, in the order of the node's outputs."""
    graph = list(call.node.graphs.values())[number]
    op = call.node.raw
    parameters = {d.body_parameter_index: call.value(d.input_index) for d in op.get_input_descriptions(number)}
    results = call.walk.within(graph, call.scope, [parameters[n] for n in range(len(graph.inputs))])
    outputs = {d.output_index: results[d.body_value_index] for d in op.get_output_descriptions(number)}
    return [outputs[n] for n in range(len(call.node.outputs))]


class _Body:
    """The body of a node, and how its parameters and results map to the node's inputs and outputs."""

    def __init__(self, call: OpenVinoCall) -> None:
        self.call = call
        self.graph = cast("OpenVinoGraph", call.node.graphs["body"])
        described = list(call.node.raw.get_input_descriptions())
        self.sliced = [d for d in described if type(d).__name__ == "SliceInputDescription"]
        self.merged = [d for d in described if type(d).__name__ == "MergedInputDescription"]
        self.invariant = [d for d in described if type(d).__name__ == "InvariantInputDescription"]
        outputs = list(call.node.raw.get_output_descriptions())
        self.stacked = [d for d in outputs if type(d).__name__ == "ConcatOutputDescription"]
        self.last = [d for d in outputs if type(d).__name__ != "ConcatOutputDescription"]
        self.is_iterator = call.node.op_type == "TensorIterator"
        # A TensorIterator has no ports for a number and a condition: it runs for each slice.
        ports = (-1, -1) if self.is_iterator else call.node.raw.get_special_body_ports()
        self.number, self.condition = map(int, ports)
        self.parts: Sequence[Value] = ()

    def turn(self, number: Value, carried: Sequence[Value]) -> LoopIteration:
        """Return the results of the body in one iteration."""
        call = self.call
        parameters = {d.body_parameter_index: part for d, part in zip(self.sliced, self.parts, strict=True)}
        parameters.update({d.body_parameter_index: call.value(d.input_index) for d in self.invariant})
        parameters.update({d.body_parameter_index: v for d, v in zip(self.merged, carried, strict=True)})
        for n, parameter in enumerate(self.graph.parameters):
            if n not in parameters:  # the iteration number
                parameters[n] = Value(static_shape(parameter), call.dtype(), number.content)
        results = call.walk.within(self.graph, call.scope, [parameters[n] for n in range(len(self.graph.inputs))])
        return LoopIteration(
            results[self.condition] if self.condition >= 0 else UNKNOWN,
            *([results[d.body_value_index] for d in described] for described in (self.merged, self.stacked, self.last)),
        )

    def limit(self) -> Dim | None:
        """Return the maximum number of iterations; None if it is unknown."""
        call = self.call
        if any({d.start, d.end} != {0, -1} or d.part_size != 1 for d in self.sliced):
            call.give_up("slices of more than one, or of a part of an axis, are not followed")
        if self.sliced:
            values = [call.value(d.input_index) for d in self.sliced]
            length, self.parts = control_flow.slices(call, values, [d.axis for d in self.sliced], keeps_axis=True)
        if self.is_iterator:
            return length if self.sliced else int(call.node.raw.get_num_iterations())
        if self.sliced:
            call.give_up("a Loop that slices its inputs is not followed")
        items = call.elements(0)
        if not items or not is_size(items[0]) or not call.bounds.is_at_least(items[0], 0):
            return None  # -1 means no limit
        return items[0]


@operator("Loop", "TensorIterator")
def loop(call: OpenVinoCall) -> Sequence[Value]:
    """The body, repeated: values are carried to the next iteration, sliced, and concatenated."""
    body = _Body(call)
    described = GraphLoop(
        [call.value(d.input_index) for d in body.merged],
        body.turn,
        body.limit(),
        TRUE if body.is_iterator else control_flow.condition_of(call.value(1)),
        is_kept=body.is_iterator,
        is_counted=body.number >= 0,
        ends=() if body.is_iterator else [call.value(n) for n in range(2)],
        decided_by=(0, 1),
        is_unlimited=not body.is_iterator and call.numbers(0) == [-1],
    )
    result = control_flow.looped(call, described)
    carried = {d.body_value_index: value for d, value in zip(body.merged, result.last, strict=True)}
    outputs: dict[int, Value] = {}
    for one, value in zip(body.stacked, result.collected, strict=True):
        result.check_alike(call, one.output_index, value)
        outputs[one.output_index] = _concatenated_results(call, one, value, result.trips)
    for one, value in zip(body.last, result.final, strict=True):
        if one.iteration != -1:
            call.give_up("an output taken from any iteration but the last is not followed")
        if one.body_value_index not in carried:
            result.check_alike(call, one.output_index, value)
            if not call.bounds.is_at_least(result.trips, 1):
                call.note(f"not checked: the value of output {one.output_index} if the loop does not run")
        outputs[one.output_index] = carried.get(one.body_value_index, value)
    return [_typed(call, n, outputs[n]) for n in range(len(call.node.outputs))]


def _typed(call: OpenVinoCall, position: int, value: Value) -> Value:
    typed = call.output(value.shape, position=position)
    typed.decided_by = value.decided_by
    return typed


def _concatenated_results(call: OpenVinoCall, described: Any, value: Value, trips: Dim) -> Value:
    """Return the results of all iterations, concatenated along an axis."""
    if value.shape is None:
        return value
    place = call.axis(described.axis, len(value.shape))
    return value.with_content(None).with_sizes(
        (*value.shape[:place], multiply(value.shape[place], trips), *value.shape[place + 1 :])
    )
