"""The engine by itself: any code over sizes, along all its paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbcast.paths.calls import Calls
from symbcast.paths.exploration import MAX_PATHS, explored
from symbcast.paths.paths import Paths
from symbcast.paths.places import home_of
from symbcast.paths.returned import told
from symbcast.program.assumptions import Assumptions, check_min_size, read_assumptions
from symbcast.program.scope import Scope
from symbcast.shapes import ShapeLike, known_rank, shape


def explore_paths(
    run: Callable[[tuple[Any, ...]], Any],
    sizes: ShapeLike,
    assume: Assumptions = (),
    min_size: int = 0,
    *,
    max_paths: int = MAX_PATHS,
) -> Paths:
    """Run a function of sizes along all its paths, and return for which sizes it works.

    ``run`` is called with one tuple of sizes that behave as ints, once for each path. It may compute, compare, branch
    and raise, and must do the same each time. Once for each path it is called with numbers of that path too: where it
    does otherwise than was found, nothing is said of the path. ``assume`` and ``min_size`` are as in
    `symbcast.broadcast`. More than ``max_paths`` paths are not followed: then the answer is not `complete`.

    >>> def halves(sizes):
    ...     (n,) = sizes
    ...     if n % 2:
    ...         raise ValueError("odd")
    ...     return n // 2
    >>> found = explore_paths(halves, "N")
    >>> found.condition, found.cases[0].value, found.cases[1].error
    (Eq(Mod(N, 2), 0), floor(N/2), 'ValueError: odd')
    """
    given = known_rank(shape(sizes), "paths", "write each size by a name of its own")
    scope = Scope((given,), (isinstance(sizes, str),), read_assumptions(assume), check_min_size(min_size))
    (bound,) = scope.shapes
    calls = Calls(run, bound.dims)
    found = explored(
        lambda path: told(calls.on(path)),
        [a.formula for a in scope.assumptions],
        min_size=scope.min_size,
        home=home_of(run),
        limit=max_paths,
        untold=(Exception,),
        is_real=calls.fails_alike,
        confirms=calls.gives,
    )
    return Paths(scope, found)
