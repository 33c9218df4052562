"""The answer about a traced function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symbcast.paths.answer import Paths
from symbcast.paths.exploration import Exploration
from symbcast.program.scope import Scope


class TraceReport(Paths):
    """For which sizes a function works, what comes out, and which line requires what."""

    def __init__(
        self, scope: Scope, exploration: Exploration, name: str, arguments: Sequence[str], dtypes: Mapping[str, Any]
    ) -> None:
        super().__init__(scope, exploration)
        self.name = name
        self.arguments = tuple(arguments)

    @property
    def shapes(self) -> Any:
        """What the function returns, in its own structure; None where that is not the same in all cases."""
        values = [c.value for c in self.cases if c.works]
        return values[0] if len(values) == 1 else None
