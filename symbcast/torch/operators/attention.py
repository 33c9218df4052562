"""Attention and recurrent layers."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import floor_divide
from symbcast.graphs.values.value import Value
from symbcast.operators.networks.attention import attend, broadcast_stack, grouped_stack
from symbcast.operators.networks.recurrent import GATES, STATES, Layer, Layout, recurrent
from symbcast.operators.operands import Operand
from symbcast.torch.node_call import shape_of
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator(
    "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_attention_math",
)
def attended(call: TorchCall) -> list[Value]:
    """Attention of (..., L, E), (..., S, E) and (..., S, V) as (..., L, V); a mask broadcasts to (..., L, S).

    Without queries or values, the public operator leaves early: it returns zeros and looks at nothing else.
    """
    query, key, value = (call.dims(n) for n in ("query", "key", "value"))
    if min(len(query), len(key), len(value)) < 2:
        call.refuse("queries, keys and values must have at least two axes")
    if call.node.op_type != "aten.scaled_dot_product_attention":
        return _attended(call, query, key, value)
    early = (*query[:-1], value[-1])
    empty = call.empty((query[-2], *value))
    return [Value(call.unless(empty, early, lambda: shape_of(_attended(call, query, key, value)[0])))]


def _attended(call: TorchCall, query: Dims, key: Dims, value: Dims) -> list[Value]:
    if call.node.op_type.endswith("_for_cpu"):
        _fit_kernel(call, query, key, value)
    found = attend(call, query, key, value, grouped_stack if call.flag("enable_gqa") else broadcast_stack)
    mask = call.maybe_dims("attn_mask")
    if mask is not None:
        if len(mask) not in (2, 4) and len(query) == 4 and not call.node.op_type.endswith("_math"):
            call.note("whether a mask of this rank is accepted depends on the kernel that torch chooses")
        call.broadcast(mask, (*found[:-1], key[-2]), rule="unidirectional")
    weights = found[:-1]
    if call.node.op_type.endswith("_math"):
        scored = query[:-2] if call.flag("enable_gqa") else call.broadcast(query[:-2], key[:-2])
        weights = (*scored, query[-2], key[-2])
    return [Value(found), Value(weights)][: len(call.node.outputs)]


def _fit_kernel(call: TorchCall, query: Dims, key: Dims, value: Dims) -> None:
    """State the assumptions of the CPU kernel, which crashes the process if tensors differ or are empty."""
    if not len(query) == len(key) == len(value) == 4:
        call.refuse("queries, keys and values must have four axes")
    for other in (key, value):
        call.same_shape((*other[:2], other[3]), (*query[:2], query[3]), "the heads and their lengths must be the same")
    for size in (*query[:3], key[2]):
        call.at_most(1, size, "there must be batches, heads, queries and keys")


@operator("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent_layers(call: TorchCall) -> list[Value]:
    """Recurrent layers: the sequence and the states have the same batch size; except in LSTMs, states may have 1.

    Each layer has a state and weights for each direction. The fused kernel does not check whether weights fit, so only
    the first ones are checked here.
    """
    dims, weights = call.dims("input", "data"), call.tensors("params")
    if call.given("batch_sizes") is not None or not weights or len(dims) != 3:
        return list(call.unchecked("not checked: packed sequences and sequences without a batch"))
    given = call.given("hx")
    states = [shape_of(s) for s in given] if isinstance(given, list) else [call.dims("hx")]
    if any(len(state) != 3 for state in states):
        call.refuse("a state must have three axes")
    layer = _layer(call, dims, weights[1])
    call.at_most(1, layer.length, "there must be at least one time step")
    call.equal(dims[-1], weights[0][-1], "the last size must equal that of the weights")
    if layer.kind != "LSTM":
        (batch,) = call.broadcast((layer.batch,), (states[0][1],), rule="unidirectional")
        layer = layer._replace(batch=batch)
    operands = zip(("hx", "cx"), states, strict=False)
    found = recurrent(call, layer, dict(zip(STATES, starmap(Operand, operands), strict=False)))
    return [Value(shape) for shape in found]


def _layer(call: TorchCall, dims: Dims, weights: Dims) -> Layer:
    """Return the stacked layers for weights (gates * hidden, state)."""
    kind = call.node.op_type.removeprefix("aten.").partition("_")[0].upper()
    axes = "NT" if call.flag("batch_first") else "TN"
    sizes = dict(zip(axes, dims, strict=False))
    return Layer(
        kind,
        Layout(axes, "DN", axes, "RC"),
        sizes["N"],
        dims[-1],
        floor_divide(weights[0], GATES[kind]),
        sizes["T"],
        2 if call.flag("bidirectional") else 1,
        call.number("num_layers"),
        projection=weights[1],
    )
