"""Recurrent layers and cells: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence

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
    for n in range(1, 1 + states):
        _expect(call, n, state)
    _expect(call, 1 + states, (batch,))
    rows = _GATES[kind] * hidden
    _expect(call, 2 + states, (directions, rows, features))
    _expect(call, 3 + states, (directions, rows, hidden))
    _expect(call, 4 + states, (directions, _bias_rows(call, kind, hidden)))
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
    for n in range(1, 1 + states):
        _expect(call, n, (batch, hidden))
    rows = _GATES[kind] * hidden
    _expect(call, 1 + states, (rows, features))
    _expect(call, 2 + states, (rows, hidden))
    _expect(call, 3 + states, (_bias_rows(call, kind, hidden),))
    return [call.made((batch, hidden), output=n) for n in range(states)]


def _bias_rows(call: OpenVinoCall, kind: str, hidden: int) -> int:
    """Return how long a bias is: a GRU that resets after the product has one more."""
    gates = _GATES[kind] + (1 if kind == "GRU" and call.flag("linear_before_reset") else 0)
    return gates * hidden


def _expect(call: OpenVinoCall, position: int, wanted: Dims) -> None:
    """Ask that an input, where it is given, have a shape."""
    if not call.has(position):
        return
    found = call.value(position).shape
    if found is None:
        call.note(f"that the shape of {call.input_name(position)} fits was not looked at: it is not known")
        return
    if len(found) != len(wanted):
        call.refuse(f"{call.input_name(position)} must have rank {len(wanted)}, and has {len(found)}")
    for axis, (size, other) in enumerate(zip(found, wanted, strict=True)):
        call.equal(size, other, f"axis {axis} of {call.input_name(position)} must be {other}")
