"""Recurrent layers: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import multiply
from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.operators.expected_shapes import expect, known_shape
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.onnx.differences import RECURRENT_EMPTY, RECURRENT_HIDDEN_SIZE, RECURRENT_LAYOUT
from symbcast.onnx.registry import MICROSOFT, operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_LENGTHS, _HIDDEN, _CELL, _PEEPHOLES = 4, 5, 6, 7


class _Layer(NamedTuple):
    """The sizes of a layer; ``is_batch_first`` is what ``layout=1`` says."""

    length: Dim
    batch: Dim
    features: Dim
    directions: int
    hidden: Dim
    is_batch_first: bool

    @property
    def state(self) -> tuple[Dim, ...]:
        """The shape of a hidden state, the first one and the last one."""
        leading = (self.batch, self.directions) if self.is_batch_first else (self.directions, self.batch)
        return (*leading, self.hidden)

    @property
    def sequence(self) -> tuple[Dim, ...]:
        """The shape of the hidden states at all times."""
        if self.is_batch_first:
            return (self.batch, self.length, self.directions, self.hidden)
        return (self.length, self.directions, self.batch, self.hidden)


@operator(*_GATES)
def recurrent(call: NodeCall) -> Sequence[Value]:
    """All hidden states, the last one, and of an LSTM the last cell state too."""
    gates = _GATES[call.node.op_type]
    layer = _layer(call)
    rows = multiply(layer.hidden, gates)
    expect(call, 1, "W", (layer.directions, rows, layer.features))
    expect(call, 2, "R", (layer.directions, rows, layer.hidden))
    _check_states(call, layer, rows)
    state = Value(layer.state, call.dtype())
    return Value(layer.sequence, call.dtype()), state, state


def _check_states(call: NodeCall, layer: _Layer, rows: Dim) -> None:
    """Ask that biases, lengths and first states fit."""
    expect(call, 3, "B", (layer.directions, multiply(rows, 2)))
    expect(call, _LENGTHS, "sequence_lens", (layer.batch,))
    expect(call, _HIDDEN, "initial_h", layer.state)
    if call.node.op_type.endswith("LSTM"):
        expect(call, _CELL, "initial_c", layer.state)
        expect(call, _PEEPHOLES, "P", (layer.directions, multiply(layer.hidden, 3)))
    _check_lengths(call, layer.length)


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def quantized_lstm(call: NodeCall) -> Sequence[Value]:
    """An LSTM of quantized weights, which lie the other way round."""
    layer = _layer(call)
    rows = multiply(layer.hidden, 4)
    expect(call, 1, "W", (layer.directions, layer.features, rows))
    expect(call, 2, "R", (layer.directions, layer.hidden, rows))
    _check_states(call, layer, rows)
    for n in range(8, 12):
        found = known_shape(call, n, call.input_name(n))
        if found is not None:
            expect(call, n, call.input_name(n), (layer.directions, rows)[: max(len(found), 1)])
    state = Value(layer.state, call.dtype())
    return Value(layer.sequence, call.dtype()), state, state


def _layer(call: NodeCall) -> _Layer:
    direction = call.text("direction", "forward")
    if direction not in _DIRECTIONS:
        call.refuse(f"direction {direction!r} must be one of {', '.join(_DIRECTIONS)}")
    is_batch_first = bool(call.integer("layout"))
    if is_batch_first and call.does(RECURRENT_LAYOUT):
        call.asker.never(call.place, "ONNX Runtime has no recurrent layers of layout 1")
    first, second, features = call.rank(0, (3,), "X")
    length, batch = (second, first) if is_batch_first else (first, second)
    if call.does(RECURRENT_EMPTY):
        _check_empty(call, length, batch, features)
    return _Layer(length, batch, features, _DIRECTIONS[direction], _hidden_size(call), is_batch_first)


def _check_empty(call: NodeCall, length: Dim, batch: Dim, features: Dim) -> None:
    """Ask for what is not empty where ONNX Runtime ends its process on it (seen with 1.31)."""
    sizes = {"GRU": (length, batch, features), "LSTM": (batch,), "DynamicQuantizeLSTM": (batch,)}.get(
        call.node.op_type, ()
    )
    for size in sizes:
        call.at_most(1, size, "ONNX Runtime aborts where X is empty")


def _hidden_size(call: NodeCall) -> Dim:
    """Return the attribute ``hidden_size``, or where there is none, what the recurrent weights say."""
    found = call.attribute("hidden_size")
    if found is not None:
        return int(found)
    if call.does(RECURRENT_HIDDEN_SIZE):
        call.asker.never(call.place, "ONNX Runtime needs the attribute hidden_size")
    return call.rank(2, (3,), "R")[2]


def _check_lengths(call: NodeCall, length: Dim) -> None:
    """Ask that the lengths of the lines of a batch be within the whole; they are data mostly."""
    if not call.has(_LENGTHS):
        return
    items = call.elements(_LENGTHS)
    if items is None or not all(map(is_size, items)):
        reason = f"that no number of {call.input_name(_LENGTHS)} is above the length {length} was not looked at"
        call.note(reason, is_about_data=True, by=[_LENGTHS])
        return
    for item in dict.fromkeys(items):
        if is_size(item):
            call.is_size(item, "no sequence_lens may be negative")
            call.at_most(item, length, "no sequence_lens may be above the length")
