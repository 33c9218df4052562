"""Operators that pad or crop the borders of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.graphs.operators.expected_shapes import known_rank
from symbcast.graphs.operators.making import asked_shape
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import operator
from symbcast.onnx.runtime.differences import CENTER_CROP_SIZES, PAD_ELEMENTS, PAD_NUMBER
from symbcast.onnx.runtime.padding import pad_in_runtime
from symbcast.operators.context import Dims
from symbcast.operators.rearranging.padding import MODES, Padding, pad

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_IS_DATA = "not checked: the pads, which are data, must be possible"


@operator("Pad")
def pad_(call: NodeCall) -> Value:
    """Padding at the ends of axes: a constant, or elements reflected, repeated from the edge or wrapped around."""
    dims = call.shape(0)
    mode = call.text("mode", "constant")
    if mode not in MODES:
        call.refuse(f"mode must not be {mode!r}")
    if call.does(PAD_NUMBER) and not dims:
        call.refuse("the input must have an axis")
    if call.version >= 11:
        for size in known_rank(call, 2, (0, 1), "the number to pad with") or ():
            call.equal(size, 1, "there must be one number to pad with")
    axes = _axes(call, len(dims))
    amounts = _amounts(call, 2 * len(axes))
    if amounts is None:
        return _padded_by_data(call, dims, axes)
    found = {axis: Padding(dims[axis], amounts[n], amounts[n + len(axes)]) for n, axis in enumerate(axes)}
    paddings = [found.get(axis, Padding(size, 0, 0)) for axis, size in enumerate(dims)]
    shape = pad_in_runtime(call, paddings, mode) if call.does(PAD_ELEMENTS) else pad(call, paddings, mode)
    return Value(shape, call.dtype())


def _axes(call: NodeCall, rank: int) -> list[int]:
    given = call.axes("axes", 3, 18) if call.version >= 18 else None
    if given is None:
        return list(range(rank))
    return call.distinct_axes(given, rank, "no axis may be padded twice")


def _amounts(call: NodeCall, count: int) -> list[Dim] | None:
    """Return the padding before each axis, then after each; None where data decide."""
    if call.version < 11:
        given = call.integers("pads" if call.version > 1 else "paddings") or []
        if len(given) != count:
            call.refuse(f"pads must be {count} numbers")
        return [*given]
    (length,) = call.rank(1, (1,), "pads")
    call.equal(length, count, f"pads must be {count} numbers")
    items = call.elements(1)
    if items is None or len(items) != count or (items and not any(map(is_size, items))):
        return None
    if not all(map(is_size, items)):
        call.note(_IS_DATA)
    return [i if is_size(i) else call.fresh(f"pad_{n}", f"element {n} of pads", by=[1]) for n, i in enumerate(items)]


def _padded_by_data(call: NodeCall, dims: Dims, axes: Sequence[int]) -> Value:
    call.note(_IS_DATA)
    shape = [call.fresh(f"size_{n}", f"axis {n} padded", by=[1]) if n in axes else d for n, d in enumerate(dims)]
    return Value(tuple(shape), call.dtype())


@operator("CenterCropPad")
def center_crop_pad(call: NodeCall) -> Value:
    """Axes cut, or padded, to a size at both ends."""
    dims = call.shape(0)
    given = call.integers("axes")
    axes = call.distinct_axes(range(len(dims)) if given is None else given, len(dims), "no axis may be sliced twice")
    known = call.sizes(1) if call.does(CENTER_CROP_SIZES) else None
    # The runtime treats a negative size as 0.
    sizes = asked_shape(call, 1) if known is None else tuple(call.bounds.larger(size, 0) for size in known)
    if len(sizes) != len(axes):
        call.refuse(f"the shape must be {len(axes)} numbers")
    wanted = dict(zip(axes, sizes, strict=True))
    return Value(tuple(wanted.get(n, d) for n, d in enumerate(dims)), call.dtype())
