"""Elements taken out by index, or put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.onnx.values.value import Value
from symbcast.operators.indexing import gather
from symbcast.torch.intervals import indexed_by
from symbcast.torch.node_call import shape_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.onnx.values.value import Dims
    from symbcast.torch.node_call import TorchCall


@operator("embedding")
def embedded(call: TorchCall) -> Value:
    """A row of the weights for each index."""
    weights, indices = call.dims("weight"), call.dims("indices")
    indexed_by(call, call.value_of("indices"), weights[0], indices)
    return Value(gather(call, weights, indices, 0))


@operator("index_select")
def picked(call: TorchCall) -> Value:
    """Places of an axis."""
    dims, indices = call.dims("self"), call.dims("index")
    place = call.axis(call.number("dim"), len(dims))
    indexed_by(call, call.value_of("index"), dims[place], indices)
    return Value((*dims[:place], *(indices or (1,)), *dims[place + 1 :]))


@operator("index", "_unsafe_index")
def indexed(call: TorchCall) -> Value:
    """Indices are broadcast; their axes stand where those were that they index, or first where these lie apart."""
    return Value(_indexed(call)) if not _has_masks(call) else next(iter(call.recorded()))


def _has_masks(call: TorchCall) -> bool:
    """Return whether an index is of truth values: how many of them hold is data."""
    nodes = call.node.fx.args[1] if len(call.node.fx.args) > 1 else call.node.fx.kwargs.get("indices", ())
    types = {str(getattr(n.meta.get("val"), "dtype", "")) for n in nodes if n is not None}
    return bool(types & {"torch.bool", "torch.uint8"})


def _indexed(call: TorchCall) -> Dims:
    dims, given = call.dims("self"), call.given("indices")
    places = [n for n, v in enumerate(given) if v is not None]
    shapes = [shape_of(given[n]) for n in places]
    joined = call.broadcast(*shapes) if len(shapes) > 1 else shapes[0]
    for place in places:
        indexed_by(call, given[place], dims[place], joined)
    others = [d for n, d in enumerate(dims) if n not in places]
    is_together = places == list(range(places[0], places[0] + len(places)))
    first = places[0] if is_together else 0
    return (*others[:first], *joined, *others[first:])


@operator("gather")
def gathered(call: TorchCall) -> Value:
    """Elements along an axis; off it, there must be as many as indices."""
    dims, indices = call.dims("self"), call.dims("index")
    _fits(call, indices, dims, "the data")
    return Value(indices)


def _fits(call: TorchCall, indices: Dims, dims: Dims, what: str, *, wholly: bool = False) -> None:
    if not dims or not indices:
        return
    if len(indices) != len(dims):
        call.refuse(f"the indices must have as many axes as {what}")
    place = call.axis(call.number("dim"), len(dims))
    for n, (index, size) in enumerate(zip(indices, dims, strict=True)):
        if n != place or wholly:
            call.at_most(index, size, f"off the axis there must be no more indices than {what} has")


@operator("scatter", "scatter_", "scatter_add", "scatter_reduce", "scatter_add_")
def scattered(call: TorchCall) -> Value:
    """Elements written along an axis."""
    dims, indices = call.dims("self"), call.dims("index")
    _fits(call, indices, dims, "the data")
    source = call.maybe_dims("src")
    if source:
        _fits(call, indices, source, "the source", wholly=True)
    return Value(dims)


@operator("index_put", "index_put_", "_unsafe_index_put")
def put(call: TorchCall) -> Value:
    """What is written is broadcast to what the indices select."""
    dims = call.dims("self")
    if _has_masks(call):
        call.note("what is written was not looked at: how much the mask selects is data", is_about_data=True)
        return Value(dims)
    call.broadcast(call.dims("values"), _indexed(call), rule="unidirectional")
    return Value(dims)


@operator("index_add", "index_copy", "index_fill")
def placed(call: TorchCall) -> Value:
    """Places of an axis written."""
    dims = call.dims("self")
    source = call.maybe_dims("source")
    if source and dims:
        place = call.axis(call.number("dim"), len(dims))
        call.equal(source[place], (call.dims("index") or (1,))[0], "there must be an index for each place written")
        for n, (found, size) in enumerate(zip(source, dims, strict=True)):
            if n != place:
                call.equal(found, size, "what is written must have the other sizes of the tensor")
    return Value(dims)


@operator("nonzero", "masked_select", "unique", "_unique2", "unique_consecutive", "unique_dim")
def chosen(call: TorchCall) -> list[Value]:
    """As many as data decide."""
    return list(call.recorded())


@operator("searchsorted")
def sought(call: TorchCall) -> Value:
    """A place for each value, in a sorted sequence for all of them or in one for each row of values."""
    sequence, values = call.dims("sorted_sequence"), call.dims("self")
    if not sequence:
        call.refuse("the sorted sequence must have an axis")
    if len(sequence) > 1:
        if len(values) != len(sequence):
            call.refuse("the values must have as many axes as the sorted sequences, unless there is one for all")
        for found, size in zip(values[:-1], sequence[:-1], strict=True):
            call.equal(found, size, "there must be a sorted sequence for each row of values")
    _same_shape(call, call.maybe_dims("sorter"), sequence, "the sorter must have the shape of the sorted sequence")
    return Value(values)


def _same_shape(call: TorchCall, found: Dims | None, wanted: Dims, reason: str) -> None:
    if found is None:
        return
    if len(found) != len(wanted):
        call.refuse(reason)
    for left, right in zip(found, wanted, strict=True):
        call.equal(left, right, reason)


@operator("bucketize")
def bucketed(call: TorchCall) -> Value:
    """A bucket for each value; the boundaries have one axis."""
    if len(call.dims("boundaries")) != 1:
        call.refuse("the boundaries must have one axis")
    return Value(call.dims("self"))
