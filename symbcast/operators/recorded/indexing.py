"""Operators that a program records: elements read by index or rank, or written by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.broadcasting import Parameter
from symbcast.operators.context import Context, Dims
from symbcast.operators.reach import ANY, Reach, reach_beside_new, reach_of
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.operator import Operator, reading, recorded
from symbcast.operators.selecting.indexing import (
    gather_elements,
    gather_nd,
    indexable,
    scatter,
    scatter_elements,
    scatter_nd,
    within,
)
from symbcast.operators.selecting.selection import one_hot, top_k

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_AXIS = (Parameter("axis", 0),)
_LAST_AXIS = (Parameter("axis", -1),)
_AXIS_KIND = reading(axis=kind.whole)


@recorded
class GatherElements(Operator):
    """`torch.gather`: one element of the data per index."""

    name = "gather_elements"
    operands = ("data", "indices")
    parameters = _AXIS
    kinds = _AXIS_KIND
    axis: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices = shapes
        found = gather_elements(context, data, indices, self.axis)
        within(context, 0, 0, data[context.axis(self.axis, len(data))], indices)
        return found


@recorded
class GatherND(Operator):
    """Slices of the data; the last axis of the indices holds the components of each index."""

    name = "gather_nd"
    operands = ("data", "indices")
    parameters = (Parameter("batch_axes", 0),)
    kinds = reading(batch_axes=kind.naturals)
    batch_axes: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices = shapes
        length = index_length(context, indices)
        found = gather_nd(context, data, indices, length, self.batch_axes)
        for size in data[self.batch_axes : self.batch_axes + length]:
            within(context, 0, 0, size, indices[:-1])
        return found


@recorded
class Scatter(Operator):
    """The data with slices along an axis replaced by updates; these have the shape that `numpy.take` returns."""

    name = "scatter"
    operands = ("data", "indices", "updates")
    parameters = _AXIS
    kinds = _AXIS_KIND
    axis: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices, updates = shapes
        indexable(context, data, indices, self.axis)
        return scatter(context, data, indices, updates, self.axis)


@recorded
class ScatterElements(Operator):
    """`torch.scatter`, with updates of the same shape as the indices."""

    name = "scatter_elements"
    operands = ("data", "indices", "updates")
    parameters = _AXIS
    kinds = _AXIS_KIND
    axis: int

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices, updates = shapes
        found = scatter_elements(context, data, indices, updates, self.axis)
        within(context, 0, 0, data[context.axis(self.axis, len(data))], indices)
        return found


@recorded
class ScatterND(Operator):
    """The data with slices replaced; the last axis of the indices holds the components of each index."""

    name = "scatter_nd"
    operands = ("data", "indices", "updates")

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, indices, updates = shapes
        length = index_length(context, indices)
        found = scatter_nd(context, data, indices, updates, length)
        for size in data[:length]:
            within(context, 0, 0, size, indices[:-1])
        return found


def index_length(context: Context, indices: Dims) -> int:
    """Return the number of components of an index, which must not depend on the sizes."""
    length: Dim = (
        indices[-1] if indices else context.refuse("indices must have an axis for the components of each index")
    )
    return length if isinstance(length, int) else context.refuse("the last size of the indices must be a number")


@recorded
class TopK(Operator):
    """The greatest elements along an axis; the second operand is their number."""

    name = "top_k"
    operands = ("data", "count")
    parameters = _LAST_AXIS
    kinds = _AXIS_KIND
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axis that is searched."""
        return [reach_of((self.axis,)), None]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, (count,) = shapes
        return top_k(context, data, self.axis, count)


@recorded
class OneHot(Operator):
    """A new axis for classes; the second operand is the number of classes."""

    name = "one_hot"
    operands = ("data", "depth")
    parameters = _LAST_AXIS
    kinds = _AXIS_KIND
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The axes before the new one, or after it."""
        return [ANY if self.axis == -1 else reach_beside_new((self.axis,)), None]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        data, (depth,) = shapes
        return one_hot(context, data, self.axis, depth, least=0)
