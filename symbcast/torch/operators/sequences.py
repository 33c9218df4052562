"""Differences, turns, diagonals and other operators that torch builds from several steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, maximum, multiply, subtract
from symbcast.core.logic.formulas import any_of, at_most, equal
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.reductions import reduce
from symbcast.operators.selecting.indexing import meet
from symbcast.torch.contents import indexed_by
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


def _product(dims: Dims) -> Dim:
    found: Dim = 1
    for size in dims:
        found = multiply(found, size)
    return found


@operator("diff")
def differences(call: TorchCall) -> Value:
    """Differences of neighbours along an axis, taken ``n`` times; tensors may be put before and after."""
    dims, times = call.dims("self"), call.number("n", 1)
    if not dims:
        call.refuse("the tensor must have an axis")
    if times < 0:
        call.refuse("the order must not be negative")
    if times == 0:  # nothing else is checked
        return Value(dims)
    place = call.axis(call.number("dim", -1), len(dims))
    length = dims[place]
    for name in ("prepend", "append"):
        more = call.maybe_dims(name)
        if more is None:
            continue
        if len(more) != len(dims):
            call.refuse(f"{name} must have the axes of the tensor")
        others = [(a, b) for n, (a, b) in enumerate(zip(more, dims, strict=True)) if n != place]
        for a, b in others:
            call.equal(a, b, f"{name} must have the sizes of the tensor on the other axes")
        length = add(length, more[place])
    made = maximum((subtract(length, times), 0))
    return Value((*dims[:place], made, *dims[place + 1 :]))


@operator("rot90")
def turned(call: TorchCall) -> Value:
    """A plane turned by quarters; an odd number of them exchanges its two axes."""
    dims, axes = call.dims("self"), call.numbers_of("dims") or [0, 1]
    if len(axes) != 2 or len(dims) < 2:
        call.refuse("there must be two axes to turn")
    first, second = call.distinct_axes(axes, len(dims), TWICE)
    found = list(dims)
    if call.number("k", 1) % 2:
        found[first], found[second] = dims[second], dims[first]
    return Value(tuple(found))


@operator("take_along_dim")
def taken_along(call: TorchCall) -> Value:
    """Elements along an axis by indices, which are broadcast with the tensor on the other axes.

    Along an axis, torch takes indices modulo its size, so only an empty axis has none of them.
    """
    dims, indices = call.dims("self"), call.dims("indices")
    if call.given("dim") is None:
        indexed_by(call, call.value_of("indices"), _product(dims), indices)
        return Value((_product(indices),))
    if len(dims) != len(indices):
        call.refuse("the indices must have the axes of the tensor")
    if not dims:
        call.refuse("the tensor must have an axis")
    place = call.axis(call.number("dim"), len(dims))
    free = [tuple(d for n, d in enumerate(shape) if n != place) for shape in (dims, indices)]
    others = call.broadcast(*free)
    shape = (*others[:place], indices[place], *others[place:])
    meet(call, None, None, dims[place], shape)
    return Value(shape)


@operator("take")
def taken(call: TorchCall) -> Value:
    """Elements of the flattened tensor by indices."""
    indices = call.dims("index")
    indexed_by(call, call.value_of("index"), _product(call.dims("self")), indices, from_end=True)
    return Value(indices)


@operator("put", "put_")
def placed(call: TorchCall) -> Value:
    """A tensor with elements of a source written at indices into the flattened tensor."""
    dims, indices = call.dims("self"), call.dims("index")
    call.equal(_product(call.dims("source")), _product(indices), "there must be an element for each index")
    indexed_by(call, call.value_of("index"), _product(dims), indices, from_end=True)
    return Value(dims)


@operator("diag_embed")
def on_a_diagonal(call: TorchCall) -> Value:
    """The last axis as the diagonal of new square matrices."""
    dims, offset = call.dims("self"), call.number("offset", 0)
    if not dims:
        call.refuse("the tensor must have an axis")
    rank = len(dims) + 1
    places = call.distinct_axes([call.number("dim1", -2), call.number("dim2", -1)], rank, TWICE)
    size, found = add(dims[-1], abs(offset)), list(dims[:-1])
    for place in sorted(places):
        found.insert(place, size)
    return Value(tuple(found))


@operator("histc")
def histogram(call: TorchCall) -> Value:
    """The counts of ``bins`` equal intervals."""
    bins = call.number("bins", 100)
    if bins < 1:
        call.refuse("there must be at least one interval")
    return Value((bins,))


@operator("multinomial")
def sampled(call: TorchCall) -> Value:
    """Categories drawn for each row; without replacement, at most as many as there are."""
    dims, count = call.dims("self"), call.size("num_samples")
    if len(dims) not in (1, 2):
        call.refuse("the probabilities must be a vector or a matrix")
    if count is None:
        call.give_up("data decide num_samples")
    call.at_most(1, count, "there must be at least one sample")
    some = at_most(1, dims[-1])
    call.require(any_of([some, equal(dims[0], 0)]) if len(dims) == 2 else some, "there must be a category")
    if not call.flag("replacement"):
        call.at_most(count, dims[-1], "without replacement, there must be as many categories as samples")
    return Value((*dims[:-1], count))


@operator("trapezoid", "trapz")
def integral(call: TorchCall) -> Value:
    """An integral along an axis, with equal steps."""
    dims = call.dims("y")
    if call.given("x") is not None:
        call.give_up("steps given by a tensor")
    if not dims:
        call.refuse("the tensor must have an axis")
    place = call.axis(call.number("dim", -1), len(dims))
    return Value(reduce(call, dims, [place], keepdims=False))


@operator("randperm")
def permutation(call: TorchCall) -> Value:
    """The numbers below ``n`` in random order."""
    count = call.size("n")
    if count is None:
        call.give_up("data decide n")
    return Value((count,))


@operator("isin")
def is_member(call: TorchCall) -> Value:
    """Whether each element occurs in another tensor."""
    found = call.given("elements", "element")
    return (
        Value(call.dims("elements") if call.given("elements") is not None else ()) if found is not None else Value(None)
    )


@operator("norm_except_dim")
def norms_of_slices(call: TorchCall) -> Value:
    """The norms of the slices along the first or another axis, or of all elements for -1."""
    dims, axis = call.dims("v"), call.number("dim", 0)
    if axis == -1:
        return Value(())
    place = call.axis(axis, len(dims))
    call.at_most(1, dims[place], "there must be a slice: torch views them as the rows of a matrix")
    return Value(tuple(d if n == place else 1 for n, d in enumerate(dims)))


@operator("_weight_norm")
def weight_norm(call: TorchCall) -> Value:
    """Weights scaled to norms ``g`` of their slices along the first or the last axis."""
    dims, scale, axis = call.dims("v"), call.dims("g"), call.number("dim", 0)
    if axis not in (0, len(dims) - 1, -1) or not dims:
        call.give_up("only the first and the last axis are read")
    place = axis % len(dims)
    norms = tuple(d if n == place else 1 for n, d in enumerate(dims))
    if axis == -1:
        call.give_up("a norm over all axes")
    for size in dims:
        call.at_most(1, size, "the weights must not be empty: the kernel divides by their number")
    call.same_shape(scale, norms, "there must be one norm for each slice: the kernel does not check it")
    return Value(dims)


@operator("prelu")
def leaky(call: TorchCall) -> Value:
    """A rectifier with one slope, or one for each channel."""
    dims, weight = call.dims("self"), call.dims("weight")
    if len(weight) > 1:
        call.refuse("the slopes must be a vector or a number")
    if weight:
        channels = dims[1] if len(dims) > 1 else 1
        call.broadcast(weight, (channels,), rule="unidirectional")
    return Value(dims)
