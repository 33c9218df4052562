"""Recurrent layers and cells: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.graphs.operators.expected_shapes import expect
from symbcast.graphs.values.value import Dims, Value
from symbcast.openvino.node_call import OpenVinoCall
from symbcast.openvino.registry import operator

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@operator("RNNSequence", "GRUSequence", "LSTMSequence")
def sequence(call: OpenVinoCall) -> Sequence[Value]:
    """All hidden states (batch, directions, length, hidden), the last one, and of an LSTM the last cell state too."""
    kind = call.node.op_type.removesuffix("Sequence")
    hidden = call.integer("hidden_size")
    directions = 2 if call.text("direction", "forward") == "bidirectional" else 1
    batch, length, features = call.rank(0, (3,), "X")
    state = (batch, directions, hidden)
    states = 2 if kind == "LSTM" else 1
    rows = _GATES[kind] * hidden
    weights = [(directions, rows, features), (directions, rows, hidden), (directions, _bias_rows(call, kind, hidden))]
    _expect_inputs(call, [*[state] * states, (batch,), *weights])
    shapes = [(batch, directions, length, hidden), *[state] * states]
    return [call.made(shape, output=n) for n, shape in enumerate(shapes)]


@operator("RNNCell", "GRUCell", "LSTMCell")
def cell(call: OpenVinoCall) -> Sequence[Value]:
    """The next hidden state (batch, hidden), and of an LSTM the next cell state too."""
    kind = call.node.op_type.removesuffix("Cell")
    if kind == "LSTM" and call.version < 4:
        call.give_up("LSTMCell before version 4, which may have peepholes, is not followed")
    hidden = call.integer("hidden_size")
    batch, features = call.rank(0, (2,), "X")
    states = 2 if kind == "LSTM" else 1
    rows = _GATES[kind] * hidden
    weights = [(rows, features), (rows, hidden), (_bias_rows(call, kind, hidden),)]
    _expect_inputs(call, [*[(batch, hidden)] * states, *weights])
    return [call.made((batch, hidden), output=n) for n in range(states)]


def _bias_rows(call: OpenVinoCall, kind: str, hidden: int) -> int:
    """Return how long a bias is: a GRU that resets after the product has one more."""
    gates = _GATES[kind] + (1 if kind == "GRU" and call.flag("linear_before_reset") else 0)
    return gates * hidden


def _expect_inputs(call: OpenVinoCall, shapes: Sequence[Dims]) -> None:
    """Require the shapes of all inputs but the first."""
    for n, shape in enumerate(shapes, 1):
        expect(call, n, call.input_name(n), shape)
