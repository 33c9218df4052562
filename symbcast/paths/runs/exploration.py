"""Explore all paths of a run: a later run takes each alternative that a run leaves open, up to a limit."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from symbcast.core.characters import number_hint
from symbcast.core.effort import Effort, counting
from symbcast.core.logic.formulas import Formula
from symbcast.errors import ShapeTypeError
from symbcast.paths.places import NOWHERE, Place, home_of, is_own_fault, place_of_error
from symbcast.paths.runs.path import Path, current
from symbcast.paths.runs.steps import Alternative, LoopRefusedError, Step, UntracedError

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol, Unknown
    from symbcast.operators.context import Dims

MAX_PATHS = 128
EFFORT = 1_000_000
"""Units of effort (`symbcast.core.effort`) for all runs: the run that exhausts them is aborted."""
MAX_NUMBERS = 8
"""How many numbers are tried where a size must become a number; numbers forced by the facts do not count."""


UNTOLD = (TypeError, AttributeError, NotImplementedError, RecursionError, MemoryError, ImportError, NameError)
"""Errors that may occur only because traced sizes are not numbers and traced arrays have no data."""
WITHOUT_DATA: set[str] = set()
"""The names of stand-in classes whose real counterparts compiled code reads; each registers its name here."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one path.

    Attributes:
        steps: its decisions and requirements.
        value: the result, if the run returned.
        error: the error raised; None if the run returned.
        place: the line that raised.
        untraced: why the outcome is unknown; None if the path was traced.
        numbers: the lines that turned sizes into numbers.
        sizes: sizes at which all its steps hold, as far as is known.
        raw: the unconverted result of the run, until the outcome is confirmed.
        is_doubtful: whether the error may be caused by tracing itself; it counts only if a real call agrees.
        is_confirmed: whether a real call at sizes of the path agreed.
        pairs: broadcasts that put one size on two axes, though no operand has it twice: the line, and the operands.
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
    pairs: tuple[tuple[Place, tuple[Dims, ...]], ...] = ()

    @property
    def works(self) -> bool:
        """Whether the path was traced and returned."""
        return self.error is None and self.untraced is None


@dataclass(frozen=True)
class Observed:
    """What a real call did at some sizes, by name: it returned, or raised ``error`` at a line."""

    sizes: Mapping[str, int]
    error: str = ""
    place: Place = NOWHERE


@dataclass
class Exploration:
    """The paths of a run, and the alternatives that were not followed.

    Attributes:
        outcomes: the outcome of each path.
        pending: the alternatives that the facts allow but that were not tried.
        data: the data-dependent numbers, each with its line and what it counts.
        observed: what real calls did, each at other sizes; one that raised did so for all data that were tried.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    pending: list[Alternative] = field(default_factory=list)
    data: dict[Unknown, tuple[Place, str]] = field(default_factory=dict)
    observed: tuple[Observed, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the outcomes cover everything that can happen."""
        return not self.pending and all(o.untraced is None for o in self.outcomes)


def explored(  # noqa: PLR0913 - the inputs of a run, and its limits
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

    ``told`` converts the result to a value that outlives the run. Errors of the types ``untold`` may be caused by
    tracing itself, so they are doubtful. If a run differs from the earlier run whose first answers it repeats, nothing
    is known about the function at any sizes.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ShapeTypeError(limit, "a number of paths to follow", number_hint("max_paths", limit, "write 1 or more"))
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
        if effort.left < 0:  # code that caught the effort error and went on got no answer to its comparison
            untraced = UntracedError(f"the runs exceed the budget of {EFFORT} units of effort", outcome.place)
            steps = outcome.steps if path.is_begun_alike() else begun.steps  # it may have reached fewer of them
            outcome = replace(outcome, untraced=untraced, steps=steps)
        elif path.diverged or not path.is_begun_alike():
            what = path.diverged or "it makes fewer comparisons than before"
            return diverged(what, path.untraced.place if path.untraced else NOWHERE, _by_size(data))
        if path.loops.refused is not None:  # code that catches everything went on
            raise LoopRefusedError(path.loops.refused)
        found.outcomes.append(outcome)
        for alternative in path.alternatives:
            is_left = alternative.refused_numbers > MAX_NUMBERS
            (found.pending if is_left else waiting).append(alternative)
    found.pending += waiting
    found.data = _by_size(data)
    return found


def diverged(what: str, place: Place, data: Mapping[Unknown, tuple[Place, str]]) -> Exploration:
    """Return the empty exploration of a function whose runs differ: nothing is known about it."""
    error = UntracedError(f"the function behaves differently from run to run: {what}", place)
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
            path.untraced = UntracedError("the function catches an error whose message contains a size")
    except (KeyboardInterrupt, LoopRefusedError):
        raise
    except BaseException as raised:  # a function may raise SystemExit, or its own error type
        place = place_of_error(raised, path.root, path.home)
        is_doubtful = isinstance(raised, untold) or is_own_fault(raised)
        if isinstance(raised, TypeError) and any(name in str(raised) for name in WITHOUT_DATA):
            # Compiled code refused an array without data. A real call cannot safely confirm the path: compiled code
            # may not check sizes, and other sizes could make it write out of bounds.
            what = f"compiled code does not accept an array without data: {type(raised).__name__}"
            untraced = UntracedError(what, place, is_compiled=True)
            path.untraced = path.untraced or untraced
        error = raised.with_traceback(None)
        error.__context__ = error.__cause__ = None
    finally:
        path.root = None
        path.turns.clear()
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
        pairs=tuple(path.pairs),
    )


__all__ = ["Exploration", "Outcome", "current", "explored", "home_of"]
