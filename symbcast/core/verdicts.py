"""The four answers."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """For which sizes a broadcast is valid."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"
    UNKNOWN = "unknown"
