"""The tiers, and the effort of one question: shares of counted steps, and a caller's time limit.

Only this module of the solver reads a clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import Enum
from functools import wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from symbcast.core.effort import (
    CALL,
    NEVER,
    OPERATIONS,
    REASON,
    CostedValue,
    Effort,
    Stage,
    compute_costed,
    counted_call,
    current,
    is_spent,
    share,
)
from symbcast.errors import ShapeTypeError


class Satisfiability(Enum):
    """Whether some formulas can hold together."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"


class Tier(Enum):
    """The method that decides a question, cheapest first; README.md lists the files of each."""

    F0 = "integers"
    F1 = "names, joins and equalities"
    F2 = "sets of sizes, one name each"
    F3 = "linear constraints between sizes"
    F4 = "products of sizes and symbolic divisors"


RESOURCE_LIMIT = 2_000_000
"""z3 resource units for one check: about 0.3 s."""
QUICK_LIMIT = 50_000
"""For a first look at a question about products."""
OPTIMISED_LIMIT = 100_000
"""Units of z3 for small sizes where formulas hold, before it is asked whether smaller ones do."""
SHORT_LIMIT = 100_000
"""The same for a check once another about the same formulas has been given up."""


# The effort of one question, and a caller's time limit. Only this module of the solver reads a clock.
#
# Answers are limited by counted steps (`symbcast.core.effort`), which are the same on every run:
# `answer_within_budget` opens the counter of a call, and `budget_share` and `budget_stage` give parts of the answer
# their shares. A caller who prefers no answer to a late one may write ``with within(0.5):`` around a question. An
# answer stopped by the clock is UNKNOWN with that reason, and must not be cached: check `Budget.spent` before keeping
# an answer.


T = TypeVar("T")
P = ParamSpec("P")

DECIDED = 1_300_000
"""Units for whether something can hold; those below are for other parts of an answer."""
REDUCED = 400_000
EVIDENCE = 200_000
"""For evidence about up to 60 sizes; see `evidence_units`."""
SAMPLED = 50_000
"""For the smallest of the known samples, where evidence was not found."""
SHORTENED = 500_000
PROPAGATED = 200_000
CONFLICT = 400_000
REFUTED = 200_000


def evidence_units(sizes: int) -> int:
    """Return the units for evidence about some sizes: proportionally more above 60, but within what a call has left.

    >>> evidence_units(3), evidence_units(300)
    (200000, 700000)
    """
    return min(EVIDENCE * max(1, sizes // OPERATIONS), CALL - DECIDED)


class Budget:
    """A time limit in seconds from now on; ``spent`` means that it stopped something."""

    def __init__(self, seconds: float, outer: Budget | None = None) -> None:
        self.seconds = seconds
        self.outer = outer
        self.spent = False
        self._end = time.monotonic() + seconds
        if outer is not None:
            self._end = min(self._end, outer._end)

    @property
    def milliseconds(self) -> int:
        """The milliseconds left, at least 1 because z3 takes 0 for no limit."""
        return max(1, int((self._end - time.monotonic()) * 1000))

    def over(self) -> bool:
        """Return whether the time is up; callers then stop, so the budget counts as spent."""
        if time.monotonic() < self._end:
            return False
        self.spend()
        return True

    def spend(self) -> None:
        """Record that the clock stopped something, in this budget and the enclosing ones."""
        self.spent = True
        if self.outer is not None:
            self.outer.spend()

    @property
    def reason(self) -> str:
        """Why an answer is unknown or incomplete."""
        return f"the budget of {self.seconds:g} s was spent"


_current: ContextVar[Budget | None] = ContextVar("symbcast_budget", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Budget]:
    """Limit the time for decisions in this block; an outer limit stays in force.

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


def within_optional(seconds: float | None) -> AbstractContextManager[Budget | None]:
    """Limit the time of a block if the caller gave a budget: see `within`."""
    return nullcontext() if seconds is None else within(seconds)


def current_budget() -> Budget | None:
    """Return the budget in force; None if the caller gave none."""
    return _current.get()


def was_stopped() -> bool:
    """Return whether a budget is in force and stopped something."""
    budget = _current.get()
    return budget is not None and budget.spent


def stop_reason() -> str:
    """Return why something was stopped: the caller's clock, or the effort for one question."""
    budget = _current.get()
    return budget.reason if budget is not None and budget.spent else REASON


def budget_share(units: int) -> AbstractContextManager[Effort]:
    """Open a stage of ``units`` units, which the caller's clock also stops: see `symbcast.core.effort.share`."""
    return share(units, _current.get())


def budget_stage(units: int, work: Callable[[], T], otherwise: Callable[[], T]) -> Stage[T]:
    """Return part of an answer that is computed once, with its own share: see `symbcast.core.effort.Stage`."""
    return Stage(units, work, otherwise, current_budget)


def check_budget(seconds: Any) -> float | None:
    """Return a caller's budget; raise `ShapeTypeError` unless it is a number of seconds above 0."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ShapeTypeError(seconds, "a budget", "write seconds such as budget=0.5, or None for no clock")
    return float(seconds)


def answer_within_budget(
    seconds: float | None, question: Callable[[], T], forget: Callable[[str], None], operations: int = 0
) -> T:
    """Return the answer to one question, within the effort of one call and the caller's budget, if any.

    ``operations`` is the number of operations that the question is about. An answer that the clock stopped, or that
    lacked effort spent on other questions of the same call, is not kept: ``forget`` is called with the reason.
    """
    with counted_call(operations) as counter:
        was_cut, counter.is_cut = counter.is_cut, False
        # A question that had the whole counter would be cut again at the same place: its answer is kept.
        is_alone = counter.left >= counter.limit
        with within_optional(seconds) as budget:
            answer = question()
            why = stop_reason()
        is_cut = (counter.is_cut and not is_alone) or (budget is not None and budget.spent)
        counter.is_cut = was_cut or is_cut
    if is_cut:
        forget(why)
    return answer


def call_about(subject: object) -> AbstractContextManager[Effort]:
    """Count the work of a block as one call about a subject; the subject's budget in seconds limits each question.

    A subject may have a ``budget`` in seconds, and a ``_length``: how many operations it has.
    """
    seconds: float | None = getattr(subject, "budget", None)
    counted = counted_call(getattr(subject, "_length", 0))
    return counted if seconds is None else _timed(counted, seconds)


@contextmanager
def _timed(counted: AbstractContextManager[Effort], seconds: float) -> Iterator[Effort]:
    with counted as counter, within(seconds):
        yield counter


def one_call(function: Callable[P, T]) -> Callable[P, T]:
    """Make a method of an answer, or a function of one, a single call: all of its questions share one counter.

    The first argument is the subject, as `call_about` reads it.

    >>> @one_call
    ... def units(subject):
    ...     from symbcast.core.effort import current
    ...     return current().limit
    >>> units(None)
    2000000
    """

    @wraps(function)
    def asked_once(*args: P.args, **kwargs: P.kwargs) -> T:
        with call_about(args[0] if args else None):
            return function(*args, **kwargs)

    return asked_once


def compute_once(known: CostedValue[T] | None, work: Callable[[], T]) -> tuple[T, CostedValue[T] | None]:
    """Return a value that is computed once, and the record to keep for the next call, which pays its cost.

    A value that was cut short, by a clock or because other work took the effort, is not cached (None).
    """
    if known is not None and known.pay():
        return known.value, known
    counter = current()
    has_nothing = counter is not None and counter.is_call and counter.left <= 0 and current_budget() is None
    if has_nothing and known is not None and known.spent is not None and is_spent():
        return known.spent[0], known
    costed, is_whole = compute_costed(work)
    if is_whole and not was_stopped():
        return costed.value, costed
    if has_nothing:
        known = known if known is not None else CostedValue(costed.value, NEVER)
        known.spent = (costed.value,)
    return costed.value, known


class kept_property(Generic[T]):  # noqa: N801 - a decorator, as `property` is
    """A property that is computed `compute_once`, within the call that asks; each call that reads it pays its cost."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, subject: None, owner: type) -> Self: ...
    @overload
    def __get__(self, subject: object, owner: type) -> T: ...
    def __get__(self, subject: object | None, owner: type) -> Self | T:
        if subject is None:
            return self
        return self._value(subject)

    def _value(self, subject: Any) -> T:
        values: dict[str, CostedValue[T] | None] = subject.__dict__.setdefault("_kept_values", {})
        value, values[self._name] = compute_once(values.get(self._name), lambda: self._work(subject))
        return value


class answer_property(kept_property[T]):  # noqa: N801 - a decorator, as `property` is
    """A property that counts as a separate call and is computed `compute_once`."""

    def _value(self, subject: Any) -> T:
        with call_about(subject):
            return super()._value(subject)
