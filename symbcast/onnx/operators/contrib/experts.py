"""ONNX Runtime's mixtures of experts: each token passes through a few of many feed-forward layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import all_of, any_of, at_most, equal
from symbcast.graphs.operators.expected_shapes import expect, known_rank
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.differences import EXPERTS_LAYERS
from symbcast.operators.context import Dims

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
    first, second = (known_rank(call, n, (3,), f"the {what} weights") for n, what in ((2, "first"), (4, "second")))
    inner = None if second is None else second[2]
    if first is not None and second is not None and not call.has(6):
        return _in_either_layout(call, found, (count, hidden), first, second)
    for size, what in ((hidden, "the width of a token"), (inner, "the inner width of an expert")):
        if size is not None:
            call.at_most(1, size, f"{what} must be at least 1")
    expect(call, 4, "the second weights", (count, hidden, None))
    wide = None if inner is None else multiply(_fused(call), inner)
    expect(call, 2, "the first weights", (count, wide, hidden))
    expect(call, 3, "the first bias", (count, wide))
    expect(call, 5, "the second bias", (count, hidden))
    expect(call, 6, "the third weights", (count, inner, hidden))
    expect(call, 7, "the third bias", (count, inner))
    return found


def _in_either_layout(call: NodeCall, found: Value, sizes: tuple[Dim, Dim], first: Dims, second: Dims) -> Value:
    """Require that the matrices of each expert fit a token, or that their transposes do, as older models have them."""
    count, hidden = sizes
    reason = "the weights must be (experts, width, inner), or all of them (experts, inner, width)"
    layouts = []
    bias = known_rank(call, 3, (2,), "the first bias")
    for one, two in ((first, second), ((first[0], first[2], first[1]), (second[0], second[2], second[1]))):
        inner = two[2]
        wide = multiply(_fused(call), inner)
        pairs = [*zip(one, (count, wide, hidden), strict=True), *zip(two[:2], (count, hidden), strict=True)]
        if bias is not None:
            pairs += [(bias[0], count), (bias[1], one[1])]
        layouts.append(all_of([*(equal(a, b) for a, b in pairs), at_most(1, inner)]))
    call.at_most(1, hidden, "the width of a token must be at least 1")
    call.require(any_of(layouts), reason)
    expect(call, 5, "the second bias", (count, hidden))
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
