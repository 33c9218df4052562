"""Operators of detectors: non-maximum suppression."""

from __future__ import annotations

from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import NMS_THRESHOLDS

INT64 = 7


@operator("NonMaxSuppression")
def suppression(call: NodeCall) -> Value:
    """The batch, class and index of each box that is kept; data decide how many.

    ONNX Runtime takes the first of several thresholds.
    """
    batch, places, _ = call.rank(0, (3,), "boxes")
    expect(call, 0, "boxes", (None, None, 4))
    expect(call, 1, "scores", (batch, None, places))
    if not call.does(NMS_THRESHOLDS):
        expect_numbers(call, 2, 3, 4)
    for n in (3, 4) if call.does(NMS_THRESHOLDS) else ():
        for size in known_shape(call, n, call.input_name(n)) or ():
            call.at_most(1, size, f"{call.input_name(n)} must have a number")
    count = call.fresh("count", "the number of selected boxes")
    return Value((count, 3), INT64)
