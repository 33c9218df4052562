"""The layers of networks: products, normalisation, attention, recurrent layers and their single steps."""

from __future__ import annotations

from itertools import starmap

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, multiply, subtract
from symbcast.core.algebra.formulas import all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators import layers
from symbcast.operators.layers import GATES, STATES, RecurrentLayer, RecurrentLayout
from symbcast.operators.operator import Dims, OptionalOperand
from symbcast.operators.products import einsum, inner_product, matmul
from symbcast.operators.values.contents import IndexRamp
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator, shape_of_value
from symbcast.torch.contents import indexed_by
from symbcast.torch.graph import StoredTorchTensor

_SAME = "the sizes must be equal: this operator does not broadcast"


@operator("matmul", "linalg_matmul", "__matmul__")
def multiplied(call: TorchCall) -> Value:
    """A product of stacks of matrices, as in NumPy."""
    return Value(matmul(call, call.dims("self"), call.dims("other")))


_RANKS = {"mm": (2, 2), "bmm": (3, 3), "dot": (1, 1), "vdot": (1, 1), "mv": (2, 1), "addmm": (2, 2), "addmv": (2, 1)}
_RANKS |= {"baddbmm": (3, 3), "addbmm": (3, 3), "_addmm_activation": (2, 2), "_int_mm": (2, 2)}


@operator("mm", "bmm", "dot", "mv", "vdot", "_int_mm")
def plain(call: TorchCall) -> Value:
    """A product of matrices or vectors of fixed ranks; stacks must have equal sizes."""
    return Value(_product(call, call.dims("self"), call.dims("mat2", "vec2", "vec", "tensor", "other")))


def _product(call: TorchCall, left: Dims, right: Dims) -> Dims:
    ranks = _RANKS[call.node.op_type.removeprefix("aten.").rstrip("_")]
    if (len(left), len(right)) != ranks:
        call.refuse(f"the operands must have {ranks[0]} and {ranks[1]} axes")
    if len(left) == 3:
        call.equal(left[0], right[0], _SAME)
        inner_product(call, left[2], right[1])
        return left[0], left[1], right[2]
    return matmul(call, left, right)


@operator("inner")
def inner(call: TorchCall) -> Value:
    """The inner product over the last axes; a scalar scales the other tensor."""
    left, right = call.dims("self"), call.dims("other")
    if not left or not right:
        return Value((*left, *right))  # a scalar scales the other tensor
    call.equal(left[-1], right[-1], "the last sizes must be equal")
    return Value((*left[:-1], *right[:-1]))


@operator("addmm", "baddbmm", "addmv", "addbmm", "addbmm_", "_addmm_activation")
def added(call: TorchCall) -> Value:
    """The sum of a product and a tensor that is broadcast to it."""
    names = ("mat1", "batch1", "mat"), ("mat2", "batch2", "vec")
    product = _product(call, call.dims(*names[0]), call.dims(*names[1]))
    product = product[1:] if call.node.op_type.startswith("aten.addbmm") else product
    added = call.dims("self")
    call.broadcast(added, product, rule="unidirectional")
    if call.node.op_type == "aten.addmv":  # without products, torch scales what is added and does not broadcast it
        return Value(call.unless(call.empty(call.dims("mat")), added, lambda: product))
    return Value(product)


@operator("outer", "ger")
def outer(call: TorchCall) -> Value:
    """All products of the elements of two vectors."""
    left, right = call.dims("self"), call.dims("vec2")
    call.refuse_if((len(left), len(right)) != (1, 1), "the operands must be vectors")
    return Value((*left, *right))


@operator("linear")
def linear(call: TorchCall) -> Value:
    """The product of the last axis with weights (out, in), plus a bias (out,)."""
    dims, weights = call.dims("input"), call.dims("weight")
    call.refuse_if(not dims or len(weights) not in (1, 2), "the input must have an axis, and the weights two")
    call.equal(dims[-1], weights[-1], "the last size must equal that of the weights")
    output = (*dims[:-1], *weights[:-1])
    call.expand_to(output, "bias")
    return Value(output)


@operator("einsum")
def summed(call: TorchCall) -> Value:
    """An Einstein summation."""
    return Value(einsum(call, str(call.argument("equation")), call.tensors("tensors"), aligns_ellipses=True))


@operator("layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm")
def normalised(call: TorchCall) -> list[Value]:
    """A normalisation of the last axes, which must equal the given shape; the statistics have size 1 there."""
    dims, last = call.dims("input"), tuple(call.known_sizes("normalized_shape"))
    first = len(dims) - len(last)
    if first < 0 or not last:
        call.refuse("there must be at least one normalised axis, and at most as many as the tensor has")
    call.same_shape(dims[first:], last, "the last sizes must equal the normalised shape")
    statistics = layers.layer_norm(call, (*dims[:first], *last), first, _parameters(call, "weight", "bias"))
    return [Value(dims), Value(statistics), Value(statistics)][: len(call.node.outputs)]


@operator("group_norm", "native_group_norm")
def grouped(call: TorchCall) -> list[Value]:
    """A normalisation in equal groups of channels; weights and bias have one number per channel."""
    dims = call.dims("input")
    groups = call.number("num_groups" if call.argument("num_groups") is not None else "group")
    layers.check_channels(call, dims)
    call.at_most(1, groups, "there must be at least one group")
    layers.group_norm(call, dims[1], groups, _parameters(call, "weight", "bias"))
    batch = call.size("N", dims[0])
    assert batch is not None
    fits = any_of([equal(batch, dims[0]), call.empty(dims[1:])])  # torch compares the numbers of elements
    call.require(fits, "the batch must equal that of the input")
    return [Value(dims), *[Value((batch, groups))] * 2][: len(call.node.outputs)]


@operator("batch_norm")
def batch_normalised(call: TorchCall) -> Value:
    """A normalisation; weights, bias, mean and variance have one number per channel, unless the input is empty."""
    dims = call.dims("input")
    none = call.empty(dims)
    for name in ("weight", "bias"):
        _at_least_one(call, f"the {name}", call.maybe_dims(name))
    if len(dims) < 2:
        call.require(none, "the input must have a batch and channels")
        return Value(dims)
    if not call.flag("training") and (call.argument("running_mean") is None or call.argument("running_var") is None):
        call.require(none, "without training there must be a mean and a variance")
    layers.per_channel(call, dims[1], _parameters(call, *_STATISTICS), unless=none)
    return Value(dims)


@operator("instance_norm")
def instance_normalised(call: TorchCall) -> Value:
    """A normalisation of each channel of each batch, by `batch_normalised` with both on one axis."""
    dims, is_own = call.dims("input"), call.flag("use_input_stats")
    layers.check_channels(call, dims)
    none = call.empty(dims)
    parameters = _parameters(call, *_STATISTICS)
    missing = [name for name in _STATISTICS[2:] if call.argument(name) is None]
    call.refuse_if(missing and not is_own, "without statistics of the input there must be a mean and a variance")
    if len(missing) == 1:
        call.require(none, "there must be both a mean and a variance, or none")
    for what, shape in parameters.items():
        if shape is None:
            continue
        if "running" not in what:
            call.at_most(1, dims[0], f"{what} must not be empty when it is repeated for each batch")
            _at_least_one(call, what, shape)
        elif is_own and len(shape) == 1:  # torch writes the mean over batches to it
            repeated = any_of([equal(shape[0], dims[1]), all_of([equal(dims[0], 0), equal(dims[1], 1)])])
            call.require(repeated, f"{what} must have one number per channel")
    layers.per_channel(call, dims[1], parameters, unless=none)
    return Value(dims)


@operator(
    "native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
    "_native_batch_norm_legit_functional", "_batch_norm_with_update", "_batch_norm_with_update_functional",
    "_batch_norm_no_update",
)  # fmt: skip
def normalised_unchecked(call: TorchCall) -> list[Value]:
    """Like `batch_normalised`, but nothing is checked by torch."""
    dims, count = call.dims("input"), len(call.node.outputs)
    layers.check_channels(call, dims)
    has_statistics = [call.argument(n) is not None for n in ("running_mean", "running_var")]
    own = call.flag("training") or call.node.op_type.endswith("_functional")
    if has_statistics[0] != has_statistics[1] or (not own and not all(has_statistics)):
        call.refuse("there must be a mean and a variance")
    is_training = call.flag("training") or "_with_update" in call.node.op_type
    call.filled(dims if is_training else (), "there must be elements to train with")
    # Torch reads out of bounds if the lengths differ, and sometimes crashes the process.
    layers.per_channel(call, dims[1], _parameters(call, *_STATISTICS))
    statistics = Value((dims[1],))
    outputs = [Value(dims), *[statistics if is_training else Value((0,))] * 2]
    if "_batch_norm_with_update" in call.node.op_type or call.node.op_type.endswith("no_update"):
        outputs.append(Value((0,)))
    return [*outputs, statistics, statistics][:count]


def _at_least_one(call: TorchCall, what: str, dims: Dims | None) -> None:
    if dims:  # torch reads the first number even if the input is empty
        call.at_most(1, dims[0], f"{what} must not be empty")


_STATISTICS = ("weight", "bias", "running_mean", "running_var")


def _parameters(call: TorchCall, *names: str) -> dict[str, Dims | None]:
    return {f"the {name.replace('_', ' ')}": call.maybe_dims(name) for name in names}


@operator("transformers.grouped_mm_fallback")
def multiplied_by_group(call: TorchCall) -> Value:
    """Rows (S, K), sorted by group, each multiplied by the matrix of its group (G, K, N)."""
    rows, weights, ends = call.dims("input"), call.dims("weight"), call.dims("offs")
    if (len(rows), len(weights), len(ends)) != (2, 3, 1):
        call.refuse("the rows must have two axes, the weights three, and the ends of the groups one")
    call.equal(ends[0], weights[0], "each group must have an end")
    call.equal(rows[1], weights[1], "the rows must have the sizes of the weights")
    return Value((rows[0], weights[2]))


@operator("glu")
def gated(call: TorchCall) -> Value:
    """One half of an axis, gated by the other half."""
    dims = call.dims("self")
    place = call.axis(call.number("dim", -1), len(dims))
    half = call.divide(dims[place], 2, "the size must be even, because the axis is halved")
    return Value(tuple(half if n == place else d for n, d in enumerate(dims)))


@operator("kron")
def kronecker(call: TorchCall) -> Value:
    """All products of two tensors, block by block."""
    left, right = call.dims("self"), call.dims("other")
    rank = max(len(left), len(right))
    a, b = (((1,) * (rank - len(s))) + s for s in (left, right))
    return Value(tuple(multiply(x, y) for x, y in zip(a, b, strict=True)))


# Attention and recurrent layers.


@operator(
    "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math"
)
def attended(call: TorchCall) -> list[Value]:
    """Attention of (..., L, E), (..., S, E) and (..., S, V) as (..., L, V); a mask broadcasts to (..., L, S)."""
    query, key, value = (call.dims(n) for n in ("query", "key", "value"))
    call.refuse_if(min(len(query), len(key), len(value)) < 2, "queries, keys and values must have at least two axes")
    if call.node.op_type != "aten.scaled_dot_product_attention":
        return _attended(call, query, key, value)
    # Without queries or values, the public operator leaves early: it returns zeros and looks at nothing else.
    early = (*query[:-1], value[-1])
    empty = call.empty((query[-2], *value))
    return [Value(call.unless(empty, early, lambda: shape_of_value(_attended(call, query, key, value)[0])))]


def _attended(call: TorchCall, query: Dims, key: Dims, value: Dims) -> list[Value]:
    if call.node.op_type.endswith("_for_cpu"):
        _fit_kernel(call, query, key, value)
    output = layers.attend(
        call, query, key, value, layers.grouped_stack if call.flag("enable_gqa") else layers.broadcast_stack
    )
    mask = call.maybe_dims("attn_mask")
    if mask is not None:
        if len(mask) not in (2, 4) and len(query) == 4 and not call.node.op_type.endswith("_math"):
            call.note("whether a mask of this rank is accepted depends on the kernel that torch chooses")
        call.broadcast(mask, (*output[:-1], key[-2]), rule="unidirectional")
    weights = output[:-1]
    if call.node.op_type.endswith("_math"):
        scored = query[:-2] if call.flag("enable_gqa") else call.broadcast(query[:-2], key[:-2])
        weights = (*scored, query[-2], key[-2])
    return [Value(output), Value(weights)][: len(call.node.outputs)]


def _fit_kernel(call: TorchCall, query: Dims, key: Dims, value: Dims) -> None:
    # The CPU kernel assumes these without a check, and crashes the process where they do not hold.
    call.refuse_if(not len(query) == len(key) == len(value) == 4, "queries, keys and values must have four axes")
    for other in (key, value):
        call.same_shape((*other[:2], other[3]), (*query[:2], query[3]), "the heads and their lengths must be the same")
    call.filled((*query[:3], key[2]), "there must be batches, heads, queries and keys")


@operator("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent_layers(call: TorchCall) -> list[Value]:
    """Recurrent layers; each has a state and weights for each direction."""
    dims, weights = call.dims("input", "data"), call.tensors("params")
    if call.argument("batch_sizes") is not None or not weights or len(dims) != 3:
        return list(call.unchecked("not checked: packed sequences and sequences without a batch"))
    initial = call.argument("hx")
    states = [shape_of_value(s) for s in initial] if isinstance(initial, list) else [call.dims("hx")]
    call.refuse_if(any(len(state) != 3 for state in states), "a state must have three axes")
    # The fused kernel does not check whether the other weights fit.
    layer = _layer(call, dims, weights[1])
    call.at_most(1, layer.length, "there must be at least one time step")
    call.equal(dims[-1], weights[0][-1], "the last size must equal that of the weights")
    # Only an LSTM refuses states with a batch of 1.
    if layer.kind != "LSTM":
        (batch,) = call.broadcast((layer.batch,), (states[0][1],), rule="unidirectional")
        layer = layer._replace(batch=batch)
    operands = zip(("hx", "cx"), states, strict=False)
    outputs = layers.recurrent(call, layer, dict(zip(STATES, starmap(OptionalOperand, operands), strict=False)))
    return [Value(shape) for shape in outputs]


def _layer(call: TorchCall, dims: Dims, weights: Dims) -> RecurrentLayer:
    """Return the stacked layers for weights (gates * hidden, state)."""
    kind = call.node.op_type.removeprefix("aten.").partition("_")[0].upper()
    axes = "NT" if call.flag("batch_first") else "TN"
    sizes = dict(zip(axes, dims, strict=False))
    return RecurrentLayer(
        kind,
        RecurrentLayout(axes, "DN", axes, "RC"),
        sizes["N"],
        dims[-1],
        floor_divide(weights[0], GATES[kind]),
        sizes["T"],
        2 if call.flag("bidirectional") else 1,
        call.number("num_layers"),
        projection=weights[1],
    )


# Single steps of recurrent layers, and the operators of bags, pools and pairs that models use with them.


@operator("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(call: TorchCall) -> list[Value]:
    """One step of a recurrent layer: an input (batch, features) and a state (batch, hidden)."""
    gates = GATES[call.node.op_type.removeprefix("aten.").partition("_")[0].upper()]
    dims, into, onto = (call.dims(name) for name in ("input", "w_ih", "w_hh"))
    initial = call.argument("hx")
    states = call.tensors("hx") if isinstance(initial, list) else [call.dims("hx")]
    if any(len(d) != 2 for d in (dims, into, onto, *states)):
        call.refuse("the input, the states and the weights must have two axes")
    hidden = onto[1]
    call.equal(dims[1], into[1], "the input must have the features of the weights")
    for state in states:
        call.equal(state[0], dims[0], "the state must have the batch of the input")
        call.equal(state[1], hidden, "the state must have the hidden size of the weights")
    for weights in (into, onto):
        call.equal(weights[0], multiply(gates, hidden), f"the weights must have {gates} x hidden rows")
    call.expand_to((dims[0], into[0]), "b_ih", "b_hh")
    return [Value((dims[0], hidden)) for _ in states]


@operator("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
def bagged(call: TorchCall) -> list[Value]:
    """The sums, means or maxima of rows (bags, features); the other outputs are for gradients."""
    weight, indices, offsets = (call.dims(name) for name in ("weight", "indices", "offsets"))
    if len(weight) != 2 or len(indices) not in (1, 2) or len(offsets) != 1:
        call.refuse("the weight must be a matrix, the offsets a vector, and the indices have one or two axes")
    call.same_shape_if_given("per_sample_weights", indices, "there must be one weight for each index")
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
    if isinstance(content, IndexRamp) and call.bounds.is_at_least(content.strides[0], 0):
        last = add(content.start, multiply(content.strides[0], subtract(count, 1)))
        call.require(any_of([equal(count, 0), all_of([equal(content.start, 0), at_most(last, most)])]), _OFFSETS)
    elif call.is_known(equal(count, 0)) is not True:
        enough = equal(count, 0)
        call.note(f"not checked: {_OFFSETS}", is_about_data=call.is_data_in("offsets"), enough=enough)


_OFFSETS = "the first offset must be 0, and the last at most the number of indices"
_SUM, _MAX = 0, 2


def _for_gradients(call: TorchCall, bags: Dim, features: Dim) -> list[Dims]:
    """Return the shapes of the bag of each index, the sizes of bags, and the positions of maxima."""
    weight, indices, offsets = call.value_of("weight"), call.dims("indices"), call.dims("offsets")
    mode = call.number("mode", 0)
    if mode != _SUM:
        return [(indices[0],), (bags,), (bags, features) if mode == _MAX else (bags,)]
    # For sums, torch's fast path leaves out the bag of each index, and keeps all offsets unless the weight requires a
    # gradient.
    owner = call.count(indices[0], text="the number of bags that are kept for gradients")
    if not call.flag("include_last_offset"):
        return [(owner,), (bags,), (bags,)]
    if isinstance(weight, StoredTorchTensor):
        count = bags if weight.raw.requires_grad and not call.node.op_type.endswith("only") else offsets[0]
    else:
        count = call.fresh("kept", "the number of bags, or of offsets, that are kept for gradients", by=())
    return [(owner,), (count,), (count,)]


@operator("max_unpool2d", "max_unpool3d")
def unpooled(call: TorchCall) -> Value:
    """Maxima put back at their indices in an image of a given size."""
    count = int(call.node.op_type[-2])
    dims, sizes = call.dims("self"), call.known_sizes("output_size")
    if len(dims) not in (count + 1, count + 2) or len(sizes) != count:
        call.refuse(f"the input must have {count + 1} or {count + 2} axes, and the output {count} sizes")
    call.same_shape(call.dims("indices"), dims, "there must be one index for each element")
    call.filled(dims[1:], "only the first axis may be empty")
    outer = dims[: len(dims) - count]
    call.are_sizes(sizes, "a size must not be negative")
    call.note("not checked: the indices must lie within the image", is_about_data=call.is_data_in("indices"))
    return Value((*outer, *sizes))


@operator("pdist", "_pdist_forward")
def pairwise(call: TorchCall) -> Value:
    """The distances of all pairs of rows."""
    dims = call.dims("self")
    call.refuse_if(len(dims) != 2, "the tensor must be a matrix")
    return Value((floor_divide(multiply(dims[0], subtract(dims[0], 1)), 2),))


@operator("pad_sequence")
def padded_sequences(call: TorchCall) -> Value:
    """Sequences of different lengths as one tensor, as long as the longest."""
    shapes = call.tensors("sequences")
    call.refuse_if(not shapes, "there must be a sequence")
    if any(not s or len(s) != len(shapes[0]) for s in shapes):
        call.refuse("the sequences must have the same number of axes, at least one")
    rest: Dims = shapes[0][1:]
    for shape in shapes[1:]:
        call.broadcast(shape[1:], rest, rule="unidirectional")
    length = shapes[0][0] if len(shapes) == 1 else maximum([s[0] for s in shapes])
    lead = (len(shapes), length) if call.flag("batch_first") else (length, len(shapes))
    return Value((*lead, *rest))
