"""How many answers a caller wants at most."""

from __future__ import annotations

from symbcast.errors import ShapeTypeError


def check_limit(limit: object) -> int:
    """Return a limit if it is a whole number above 0; raise `ShapeTypeError` for anything else."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ShapeTypeError(limit, "a limit", "write the maximum number of answers, 1 or more")
    return limit
