"""How the work on one job ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")

Prepare: TypeAlias = "Callable[[], None]"
"""Loads what the work needs, once in each process."""

Kind: TypeAlias = Literal["answered", "timed out", "died"]


def nothing() -> None:
    """Load nothing."""


class TimedOutError(Exception):
    """The work exceeded its time limit."""


class DiedError(Exception):
    """The process of some work ended; ``status`` is its exit status, a negated signal number, or None if unknown."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        return ended_with(self.status)


def ended_with(status: int | None) -> str:
    """Return how a process ended, in words.

    >>> ended_with(-9), ended_with(7), ended_with(None)
    ('signal 9', 'status 7', 'no word')
    """
    if status is None:
        return "no word"
    return f"signal {-status}" if status < 0 else f"status {status}"


@dataclass(frozen=True)
class Ending(Generic[Job, Answer]):
    """A job and its outcome: an answer, or the reason why there is none.

    ``status`` is the exit status of the job's process, if it ended and its status is known; ``text`` describes it.
    """

    job: Job
    kind: Kind
    answer: Answer | None = None
    status: int | None = None
    text: str = ""
