"""Errors for malformed models."""

from __future__ import annotations

from typing import Any

from symbcast.core.characters import cut
from symbcast.errors import ModelError

_LONGEST = 80
"""How many characters of a name are shown."""
AGAIN = "fix the model, or export it again"
DAMAGED = "the model has names that are not valid text", "it is damaged; fetch it or export it again"


def label(node: Any) -> str:
    """Return a node's label for messages: its name or its output, and its operator."""
    name = node.name or next((o for o in node.output if o), "")
    return f"the node {quoted(name)} ({quoted(node.op_type, '')})" if name else f"a node ({quoted(node.op_type, '')})"


def quoted(name: Any, quote: str = "'") -> str:
    """Return a name for display; it may be of any length and contain unprintable characters."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
    return f"{quote}{cut(''.join(c if c.isprintable() else '?' for c in text[: 2 * _LONGEST]), _LONGEST)}{quote}"


class Source:
    """A model's name, and the function with the fault, if any."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = ""

    def fault(self, problem: str, hint: str = AGAIN) -> ModelError:
        """Return the error that says what is wrong."""
        return ModelError(self.name, f"in the function {self.function}, {problem}" if self.function else problem, hint)
