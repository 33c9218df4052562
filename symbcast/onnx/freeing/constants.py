"""Constants that have to grow along an axis: a row is expanded, a ramp or a mask computed, a table cut to length.

What takes the place of a constant is bit-equal to it at the old sizes: that is checked here, on the constant's numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.terms import Dim, Symbol, term
from symbcast.core.structs import NamedTuple
from symbcast.onnx.protobuf import OnnxNode
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT64
from symbcast.operators.values.value import Constant

if TYPE_CHECKING:
    from symbcast.onnx.freeing.plan import Plan

# The most elements of a constant that is read.
_LARGEST = 1 << 23
# The first operator set in which Slice takes its positions as inputs.
_SLICE = 10


class Grown(NamedTuple):
    """The nodes that make a constant with another shape, what they make, and why."""

    nodes: list[OnnxNode]
    what: str
    why: str


def stretched(plan: Plan, name: str, constant: Constant, target: Dims) -> Grown | None:
    """Return the nodes that make a constant with another shape; None if nothing does."""
    old = constant.shape or ()
    axes = [n for n, (a, b) in enumerate(zip(old, target, strict=True)) if a != b]
    stretch = _Stretch(plan, name)
    if prod(d for d in old if isinstance(d, int)) > _LARGEST:
        return stretch.cut(name, old, axes, target)
    return stretch.grown(constant.array, axes, target) or stretch.cut_rows(constant.array, axes, target)


def is_causal(constant: Constant, axes: Sequence[int]) -> bool:
    """Return whether a constant of two axes has one value where the column is after the row, and another elsewhere."""
    small = prod(d for d in constant.shape or () if isinstance(d, int)) <= _LARGEST
    if not small or len(axes) != 2:
        return False
    rows = _one_row(constant.array, set(range(constant.array.ndim)).difference(axes))
    return _halves(rows, axes) is not None


class _Stretch:
    """Makes the nodes for one constant, by its name."""

    def __init__(self, plan: Plan, name: str) -> None:
        self._plan, self._name = plan, name

    def grown(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes that expand equal rows, and compute the others."""
        rows = _one_row(array, axes)
        left, dims = self._left(rows, axes, target)
        if any(target[axis] == 1 for axis in left):
            return None
        ways = (self._counted, self._ramp, self._causal, self._of_factors) if left else (self._row,)
        found = next((grown for way in ways if (grown := way(rows, left, dims)) is not None), None)
        return found and self._expanded(found, [d if n in axes and n not in left else 1 for n, d in enumerate(target)])

    def cut_rows(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes that expand equal rows, and cut the others to length."""
        rows = _one_row(array, axes)
        left, dims = self._left(rows, axes, target)
        table = [] if rows.shape == array.shape else [self._constant(rows)]
        found = self.cut(table[0].outputs[0] if table else self._name, rows.shape, left, dims)
        sizes = [d if n in axes and n not in left else 1 for n, d in enumerate(target)]
        return found and self._expanded(found._replace(nodes=[*table, *found.nodes]), sizes)

    def cut(self, table: str, old: Sequence[Dim], axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the first rows of a table, one for each position of a size: it cannot be longer than the table.

        The rows of a batch are no positions.
        """
        plan = self._plan
        if plan.version < _SLICE or not all(
            _counts_positions(target[a]) and not plan.is_batch(target[a]) for a in axes
        ):
            return None
        zeros, places = plan.constant([0] * len(axes)), plan.constant(axes)
        inputs = (table, zeros, plan.vector([target[a] for a in axes]), places)
        why = f"a table of {old[axes[0]]} rows: it cannot be longer"
        return Grown([self._node("Slice", inputs)], "its first rows", why)

    def _left(self, rows: Any, axes: Sequence[int], target: Dims) -> tuple[list[int], Dims]:
        """Return the axes along which rows differ, and the sizes that the rows take."""
        left = [axis for axis in axes if rows.shape[axis] != 1]
        return left, tuple(d if n in left else 1 if n in axes else rows.shape[n] for n, d in enumerate(target))

    def _node(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> OnnxNode:
        return self._plan.node(op_type, inputs, f"{self._name}_free", **attributes)

    def _constant(self, array: Any) -> OnnxNode:
        import numpy as np

        return self._node("Constant", (), value=np.ascontiguousarray(array))

    def _row(self, rows: Any, axes: Sequence[int], target: Dims) -> Grown:
        return Grown([self._constant(rows)], "one row", "all rows of the constant are equal")

    def _expanded(self, found: Grown, sizes: Sequence[Dim]) -> Grown:
        if all(d == 1 for d in sizes):
            return found
        expanded = self._node("Expand", (found.nodes[-1].outputs[0], self._plan.vector(sizes)))
        return found._replace(nodes=[*found.nodes, expanded], what=f"{found.what}, expanded")

    def _indices(self, dims: Sequence[Dim], dtype: Any) -> str:
        """Return the name of the numbers from 0 on, in row-major order, of a type."""
        from onnx import helper

        places, kind = self._plan.counted(dims), helper.np_dtype_to_tensor_dtype(dtype)
        return places if kind == INT64 else self._plan.op("Cast", (places,), "indices", to=kind)

    def _counted(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes of a constant that counts all of its elements, such as the index of each cell of a grid."""
        import numpy as np

        if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4 or (array.dtype.kind == "f" and array.size <= 2):
            return None
        first = array.ravel()[:1]
        if (array - first != np.arange(array.size, dtype=array.dtype).reshape(array.shape)).any():
            return None
        start = self._constant(first)
        total = self._node("Add", (self._indices(target, array.dtype), start.outputs[0]))
        return Grown([start, total], *_COUNTS)

    def _ramp(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes of a constant that grows by one step along each of some axes; two rows tell only 0 and 1."""
        import numpy as np

        if array.dtype.kind not in "iuf" or array.dtype.itemsize < 4:
            return None
        sums = base = _first(array, axes)
        steps = []
        for axis in axes:
            row = _first(array, [a for a in axes if a != axis])
            places = np.arange(array.shape[axis]).reshape(_along([-1] * array.ndim, axis))
            with np.errstate(over="ignore", invalid="ignore"):  # masks hold the largest numbers
                steps.append(row.take([1], axis) - row.take([0], axis))
                sums = sums + places.astype(array.dtype) * steps[-1]
            if array.shape[axis] <= 2 and not {*steps[-1].ravel().tolist()} <= {0, 1}:
                return None
        if sums.dtype != array.dtype or sums.shape != array.shape or sums.tobytes() != array.tobytes():
            return None
        nodes = [self._constant(base)]
        for axis, step in zip(axes, steps, strict=True):
            so_far, by = nodes[-1].outputs[0], self._constant(step)
            product = self._node("Mul", (self._indices(_along(target, axis), array.dtype), by.outputs[0]))
            nodes += [by, product, self._node("Add", (so_far, product.outputs[0]))]
        is_whole = array.dtype.kind != "f" or all((step == step.round()).all() for step in steps)
        why = _COUNTS[1] if is_whole else f"{_COUNTS[1]} by a fraction, which is taken to be the same at all sizes"
        return Grown(nodes, _COUNTS[0], why)

    def _causal(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes of a mask with one value where the column is after the row, and another one elsewhere."""
        import numpy as np
        from onnx import helper

        halves = _halves(array, axes) if len(axes) == 2 else None
        if halves is None:
            return None
        after = self._node("Greater", [self._indices(_along(target, a), np.dtype(np.int64)) for a in axes[::-1]])
        nodes = [after]
        if array.dtype == bool:
            nodes += [] if halves[1].item() else [self._node("Not", after.outputs)]
        else:  # Where of ONNX Runtime takes no small floats, but 32 bits hold all of their numbers
            is_small = array.dtype.itemsize < 4
            parts = [self._constant(p.astype(np.float32) if is_small else p) for p in halves[::-1]]
            nodes += [*parts, self._node("Where", [n.outputs[0] for n in (after, *parts)])]
            if is_small:
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                nodes.append(self._node("Cast", nodes[-1].outputs, to=kind))
        return Grown(nodes, "a causal mask that is computed", "it masks the columns after the row")

    def _of_factors(self, array: Any, axes: Sequence[int], target: Dims) -> Grown | None:
        """Return the nodes of a constant whose rows are the cells of a grid, one after another, such as (y, x)."""
        for axis in axes:
            parts = self._plan.factors.get(target[axis], ())
            known = [self._plan.number(part) or 0 for part in parts]
            if len(parts) > 1 and prod(known) == array.shape[axis]:
                apart = array.reshape(*array.shape[:axis], *known, *array.shape[axis + 1 :])
                dims = (*target[:axis], *parts, *target[axis + 1 :])
                grow = [n for n, (a, b) in enumerate(zip(apart.shape, dims, strict=True)) if a != b]
                found = self.grown(apart, grow, dims)
                if found is not None:
                    joined = self._node("Reshape", (found.nodes[-1].outputs[0], self._plan.vector(target)))
                    return found._replace(nodes=[*found.nodes, joined], what=f"{found.what}, of a grid")
        return None


_COUNTS = "a ramp that is computed", "the constant counts along the axis"


def _first(array: Any, axes: Iterable[int]) -> Any:
    return reduce(lambda rows, axis: rows.take([0], axis), axes, array)


def _one_row(array: Any, axes: Iterable[int]) -> Any:
    """Return an array with one row along each of some axes along which all rows are equal."""
    for axis in axes:
        if array.shape[axis] and (array == array.take([0], axis)).all():
            array = array.take([0], axis)
    return array


def _along(dims: Sequence[Any], axis: int) -> list[Any]:
    return [size if n == axis else 1 for n, size in enumerate(dims)]


def _halves(array: Any, axes: Sequence[int]) -> tuple[Any, Any] | None:
    """Return the values of a causal mask before and after the diagonal; None if it is none."""
    import numpy as np

    if array.shape[axes[0]] < 2 or array.size != array.shape[axes[0]] * array.shape[axes[1]]:
        return None
    row, column = (np.arange(array.shape[a]).reshape(_along([-1] * array.ndim, a)) for a in axes)
    low, high = _first(array, axes), array.take([0], axes[0]).take([-1], axes[1])
    return (low, high) if np.where(column > row, high, low).tobytes() == array.tobytes() else None


def _counts_positions(size: Dim) -> bool:
    """Return whether a size is one free size plus a number, so that rows are positions."""
    parts = term(size).coefficients
    sizes = [(m, c) for m, c in parts.items() if m != ()]
    return len(sizes) == 1 and len(sizes[0][0]) == 1 and isinstance(sizes[0][0][0], Symbol) and sizes[0][1] == 1
