"""Pad and Interpolate: axes resized by padding, to a size, or by a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add
from symbcast.core.logic.formulas import all_of, at_most
from symbcast.graphs.operators.resizing import read_scale, scaled
from symbcast.graphs.values.value import Value
from symbcast.openvino.constant import Held
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator
from symbcast.operators.context import Dims
from symbcast.operators.networks.scales import SINGLE_NUDGED, resize
from symbcast.operators.rearranging.padding import Padding, pad

if TYPE_CHECKING:
    from symbcast.graphs.values.contents import Element


@operator("Pad")
def pad_(call: OpenVinoCall) -> Value:
    """Padding with a constant, with the edge repeated, or by reflection with or without the edge."""
    dims, mode = call.shape(0), call.text("pad_mode", "constant")
    before, after = (call.input_sizes(n, least=-1) for n in (1, 2))
    if not len(before) == len(after) == len(dims):
        call.refuse(f"pads_begin and pads_end must be {len(dims)} numbers")
    paddings = [Padding(*all_) for all_ in zip(dims, before, after, strict=True)]
    if mode == "symmetric":
        for padding in paddings:
            fits = all_of(at_most(n, padding.size) for n in (padding.before, padding.after))
            call.require(fits, "an axis must be at least as long as its padding, which mirrors it")
        return call.made(tuple(p.padded for p in paddings))
    return call.made(pad(call, paddings, mode))


@operator("Interpolate")
def interpolate(call: OpenVinoCall) -> Value:
    """Some axes padded and then resized, to sizes or by scales."""
    dims = _padded(call, call.shape(0))
    axes = _axes(call, len(dims))
    if call.version >= 4 and call.text("shape_calculation_mode") == "scales":
        scales = _scales(call, 2 if call.version < 11 else 1, len(axes))
        sizes = [scaled(call, dims[a], read_scale(s, SINGLE_NUDGED), a) for a, s in zip(axes, scales, strict=False)]
    else:
        sizes = list(call.input_sizes(1)[: len(axes)])
    return call.made(resize(call, dims, axes, sizes))


def _padded(call: OpenVinoCall, dims: Dims) -> Dims:
    """Return the sizes with the padding from the attributes; in version 0 padding does not change the shape."""
    if call.version < 4:
        return dims
    pads = [(call.integers(name) or [])[: len(dims)] for name in ("pads_begin", "pads_end")]
    before, after = (found + [0] * (len(dims) - len(found)) for found in pads)
    return tuple(add(d, a, b) for d, a, b in zip(dims, before, after, strict=True))


def _axes(call: OpenVinoCall, rank: int) -> list[int]:
    if call.version < 4:
        return [call.axis(a, rank) for a in call.integers("axes") or ()]
    position = 3 if call.version < 11 else 2
    return call.input_axes(position, rank) if call.has(position) else list(range(rank))


def _scales(call: OpenVinoCall, position: int, count: int) -> Sequence[Element | float]:
    """Return the scales in an input, None for each unknown one."""
    value = call.value(position)
    if isinstance(value, Held):
        found: list[float] = value.array.ravel().tolist()
        return found
    return call.elements(position) or [None] * count
