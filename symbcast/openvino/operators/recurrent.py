"""Recurrent layers and cells: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.operators.expected_shapes import known_shape
from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator
from symbcast.operators.context import Dims
from symbcast.operators.networks.recurrent import GATES, STATES, Layer, Layout, Role, recurrent
from symbcast.operators.operands import Operand


@operator("RNNSequence", "GRUSequence", "LSTMSequence")
def sequence(call: OpenVinoCall) -> Sequence[Value]:
    """All hidden states (batch, directions, length, hidden), the last one, and for an LSTM the last cell state."""
    kind = call.node.op_type.removesuffix("Sequence")
    directions = 2 if call.text("direction", "forward") == "bidirectional" else 1
    batch, length, features = call.rank(0, (3,), "X")
    layout = Layout("NT", "ND", "NDT")
    layer = Layer(kind, layout, batch, features, call.integer("hidden_size"), length, directions)
    return _made(call, _fit(call, layer, ["lengths", "weights", "recurrence", "bias"]))


@operator("RNNCell", "GRUCell", "LSTMCell")
def cell(call: OpenVinoCall) -> Sequence[Value]:
    """The next hidden state (batch, hidden), and for an LSTM the next cell state."""
    kind = call.node.op_type.removesuffix("Cell")
    if kind == "LSTM" and call.version < 4:
        call.give_up("LSTMCell before version 4, which may have peepholes, is not followed")
    batch, features = call.rank(0, (2,), "X")
    layer = Layer(kind, Layout("N", "N", "N", "RC"), batch, features, call.integer("hidden_size"))
    return _made(call, _fit(call, layer, ["weights", "recurrence", "bias"])[1:])


def _fit(call: OpenVinoCall, layer: Layer, roles: list[Role]) -> list[Dims]:
    """Require that the inputs fit, states first; a GRU that resets after the product has an extra bias."""
    more = layer.kind == "GRU" and call.flag("linear_before_reset")
    names = {r: (n, call.input_name(n)) for n, r in enumerate([*STATES[: len(layer.states)], *roles], 1)}
    operands = {role: Operand(name, known_shape(call, n, name)) for role, (n, name) in names.items()}
    return recurrent(call, layer._replace(bias_gates=GATES[layer.kind] + more), operands)


def _made(call: OpenVinoCall, shapes: Sequence[Dims]) -> list[Value]:
    return [call.made(shape, output=n) for n, shape in enumerate(shapes)]
