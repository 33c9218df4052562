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


def check_min_size(size: int) -> None:
    """Raise `UsageError` for a least size that is none."""
    if size < 0:
        raise UsageError(f"--min-size {size}: a size is not negative; write 0 or more")


def check_limit(limit: int | None) -> None:
    """Raise `UsageError` for a limit that leaves no answer."""
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit}: write how many are wanted at most, 1 or more")
