"""If: its branches are walked, and asked under the condition that they are taken."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.logic.formulas import negate
from symbcast.onnx.operators.control.control import chosen_of, rank_of
from symbcast.onnx.values.value import NEVER, Value
from symbcast.onnx.walker import Fork, either
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator


@operator("If")
def if_(call: OpenVinoCall) -> Sequence[Value]:
    """The outputs of one body or the other; what each of them asks holds where it is taken."""
    chosen = chosen_of(call)
    known = call.is_known(chosen)
    if known is not None:
        return _branch(call, 0 if known else 1)
    with call.asker.under(chosen):
        yes = _branch(call, 0)
    with call.asker.under(negate(chosen)):
        no = _branch(call, 1)
    pairs = [_of_one_rank(a, b) for a, b in zip(yes, no, strict=True)]
    yes, no = [a for a, _ in pairs], [b for _, b in pairs]
    if NEVER not in (*yes, *no) and any(rank_of(a) != rank_of(b) for a, b in zip(yes, no, strict=True)):
        call.walk.fork = Fork(chosen, yes, no)
    return [either(call.asker, name, chosen, a, b) for name, a, b in zip(call.node.output, yes, no, strict=True)]


def _of_one_rank(yes: Value, no: Value) -> tuple[Value, Value]:
    """Return two values, a scalar beside a list as a list of one, as OpenVINO has it."""
    if {rank_of(yes), rank_of(no)} != {0, 1} or NEVER in (yes, no):
        return yes, no
    lifted = [Value((1,), v.dtype, v.content) if v.shape == () else v for v in (yes, no)]
    return lifted[0], lifted[1]


def _branch(call: OpenVinoCall, number: int) -> list[Value]:
    """Return the outputs of a body, in the order of those of the node."""
    graph = call.node.attribute[number].g
    op = call.node.op
    given = {d.body_parameter_index: call.value(d.input_index) for d in op.get_input_descriptions(number)}
    found = call.walk.within(graph, call.scope, [given[n] for n in range(len(graph.input))])
    outputs = {d.output_index: found[d.body_value_index] for d in op.get_output_descriptions(number)}
    return [outputs[n] for n in range(len(call.node.output))]
