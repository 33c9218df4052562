"""Losses, distances and other operators that torch builds from others but keeps in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply, subtract
from symbcast.core.algebra.terms import Dim
from symbcast.operators import joining_and_slicing
from symbcast.operators.joining_and_slicing import cut, from_front
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.products import reduce
from symbcast.operators.values.intervals import interval_of
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator
from symbcast.torch.contents import indexed_by
from symbcast.torch.operators.elementwise import pointwise
from symbcast.torch.operators.layout import along, joined


def _loss(call: TorchCall, each: Dims) -> Value:
    return Value(() if call.number("reduction", 1) else each)


@operator("binary_cross_entropy")
def binary(call: TorchCall) -> Value:
    """The loss of each probability, with a target of the same sizes and a weight that is broadcast."""
    dims, target = call.dims("self"), call.dims("target")
    if target != dims:
        call.note("not checked: a target of other sizes also runs if they fit without the axes of size 1")
    call.same_shape(target, dims, "the target must have the sizes of the probabilities")
    call.expand_to(dims, "weight")
    return _loss(call, dims)


@operator("binary_cross_entropy_with_logits")
def binary_of_scores(call: TorchCall) -> Value:
    """The loss of each score; the scores and the weights are broadcast to the target."""
    target = call.dims("target")
    call.expand_to(target, "self", "weight", "pos_weight")
    return _loss(call, target)


@operator("poisson_nll_loss", "hinge_embedding_loss", "margin_ranking_loss")
def elementwise_loss(call: TorchCall) -> Value:
    """A loss computed element by element: all tensors are broadcast."""
    names = ("self", "input", "input1", "input2", "target")
    shapes = [dims for dims in map(call.maybe_dims, names) if dims is not None]
    return _loss(call, call.broadcast(*shapes))


@operator("soft_margin_loss")
def soft_margin(call: TorchCall) -> Value:
    """A loss of each element; the target is broadcast to the tensor."""
    dims = call.dims("self")
    call.broadcast(call.dims("target"), dims, rule="unidirectional")
    return _loss(call, dims)


@operator("triplet_margin_loss")
def triplet(call: TorchCall) -> Value:
    """A loss of the distances along the last axis between three tensors of the same rank."""
    shapes = [call.dims(name) for name in ("anchor", "positive", "negative")]
    call.refuse_if(len({len(dims) for dims in shapes}) > 1, "all tensors must have the same number of axes")
    near, far = (call.broadcast(shapes[0], other)[:-1] for other in shapes[1:])
    if call.flag("swap"):
        far = call.broadcast(far, call.broadcast(shapes[1], shapes[2])[:-1])
    return _loss(call, call.broadcast(near, far))


@operator("cosine_embedding_loss")
def cosine_embedding(call: TorchCall) -> Value:
    """A loss of the similarity of two vectors, or of the rows of two matrices."""
    left, right, target = (call.dims(name) for name in ("input1", "input2", "target"))
    if len(target) > 1 or len(left) != len(target) + 1 or len(right) != len(target) + 1:
        call.refuse("the target must have one axis less than both inputs, and at most one")
    return _loss(call, call.broadcast(call.broadcast(left, right)[: len(target)], target))


@operator("cross_entropy_loss")
def cross_entropy(call: TorchCall) -> Value:
    """The loss of scores (N, C, ...) for classes (N, ...), or for probabilities of the same shape."""
    dims, target = call.dims("self"), call.dims("target")
    call.refuse_if(not dims, "the scores must have an axis of classes")
    place = 0 if len(dims) == 1 else 1
    if len(target) != len(dims) or "float" not in call.dtype_of("target"):
        return _of_classes(call, dims, target)
    call.same_shape(target, dims, "probabilities must have the sizes of the scores")
    call.same_shape_if_given("weight", (dims[place],), "there must be one weight for each class")
    return _loss(call, (*dims[:place], *dims[place + 1 :]))


@operator("nll_loss_nd")
def negative_likelihood(call: TorchCall) -> Value:
    """The loss of log-probabilities (N, C, ...) for classes (N, ...)."""
    dims = call.dims("self")
    call.refuse_if(not dims, "the log-probabilities must have an axis of classes")
    return _of_classes(call, dims, call.dims("target"))


@operator("nll_loss", "nll_loss2d", "nll_loss_forward", "nll_loss2d_forward")
def negative_likelihood_of_rank(call: TorchCall) -> list[Value]:
    """The same for (N, C), (C,) or, in two dimensions, (N, C, H, W); the second output is the sum of the weights."""
    dims, is_plane = call.dims("self"), "2d" in call.node.op_type
    call.refuse_if(len(dims) not in ((4,) if is_plane else (1, 2)), "the log-probabilities have another number of axes")
    return [_of_classes(call, dims, call.dims("target")), Value(())][: len(call.node.outputs)]


def _of_classes(call: TorchCall, dims: Dims, target: Dims) -> Value:
    place = 0 if len(dims) == 1 else 1
    call.same_shape_if_given("weight", (dims[place],), "there must be one weight for each class")
    expected = (*dims[:place], *dims[place + 1 :])
    # For a vector of scores torch takes a scalar, or a vector of one class.
    if len(dims) == 1 and len(target) == 1:
        call.equal(target[0], 1, "there is one class for a vector of scores")
        target = ()
    call.refuse_if(len(target) != len(expected), "the target must have the axes of the scores, without the classes")
    call.same_shape(target, expected, "the target must have the sizes of the scores, without the classes")
    indexed_by(call, call.value_of("target"), dims[place], call.dims("target"))
    return _loss(call, target)


@operator("ctc_loss")
def connectionist(call: TorchCall) -> Value:
    """The loss of scores (time, N, C) for sequences of letters, (N, length) or joined in one vector."""
    dims, targets = call.dims("log_probs"), call.dims("targets")
    if len(dims) not in (2, 3) or len(targets) not in (1, 2):
        call.refuse("the scores must have two or three axes, and the letters one or two")
    batch = dims[1] if len(dims) == 3 else 1
    if len(dims) == 3 and len(targets) == 2:
        call.equal(targets[0], batch, "there must be letters for each sequence of the batch")
    for name in ("input_lengths", "target_lengths"):
        lengths = call.argument(name)
        count = len(lengths) if isinstance(lengths, list) else multiply(*call.dims(name))
        call.equal(count, batch, "there must be one length for each sequence of the batch")
        if name != "input_lengths" or not _is_all(call, lengths, dims[0]):
            places = [n for n, value in enumerate(call.inputs) if value is lengths]
            call.note(f"not checked: {name} must fit the sequences", is_about_data=bool(places), by=places)
    return Value(() if call.number("reduction", 1) or len(dims) == 2 else (batch,))


def _is_all(call: TorchCall, lengths: object, time: Dim) -> bool:
    """Return whether lengths are known to be the whole time."""
    if not isinstance(lengths, Value):
        return False
    known = interval_of(lengths, call.bounds)
    return known.high is not None and call.bounds.is_at_most(known.high, time)


@operator("isclose", "complex", "polar")
def compared(call: TorchCall) -> Value:
    """An elementwise operator that torch does not tag as pointwise: all tensors are broadcast."""
    return pointwise(call)


# Operators that torch builds from others but keeps in the graph: stacks of any rank, losses, distances.


def _at_least(rank: int, dims: Dims) -> Dims:
    """Return a shape with at least ``rank`` axes: a vector becomes a row, a matrix gets a last axis of size 1."""
    if rank == 3 and 0 < len(dims) < 3:
        return (1, *dims, 1) if len(dims) == 1 else (*dims, 1)
    return (*((1,) * (rank - len(dims))), *dims)


@operator("atleast_1d", "atleast_2d", "atleast_3d")
def at_least(call: TorchCall) -> Value | list[Value]:
    """Each tensor with at least a given number of axes."""
    rank = int(call.node.op_type[-2])
    if call.argument("tensors") is not None:
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
    call.refuse_if(any(len(dims) > 2 for dims in shapes), "there must be at most two axes")
    if not shapes:
        return Value((1, 0))
    rows, columns = zip(*(_at_least(2, dims) for dims in shapes), strict=True)
    return Value((add(*rows), add(*columns)))


@operator("broadcast_tensors")
def broadcast_together(call: TorchCall) -> list[Value]:
    """All tensors broadcast to one shape."""
    shapes = call.tensors("tensors")
    output = call.broadcast(*shapes) if len(shapes) > 1 else shapes[0]
    return [Value(output)] * len(call.node.outputs)


@operator("tensor_split", "hsplit", "vsplit", "dsplit")
def split_evenly(call: TorchCall) -> list[Value]:
    """An axis split into a given number of parts: equal ones, or differing by at most 1 for ``tensor_split``."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.")
    least, place = {"hsplit": (1, min(1, len(dims) - 1)), "vsplit": (2, 0), "dsplit": (3, 2)}.get(kind, (1, -1))
    call.refuse_if(len(dims) < least, f"the tensor must have at least {least} axes")
    place = call.axis(call.number("dim", 0), len(dims)) if place < 0 else place
    if call.argument("indices") is not None:
        return along(dims, place, _between(call, dims[place], call.known_sizes("indices")))
    if call.argument("sections") is None:
        reason = "not checked: the axis must be split where a tensor says"
        return list(call.unchecked(reason, is_about_data=call.is_data_in("tensor_indices_or_sections")))
    count = call.number("sections")
    call.at_most(1, count, "there must be at least one part")
    if kind != "tensor_split":
        return along(dims, place, joining_and_slicing.split_evenly(call, dims[place], count))
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


@operator("multilabel_margin_loss", "multilabel_margin_loss_forward")
def of_labels(call: TorchCall) -> list[Value]:
    """The loss of scores (N, C) or (C,) and the labels of each row, and which scores these are."""
    dims, target = call.dims("self"), call.dims("target")
    call.refuse_if(len(dims) > 2 or len(target) > 2, "there must be at most a batch and classes")
    call.filled(dims[-1:], "there must be a class")
    if len(dims) == 2:
        call.same_shape(target, dims, "there must be a label for each score")
    else:
        call.refuse_if(len(target) == 2, "the labels must be a vector")
        call.equal(multiply(*target), multiply(*dims), "there must be a label for each score")
    is_reduced = call.number("reduction", 1) != 0
    return [Value(() if is_reduced else dims[:-1]), Value(target)][: len(call.node.outputs)]


@operator("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
def loss(call: TorchCall) -> Value:
    """The loss of a tensor and its target, which are broadcast; it is a scalar unless nothing is reduced."""
    return _loss(call, call.broadcast(call.dims("self"), call.dims("target")))


@operator("cosine_similarity", "pairwise_distance", "linalg_vecdot")
def similarity(call: TorchCall) -> Value:
    """A similarity, distance or product: the tensors are broadcast, and one axis is removed, by default the last."""
    dims = call.broadcast(call.dims("x1", "x"), call.dims("x2", "y"))
    (place,) = call.distinct_axes([call.number("dim", -1)], max(len(dims), 1), TWICE)
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


def _fits(call: TorchCall, size: Dim, expected: Dim) -> None:
    call.at_most(1, size, "there must be something to multiply")
    call.equal(size, expected, "the weight must have the sizes of its operands")
