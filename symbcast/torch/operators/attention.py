"""Attention, and layers with a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide, multiply
from symbcast.graphs.values.value import Value
from symbcast.operators.attention import attend, broadcast_stack, grouped_stack
from symbcast.torch.node_call import shape_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.graphs.values.value import Dims
    from symbcast.torch.node_call import TorchCall


@operator(
    "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_attention_math",
)
def attended(call: TorchCall) -> list[Value]:
    """Queries (..., L, E), keys (..., S, E), values (..., S, V) give (..., L, V); a mask broadcasts to (..., L, S)."""
    query, key, value = (call.dims(n) for n in ("query", "key", "value"))
    if min(len(query), len(key), len(value)) < 2:
        call.refuse("queries, keys and values must have two axes at least")
    if call.node.op_type.endswith("_for_cpu"):
        _fit_kernel(call, query, key, value)
    found = attend(call, query, key, value, grouped_stack if call.flag("enable_gqa") else broadcast_stack)
    mask = call.maybe_dims("attn_mask")
    if mask is not None:
        if len(mask) not in (2, 4) and len(query) == 4 and not call.node.op_type.endswith("_math"):
            call.note("whether a mask of this rank is taken depends on the kernel that torch chooses")
        call.broadcast(mask, (*found[:-1], key[-2]), rule="unidirectional")
    return [Value(found), *(call.recorded()[1:] if len(call.node.outputs) > 1 else ())]


def _fit_kernel(call: TorchCall, query: Dims, key: Dims, value: Dims) -> None:
    """Require what the kernel for the CPU takes for granted: it ends the process where tensors differ, or are empty."""
    if not len(query) == len(key) == len(value) == 4:
        call.refuse("queries, keys and values must have four axes")
    for other in (key, value):
        call.same_shape((*other[:2], other[3]), (*query[:2], query[3]), "the heads and their lengths must be the same")
    for size in (*query[:3], key[2]):
        call.at_most(1, size, "there must be batches, heads, queries and keys")


@operator("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(call: TorchCall) -> list[Value]:
    """A sequence and states of as many batches, or of 1 for the states of all but LSTMs; the weights fit.

    Each layer has a state for each direction, and as many weights for each of these.
    """
    dims, weights = call.dims("input", "data"), call.tensors("params")
    if call.given("batch_sizes") is not None or not weights or len(dims) != 3:
        call.note("what it asks of sizes was not looked at")
        return list(call.recorded())
    states = call.given("hx")
    shapes = [shape_of(s) for s in states] if isinstance(states, list) else [call.dims("hx")]
    if any(len(shape) != 3 for shape in shapes):
        call.refuse("a state must have three axes")
    steps, batch = dims[:2] if not call.flag("batch_first") else dims[1::-1]
    call.at_most(1, steps, "there must be a step")
    call.equal(dims[-1], weights[0][-1], "the last size must be that of the weights")
    width = 2 if call.flag("bidirectional") else 1
    is_lstm = call.node.op_type == "aten.lstm"
    for n, shape in enumerate(shapes):
        call.equal(shape[0], width * call.number("num_layers"), "there must be a state for each layer and direction")
        wanted = weights[1][-1] if n == 0 else floor_divide(weights[1][0], 4)
        call.equal(shape[2], wanted, "a state must be as long as the weights have it")
        if is_lstm:
            call.equal(shape[1], batch, "the state must have the batch of the input")
    if not is_lstm:
        (batch,) = call.broadcast((batch,), (shapes[0][1],), rule="unidirectional")
    sequence = (batch, steps) if call.flag("batch_first") else (steps, batch)
    found = [Value((s[0], batch, s[2])) for s in shapes]
    return [Value((*sequence, multiply(width, weights[1][-1]))), *found]
