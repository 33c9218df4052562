"""Recurrent layers: RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import at_most
from symbcast.graphs.operators.expected_shapes import expect, known_shape
from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.registry import MICROSOFT, operator
from symbcast.onnx.runtime.crashes import crashes
from symbcast.onnx.runtime.differences import RECURRENT_HIDDEN_SIZE, RECURRENT_LAYOUT
from symbcast.operators.networks.recurrent import GATES, Layer, Layout, Role, recurrent
from symbcast.operators.operands import Operand

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
_LENGTHS = 4
_OPERANDS: dict[Role, tuple[int, str]] = {
    "weights": (1, "W"),
    "recurrence": (2, "R"),
    "bias": (3, "B"),
    "lengths": (_LENGTHS, "sequence_lens"),
    "hidden": (5, "initial_h"),
    "cell": (6, "initial_c"),
    "peepholes": (7, "P"),
}


@operator(*GATES)
def recurrent_layer(call: NodeCall) -> Sequence[Value]:
    """All hidden states, the last one and, for LSTM, the last cell state."""
    return _run(call, _layer(call, call.node.op_type))


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def quantized_lstm(call: NodeCall) -> Sequence[Value]:
    """An LSTM of quantized weights, whose columns come before their rows."""
    layer = _layer(call, "LSTM", "DCR")
    found = _run(call, layer)
    per_row = (layer.directions, GATES["LSTM"] * layer.hidden)
    for n in range(8, 12):
        scale = known_shape(call, n, call.input_name(n))
        if scale is not None:
            expect(call, n, call.input_name(n), per_row[: max(len(scale), 1)])
    return found


def _run(call: NodeCall, layer: Layer) -> Sequence[Value]:
    operands = {role: Operand(name, known_shape(call, n, name)) for role, (n, name) in _OPERANDS.items()}
    shapes = recurrent(call, layer, operands)
    check_lengths(call, _LENGTHS, layer.length)
    return [Value(shape, call.dtype()) for shape in shapes]


def _layer(call: NodeCall, kind: str, weights: str = "DRC") -> Layer:
    direction = call.text("direction", "forward")
    if direction not in _DIRECTIONS:
        call.refuse(f"direction {direction!r} must be one of {', '.join(_DIRECTIONS)}")
    is_batch_first = bool(call.integer("layout"))
    if is_batch_first and call.does(RECURRENT_LAYOUT):
        call.asker.never(call.place, "ONNX Runtime has no recurrent layers of layout 1")
    layout = Layout("NT", "ND", "NTD", weights) if is_batch_first else Layout("TN", "DN", "TDN", weights)
    first, second, features = call.rank(0, (3,), "X")
    length, batch = (second, first) if is_batch_first else (first, second)
    _check_empty(call, length, batch, features)
    directions, biases = _DIRECTIONS[direction], 2 * GATES[kind]
    return Layer(kind, layout, batch, features, _hidden_size(call), length, directions, bias_gates=biases)


def _check_empty(call: NodeCall, length: Dim, batch: Dim, features: Dim) -> None:
    """Require nonempty inputs where ONNX Runtime ends its process on empty ones."""
    sizes = {"GRU": (length, batch, features), "LSTM": (batch,), "DynamicQuantizeLSTM": (batch,)}.get(
        call.node.op_type, ()
    )
    for size in sizes:
        crashes(call, at_most(1, size), "X is empty")


def _hidden_size(call: NodeCall) -> Dim:
    """Return the attribute ``hidden_size`` or, without it, the size from the recurrent weights."""
    found = call.attribute("hidden_size")
    if found is not None:
        return int(found)
    if call.does(RECURRENT_HIDDEN_SIZE):
        call.asker.never(call.place, "ONNX Runtime needs the attribute hidden_size")
    return call.rank(2, (3,), "R")[2]


def check_lengths(call: NodeCall, position: int, length: Dim) -> None:
    """Require that the lengths in an input, mostly data, not exceed the length of the sequences."""
    if not call.has(position):
        return
    items = call.elements(position)
    if items is None or not all(map(is_size, items)):
        reason = f"not checked: no number of {call.input_name(position)} may be above the length {length}"
        call.note(reason, is_about_data=True, by=[position])
        return
    for item in dict.fromkeys(items):
        if is_size(item):
            call.is_size(item, "no sequence_lens may be negative")
            call.at_most(item, length, "no sequence_lens may be above the length")
