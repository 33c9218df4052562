"""The answer about a traced function."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.guesses import meant
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

    _meant = meant(
        "args inputs operands -> arguments",
        "function source called -> name",
        "sarif to_sarif -> report('sarif')",
        base=Paths._meant,
    )
    isolated = False

    def __init__(self, scope: Scope, exploration: Exploration, name: str, arguments: Sequence[str]) -> None:
        super().__init__(scope, exploration)
        self.name = name
        self.arguments = tuple(arguments)

    @property
    def title(self) -> str:
        """The call that was traced."""
        return f"{self.name}({', '.join(self.arguments)})"
