"""How a command ends."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit statuses."""

    ALWAYS = 0
    FAILS = 1
    USAGE = 2
    UNDECIDED = 3
    BROKEN_PIPE = 141
    INTERRUPTED = 130


class UsageError(Exception):
    """An argument that cannot be read."""
