"""Models as read by front ends, and models with the results of a walk, from which all answers are derived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.inputs.given import Given
    from symbcast.graphs.inputs.inputs import Inputs
    from symbcast.graphs.requirements.condition import Conditions
    from symbcast.graphs.requirements.recorder import Asker
    from symbcast.graphs.walking.walk import Walk


def check_path(source: str, hint: str) -> None:
    """Raise `ModelError` unless a path is that of a file; some are none that the system could have."""
    try:
        is_file = Path(source).is_file()
    except (OSError, ValueError) as error:
        raise ModelError(source, f"is not a path: {getattr(error, 'strerror', None) or error}", hint) from error
    if not is_file:
        raise ModelError(source, "there is no such file", hint)


class Model(ABC):
    """A model of some framework, after reading.

    Attributes:
        source: its name in answers: its file, or its own name.
        graph: the graph to walk.
        path: the file that it came from, if any.
        raw: the framework's object for it.
        inner: the number of nodes in nested graphs and in functions.
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

    @property
    def axes_in_file(self) -> Mapping[str, tuple[int | None, ...]]:
        """The shapes that the model's own file has for inputs and outputs: numbers, and None for a size that is open.

        A tensor whose rank the file does not have is not in it; nor is any if the front end does not say.
        """
        return {}

    @abstractmethod
    def read_inputs(self, env: Program, given: Given, *, are_open: bool = False) -> Inputs:
        """Return the inputs as values, with a caller's knowledge about them; see `symbcast.graphs.inputs.inputs`.

        ``are_open`` says that a tensor of unspecified rank gets a sequence of axes. Raises `BindingError` if the
        caller's knowledge does not fit these inputs.
        """

    def said(self, inputs: Inputs, min_size: int) -> Iterable[tuple[Formula, str]]:
        """Yield the model's own constraints on its sizes, each with a text for users, which may be empty."""
        return ()

    def note(self, walk: Walk) -> None:  # noqa: B027 - most models have no notes
        """Add notes about the model as a whole to a finished walk."""

    def settle(self, walk: Walk) -> None:  # noqa: B027 - as above
        """Raise `ModelError` if the last walk shows that the model is malformed."""


class Checked(NamedTuple):
    """A model that was walked, and all results of the walk.

    ``env`` holds all sizes, including data-dependent ones; ``assumptions`` are the user's own, as written, with the
    facts ``given`` about the inputs; ``again`` walks through the model once more with other given values, assumptions
    or runtime, or with sizes as the rules write them (``is_plain``), if they are passed. ``taken`` describes the
    assumptions made about the runtime; it may be empty. ``aliases`` maps short names, for reading and writing, to the
    model's own names.
    """

    source: str
    model: Model
    env: Program
    conditions: Conditions
    asker: Asker
    walk: Walk
    inputs: Inputs
    assumptions: tuple[str, ...]
    min_size: int
    given: Given
    again: Callable[..., Checked]
    taken: str
    aliases: Mapping[str, str]
