"""Losses that torch keeps as operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.values.intervals import interval_of
from symbcast.graphs.values.value import Value
from symbcast.torch.contents import indexed_by
from symbcast.torch.operators.elementwise import pointwise
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


def _loss(call: TorchCall, each: Dims) -> Value:
    return Value(() if call.number("reduction", 1) else each)


@operator("binary_cross_entropy")
def binary(call: TorchCall) -> Value:
    """The loss of each probability, with a target of the same sizes and a weight that is broadcast."""
    dims, target = call.dims("self"), call.dims("target")
    if target != dims:
        call.note("not checked: a target of other sizes also runs if they fit without the axes of size 1")
    call.same_shape(target, dims, "the target must have the sizes of the probabilities")
    weight = call.maybe_dims("weight")
    if weight is not None:
        call.broadcast(weight, dims, rule="unidirectional")
    return _loss(call, dims)


@operator("binary_cross_entropy_with_logits")
def binary_of_scores(call: TorchCall) -> Value:
    """The loss of each score; the scores and the weights are broadcast to the target."""
    target = call.dims("target")
    for name in ("self", "weight", "pos_weight"):
        dims = call.maybe_dims(name)
        if dims is not None:
            call.broadcast(dims, target, rule="unidirectional")
    return _loss(call, target)


@operator("poisson_nll_loss", "hinge_embedding_loss", "margin_ranking_loss")
def elementwise_loss(call: TorchCall) -> Value:
    """A loss computed element by element: all tensors are broadcast."""
    names = ("self", "input", "input1", "input2", "target")
    given = [dims for dims in map(call.maybe_dims, names) if dims is not None]
    return _loss(call, call.broadcast(*given))


@operator("soft_margin_loss")
def soft_margin(call: TorchCall) -> Value:
    """A loss of each element; the target is broadcast to the tensor."""
    dims = call.dims("self")
    call.broadcast(call.dims("target"), dims, rule="unidirectional")
    return _loss(call, dims)


@operator("triplet_margin_loss")
def triplet(call: TorchCall) -> Value:
    """A loss of the distances along the last axis between three tensors of the same rank."""
    given = [call.dims(name) for name in ("anchor", "positive", "negative")]
    if len({len(dims) for dims in given}) > 1:
        call.refuse("all tensors must have the same number of axes")
    near, far = (call.broadcast(given[0], other)[:-1] for other in given[1:])
    if call.flag("swap"):
        far = call.broadcast(far, call.broadcast(given[1], given[2])[:-1])
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
    if not dims:
        call.refuse("the scores must have an axis of classes")
    place = 0 if len(dims) == 1 else 1
    if len(target) != len(dims) or "float" not in call.dtype_of("target"):
        return _of_classes(call, dims, target)
    call.same_shape(target, dims, "probabilities must have the sizes of the scores")
    weight = call.maybe_dims("weight")
    if weight is not None:
        call.same_shape(weight, (dims[place],), "there must be one weight for each class")
    return _loss(call, (*dims[:place], *dims[place + 1 :]))


@operator("nll_loss_nd")
def negative_likelihood(call: TorchCall) -> Value:
    """The loss of log-probabilities (N, C, ...) for classes (N, ...)."""
    dims = call.dims("self")
    if not dims:
        call.refuse("the log-probabilities must have an axis of classes")
    return _of_classes(call, dims, call.dims("target"))


@operator("nll_loss", "nll_loss2d", "nll_loss_forward", "nll_loss2d_forward")
def negative_likelihood_of_rank(call: TorchCall) -> list[Value]:
    """The same for (N, C), (C,) or, in two dimensions, (N, C, H, W); the second output is the sum of the weights."""
    dims, is_plane = call.dims("self"), "2d" in call.node.op_type
    if len(dims) not in ((4,) if is_plane else (1, 2)):
        call.refuse("the log-probabilities have another number of axes")
    return [_of_classes(call, dims, call.dims("target")), Value(())][: len(call.node.outputs)]


def _of_classes(call: TorchCall, dims: Dims, target: Dims) -> Value:
    place = 0 if len(dims) == 1 else 1
    weight = call.maybe_dims("weight")
    if weight is not None:
        call.same_shape(weight, (dims[place],), "there must be one weight for each class")
    wanted = (*dims[:place], *dims[place + 1 :])
    if len(dims) == 1 and len(target) == 1:
        call.equal(target[0], 1, "there is one class for a vector of scores")
        target = ()
    if len(target) != len(wanted):
        call.refuse("the target must have the axes of the scores, without the classes")
    call.same_shape(target, wanted, "the target must have the sizes of the scores, without the classes")
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
        given = call.given(name)
        count = len(given) if isinstance(given, list) else multiply(*call.dims(name))
        call.equal(count, batch, "there must be one length for each sequence of the batch")
        if name != "input_lengths" or not _is_all(call, given, dims[0]):
            places = [n for n, value in enumerate(call.inputs) if value is given]
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
