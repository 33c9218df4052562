"""Standard input, as the place of a shape or a file."""

from __future__ import annotations

import sys

from symbcast.cli.statuses import UsageError

STDIN = "-"
"""Stands for standard input where a shape or a file is expected."""


def read_stdin(limit: int = -1) -> bytes:
    """Return up to ``limit`` bytes from standard input; raise `UsageError` if it cannot be read."""
    try:
        return sys.stdin.buffer.read(limit)
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError(
            f"standard input cannot be read: {getattr(error, 'strerror', None) or 'it is closed'}"
        ) from None
