"""Read or write elements by index, and slices or single elements along an axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import add, maximum, minimum, multiply, subtract
from symbcast.core.algebra.formulas import any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking import gathering_and_slicing
from symbcast.graphs.walking.gathering_and_slicing import SliceBounds, slice_value
from symbcast.operators.indexing import gather, gather_elements, index, not_beyond, scatter, within
from symbcast.operators.joining_and_slicing import cut, from_front
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import Bands, Content, DistinctPlaces, Elements, Interval
from symbcast.operators.values.intervals import interval_of
from symbcast.operators.values.value import Decider, Value, join_deciders
from symbcast.torch.calls import TO_THE_END, TorchCall, operator, raw_argument, shape_of_value
from symbcast.torch.contents import estimated, indexed_by, operand_as, some_contents, translation
from symbcast.torch.library import INT64


@operator("embedding")
def embedded(call: TorchCall) -> Value:
    """A row of the weights for each index."""
    weights, indices = call.dims("weight"), call.dims("indices")
    call.refuse_if(len(weights) != 2, "the weights must be a matrix")
    indexed_by(call, call.value_of("indices"), weights[0], indices)
    return Value(gather(call, weights, indices, 0))


@operator("index_select")
def picked(call: TorchCall) -> Value:
    """Elements along an axis, selected by index."""
    dims, indices = call.dims("self"), call.dims("index")
    place = call.axis_of(call.number("dim"), len(dims))
    call.refuse_if(len(indices) > 1, "the indices must be a vector or a scalar")
    if not dims:
        call.equal(multiply(*indices), 1, "a scalar takes only one index")
        return Value(())
    indexed_by(call, call.value_of("index"), dims[place], indices)
    return Value(gather(call, dims, indices or (1,), place))


def _gathered_contents(call: TorchCall, output: Value, indices: Value) -> Content | None:
    value, axis = call.value_of("self"), call.number("dim") % len(call.dims("self"))
    return estimated(
        output,
        gathering_and_slicing.gathered(value, indices, axis, call.bounds),
        partial(intervals.gathered, value, indices, axis, call.bounds),
    )


@translation("index_select")
def index_select_contents(call: TorchCall, output: Value) -> Content | None:
    return _gathered_contents(call, output, call.value_of("index"))


@operator("index", "_unsafe_index")
def indexed(call: TorchCall) -> Value:
    """Indices are broadcast; their axes replace the indexed axes, or come first if those are not adjacent."""
    if not any(_are_masks(call)):
        return Value(_indexed(call))
    # Data decide how many elements a mask selects.
    _fit_masks(call)
    indices = call.argument("indices")
    places = [n for n, v in enumerate(indices) if v is not None]
    if len(places) > 1:
        reason = "not checked: a mask must select as many elements as the other indices"
        return next(iter(call.unchecked(reason, is_about_data=_is_of_data(call))))
    dims, mask, place = call.dims("self"), shape_of_value(indices[places[0]]), places[0]
    count = call.count_of(indices[place])
    return Value((*dims[:place], count, *dims[place + len(mask) :]))


def _fit_masks(call: TorchCall) -> None:
    """Require each mask to have the sizes of the axes that it indexes; any other index uses one axis."""
    dims, at = call.dims("self"), 0
    for mask, is_mask in zip(call.argument("indices"), _are_masks(call), strict=True):
        shape = shape_of_value(mask) if is_mask else ()
        if at + max(len(shape), 1) > len(dims):
            call.refuse("there must be an axis for each axis of a mask, and for each other index")
        call.same_shape(shape, dims[at : at + len(shape)], "a mask must have the sizes of the axes that it masks")
        at += len(shape) if is_mask else 1


def _is_of_data(call: TorchCall) -> bool:
    return join_deciders([v for v in call.argument("indices") if isinstance(v, Value)]) == Decider.DATA


def _are_masks(call: TorchCall) -> list[bool]:
    nodes = call.node.raw.args[1] if len(call.node.raw.args) > 1 else call.node.raw.kwargs.get("indices", ())
    types = [None if n is None else str(getattr(n.meta.get("val"), "dtype", "")) for n in nodes]
    return [t in ("torch.bool", "torch.uint8") for t in types]


def _indexed(call: TorchCall) -> Dims:
    dims, indices = call.dims("self"), call.argument("indices")
    output = index(call, dims, [None if v is None else shape_of_value(v) for v in indices])
    for size, value in zip(dims, indices, strict=False):
        if value is not None:
            indexed_by(call, value, size, output, from_end=True)
    return output


@operator("gather")
def gathered(call: TorchCall) -> Value:
    """Elements along an axis; on the others, the indices must not exceed the input, unless they are empty."""
    dims, indices = call.dims("self"), call.dims("index")
    place = call.axis_of(call.number("dim"), len(dims))
    gather_elements(call, dims or (1,), indices or (1,), place, unless=call.empty(indices))
    if dims:
        indexed_by(call, call.value_of("index"), dims[place], indices)
    return Value(indices)


@operator("scatter", "scatter_", "scatter_add", "scatter_reduce", "scatter_reduce_", "scatter_add_")
def scattered(call: TorchCall) -> Value:
    """Elements written along an axis; empty indices write nothing."""
    dims, indices = call.dims("self"), call.dims("index")
    place = call.axis_of(call.number("dim"), len(dims))
    none = call.empty(indices)
    not_beyond(call, indices or (1,), dims or (1,), "the data", place=place, unless=none)
    if dims:
        indexed_by(call, call.value_of("index"), dims[place], indices)
    source = call.maybe_dims("src")
    if source is not None:
        not_beyond(call, indices or (1,), source or (1,), "the source", unless=none)
    return Value(dims)


@operator("index_put", "index_put_", "_unsafe_index_put", "_index_put_impl", "_index_put_impl_")
def put(call: TorchCall) -> Value:
    """The tensor with the selected elements overwritten by values, which are broadcast to them."""
    dims = call.dims("self")
    if any(_are_masks(call)):
        _fit_masks(call)
        reason = "not checked: the written values, as data decide what the mask selects"
        call.note(reason, is_about_data=_is_of_data(call))
        return Value(dims)
    call.broadcast(call.dims("values"), _indexed(call), rule="unidirectional")
    return Value(dims)


def writes_all(call: TorchCall) -> bool:
    """Return whether a write by index replaces each element of a vector."""
    # It does if the only index is a permutation: the order of a sort, which nothing writes to.
    indices, raw = call.argument("indices"), raw_argument(call, "indices")
    if call.flag("accumulate") or not isinstance(indices, list) or len(indices) != 1:
        return False
    return isinstance(indices[0], Value) and indices[0].shape == call.dims("self") and _is_permutation(raw[0])


def _is_permutation(node: Any) -> bool:
    """Return whether a node has each position along a vector once."""
    if len(getattr(node.meta.get("val"), "shape", ())) != 1 or any(_may_write_to(user, node) for user in node.users):
        return False
    operator = _operator_name(node)
    if operator == "getitem" and node.args[1] == 1:
        return _operator_name(node.args[0]) == "sort"
    return operator in ("argsort", "randperm")


def _operator_name(node: Any) -> str:
    name = getattr(node.target, "overloadpacket", None) or getattr(node.target, "__name__", "")
    return str(name).removeprefix("aten.")


def _may_write_to(user: Any, node: Any) -> bool:
    """Return whether a node changes its first argument, or is a view of it, which others may change."""
    arguments = getattr(getattr(user.target, "_schema", None), "arguments", ())
    return bool(user.args and user.args[0] is node and arguments and arguments[0].alias_info is not None)


@translation("index_put", "index_put_")
def index_put_contents(call: TorchCall, output: Value) -> Content | None:
    return interval_of(operand_as(call, "values", output.dtype), call.bounds) if writes_all(call) else None


@operator("index_fill", "index_fill_")
def overwritten(call: TorchCall) -> Value:
    """Elements along an axis overwritten with one value."""
    dims = call.dims("self")
    _at_places(call, dims)
    return Value(dims)


@operator("index_add", "index_copy", "index_add_", "index_copy_", "index_reduce", "index_reduce_")
def placed(call: TorchCall) -> Value:
    """Elements along an axis overwritten with slices of a source, one per index."""
    dims, source = call.dims("self"), call.dims("source")
    place, indices = _at_places(call, dims)
    if not dims and source and call.node.op_type.startswith("aten.index_reduce"):
        call.refuse("the source of a scalar must be a scalar")
    if not dims and call.node.op_type.startswith("aten.index_add"):
        call.at_most(source[0] if source else 1, 1, "a scalar has only one element")
    scatter(call, dims or (1,), indices or (1,), source or (1,), place)
    return Value(dims)


def _at_places(call: TorchCall, dims: Dims) -> tuple[int, Dims]:
    """Return an axis and the shape of the indices into it, which must be valid if anything is written."""
    indices = call.dims("index")
    place = call.axis_of(call.number("dim"), len(dims))
    call.refuse_if(len(indices) > 1, "the indices must be a vector or a scalar")
    if dims:
        others = (*dims[:place], *dims[place + 1 :])
        from_end = call.node.op_type.startswith("aten.index_fill")
        indexed_by(call, call.value_of("index"), dims[place], (*indices, *others), from_end=from_end)
    return place, indices


@operator("masked_scatter", "masked_scatter_")
def masked_written(call: TorchCall) -> Value:
    """A tensor with the elements of a source where a mask is true; in place, the mask is broadcast to the tensor."""
    dims, mask = call.dims("self"), call.dims("mask")
    if call.node.op_type == "aten.masked_scatter_":
        call.broadcast(mask, dims, rule="unidirectional")
    else:
        dims = call.broadcast(dims, mask)
    note_short_source(call, dims, call.dims("source"))
    return Value(dims)


def note_short_source(call: TorchCall, dims: Dims, source: Dims) -> None:
    """Leave a note unless a source has an element for each place that a mask of a shape can select."""
    enough = at_most(multiply(*dims), multiply(*source))
    if call.is_known(enough) is not True:
        reason = "not checked: the source must have an element for each place of the mask"
        call.note(reason, is_about_data=call.is_data_in("mask"), enough=enough)


@operator("masked_select")
def masked(call: TorchCall) -> Value:
    """The elements where a mask, broadcast with the tensor, is true; data decide their number."""
    dims = call.broadcast(call.dims("self"), call.dims("mask"))
    mask = call.value_of("mask")
    return Value((call.count_of(mask) if mask.shape == dims else call.count(multiply(*dims)),))


@operator("nonzero", "argwhere")
def positions(call: TorchCall) -> Value:
    """The positions of elements other than 0, one row for each; data decide their number."""
    return Value((call.count_of(call.value_of("self")), len(call.dims("self"))))


@translation("nonzero", "argwhere")
def nonzero_contents(call: TorchCall, output: Value) -> Content | None:
    return Bands(1, tuple(map(intervals.places, call.dims("self")))) if call.dims("self") else None


@operator("_unique", "_unique2", "unique_consecutive", "unique_dim")
def distinct(call: TorchCall) -> list[Value]:
    """Distinct elements or slices, the place of each original one among them, and how often each occurs."""
    dims, text = call.dims("self"), "the number of distinct elements"
    # Along the only axis of a vector, the slices are its elements.
    is_flat = call.node.op_type == "aten.unique_consecutive" and len(dims) == 1 and call.argument("dim") == 0
    if call.argument("dim") is None or is_flat:
        count = call.count(multiply(*dims), text=text)
        is_listed = call.flag("return_inverse", call.node.op_type == "aten.unique_dim")
        often = (count,) if call.flag("return_counts") else (0,)
        return [Value((count,)), Value(dims if is_listed else (0,)), Value(often)][: len(call.node.outputs)]
    place = call.axis(call.number("dim"), len(dims))
    call.filled((*dims[:place], *dims[place + 1 :]), "the compared slices must have elements")
    count = call.count(dims[place], text=text)
    return [Value((*dims[:place], count, *dims[place + 1 :])), Value((dims[place],)), Value((count,))]


@operator("searchsorted")
def sought(call: TorchCall) -> Value:
    """An insertion index for each value, in one sorted sequence or in one per row of values."""
    sequence, values = call.dims("sorted_sequence"), call.dims("self")
    call.refuse_if(not sequence, "the sorted sequence must have an axis")
    if len(sequence) > 1:
        if len(values) != len(sequence):
            call.refuse("the values must have as many axes as the sorted sequences, unless there is only one")
        for rows, size in zip(values[:-1], sequence[:-1], strict=True):
            call.equal(rows, size, "there must be a sorted sequence for each row of values")
    call.same_shape_if_given("sorter", sequence, "the sorter must have the shape of the sorted sequence")
    return Value(values)


@translation("searchsorted", "bucketize")
def searchsorted_contents(call: TorchCall, output: Value) -> Content | None:
    sorted_dims = call.dims("sorted_sequence" if call.argument("sorted_sequence") is not None else "boundaries")
    return Interval(0, sorted_dims[-1])


@operator("bucketize")
def bucketed(call: TorchCall) -> Value:
    """A bucket index for each value; the boundaries must have one axis."""
    call.refuse_if(len(call.dims("boundaries")) != 1, "the boundaries must have one axis")
    return Value(call.dims("self"))


# Slices and single elements along an axis, read or written.


@operator("slice", "slice_copy")
def sliced(call: TorchCall) -> Value:
    """A slice of an axis, clamped as in Python."""
    dims = call.dims("self")
    output, place = _part(call, dims), call.axis(call.number("dim", 0), len(dims))
    if output is None:
        length = call.count(dims[place], text="the length of a slice")
        output = (*dims[:place], length, *dims[place + 1 :])
    return Value(output)


def part_of_positions(content: DistinctPlaces) -> DistinctPlaces:
    # Positions that are left still differ along their axis, but no longer all occur.
    assert content.low is not None and content.high is not None
    return DistinctPlaces(content.low, content.high, content.axis)


@translation("slice", "slice_copy")
def slice_contents(call: TorchCall, output: Value) -> Content | None:
    start, end = call.size("start", 0), call.size("end", TO_THE_END)
    if start is None or end is None:
        return _part_contents(call, output)
    return _cut_contents(call, output, (start, end, call.number("step", 1)))


def _part_contents(call: TorchCall, output: Value) -> Content | None:
    content = call.value_of("self").content
    return part_of_positions(content) if isinstance(content, DistinctPlaces) else some_contents(call, output)


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
        # Whatever the start, no part is longer than the axis.
        call.at_most(length, dims[place], "the part must lie within the axis")
        call.note("not checked: the part must lie within the axis", is_about_data=_are_data(call, "start"))
        return Value((*dims[:place], length, *dims[place + 1 :]))
    first = from_front(call, dims[place], start)
    call.at_most(0, first, "the part must lie within the axis")
    call.at_most(add(first, length), dims[place], "the part must lie within the axis")
    return Value((*dims[:place], length, *dims[place + 1 :]))


@translation("narrow", "narrow_copy")
def narrow_contents(call: TorchCall, output: Value) -> Content | None:
    start, length = call.size("start"), call.size("length")
    if start is None or length is None or not call.bounds.is_at_least(start, 0):
        return _part_contents(call, output)
    return _cut_contents(call, output, (start, add(start, length), 1))


def _are_data(call: TorchCall, *names: str) -> bool:
    """Return whether only data decide each argument that the graph computes."""
    return all(call.is_data_in(name) for name in names if isinstance(call.argument(name), Value))


@operator("select", "select_copy")
def selected(call: TorchCall) -> Value:
    """One element along an axis; the index must be within the axis."""
    return Value(_selected(call, call.dims("self")))


def _selected(call: TorchCall, dims: Dims) -> Dims:
    place, index = call.axis(call.number("dim", 0), len(dims)), call.size("index")
    if index is None:
        call.note("not checked: the index must be within the axis", is_about_data=call.is_data_in("index"))
    else:
        within(call, index, index, dims[place], ())
    return (*dims[:place], *dims[place + 1 :])


def _cut_contents(call: TorchCall, output: Value, cut: tuple[Dim, Dim, int]) -> Content | None:
    """Return the elements from a start to an end of an axis, in steps."""
    start, end, step = cut
    value, axis = call.value_of("self"), call.number("dim", 0)
    if isinstance(value.content, DistinctPlaces):
        is_whole = output.shape == value.shape
        return value.content if is_whole else part_of_positions(value.content)
    exact = slice_value(call, value, SliceBounds([start], [end], [axis], [step])).content
    part = slice(start, end, step) if isinstance(start, int) and isinstance(end, int) else None
    return estimated(output, exact, partial(intervals.cut, value, axis % len(output.shape or ()), part, call.bounds))


@translation("select", "select_copy")
def select_contents(call: TorchCall, output: Value) -> Content | None:
    index = call.size("index")
    if index is None:
        return some_contents(call, output)
    return _gathered_contents(call, output, Value((), INT64, Elements((index,))))


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
    # An offset beyond the matrix gives an empty diagonal.
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
    call.refuse_if(len(dims) != 2, "the tensor must be a vector or a matrix")
    return Value(_diagonal(call, dims, (0, 1), offset))


_PARTS: dict[str, Callable[[TorchCall, Dims], Dims | None]] = {
    "slice": _part,
    "select": _selected,
    "diagonal": diagonal_of,
}


@operator(*(f"{part}_{way}" for part in _PARTS for way in ("scatter", "backward")))
def around_a_part(call: TorchCall) -> Value:
    """A tensor with a part overwritten, or the gradient of one whose part was taken: zeros around the part's own."""
    name, _, way = call.node.op_type.removeprefix("aten.").partition("_")
    dims = call.dims("self") if way == "scatter" else tuple(call.known_sizes("input_sizes"))
    part = _PARTS[name](call, dims)
    if part is None:
        call.note("not checked: the source or the gradient must have the shape of the slice")
    elif way == "scatter":
        call.same_shape(call.dims("src"), part, "the source must have the shape of the part that it overwrites")
    else:
        call.broadcast(call.dims("grad_output"), part, rule="unidirectional")
    return Value(dims)


@operator("as_strided", "as_strided_", "as_strided_copy")
def strided(call: TorchCall) -> Value:
    """The elements of a tensor's storage at given strides."""
    sizes, strides, offset = call.known_sizes("size"), call.known_sizes("stride"), call.size("storage_offset", 0)
    call.refuse_if(len(sizes) != len(strides), "there must be one stride for each size")
    call.are_sizes((*sizes, *strides), "sizes and strides must not be negative")
    if offset is None:
        call.note("not checked: the elements must be in the storage", is_about_data=call.is_data_in("storage_offset"))
        return Value(tuple(sizes))
    call.at_most(0, offset, "the offset must not be negative")
    if not _has_own_storage(raw_argument(call, "self")):
        call.note("not checked: the elements must be in the storage that the tensor shares")
        return Value(tuple(sizes))
    reach = add(offset, 1, *(multiply(subtract(n, 1), s) for n, s in zip(sizes, strides, strict=True)))
    is_inside = at_most(reach, multiply(*call.dims("self")))
    # Without elements, torch does not look at the storage.
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
