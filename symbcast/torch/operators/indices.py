"""Read or write elements by index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import at_most
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.deciding import joined
from symbcast.operators.selecting.indexing import gather, gather_elements, index, not_beyond, scatter
from symbcast.torch.contents import indexed_by
from symbcast.torch.node_call import shape_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator("embedding")
def embedded(call: TorchCall) -> Value:
    """A row of the weights for each index."""
    weights, indices = call.dims("weight"), call.dims("indices")
    if len(weights) != 2:
        call.refuse("the weights must be a matrix")
    indexed_by(call, call.value_of("indices"), weights[0], indices)
    return Value(gather(call, weights, indices, 0))


@operator("index_select")
def picked(call: TorchCall) -> Value:
    """Elements along an axis, selected by index."""
    dims, indices = call.dims("self"), call.dims("index")
    place = call.axis_of(call.number("dim"), len(dims))
    if len(indices) > 1:
        call.refuse("the indices must be a vector or a scalar")
    if not dims:
        call.equal(multiply(*indices), 1, "a scalar takes only one index")
        return Value(())
    indexed_by(call, call.value_of("index"), dims[place], indices)
    return Value(gather(call, dims, indices or (1,), place))


@operator("index", "_unsafe_index")
def indexed(call: TorchCall) -> Value:
    """Indices are broadcast; their axes replace the indexed axes, or come first if those are not adjacent."""
    if not _has_masks(call):
        return Value(_indexed(call))
    _fit_masks(call)
    given = call.given("indices")
    places = [n for n, v in enumerate(given) if v is not None]
    if len(places) > 1:
        reason = "not checked: a mask must select as many elements as the other indices"
        return next(iter(call.unchecked(reason, is_about_data=_is_of_data(call))))
    dims, mask, place = call.dims("self"), shape_of(given[places[0]]), places[0]
    count = call.count_of(given[place])
    return Value((*dims[:place], count, *dims[place + len(mask) :]))


def _fit_masks(call: TorchCall) -> None:
    """Require each mask to have the sizes of the axes that it indexes; any other index uses one axis."""
    dims, at = call.dims("self"), 0
    for given, is_mask in zip(call.given("indices"), _are_masks(call), strict=True):
        shape = shape_of(given) if is_mask else ()
        if at + max(len(shape), 1) > len(dims):
            call.refuse("there must be an axis for each axis of a mask, and for each other index")
        call.same_shape(shape, dims[at : at + len(shape)], "a mask must have the sizes of the axes that it masks")
        at += len(shape) if is_mask else 1


def _has_masks(call: TorchCall) -> bool:
    """Return whether an index is boolean, so that data decide the number of selected elements."""
    return any(_are_masks(call))


def _is_of_data(call: TorchCall) -> bool:
    return joined([v for v in call.given("indices") if isinstance(v, Value)]) == Decider.DATA


def _are_masks(call: TorchCall) -> list[bool]:
    nodes = call.node.raw.args[1] if len(call.node.raw.args) > 1 else call.node.raw.kwargs.get("indices", ())
    types = [None if n is None else str(getattr(n.meta.get("val"), "dtype", "")) for n in nodes]
    return [t in ("torch.bool", "torch.uint8") for t in types]


def _indexed(call: TorchCall) -> Dims:
    dims, given = call.dims("self"), call.given("indices")
    found = index(call, dims, [None if v is None else shape_of(v) for v in given])
    for size, value in zip(dims, given, strict=False):
        if value is not None:
            indexed_by(call, value, size, found, from_end=True)
    return found


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
    if _has_masks(call):
        _fit_masks(call)
        call.note(
            "not checked: the written values, as data decide what the mask selects", is_about_data=_is_of_data(call)
        )
        return Value(dims)
    call.broadcast(call.dims("values"), _indexed(call), rule="unidirectional")
    return Value(dims)


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
    if len(indices) > 1:
        call.refuse("the indices must be a vector or a scalar")
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
    enough = at_most(multiply(*dims), multiply(*call.dims("source")))
    if call.is_known(enough) is not True:
        call.note(
            "not checked: the source must have an element for each place of the mask",
            is_about_data=call.is_data_in("mask"),
            enough=enough,
        )
    return Value(dims)


@operator("masked_select")
def masked(call: TorchCall) -> Value:
    """The elements where a mask, broadcast with the tensor, is true; data decide their number."""
    found = call.broadcast(call.dims("self"), call.dims("mask"))
    mask = call.value_of("mask")
    return Value((call.count_of(mask) if mask.shape == found else call.count(multiply(*found)),))


@operator("nonzero", "argwhere")
def positions(call: TorchCall) -> Value:
    """The positions of elements other than 0, one row for each; data decide their number."""
    return Value((call.count_of(call.value_of("self")), len(call.dims("self"))))


@operator("_unique", "_unique2", "unique_consecutive", "unique_dim")
def distinct(call: TorchCall) -> list[Value]:
    """Distinct elements or slices, the place of each original one among them, and how often each occurs.

    Data decide their number; slices along an axis must not be empty.
    """
    dims, text = call.dims("self"), "the number of distinct elements"
    is_flat = call.node.op_type == "aten.unique_consecutive" and len(dims) == 1 and call.given("dim") == 0
    if call.given("dim") is None or is_flat:
        count = call.count(multiply(*dims), text=text)
        is_listed = call.flag("return_inverse", call.node.op_type == "aten.unique_dim")
        often = (count,) if call.flag("return_counts") else (0,)
        return [Value((count,)), Value(dims if is_listed else (0,)), Value(often)][: len(call.node.outputs)]
    place = call.axis(call.number("dim"), len(dims))
    for size in (*dims[:place], *dims[place + 1 :]):
        call.at_most(1, size, "the compared slices must have elements")
    count = call.count(dims[place], text=text)
    return [Value((*dims[:place], count, *dims[place + 1 :])), Value((dims[place],)), Value((count,))]


@operator("searchsorted")
def sought(call: TorchCall) -> Value:
    """An insertion index for each value, in one sorted sequence or in one per row of values."""
    sequence, values = call.dims("sorted_sequence"), call.dims("self")
    if not sequence:
        call.refuse("the sorted sequence must have an axis")
    if len(sequence) > 1:
        if len(values) != len(sequence):
            call.refuse("the values must have as many axes as the sorted sequences, unless there is only one")
        for found, size in zip(values[:-1], sequence[:-1], strict=True):
            call.equal(found, size, "there must be a sorted sequence for each row of values")
    sorter = call.maybe_dims("sorter")
    if sorter is not None:
        call.same_shape(sorter, sequence, "the sorter must have the shape of the sorted sequence")
    return Value(values)


@operator("bucketize")
def bucketed(call: TorchCall) -> Value:
    """A bucket index for each value; the boundaries must have one axis."""
    if len(call.dims("boundaries")) != 1:
        call.refuse("the boundaries must have one axis")
    return Value(call.dims("self"))
