"""Trace a function of arrays: run it along all its paths with arrays that have no data."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from symbcast.arrays.arguments import WITHOUT_CHECKS, Arguments, check_call, check_dtypes
from symbcast.arrays.functions import iterators  # noqa: F401 - it registers stand-ins
from symbcast.arrays.functions.packages import Jitted, uncompiled
from symbcast.arrays.functions.replacements import STANDINS, SYMBOLIC
from symbcast.arrays.loops.loop import check_ended, check_value
from symbcast.arrays.loops.rewriting import loops_of
from symbcast.arrays.loops.state import State
from symbcast.arrays.real_run import RealRun
from symbcast.arrays.report.report import TraceReport
from symbcast.arrays.returned import told
from symbcast.arrays.standins.proxies import WRAPPERS, real_of
from symbcast.arrays.standins.reach import reach_of
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.program.sizes.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.signatures import with_advice
from symbcast.paths.confirmation import confirmed
from symbcast.paths.places import home_of
from symbcast.paths.remains import without_remains
from symbcast.paths.runs.exploration import MAX_PATHS, UNTOLD, Exploration, explored
from symbcast.paths.runs.indices import Choices
from symbcast.paths.runs.path import Path
from symbcast.paths.runs.steps import LoopRefusedError
from symbcast.paths.values.size import sized


@with_advice
def trace(
    function: Callable[..., Any],
    *arguments: Any,
    assume: Assumptions = (),
    min_size: int = 0,
    max_paths: int = MAX_PATHS,
    **named: Any,
) -> TraceReport:
    """Run a function of arrays with symbolic sizes, and return for which sizes it works.

    The function's own code is run once per path that sizes can take through it. ``arguments`` are shapes as text,
    `symbcast.array` for a dtype other than float64, `symbcast.size` for an integer, and any other value as itself; in
    ``named`` arguments, text is passed unchanged. ``assume`` and ``min_size`` are as in `symbcast.broadcast`; data are
    assumed to be finite. The function is also called with real arrays: for each path at pairwise different sizes, at 0
    and 1, and where a requirement is violated. If a call disagrees with the trace, the path is left unknown. Side
    effects of the function therefore occur many times: `Limits` in `symbcast.paths.real_calls` limits the number of
    calls. Unsupported operations, and more than ``max_paths`` paths, make the answer incomplete. The function must end:
    a loop that never asks about a size, such as ``while True: pass``, never returns from the trace either.

    >>> report = trace(lambda x, y: x + y, "N, 3", "M, 1")
    >>> report.condition, report.shapes
    (Condition('N == M or N == 1 or M == 1'), Shape('(broadcast(M, N), 3)'))
    """
    function = getattr(function, WITHOUT_CHECKS, function)
    called = function
    if type(function).__module__.partition(".")[0] == "numba":  # it must not be compiled from code with stand-ins
        called, function = Jitted(function), getattr(function, "py_func", function)
    check_call(function, arguments, named)
    given = Arguments(arguments, named)
    check_dtypes(given)
    scope = Scope(given.shapes, given.is_fresh, read_assumptions(assume), check_min_size(min_size))

    traced = _Traced(called, function, given, scope, max_paths)
    with np.errstate(all="ignore"):
        found = traced.confirmed(is_by_symbols=True)
        if traced.has_followed_loops and not found.is_complete:  # one iteration may not represent the others
            found = min(traced.confirmed(is_by_symbols=False), found, key=_left)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return TraceReport(scope, found, name, given.texts())


class _Traced:
    """A function that is traced.

    Attributes:
        has_followed_loops: whether the body of a loop was run for a symbolic index.
    """

    def __init__(
        self, called: Any, function: Callable[..., Any], given: Arguments, scope: Scope, max_paths: int
    ) -> None:
        self.called, self.function, self.given, self.scope = called, function, given, scope
        self.has_followed_loops = False
        self._max_paths = max_paths
        self._refused_loops: Counter[Any] = Counter()
        self._choices = Choices()
        self._assumed = [a.formula for a in scope.assumptions]
        self._home = home_of(function)
        self._values = [function, *given.positional, *given.named.values()]

    def confirmed(self, *, is_by_symbols: bool) -> Exploration:
        """Return the paths as real calls confirm them; ``is_by_symbols`` runs the body of a loop for a symbolic index.

        The stand-ins are gone, and so is all that the trace left in caches, before the function is really called.
        """
        scope, reach = self.scope, reach_of(self.function, self._values[1:])
        rewritten = loops_of(self.function) if is_by_symbols else nullcontext()
        with without_remains(self._values, (*SYMBOLIC, *WRAPPERS), real_of), STANDINS.acting(reach), rewritten:
            found = self._followed()
        real = RealRun(self.function, self.given, scope.shapes)
        with uncompiled(reach):
            return confirmed(found, real, scope.names, self._assumed, min_size=scope.min_size, home=self._home)

    def _followed(self) -> Exploration:
        """Return the paths, with those loops rolled out by number in which the iterations differ."""
        least, home = self.scope.min_size, self._home
        while True:
            self._choices = Choices(self._choices.always | self._choices.unskipped)
            try:
                found = explored(
                    self._run, self._assumed, told=told, min_size=least, home=home, limit=self._max_paths, untold=UNTOLD
                )
            except LoopRefusedError as refused:
                self._refused_loops[refused.key] += 1
                continue
            if not self._choices.unskipped:
                return found
            self._refused_loops.update(self._choices.unsettled)

    def _run(self, path: Path) -> Any:
        path.loops.tries, path.loops.choices = self._refused_loops, self._choices
        path.takes_opaque, path.turns.state_of = True, State.of
        path.hashes = False  # libraries such as einops cache results by shape
        args, options = self.given.made(self.scope.shapes, SymbolicArray, lambda dim: sized(dim, path))
        of = STANDINS.of
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = of(self.called)(*map(of, args), **{k: of(v) for k, v in options.items()})
            except Exception as error:
                check_ended(path, error)
                raise
            finally:
                self.has_followed_loops = self.has_followed_loops or bool(path.loops.varying)
            check_value(path, found)
            return found


def _left(found: Exploration) -> int:
    """Return how many paths were not followed to their end."""
    return len(found.pending) + sum(o.untraced is not None for o in found.outcomes)
