"""A caller's limit on time. Nothing else here looks at a clock.

Answers are limited by counted steps, which are the same on every run. A caller who would rather have no answer than
wait may say ``with within(0.5):`` around a question. What the clock stops is UNKNOWN with that reason, and must not
be remembered: ask `Budget.spent` before keeping an answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from symbcast.errors import ShapeTypeError

T = TypeVar("T")


class Budget:
    """Seconds from now on; ``spent`` says whether anything was stopped because they were over."""

    def __init__(self, seconds: float, outer: Budget | None = None) -> None:
        self.seconds = seconds
        self.outer = outer
        self.spent = False
        self._end = time.monotonic() + seconds
        if outer is not None:
            self._end = min(self._end, outer._end)

    @property
    def milliseconds(self) -> int:
        """What is left, at least 1 because z3 takes 0 for no limit."""
        return max(1, int((self._end - time.monotonic()) * 1000))

    def over(self) -> bool:
        """Return whether the time is over; what asks this stops then, and so the budget counts as spent."""
        if time.monotonic() < self._end:
            return False
        self.spend()
        return True

    def spend(self) -> None:
        """Note that the clock stopped something, here and in the budgets around this one."""
        self.spent = True
        if self.outer is not None:
            self.outer.spend()

    @property
    def reason(self) -> str:
        """Why an answer stayed open."""
        return f"the budget of {self.seconds:g} s was spent"


_current: ContextVar[Budget | None] = ContextVar("symbcast_budget", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Budget]:
    """Limit the time of what is decided in this block; an outer limit stays in force.

    >>> with within(2) as budget:
    ...     budget.spent
    False
    """
    budget = Budget(seconds, _current.get())
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


def current() -> Budget | None:
    """Return the budget in force, None where the caller gave none."""
    return _current.get()


def was_stopped() -> bool:
    """Return whether a budget is in force and stopped something."""
    budget = _current.get()
    return budget is not None and budget.spent


def is_over() -> bool:
    """Return whether a budget is in force and over."""
    budget = _current.get()
    return budget is not None and budget.over()


def check_budget(seconds: Any) -> float | None:
    """Return what a caller gives as a budget; raise `ShapeTypeError` for what is no number of seconds above 0."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ShapeTypeError(seconds, "a budget", "write seconds such as budget=0.5, or None for no clock")
    return float(seconds)


def asked(seconds: float | None, question: Callable[[], T], forget: Callable[[str], None]) -> T:
    """Return the answer to one question of a caller who may have given a budget for each.

    What the clock stopped is not kept: ``forget`` is called with the reason.
    """
    if seconds is None:
        return question()
    with within(seconds) as budget:
        found = question()
    if budget.spent:
        forget(budget.reason)
    return found
