"""The four verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol


class Verdict(Enum):
    """The sizes for which a broadcast is valid: all, some, none, or unknown."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"
    UNKNOWN = "unknown"


class AnswerLike(Protocol):
    """What has a verdict, and the smallest sizes that show it."""

    @property
    def verdict(self) -> Verdict: ...
    def witness(self) -> dict[str, int] | None: ...
    def counterexample(self) -> dict[str, int] | None: ...


def possible(verdict: Verdict) -> tuple[bool | None, bool | None]:
    """Return whether some sizes work, and whether some fail: True, False, or None if the verdict leaves it open."""
    return _POSSIBLE[verdict]


def within_bound(verdict: Verdict, bound: str) -> Verdict:
    """Return the verdict for all ranks from one that may be bound to some: there only SOMETIMES is certain."""
    return verdict if not bound or verdict is Verdict.SOMETIMES else Verdict.UNKNOWN


def joint_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict for the sizes of several non-empty regions.

    >>> joint_verdict([Verdict.ALWAYS, Verdict.NEVER]), joint_verdict([Verdict.ALWAYS, Verdict.UNKNOWN])
    (<Verdict.SOMETIMES: 'sometimes'>, <Verdict.UNKNOWN: 'unknown'>)
    """
    works, fails = zip(*map(possible, verdicts), strict=True)
    return verdict_of(_any(works), _any(fails))


def _any(known: Sequence[bool | None]) -> bool | None:
    """Return whether any is true; None if none is and some are not known."""
    return True if True in known else None if None in known else False


def verdict_of(can_work: bool | None, can_fail: bool | None) -> Verdict:
    """Return the verdict if some sizes work or fail (True), none do (False), or that is not proved (None).

    >>> [verdict_of(*known).value for known in [(True, True), (True, None), (None, False), (False, None)]]
    ['sometimes', 'unknown', 'always', 'never']
    """
    if can_work and can_fail:
        return Verdict.SOMETIMES
    if can_work is False:
        return Verdict.NEVER
    return Verdict.ALWAYS if can_fail is False else Verdict.UNKNOWN


_POSSIBLE = {
    Verdict.ALWAYS: (True, False),
    Verdict.SOMETIMES: (True, True),
    Verdict.NEVER: (False, True),
    Verdict.UNKNOWN: (None, None),
}
