"""Recurrent layers and cells, RNN, GRU and LSTM: the shapes of weights, biases, states and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from symbcast.core.algebra.arithmetic import multiply
from symbcast.operators.context import Context, Dims
from symbcast.operators.operands import Operand, expect_shape

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""The number of gates of a cell, by its kind."""

Role: TypeAlias = Literal["hidden", "cell", "lengths", "weights", "recurrence", "bias", "peepholes"]

STATES: tuple[Role, ...] = ("hidden", "cell")


class Layout(NamedTuple):
    """The order of axes, one letter each: T for time, N for the batch, D for the directions of all layers.

    The last axis of data, states and output, features or the hidden size, has no letter. An output without D joins its
    directions on the last axis. In weights, R stands for the rows (all gates of all hidden elements) and C for the
    columns.
    """

    data: str
    state: str
    output: str
    weights: str = "DRC"


class Layer(NamedTuple):
    """The sizes of one recurrent layer or of several stacked ones.

    Attributes:
        hidden: The number of elements of a cell.
        projection: The size of the hidden state if it differs from that of the cell.
        bias_gates: The number of bias values for each hidden element.
    """

    kind: str
    layout: Layout
    batch: Dim
    features: Dim
    hidden: Dim
    length: Dim = 1
    directions: int = 1
    layers: int = 1
    projection: Dim | None = None
    bias_gates: int = 0

    @property
    def state(self) -> Dim:
        """The size of the hidden state."""
        return self.hidden if self.projection is None else self.projection

    @property
    def states(self) -> list[Dims]:
        """The shapes of the hidden state, and of an LSTM's cell state."""
        sizes = (self.state, self.hidden) if self.kind == "LSTM" else (self.state,)
        return [(*self._laid(self.layout.state), size) for size in sizes]

    @property
    def output(self) -> Dims:
        """The shape of the hidden states at all time steps."""
        width = self.state if "D" in self.layout.output else multiply(self.directions, self.state)
        return (*self._laid(self.layout.output), width)

    def operands(self) -> dict[Role, Dims]:
        """Return the shape of each operand except the data."""
        rows, order = multiply(GATES[self.kind], self.hidden), self.layout.weights
        lead = order[:-2]
        found: dict[Role, Dims] = {
            "lengths": (self.batch,),
            "weights": self._laid(order, R=rows, C=self.features),
            "recurrence": self._laid(order, R=rows, C=self.state),
            "bias": (*self._laid(lead), multiply(self.bias_gates, self.hidden)),
        }
        if self.kind == "LSTM":
            found["peepholes"] = (*self._laid(lead), multiply(3, self.hidden))
        return {**dict(zip(STATES, self.states, strict=False)), **found}

    def _laid(self, letters: str, **others: Dim) -> Dims:
        sizes = {"T": self.length, "N": self.batch, "D": self.directions * self.layers, **others}
        return tuple(sizes[letter] for letter in letters)


def recurrent(context: Context, layer: Layer, operands: Mapping[Role, Operand]) -> list[Dims]:
    """Require that operands fit a layer; return the shapes of all hidden states and of the last states.

    Data ``(T, N, features)`` and weights ``(D, gates * hidden, features)`` give ``(T, D, N, hidden)`` and states
    ``(D, N, hidden)`` if the layout is ``Layout("TN", "DN", "TDN")``.
    """
    wanted = layer.operands()
    for role, operand in operands.items():
        if role in wanted:
            expect_shape(context, *operand, wanted[role])
    return [layer.output, *layer.states]
