"""Loop and TensorIterator: their body is walked, and asked under the condition that it runs at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import TRUE, Formula, at_most, equal
from symbcast.graphs.operators.loop_states import States
from symbcast.graphs.values.contents import Elements, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import UNKNOWN, Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.openvino.graph import OpenVinoGraph


class _Body:
    """The body of a node, and what OpenVINO says of how its parameters and results are joined to the node's."""

    def __init__(self, call: OpenVinoCall) -> None:
        self.call = call
        self.graph = cast("OpenVinoGraph", call.node.graphs["body"])
        described = list(call.node.raw.get_input_descriptions())
        self.sliced = [d for d in described if type(d).__name__ == "SliceInputDescription"]
        self.merged = [d for d in described if type(d).__name__ == "MergedInputDescription"]
        self.kept = [d for d in described if type(d).__name__ == "InvariantInputDescription"]
        self.outputs = list(call.node.raw.get_output_descriptions())

    def turn(self, carried: Sequence[Value]) -> list[Value]:
        """Return what the body gives in a turn."""
        call, given = self.call, {d.body_parameter_index: self._slice(d) for d in self.sliced}
        given.update({d.body_parameter_index: call.value(d.input_index) for d in self.kept})
        given.update({d.body_parameter_index: v for d, v in zip(self.merged, carried, strict=True)})
        for n, parameter in enumerate(self.graph.parameters):
            if n not in given:  # the number of the turn
                given[n] = Value(tuple(parameter.get_output_shape(0)), call.dtype())
        return call.walk.within(self.graph, call.scope, [given[n] for n in range(len(self.graph.inputs))])

    def _slice(self, described: Any) -> Value:
        """Return a part of an input along an axis, of one size in each turn."""
        dims = self.call.shape(described.input_index)
        place = self.call.axis(described.axis, len(dims))
        value = self.call.value(described.input_index)
        part = Value((*dims[:place], described.part_size, *dims[place + 1 :]), value.dtype)
        part.decided_by = value.decided_by
        return part

    def carried(self, results: Sequence[Value]) -> list[Value]:
        """Return those results that are carried to the next turn."""
        return [results[d.body_value_index] for d in self.merged]


@operator("Loop", "TensorIterator")
def loop(call: OpenVinoCall) -> Sequence[Value]:
    """The body, turn after turn: values are carried from one to the next, sliced, and put together."""
    body = _Body(call)
    states = States(call, [call.value(d.input_index) for d in body.merged])
    states.settle(lambda carried: (UNKNOWN, body.carried(body.turn(carried))))
    limit = _limit(call, body)
    with call.asker.under(_runs(call, limit)):
        results = body.turn(states.carried)
    trips = limit if limit is not None and _goes_on(call, results) else None
    if trips is None:
        trips = call.fresh("trips", "how often the loop runs")
        if _is_ended_by_data(call, results):
            call.asker.undecided.discard(trips)
    after = {d.body_value_index: states.last(n, trips, results[d.body_value_index]) for n, d in enumerate(body.merged)}
    found: dict[int, Value] = {}
    for described in body.outputs:
        value = results[described.body_value_index]
        if any(not isinstance(d, int) and not d.symbols().keys() <= states.around for d in value.shape or ()):
            call.note(f"that output {described.output_index} is of one shape in every turn was not looked at")
        if type(described).__name__ == "ConcatOutputDescription":
            made = _put_together(call, described, value, trips)
        elif described.iteration != -1:
            call.give_up("an output of another turn than the last one is not followed")
        else:
            if described.body_value_index not in after and not call.bounds.is_at_least(trips, 1):
                call.note(f"what output {described.output_index} is where the loop does not run was not looked at")
            made = after.get(described.body_value_index, value)
        found[described.output_index] = call.made(made.shape, output=described.output_index)
        found[described.output_index].decided_by = made.decided_by
    return [found[n] for n in range(len(call.node.outputs))]


def _put_together(call: OpenVinoCall, described: Any, value: Value, trips: Dim) -> Value:
    """Return what each turn gives, one behind the other along an axis."""
    if value.shape is None:
        return value
    place = call.axis(described.axis, len(value.shape))
    made = Value((*value.shape[:place], multiply(value.shape[place], trips), *value.shape[place + 1 :]))
    made.decided_by = value.decided_by
    return made


def _limit(call: OpenVinoCall, body: _Body) -> Dim | None:
    """Return how many turns there are at most; None where that is not known."""
    lengths = [_length(call, d) for d in body.sliced]
    if call.node.op_type == "TensorIterator":
        for other in lengths[1:]:
            call.equal(other, lengths[0], "what is sliced must be of one length")
        return lengths[0] if lengths else int(call.node.raw.get_num_iterations())
    if lengths:
        call.give_up("a Loop that slices its inputs is not followed")
    items = call.elements(0)
    if not items or not is_size(items[0]) or not call.bounds.is_at_least(items[0], 0):
        return None  # -1 stands for no limit
    return items[0]


def _length(call: OpenVinoCall, described: Any) -> Dim:
    """Return how many slices an input has, from the one end to the other."""
    dims = call.shape(described.input_index)
    size = dims[call.axis(described.axis, len(dims))]
    if {described.start, described.end} != {0, -1} or described.part_size != 1:
        call.give_up("slices of more than one, or of a part of an axis, are not followed")
    return size


def _runs(call: OpenVinoCall, limit: Dim | None) -> Formula:
    """Return when the body runs at least once, as far as the number of turns says so."""
    if limit is None or not (call.node.op_type == "TensorIterator" or _is_true(call.elements(1))):
        runs = call.fresh("runs", "1 where the body runs at all, 0 where it does not", by=[0, 1])
        call.asker.assume(at_most(runs, 1))
        return equal(runs, 1)
    return at_most(1, limit)


def _is_ended_by_data(call: OpenVinoCall, results: Sequence[Value]) -> bool:
    """Return whether data decide when a Loop ends: by its condition, or as its number of turns."""
    place = call.node.raw.get_special_body_ports()[1]
    ends = [call.value(0), call.value(1), *([results[place]] if place >= 0 else [])]
    return any(v.decided_by == Decider.DATA for v in ends)


def _goes_on(call: OpenVinoCall, results: Sequence[Value]) -> bool:
    """Return whether the loop is never ended by its condition."""
    if call.node.op_type == "TensorIterator":
        return True
    place = call.node.raw.get_special_body_ports()[1]
    kept = results[place].content if place >= 0 else None
    return _is_true(call.elements(1)) and isinstance(kept, Elements) and _is_true(kept.items)


def _is_true(items: Sequence[Any] | None) -> bool:
    return bool(items) and truth(items[0]) == TRUE  # type: ignore[index]
