"""Resize axes by scales that a node holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.graphs.values.contents import Element, Ratio, is_size
from symbcast.operators.networks.scales import Rounding, Scale, quotient_scale, scale_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.walking.node_call import NodeCall


def read_scale(element: Element | float, rounding: Rounding) -> Scale | None:
    """Return the scale by which a node multiplies a size; None if unknown."""
    if isinstance(element, float):
        return scale_of(element, rounding)
    if isinstance(element, Ratio):
        return quotient_scale(element.above, element.below, rounding)
    return Scale(element, 1, True) if is_size(element) else None


def scaled(call: NodeCall, size: Dim, scale: Scale | None, axis: int) -> Dim:
    """Return a size times a scale, rounded down; a new size if the scale is unknown or rounding might matter."""
    found = None if scale is None else scale.times(size)
    if found is not None:
        return found
    # If the scale is known, the new size depends only on sizes, even if data decide the tensor's elements.
    return call.fresh(f"size_{axis}", f"axis {axis} times its scale", by=None if scale is None else ())
