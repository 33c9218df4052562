"""The verdicts, and the two ways to derive one: from what is possible, or from an account."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Protocol, TypeAlias


class Verdict(Enum):
    """The sizes for which a broadcast is valid: all, some, none, or unknown.

    OBSERVED is the verdict on a function of which some sizes are not proved to work or to fail, but that was called at
    all small sizes: it says nothing about larger ones.
    """

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"
    OBSERVED = "observed"
    UNKNOWN = "unknown"


# Reading a member from its class takes longer than all else that a plain verdict needs.
_UNKNOWN = Verdict.UNKNOWN

Possible: TypeAlias = "tuple[bool | None, bool | None]"
"""Whether some sizes work, and whether some fail: True, False, or None if that is not decided."""


class HasVerdict:
    """What knows whether some sizes work and whether some fail: its verdict derives from that, and only here."""

    __slots__ = ()

    @property
    def _possible(self) -> Possible:
        raise NotImplementedError

    @property
    def verdict(self) -> Verdict:
        """Whether it works for all sizes, some or none, or this is unknown."""
        return verdict_of(*self._possible)


class LazyAccount:
    """What decides most verdicts without its account, whose points have to be searched for."""

    __slots__ = ()

    @property
    def _decided_verdict(self) -> Verdict:
        """The verdict as far as it is decided for all sizes at once; unknown where only the account can say it."""
        raise NotImplementedError

    @property
    def account(self) -> HasVerdict:
        """What is known, from which the verdict, texts, guards and data derive."""
        raise NotImplementedError

    @property
    def verdict(self) -> Verdict:
        """Whether it works for all sizes, some or none, or this is unknown: then ``reason`` says why."""
        decided = self._decided_verdict
        return decided if decided is not _UNKNOWN else self.account.verdict


class AnswerLike(Protocol):
    """What has a verdict, and the smallest sizes that show it."""

    @property
    def verdict(self) -> Verdict: ...
    def witness(self) -> dict[str, int] | None: ...
    def counterexample(self) -> dict[str, int] | None: ...


def possible(verdict: Verdict) -> Possible:
    """Return whether some sizes work, and whether some fail: True, False, or None if the verdict leaves it open."""
    return _POSSIBLE[verdict]


def within_bound(verdict: Verdict, bound: str) -> Verdict:
    """Return the verdict for all ranks from one that may be bound to some: there only SOMETIMES is certain."""
    return verdict if not bound or verdict is Verdict.SOMETIMES else Verdict.UNKNOWN


def jointly_possible(verdicts: Iterable[Verdict]) -> Possible:
    """Return what is possible at the sizes of several non-empty regions.

    >>> jointly_possible([Verdict.ALWAYS, Verdict.NEVER]), jointly_possible([Verdict.ALWAYS, Verdict.UNKNOWN])
    ((True, True), (True, None))
    """
    works, fails = zip(*map(possible, verdicts), strict=True)
    return is_any(works), is_any(fails)


def is_any(answers: Iterable[bool | None]) -> bool | None:
    """Return whether any is true; None if none is and some are not known. The first that is true ends the search."""
    is_open = False
    for answer in answers:
        if answer:
            return True
        is_open = is_open or answer is None
    return None if is_open else False


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
    Verdict.OBSERVED: (None, None),
    Verdict.UNKNOWN: (None, None),
}
