"""A model as a front end reads it, and as a walk through it leaves it: what every statement about it is made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from symbcast.answers.public.env import ShapeEnv
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.inputs.given import Given
    from symbcast.graphs.inputs.inputs import Inputs
    from symbcast.graphs.requirements.condition import Conditions
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.walk import Walk


class Model(ABC):
    """A model of some framework, read.

    Attributes:
        source: what it is called in answers: its file, or its own name.
        graph: what is walked.
        path: the file that it came from, if one.
        raw: what the framework has for it.
        inner: how many nodes there are in graphs within its graph, and in functions.
    """

    def __init__(self, source: str, graph: Graph, *, path: Path | None = None, raw: Any = None, inner: int = 0) -> None:
        self.source = source
        self.graph = graph
        self.path = path
        self.raw = raw
        self.inner = inner

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that a caller gives."""
        return tuple(self.graph.inputs)

    @abstractmethod
    def read_inputs(self, env: ShapeEnv, given: Given, *, are_open: bool = False) -> Inputs:
        """Return the inputs as values, with what a caller knows of them; see `symbcast.graphs.inputs.inputs`.

        ``are_open`` says that a tensor whose rank nobody says has a sequence of axes. Raises `BindingError` where what
        is given cannot be of these inputs.
        """

    def said(self, inputs: Inputs, min_size: int) -> Iterable[tuple[Formula, str]]:
        """Yield what the model itself says of its sizes, and the text by which users are told; empty for none."""
        return ()

    def note(self, walk: Walk) -> None:  # noqa: B027 - most models have nothing to say
        """Tell a walk that came to its end what is to be said of the model as a whole."""

    def settle(self, walk: Walk) -> None:  # noqa: B027 - as above
        """Raise `ModelError` where the last walk shows that the model is malformed."""


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
