"""All paths of a run: each alternative that one leaves open is taken by a later one, up to a limit."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from symbcast.core.effort import Effort, counting
from symbcast.core.logic.formulas import Formula
from symbcast.errors import ShapeTypeError
from symbcast.paths.path import Path, current
from symbcast.paths.places import NOWHERE, Place, home_of, is_own_fault, place_of_error
from symbcast.paths.steps import Alternative, Step, UntracedError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol, Unknown

MAX_PATHS = 128
EFFORT = 1_000_000
"""Units of effort (`symbcast.core.effort`) for all runs: the one that spends the last of them is broken off."""
MAX_NUMBERS = 8
"""How many numbers are tried where a size has to be a number, but for those that the facts leave no choice of."""


UNTOLD = (TypeError, AttributeError, NotImplementedError, RecursionError, MemoryError, ImportError, NameError)
"""Errors that may come of sizes that are no numbers, and of arrays that have no data."""
WITHOUT_DATA: set[str] = set()
"""The names of classes that stand for values that compiled code reads; what defines one puts its name here."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one path.

    Attributes:
        steps: what it decided and required.
        value: what the run returned, where it did.
        error: what it raised; None where it returned.
        place: the line that raised.
        untraced: why nothing is said of it; None where it was traced.
        numbers: the lines that made numbers of sizes.
        sizes: sizes at which all its steps hold, as far as is known.
        raw: what the run itself returned, until the outcome is confirmed.
        is_doubtful: whether the error may come of how the function was run, and says nothing unless a call agrees.
        is_confirmed: whether a call at sizes of the path did what was found.
    """

    steps: tuple[Step, ...]
    value: Any = None
    error: BaseException | None = None
    place: Place = NOWHERE
    untraced: UntracedError | None = None
    numbers: tuple[Place, ...] = ()
    sizes: Mapping[Symbol, int] = field(default_factory=dict)
    raw: Any = None
    is_doubtful: bool = False
    is_confirmed: bool = False

    @property
    def works(self) -> bool:
        """Whether the path was traced and returned."""
        return self.error is None and self.untraced is None


@dataclass
class Exploration:
    """The paths of a run, and where it was not followed.

    Attributes:
        outcomes: what became of each path.
        pending: what the facts allow and was not tried: the questions that lead there.
        data: the numbers that data decide, and which line each comes from.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    pending: list[Alternative] = field(default_factory=list)
    data: dict[Unknown, tuple[Place, str]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all that can happen is in the outcomes."""
        return not self.pending and all(o.untraced is None for o in self.outcomes)


def explored(  # noqa: PLR0913 - what a run is given, and its limits
    run: Callable[[Path], Any],
    assumed: Sequence[Formula],
    *,
    told: Callable[[Any], Any] = lambda value: value,
    min_size: int = 0,
    home: str = "",
    limit: int = MAX_PATHS,
    untold: tuple[type[BaseException], ...] = (),
) -> Exploration:
    """Run a function along its paths.

    ``told`` makes of what it returns what outlives the run. Errors of the kinds ``untold`` may come from how it is run:
    they are doubtful. Where a run does not do what the one did that it begins like, what the function does is not known
    at any sizes.
    """
    if limit < 1:
        raise ShapeTypeError(limit, "a number of paths to follow", "write 1 or more")
    found = Exploration()
    data: dict[tuple[Any, ...], Unknown] = {}
    waiting = deque([Alternative((), {})])
    effort = Effort(EFFORT)
    while waiting and len(found.outcomes) < limit and effort.left > 0:
        begun = waiting.popleft()
        path = Path(assumed, begun, min_size, data)
        path.home = home
        path.room = limit - len(found.outcomes) - 1 - len(waiting)
        with counting(effort):
            outcome = _outcome(run, path, untold, told)
        if effort.left < 0:  # whoever caught the error, and went on, did so without an answer
            untraced = UntracedError(f"the runs take more than {EFFORT} units of effort", outcome.place)
            steps = outcome.steps if path.is_begun_alike() else begun.steps  # it may have come to fewer of them
            outcome = replace(outcome, untraced=untraced, steps=steps)
        elif path.diverged or not path.is_begun_alike():
            what = path.diverged or "it asks less than before"
            return diverged(what, path.untraced.place if path.untraced else NOWHERE, _by_size(data))
        found.outcomes.append(outcome)
        for alternative in path.alternatives:
            is_left = alternative.refused_numbers > MAX_NUMBERS
            (found.pending if is_left else waiting).append(alternative)
    found.pending += waiting
    found.data = _by_size(data)
    return found


def diverged(what: str, place: Place, data: Mapping[Unknown, tuple[Place, str]]) -> Exploration:
    """Return what is known of a function that does not do the same each time: nothing."""
    error = UntracedError(f"the function does not do the same each time: {what}", place)
    return Exploration([Outcome((), untraced=error)], data=dict(data))


def _by_size(data: Mapping[tuple[Any, ...], Unknown]) -> dict[Unknown, tuple[Place, str]]:
    return {size: (key[0], key[2]) for key, size in data.items()}


def _outcome(
    run: Callable[[Path], Any], path: Path, untold: tuple[type[BaseException], ...], told: Callable[[Any], Any]
) -> Outcome:
    token = current.set(path)
    path.root = sys._getframe()
    raw, value, error, place, is_doubtful = None, None, None, NOWHERE, False
    try:
        raw = run(path)
        value = told(raw)
        if path.has_told and path.untraced is None:
            path.untraced = UntracedError("an error that has a size in its text is caught")
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # a function may raise SystemExit, or a kind of its own
        place = place_of_error(raised, path.root, path.home)
        is_doubtful = isinstance(raised, untold) or is_own_fault(raised)
        if isinstance(raised, TypeError) and any(name in str(raised) for name in WITHOUT_DATA):
            # Compiled code refused what has no data. What it would do with data cannot be confirmed: it may not check
            # sizes, and a call with other ones would write beyond an array.
            untraced = UntracedError(f"compiled code takes no array without data: {type(raised).__name__}", place)
            path.untraced = path.untraced or untraced
        error = raised.with_traceback(None)
        error.__context__ = error.__cause__ = None
    finally:
        path.root = None
        current.reset(token)
    return Outcome(
        tuple(path.steps),
        value,
        error,
        place,
        path.untraced,
        tuple(path.numbers),
        dict(path.sizes),
        raw,
        is_doubtful,
    )


__all__ = ["Exploration", "Outcome", "current", "explored", "home_of"]
