"""Constants that have to grow along an axis: a row is expanded, a ramp or a mask computed, a table cut to length."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import Dim, Symbol, term
from symbcast.onnx.protobuf import OnnxNode
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT64
from symbcast.operators.values.value import Constant

if TYPE_CHECKING:
    from symbcast.onnx.freeing.plan import Plan

# The most elements of a constant that is read.
_LARGEST = 1 << 23


def stretched(plan: Plan, name: str, constant: Constant, wanted: Dims) -> tuple[list[OnnxNode], str, str] | None:
    """Return the nodes that make a constant with another shape, what they make, and why; None if nothing does.

    What they make is bit-equal to the constant at the old sizes: that is checked here, on the constant's numbers.
    """
    old = constant.shape
    assert old is not None
    axes = [n for n, (a, b) in enumerate(zip(old, wanted, strict=True)) if a != b]
    array = constant.array if prod(d for d in old if isinstance(d, int)) <= _LARGEST else None
    if array is not None:
        rows = array
        for axis in axes:
            if rows.shape[axis] and (rows == rows.take([0], axis)).all():
                rows = rows.take([0], axis)
        left = [axis for axis in axes if rows.shape[axis] != 1]
        if not left:
            return _expanded(plan, name, rows, [wanted[a] if a in axes else 1 for a in range(len(wanted))])
        if len(left) < len(axes) or any(wanted[a] == 1 for a in left):
            return None
        made = _ramp(plan, name, array, left, wanted) or _causal(plan, name, array, left, wanted)
        if made is not None:
            return made
    return _cut(plan, name, old, axes, wanted)


def _constant(plan: Plan, name: str, array: Any) -> OnnxNode:
    import numpy as np

    return plan.node("Constant", (), f"{name}_free", value=np.ascontiguousarray(array))


def _expanded(plan: Plan, name: str, rows: Any, sizes: Sequence[Dim]) -> tuple[list[OnnxNode], str, str]:
    row = _constant(plan, name, rows)
    why = "all rows of the constant are equal"
    if all(d == 1 for d in sizes):
        return [row], "one row", why
    expanded = plan.node("Expand", (row.outputs[0], plan.vector(sizes)), f"{name}_free")
    return [row, expanded], "one row, expanded", why


def _indices(plan: Plan, axis: int, rank: int, size: Dim, dtype: Any) -> str:
    """Return the name of the indices of an axis, of the rank and the type of a constant."""
    from onnx import helper

    places = plan.counted([size if n == axis else 1 for n in range(rank)])
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    return places if kind == INT64 else plan._op("Cast", (places,), "indices", to=kind)


def _ramp(
    plan: Plan, name: str, array: Any, axes: Sequence[int], wanted: Dims
) -> tuple[list[OnnxNode], str, str] | None:
    """Return the nodes of a constant that grows by the same step along each of some axes."""
    import numpy as np

    if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4:
        return None
    total: Any = array
    for axis in axes:
        total = total.take([0], axis)
    base, steps = total, []
    for axis in axes:
        first = array
        for other in axes:
            first = first.take([0], other) if other != axis else first
        step = first.take([1], axis) - first.take([0], axis)
        places = np.arange(array.shape[axis]).reshape([-1 if n == axis else 1 for n in range(array.ndim)])
        total = total + places.astype(array.dtype) * step
        steps.append(step)
    if total.dtype != array.dtype or total.shape != array.shape or total.tobytes() != array.tobytes():
        return None
    start = _constant(plan, name, base)
    nodes, sum_ = [start], start.outputs[0]
    for axis, step in zip(axes, steps, strict=True):
        index = _indices(plan, axis, array.ndim, wanted[axis], array.dtype)
        by = _constant(plan, name, step)
        product = plan.node("Mul", (index, by.outputs[0]), f"{name}_steps")
        sum_node = plan.node("Add", (sum_, product.outputs[0]), f"{name}_free")
        nodes += [by, product, sum_node]
        sum_ = sum_node.outputs[0]
    return nodes, "a ramp that is computed", "the constant counts along the axis"


def _causal(
    plan: Plan, name: str, array: Any, axes: Sequence[int], wanted: Dims
) -> tuple[list[OnnxNode], str, str] | None:
    """Return the nodes of a mask with one value where the column is after the row, and another one elsewhere."""
    import numpy as np
    from onnx import helper

    if len(axes) != 2 or array.size != array.shape[axes[0]] * array.shape[axes[1]]:
        return None
    layouts = [[-1 if n == axis else 1 for n in range(array.ndim)] for axis in axes]
    row, column = (np.arange(array.shape[a]).reshape(layout) for a, layout in zip(axes, layouts, strict=True))
    low, high = array.take([0], axes[0]).take([0], axes[1]), array.take([0], axes[0]).take([-1], axes[1])
    if np.where(column > row, high, low).tobytes() != array.tobytes():
        return None
    places = [_indices(plan, axis, array.ndim, wanted[axis], np.dtype(np.int64)) for axis in axes]
    after = plan.node("Greater", places[::-1], f"{name}_free")
    nodes = [after]
    if array.dtype == bool:
        nodes += [] if high.item() else [plan.node("Not", after.outputs, f"{name}_free")]
    else:  # Where of ONNX Runtime takes no small floats, but 32 bits hold all of their numbers
        is_small = array.dtype.itemsize < 4
        parts = [_constant(plan, name, p.astype(np.float32) if is_small else p) for p in (high, low)]
        nodes += [*parts, plan.node("Where", [n.outputs[0] for n in (after, *parts)], f"{name}_free")]
        if is_small:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            nodes.append(plan.node("Cast", nodes[-1].outputs, f"{name}_free", to=kind))
    return nodes, "a causal mask that is computed", "the mask tells columns after the row"


def _cut(plan: Plan, name: str, old: Dims, axes: Sequence[int], wanted: Dims) -> tuple[list[OnnxNode], str, str] | None:
    """Return the first rows of a table, one for each position of one size: it cannot be longer than the table."""
    import numpy as np

    sizes = {wanted[axis] for axis in axes}
    if len(sizes) != 1 or not _counts_positions(next(iter(sizes))) or plan.version < 10:
        return None
    zeros = plan._op("Constant", (), "starts", value=np.zeros(len(axes), np.int64))
    where = plan._op("Constant", (), "axes", value=np.array(axes, np.int64))
    cut = plan.node("Slice", (name, zeros, plan.vector([wanted[a] for a in axes]), where), f"{name}_free")
    return [cut], "its first rows", f"a table of {old[axes[0]]} rows: it cannot be longer"


def _counts_positions(size: Dim) -> bool:
    """Return whether a size is one free size plus a number, so that rows are positions."""
    parts = term(size).coefficients
    return all((len(m) == 1 and isinstance(m[0], Symbol) and c == 1) or m == () for m, c in parts.items()) and (
        sum(bool(m) for m in parts) == 1
    )
