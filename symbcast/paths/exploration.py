"""All paths of a run: each alternative that one leaves open is taken by a later one, up to a limit."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symbcast.errors import ShapeTypeError
from symbcast.logic.formulas import Formula
from symbcast.paths.path import Path, current
from symbcast.paths.places import NOWHERE, Place, home_of, is_own, is_own_fault, place_of_error
from symbcast.paths.steps import Alternative, Step, UntracedError

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Unknown

MAX_PATHS = 128
MAX_NUMBERS = 8
"""How many numbers are tried where a size has to be a number, but for those that the facts leave no choice of."""


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
    """

    steps: tuple[Step, ...]
    value: Any = None
    error: BaseException | None = None
    place: Place = NOWHERE
    untraced: UntracedError | None = None
    numbers: tuple[Place, ...] = ()

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
    min_size: int = 0,
    home: str = "",
    limit: int = MAX_PATHS,
    untold: tuple[type[BaseException], ...] = (),
    is_real: Callable[[BaseException, Path], bool] | None = None,
    confirms: Callable[[Any, Path], bool] | None = None,
) -> Exploration:
    """Run a function along its paths.

    Errors of the kinds ``untold`` may come from how it is run: they say nothing of a path, unless ``is_real`` finds
    that they are; where that is given, any other error of the function's own is asked about too. What it returns is
    held against ``confirms``, where that is given. Where a run does not do what the one did that it begins like, what
    the function does is not known at any sizes.
    """
    if limit < 1:
        raise ShapeTypeError(limit, "a number of paths to follow", "write 1 or more")
    found = Exploration()
    data: dict[tuple[Any, ...], Unknown] = {}
    waiting = deque([Alternative((), {})])
    while waiting and len(found.outcomes) < limit:
        path = Path(assumed, waiting.popleft(), min_size, data)
        path.home = home
        path.room = limit - len(found.outcomes) - 1 - len(waiting)
        found.outcomes.append(_outcome(run, path, untold, is_real, confirms))
        if path.diverged or not path.is_begun_alike():
            return _diverged(path, data)
        for alternative in path.alternatives:
            is_left = alternative.refused_numbers > MAX_NUMBERS
            (found.pending if is_left else waiting).append(alternative)
    found.pending += waiting
    found.data = _by_size(data)
    return found


def _diverged(path: Path, data: Mapping[tuple[Any, ...], Unknown]) -> Exploration:
    what = path.diverged or "it asks less than before"
    error = UntracedError(
        f"the function does not do the same each time: {what}", path.untraced.place if path.untraced else NOWHERE
    )
    return Exploration([Outcome((), untraced=error)], data=_by_size(data))


def _by_size(data: Mapping[tuple[Any, ...], Unknown]) -> dict[Unknown, tuple[Place, str]]:
    return {size: (key[0], key[2]) for key, size in data.items()}


def _outcome(
    run: Callable[[Path], Any],
    path: Path,
    untold: tuple[type[BaseException], ...],
    is_real: Callable[[BaseException, Path], bool] | None,
    confirms: Callable[[Any, Path], bool] | None,
) -> Outcome:
    token = current.set(path)
    path.root = sys._getframe()
    value, error, place = None, None, NOWHERE
    try:
        value = run(path)
        if path.has_told and path.untraced is None:
            path.untraced = UntracedError("an error that has a size in its text is caught")
        if confirms is not None and path.untraced is None and not _agrees(confirms, value, path):
            path.untraced = UntracedError("the function does otherwise at sizes of the path")
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # a function may raise SystemExit, or a kind of its own
        place = place_of_error(raised, path.root, path.home)
        is_doubtful = isinstance(raised, untold) or is_own_fault(raised) or (is_real is not None and not is_own(raised))
        if is_doubtful and path.untraced is None and not (is_real is not None and _agrees(is_real, raised, path)):
            path.untraced = UntracedError(f"{type(raised).__name__}: {raised}", place)
        error = raised.with_traceback(None)
        error.__context__ = error.__cause__ = None
    finally:
        path.root = None
        current.reset(token)
    return Outcome(tuple(path.steps), value, error, place, path.untraced, tuple(path.numbers))


def _agrees(check: Callable[[Any, Path], bool], found: Any, path: Path) -> bool:
    """Return whether a check says so; where it lets out what the function raises, whether that is what was found."""
    try:
        return check(found, path)
    except KeyboardInterrupt:
        raise
    except BaseException as real:
        return type(real) is type(found)


__all__ = ["Exploration", "Outcome", "current", "explored", "home_of"]
