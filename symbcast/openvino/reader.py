"""Load OpenVINO models, and read their parameters as sizes with OpenVINO's interval for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from symbcast.core.algebra.formulas import Formula, at_most
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.isolation import DiedError, IsolatedFunction, TimedOutError
from symbcast.core.programs.program import Program
from symbcast.errors import ModelError, ShapeTypeError
from symbcast.graphs.inputs import NOTHING, KnownInputs, ModelInputs, inputs_of, place_name
from symbcast.graphs.model import Model, check_path, import_library
from symbcast.openvino.graph import OpenVinoGraph, element_type_number
from symbcast.operators.values.value import Value

# OpenVINO's readers end the process on some files, such as ONNX's speaker model of WeSpeaker. So a child process reads
# a file first, and what it survives is read here.


# Seconds; only a guard against a damaged file on which a reader hangs.
_WAIT = 3600


def load_graph(model: Any) -> tuple[str, OpenVinoGraph]:
    """Return the name of a model and its graph.

    Raises `ModelError` for a file that OpenVINO cannot read.
    """
    openvino = import_library("openvino", "symbcast.openvino", "openvino")
    if isinstance(model, (str, os.PathLike)):
        source = os.fsdecode(model)
        return source, OpenVinoGraph(_read(openvino, source))
    if isinstance(model, openvino.Model):
        return str(model.get_friendly_name()), OpenVinoGraph(model)
    raise ShapeTypeError(model, "a model", "give the path of a model, such as model.xml, or an openvino.Model")


def _read(openvino: Any, source: str) -> Any:
    """Return the model in a file that a child process could read; raises `ModelError` if it could not."""
    again = "it may be truncated; convert the model again"
    check_path(source, "give the path of a model, such as model.xml")
    try:
        problem = IsolatedFunction(probe, _WAIT)(str(Path(source).absolute()))
    except DiedError:
        hint = "check it by symbcast.onnx" if source.endswith(".onnx") else again
        raise ModelError(source, "OpenVINO's reader crashes on it", hint) from None
    except TimedOutError as error:
        raise ModelError(source, f"OpenVINO's reader {error}", again) from None
    if problem:
        raise ModelError(source, f"OpenVINO cannot read it: {problem}", again)
    return openvino.Core().read_model(source)


def probe(source: str) -> str:
    """Read a file and forget it; return why that failed, or an empty text."""
    import openvino

    try:
        openvino.Core().read_model(source)
    except RuntimeError as error:
        return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), str(error))
    return ""


class SizeInterval(NamedTuple):
    """The range of a size; ``most`` is None if there is no upper bound."""

    size: Dim
    least: int
    most: int | None


def read_parameters(
    graph: OpenVinoGraph, env: Program, known: KnownInputs = NOTHING, *, are_open: bool = True
) -> tuple[ModelInputs, tuple[SizeInterval, ...]]:
    """Read the parameters of a graph and the intervals of their sizes, with what the caller knows about them.

    A dynamic dimension is named ``<input>_dim_<axis>``; dimensions that share an ``ov.Symbol`` are one size, named
    after the first of them. A dimension ``2..5`` is a size in that range. Raises `BindingError` if the given shapes,
    sizes or contents do not fit these inputs. ``are_open`` is as in `symbcast.graphs.graph`.
    """
    names = graph.inputs
    reader = _Reader()
    values = {name: reader.value(name, op) for name, op in zip(names, graph.parameters, strict=True)}
    inputs = inputs_of(values, env, known, {}, are_open=are_open)
    intervals = (
        i for name, op in zip(names, graph.parameters, strict=True) for i in _intervals(op, inputs.named[name])
    )
    return inputs, tuple(dict.fromkeys(intervals))


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
        return Value(shape, element_type_number(op.get_output_element_type(0)))

    def _dim(self, dimension: Any, name: str) -> Dim:
        if dimension.is_static:
            return int(dimension.get_length())
        own = dimension.get_symbol() if dimension.has_symbol() else None
        known = self._by_symbol.get(own) if own is not None else None
        if known is None:
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            known = symbol(name)
            if own is not None:
                self._by_symbol[own] = known
        return known


def _intervals(op: Any, dims: tuple[Dim, ...] | None) -> Iterator[SizeInterval]:
    """Yield the intervals of a parameter's dynamic dimensions."""
    declared = op.get_output_partial_shape(0)
    for dimension, dim in zip(declared, dims or (), strict=True) if declared.rank.is_static else ():
        if not dimension.is_static:
            # OpenVINO says -1 where there is no upper bound.
            most = int(dimension.get_max_length())
            yield SizeInterval(dim, int(dimension.get_min_length()), most if most >= 0 else None)


class OpenVinoModel(Model):
    """A model; ``raw`` is the ``ov.Model``."""

    graph: OpenVinoGraph

    def __init__(self, source: str, graph: OpenVinoGraph, path: Path | None) -> None:
        super().__init__(source, graph, path=path, raw=graph.raw)
        self._intervals: tuple[SizeInterval, ...] = ()

    def read_inputs(self, env: Program, known: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the parameters as values, with what the caller knows about them."""
        inputs, self._intervals = read_parameters(self.graph, env, known, are_open=are_open)
        return inputs

    def said(self, inputs: ModelInputs, min_size: int) -> Iterator[tuple[Formula, str]]:
        """Yield the ranges of sizes from the dimensions of parameters."""
        for size, least, most in self._intervals:
            if most is not None:
                yield at_most(size, most), f"{least} <= {size} <= {most}"
            if least > min_size or not isinstance(size, Symbol):  # the least size of symbols is assumed
                yield at_most(least, size), f"{size} >= {least}" if most is None and least > min_size else ""


def read(model: Any, runtime: str) -> OpenVinoModel:
    """Return a model from a file or an ``openvino.Model``; raises `ModelError` if it cannot be read."""
    source, graph = load_graph(model)
    return OpenVinoModel(source, graph, Path(fspath(model)) if isinstance(model, (str, PathLike)) else None)
