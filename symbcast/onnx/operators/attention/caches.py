"""Operators that carry state from one call to the next: key-value caches, linear attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.graphs.operators.expected_shapes import expect, known_rank, known_shape
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.differences import BY_FUNCTION
from symbcast.onnx.tail import infer
from symbcast.operators.networks.attention import head_width

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


@operator("TensorScatter")
def tensor_scatter(call: NodeCall) -> Value:
    """Overwrite part of a cache's sequence, starting at an index for each batch element."""
    cache, update = call.shape(0), known_shape(call, 1, "the update")
    place = call.axis(call.integer("axis", -2), len(cache))
    if place == 0:
        call.refuse("the sequence must not lie on axis 0, which is the batch")
    if call.text("mode", "linear") not in ("linear", "circular"):
        call.refuse("mode must be linear or circular")
    if update is not None:
        expect(call, 1, "the update", [None if n == place else d for n, d in enumerate(cache)])
        call.at_most(update[place], cache[place], "the update must not be longer than the cache")
    expect(call, 2, "write_indices", (cache[0],))
    if call.has(2):
        reason = "not checked: write_indices, which are data, must be positions in the cache"
        call.note(reason, is_about_data=True, by=[2])
    return Value(cache, call.dtype())


_RULES = {"linear": (), "gated": (4,), "delta": (5,), "gated_delta": (4, 5)}
_BY_INPUT = {4: "decay", 5: "beta"}


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
    if rule not in _RULES:
        call.refuse(f"update_rule must not be {rule!r}")
    for n in _RULES[rule]:
        if not call.has(n):
            call.refuse(f"the update rule {rule} needs the input {_BY_INPUT[n]}")
    batch, length, hidden = call.rank(0, (3,), "the query")
    width = head_width(call, hidden, heads, "the query")
    expect(call, 1, "the key", (batch, length, None))
    shared = [multiply(n, width) for n in range(1, key_heads + 1) if key_heads % n == 0]
    reason = "the key must have a number of heads that divides kv_num_heads, as wide as those of the query"
    call.one_of(call.rank(1, (3,), "the key")[2], shared if is_contrib else shared[-1:], reason)
    expect(call, 2, "the value", (batch, length, None))
    if is_contrib:
        for size, what in ((hidden, "query"), (call.rank(2, (3,), "the value")[2], "value")):
            call.at_most(1, size, f"the last size of the {what} must be at least 1")
    value_width = head_width(call, call.rank(2, (3,), "the value")[2], key_heads, "the value")
    state = (*([slots] if slots else []), batch, key_heads, width, value_width)
    expect(call, 3, "past_state", state)
    _check_gate(call, 4, (batch, length), (multiply(key_heads, width), key_heads))
    _check_gate(call, 5, (batch, length), (key_heads, 1))
    found = (batch, length, multiply(max(heads, key_heads), state[-1]))
    return Value(found, call.dtype()), Value(state, call.dtype(3) or call.dtype())


def _check_gate(call: NodeCall, position: int, leading: Sequence[Dim], allowed: Sequence[Dim]) -> None:
    name = _BY_INPUT[position]
    found = known_rank(call, position, (3,), name)
    if found is not None:
        expect(call, position, name, (*leading, None))
        call.one_of(found[2], allowed, f"the last size of {name} must fit the heads")


@operator("LinearAttentionGate", domain=MICROSOFT)
def attention_gate(call: NodeCall) -> Sequence[Value]:
    """The decay and, from a second input, the update of linear attention, one number for each head."""
    dims = call.shape(0)
    if not dims:
        call.refuse("the input must have an axis for the heads")
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
