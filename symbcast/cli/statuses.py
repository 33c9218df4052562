"""Exit statuses and usage errors of the commands."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

from symbcast.errors import DimensionError, ShapeTypeError

T = TypeVar("T")


class Exit(IntEnum):
    """The exit statuses."""

    ALWAYS = 0
    FAILS = 1
    USAGE = 2
    UNDECIDED = 3
    BROKEN_PIPE = 141
    INTERRUPTED = 130


class UsageError(Exception):
    """An argument that cannot be read, or that does not fit the others."""


def checked(option: str, check: Callable[[T], object], value: T) -> T:
    """Return the value of an option; raise `UsageError`, which names the option, if a check rejects the value."""
    try:
        check(value)
    except (DimensionError, ShapeTypeError) as error:
        said = f"{error.problem}; {error.hint}" if isinstance(error, DimensionError) else error.hint
        raise UsageError(f"{option} {value}: {said}") from None
    return value
