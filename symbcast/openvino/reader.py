"""Load OpenVINO models and read their parameters as sizes."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.logic.formulas import Formula, at_most
from symbcast.core.program.whole.program import Program
from symbcast.graphs.inputs.given import Given
from symbcast.graphs.inputs.inputs import Inputs
from symbcast.graphs.model import Model
from symbcast.openvino.graph import OpenVinoGraph
from symbcast.openvino.inputs.models import load
from symbcast.openvino.inputs.sizes import Interval, read_parameters


class OpenVinoModel(Model):
    """A model; ``raw`` is the ``ov.Model``."""

    graph: OpenVinoGraph

    def __init__(self, source: str, graph: OpenVinoGraph, path: Path | None) -> None:
        super().__init__(source, graph, path=path, raw=graph.raw)
        self._intervals: tuple[Interval, ...] = ()

    def read_inputs(self, env: Program, given: Given, *, are_open: bool = False) -> Inputs:
        """Return the parameters as values, with what the caller knows about them."""
        inputs, self._intervals = read_parameters(self.graph, env, given, are_open=are_open)
        return inputs

    def said(self, inputs: Inputs, min_size: int) -> Iterator[tuple[Formula, str]]:
        """Yield the ranges of sizes from the dimensions of parameters."""
        for size, least, most in self._intervals:
            if most is not None:
                yield at_most(size, most), f"{least} <= {size} <= {most}"
            if least > min_size or not isinstance(size, Symbol):  # the least size of symbols is assumed
                yield at_most(least, size), f"{size} >= {least}" if most is None and least > min_size else ""


def read(model: Any, runtime: str) -> OpenVinoModel:
    """Return a model from a file or an ``openvino.Model``; raises `ModelError` if it cannot be read."""
    source, graph = load(model)
    return OpenVinoModel(source, graph, Path(fspath(model)) if isinstance(model, (str, PathLike)) else None)
