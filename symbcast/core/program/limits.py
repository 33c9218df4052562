"""The number of answers that a caller wants, and the length of those that people read."""

from __future__ import annotations

from symbcast.core.characters import number_hint
from symbcast.errors import ShapeTypeError


def check_limit(limit: object) -> int:
    """Return a limit if it is a positive integer; raise `ShapeTypeError` for anything else."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        hint = number_hint("limit", limit, "write the maximum number of answers, 1 or more")
        raise ShapeTypeError(limit, "a limit", hint)
    return limit


LONG = 160
"""Conditions of more characters are long: people do not read them."""
