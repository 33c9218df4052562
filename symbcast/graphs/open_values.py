"""Values of unknown rank: the sequences of axes that they have, and what is known beside these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import AxisSequence, SequenceSymbol, sequences_of
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.algebra.terms import symbols_of
from symbcast.graphs.inputs.knowledge import place_name
from symbcast.graphs.values.value import UNKNOWN, OpenValue, Value

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.values.value import Dims


class OpenValues:
    """The values of one walk whose rank is not known."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._open: dict[int, tuple[Value, Dims]] = {}
        """The sequences of axes of values of which nothing is known."""
        self._axes: dict[Symbol, Symbol] = {}
        """The sizes that stand for axes of sequences that no input's shape has."""

    def ends(self, value: Value) -> Dims:
        """Return the shape of a value; of one whose rank is not known a sequence of axes, and what is known behind."""
        if value.shape is not None:
            return value.shape
        if isinstance(value, OpenValue):
            return value.ends
        if value is UNKNOWN or id(value) not in self._open:
            # Kept with the value, so that no other takes its number.
            self._open[id(value)] = value, (AxisSequence.anonymous(f"...{len(self._open)}").rest(),)
        return self._open[id(value)][1]

    def opened(self, dims: Dims, dtype: int) -> Value:
        """Return a value of unknown rank; one of which nothing is known, but that it has the shape of another."""
        if len(dims) > 1 or not self._asker.sequences.isdisjoint(sequences_of(symbols_of(dims))):
            return OpenValue(dims, dtype)
        value = Value(None, dtype)
        self._open[id(value)] = value, dims
        return value

    def axis_named(self, name: str, axis: int, dim: Dim) -> Dim:
        """Return the size of an axis that a node says a value of unknown rank has, with a name of its own."""
        for s in symbols_of((dim,)):
            is_axis = isinstance(s, SequenceSymbol) and s.sequence not in self._asker.sequences
            if (is_axis or isinstance(s, Unknown)) and s not in self._axes:
                text = f"axis {axis} of {name}, whose rank is not known"
                self._axes[s] = self._asker.symbol(place_name(name, axis), text)
        return replaced(dim, self._axes)
