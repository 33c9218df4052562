"""The answer about a traced function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbcast.core.program.sizes.scope import Scope
from symbcast.paths.exploration import Exploration
from symbcast.paths.paths import Paths


class TraceAnswer(Paths):
    """For which sizes a function works, what comes out, and which line requires what.

    Attributes:
        name: what the function is called.
        arguments: what it was called with, as text.
        isolated: whether it was traced in a process of its own, where what kills the process is an answer too.
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
        """What the function returns, in its own structure: of arrays their shapes, of sizes expressions.

        None where that is not the same in all cases: `cases` has them.
        """
        values = [c.value for c in self.cases if c.works]
        return values[0] if len(values) == 1 else None

    @property
    def min_size(self) -> int:
        """The least size of all names."""
        return self.scope.min_size

    @property
    def data_sizes(self) -> dict[str, str]:
        """The numbers that data decide, by name, with the line that each comes from."""
        return {size.name: f"{place}: {place.source}" for size, (place, _) in self.exploration.data.items()}
