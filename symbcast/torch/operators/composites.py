"""Operators that torch builds from others but keeps in the graph: stacks of any rank, losses, distances."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, subtract
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.rearranging import joins
from symbcast.operators.rearranging.slices import cut, from_front
from symbcast.operators.reductions import reduce
from symbcast.torch.operators.layout import along, joined
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


def _at_least(rank: int, dims: Dims) -> Dims:
    """Return a shape with at least ``rank`` axes: a vector becomes a row, a matrix gets a last axis of size 1."""
    if rank == 3 and 0 < len(dims) < 3:
        return (1, *dims, 1) if len(dims) == 1 else (*dims, 1)
    return (*((1,) * (rank - len(dims))), *dims)


@operator("atleast_1d", "atleast_2d", "atleast_3d")
def at_least(call: TorchCall) -> Value | list[Value]:
    """Each tensor with at least a given number of axes."""
    rank = int(call.node.op_type[-2])
    if call.given("tensors") is not None:
        return [Value(_at_least(rank, dims)) for dims in call.tensors("tensors")]
    return Value(_at_least(rank, call.dims("self")))


@operator("hstack", "vstack", "dstack", "row_stack", "column_stack")
def stacked(call: TorchCall) -> Value:
    """Tensors concatenated after each is extended to the required rank."""
    shapes, kind = call.tensors("tensors"), call.node.op_type.removeprefix("aten.")
    if kind == "column_stack":
        shapes = [(*dims, *((1,) * (2 - len(dims)))) for dims in shapes]
    rank = {"hstack": 1, "column_stack": 2, "dstack": 3}.get(kind, 2)
    shapes = [_at_least(rank, dims) for dims in shapes]
    axis = {"hstack": min(1, len(shapes[0]) - 1) if shapes else 0, "column_stack": 1, "dstack": 2}.get(kind, 0)
    return Value(joined(call, shapes, axis))


@operator("block_diag")
def block_diagonal(call: TorchCall) -> Value:
    """Matrices placed along the diagonal of a matrix; a vector counts as a row."""
    shapes = call.tensors("tensors")
    if any(len(dims) > 2 for dims in shapes):
        call.refuse("there must be at most two axes")
    if not shapes:
        return Value((1, 0))
    rows, columns = zip(*(_at_least(2, dims) for dims in shapes), strict=True)
    return Value((add(*rows), add(*columns)))


@operator("broadcast_tensors")
def broadcast_together(call: TorchCall) -> list[Value]:
    """All tensors broadcast to one shape."""
    shapes = call.tensors("tensors")
    found = call.broadcast(*shapes) if len(shapes) > 1 else shapes[0]
    return [Value(found)] * len(call.node.outputs)


@operator("tensor_split", "hsplit", "vsplit", "dsplit")
def split_evenly(call: TorchCall) -> list[Value]:
    """An axis split into a given number of parts: equal ones, or differing by at most 1 for ``tensor_split``."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.")
    least, place = {"hsplit": (1, min(1, len(dims) - 1)), "vsplit": (2, 0), "dsplit": (3, 2)}.get(kind, (1, -1))
    if len(dims) < least:
        call.refuse(f"the tensor must have at least {least} axes")
    place = call.axis(call.number("dim", 0), len(dims)) if place < 0 else place
    if call.given("indices") is not None:
        return along(dims, place, _between(call, dims[place], call.known_sizes("indices")))
    if call.given("sections") is None:
        reason = "not checked: the axis must be split where a tensor says"
        return list(call.unchecked(reason, is_about_data=call.is_data_in("tensor_indices_or_sections")))
    count = call.number("sections")
    call.at_most(1, count, "there must be at least one part")
    if kind != "tensor_split":
        return along(dims, place, joins.split_evenly(call, dims[place], count))
    # Part n of k has (size + k - 1 - n) // k: the first parts take the remainder.
    return along(dims, place, [floor_divide(add(dims[place], count - 1 - n), count) for n in range(count)])


def _between(call: TorchCall, size: Dim, places: Sequence[Dim]) -> list[Dim]:
    """Return the lengths of the parts of an axis before, between and after places, which are clamped as in slices."""
    ends = [0, *(from_front(call, size, place) for place in places), size]
    return [_length(call, size, first, last) for first, last in pairwise(ends)]


def _length(call: TorchCall, size: Dim, first: Dim, last: Dim) -> Dim:
    if call.bounds.is_at_least(first, 0) and call.bounds.is_at_most(first, last):
        return subtract(call.bounds.smaller(last, size), call.bounds.smaller(first, size))
    return cut(call, size, (first, last, 1))[1]


@operator("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
def loss(call: TorchCall) -> Value:
    """The loss of a tensor and its target, which are broadcast; it is a scalar unless nothing is reduced."""
    found = call.broadcast(call.dims("self"), call.dims("target"))
    return Value(() if call.number("reduction", 1) else found)


@operator("cosine_similarity")
def cosine(call: TorchCall) -> Value:
    """A similarity: the tensors are broadcast, and one axis is removed."""
    return _without(call, call.broadcast(call.dims("x1"), call.dims("x2")), call.number("dim", 1))


@operator("pairwise_distance")
def distance_of_each(call: TorchCall) -> Value:
    """A distance: the tensors are broadcast, and the last axis is removed."""
    return _without(call, call.broadcast(call.dims("x1"), call.dims("x2")), -1)


def _without(call: TorchCall, dims: Dims, axis: int) -> Value:
    (place,) = call.distinct_axes([axis], max(len(dims), 1), TWICE)
    return Value(reduce(call, dims, [place] if dims else (), keepdims=call.flag("keepdim")))


@operator("bilinear")
def bilinear(call: TorchCall) -> Value:
    """A bilinear form of two vectors per output; the leading axes must be equal."""
    left, right, weight, bias = (call.maybe_dims(n) for n in ("input1", "input2", "weight", "bias"))
    if left is None or right is None or weight is None or len(left) != len(right):
        call.refuse("both tensors must have the same number of axes")
    for one, other in zip(left[:-1], right[:-1], strict=True):
        call.equal(one, other, "the axes before the last must be equal")
    _fits(call, left[-1], weight[1])
    _fits(call, right[-1], weight[2])
    if bias is not None:
        call.equal(bias[0], weight[0], "the bias must have one number per output")
    return Value((*left[:-1], weight[0]))


def _fits(call: TorchCall, size: Dim, wanted: Dim) -> None:
    call.at_most(1, size, "there must be something to multiply")
    call.equal(size, wanted, "the weight must have the sizes of its operands")
