"""Losses: how far class scores are from the target classes."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.operators.expected_shapes import expect
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import LOSS_FUNCTION
from symbcast.onnx.tail import infer


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(call: NodeCall) -> Value | Sequence[Value]:
    """One number for each place of (N, C, ...), or one for all; each place has a target class.

    ONNX Runtime has no kernel for it; it uses the definition by other operators.
    """
    if call.does(LOSS_FUNCTION):
        return infer(call)
    dims = call.shape(0)
    if len(dims) < 2:
        call.refuse("the input must have a batch and classes")
    places = (dims[0], *dims[2:])
    expect(call, 1, "the target", places)
    expect(call, 2, "the weights", (dims[1],))
    call.note("not checked: the targets, which are data, must be classes", is_about_data=True, by=[1])
    found = Value(places if call.text("reduction", "mean") == "none" else (), call.dtype())
    return found, Value(dims, call.dtype())
