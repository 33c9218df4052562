"""The answer about a traced function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from symbcast.core.guesses import meant
from symbcast.core.logic.formulas import FALSE
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.text import parse_shape
from symbcast.errors import SymbcastError
from symbcast.paths.conclusions.findings import PathFinding
from symbcast.paths.paths import Paths
from symbcast.paths.runs.exploration import Exploration

_TEXT = re.compile(r"(?P<name>\w+)='(?P<text>[^']*)'")
_OF_TYPES = re.compile(r"\w*(?:TypeError|AttributeError)\b")


def _is_shape(text: str) -> bool:
    try:
        return bool(parse_shape(text))
    except SymbcastError:
        return False


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

    def _suited(self, finding: PathFinding) -> PathFinding:
        """Return a finding whose fix names an argument that is text where an array was surely meant."""
        texts = [found for found in map(_TEXT.fullmatch, self.arguments) if found and _is_shape(found["text"])]
        if finding.formula != FALSE or not texts or not _OF_TYPES.match(finding.error):
            return finding
        name, text = texts[0]["name"], texts[0]["text"]
        return replace(
            finding, fix=f"{name} is text; for an array of this shape, write {name}=symbcast.array({text!r})"
        )

    @property
    def title(self) -> str:
        """The call that was traced."""
        return f"{self.name}({', '.join(self.arguments)})"
