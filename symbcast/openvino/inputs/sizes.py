"""The inputs of a model: each of their dynamic dimensions a size, with the interval that OpenVINO has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.symbols import Symbol
from symbcast.algebra.terms import symbols_of
from symbcast.onnx.inputs.names import Inputs, contents_of, identifier
from symbcast.onnx.values.value import Value
from symbcast.openvino.element_types import number_of

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.api.env import ShapeEnv
    from symbcast.openvino.graph import Graph


class Interval(NamedTuple):
    """From where to where a size may be; ``most`` is None where it may be any from ``least`` on."""

    least: int
    most: int | None


class Parameters(NamedTuple):
    """The inputs of a model, and what it says of their sizes."""

    inputs: Inputs
    intervals: Mapping[Symbol, Interval]


def read_parameters(graph: Graph, env: ShapeEnv) -> Parameters:
    """Read the parameters of a graph.

    A dimension that is not static is called ``<input>_dim_<axis>``, or as the first one is that shares its
    ``ov.Symbol``: dimensions of one symbol are one size. A dimension ``2..5`` is a size between these.
    """
    reader = _Reader(env)
    values = {
        declared.name: reader.value(declared.name, op)
        for declared, op in zip(graph.input, graph.parameters, strict=True)
    }
    symbols = symbols_of([d for v in values.values() for d in v.shape or ()])
    return Parameters(Inputs(values, symbols, contents_of(values, {s.name for s in symbols})), reader.intervals)


class _Reader:
    """Reads the parameters of one model."""

    def __init__(self, env: ShapeEnv) -> None:
        self._env = env
        self._by_symbol: dict[Any, Symbol] = {}
        self._taken: set[str] = set()
        self.intervals: dict[Symbol, Interval] = {}

    def value(self, name: str, op: Any) -> Value:
        """Return the value that a parameter is."""
        declared = op.get_output_partial_shape(0)
        shape = None
        if declared.rank.is_static:
            shape = tuple(self._dim(d, f"{identifier(name)}_dim_{axis}") for axis, d in enumerate(declared))
        return Value(shape, number_of(op.get_output_element_type(0)))

    def _dim(self, dimension: Any, name: str) -> Dim:
        if dimension.is_static:
            return int(dimension.get_length())
        held = dimension.get_symbol() if dimension.has_symbol() else None
        known = self._by_symbol.get(held) if held is not None else None
        if known is None:
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            known = self._env.named(name)
            if held is not None:
                self._by_symbol[held] = known
        self._narrow(known, dimension)
        return known

    def _narrow(self, size: Symbol, dimension: Any) -> None:
        """Take in the interval of a dimension: within those of others that are the same size."""
        most = int(dimension.get_max_length())
        before = self.intervals.get(size, Interval(0, None))
        bounds = [n for n in (before.most, most) if n is not None and n >= 0]
        least = max(before.least, int(dimension.get_min_length()))
        self.intervals[size] = Interval(least, min(bounds) if bounds else None)
