"""Trace a function of arrays: run it along all its paths with arrays that have no data."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from symbcast.arrays.arguments import WITHOUT_CHECKS, Arguments, check_call, check_dtypes
from symbcast.arrays.functions import iterators  # noqa: F401 - it registers stand-ins
from symbcast.arrays.functions.packages import Jitted
from symbcast.arrays.functions.replacements import STANDINS
from symbcast.arrays.loops.loop import check_ended, check_value
from symbcast.arrays.loops.rewriting import loops_of
from symbcast.arrays.loops.state import State
from symbcast.arrays.real_run import RealRun
from symbcast.arrays.report.report import TraceReport
from symbcast.arrays.returned import told
from symbcast.arrays.standins.reach import reach_of
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.program.sizes.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.core.program.sizes.scope import Scope
from symbcast.core.signatures import with_advice
from symbcast.paths.confirmation import confirmed
from symbcast.paths.places import home_of
from symbcast.paths.runs.exploration import MAX_PATHS, UNTOLD, Exploration, explored
from symbcast.paths.runs.indices import Choices
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
    calls. Unsupported operations, and more than ``max_paths`` paths, make the answer incomplete.

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

    refused_loops: Counter[Any] = Counter()
    choices = Choices()
    has_followed_loops = False

    def run(path: Any) -> Any:
        nonlocal has_followed_loops
        path.loops.tries, path.loops.choices = refused_loops, choices
        path.takes_opaque, path.turns.state_of = True, State.of
        path.hashes = False  # libraries such as einops cache results by shape
        args, options = given.made(scope.shapes, SymbolicArray, lambda dim: sized(dim, path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = STANDINS.of(called)(*map(STANDINS.of, args), **{k: STANDINS.of(v) for k, v in options.items()})
            except Exception as error:
                check_ended(path, error)
                raise
            finally:
                has_followed_loops = has_followed_loops or bool(path.loops.varying)
            check_value(path, found)
            return found

    real = RealRun(function, given, scope.shapes)
    reach = reach_of(function, [*given.positional, *given.named.values()])
    assumed = [a.formula for a in scope.assumptions]
    home = home_of(function)

    def followed() -> Exploration:
        nonlocal choices
        while True:
            choices = Choices(choices.always | choices.unskipped)
            try:
                found = explored(
                    run, assumed, told=told, min_size=scope.min_size, home=home, limit=max_paths, untold=UNTOLD
                )
            except LoopRefusedError as refused:
                refused_loops[refused.key] += 1
                continue
            if not choices.unskipped:
                return confirmed(found, real, scope.names, assumed, min_size=scope.min_size, home=home)
            refused_loops.update(choices.unsettled)

    with STANDINS.acting(reach), np.errstate(all="ignore"):
        with loops_of(function):
            found = followed()
        if has_followed_loops and not found.is_complete:  # one iteration may not represent the others
            found = min(followed(), found, key=_left)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return TraceReport(scope, found, name, given.texts())


def _left(found: Exploration) -> int:
    """Return how many paths were not followed to their end."""
    return len(found.pending) + sum(o.untraced is not None for o in found.outcomes)
