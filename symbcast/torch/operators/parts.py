"""Slices and single elements along an axis, read or written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, maximum, minimum, multiply, subtract
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.rearranging.slices import cut, from_front
from symbcast.operators.selecting.indexing import within
from symbcast.torch.node_call import TO_THE_END, raw_argument
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator("slice", "slice_copy")
def sliced(call: TorchCall) -> Value:
    """A slice of an axis, clamped as in Python."""
    dims = call.dims("self")
    found, place = _part(call, dims), call.axis(call.number("dim", 0), len(dims))
    if found is None:
        length = call.count(dims[place], text="the length of a slice")
        found = (*dims[:place], length, *dims[place + 1 :])
    return Value(found)


def _part(call: TorchCall, dims: Dims) -> Dims | None:
    """Return the shape of a slice; None if its start or end is unknown."""
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
    place = call.axis(call.number("dim"), len(dims))
    if length is None:
        call.note("not checked: the part must lie within the axis", is_about_data=_are_data(call, "start", "length"))
        length = call.count(dims[place], text="the length of a part")
        return Value((*dims[:place], length, *dims[place + 1 :]))
    call.is_size(length, "a length must not be negative")
    if start is None:
        call.at_most(length, dims[place], "the part must lie within the axis")
        call.note("not checked: the part must lie within the axis", is_about_data=_are_data(call, "start"))
        return Value((*dims[:place], length, *dims[place + 1 :]))
    first = from_front(call, dims[place], start)
    call.at_most(0, first, "the part must lie within the axis")
    call.at_most(add(first, length), dims[place], "the part must lie within the axis")
    return Value((*dims[:place], length, *dims[place + 1 :]))


def _are_data(call: TorchCall, *names: str) -> bool:
    """Return whether only data decide each argument that the graph computes."""
    return all(call.is_data_in(name) for name in names if isinstance(call.given(name), Value))


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
    if part is None:
        call.note("not checked: the source must have the shape of the slice")
    else:
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
    return Value(diagonal_of(call, call.dims("self")))


def diagonal_of(call: TorchCall, dims: Dims) -> Dims:
    """Return the shape of the diagonal over two axes."""
    first, second = call.distinct_axes([call.number("dim1", 0), call.number("dim2", 1)], len(dims), TWICE)
    return _diagonal(call, dims, (first, second), call.number("offset", 0))


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


@operator("select_backward")
def place_of_gradient(call: TorchCall) -> Value:
    """The gradient of a tensor whose element along an axis was selected: zeros around the gradient of the element."""
    dims = tuple(call.known_sizes("input_sizes"))
    place = call.axis(call.number("dim"), len(dims))
    _within(call, call.size("index"), dims[place])
    call.broadcast(call.dims("grad_output"), (*dims[:place], *dims[place + 1 :]), rule="unidirectional")
    return Value(dims)


@operator("slice_backward")
def part_of_gradient(call: TorchCall) -> Value:
    """The gradient of a tensor of which a slice was taken: zeros around the gradient of the slice."""
    dims = tuple(call.known_sizes("input_sizes"))
    part = _part(call, dims)
    if part is None:
        call.note("not checked: the gradient must fit the slice")
    else:
        call.broadcast(call.dims("grad_output"), part, rule="unidirectional")
    return Value(dims)


@operator("as_strided", "as_strided_", "as_strided_copy")
def strided(call: TorchCall) -> Value:
    """The elements of a tensor's storage at given strides; unless there are none, all must be in the storage."""
    sizes, strides, offset = call.known_sizes("size"), call.known_sizes("stride"), call.size("storage_offset", 0)
    if len(sizes) != len(strides):
        call.refuse("there must be one stride for each size")
    for number in (*sizes, *strides):
        call.is_size(number, "sizes and strides must not be negative")
    if offset is None:
        call.note("not checked: the elements must be in the storage", is_about_data=call.is_data_in("storage_offset"))
        return Value(tuple(sizes))
    call.at_most(0, offset, "the offset must not be negative")
    if not _has_own_storage(raw_argument(call, "self")):
        call.note("not checked: the elements must be in the storage that the tensor shares")
        return Value(tuple(sizes))
    reach = add(offset, 1, *(multiply(subtract(n, 1), s) for n, s in zip(sizes, strides, strict=True)))
    is_inside = at_most(reach, multiply(*call.dims("self")))
    call.require(any_of([*(equal(n, 0) for n in sizes), is_inside]), "the elements must be in the tensor")
    return Value(tuple(sizes))


def _has_own_storage(fx: Any) -> bool:
    """Return whether the storage of a tensor has as many elements as the tensor, as torch recorded it."""
    value: Any = getattr(fx, "meta", {}).get("val")
    if not hasattr(value, "untyped_storage"):
        return True
    numbers = (value.untyped_storage().nbytes(), value.numel() * value.element_size())
    more, less = (getattr(getattr(n, "node", None), "expr", n) for n in numbers)
    rest = more - less
    return bool((rest.expand() if hasattr(rest, "expand") else rest) == 0)
