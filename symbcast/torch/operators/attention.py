"""Attention, and layers with a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.algebra.arithmetic import modulo
from symbcast.logic.formulas import equal
from symbcast.onnx.values.value import Value
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.onnx.values.value import Dims
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
    call.equal(query[-1], key[-1], "queries and keys must be as long")
    call.equal(key[-2], value[-2], "there must be a value for each key")
    stack = _stack(call, query, key, value)
    mask = call.maybe_dims("attn_mask")
    if mask is not None:
        if len(mask) not in (2, 4) and len(query) == 4 and not call.node.op_type.endswith("_math"):
            call.note("whether a mask of this rank is taken depends on the kernel that torch chooses")
        call.broadcast(mask, (*stack, query[-2], key[-2]), rule="unidirectional")
    found = Value((*stack, query[-2], value[-1]))
    return [found, *call.recorded()[1:]] if len(call.node.output) > 1 else [found]


def _stack(call: TorchCall, query: Dims, key: Dims, value: Dims) -> Dims:
    """Return the axes before the last two: with groups, several heads of queries share one of keys."""
    if not call.flag("enable_gqa"):
        return call.broadcast(query[:-2], key[:-2], value[:-2])
    heads = query[-3]
    for shared in (key[-3], value[-3]):
        call.require(equal(modulo(heads, shared), 0), "heads of queries must be a multiple of those of keys and values")
    return (*call.broadcast(query[:-3], key[:-3], value[:-3]), heads)


@operator("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(call: TorchCall) -> list[Value]:
    """A sequence and states of as many batches; the weights must fit the last size."""
    dims, weights = call.dims("input"), call.tensors("params")
    if call.given("batch_sizes") is not None or not weights or len(dims) != 3:
        call.note("what it asks of sizes was not looked at")
        return list(call.recorded())
    states = call.given("hx")
    shapes = [s.shape for s in states] if isinstance(states, list) else [call.dims("hx")]
    batch = dims[0] if call.flag("batch_first") else dims[1]
    call.equal(dims[-1], weights[0][1], "the last size must be that of the weights")
    for shape in shapes:
        if shape is None or len(shape) != 3:
            call.give_up("the shape of a state is not known")
        call.equal(shape[1], batch, "the state must have the batch of the input")
    width = 2 if call.flag("bidirectional") else 1
    hidden = shapes[0][2]
    assert isinstance(hidden, int)
    return [Value((*dims[:2], width * hidden)), *(Value(s) for s in shapes)]
