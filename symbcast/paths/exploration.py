"""Explore all paths of a run, and restore the caches in which a run leaves sizes or arrays without data."""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import number_hint
from symbcast.core.effort import Effort, counting
from symbcast.core.programs.scope import Scope
from symbcast.errors import ShapeTypeError
from symbcast.operators.operator import Dims
from symbcast.paths.path import Path, current
from symbcast.paths.steps import (
    NOWHERE,
    Alternative,
    CodePlace,
    LoopRefusedError,
    PathStep,
    UntracedError,
    home_of,
    is_own_fault,
    place_of_error,
)

# What traced code keeps: arrays without data and sizes without values in its caches, which no real call must find.
#
# A function may keep results in a global name, in a dict, list or set of its module, in a default, in an attribute, or
# in `functools.lru_cache`. Such places are copied before a trace. Where a trace leaves something symbolic in one, its
# state from before the trace is restored; all other changes are effects of the function, and stay.


# The maximum number of places to copy: a notebook may reach everything ever created there.
MAX_PLACES = 2000
# The maximum number of entries of a place that is copied: larger ones hold data, not results of calls.
MAX_ENTRIES = 4096
# How deep values are searched for something symbolic.
MAX_DEPTH = 3
_DICTS = (dict, OrderedDict, defaultdict)
_LISTS = (list, deque)
_CACHE: type = type(lru_cache(len))


@contextmanager
def restoring_caches(
    values: Iterable[Any], symbolic: tuple[type, ...], real_of: Callable[[Any], Any] = lambda value: value
) -> Iterator[None]:
    """Restore the places that can be reached from some values, in which a trace leaves something symbolic.

    ``symbolic`` are the types of values that mean something in a trace only, and ``real_of`` returns what a stand-in
    stands for.
    """
    before = list(_copies(values, partial(_is_symbolic, kinds=symbolic), real_of))
    try:
        yield
    finally:
        for restore in before:
            restore()


Symbolic = Callable[[Any], bool]


def _copies(
    values: Iterable[Any], is_symbolic: Symbolic, real_of: Callable[[Any], Any]
) -> Iterator[Callable[[], None]]:
    """Yield a function for each place, which restores it if necessary."""
    for place, before in places(values):
        kind = type(place)
        if kind is _CACHE:
            yield partial(_clear, place, is_symbolic)
        elif kind is CellType:
            yield partial(_restore_cell, place, before, is_symbolic)
        elif before is not None:
            yield partial(_restore, place, before, is_symbolic, real_of)


# What `places` yields last if it has not looked at everything.
UNSEEN = object()


def places(values: Iterable[Any], most: int = MAX_PLACES, entries: int = MAX_ENTRIES) -> Iterator[tuple[Any, Any]]:
    """Yield what can be reached from some values and may keep others, with a copy of what it has now: near ones first.

    Dicts, lists, sets and cells have a copy; caches of functions, and all other objects, have None. At most so many
    places, and containers of at most so many entries, are looked at; if some are left, `UNSEEN` is the last.
    """
    seen: set[int] = set()
    waiting = deque(values)
    is_whole = True
    while waiting and len(seen) < most:
        value = waiting.popleft()
        kind = type(value)
        if id(value) in seen or kind in _PLAIN:
            continue
        seen.add(id(value))
        if kind in _DICTS or kind in _LISTS or kind is set:
            if len(value) > entries:
                is_whole = False
                continue
            copy = dict(value) if kind in _DICTS else list(value)
            yield value, copy
            waiting += copy.values() if isinstance(copy, dict) else copy
        elif kind is CellType:
            with suppress(ValueError):  # an empty cell
                yield value, value.cell_contents
                waiting.append(value.cell_contents)
        else:
            yield value, None
            waiting += (value.__wrapped__,) if kind is _CACHE else _within(value, kind)
    if waiting or not is_whole:
        yield UNSEEN, None


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), range})
_PLAIN = _ATOMS | {tuple, frozenset, slice}


def _within(value: Any, kind: type) -> Iterator[Any]:
    """Yield what a function, a method, a class, a module or an object of a user's class may keep values in."""
    if kind is FunctionType:
        yield from value.__closure__ or ()
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield value.__dict__
        if is_of_user(value.__globals__.get("__name__"), value.__globals__.get("__file__")):
            yield value.__globals__
    elif kind is MethodType:
        yield from (value.__self__, value.__func__)
    elif kind is partial:
        yield from (value.func, *value.args, *value.keywords.values())
    elif kind is ModuleType:
        if is_of_user(value.__name__, getattr(value, "__file__", None)):
            yield vars(value)
    elif isinstance(value, type):
        if _is_of_user_class(value):
            yield from list(vars(value).values())
    elif _is_of_user_class(kind):
        yield from (kind, getattr(value, "__dict__", None))


def _is_of_user_class(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return module is None or is_of_user(kind.__module__, getattr(module, "__file__", None))


@cache
def is_of_user(name: str | None, file: str | None) -> bool:
    """Return whether a module is the user's own: neither installed, nor of Python, nor of this package."""
    top = str(name).partition(".")[0]
    is_known = top != "__main__" and (top in sys.stdlib_module_names or top == "symbcast")
    return not is_known and "site-packages" not in str(file) and "dist-packages" not in str(file)


def _restore(place: Any, before: Any, is_symbolic: Symbolic, real_of: Callable[[Any], Any]) -> None:
    """Restore a dict, a list or a set if a value that it has got is symbolic; a stand-in becomes the real one."""
    new: Iterable[Any] = ()
    if isinstance(before, dict):
        changed = [k for k, v in place.items() if before.get(k, before) is not v]
        for key in changed:
            place[key] = real_of(place[key])
        new = [(key, place[key]) for key in changed]
    elif type(place) is set:
        new = place.difference(before)
    elif len(place) != len(before) or any(a is not b for a, b in zip(place, before, strict=True)):
        new = place
    if any(map(is_symbolic, new)):
        place.clear()
        (place.extend if type(place) in _LISTS else place.update)(before)


def _restore_cell(cell: CellType, before: Any, is_symbolic: Symbolic) -> None:
    with suppress(ValueError):  # the function has emptied it
        if cell.cell_contents is not before and is_symbolic(cell.cell_contents):
            cell.cell_contents = before


def _clear(cached: Any, is_symbolic: Symbolic) -> None:
    """Clear a cache in which a result or an argument is symbolic."""
    if cached.cache_info().currsize and any(map(is_symbolic, gc.get_referents(cached))):
        cached.cache_clear()


def _is_symbolic(value: Any, kinds: tuple[type, ...], depth: int = MAX_DEPTH) -> bool:
    """Return whether a value is symbolic or contains something symbolic."""
    kind = type(value)
    if issubclass(kind, kinds):
        return True
    if not depth or kind in _ATOMS or isinstance(value, (type, ModuleType, FunctionType)):
        return False
    # The collector knows what objects refer to, also where a class hides it.
    return any(_is_symbolic(v, kinds, depth - 1) for v in gc.get_referents(value))


MAX_PATHS = 128
# Units of effort (`symbcast.core.effort`) for all runs: the run that exhausts them is aborted.
EFFORT = 1_000_000
# How many numbers are tried where a size must become a number; numbers forced by the facts do not count.
MAX_NUMBERS = 8


# Errors that may occur only because traced sizes are not numbers and traced arrays have no data.
DOUBTFUL_ERRORS = (TypeError, AttributeError, NotImplementedError, RecursionError, MemoryError, ImportError, NameError)
# The names of stand-in classes whose real counterparts compiled code reads; each registers its name here.
WITHOUT_DATA: set[str] = set()


@dataclass(frozen=True, eq=False)
class PathOutcome:
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
        data_lines: the lines where unsuitable values of data raise an error, such as an index out of bounds.
    """

    steps: tuple[PathStep, ...]
    value: Any = None
    error: BaseException | None = None
    place: CodePlace = NOWHERE
    untraced: UntracedError | None = None
    numbers: tuple[CodePlace, ...] = ()
    sizes: Mapping[Symbol, int] = field(default_factory=dict)
    raw: Any = None
    is_doubtful: bool = False
    is_confirmed: bool = False
    pairs: tuple[tuple[CodePlace, tuple[Dims, ...]], ...] = ()
    data_lines: tuple[CodePlace, ...] = ()

    @property
    def works(self) -> bool:
        """Whether the path was traced and returned."""
        return self.error is None and self.untraced is None


@dataclass(frozen=True)
class ObservedCall:
    """What a real call did at some sizes, by name: it returned, or raised ``error`` at a line."""

    sizes: Mapping[str, int]
    error: str = ""
    place: CodePlace = NOWHERE

    @property
    def rank(self) -> tuple[bool, int]:
        """The order in which calls are shown: those without sizes of 0 first, then smaller ones."""
        return 0 in self.sizes.values(), sum(self.sizes.values())


@dataclass(frozen=True)
class Observation:
    """What real calls did at all sizes up to a small one; it proves nothing about larger ones.

    Attributes:
        condition: the condition of the sizes at which the calls worked: the shortest that was seen to fit.
        shapes: the result in its own structure, with shapes instead of arrays; None if no form fits all of them.
        tried: how many combinations of sizes up to `largest` were called: all of them.
        largest: the largest size up to which all were tried.
        larger: how many combinations beyond it were called.
        works: at how many of all these the function worked.
    """

    condition: Condition
    shapes: Any
    tried: int
    largest: int
    larger: int
    works: int

    def __str__(self) -> str:
        calls = self.tried + self.larger
        works = f"works when {self.condition}" if 0 < self.works < calls else "works" if self.works else "fails"
        larger = f" and {self.larger} larger ones" if self.larger else ""
        return f"at all {self.tried} sizes up to {self.largest}{larger} tried: {works}; not proved beyond"


@dataclass
class Exploration:
    """The paths of a run, and the alternatives that were not followed.

    Attributes:
        outcomes: the outcome of each path.
        pending: the alternatives that the facts allow but that were not tried.
        data: the data-dependent numbers, each with its line and what it counts.
        observed: what real calls did, each at other sizes; one that raised did so for all data that were tried.
        observation: what calls at all small sizes show, if paths are open.
        unobserved: why there is no observation.
        is_steady: whether all runs did the same.
    """

    outcomes: list[PathOutcome] = field(default_factory=list)
    pending: list[Alternative] = field(default_factory=list)
    data: dict[Unknown, tuple[CodePlace, str]] = field(default_factory=dict)
    observed: tuple[ObservedCall, ...] = ()
    observation: Observation | None = None
    unobserved: str = ""
    is_steady: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether the outcomes cover everything that can happen."""
        return not self.pending and all(o.untraced is None for o in self.outcomes)


def explore_all(  # noqa: PLR0913 - the inputs of a run, and its limits
    run: Callable[[Path], Any],
    scope: Scope,
    *,
    lasting: Callable[[Any], Any] = lambda value: value,
    home: str = "",
    limit: int = MAX_PATHS,
    doubtful: tuple[type[BaseException], ...] = (),
) -> Exploration:
    """Run a function along its paths.

    ``lasting`` converts the result to a value that outlives the run. Errors of the types ``doubtful`` may be caused by
    tracing itself, so they are doubtful. If a run differs from the earlier run whose first answers it repeats, nothing
    is known about the function at any sizes.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ShapeTypeError(limit, "a number of paths to follow", number_hint("max_paths", limit, "write 1 or more"))
    exploration = Exploration()
    assumed = [a.formula for a in scope.assumptions]
    data: dict[tuple[Any, ...], Unknown] = {}
    waiting = deque([Alternative((), {})])
    effort = Effort(EFFORT)
    while waiting and len(exploration.outcomes) < limit and effort.left > 0:
        prefix = waiting.popleft()
        path = Path(assumed, prefix, scope.min_size, data)
        path.home = home
        path.room = limit - len(exploration.outcomes) - 1 - len(waiting)
        with counting(effort):
            outcome = _outcome(run, path, doubtful, lasting)
        if effort.left < 0:  # code that caught the effort error and went on got no answer to its comparison
            untraced = UntracedError(f"the runs exceed the budget of {EFFORT} units of effort", outcome.place)
            steps = outcome.steps if path.repeats_prefix() else prefix.steps  # it may have reached fewer of them
            outcome = replace(outcome, untraced=untraced, steps=steps)
        elif path.diverged or not path.repeats_prefix():
            what = path.diverged or "it makes fewer comparisons than before"
            return unsteady_exploration(what, path.untraced.place if path.untraced else NOWHERE, _by_size(data))
        if path.loops.refused is not None:  # code that catches everything went on
            raise LoopRefusedError(path.loops.refused)
        exploration.outcomes.append(outcome)
        for alternative in path.alternatives:
            # Each rejected number leaves another path: without this limit, range(n) would use up all paths.
            is_left = alternative.refused_numbers > MAX_NUMBERS
            (exploration.pending if is_left else waiting).append(alternative)
    exploration.pending += waiting
    exploration.data = _by_size(data)
    return exploration


def unsteady_exploration(what: str, place: CodePlace, data: Mapping[Unknown, tuple[CodePlace, str]]) -> Exploration:
    """Return the empty exploration of a function whose runs differ: nothing is known about it."""
    error = UntracedError(f"the function behaves differently from run to run: {what}", place)
    return Exploration([PathOutcome((), untraced=error)], data=dict(data), is_steady=False)


def _by_size(data: Mapping[tuple[Any, ...], Unknown]) -> dict[Unknown, tuple[CodePlace, str]]:
    return {size: (key[0], key[2]) for key, size in data.items()}


def _outcome(
    run: Callable[[Path], Any], path: Path, doubtful: tuple[type[BaseException], ...], lasting: Callable[[Any], Any]
) -> PathOutcome:
    token = current.set(path)
    path.root = sys._getframe()
    raw, value, error, place, is_doubtful = None, None, None, NOWHERE, False
    try:
        raw = run(path)
        value = lasting(raw)
        if path.may_leak_size and path.untraced is None:
            path.untraced = UntracedError("the function catches an error whose message contains a size")
    except (KeyboardInterrupt, LoopRefusedError):
        raise
    except BaseException as raised:  # a function may raise SystemExit, or its own error type
        place = place_of_error(raised, path.root, path.home)
        is_doubtful = isinstance(raised, doubtful) or is_own_fault(raised)
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
    return PathOutcome(
        tuple(path.steps),
        value,
        error,
        place,
        path.untraced,
        tuple(path.numbers),
        dict(path.growing.sizes),
        raw,
        is_doubtful,
        pairs=tuple(path.pairs),
        data_lines=tuple(path.data_lines),
    )


__all__ = ["Exploration", "PathOutcome", "current", "explore_all", "home_of"]
