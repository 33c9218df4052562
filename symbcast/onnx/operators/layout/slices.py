"""Slice: a part of a tensor, from a start to an end, in steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.graphs.operators.cutting import Cuts, cut_out, places_given
from symbcast.graphs.operators.expected_shapes import expect_line
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import SLICE_GREATEST_END

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


@operator("Slice")
def slice_(call: NodeCall) -> Value:
    """A part of the data: from a start to an end, in steps, on some axes."""
    if call.version < 10:
        starts: Sequence[Dim | None] | None = call.integers("starts")
        ends: Sequence[Dim | None] | None = call.integers("ends")
        axes, steps = call.integers("axes"), None
    else:
        expect_line(call, 1, 2, 3, 4)
        starts, ends = places_given(call, 1), places_given(call, 2)
        axes = call.numbers(3)
        steps = call.numbers(4)
        if (call.has(3) and axes is None) or (call.has(4) and steps is None):
            call.give_up("the axes or steps of the slices are not known")
    if starts is None or ends is None:
        call.give_up("the starts or ends of the slices are not known")
    backwards = _GREATEST if call.does(SLICE_GREATEST_END) else ()
    return cut_out(call, call.value(0), Cuts(starts, ends, axes, steps), backwards)


_GREATEST = (2**31 - 1, 2**63 - 1)
"""Values that mean the end of an axis, for steps in either direction."""
