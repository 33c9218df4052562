"""Single steps of recurrent layers, and the operators of bags, pools and pairs that models use with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, multiply, subtract
from symbcast.core.logic.formulas import all_of, any_of, at_most, equal
from symbcast.graphs.values.contents import Ramp
from symbcast.graphs.values.value import Value
from symbcast.torch.contents import indexed_by
from symbcast.torch.reading.held import Held
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall

_GATES = {"lstm": 4, "gru": 3, "rnn": 1}


@operator("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(call: TorchCall) -> list[Value]:
    """One step of a recurrent layer: an input (batch, features) and a state (batch, hidden)."""
    gates = _GATES[call.node.op_type.removeprefix("aten.").partition("_")[0]]
    dims, into, onto = (call.dims(name) for name in ("input", "w_ih", "w_hh"))
    given = call.given("hx")
    states = call.tensors("hx") if isinstance(given, list) else [call.dims("hx")]
    if any(len(d) != 2 for d in (dims, into, onto, *states)):
        call.refuse("the input, the states and the weights must have two axes")
    hidden = onto[1]
    call.equal(dims[1], into[1], "the input must have the features of the weights")
    for state in states:
        call.equal(state[0], dims[0], "the state must have the batch of the input")
        call.equal(state[1], hidden, "the state must have the hidden size of the weights")
    for weights in (into, onto):
        call.equal(weights[0], multiply(gates, hidden), f"the weights must have {gates} x hidden rows")
    for name in ("b_ih", "b_hh"):
        bias = call.maybe_dims(name)
        if bias is not None:
            call.broadcast(bias, (dims[0], into[0]), rule="unidirectional")
    return [Value((dims[0], hidden)) for _ in states]


@operator("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
def bagged(call: TorchCall) -> list[Value]:
    """The sums, means or maxima of rows (bags, features); the other outputs are for gradients."""
    weight, indices, offsets = (call.dims(name) for name in ("weight", "indices", "offsets"))
    if len(weight) != 2 or len(indices) not in (1, 2) or len(offsets) != 1:
        call.refuse("the weight must be a matrix, the offsets a vector, and the indices have one or two axes")
    scales = call.maybe_dims("per_sample_weights")
    if scales is not None:
        call.same_shape(scales, indices, "there must be one weight for each index")
    bags: Dim = offsets[0]
    if call.flag("include_last_offset"):
        call.at_most(1, bags, "there must be a last offset")
        bags = subtract(bags, 1)
    indexed_by(call, call.value_of("indices"), weight[0], (*indices, weight[1], bags))
    _check_offsets(call, offsets[0], indices[0])
    return [Value((bags, weight[1])), *map(Value, _for_gradients(call, bags, weight[1]))]


def _check_offsets(call: TorchCall, count: Dim, most: Dim) -> None:
    """Require that the first offset be 0, and the last at most the number of indices."""
    content = call.value_of("offsets").content
    if isinstance(content, Ramp) and call.bounds.is_at_least(content.strides[0], 0):
        last = add(content.start, multiply(content.strides[0], subtract(count, 1)))
        call.require(any_of([equal(count, 0), all_of([equal(content.start, 0), at_most(last, most)])]), _OFFSETS)
    elif call.is_known(equal(count, 0)) is not True:
        enough = equal(count, 0)
        call.note(f"not checked: {_OFFSETS}", is_about_data=call.is_data_in("offsets"), enough=enough)


_OFFSETS = "the first offset must be 0, and the last at most the number of indices"
_SUM, _MAX = 0, 2


def _for_gradients(call: TorchCall, bags: Dim, features: Dim) -> list[Dims]:
    """Return the shapes of the bag of each index, the sizes of bags, and the positions of maxima.

    For sums, torch's fast path leaves out the first, and keeps all offsets unless the weight requires a gradient.
    """
    weight, indices, offsets = call.value_of("weight"), call.dims("indices"), call.dims("offsets")
    mode = call.number("mode", 0)
    if mode != _SUM:
        return [(indices[0],), (bags,), (bags, features) if mode == _MAX else (bags,)]
    owner = call.count(indices[0], text="the number of bags that are kept for gradients")
    if not call.flag("include_last_offset"):
        return [(owner,), (bags,), (bags,)]
    if isinstance(weight, Held):
        kept = bags if weight.raw.requires_grad and not call.node.op_type.endswith("only") else offsets[0]
    else:
        kept = call.fresh("kept", "the number of bags, or of offsets, that are kept for gradients", by=())
    return [(owner,), (kept,), (kept,)]


@operator("max_unpool2d", "max_unpool3d")
def unpooled(call: TorchCall) -> Value:
    """Maxima put back at their indices in an image of a given size."""
    count = int(call.node.op_type[-2])
    dims, sizes = call.dims("self"), call.known_sizes("output_size")
    if len(dims) not in (count + 1, count + 2) or len(sizes) != count:
        call.refuse(f"the input must have {count + 1} or {count + 2} axes, and the output {count} sizes")
    call.same_shape(call.dims("indices"), dims, "there must be one index for each element")
    for size in dims[1:]:
        call.at_most(1, size, "only the first axis may be empty")
    kept = dims[: len(dims) - count]
    for size in sizes:
        call.is_size(size, "a size must not be negative")
    call.note("not checked: the indices must lie within the image", is_about_data=call.is_data_in("indices"))
    return Value((*kept, *sizes))


@operator("pdist", "_pdist_forward")
def pairwise(call: TorchCall) -> Value:
    """The distances of all pairs of rows."""
    dims = call.dims("self")
    if len(dims) != 2:
        call.refuse("the tensor must be a matrix")
    return Value((pairs_of(dims[0]),))


def pairs_of(size: Dim) -> Dim:
    """Return how many pairs of different elements there are."""
    return floor_divide(multiply(size, subtract(size, 1)), 2)


@operator("pad_sequence")
def padded_sequences(call: TorchCall) -> Value:
    """Sequences of different lengths as one tensor, as long as the longest."""
    shapes = call.tensors("sequences")
    if not shapes:
        call.refuse("there must be a sequence")
    if any(not s or len(s) != len(shapes[0]) for s in shapes):
        call.refuse("the sequences must have the same number of axes, at least one")
    rest: Dims = shapes[0][1:]
    for shape in shapes[1:]:
        call.broadcast(shape[1:], rest, rule="unidirectional")
    length = shapes[0][0] if len(shapes) == 1 else maximum([s[0] for s in shapes])
    lead = (len(shapes), length) if call.flag("batch_first") else (length, len(shapes))
    return Value((*lead, *rest))
