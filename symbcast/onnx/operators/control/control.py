"""If: a node that runs one of two graphs."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.operators.control.branches import branched, chosen_of
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator


@operator("If")
def if_(call: NodeCall) -> Sequence[Value]:
    """The outputs of either branch; a branch's requirements apply only where it is taken."""
    graphs, within = call.node.graphs, call.walk.within
    return branched(
        call,
        chosen_of(call),
        lambda: within(graphs["then_branch"], call.scope, ()),
        lambda: within(graphs["else_branch"], call.scope, ()),
    )
