"""The four verdicts."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """The sizes for which a broadcast is valid: all, some, none, or unknown."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"
    UNKNOWN = "unknown"
