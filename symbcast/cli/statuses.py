"""Exit statuses and usage errors of the commands."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

from symbcast.core.verdicts import Verdict
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


FAILING = {"never": (Verdict.NEVER,), "sometimes": (Verdict.NEVER, Verdict.SOMETIMES)}
"""The verdicts at which a command fails, by its ``--fail-on``."""


def status_of(verdict: Verdict, fail_on: str = "sometimes") -> Exit:
    """Return the exit status of an answer: the only place that derives one from a verdict.

    >>> status_of(Verdict.SOMETIMES), status_of(Verdict.SOMETIMES, "never"), status_of(Verdict.UNKNOWN)
    (<Exit.FAILS: 1>, <Exit.ALWAYS: 0>, <Exit.UNDECIDED: 3>)
    """
    if fail_on == "unknown":
        return Exit.ALWAYS if verdict is Verdict.ALWAYS else Exit.FAILS
    if verdict is Verdict.UNKNOWN:
        return Exit.UNDECIDED
    return Exit.FAILS if verdict in FAILING[fail_on] else Exit.ALWAYS


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
