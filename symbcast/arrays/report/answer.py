"""The answer about a traced function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.core.program.sizes.scope import Scope
from symbcast.paths.paths import Paths
from symbcast.paths.runs.exploration import Exploration


class TraceAnswer(Paths):
    """For which sizes a function works, its result, and which line requires what.

    Attributes:
        name: the name of the function.
        arguments: the arguments it was called with, as text.
        isolated: whether it was traced in a child process, so that a crash is an answer too.
    """

    isolated = False

    def __init__(self, scope: Scope, exploration: Exploration, name: str, arguments: Sequence[str]) -> None:
        super().__init__(scope, exploration)
        self.name = name
        self.arguments = tuple(arguments)

    @property
    def title(self) -> str:
        """The call that was traced."""
        return f"{self.name}({', '.join(self.arguments)})"

    @property
    def shapes(self) -> Any:
        """The result in its original structure, with shapes instead of arrays and expressions instead of sizes.

        None if it differs between cases: see `cases`.
        """
        values = [c.value for c in self.cases if c.works]
        return values[0] if len(values) == 1 else None

    @property
    def min_size(self) -> int:
        """The minimum size of every name."""
        return self.scope.min_size

    @property
    def data_sizes(self) -> dict[str, str]:
        """The data-dependent numbers by name, each with the line that it comes from."""
        return {size.name: f"{place}: {place.source}" for size, (place, _) in self.exploration.data.items()}
