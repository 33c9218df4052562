"""Effort: the cost limit of an answer, counted in steps, so that it is the same on every machine and run.

A unit is about a microsecond of CPU. Each public call has a counter (`counted_call`). Intermediate results that other
calls need too, such as the verdict, the clauses and the witness of one answer, are `Stage` objects: each has its own
share, is computed once, and is charged to every call that reads it. So an answer does not depend on earlier
questions. Within a stage, `charge` raises `EffortSpentError` when the share is spent; whoever opened the stage then
returns a partial answer. Outside a stage nothing is stopped.

A caller may set a time limit too. Only this module reads a clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import Enum
from functools import lru_cache, wraps
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from symbcast.errors import ShapeTypeError

T = TypeVar("T")
P = ParamSpec("P")

# Units for one public call; for a program of more than 60 operations in proportion.
CALL = 2_000_000
OPERATIONS = 60
# Units that no call has.
NEVER = 1 << 62
REASON = "the effort for one question was spent"
NO_Z3 = "z3 is not available here"
# Why questions stay open in this process that a missing library could decide.
_lacking: list[str] = []


class EffortSpentError(Exception):
    """A share of effort is spent; not the caller's error, as whoever opened the share returns a partial answer."""


class Clock(Protocol):
    """A caller's time limit, which may also stop a stage."""

    def over(self) -> bool:
        """Return whether the time limit has passed."""


class Effort:
    """A counter. ``left`` is the number of units left, ``paid`` the kept values already charged to it.

    ``read`` holds, for each kept value that is being computed, the kept values that it uses.

    ``is_cut`` means that something in it was stopped by a cause outside the question, such as a clock: then the
    result must not be remembered. ``is_full`` means that it got all the units that it requested, or that the stage
    around it did: if its effort runs out, it does so for every caller.
    """

    __slots__ = ("clock", "is_call", "is_cut", "is_full", "left", "limit", "paid", "read")

    def __init__(self, limit: int, *, is_call: bool = False, clock: Clock | None = None) -> None:
        self.limit = self.left = limit
        self.is_call = is_call
        self.clock = clock
        self.is_cut = False
        self.is_full = True
        self.paid: set[CostedValue[Any]] = set()
        self.read: list[set[CostedValue[Any]]] = []

    @property
    def used(self) -> int:
        """The units that were charged."""
        return self.limit - self.left

    def charge(self, units: int) -> None:
        """Count units; in a stage, raise `EffortSpentError` if not enough are left, or the clock has run out."""
        self.left -= units
        if self.is_call:
            return
        if self.left < 0:
            raise EffortSpentError
        if self.clock is not None and self.clock.over():
            self.is_cut = True
            raise EffortSpentError


_current: ContextVar[Effort | None] = ContextVar("symbcast_effort", default=None)


def current() -> Effort | None:
    """Return the active counter, None if there is none."""
    return _current.get()


def charge(units: int) -> None:
    """Charge units to the active counter, if any; raise `EffortSpentError` if its stage has none left."""
    effort = _current.get()
    if effort is not None:
        effort.charge(units)


class counting:  # noqa: N801 - used as a function is
    """Make a counter active for a block. A class, since every call enters one: a generator takes twice as long."""

    __slots__ = ("_effort", "_token")

    def __init__(self, effort: Effort) -> None:
        self._effort = effort

    def __enter__(self) -> Effort:
        self._token = _current.set(self._effort)
        return self._effort

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def counted_call(operations: int = 0) -> AbstractContextManager[Effort]:
    """Count the effort of one public call; within another call or a stage, continue its counter.

    >>> with counted_call() as effort:
    ...     charge(5)
    ...     effort.used
    5
    """
    outer = _current.get()
    if outer is not None:
        return nullcontext(outer)
    return counting(Effort(CALL * max(OPERATIONS, operations) // OPERATIONS, is_call=True))


@contextmanager
def share(units: int, clock: Clock | None = None) -> Iterator[Effort]:
    """Open a stage with its own counter that stops the block after ``units``, or when the outer counter has none left.

    Raises `EffortSpentError` at once if nothing is left. The effort of the stage is charged to the outer counter
    afterwards. Whoever opens a stage must catch `EffortSpentError`, including the one that this function raises.
    """
    outer = _current.get()
    if outer is not None and outer.is_call and outer.left <= 0:
        outer.is_cut = True
        raise EffortSpentError
    allowance = units if outer is None else min(units, max(0, outer.left))
    effort = Effort(allowance, clock=clock)
    lacks = allowance < units
    is_within = outer is not None and not outer.is_call
    effort.is_full = not lacks or (outer is not None and is_within and outer.is_full)
    if outer is not None:
        effort.paid, effort.read = outer.paid, outer.read
    try:
        with counting(effort):
            yield effort
    finally:
        if outer is not None:
            outer.left -= min(effort.used, allowance)
            outer.is_cut = outer.is_cut or effort.is_cut or (effort.left < 0 and not effort.is_full)
        effort.is_cut = effort.is_cut or (effort.left < 0 and lacks)


def is_spent() -> bool:
    """Return whether the active call has nothing left; work that is skipped for that reason counts as cut short."""
    outer = _current.get()
    if outer is None or outer.left > 0:
        return False
    outer.is_cut = True
    return True


class CostedValue(Generic[T]):
    """A computed value and its cost in units: each call that reads it pays the cost once.

    ``cost`` does not include the costs of the kept values that it uses: a call may have paid these already, or it pays
    them now, as if it computed the value itself. So it makes no difference which call computed what.

    ``spent`` is what a call gets instead that has nothing left: without it, each of its reads would compute that again.
    Where only that is known, the cost is `NEVER`, and no call pays it.
    """

    __slots__ = ("cost", "spent", "uses", "value")

    def __init__(self, value: T, cost: int, uses: Iterable[CostedValue[Any]] = ()) -> None:
        self.value = value
        self.cost = cost
        self.uses = frozenset(uses)
        self.spent: tuple[T] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is paid as one value: those that it uses refer to the work behind them, which cannot be copied.
        return CostedValue, (self.value, self.cost + sum(use.cost for use in self.uses))

    def pay(self) -> bool:
        """Charge the cost as if the value were computed now; return False if too little effort is left."""
        if self.cost >= NEVER:
            return False
        outer = _current.get()
        if outer is None:
            return True
        if outer.read:
            outer.read[-1] |= self.uses | {self}
        if self in outer.paid:
            return True
        due = [value for value in (self, *self.uses) if value not in outer.paid]
        units = sum([value.cost for value in due])
        if outer.left < units:
            return False
        outer.left -= units
        outer.paid.update(due)
        return True


class _Computing(Generic[T]):
    """What is charged and used while a value is computed that may be kept."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._paid = set(effort.paid)
        effort.read.append(set())

    def record(self, value: T, units: int) -> CostedValue[T]:
        """Return a value with its own cost: ``units`` without those of the kept values that were paid meanwhile."""
        effort = self._effort
        uses = effort.read[-1]
        costed = CostedValue(value, max(0, units - sum([k.cost for k in effort.paid - self._paid])), uses)
        effort.paid.add(costed)
        return costed

    def end(self, costed: CostedValue[T] | None) -> None:
        """Return to the value around this one, which uses what this one uses."""
        uses = self._effort.read.pop()
        if self._effort.read:
            self._effort.read[-1] |= uses | ({costed} if costed is not None else set())


def compute_costed(work: Callable[[], T]) -> tuple[CostedValue[T], bool]:
    """Compute something within the active call; return it, and whether it may be kept: nothing cut it short."""
    with counted_call() as counter:
        was_cut, counter.is_cut = counter.is_cut, False
        before = counter.left
        computing: _Computing[T] = _Computing(counter)
        costed = None
        try:
            value = work()
            costed = computing.record(value, before - counter.left)
        finally:
            computing.end(costed)
            is_cut, counter.is_cut = counter.is_cut, was_cut or counter.is_cut
    return costed, not is_cut


def _spend() -> None:
    """Spend all that is left, as recomputing a part that is not completed would."""
    outer = _current.get()
    if outer is not None:
        outer.left = 0 if outer.is_call else -1
        outer.is_cut = outer.is_cut or outer.is_call or not outer.is_full


class Stage(Generic[T]):
    """Part of an answer that is computed once, with its own share: ``otherwise`` if the share does not suffice.

    Each call that reads it pays its cost once.
    """

    def __init__(
        self, units: int, work: Callable[[], T], otherwise: Callable[[], T], clock: Callable[[], Clock | None]
    ) -> None:
        self._units = units
        self._work = work
        self._otherwise = otherwise
        self._clock = clock
        self._known: CostedValue[T] | None = None

    def __call__(self) -> T:
        """Return the part; it is not remembered if the clock or a lack of effort elsewhere stopped it."""
        if self._known is not None:
            if self._known.pay():
                return self._known.value
            _spend()
            return self._otherwise()
        clock = self._clock()
        try:
            with share(self._units, clock) as effort:
                value, known = self._worked_out(effort)
        except EffortSpentError:
            return self._otherwise()
        if effort.is_cut:
            # A partial result is not shown: a later call that finds the part remembered could not pay for it either.
            return value if clock is not None else self._otherwise()
        self._known = known
        return value

    def _worked_out(self, effort: Effort) -> tuple[T, CostedValue[T]]:
        computing: _Computing[T] = _Computing(effort)
        known = None
        try:
            try:
                value = self._work()
            except EffortSpentError:
                value = self._otherwise()
            known = computing.record(value, min(effort.used, self._units))
            return value, known
        finally:
            computing.end(known)


def remembered(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember a function's results and their costs; the cost is charged on each call, so history has no effect."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(maxsize=maxsize)
        def worked_out(*args: Hashable, **kwargs: Hashable) -> tuple[T, int]:
            outer = _current.get()
            is_stage = outer is not None and not outer.is_call
            effort = Effort(outer.left if outer is not None and is_stage else CALL, is_call=not is_stage)
            effort.clock = outer.clock if outer is not None else None
            try:
                with counting(effort):
                    value = function(*args, **kwargs)  # type: ignore[arg-type]
            except BaseException:
                if outer is not None:
                    outer.left -= effort.used
                    outer.is_cut = outer.is_cut or effort.is_cut
                raise
            return value, effort.used

        @wraps(function)
        def charged(*args: P.args, **kwargs: P.kwargs) -> T:
            value, cost = worked_out(*args, **kwargs)  # type: ignore[arg-type]
            charge(cost)
            return value

        return charged

    return wrap


def uncounted(function: Callable[P, T]) -> Callable[P, T]:
    """Charge nothing of a function whose work is bounded and small, since a value may be kept from another call.

    Functions that charge nothing need it not: most, but not those that multiply terms.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with counting(Effort(CALL, is_call=True)):
            return function(*args, **kwargs)

    return call


def cached_uncounted(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function whose work is bounded and small: none of it is charged, neither on the first call nor later."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        return cast("Callable[P, T]", lru_cache(maxsize=maxsize)(uncounted(function)))

    return wrap


# The tiers.


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


# z3 resource units for one check: about 0.3 s.
RESOURCE_LIMIT = 2_000_000
# For a first look at a question about products.
QUICK_LIMIT = 50_000
# Units of z3 for small sizes where formulas hold, before it is asked whether smaller ones do.
OPTIMISED_LIMIT = 100_000
# The same for a check once another about the same formulas has been given up.
SHORT_LIMIT = 100_000


# The effort of one question, and a caller's time limit.
#
# Answers are limited by counted steps (`symbcast.core.effort`), which are the same on every run:
# `answer_within_budget` opens the counter of a call, and `budget_share` and `budget_stage` give parts of the answer
# their shares. A caller who prefers no answer to a late one may write ``with within(0.5):`` around a question. An
# answer stopped by the clock is UNKNOWN with that reason, and must not be cached: check `Budget.spent` before keeping
# an answer.


# Units for whether something can hold; those below are for other parts of an answer.
DECIDED = 1_300_000
REDUCED = 400_000
# For evidence about up to 60 sizes; see `evidence_units`.
EVIDENCE = 200_000
# For the smallest of the known samples, where evidence was not found.
SAMPLED = 50_000
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


_current_budget: ContextVar[Budget | None] = ContextVar("symbcast_budget", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Budget]:
    """Limit the time for decisions in this block; an outer limit stays in force.

    >>> with within(2) as budget:
    ...     budget.spent
    False
    """
    budget = Budget(seconds, _current_budget.get())
    token = _current_budget.set(budget)
    try:
        yield budget
    finally:
        _current_budget.reset(token)


def within_optional(seconds: float | None) -> AbstractContextManager[Budget | None]:
    """Limit the time of a block if the caller gave a budget: see `within`."""
    return nullcontext() if seconds is None else within(seconds)


def current_budget() -> Budget | None:
    """Return the budget in force; None if the caller gave none."""
    return _current_budget.get()


def was_stopped() -> bool:
    """Return whether a budget is in force and stopped something."""
    budget = _current_budget.get()
    return budget is not None and budget.spent


def lacks(reason: str) -> None:
    """Let every answer that is open in this process give a reason: a library is missing."""
    _lacking[:] = [reason]


def lacking() -> str:
    """Return why answers are open that a missing library could decide; empty if none is missing."""
    return _lacking[0] if _lacking else ""


def stop_reason() -> str:
    """Return why something was stopped: the caller's clock, a missing library, or the effort for one question."""
    budget = _current_budget.get()
    return budget.reason if budget is not None and budget.spent else lacking() or REASON


def budget_share(units: int) -> AbstractContextManager[Effort]:
    """Open a stage of ``units`` units, which the caller's clock also stops: see `symbcast.core.effort.share`."""
    return share(units, _current_budget.get())


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
