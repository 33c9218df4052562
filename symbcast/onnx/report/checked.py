"""A model that was walked through: what all that is said of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from symbcast.answers.public.env import ShapeEnv
    from symbcast.onnx.inputs.given import Given
    from symbcast.onnx.inputs.names import Inputs
    from symbcast.onnx.requirements.condition import Conditions
    from symbcast.onnx.requirements.recorder import Asker
    from symbcast.onnx.walk import Walk


class Checked(NamedTuple):
    """A model that was walked through, and all that was found on the way.

    ``env`` holds all sizes, also those that data decide; ``path`` is the file that the model came from, if one;
    ``assumptions`` are the user's own, as they were written, and what is ``given`` of the inputs; ``again`` walks
    through the model once more, given something else.
    """

    source: str
    path: Path | None
    model: Any
    env: ShapeEnv
    conditions: Conditions
    asker: Asker
    walk: Walk
    inputs: Inputs
    assumptions: tuple[str, ...]
    min_size: int
    given: Given
    again: Callable[[Given], Checked]
