"""Slices and single elements along an axis, read or written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, maximum, minimum
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.rearranging.slices import cut, from_front
from symbcast.operators.selecting.indexing import within
from symbcast.torch.node_call import TO_THE_END
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.value import Dims
    from symbcast.torch.node_call import TorchCall


@operator("slice", "slice_copy")
def sliced(call: TorchCall) -> Value:
    """A slice of an axis, clamped as in Python."""
    dims = call.dims("self")
    found = _part(call, dims)
    return next(iter(call.recorded())) if found is None else Value(found)


def _part(call: TorchCall, dims: Dims) -> Dims | None:
    place = call.axis(call.number("dim", 0), len(dims))
    size, step = dims[place], call.number("step", 1)
    call.at_most(1, step, "the step must be 1 or more")
    start, end = call.size("start", 0), call.size("end", TO_THE_END)
    if start is None or end is None:
        return None
    first = from_front(call, size, start)
    last = size if end == TO_THE_END else from_front(call, size, end)
    _, count = cut(call, size, (first, last, step))
    return (*dims[:place], count, *dims[place + 1 :])


@operator("narrow", "narrow_copy")
def narrowed(call: TorchCall) -> Value:
    """A slice of given start and length, which must lie within the axis."""
    dims, start, length = call.dims("self"), call.size("start"), call.size("length")
    if length is None or start is None:
        return next(iter(call.recorded()))
    place = call.axis(call.number("dim"), len(dims))
    call.is_size(length, "a length must not be negative")
    first = from_front(call, dims[place], start)
    call.at_most(0, first, "the part must lie within the axis")
    call.at_most(add(first, length), dims[place], "the part must lie within the axis")
    return Value((*dims[:place], length, *dims[place + 1 :]))


@operator("select", "select_copy")
def selected(call: TorchCall) -> Value:
    """One element along an axis; the index must be within the axis."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", 0), len(dims))
    _within(call, call.size("index"), dims[place])
    return Value((*dims[:place], *dims[place + 1 :]))


def _within(call: TorchCall, index: Dim | None, size: Dim) -> None:
    if index is None:
        call.note("not checked: the index must be within the axis", is_about_data=call.is_data_in("index"))
        return
    within(call, index, index, size, ())


@operator("slice_scatter")
def slice_written(call: TorchCall) -> Value:
    """A tensor with a slice of an axis overwritten; the source has the slice's shape."""
    dims = call.dims("self")
    part = _part(call, dims)
    if part is not None:
        call.same_shape(call.dims("src"), part, "the source must have the shape of the slice")
    return Value(dims)


@operator("select_scatter")
def place_written(call: TorchCall) -> Value:
    """A tensor with one element along an axis overwritten."""
    dims, written = call.dims("self"), call.dims("src")
    place = call.axis(call.number("dim"), len(dims))
    _within(call, call.size("index"), dims[place])
    part = (*dims[:place], *dims[place + 1 :])
    call.same_shape(written, part, "the source must have the shape of the part that it overwrites")
    return Value(dims)


@operator("diagonal", "diagonal_copy")
def diagonal(call: TorchCall) -> Value:
    """The diagonal over two axes, moved to the last axis."""
    dims, offset = call.dims("self"), call.number("offset", 0)
    first, second = call.distinct_axes([call.number("dim1"), call.number("dim2")], len(dims), TWICE)
    return Value(_diagonal(call, dims, (first, second), offset))


def _diagonal(call: TorchCall, dims: Dims, axes: tuple[int, int], offset: int) -> Dims:
    rows, columns = add(dims[axes[0]], min(offset, 0)), add(dims[axes[1]], -max(offset, 0))
    length = minimum([rows, columns])
    if not call.asker.is_positive([rows, columns]):
        length = maximum([length, 0])
    return (*(d for n, d in enumerate(dims) if n not in axes), length)


@operator("diag")
def diag(call: TorchCall) -> Value:
    """The diagonal of a matrix, or a square matrix with a vector on its diagonal."""
    dims, offset = call.dims("self"), call.number("diagonal", 0)
    if len(dims) == 1:
        size = add(dims[0], abs(offset))
        return Value((size, size))
    if len(dims) != 2:
        call.refuse("the tensor must be a vector or a matrix")
    return Value(_diagonal(call, dims, (0, 1), offset))
