"""If: a node that runs one of two subgraphs."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.operators.control.branches import branched, chosen_of, rank_of
from symbcast.graphs.values.value import NEVER, Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator


@operator("If")
def if_(call: OpenVinoCall) -> Sequence[Value]:
    """The outputs of the body that runs; a body's requirements apply only where it is taken."""
    return branched(call, chosen_of(call), lambda: _branch(call, 0), lambda: _branch(call, 1), _of_one_rank)


def _of_one_rank(yes: Value, no: Value) -> tuple[Value, Value]:
    """Return two values; next to a vector, a scalar becomes a vector of one element, as in OpenVINO."""
    if {rank_of(yes), rank_of(no)} != {0, 1} or NEVER in (yes, no):
        return yes, no
    lifted = [Value((1,), v.dtype, v.content) if v.shape == () else v for v in (yes, no)]
    return lifted[0], lifted[1]


def _branch(call: OpenVinoCall, number: int) -> list[Value]:
    """Return the outputs of a body, in the order of the node's outputs."""
    graph = list(call.node.graphs.values())[number]
    op = call.node.raw
    given = {d.body_parameter_index: call.value(d.input_index) for d in op.get_input_descriptions(number)}
    found = call.walk.within(graph, call.scope, [given[n] for n in range(len(graph.inputs))])
    outputs = {d.output_index: found[d.body_value_index] for d in op.get_output_descriptions(number)}
    return [outputs[n] for n in range(len(call.node.outputs))]
