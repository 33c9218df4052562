"""A model that was walked through: what all that is said of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from symbcast.answers.public.env import ShapeEnv
    from symbcast.graphs.inputs.given import Given
    from symbcast.graphs.inputs.inputs import Inputs
    from symbcast.graphs.model import Model
    from symbcast.graphs.requirements.condition import Conditions
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.walk import Walk


class Checked(NamedTuple):
    """A model that was walked through, and all that was found on the way.

    ``env`` holds all sizes, also those that data decide; ``assumptions`` are the user's own, as they were written, and
    what is ``given`` of the inputs; ``again`` walks through the model once more, given something else, and with other
    assumptions where they are handed to it. ``taken`` says in
    words what is taken for granted of the runtime; it may be empty.
    """

    source: str
    model: Model
    env: ShapeEnv
    conditions: Conditions
    asker: Asker
    walk: Walk
    inputs: Inputs
    assumptions: tuple[str, ...]
    min_size: int
    given: Given
    again: Callable[..., Checked]
    taken: str
