"""The answer about a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symbcast.onnx.condition import Conditions
from symbcast.onnx.walk import Unanalysed, Walk, shapes_of
from symbcast.shapes import Shape

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

    from symbcast.env import ShapeEnv
    from symbcast.onnx.asking import Asker
    from symbcast.onnx.inputs import Inputs


class ModelReport:
    """What is to be said of a model."""

    def __init__(self, source: str, model: Any, env: ShapeEnv, asker: Asker, walk: Walk, inputs: Inputs) -> None:
        self.source = source
        self._model = model
        self._env = env
        self._asker = asker
        self._walk = walk
        self._inputs = inputs
        self._conditions = Conditions(env, asker)

    @property
    def shapes(self) -> Mapping[str, Shape | None]:
        """The shape of every value by name."""
        return shapes_of({**self._walk.inner, **self._walk.top.values})

    @property
    def condition(self) -> Boolean:
        """The condition."""
        return self._conditions.condition

    @property
    def unanalysed(self) -> tuple[Unanalysed, ...]:
        """Nodes whose own conditions were not looked at."""
        return tuple(self._walk.unanalysed)
