"""Attention, recurrent layers, and the state that they carry from one call to the next."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply
from symbcast.core.algebra.formulas import any_of, at_most
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, known_rank, known_shape
from symbcast.graphs.walking.unknown_ranks import reaches_ranks
from symbcast.onnx.operators.declarations import MICROSOFT, RuntimeDifference, crashes, operator
from symbcast.onnx.reference import infer
from symbcast.operators import layers
from symbcast.operators.layers import GATES, RecurrentLayer, RecurrentLayout, Role
from symbcast.operators.operator import Dims, OptionalOperand
from symbcast.operators.values.contents import is_size
from symbcast.operators.values.value import Value

_MASK, _PAST_KEY, _LENGTHS = 3, 4, 6


ATTENTION_EMPTY = RuntimeDifference("Attention", "refuses Q, K and V that are empty", "requires nothing")


@operator("Attention")
def attention(call: NodeCall) -> Sequence[Value]:
    """Attention output, updated key and value caches, and scores."""
    rank = len(call.rank(0, (3, 4), "Q"))
    query = _operand(call, 0, "Q", "q_num_heads", rank)
    key = _operand(call, 1, "K", "kv_num_heads", rank)
    value = _operand(call, 2, "V", "kv_num_heads", rank)
    output = layers.attend(call, query, key, value, layers.equal_stack)
    # All sizes are now written as those of Q and K where they must be equal.
    key, value = (query[0], *key[1:3], query[3]), (query[0], *key[1:3], value[3])
    if call.does(ATTENTION_EMPTY):
        call.filled((*query, key[1], key[2], value[3]), "ONNX Runtime needs Q, K and V that are not empty")
    _check_attributes(call)
    before = past_length(call, _PAST_KEY, key, value)
    expect(call, _LENGTHS, "nonpad_kv_seqlen", (query[0],))
    if call.has(_LENGTHS):
        call.note("not checked: no number of nonpad_kv_seqlen may be above the length")
    scores = (*query[:3], add(before, key[2]))
    _check_mask(call, scores)
    if rank == 3:
        # Back to (batch, length, heads * width), as the operands have it.
        output = (output[0], output[2], multiply(output[1], output[3]))
    caches = [Value(layers.present(dims, before), call.dtype(n)) for n, dims in ((1, key), (2, value))]
    return [Value(output, call.dtype()), *caches, Value(scores, call.dtype())]


def past_length(call: NodeCall, position: int, key: Dims, value: Dims) -> Dim:
    """Return how many keys the caches at ``position`` and the next input hold; 0 without caches."""
    if call.has(position) != call.has(position + 1):
        call.refuse("there must be both past_key and past_value, or neither")
    if not call.has(position):
        return 0
    caches = known_shape(call, position, "past_key"), known_shape(call, position + 1, "past_value")
    before = layers.cached(call, caches, key, value)
    return call.fresh("past", "the number of earlier keys") if before is None else before


_WINDOWS = ("left_window_size", "right_window_size")
_SCORES, _SCORES_OF = 3, range(4)


# "scale must be greater than 0 if specified".
ATTENTION_SCALE = RuntimeDifference("Attention", "requires a scale above 0, before opset 25", "requires nothing")


def _check_attributes(call: NodeCall) -> None:
    for name in _WINDOWS:
        call.refuse_if(call.integer(name, -1) < -1, f"{name} must be -1 or more")
    if len(call.node.outputs) > _SCORES and call.integer("qk_matmul_output_mode") not in _SCORES_OF:
        call.refuse("qk_matmul_output_mode must be from 0 to 3")
    scale = call.attribute("scale")
    if scale is not None and scale <= 0 and call.version < 25 and call.does(ATTENTION_SCALE):
        call.refuse("scale must be above 0")


# q_num_heads=-1 is accepted for operands of four axes, which have their heads.
ATTENTION_HEADS = RuntimeDifference(
    "Attention",
    "ignores negative numbers of heads if Q, K and V have four axes, before opset 25",
    "these are the heads that Q, K and V have",
)


def _operand(call: NodeCall, position: int, name: str, heads: str, rank: int) -> Dims:
    """Return an operand as (batch, heads, length, width); with three axes, an attribute counts the heads."""
    dims = call.rank(position, (rank,), name)
    count = call.integer(heads)
    if rank == 3:
        call.refuse_if(count <= 0, f"operands of three axes need the attribute {heads}")
        return layers.in_heads(call, dims, count, name)
    if call.version >= 25 and call.attribute(heads) is not None:
        call.refuse(f"{heads} must not be given for operands of four axes")
    if count > 0 or (count < 0 and not call.does(ATTENTION_HEADS)):
        call.equal(dims[1], count, f"axis 1 of {name} must be {count}, the attribute {heads}")
    return dims


ATTENTION_MASK = RuntimeDifference(
    "Attention", "broadcasts the mask over batch and heads only", "a mask is broadcast onto the scores"
)


def _check_mask(call: NodeCall, scores: Dims) -> None:
    """Require that the mask broadcast onto the scores; in ONNX Runtime only batch and heads broadcast."""
    mask = known_shape(call, _MASK, "attn_mask")
    if mask is None or call.does(ATTENTION_MASK):
        layers.check_scores_bias(call, "attn_mask", mask, scores, (2, 3, 4))
        return
    if call.version >= 24 and mask:
        # From opset 24 on a mask may be shorter than the keys, so that its last axis is not broadcast.
        call.at_most(mask[-1], scores[-1], "attn_mask must not be longer than the keys")
        mask, scores = (*mask[:-1], 1), (*scores[:-1], 1)
    call.broadcast(mask, scores, rule="unidirectional")


@operator("RotaryEmbedding")
def rotary_embedding(call: NodeCall) -> Value:
    """Rotate vectors by cached angles, looked up by position id or by place in the sequence."""
    dims = call.rank(0, (3, 4), "X")
    heads, width = _head_width(call, dims)
    turned: Dim = call.integer("rotary_embedding_dim") or width
    if heads is not None and turned is not width:
        call.at_most(turned, width, "rotary_embedding_dim must be at most the width of a head")
    places = (dims[0], dims[1] if len(dims) == 3 else dims[2])
    leading: tuple[Dim | None, ...] = places
    if call.has(3):
        cache = known_shape(call, 1, "cos_cache")
        leading = (cache[0] if cache else None,)
        expect(call, 3, "position_ids", places)
        _check_positions(call, places, leading[0])
    # One angle turns a pair of numbers.
    half = floor_divide(turned, 2)
    expect(call, 1, "cos_cache", (*leading, half))
    expect(call, 2, "sin_cache", (*leading, half))
    return Value(dims, call.dtype())


ROTARY_CACHE = RuntimeDifference(
    "RotaryEmbedding",
    "refuses a sequence longer than the caches, even with position_ids",
    "position_ids may name a position more than once",
)


def _check_positions(call: NodeCall, places: Sequence[Dim], count: Dim | None) -> None:
    """Require that the caches hold a position; ONNX Runtime needs one for each place in the input."""
    call.note("not checked: position_ids, which are data, must be positions in the caches", is_about_data=True)
    if count is None:
        return
    if call.does(ROTARY_CACHE):
        call.at_most(places[1], count, "the caches must be as long as the sequence")
    elif not call.bounds.is_at_least(count, 1):
        call.require(any_of([call.empty(places), at_most(1, count)]), "the caches must hold a position")


def _head_width(call: NodeCall, dims: Dims) -> tuple[Dim | None, Dim]:
    """Return the number of heads and the width of one."""
    heads = call.integer("num_heads")
    call.refuse_if(heads < 0, "num_heads must not be below 0")
    if len(dims) == 4:
        return dims[1], dims[3]
    call.refuse_if(heads <= 0, "an input of three axes needs the attribute num_heads")
    return heads, layers.head_width(call, dims[2], heads, "X")


# Operators that carry state from one call to the next: key-value caches, linear attention.


@operator("TensorScatter")
def tensor_scatter(call: NodeCall) -> Value:
    """Overwrite part of a cache's sequence, starting at an index for each batch element."""
    cache, update = call.shape(0), known_shape(call, 1, "the update")
    place = call.axis(call.integer("axis", -2), len(cache))
    call.refuse_if(place == 0, "the sequence must not lie on axis 0, which is the batch")
    call.refuse_if(call.text("mode", "linear") not in ("linear", "circular"), "mode must be linear or circular")
    if update is not None:
        expect(call, 1, "the update", [None if n == place else d for n, d in enumerate(cache)])
        call.at_most(update[place], cache[place], "the update must not be longer than the cache")
    expect(call, 2, "write_indices", (cache[0],))
    if call.has(2):
        call.note_data("write_indices, which are data, must be positions in the cache", 2)
    return Value(cache, call.dtype())


_RULES = {"linear": (), "gated": (4,), "delta": (5,), "gated_delta": (4, 5)}
_BY_INPUT = {4: "decay", 5: "beta"}


BY_FUNCTION = RuntimeDifference(
    "CausalConvWithState LinearAttention",
    "runs the definition by other operators, which broadcasts",
    "the sizes of inputs are equal",
)


@operator("LinearAttention")
def linear_attention_(call: NodeCall) -> Sequence[Value]:
    """Linear attention; ONNX Runtime has no kernel for it, and uses the definition by other operators."""
    return infer(call) if call.does(BY_FUNCTION) else linear_attention(call)


@operator("LinearAttention", domain=MICROSOFT)
def linear_attention(call: NodeCall) -> Sequence[Value]:
    """Linear attention: the output, and the state after the last key and value."""
    heads, key_heads = call.integer("q_num_heads"), call.integer("kv_num_heads")
    is_contrib, slots = bool(call.node.domain), call.integer("state_window")
    if min(heads, key_heads) < 1 or not (heads % key_heads == 0 or (is_contrib and key_heads % heads == 0)):
        call.refuse("q_num_heads must be a multiple of kv_num_heads")
    rule = call.text("update_rule", "gated_delta")
    call.refuse_if(rule not in _RULES, f"update_rule must not be {rule!r}")
    for n in _RULES[rule]:
        if not call.has(n):
            call.refuse(f"the update rule {rule} needs the input {_BY_INPUT[n]}")
    batch, length, hidden = call.rank(0, (3,), "the query")
    width = layers.head_width(call, hidden, heads, "the query")
    expect(call, 1, "the key", (batch, length, None))
    shared = [multiply(n, width) for n in range(1, key_heads + 1) if key_heads % n == 0]
    reason = "the key must have a number of heads that divides kv_num_heads, as wide as those of the query"
    call.one_of(call.rank(1, (3,), "the key")[2], shared if is_contrib else shared[-1:], reason)
    expect(call, 2, "the value", (batch, length, None))
    if is_contrib:
        for size, what in ((hidden, "query"), (call.rank(2, (3,), "the value")[2], "value")):
            call.at_most(1, size, f"the last size of the {what} must be at least 1")
    value_width = layers.head_width(call, call.rank(2, (3,), "the value")[2], key_heads, "the value")
    state = (*([slots] if slots else []), batch, key_heads, width, value_width)
    expect(call, 3, "past_state", state)
    _check_gate(call, 4, (batch, length), (multiply(key_heads, width), key_heads))
    _check_gate(call, 5, (batch, length), (key_heads, 1))
    output = (batch, length, multiply(max(heads, key_heads), state[-1]))
    return Value(output, call.dtype()), Value(state, call.dtype(3) or call.dtype())


def _check_gate(call: NodeCall, position: int, leading: Sequence[Dim], allowed: Sequence[Dim]) -> None:
    name = _BY_INPUT[position]
    gate = known_rank(call, position, (3,), name)
    if gate is not None:
        expect(call, position, name, (*leading, None))
        call.one_of(gate[2], allowed, f"the last size of {name} must fit the heads")


@operator("LinearAttentionGate", domain=MICROSOFT)
def attention_gate(call: NodeCall) -> Sequence[Value]:
    """The decay and, from a second input, the update of linear attention, one number for each head."""
    dims = call.shape(0)
    call.refuse_if(not dims, "the input must have an axis for the heads")
    if not call.has(3) and len([o for o in call.node.outputs if o]) > 1:
        call.refuse("the second output needs the input b")
    call.at_most(1, dims[-1], "the last size must be at least 1")
    for n, what in ((1, "dt_bias"), (2, "decay_scale")):
        shape = known_shape(call, n, what)
        if shape is not None:
            call.equal(multiply(*shape), dims[-1], f"{what} must have a number for each head")
    expect(call, 3, "b", dims)
    return Value(dims, call.dtype()), Value(dims, call.dtype())


@operator("CausalConvWithState")
def causal_convolution_(call: NodeCall) -> Sequence[Value]:
    """Causal convolution; ONNX Runtime has no kernel for it, and uses the definition by other operators."""
    return infer(call) if call.does(BY_FUNCTION) else causal_convolution(call)


@operator("CausalConvWithState", domain=MICROSOFT)
def causal_convolution(call: NodeCall) -> Sequence[Value]:
    """Causal convolution of each channel; also the last elements, for the next call."""
    if call.integer("ndim", 1) != 1 or call.integer("channels_last") or call.integer("state_window"):
        call.give_up("of causal convolutions only those of one axis, with channels first and one state, are followed")
    batch, channels, _ = call.rank(0, (3,), "the input")
    kernel = call.rank(1, (3,), "the weights")[2]
    expect(call, 1, "the weights", (channels, 1, None))
    call.at_most(1, kernel, "the window must not be empty")
    expect(call, 2, "the bias", (channels,))
    state = (batch, channels, multiply(add(kernel, -1), call.integer("dilation", 1)))
    expect(call, 3, "past_state", state)
    return Value(call.shape(0), call.dtype()), Value(state, call.dtype())


# Recurrent layers: RNN, GRU and LSTM.


_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_SEQUENCE_LENGTHS = 4
_OPERANDS: dict[Role, tuple[int, str]] = {
    "weights": (1, "W"),
    "recurrence": (2, "R"),
    "bias": (3, "B"),
    "lengths": (_SEQUENCE_LENGTHS, "sequence_lens"),
    "hidden": (5, "initial_h"),
    "cell": (6, "initial_c"),
    "peepholes": (7, "P"),
}


@operator(*GATES, reaches=reaches_ranks(3, 3, 3))
def recurrent_layer(call: NodeCall) -> Sequence[Value]:
    """All hidden states, the last one and, for LSTM, the last cell state."""
    return _run(call, _layer(call, call.node.op_type))


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def quantized_lstm(call: NodeCall) -> Sequence[Value]:
    """An LSTM of quantized weights, whose columns come before their rows."""
    layer = _layer(call, "LSTM", "DCR")
    outputs = _run(call, layer)
    per_row = (layer.directions, GATES["LSTM"] * layer.hidden)
    for n in range(8, 12):
        scale = known_shape(call, n, call.input_name(n))
        if scale is not None:
            expect(call, n, call.input_name(n), per_row[: max(len(scale), 1)])
    return outputs


def _run(call: NodeCall, layer: RecurrentLayer) -> Sequence[Value]:
    operands = {role: OptionalOperand(name, known_shape(call, n, name)) for role, (n, name) in _OPERANDS.items()}
    shapes = layers.recurrent(call, layer, operands)
    check_lengths(call, _SEQUENCE_LENGTHS, layer.length)
    return [Value(shape, call.dtype()) for shape in shapes]


# An RNN with layout=1 is refused at every size.
RECURRENT_LAYOUT = RuntimeDifference("RNN GRU LSTM", "has no kernel for layout 1", "the batch comes first then")


def _layer(call: NodeCall, kind: str, weights: str = "DRC") -> RecurrentLayer:
    direction = call.text("direction", "forward")
    if direction not in _DIRECTIONS:
        call.refuse(f"direction {direction!r} must be one of {', '.join(_DIRECTIONS)}")
    is_batch_first = bool(call.integer("layout"))
    if is_batch_first and call.does(RECURRENT_LAYOUT):
        call.asker.never(call.place, "ONNX Runtime has no recurrent layers of layout 1")
    layout = (
        RecurrentLayout("NT", "ND", "NTD", weights) if is_batch_first else RecurrentLayout("TN", "DN", "TDN", weights)
    )
    first, second, features = call.rank(0, (3,), "X")
    length, batch = (second, first) if is_batch_first else (first, second)
    _check_empty(call, length, batch, features)
    # ONNX has a bias for the inputs and another one for the recurrence.
    directions, biases = _DIRECTIONS[direction], 2 * GATES[kind]
    return RecurrentLayer(kind, layout, batch, features, _hidden_size(call), length, directions, bias_gates=biases)


def _check_empty(call: NodeCall, length: Dim, batch: Dim, features: Dim) -> None:
    """Require nonempty inputs where ONNX Runtime ends its process on empty ones."""
    sizes = {"GRU": (length, batch, features), "LSTM": (batch,), "DynamicQuantizeLSTM": (batch,)}.get(
        call.node.op_type, ()
    )
    for size in sizes:
        crashes(call, at_most(1, size), "X is empty")


# An RNN without hidden_size is refused, though the weights tell it.
RECURRENT_HIDDEN_SIZE = RuntimeDifference("RNN GRU LSTM", "needs the attribute hidden_size", "it may be left out")


def _hidden_size(call: NodeCall) -> Dim:
    """Return the attribute ``hidden_size`` or, without it, the size from the recurrent weights."""
    size = call.attribute("hidden_size")
    if size is not None:
        return int(size)
    if call.does(RECURRENT_HIDDEN_SIZE):
        call.asker.never(call.place, "ONNX Runtime needs the attribute hidden_size")
    return call.rank(2, (3,), "R")[2]


def check_lengths(call: NodeCall, position: int, length: Dim) -> None:
    """Require that the lengths in an input, mostly data, not exceed the length of the sequences."""
    if not call.has(position):
        return
    items = call.elements(position)
    if items is None or not all(map(is_size, items)):
        call.note_data(f"no number of {call.input_name(position)} may be above the length {length}", position)
        return
    for item in dict.fromkeys(items):
        if is_size(item):
            call.is_size(item, "no sequence_lens may be negative")
            call.at_most(item, length, "no sequence_lens may be above the length")
