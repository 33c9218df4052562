"""The inputs of a model: a size for each dynamic dimension, with OpenVINO's interval for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.symbols import Symbol, symbol
from symbcast.core.program.whole.program import Program
from symbcast.graphs.inputs.given import NOTHING, Given
from symbcast.graphs.inputs.inputs import Inputs, inputs_of
from symbcast.graphs.inputs.knowledge import place_name
from symbcast.graphs.values.value import Value
from symbcast.openvino.element_types import number_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.openvino.graph import OpenVinoGraph


class Interval(NamedTuple):
    """The range of a size; ``most`` is None if there is no upper bound."""

    size: Dim
    least: int
    most: int | None


class Parameters(NamedTuple):
    """The inputs of a model, and the intervals of their sizes."""

    inputs: Inputs
    intervals: tuple[Interval, ...]


def read_parameters(graph: OpenVinoGraph, env: Program, given: Given = NOTHING, *, are_open: bool = True) -> Parameters:
    """Read the parameters of a graph, with what the caller knows about them.

    A dynamic dimension is named ``<input>_dim_<axis>``; dimensions that share an ``ov.Symbol`` are one size, named
    after the first of them. A dimension ``2..5`` is a size in that range. Raises `BindingError` if the given shapes,
    sizes or contents do not fit these inputs. ``are_open`` is as in `symbcast.graphs.graph`.
    """
    names = graph.inputs
    reader = _Reader()
    values = {name: reader.value(name, op) for name, op in zip(names, graph.parameters, strict=True)}
    inputs = inputs_of(values, env, given, {}, are_open=are_open)
    found = (i for name, op in zip(names, graph.parameters, strict=True) for i in _intervals(op, inputs.named[name]))
    return Parameters(inputs, tuple(dict.fromkeys(found)))


class _Reader:
    """Reads the parameters of one model."""

    def __init__(self) -> None:
        self._by_symbol: dict[Any, Symbol] = {}
        self._taken: set[str] = set()

    def value(self, name: str, op: Any) -> Value:
        """Return the value of a parameter."""
        declared = op.get_output_partial_shape(0)
        shape = None
        if declared.rank.is_static:
            shape = tuple(self._dim(d, place_name(name, axis)) for axis, d in enumerate(declared))
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
            known = symbol(name)
            if held is not None:
                self._by_symbol[held] = known
        return known


def _intervals(op: Any, dims: tuple[Dim, ...] | None) -> Iterator[Interval]:
    """Yield the intervals of a parameter's dynamic dimensions."""
    declared = op.get_output_partial_shape(0)
    for dimension, dim in zip(declared, dims or (), strict=True) if declared.rank.is_static else ():
        if not dimension.is_static:
            most = int(dimension.get_max_length())
            yield Interval(dim, int(dimension.get_min_length()), most if most >= 0 else None)
