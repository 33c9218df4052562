"""The names in a model that may be spoken of, where one question is asked about many models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.public.env import ShapeEnv
from symbcast.onnx.inputs.given import ContentsLike, read_given
from symbcast.onnx.inputs.models import load
from symbcast.onnx.inputs.names import input_names, read_inputs
from symbcast.onnx.validity.models import examined

if TYPE_CHECKING:
    from symbcast.core.shapes import ShapeLike
    from symbcast.onnx.requirements.recorder import Runtime


class Present(NamedTuple):
    """The names of the sizes and of the inputs of a model."""

    sizes: tuple[str, ...]
    inputs: tuple[str, ...]


def names_in(
    path: str, shapes: Mapping[str, ShapeLike], values: Mapping[str, ContentsLike], runtime: Runtime
) -> Present:
    """Return the names in a model, those too that shapes and contents give which are given of inputs that it has."""
    graph = examined(*load(path), runtime).model.graph
    inputs = input_names(graph)
    given = read_given(
        shapes={name: shape for name, shape in shapes.items() if name in inputs},
        values={name: contents for name, contents in values.items() if name in inputs},
    )
    found = read_inputs(graph, ShapeEnv(), given)
    return Present(tuple(s.name for s in (*found.symbols, *found.held)), inputs)
