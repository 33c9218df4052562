"""Scales that nodes hold, as ONNX Runtime multiplies with them."""

from __future__ import annotations

from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.contents import Element, Ratio, is_size
from symbcast.graphs.values.value import Constant
from symbcast.onnx.differences import FLOAT_SCALES
from symbcast.operators.scales import Scale, exact_scale, rounded_scale


def scales(call: NodeCall, position: int) -> list[Scale | None] | None:
    """Return the scales that an input holds; None for each that is not known, and where there may be any number."""
    value = call.value(position)
    if isinstance(value, Constant):
        found = value.array
        if found is not None:
            return [scale(call, n) for n in found.ravel().tolist()]
    items = call.elements(position)
    return None if items is None else [_scale_of(call, item) for item in items]


def _scale_of(call: NodeCall, element: Element) -> Scale | None:
    if is_size(element):
        return Scale(element, 1, True)
    if not isinstance(element, Ratio):
        return None
    above, below = element
    if isinstance(above, int) and isinstance(below, int):
        return scale(call, above / below)
    is_power_of_two = isinstance(below, int) and below & (below - 1) == 0
    return Scale(above, below, is_power_of_two or not call.does(FLOAT_SCALES))


def scale(call: NodeCall, number: float) -> Scale:
    """Return a 32-bit float as a scale."""
    return rounded_scale(number) if call.does(FLOAT_SCALES) else exact_scale(number)
