"""ONNX Runtime's mixtures of experts: each token passes through a few of many feed-forward layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.operators.expected_shapes import expect, known_rank
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.differences import EXPERTS_LAYERS

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


_ACTIVATION = "activation_type"
_ACTIVATIONS = ("relu", "gelu", "silu", "swiglu", "identity")


@operator("MoE", domain=MICROSOFT)
def experts(call: NodeCall) -> Value:
    """The shape of the tokens, on one axis or two; each layer of an expert is its own matrix."""
    found, hidden, count = _routed(call)
    if call.does(EXPERTS_LAYERS) and (call.has(6) or (_fused(call) == 1 and call.text(_ACTIVATION) == "swiglu")):
        call.refuse("the processor has no third layer, and a gate only in the first weights")
    second = known_rank(call, 4, (3,), "the second weights")
    inner = None if second is None else second[2]
    expect(call, 4, "the second weights", (count, hidden, None))
    wide = None if inner is None else multiply(_fused(call), inner)
    expect(call, 2, "the first weights", (count, wide, hidden))
    expect(call, 3, "the first bias", (count, wide))
    expect(call, 5, "the second bias", (count, hidden))
    expect(call, 6, "the third weights", (count, inner, hidden))
    expect(call, 7, "the third bias", (count, inner))
    return found


@operator("QMoE", domain=MICROSOFT)
def quantized_experts(call: NodeCall) -> Value:
    """The shape of the tokens; the weights of the experts are quantized, several to a byte."""
    call.note("not checked: the shapes of the experts' packed weights and scales")
    return _routed(call)[0]


def _routed(call: NodeCall) -> tuple[Value, Dim, Dim]:
    """Return the output, the width of a token and the number of experts."""
    dims = call.rank(0, (2, 3), "the input")
    router = call.rank(1, (2,), "router_probs")
    call.equal(router[0], multiply(*dims[:-1]), "router_probs must have a row for each token")
    if call.integer("k", 1) < 1 or call.text(_ACTIVATION, "relu") not in _ACTIVATIONS:
        call.refuse(f"k must be positive, and the activation one of {', '.join(_ACTIVATIONS)}")
    call.at_most(call.integer("k", 1), router[1], "there must be at least as many experts as each token uses")
    return Value(dims, call.dtype()), dims[-1], router[1]


def _fused(call: NodeCall) -> int:
    """Return how many layers the first weights hold: 2 if an activation with a gate has both there."""
    return 2 if call.text(_ACTIVATION) == "swiglu" and call.integer("swiglu_fusion") else 1
